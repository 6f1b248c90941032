//! Calls that nobody waits for any more, as far as the engine has not heard of it.
//!
//! The engine looks for jobs between two batches, and on a slow processor a batch takes its time. The thread that reads
//! jobs notes here at once what is given up, and a batch that is for such calls alone is stopped in the middle.

use std::collections::HashSet;
use std::sync::Mutex;

use crate::lock::locked;

/// Calls that are given up and not cancelled yet, by their numbers.
#[derive(Debug, Default)]
pub struct GivenUpCalls(Mutex<HashSet<u64>>);

impl GivenUpCalls {
    /// Notes that a call is given up. The engine must be told to cancel it afterwards, which takes it out again.
    pub fn note(&self, id: u64) {
        locked(&self.0).insert(id);
    }

    /// Takes a call out.
    pub(super) fn forget(&self, id: u64) {
        locked(&self.0).remove(&id);
    }

    /// Whether all of these calls are given up.
    pub(super) fn have_all(&self, ids: &[u64]) -> bool {
        let given_up = locked(&self.0);
        ids.iter().all(|id| given_up.contains(id))
    }
}
