//! What EXPLAIN (ANALYZE) says about a scan. PostgreSQL asks extensions since version 18.

use std::ffi::{CStr, c_char};

use pgrx::prelude::*;

use super::scan;

/// Whom to ask before us.
static mut BEFORE: pg_sys::explain_per_node_hook_type = None;

/// Has EXPLAIN ask us. To be called once, as the library is loaded.
pub fn register() {
    // SAFETY: a backend has one thread that runs PostgreSQL's code, and this is it.
    unsafe {
        BEFORE = pg_sys::explain_per_node_hook;
        pg_sys::explain_per_node_hook = Some(explain_node);
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn explain_node(
    state: *mut pg_sys::PlanState,
    ancestors: *mut pg_sys::List,
    relationship: *const c_char,
    plan_name: *const c_char,
    explain: *mut pg_sys::ExplainState,
) {
    // SAFETY: PostgreSQL passes a node of the plan and where to write to.
    unsafe {
        if let Some(before) = BEFORE {
            pg_sys::submodules::ffi::pg_guard_ffi_boundary(|| {
                before(state, ancestors, relationship, plan_name, explain);
            });
        }
        if (*explain).analyze && (*state).type_ == pg_sys::NodeTag::T_IndexScanState {
            let scan = (*state.cast::<pg_sys::IndexScanState>()).iss_ScanDesc;
            if is_ours(scan) {
                show(scan, explain);
            }
        }
    }
}

/// # Safety
///
/// `scan` is NULL or a scan under way.
unsafe fn is_ours(scan: pg_sys::IndexScanDesc) -> bool {
    // SAFETY: by this function's contract; an open index has its access method's callbacks.
    unsafe {
        !scan.is_null()
            && (*(*(*scan).indexRelation).rd_indam).amgettuple.map(|it| it as usize)
                == Some(scan::amgettuple as *const () as usize)
    }
}

/// # Safety
///
/// `scan` is a scan of ours.
unsafe fn show(scan: pg_sys::IndexScanDesc, explain: *mut pg_sys::ExplainState) {
    // SAFETY: by this function's contract.
    let effort = unsafe { scan::effort(scan) };
    let figures: [(&CStr, u64); 3] = [
        (c"Nodes Visited", effort.nodes),
        (c"Distances Computed", effort.distances),
        (c"Rows Rescored", effort.rows),
    ];
    for (label, figure) in figures {
        // SAFETY: PostgreSQL passed where to write to.
        unsafe {
            pg_sys::ExplainPropertyUInteger(label.as_ptr(), std::ptr::null(), figure, explain);
        }
    }
}
