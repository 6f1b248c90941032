//! Locks of what is whole again as soon as it is looked at: counters, lists of what is there, caches.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The value of `mutex`, also where a thread has panicked while it had the lock. That is for values of which such a
/// thread leaves nothing half done that matters; at worst an entry is missing.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
