//! Leaves out of a plan the distances by which nothing is sorted any more.
//!
//! `SELECT id FROM items ORDER BY embedding <-> $1 LIMIT 10` has two columns for the planner: `id`, and the distance, which
//! is to be sorted by and then dropped (it is "resjunk"). An index of ours gives the rows in order, but the executor still
//! computes the distance of each row that it gets, and fetches a long vector from TOAST once more for it. So in the
//! finished plan that column becomes NULL. A distance that the query selects stays, and so does one that a node above
//! looks at: WITH TIES, a merge of partitions, a window.
//!
//! The first statement of a session may be planned before the library is loaded, if that is not preloaded; its plan stays
//! as it is.
//!
//! The hook runs for every statement that is planned. It is not guarded as pgrx guards what PostgreSQL calls: a guard
//! raises an error anew, without its context or the name of a constraint. An error jumps over it, and it owns nothing.

use std::ffi::{c_char, c_int, c_void};

use pgrx::prelude::*;

use super::{bm25, hnsw};

/// The hook that was there before ours, to be called in the place of PostgreSQL's own function.
static mut BEFORE: pg_sys::planner_hook_type = None;

/// PostgreSQL's functions as they are.
mod unguarded {
    use super::{c_char, c_int, c_void, pg_sys};

    unsafe extern "C-unwind" {
        pub fn standard_planner(
            query: *mut pg_sys::Query,
            text: *const c_char,
            options: c_int,
            parameters: pg_sys::ParamListInfo,
        ) -> *mut pg_sys::PlannedStmt;
        pub fn equal(a: *const c_void, b: *const c_void) -> bool;
        pub fn makeNullConst(
            of_type: pg_sys::Oid,
            modifier: pg_sys::int32,
            collation: pg_sys::Oid,
        ) -> *mut pg_sys::Const;
        pub fn RelationIdGetRelation(relation: pg_sys::Oid) -> pg_sys::Relation;
        pub fn RelationClose(relation: pg_sys::Relation);
    }
}

/// Has the planner show us what it has made. To be called once, as the library is loaded.
pub fn register() {
    // SAFETY: a backend has one thread that runs PostgreSQL's code, and this is it.
    unsafe {
        BEFORE = pg_sys::planner_hook;
        pg_sys::planner_hook = Some(plan);
    }
}

unsafe extern "C-unwind" fn plan(
    query: *mut pg_sys::Query,
    text: *const c_char,
    options: c_int,
    parameters: pg_sys::ParamListInfo,
) -> *mut pg_sys::PlannedStmt {
    // SAFETY: what PostgreSQL passes is passed on, to what it would have called without us. The plan that comes of it is
    // nobody's yet. Nothing here owns anything.
    unsafe {
        let planned = match BEFORE {
            Some(before) => before(query, text, options, parameters),
            None => unguarded::standard_planner(query, text, options, parameters),
        };
        if !planned.is_null() {
            leave_out_of_query((*planned).planTree);
            for subplan in nodes((*planned).subplans) {
                leave_out_of_query(subplan);
            }
        }
        planned
    }
}

/// Leaves distances out of the plan of a whole query, and of those below it. Nobody reads the junk of a query's topmost
/// node: the executor drops it, and who reads a subquery reads its columns.
///
/// # Safety
///
/// `root` is NULL or the topmost node of a query in a finished plan.
unsafe fn leave_out_of_query(root: *mut pg_sys::Plan) {
    // SAFETY: by this function's contract; a list of columns is of TargetEntry.
    unsafe {
        if root.is_null() {
            return;
        }
        leave_out_junk(root);
        visit(root);
    }
}

/// Leaves distances out of the junk of a query's topmost node.
///
/// # Safety
///
/// `root` is the topmost node of a query in a finished plan.
unsafe fn leave_out_junk(root: *mut pg_sys::Plan) {
    // SAFETY: by this function's contract; a list of columns is of TargetEntry.
    unsafe {
        for column in nodes::<pg_sys::TargetEntry>((*root).targetlist) {
            if (*column).resjunk {
                leave_out(root, column);
            }
        }
    }
}

/// Looks for whole queries below a node.
///
/// # Safety
///
/// `node` is NULL or a node of a finished plan.
unsafe fn visit(node: *mut pg_sys::Plan) {
    use pg_sys::NodeTag::{T_Append, T_CustomScan, T_Limit, T_MergeAppend, T_SubqueryScan};
    // SAFETY: by this function's contract; the tag says of which type the node is.
    unsafe {
        if node.is_null() {
            return;
        }
        let further = match (*node).type_ {
            T_Append => (*node.cast::<pg_sys::Append>()).appendplans,
            T_MergeAppend => (*node.cast::<pg_sys::MergeAppend>()).mergeplans,
            T_CustomScan => (*node.cast::<pg_sys::CustomScan>()).custom_plans,
            T_SubqueryScan => {
                leave_out_of_query((*node.cast::<pg_sys::SubqueryScan>()).subplan);
                std::ptr::null_mut()
            }
            _ => std::ptr::null_mut(),
        };
        // That of a subquery stands right below the node that reads it, where its scan would do nothing.
        if (*node).type_ == T_Limit {
            leave_out_junk(node);
        }
        for below in nodes(further) {
            visit(below);
        }
        visit((*node).lefttree);
        visit((*node).righttree);
    }
}

/// Makes a column NULL in the index scan that it comes from, if that is an index of ours, sorts by it, and only nodes stand above
/// that pass the column on as it is.
///
/// # Safety
///
/// `column` is junk of `node`, the topmost of a query in a finished plan.
unsafe fn leave_out(mut node: *mut pg_sys::Plan, mut column: *mut pg_sys::TargetEntry) {
    use pg_sys::NodeTag::{T_IndexScan, T_Limit, T_LockRows};
    // SAFETY: by this function's contract; the tag says of which type the node is.
    unsafe {
        loop {
            match (*node).type_ {
                T_IndexScan => break,
                // Ties are told by what they are sorted by.
                T_Limit if (*node.cast::<pg_sys::Limit>()).uniqNumCols > 0 => return,
                T_Limit | T_LockRows => {}
                _ => return,
            }
            node = (*node).lefttree;
            let Some(below) = column_below(node, (*column).expr) else { return };
            column = below;
        }
        let scan = &*node.cast::<pg_sys::IndexScan>();
        let expression = (*column).expr;
        if (*expression).type_ == pg_sys::NodeTag::T_OpExpr
            && nodes::<c_void>(scan.indexorderbyorig)
                .any(|it| unguarded::equal(it, expression.cast()))
            && is_ours(scan.indexid)
        {
            let of_type = (*expression.cast::<pg_sys::OpExpr>()).opresulttype;
            (*column).expr = unguarded::makeNullConst(of_type, -1, pg_sys::InvalidOid).cast();
        }
    }
}

/// The column of a node that the one above it passes on as `expression`; `None` where that is anything else.
///
/// # Safety
///
/// `node` is NULL or a node of a finished plan, and `expression` is a column of the one above.
unsafe fn column_below(
    node: *mut pg_sys::Plan,
    expression: *mut pg_sys::Expr,
) -> Option<*mut pg_sys::TargetEntry> {
    // SAFETY: by this function's contract; the tag says of which type the expression is.
    unsafe {
        if node.is_null() || (*expression).type_ != pg_sys::NodeTag::T_Var {
            return None;
        }
        let variable = &*expression.cast::<pg_sys::Var>();
        let place = usize::try_from(variable.varattno).ok()?.checked_sub(1)?;
        match variable.varno {
            pg_sys::OUTER_VAR => nodes((*node).targetlist).nth(place),
            _ => None,
        }
    }
}

/// Whether an index is of one of our access methods.
///
/// # Safety
///
/// `index` is the OID of an index that is locked.
unsafe fn is_ours(index: pg_sys::Oid) -> bool {
    // SAFETY: by this function's contract; an index in the cache has its access method's callbacks.
    unsafe {
        let index = unguarded::RelationIdGetRelation(index);
        if index.is_null() {
            return false;
        }
        let callback = (*(*index).rd_indam).amgettuple.map(|it| it as usize);
        unguarded::RelationClose(index);
        let ours = [hnsw::amgettuple as *const () as usize, bm25::amgettuple as *const () as usize];
        callback.is_some_and(|it| ours.contains(&it))
    }
}

/// What is in a list of nodes.
///
/// # Safety
///
/// `list` is NULL or a list of pointers to `T`, which stays as it is.
unsafe fn nodes<T>(list: *mut pg_sys::List) -> impl Iterator<Item = *mut T> {
    // SAFETY: by this function's contract; a list has as many elements as it says.
    let cells = unsafe {
        match list.as_ref() {
            None => &[][..],
            Some(list) => std::slice::from_raw_parts(list.elements, list.length as usize),
        }
    };
    // SAFETY: by this function's contract.
    cells.iter().map(|cell| unsafe { cell.ptr_value }.cast())
}
