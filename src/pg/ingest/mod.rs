//! From a changed row to its chunks: the trigger, the queue, and the workers that do what is in it.
//!
//! [`trigger`] is what happens in the transaction of a user, [`worker`] the life of a pipeline worker, and
//! [`batch`] its work, step by step.

pub mod batch;
pub mod chunk_namer;
pub mod chunk_store;
pub mod drain;
pub mod fill;
pub mod generation;
pub mod lease_renewal;
pub mod queue;
mod slow;
pub mod trigger;
pub mod watcher;
pub mod worker;
