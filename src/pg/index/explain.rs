//! What EXPLAIN (ANALYZE) says about a scan of one of our indexes. PostgreSQL asks extensions since
//! version 18.

use std::ffi::{CStr, c_char};

use pgrx::prelude::*;

use super::{bm25, hnsw};

/// The hook that was there before ours, to be called first.
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
        if !(*explain).analyze {
            return;
        }
        for (label, figure) in figures(scan_of(state)) {
            pg_sys::ExplainPropertyUInteger(label.as_ptr(), std::ptr::null(), figure, explain);
        }
    }
}

/// The scan of an index that a node does; NULL where it does none.
///
/// # Safety
///
/// `state` is a node of a plan under way.
unsafe fn scan_of(state: *mut pg_sys::PlanState) -> pg_sys::IndexScanDesc {
    use pg_sys::NodeTag::{T_BitmapIndexScanState, T_IndexScanState};
    // SAFETY: by this function's contract; the tag says of which type the node is.
    unsafe {
        match (*state).type_ {
            T_IndexScanState => (*state.cast::<pg_sys::IndexScanState>()).iss_ScanDesc,
            T_BitmapIndexScanState => (*state.cast::<pg_sys::BitmapIndexScanState>()).biss_ScanDesc,
            _ => std::ptr::null_mut(),
        }
    }
}

/// What the access method counted; nothing where it is not ours.
///
/// # Safety
///
/// `scan` is NULL or a scan under way.
unsafe fn figures(scan: pg_sys::IndexScanDesc) -> Vec<(&'static CStr, u64)> {
    if scan.is_null() {
        return Vec::new();
    }
    // SAFETY: by this function's contract; an open index has its access method's callbacks.
    unsafe {
        let method = (*(*(*scan).indexRelation).rd_indam).amgettuple.map(|it| it as usize);
        if method == Some(hnsw::amgettuple as *const () as usize) {
            hnsw::figures(scan).to_vec()
        } else if method == Some(bm25::amgettuple as *const () as usize) {
            bm25::figures(scan).to_vec()
        } else {
            Vec::new()
        }
    }
}
