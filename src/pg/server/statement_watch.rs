//! How long may a statement within a statement run, and how much memory may it take?
//!
//! `statement_timeout` counts from the beginning of the statement that a client has sent, and setting it later
//! changes nothing. So there is a timer here that looks every [`PERIOD`] at the clock and at the memory of
//! the process. What is over a limit is cancelled as `statement_timeout` cancels, and again each second:
//! code that catches a cancel meets the next one. After [`timers::CANCELS`] of them the session ends, which
//! nothing can catch.
//!
//! PostgreSQL bounds memory by node of a plan and not by statement. A refused allocation would be exact; but
//! libraries in the process may end it for that. So memory is looked at, and may be exceeded by what can
//! be filled within one period.

use std::cell::Cell;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, AtomicI64, AtomicU8, AtomicU32, Ordering};
use std::time::Duration;

use pgrx::prelude::*;

use super::statement_error::StatementError;
use super::timers::{self, Timer};

/// How often is looked.
const PERIOD: Duration = Duration::from_millis(20);

/// Looks between two cancels of code that catches them: a second.
const BETWEEN: u32 = 50;

/// No limit has been passed yet.
const WITHIN: u8 = 0;
/// The time is over.
const OVER_TIME: u8 = 1;
/// The memory is used up.
const OVER_MEMORY: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(WITHIN);
static LOOKS_OVER: AtomicU32 = AtomicU32::new(0);
/// In nanoseconds of the monotonic clock.
static DEADLINE: AtomicI64 = AtomicI64::new(i64::MAX);
/// Private pages that the process may have.
static PAGES: AtomicI64 = AtomicI64::new(i64::MAX);
/// The open file with the sizes of the process; less than 0 where there is none.
static SIZES: AtomicI32 = AtomicI32::new(-1);

thread_local! {
    static TIMER: Cell<Option<Timer>> = const { Cell::new(None) };
    static RUNS: Cell<bool> = const { Cell::new(false) };
}

/// What a statement may use.
#[derive(Clone, Copy, Debug)]
pub struct WatchLimits {
    /// Its time.
    pub time: Duration,
    /// Bytes of memory that it may take more than the session had before.
    pub memory: u64,
}

/// While it lives, limits hold. [`StatementWatch::end`] says whether they were kept.
pub struct StatementWatch {
    limits: WatchLimits,
    timer: Timer,
    // Open as long as the handler may read it.
    _sizes: Option<File>,
}

impl StatementWatch {
    /// Begins to look; `None` where one is watched already: there are no two limits at a time.
    pub fn begin(limits: WatchLimits) -> Option<StatementWatch> {
        if RUNS.replace(true) {
            return None;
        }
        let timer = TIMER.get().unwrap_or_else(|| Timer::new(look));
        TIMER.set(Some(timer));
        let sizes = File::open("/proc/self/statm").ok();
        let descriptor = sizes.as_ref().map_or(-1, AsRawFd::as_raw_fd);
        STATE.store(WITHIN, Ordering::Relaxed);
        LOOKS_OVER.store(0, Ordering::Relaxed);
        let time = i64::try_from(limits.time.as_nanos()).unwrap_or(i64::MAX);
        DEADLINE.store(now().saturating_add(time), Ordering::Relaxed);
        let pages = i64::try_from(limits.memory / page_size()).unwrap_or(i64::MAX);
        let before = private_pages(descriptor).unwrap_or(0);
        PAGES.store(before.saturating_add(pages), Ordering::Relaxed);
        SIZES.store(descriptor, Ordering::Relaxed);
        timer.start_every(PERIOD.min(limits.time), PERIOD.as_millis() as i32);
        Some(StatementWatch { limits, timer, _sizes: sizes })
    }

    /// Ends, with an error where a limit was passed, whatever the statement has made of its cancel.
    pub fn end(self) -> Result<(), StatementError> {
        self.timer.stop();
        match STATE.load(Ordering::Relaxed) {
            OVER_TIME => Err(over_time(self.limits.time)),
            OVER_MEMORY => Err(over_memory(self.limits.memory)),
            _ => Ok(()),
        }
    }
}

impl Drop for StatementWatch {
    fn drop(&mut self) {
        self.timer.stop();
        SIZES.store(-1, Ordering::Relaxed);
        RUNS.set(false);
        if STATE.load(Ordering::Relaxed) != WITHIN {
            // SAFETY: a flag of this process, which its handlers set; nothing is to be cancelled later.
            unsafe { pg_sys::QueryCancelPending = 0 };
        }
    }
}

fn over_time(limit: Duration) -> StatementError {
    let message = format!("the statement ran longer than timeout ({} ms)", limit.as_millis());
    StatementError::new(PgSqlErrorCode::ERRCODE_QUERY_CANCELED, message)
        .hint("Have it read less, or raise timeout.")
        .of_limit()
}

fn over_memory(limit: u64) -> StatementError {
    let message = format!("the statement took more memory than max_memory_mb ({})", limit >> 20);
    StatementError::new(PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY, message)
        .hint("Have it make less, or raise the option max_memory_mb.")
        .of_limit()
}

/// The timer's handler.
unsafe extern "C-unwind" fn look() {
    if STATE.load(Ordering::Relaxed) == WITHIN {
        let is_over_memory = || {
            private_pages(SIZES.load(Ordering::Relaxed))
                .is_some_and(|pages| pages > PAGES.load(Ordering::Relaxed))
        };
        if now() >= DEADLINE.load(Ordering::Relaxed) {
            STATE.store(OVER_TIME, Ordering::Relaxed);
        } else if is_over_memory() {
            STATE.store(OVER_MEMORY, Ordering::Relaxed);
        } else {
            return;
        }
    }
    let looks = LOOKS_OVER.fetch_add(1, Ordering::Relaxed);
    if looks.is_multiple_of(BETWEEN) {
        timers::cancel(looks / BETWEEN);
    }
}

/// Nanoseconds of the monotonic clock.
fn now() -> i64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes into a variable of ours; a signal's handler may call it.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec)
}

fn page_size() -> u64 {
    // SAFETY: asks for a constant of the system.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096).max(1)
}

/// Pages of memory that are the process's own: those resident, less those shared. It allocates nothing, so
/// that a signal's handler may call it.
fn private_pages(descriptor: i32) -> Option<i64> {
    let mut line = [0_u8; 128];
    // SAFETY: reads into a buffer of ours, from an open file or from none; a signal's handler may call it.
    let read = unsafe { libc::pread(descriptor, line.as_mut_ptr().cast(), line.len(), 0) };
    let line = line.get(..usize::try_from(read).ok()?)?;
    let mut figures = line.split(|byte| *byte == b' ').map(number);
    let (_, resident, shared) = (figures.next()?, figures.next()?, figures.next()?);
    Some(resident? - shared?)
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0_i64, |number, digit| {
        let digit = digit.is_ascii_digit().then(|| i64::from(digit - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}
