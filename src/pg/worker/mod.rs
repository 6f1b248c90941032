//! Background workers.

pub mod launcher;
pub mod pipelines;
pub mod registry;
pub mod supervisor;
