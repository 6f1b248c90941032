//! How long code of users may run in a worker, with the rows of all other users behind it.
//!
//! After `rag.document_timeout` it is cancelled as `statement_timeout` cancels: a timer asks for an
//! interrupt, which the next look for interrupts raises. Code that catches the error and goes on is
//! cancelled again each second. After [`CANCELS`] of them the process ends, which nothing can catch; the
//! row in hand then has an attempt less (see `claim` in `queue.sql`).
//!
//! A session that calls `rag_run` has its own `statement_timeout`, and no rows of others behind it.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use super::guc;
use super::timers::{self, CANCELS, Timer};

/// Rows of a table for which a statement that looks at all of them has the time of one document more.
const ROWS_A_SHARE: f32 = 100_000.0;

static IS_OVER: AtomicBool = AtomicBool::new(false);
static ASKED: AtomicU32 = AtomicU32::new(0);

thread_local! {
    static TIMER: Cell<Option<Timer>> = const { Cell::new(None) };
    static RUNS: Cell<bool> = const { Cell::new(false) };
}

/// Has [`limited`] limit from now on: this is a worker, and its timeouts are initialized.
pub fn begin() {
    TIMER.set(Some(Timer::new(over)));
}

/// Has code of a user run, for as long as a document may take.
pub fn limited<T>(work: impl FnOnce() -> T) -> T {
    limited_to(1, work)
}

/// Runs code of a user in a statement that looks at all rows of `tables`, which the caller has
/// locked: for as long as a document may take, and once more for each `ROWS_A_SHARE` rows.
pub fn limited_by_rows<T>(tables: &[pg_sys::Oid], work: impl FnOnce() -> T) -> T {
    let rows: f32 = tables.iter().map(|table| rows_of(*table).max(0.0)).sum();
    limited_to(1 + (rows / ROWS_A_SHARE) as u32, work)
}

/// About the rows of a table; less than none where they were never counted.
fn rows_of(table: pg_sys::Oid) -> f32 {
    // SAFETY: by the caller's lock the table can't be dropped; rd_rel of an open relation is valid.
    unsafe {
        let relation = pgrx::PgRelation::with_lock(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        (*relation.rd_rel).reltuples
    }
}

fn limited_to<T>(shares: u32, work: impl FnOnce() -> T) -> T {
    let Some(limit) = TimeLimit::start(shares) else { return work() };
    let done = work();
    drop(limit);
    if IS_OVER.load(Ordering::Relaxed) {
        // It was finished after its cancel, or has caught it.
        ErrorReport::new(PgSqlErrorCode::ERRCODE_QUERY_CANCELED, message(), "pg_rag")
            .report(PgLogLevel::ERROR);
    }
    done
}

/// Whether the error that has just been caught came of a limit; true once for each such error.
pub fn was_over() -> bool {
    IS_OVER.swap(false, Ordering::Relaxed)
}

/// Notes that an error that came of a limit is raised again.
pub fn is_over_again() {
    IS_OVER.store(true, Ordering::Relaxed);
}

/// What is said of code that was cancelled.
pub fn message() -> String {
    let limit = guc::document_timeout().as_millis();
    format!(
        "code of the table's owner ran longer than rag.document_timeout ({limit} ms): \
         the content expression, or a trigger on the chunk table"
    )
}

/// The longest time for which code of a user keeps a worker, where there is a limit.
pub fn longest() -> Duration {
    guc::document_timeout() + Duration::from_secs(u64::from(CANCELS))
}

/// While it lives, the time runs.
struct TimeLimit(Timer);

impl TimeLimit {
    fn start(shares: u32) -> Option<TimeLimit> {
        let timer = TIMER.get()?;
        let limit = guc::document_timeout();
        if limit.is_zero() || RUNS.replace(true) {
            return None;
        }
        ASKED.store(0, Ordering::Relaxed);
        IS_OVER.store(false, Ordering::Relaxed);
        timer.start(limit.saturating_mul(shares));
        Some(TimeLimit(timer))
    }
}

impl Drop for TimeLimit {
    fn drop(&mut self) {
        self.0.stop();
        RUNS.set(false);
        if IS_OVER.load(Ordering::Relaxed) {
            // SAFETY: a flag of this process, which its handlers set; nothing is to be cancelled
            // later.
            unsafe { pg_sys::QueryCancelPending = 0 };
        }
    }
}

/// The timer's handler.
unsafe extern "C-unwind" fn over() {
    IS_OVER.store(true, Ordering::Relaxed);
    timers::cancel(ASKED.fetch_add(1, Ordering::Relaxed));
}
