//! Which node of which plan does a scan of an index?
//!
//! An access method is told of a scan's keys, and of nothing else that its query wants. The plans that the
//! executor is running in this session are remembered here, so that a scan can be found in the innermost of them.

use std::cell::RefCell;
use std::ffi::c_void;

use pgrx::prelude::*;

use super::pages::guarded;

/// The hook that was there before ours, to be called in our place.
static mut BEFORE: pg_sys::ExecutorRun_hook_type = None;

thread_local! {
    /// What the executor is running, the innermost last.
    static RUNNING: RefCell<Vec<*mut pg_sys::QueryDesc>> = const { RefCell::new(Vec::new()) };
}

/// Has the executor tell us what it runs. To be called once, as the library is loaded.
pub fn register() {
    // SAFETY: a backend has one thread that runs PostgreSQL's code, and this is it.
    unsafe {
        BEFORE = pg_sys::ExecutorRun_hook;
        pg_sys::ExecutorRun_hook = Some(run);
    }
}

/// A plan that is being run, until this is dropped.
struct RunningPlan;

impl RunningPlan {
    fn enter(query: *mut pg_sys::QueryDesc) -> RunningPlan {
        RUNNING.with_borrow_mut(|running| running.push(query));
        RunningPlan
    }
}

impl Drop for RunningPlan {
    fn drop(&mut self) {
        // Errors unwind and come by here, too.
        RUNNING.with_borrow_mut(Vec::pop);
    }
}

#[cfg(not(feature = "pg18"))]
#[pg_guard]
unsafe extern "C-unwind" fn run(
    query: *mut pg_sys::QueryDesc,
    direction: pg_sys::ScanDirection::Type,
    count: u64,
    execute_once: bool,
) {
    let _running = RunningPlan::enter(query);
    // SAFETY: what PostgreSQL passes is passed on, to what it would have called without us.
    unsafe {
        match BEFORE {
            Some(before) => pg_sys::submodules::ffi::pg_guard_ffi_boundary(|| {
                before(query, direction, count, execute_once)
            }),
            None => pg_sys::standard_ExecutorRun(query, direction, count, execute_once),
        }
    }
}

#[cfg(feature = "pg18")]
#[pg_guard]
unsafe extern "C-unwind" fn run(
    query: *mut pg_sys::QueryDesc,
    direction: pg_sys::ScanDirection::Type,
    count: u64,
) {
    let _running = RunningPlan::enter(query);
    // SAFETY: what PostgreSQL passes is passed on, to what it would have called without us.
    unsafe {
        match BEFORE {
            Some(before) => {
                pg_sys::submodules::ffi::pg_guard_ffi_boundary(|| before(query, direction, count))
            }
            None => pg_sys::standard_ExecutorRun(query, direction, count),
        }
    }
}

type Walker = unsafe extern "C-unwind" fn(*mut pg_sys::PlanState, *mut c_void) -> bool;

unsafe extern "C-unwind" {
    /// Calls `walker` for each node right below one, until that says `true`; whether it did.
    #[cfg_attr(not(feature = "pg15"), link_name = "planstate_tree_walker_impl")]
    fn planstate_tree_walker(
        node: *mut pg_sys::PlanState,
        walker: Walker,
        context: *mut c_void,
    ) -> bool;
}

/// A scan that is looked for, and the node that does it.
struct Search {
    scan: pg_sys::IndexScanDesc,
    node: *mut pg_sys::IndexScanState,
}

/// Whether the node that is looked for is this one or one below it.
unsafe extern "C-unwind" fn visit(node: *mut pg_sys::PlanState, search: *mut c_void) -> bool {
    // SAFETY: called with a node of a plan and a `Search`; the tag says of which type the node is.
    unsafe {
        let found = &mut *search.cast::<Search>();
        if (*node).type_ == pg_sys::NodeTag::T_IndexScanState {
            let node = node.cast::<pg_sys::IndexScanState>();
            if (*node).iss_ScanDesc == found.scan {
                found.node = node;
                return true;
            }
        }
        planstate_tree_walker(node, visit, search)
    }
}

/// The node of the innermost running plan that does `scan`; `None` where it is none of that plan's.
///
/// # Safety
///
/// `scan` is a scan of an index under way.
pub unsafe fn node_of(scan: pg_sys::IndexScanDesc) -> Option<*mut pg_sys::IndexScanState> {
    let query = RUNNING.with_borrow(|running| running.last().copied())?;
    let mut search = Search { scan, node: std::ptr::null_mut() };
    // SAFETY: the plan is being run, so its nodes are there. Nothing on the way owns anything.
    let is_found = unsafe {
        let root = (*query).planstate;
        !root.is_null() && guarded(|| visit(root, (&raw mut search).cast()))
    };
    is_found.then_some(search.node)
}
