//! Background workers.

pub mod launcher;
pub mod pipelines;
pub mod registry;
mod slow;
pub mod supervisor;
pub mod watcher;
