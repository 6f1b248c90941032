//! The callbacks ambulkdelete and amvacuumcleanup.

use std::ffi::c_void;

use pgrx::prelude::*;

use super::insert::pointer_of;
use crate::error::Result;
use crate::hnsw::page::RowId;
use crate::hnsw::vacuum::{Guide, HnswVacuumReport, repair, vacuum};
use crate::pages::Store;
use crate::pg::index::pages::Pages;
use crate::pg::server::error::OrReport;

/// What PostgreSQL knows of the rows.
struct Callback {
    index: pg_sys::Relation,
    is_gone: pg_sys::IndexBulkDeleteCallback,
    state: *mut c_void,
}

impl Guide for Callback {
    fn is_gone(&mut self, row: RowId) -> bool {
        let mut pointer = pointer_of(row);
        let Some(is_gone) = self.is_gone else { return false };
        // SAFETY: the callback and its state belong together; it only looks at the pointer.
        unsafe {
            pg_sys::submodules::ffi::pg_guard_ffi_boundary(|| is_gone(&mut pointer, self.state))
        }
    }

    fn without_inserts<T>(&mut self, look: impl FnOnce() -> Result<T>) -> Result<T> {
        // SAFETY: the index is open. Inserts hold this lock in share mode. After an error of PostgreSQL's the
        // transaction's end gives it back.
        unsafe {
            pg_sys::LockPage(self.index, 0, pg_sys::ExclusiveLock as i32);
            let outcome = look();
            pg_sys::UnlockPage(self.index, 0, pg_sys::ExclusiveLock as i32);
            outcome
        }
    }

    fn pause(&mut self) -> Result<()> {
        // SAFETY: called where no page is locked.
        unsafe {
            #[cfg(feature = "pg18")]
            pg_sys::vacuum_delay_point(false);
            #[cfg(not(feature = "pg18"))]
            pg_sys::vacuum_delay_point();
        }
        check_for_interrupts!();
        Ok(())
    }

    /// Not in an index that CREATE INDEX CONCURRENTLY or REINDEX CONCURRENTLY is about to validate: while it asks for
    /// the rows of the index it holds a snapshot, and no row is gone. A later VACUUM follows the links.
    fn may_adopt(&self) -> bool {
        // SAFETY: the index is open; rd_index is its description.
        unsafe { (*(*self.index).rd_index).indisvalid }
    }
}

/// Removes the rows that the callback says are gone.
#[pg_guard]
pub unsafe extern "C-unwind" fn ambulkdelete(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    callback: pg_sys::IndexBulkDeleteCallback,
    state: *mut c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: PostgreSQL passes an open index, and statistics of its own or NULL.
    unsafe {
        let index = (*info).index;
        let pages = Pages::for_vacuum(info);
        let mut guide = Callback { index, is_gone: callback, state };
        let report = vacuum(&pages, &mut guide).or_report();
        let stats = or_new(stats);
        count(&mut *stats, &report);
        (*stats).num_pages = pages.blocks().or_report();
        stats
    }
}

fn count(stats: &mut pg_sys::IndexBulkDeleteResult, report: &HnswVacuumReport) {
    stats.num_index_tuples = report.left as f64;
    stats.tuples_removed += report.removed as f64;
}

/// # Safety
///
/// `stats` is NULL or statistics of PostgreSQL's.
unsafe fn or_new(stats: *mut pg_sys::IndexBulkDeleteResult) -> *mut pg_sys::IndexBulkDeleteResult {
    if stats.is_null() {
        // SAFETY: zeroed memory is an empty result.
        unsafe { pg_sys::palloc0(size_of::<pg_sys::IndexBulkDeleteResult>()).cast() }
    } else {
        stats
    }
}

/// Says how large the index is, and mends what inserts that were cut short may have left, where ambulkdelete
/// has not done so because no row is gone. Room is listed in the pages.
#[pg_guard]
pub unsafe extern "C-unwind" fn amvacuumcleanup(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: as for ambulkdelete.
    unsafe {
        if (*info).analyze_only {
            return stats;
        }
        let index = (*info).index;
        let pages = Pages::for_vacuum(info);
        if stats.is_null() {
            repair(&pages, &mut Callback { index, is_gone: None, state: std::ptr::null_mut() })
                .or_report();
            return stats;
        }
        (*stats).num_pages = pages.blocks().or_report();
        stats
    }
}
