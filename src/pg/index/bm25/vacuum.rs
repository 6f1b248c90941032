//! The callbacks ambulkdelete and amvacuumcleanup.

use std::ffi::c_void;

use pgrx::prelude::*;

use super::lock::StructureLock;
use crate::bm25::{Bm25VacuumReport, tidy, vacuum};
use crate::error::Result;
use crate::pages::{Page, Store, StoreMut, Tour};
use crate::pg::index::hnsw::pointer_of;
use crate::pg::index::pages::Pages;
use crate::pg::server::error::OrReport;

/// Pages of an index for VACUUM, which has time: where other callers would look whether to stop, it
/// takes its pauses.
struct Paced(Pages);

impl Store for Paced {
    fn blocks(&self) -> Result<u32> {
        self.0.blocks()
    }

    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.0.read(block, look)
    }

    fn read_in_passing<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.0.read_in_passing(block, look)
    }

    fn read_each(&self, tour: &mut impl Tour) -> Result<()> {
        self.0.read_each(tour)
    }

    fn prefetch(&self, block: u32, offset: usize, bytes: usize) {
        self.0.prefetch(block, offset, bytes);
    }

    fn interrupted(&self) -> Result<()> {
        // SAFETY: called where no page is locked.
        unsafe {
            #[cfg(feature = "pg18")]
            pg_sys::vacuum_delay_point(false);
            #[cfg(not(feature = "pg18"))]
            pg_sys::vacuum_delay_point();
        }
        self.0.interrupted()
    }
}

impl StoreMut for Paced {
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool> {
        self.0.write(block, change)
    }

    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool> {
        self.0.write_two(first, second, change)
    }

    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
        self.0.append(fill)
    }
}

/// Does `work` on the pages of an index, with the lock on its structure. Gives its report, and how many pages there are.
///
/// # Safety
///
/// `info` is what PostgreSQL passes to ambulkdelete.
unsafe fn locked(
    info: *const pg_sys::IndexVacuumInfo,
    work: impl FnOnce(&Paced) -> Result<Bm25VacuumReport>,
) -> Result<(Bm25VacuumReport, u32)> {
    // SAFETY: by this function's contract.
    let (_lock, pages) =
        unsafe { (StructureLock::take((*info).index), Paced(Pages::for_vacuum(info))) };
    let report = work(&pages)?;
    Ok((report, pages.blocks()?))
}

/// Removes the rows that the callback says are gone.
#[pg_guard]
pub unsafe extern "C-unwind" fn ambulkdelete(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
    callback: pg_sys::IndexBulkDeleteCallback,
    state: *mut c_void,
) -> *mut pg_sys::IndexBulkDeleteResult {
    let mut is_dead = |row| {
        let mut pointer = pointer_of(row);
        let Some(is_gone) = callback else { return false };
        // SAFETY: the callback and its state belong together; it only looks at the pointer.
        unsafe { pg_sys::submodules::ffi::pg_guard_ffi_boundary(|| is_gone(&mut pointer, state)) }
    };
    // SAFETY: PostgreSQL passes an open index, and statistics of its own or NULL.
    unsafe {
        let (report, blocks) = locked(info, |pages| vacuum(pages, &mut is_dead)).or_report();
        noted(stats, &report, blocks)
    }
}

/// Makes a segment of what waits, where no row was to be removed.
#[pg_guard]
pub unsafe extern "C-unwind" fn amvacuumcleanup(
    info: *mut pg_sys::IndexVacuumInfo,
    stats: *mut pg_sys::IndexBulkDeleteResult,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: as for ambulkdelete.
    unsafe {
        if (*info).analyze_only || !stats.is_null() {
            return stats;
        }
        let (report, blocks) = locked(info, tidy).or_report();
        noted(stats, &report, blocks)
    }
}

/// # Safety
///
/// `stats` is NULL or statistics of PostgreSQL's.
unsafe fn noted(
    stats: *mut pg_sys::IndexBulkDeleteResult,
    report: &Bm25VacuumReport,
    blocks: u32,
) -> *mut pg_sys::IndexBulkDeleteResult {
    // SAFETY: zeroed memory is an empty result.
    unsafe {
        let stats = match stats.is_null() {
            true => pg_sys::palloc0(size_of::<pg_sys::IndexBulkDeleteResult>()).cast(),
            false => stats,
        };
        (*stats).num_pages = blocks;
        (*stats).num_index_tuples = report.left as f64;
        (*stats).tuples_removed += report.removed as f64;
        stats
    }
}
