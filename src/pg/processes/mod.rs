//! The processes beside sessions: which run, and how they are started and woken.
//!
//! What a pipeline worker does is in [`ingest`](super::ingest::worker).

mod beat;
pub mod launcher;
pub mod registry;
pub mod socket;
pub mod supervisor;
