//! How many rows does the planner expect of a shard?
//!
//! Of a foreign table that nobody has analyzed it expects a few thousand rows, and half a percent of them behind each
//! condition. Where that is less than a branch is to give, order and limit save nothing by its reckoning: it reads one
//! shard after the other, and all that match. So while candidates are looked for, it expects many.

use std::cell::Cell;

use pgrx::prelude::*;

/// Rows of a shard that are expected, so many that some are left behind several conditions.
const MANY: f64 = 1e12;

/// The hook that was there before ours, to be called first.
static mut BEFORE: pg_sys::get_relation_info_hook_type = None;

thread_local! {
    static IS_EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// While it lives, the planner expects many rows of foreign tables.
pub(in crate::pg::question::search) struct ManyRows(bool);

impl ManyRows {
    /// Begins to have it do so.
    pub fn expect() -> Self {
        ManyRows(IS_EXPECTED.replace(true))
    }
}

impl Drop for ManyRows {
    fn drop(&mut self) {
        // Errors unwind and come by here, too.
        IS_EXPECTED.set(self.0);
    }
}

/// Has the planner ask us. To be called once, as the library is loaded.
pub fn register_row_estimates() {
    // SAFETY: a backend has one thread that runs PostgreSQL's code, and this is it.
    unsafe {
        BEFORE = pg_sys::get_relation_info_hook;
        pg_sys::get_relation_info_hook = Some(estimate);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn estimate(
    root: *mut pg_sys::PlannerInfo,
    relation: pg_sys::Oid,
    is_parent: bool,
    info: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: PostgreSQL passes what it has read of a relation, to be changed.
    unsafe {
        if let Some(before) = BEFORE {
            pg_sys::submodules::ffi::pg_guard_ffi_boundary(|| {
                before(root, relation, is_parent, info)
            });
        }
        if IS_EXPECTED.get() && !(*info).fdwroutine.is_null() {
            (*info).tuples = MANY;
        }
    }
}
