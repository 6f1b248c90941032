//! Background workers.

pub mod pipelines;
pub mod registry;
pub mod supervisor;
