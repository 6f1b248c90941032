//! Which node of which plan does a scan of an index?
//!
//! An access method is told of a scan's keys, and of nothing else that its query wants. So as the executor starts a plan,
//! the nodes in it that scan an index of ours and have further conditions are remembered, until the plan's memory goes.
//!
//! The hook runs for every statement. It is not guarded as pgrx guards what PostgreSQL calls: a guard raises an error anew,
//! without its context or the name of a constraint. An error jumps over it, and it owns nothing.

use std::cell::RefCell;
use std::ffi::{c_int, c_void};

use pgrx::prelude::*;

use super::cost::amcostestimate;

/// The hook that was there before ours, to be called in the place of PostgreSQL's own function.
static mut BEFORE: pg_sys::ExecutorStart_hook_type = None;

/// A node that scans an index of ours, and the plan's state, with whose memory it goes.
#[derive(Clone, Copy)]
struct ScanNode {
    node: *mut pg_sys::IndexScanState,
    plan: *mut pg_sys::EState,
}

thread_local! {
    static NODES: RefCell<Vec<ScanNode>> = const { RefCell::new(Vec::new()) };
}

/// PostgreSQL's functions as they are.
mod unguarded {
    use super::{c_int, c_void, pg_sys};

    pub type Visit = unsafe extern "C-unwind" fn(*mut pg_sys::PlanState, *mut c_void) -> bool;

    unsafe extern "C-unwind" {
        pub fn standard_ExecutorStart(query: *mut pg_sys::QueryDesc, flags: c_int);
        /// Calls `visit` for each node right below one, until that says `true`; whether it did.
        #[cfg_attr(not(feature = "pg15"), link_name = "planstate_tree_walker_impl")]
        pub fn planstate_tree_walker(
            node: *mut pg_sys::PlanState,
            visit: Visit,
            context: *mut c_void,
        ) -> bool;
        pub fn MemoryContextAlloc(context: pg_sys::MemoryContext, size: usize) -> *mut c_void;
        pub fn MemoryContextRegisterResetCallback(
            context: pg_sys::MemoryContext,
            callback: *mut pg_sys::MemoryContextCallback,
        );
    }
}

/// Has the executor tell us what it starts. To be called once, as the library is loaded.
pub fn register() {
    // SAFETY: a backend has one thread that runs PostgreSQL's code, and this is it.
    unsafe {
        BEFORE = pg_sys::ExecutorStart_hook;
        pg_sys::ExecutorStart_hook = Some(start);
    }
}

unsafe extern "C-unwind" fn start(query: *mut pg_sys::QueryDesc, flags: c_int) {
    // SAFETY: what PostgreSQL passes is passed on, to what it would have called without us; then
    // the plan's nodes are there, for as long as the memory of its state. Nothing here owns anything.
    unsafe {
        match BEFORE {
            Some(before) => before(query, flags),
            None => unguarded::standard_ExecutorStart(query, flags),
        }
        let (root, mut plan) =
            ((*query).planstate, Plan { state: (*query).estate, is_known: false });
        if !root.is_null() && flags & pg_sys::EXEC_FLAG_EXPLAIN_ONLY as c_int == 0 {
            visit(root, (&raw mut plan).cast());
        }
    }
}

/// A plan whose nodes are visited.
struct Plan {
    state: *mut pg_sys::EState,
    /// Whether its nodes will be forgotten with its memory.
    is_known: bool,
}

/// Remembers a node, and those below it, if they scan an index of ours. Does not end the visit.
unsafe extern "C-unwind" fn visit(node: *mut pg_sys::PlanState, plan: *mut c_void) -> bool {
    // SAFETY: called with a node and its `Plan`; the tag says of which type the node is.
    unsafe {
        if (*node).type_ == pg_sys::NodeTag::T_IndexScanState && !(*node).qual.is_null() {
            remember(node.cast(), &mut *plan.cast::<Plan>());
        }
        unguarded::planstate_tree_walker(node, visit, plan)
    }
}

/// # Safety
///
/// `node` is one of the plan.
unsafe fn remember(node: *mut pg_sys::IndexScanState, plan: &mut Plan) {
    // SAFETY: by this function's contract the index is open. What is registered lies in the memory
    // with which it goes.
    unsafe {
        let index = (*node).iss_RelationDesc;
        if index.is_null() || !is_ours(index) {
            return;
        }
        if !plan.is_known {
            let memory = (*plan.state).es_query_cxt;
            let size = size_of::<pg_sys::MemoryContextCallback>();
            let callback: *mut pg_sys::MemoryContextCallback =
                unguarded::MemoryContextAlloc(memory, size).cast();
            callback.write(pg_sys::MemoryContextCallback {
                func: Some(forget),
                arg: plan.state.cast(),
                next: std::ptr::null_mut(),
            });
            unguarded::MemoryContextRegisterResetCallback(memory, callback);
            plan.is_known = true;
        }
        NODES.with_borrow_mut(|nodes| nodes.push(ScanNode { node, plan: plan.state }));
    }
}

/// # Safety
///
/// `index` is open.
unsafe fn is_ours(index: pg_sys::Relation) -> bool {
    // SAFETY: by this function's contract it has its access method's callbacks.
    let callback = unsafe { (*(*index).rd_indam).amcostestimate };
    callback.map(|it| it as usize) == Some(amcostestimate as *const () as usize)
}

/// Forgets the nodes of a plan, whose memory goes.
unsafe extern "C-unwind" fn forget(plan: *mut c_void) {
    NODES.with_borrow_mut(|nodes| nodes.retain(|it| it.plan.cast() != plan));
}

/// The node that does `scan`, if it has conditions beside the index's; `None` also where it was started by nobody
/// who runs a whole plan, as for the check of a row that has changed meanwhile (EvalPlanQual).
pub fn node_of(scan: pg_sys::IndexScanDesc) -> Option<*mut pg_sys::IndexScanState> {
    // SAFETY: nodes are forgotten before their memory goes.
    let does_it = |it: &&ScanNode| unsafe { (*it.node).iss_ScanDesc == scan };
    NODES.with_borrow(|nodes| nodes.iter().rev().find(does_it).map(|it| it.node))
}
