//! Does the query want this row at all?
//!
//! What a WHERE asks of columns that are not in the index the executor finds out for each row that it is given. Of a row
//! that it would drop, fetching the vector and measuring it is in vain, and so is handing it over. So the
//! conditions of the scan's own node are evaluated here, on the row as it was fetched for measuring. (VectorChord calls
//! this a prefilter.) The executor evaluates them again on the rows that it gets.
//!
//! Some rows are looked at that the executor would not have come to, as the scan looks ahead. So that is done only where
//! nobody can tell and it costs little: without volatile functions or subqueries, and with no function that says it is
//! expensive.

use pgrx::prelude::*;

use crate::pg::index::pages::guarded;
use crate::pg::index::running_plans;

/// The most that conditions may cost, in calls of a plain operator.
const MOST_CALLS: f64 = 100.0;

/// The conditions of the node that does a scan, for as long as that node is there.
pub struct RowFilter {
    qual: *mut pg_sys::ExprState,
    context: *mut pg_sys::ExprContext,
    instrument: *mut pg_sys::Instrumentation,
    removed: u64,
}

impl RowFilter {
    /// The filter of a scan; `None` where its node has no conditions, or they are not to be evaluated ahead.
    ///
    /// # Safety
    ///
    /// `scan` is a scan under way.
    pub unsafe fn of(scan: pg_sys::IndexScanDesc) -> Option<RowFilter> {
        // SAFETY: by this function's contract; a node that does a scan outlives it.
        unsafe {
            let node = &raw mut (*running_plans::node_of(scan)?).ss.ps;
            let (qual, conditions) = ((*node).qual, (*(*node).plan).qual);
            let (context, instrument) = ((*node).ps_ExprContext, (*node).instrument);
            let is_evaluated = !qual.is_null() && can_be_evaluated_ahead(conditions);
            is_evaluated.then_some(RowFilter { qual, context, instrument, removed: 0 })
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
        let passes = unsafe {
            let before = std::mem::replace(&mut (*self.context).ecxt_scantuple, slot);
            let passes = guarded(|| pg_sys::ExecQualAndReset(self.qual, self.context));
            (*self.context).ecxt_scantuple = before;
            passes
        };
        if !passes {
            self.removed += 1;
            // SAFETY: NULL, or what EXPLAIN (ANALYZE) counts in.
            if let Some(instrument) = unsafe { self.instrument.as_mut() } {
                instrument.nfiltered1 += 1.0;
            }
        }
        passes
    }

    /// How many rows did not meet the conditions.
    #[cfg(feature = "pg18")]
    pub fn removed(&self) -> u64 {
        self.removed
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
        cost.per_tuple <= MOST_CALLS * pg_sys::cpu_operator_cost
            && cost.startup <= MOST_CALLS * pg_sys::cpu_operator_cost
            && !pg_sys::contain_subplans(conditions.cast())
            && !pg_sys::contain_volatile_functions(conditions.cast())
    }
}
