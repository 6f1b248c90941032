//! Answers in pieces that are not read to their end.
//!
//! The caller has had such an answer written, or a part of it, so it leaves a trace like any other.
//! That the reader has left is seen when PostgreSQL frees what the rows came from, and nothing can
//! be written then. So it is written right before the commit. A rollback takes it back, as it does
//! with each trace. A commit waits for no model: where one would have to find the personal data in
//! the words of a trace, none of them are kept.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;

use pgrx::prelude::*;

use super::Answer;
use super::stream::Record;
use crate::pg::question::trace_log;
use crate::pg::server::error::OrReport;
use crate::pg::server::guc::TraceLevel;
use crate::pg::server::{role, sql};

thread_local! {
    static LEFT: RefCell<Vec<AbandonedAnswer>> = const { RefCell::new(Vec::new()) };
    static FOLLOWS: Cell<bool> = const { Cell::new(false) };
}

/// An answer whose reader has left.
pub struct AbandonedAnswer {
    /// The role that has asked.
    pub role: pg_sys::Oid,
    /// How the answer came about.
    pub record: Record,
    /// What there was of the answer.
    pub answer: Answer,
}

/// Sees to what is to be done at the end of the transaction.
pub fn follow_transaction() {
    if !FOLLOWS.replace(true) {
        // SAFETY: registered once a session; the callback is a function of this library, which is never
        // unloaded.
        unsafe { pg_sys::RegisterXactCallback(Some(at_end), std::ptr::null_mut()) };
    }
}

/// Has the trace of an answer kept by the commit. In a transaction that has failed there will be none.
pub fn keep_at_commit(unread: AbandonedAnswer) {
    // SAFETY: reads the transaction's state.
    if unsafe { pg_sys::IsTransactionState() } {
        LEFT.with_borrow_mut(|left| left.push(unread));
    }
}

#[pg_guard]
unsafe extern "C-unwind" fn at_end(event: pg_sys::XactEvent::Type, _argument: *mut c_void) {
    use pg_sys::XactEvent::{XACT_EVENT_ABORT, XACT_EVENT_PRE_COMMIT, XACT_EVENT_PRE_PREPARE};
    match event {
        XACT_EVENT_PRE_COMMIT | XACT_EVENT_PRE_PREPARE => write(),
        XACT_EVENT_ABORT => drop(LEFT.take()),
        _ => {}
    }
}

fn write() {
    for AbandonedAnswer { role, record, answer } in LEFT.take() {
        let Record { level, asked, steps } = record;
        let level = match level {
            TraceLevel::Full if steps.iter().any(|step| !step.redact_models.is_empty()) => {
                TraceLevel::Summary
            }
            level => level,
        };
        let keep = || trace_log::keep(level, &asked, &answer, &steps);
        // No statement is under way any more, and so there is no snapshot.
        sql::with_latest_snapshot(|| role::as_role(role, keep)).or_report();
    }
}
