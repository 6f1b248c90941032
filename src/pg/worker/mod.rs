//! Background workers.

mod beat;
pub mod launcher;
pub mod pipelines;
pub mod registry;
mod slow;
pub mod supervisor;
pub mod watcher;
