//! Under which limits does a statement of a stranger run in a session that is not his?
//!
//! What the session has set stays as it is, but for what decides how much may be used: that is bounded, never
//! raised. All of it ends with the subtransaction.

use std::ffi::{CStr, CString};
use std::time::Duration;

use pgrx::PgMemoryContexts;
use pgrx::prelude::*;

use crate::guarded_sql::options::GuardOptions;
use crate::pg::server::role::LocalSettings;
use crate::pg::server::statement_error::{StatementError, caught};
use crate::pg::server::statement_watch::{StatementWatch, WatchLimits};
use crate::pg::server::transaction;

/// Most kilobytes of each sort and hash.
const WORK_MEM: i32 = 32 << 10;

/// Most tables for which all orders of joins are tried, as PostgreSQL's defaults have it.
const COLLAPSE: i32 = 8;
const GENETIC: i32 = 12;

/// What one statement may use.
#[derive(Clone, Copy, Debug)]
pub struct SessionLimits {
    watch: WatchLimits,
    /// Most kilobytes of temporary files.
    temporary: i32,
}

/// The limits that options set.
pub fn limits(time: Duration, options: &GuardOptions) -> SessionLimits {
    let memory = u64::from(options.max_memory_mb) << 20;
    let temporary = i32::try_from(u64::from(options.max_temp_mb) << 10).unwrap_or(i32::MAX);
    SessionLimits { watch: WatchLimits { time, memory }, temporary }
}

/// Does `work` where it can change nothing and use no more than the limits say. What it returns must be no memory
/// of PostgreSQL's.
pub fn guarded<T>(
    limits: SessionLimits,
    work: impl FnOnce() -> Result<T, StatementError>,
) -> Result<T, StatementError> {
    let Some(watch) = StatementWatch::begin(limits.watch) else { return Err(within_itself()) };
    let mut memory = PgMemoryContexts::new("pg_rag guarded statement");
    let outcome = transaction::rolled_back(|| {
        caught(|| {
            transaction::read_only();
            let _settings = bounded(limits);
            // SAFETY: the context lives longer than the work in it.
            unsafe { memory.switch_to(|_| work()) }
        })
    });
    watch.end().and(outcome)
}

fn within_itself() -> StatementError {
    let code = PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    StatementError::new(code, "guarded SQL does not run within guarded SQL")
}

/// Bounds the settings that decide how much may be used.
fn bounded(limits: SessionLimits) -> LocalSettings {
    let mut settings = LocalSettings::new();
    // SAFETY: reads variables of the session.
    let (work_mem, temporary, from, join, genetic, factor) = unsafe {
        (
            pg_sys::work_mem,
            pg_sys::temp_file_limit,
            pg_sys::from_collapse_limit,
            pg_sys::join_collapse_limit,
            pg_sys::geqo_threshold,
            pg_sys::hash_mem_multiplier,
        )
    };
    bound(&mut settings, c"work_mem", work_mem, WORK_MEM);
    bound(&mut settings, c"from_collapse_limit", from, COLLAPSE);
    bound(&mut settings, c"join_collapse_limit", join, COLLAPSE);
    bound(&mut settings, c"geqo_threshold", genetic, GENETIC);
    settings.set(c"geqo", c"on");
    // Code that is made for one statement takes longer than most of these, and memory.
    settings.set(c"jit", c"off");
    if factor > 2.0 {
        settings.set(c"hash_mem_multiplier", c"2");
    }
    if temporary < 0 || temporary > limits.temporary {
        settings.set_as_superuser(c"temp_file_limit", &written(limits.temporary));
    }
    settings
}

fn bound(settings: &mut LocalSettings, name: &CStr, value: i32, most: i32) {
    if value > most {
        settings.set(name, &written(most));
    }
}

fn written(number: i32) -> CString {
    CString::new(number.to_string()).unwrap_or_default()
}
