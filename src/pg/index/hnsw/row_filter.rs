//! Does the query want this row at all?
//!
//! What a WHERE asks of columns that are not in the index the executor finds out for each row that it is given. Of a row
//! that it would drop, fetching the vector and measuring it is in vain, and so is handing it over. So the
//! conditions of the scan's own node are evaluated here, on the row as it was fetched for measuring. (VectorChord calls
//! this a prefilter.) The executor evaluates them again on the rows that it gets.
//!
//! They are evaluated in the executor's order: first those of the index, which holds some values as hashes, and then the others,
//! so that a function in a query sees no row that a policy of row-level security hides.
//!
//! A scan looks ahead, so some rows are evaluated that the executor would not have come to behind a LIMIT. A condition
//! that fails for such a row ends the query, as it may with any plan. Volatile functions are not evaluated ahead, nor
//! subqueries that depend on the row, nor functions that say they are expensive, as those in SQL and PL/pgSQL do by default.

use pgrx::prelude::*;

use super::scan_nodes;
use crate::pg::index::pages::guarded;

/// Conditions that cost so many calls of a plain operator are expensive: a function has this `COST`, if it is not in C.
const EXPENSIVE: f64 = 100.0;

/// The conditions of the node that does a scan, for as long as that node is there.
pub struct RowFilter {
    /// Those that the index has evaluated by what it holds; may be NULL.
    of_index: *mut pg_sys::ExprState,
    /// The others.
    of_row: *mut pg_sys::ExprState,
    context: *mut pg_sys::ExprContext,
    instrument: *mut pg_sys::Instrumentation,
}

impl RowFilter {
    /// The filter of a scan; `None` where its node has no conditions of its own, or they are not to be evaluated ahead.
    ///
    /// # Safety
    ///
    /// `scan` is a scan under way.
    pub unsafe fn of(scan: pg_sys::IndexScanDesc) -> Option<RowFilter> {
        let node = scan_nodes::node_of(scan)?;
        // SAFETY: by this function's contract; a node that does a scan outlives it.
        unsafe {
            let state = &raw mut (*node).ss.ps;
            let can_be = can_be_evaluated_ahead((*(*state).plan).qual);
            can_be.then(|| RowFilter {
                of_index: (*node).indexqualorig,
                of_row: (*state).qual,
                context: (*state).ps_ExprContext,
                instrument: (*state).instrument,
            })
        }
    }

    /// Whether a row meets the conditions. If not, it counts as removed by them.
    ///
    /// # Safety
    ///
    /// The scan that this was made for is under way, and `slot` holds a row of its table.
    pub unsafe fn lets_pass(&mut self, slot: *mut pg_sys::TupleTableSlot) -> bool {
        // SAFETY: by this function's contract; the slot is of the table's own kind, as the node's is. The executor has
        // nothing in the memory for a row while it waits for one.
        let (is_indexed, passes) = unsafe {
            let before = std::mem::replace(&mut (*self.context).ecxt_scantuple, slot);
            let meets = |conditions| pg_sys::ExecQualAndReset(conditions, self.context);
            let met = guarded(|| {
                let is_indexed = meets(self.of_index);
                (is_indexed, is_indexed && meets(self.of_row))
            });
            (*self.context).ecxt_scantuple = before;
            met
        };
        if !passes {
            // SAFETY: NULL, or what EXPLAIN (ANALYZE) counts in.
            if let Some(instrument) = unsafe { self.instrument.as_mut() } {
                let removed = match is_indexed {
                    true => &mut instrument.nfiltered1,
                    false => &mut instrument.nfiltered2,
                };
                *removed += 1.0;
            }
        }
        passes
    }
}

/// # Safety
///
/// `conditions` are those of a node of a plan.
unsafe fn can_be_evaluated_ahead(conditions: *mut pg_sys::List) -> bool {
    let mut cost = pg_sys::QualCost::default();
    // SAFETY: by this function's contract; without a planner's state the costs of functions are what they say.
    unsafe {
        pg_sys::cost_qual_eval(&mut cost, conditions, std::ptr::null_mut());
        cost.startup + cost.per_tuple < EXPENSIVE * pg_sys::cpu_operator_cost
            && !pg_sys::contain_subplans(conditions.cast())
            && !pg_sys::contain_volatile_functions(conditions.cast())
    }
}
