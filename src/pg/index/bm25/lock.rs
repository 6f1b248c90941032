//! The lock on an index's structure: only one session at a time makes segments.

use pgrx::prelude::*;

const MODE: i32 = pg_sys::ExclusiveLock as i32;

/// The lock, held as long as this lives; after an error the transaction's end gives it back. It is
/// a lock on page 0 in PostgreSQL's table of locks, so a session that waits can be cancelled.
pub struct StructureLock(pg_sys::Relation);

impl StructureLock {
    /// Takes the lock, and waits for it where another session has it.
    ///
    /// # Safety
    ///
    /// `index` stays open as long as the lock is held.
    pub unsafe fn take(index: pg_sys::Relation) -> StructureLock {
        // SAFETY: by this function's contract.
        unsafe { pg_sys::LockPage(index, 0, MODE) };
        StructureLock(index)
    }

    /// Takes the lock if no other session has it.
    ///
    /// # Safety
    ///
    /// As for [`StructureLock::take`].
    pub unsafe fn try_take(index: pg_sys::Relation) -> Option<StructureLock> {
        // SAFETY: by this function's contract.
        let is_taken = unsafe { pg_sys::ConditionalLockPage(index, 0, MODE) };
        // Made only where it is taken: one that is dropped gives the lock back.
        is_taken.then(|| StructureLock(index))
    }
}

impl Drop for StructureLock {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: it is held, and the index is open.
            unsafe { pg_sys::UnlockPage(self.0, 0, MODE) };
        }
    }
}
