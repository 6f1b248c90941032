//! PostgreSQL's walkers of trees, which know the parts of each node of their version.

use std::ffi::{c_int, c_void};

use pgrx::pg_sys::{Node, Query};
use pgrx::prelude::*;

/// Under these names until version 15, and not among what pgrx binds: so an error of theirs is made one of ours here.
#[cfg(feature = "pg15")]
mod walkers {
    use pgrx::pg_sys::submodules::ffi::pg_guard_ffi_boundary;
    use pgrx::pg_sys::{Node, Query};
    use std::ffi::{c_int, c_void};

    type Step = Option<unsafe extern "C-unwind" fn(*mut Node, *mut c_void) -> bool>;

    unsafe extern "C-unwind" {
        fn expression_tree_walker(node: *mut Node, step: Step, context: *mut c_void) -> bool;
        fn raw_expression_tree_walker(node: *mut Node, step: Step, context: *mut c_void) -> bool;
        fn query_tree_walker(
            query: *mut Query,
            step: Step,
            context: *mut c_void,
            flags: c_int,
        ) -> bool;
    }

    /// # Safety
    ///
    /// As PostgreSQL's own.
    pub unsafe fn expression_tree_walker_impl(
        node: *mut Node,
        step: Step,
        context: *mut c_void,
    ) -> bool {
        // SAFETY: by this function's contract.
        unsafe { pg_guard_ffi_boundary(|| expression_tree_walker(node, step, context)) }
    }

    /// # Safety
    ///
    /// As PostgreSQL's own.
    pub unsafe fn raw_expression_tree_walker_impl(
        node: *mut Node,
        step: Step,
        context: *mut c_void,
    ) -> bool {
        // SAFETY: by this function's contract.
        unsafe { pg_guard_ffi_boundary(|| raw_expression_tree_walker(node, step, context)) }
    }

    /// # Safety
    ///
    /// As PostgreSQL's own.
    pub unsafe fn query_tree_walker_impl(
        query: *mut Query,
        step: Step,
        context: *mut c_void,
        flags: c_int,
    ) -> bool {
        // SAFETY: by this function's contract.
        unsafe { pg_guard_ffi_boundary(|| query_tree_walker(query, step, context, flags)) }
    }
}

#[cfg(not(feature = "pg15"))]
use pgrx::pg_sys as walkers;

/// What is done with the nodes of a tree.
pub trait NodeVisitor {
    /// Looks at a node, and has [`children`], [`raw_children`] or [`parts`] bring it those below, if it wants
    /// to see them.
    ///
    /// # Safety
    ///
    /// `node` is a node of a tree of PostgreSQL's, not NULL.
    unsafe fn visit(&mut self, node: *mut Node);
}

/// Brings the nodes right below an expression to the visitor.
///
/// # Safety
///
/// `node` is NULL or a node of an analysed tree.
pub unsafe fn children(node: *mut Node, mut visitor: &mut dyn NodeVisitor) {
    let context = (&raw mut visitor).cast::<c_void>();
    // SAFETY: by this function's contract; `step` takes the visitor, which outlives the call. What pgrx binds makes an
    // error of PostgreSQL's one that unwinds: within another such boundary it would end the process.
    unsafe { walkers::expression_tree_walker_impl(node, Some(step), context) };
}

/// Brings the nodes right below one of a raw tree to the visitor.
///
/// # Safety
///
/// `node` is NULL or a node of a tree as the grammar makes it.
pub unsafe fn raw_children(node: *mut Node, mut visitor: &mut dyn NodeVisitor) {
    let context = (&raw mut visitor).cast::<c_void>();
    // SAFETY: as in `children`.
    unsafe { walkers::raw_expression_tree_walker_impl(node, Some(step), context) };
}

/// Brings the parts of a query to the visitor, all but its range table.
///
/// # Safety
///
/// `query` is an analysed query.
pub unsafe fn parts(query: *mut Query, mut visitor: &mut dyn NodeVisitor) {
    let context = (&raw mut visitor).cast::<c_void>();
    let flags = (pg_sys::QTW_IGNORE_RANGE_TABLE | pg_sys::QTW_EXAMINE_SORTGROUP) as c_int;
    // SAFETY: as in `children`.
    unsafe { walkers::query_tree_walker_impl(query, Some(step), context, flags) };
}

/// What the walkers call.
///
/// # Safety
///
/// `context` is a visitor, as the functions above give it.
#[pg_guard]
unsafe extern "C-unwind" fn step(node: *mut Node, context: *mut c_void) -> bool {
    if !node.is_null() {
        // SAFETY: by this function's contract; nobody else uses the visitor while it waits for the walker.
        unsafe { (*context.cast::<&mut dyn NodeVisitor>()).visit(node) };
    }
    false
}

/// The functions that a node calls by itself, all but those of aggregates and types.
///
/// # Safety
///
/// `node` is a node of an analysed tree.
pub unsafe fn functions(node: *mut Node) -> Vec<pg_sys::Oid> {
    let mut found = Vec::new();
    let context = (&raw mut found).cast::<c_void>();
    // SAFETY: by this function's contract; `note` takes the list.
    unsafe { pg_sys::check_functions_in_node(node, Some(note), context) };
    found
}

/// # Safety
///
/// `context` is a list, as [`functions`] gives it.
#[pg_guard]
unsafe extern "C-unwind" fn note(function: pg_sys::Oid, context: *mut c_void) -> bool {
    // SAFETY: by this function's contract.
    unsafe { (*context.cast::<Vec<pg_sys::Oid>>()).push(function) };
    false
}
