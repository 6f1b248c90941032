//! The plan of a query, and its rows.

use std::ffi::CStr;

use pgrx::prelude::*;

use super::rows::{GuardedRows, RowReceiver};
use crate::guarded_sql::limits::{PlanEstimate, StatementLimits};
use crate::pg::server::statement_error::StatementError;

/// The rows of a query: it is planned, and this very plan is looked at and run.
///
/// # Safety
///
/// `query` is an analysed and rewritten query of `text`, on whose relations locks are held.
pub unsafe fn rows(
    query: *mut pg_sys::Query,
    text: &CStr,
    limits: StatementLimits,
) -> Result<GuardedRows, StatementError> {
    // SAFETY: by this function's contract; within a function there is a snapshot.
    unsafe {
        let plan = pg_sys::pg_plan_query(query, text.as_ptr(), 0, std::ptr::null_mut());
        let top = &*(*plan).planTree;
        let estimate = PlanEstimate { cost: top.total_cost, rows: top.plan_rows };
        if let Some(excess) = limits.excess(estimate) {
            let code = PgSqlErrorCode::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED;
            return Err(StatementError::new(code, excess)
                .hint("Add conditions or a LIMIT, or raise the limit.")
                .of_limit());
        }
        let mut receiver = RowReceiver::new(limits);
        run(plan, text, receiver.destination(), limits.max_rows as u64 + 1);
        receiver.finish()
    }
}

/// Runs a plan under the snapshot of the statement around it, as far as `most` rows.
///
/// # Safety
///
/// `plan` is one of a query; `receiver` stays where it is meanwhile.
unsafe fn run(
    plan: *mut pg_sys::PlannedStmt,
    text: &CStr,
    receiver: *mut pg_sys::DestReceiver,
    most: u64,
) {
    // SAFETY: by this function's contract. After an error the subtransaction's end gives back what is held.
    unsafe {
        let execution = pg_sys::CreateQueryDesc(
            plan,
            text.as_ptr(),
            pg_sys::GetActiveSnapshot(),
            std::ptr::null_mut(),
            receiver,
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            0,
        );
        pg_sys::ExecutorStart(execution, 0);
        let forward = pg_sys::ScanDirection::ForwardScanDirection;
        #[cfg(feature = "pg18")]
        pg_sys::ExecutorRun(execution, forward, most);
        #[cfg(not(feature = "pg18"))]
        pg_sys::ExecutorRun(execution, forward, most, true);
        pg_sys::ExecutorFinish(execution);
        pg_sys::ExecutorEnd(execution);
        pg_sys::FreeQueryDesc(execution);
    }
}
