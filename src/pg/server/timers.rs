//! PostgreSQL's timers, as its own timeouts use them.
//!
//! They are not among what pgrx binds. A handler runs within a signal's handler: it may set flags and
//! make system calls, and nothing else.

use std::time::Duration;

use pgrx::pg_sys;

/// What is called when the time is over.
pub type Handler = unsafe extern "C-unwind" fn();

/// An identifier of PostgreSQL 15 to 18 from USER_TIMEOUT on: it takes the next that is free.
const ANY: u32 = 13;

mod unguarded {
    unsafe extern "C-unwind" {
        pub fn RegisterTimeout(id: u32, handler: super::Handler) -> u32;
        pub fn enable_timeout_every(id: u32, time: i64, milliseconds: i32);
        pub fn disable_timeout(id: u32, keeps_indicator: bool);
    }
}

/// How often code that is over its time is cancelled, each time a second after the last, before its process ends.
pub const CANCELS: u32 = 5;

/// Cancels the code that runs, as `statement_timeout` does, if it has been cancelled `before` so often; after
/// [`CANCELS`] of them the process is to end, which nothing can catch. For handlers of timers.
pub fn cancel(before: u32) {
    // SAFETY: the flags that PostgreSQL's handlers of SIGINT and SIGTERM set, and in the same way. Its
    // own handler of the timer's signal, which has called this one, has set the latch.
    unsafe {
        if pg_sys::proc_exit_inprogress {
            return;
        }
        match before < CANCELS {
            true => pg_sys::QueryCancelPending = 1,
            false => pg_sys::ProcDiePending = 1,
        }
        pg_sys::InterruptPending = 1;
    }
}

/// A timer of this process.
#[derive(Clone, Copy, Debug)]
pub struct Timer(u32);

impl Timer {
    /// A new timer. A process has ten at most, since there is no way to give one back.
    ///
    /// `handler` must do nothing but what a signal's handler may.
    pub fn new(handler: Handler) -> Timer {
        // SAFETY: called in the main loop of a background worker or in a session, whose timeouts are
        // initialized; by this function's contract the handler is one that may be called in a signal's.
        Timer(unsafe { unguarded::RegisterTimeout(ANY, handler) })
    }

    /// Has the handler called after a time, and then each second until it is stopped.
    pub fn start(self, after: Duration) {
        self.start_every(after, 1000);
    }

    /// Has the handler called after a time, and then each time that so many milliseconds have gone by, until
    /// it is stopped.
    pub fn start_every(self, after: Duration, milliseconds: i32) {
        let microseconds = i64::try_from(after.as_micros()).unwrap_or(i64::MAX / 4);
        // SAFETY: a timer that is registered; none of these raises an error for such a one.
        unsafe {
            let time = pg_sys::GetCurrentTimestamp().saturating_add(microseconds);
            unguarded::enable_timeout_every(self.0, time, milliseconds);
        }
    }

    /// Stops the timer: its handler is not called any more.
    pub fn stop(self) {
        // SAFETY: as above.
        unsafe { unguarded::disable_timeout(self.0, false) };
    }
}
