//! A lease on a derivation: while a process has it, no other asks a language model for the same.
//!
//! It is a lock of the session, so it ends with the process that has it, be it by a crash, and not
//! after a time.

use pgrx::pg_sys;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::changes::intake;

/// A lease, until it is dropped.
pub struct DerivationLease(pg_sys::LOCKTAG);

const MODE: i32 = pg_sys::ExclusiveLock as i32;

impl DerivationLease {
    /// Takes the lease in a transaction, which it outlives; `None` if another process has it.
    pub fn take(pipeline: i32, kind: DerivationKind) -> Result<Option<DerivationLease>> {
        let table = intake::table(c"derivation").ok_or_else(|| {
            Error::new(ErrorKind::UndefinedObject, "the extension pg_rag is not there")
        })?;
        let tag = pg_sys::LOCKTAG {
            // SAFETY: a variable of the server, set once a process.
            locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field2: table.to_u32(),
            locktag_field3: pipeline as u32,
            locktag_field4: kind as u16,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            // The other locks of a session do not outlive a transaction that fails. No function takes
            // one with such a tag, so that no role can keep a worker from its work.
            locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
        };
        // SAFETY: a lock of numbers; it is not waited for.
        let taken = unsafe { pg_sys::LockAcquire(&raw const tag, MODE, true, true) };
        let is_taken = taken != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL;
        // Made only where it is taken: one that is dropped gives the lock back.
        Ok(is_taken.then(|| DerivationLease(tag)))
    }
}

impl Drop for DerivationLease {
    fn drop(&mut self) {
        // SAFETY: the lock that was taken with this tag, once.
        unsafe { pg_sys::LockRelease(&raw const self.0, MODE, true) };
    }
}
