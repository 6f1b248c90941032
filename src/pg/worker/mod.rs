//! Background workers.

pub mod supervisor;
