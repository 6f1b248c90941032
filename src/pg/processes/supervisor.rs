//! The supervisor: a background worker that keeps ragd running.
//!
//! It has no database connection and touches no shared memory but its own slot, so that
//! there is next to nothing in it that could crash: a background worker that crashes takes
//! every session down with it. ragd, which does the work that can go wrong, is its child. It is
//! started again after it has ended, and killed where it hangs ([`super::beat`]).
//!
//! There is one supervisor a server: it holds a lock on [`LOCK_FILE`] as long as it lives,
//! and a second one leaves at once. Both paths are relative to the data directory, where
//! every server process stands; `pg_stat_tmp` is left out of base backups.

use std::cell::Cell;
use std::ffi::CStr;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pgrx::bgworkers::{
    BackgroundWorker, BackgroundWorkerBuilder, BgWorkerStartTime, SignalWakeFlags,
};
use pgrx::prelude::*;

use super::beat::Beat;
use super::registry;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::guc::{self, LlamaSettings};
use crate::scheduling::backoff::Backoff;

/// ragd's socket, relative to the data directory.
pub const SOCKET: &str = "pg_stat_tmp/pg_rag.sock";

/// Locked by the living supervisor.
const LOCK_FILE: &str = "pg_stat_tmp/pg_rag.lock";
const LOCK_PATH: &CStr = c"pg_stat_tmp/pg_rag.lock";

/// A ragd that lived shorter than this counts as failed to start.
const SHORT_LIFE: Duration = Duration::from_secs(1);

/// Pauses between two starts.
const PAUSES: Backoff = Backoff::doubling(Duration::from_millis(100), Duration::from_secs(5));

/// Time ragd gets to leave by itself.
const FAREWELL: Duration = Duration::from_millis(500);

thread_local! {
    static IS_SUPERVISOR: Cell<bool> = const { Cell::new(false) };
}

/// Registers the supervisor with the postmaster where the library is preloaded.
pub fn register_at_boot() {
    // SAFETY: a flag that the postmaster sets while it loads shared_preload_libraries.
    if unsafe { pg_sys::process_shared_preload_libraries_in_progress } {
        builder().load();
    }
}

/// Wakes the supervisor, if there is one, by the signal that tells of ragd's end: SIGUSR1 is ignored by
/// background workers without a database. Nothing but system calls: for a signal's handler.
pub fn wake() {
    let mut lock = write_lock();
    // SAFETY: the path is a constant C string; F_GETLK reads and writes the flock structure only, and
    // closing the file gives back no lock, since only a supervisor has one.
    unsafe {
        let file = libc::open(LOCK_PATH.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return;
        }
        let is_known = libc::fcntl(file, libc::F_GETLK, &mut lock) == 0;
        libc::close(file);
        if is_known && i32::from(lock.l_type) != libc::F_UNLCK {
            libc::kill(lock.l_pid, libc::SIGCHLD);
        }
    }
}

/// Starts a supervisor, unless one runs already.
pub fn start() -> Result<()> {
    if runs()? {
        return Ok(());
    }
    builder().load_dynamic().map(drop).map_err(|_| {
        Error::new(
            ErrorKind::OutOfResources,
            "cannot start ragd: no background worker slot is free",
        )
        .hint("Raise max_worker_processes, or stop other extensions' workers.")
    })
}

/// Whether a supervisor is alive.
pub fn runs() -> Result<bool> {
    Ok(process_id()?.is_some())
}

/// The living supervisor's process ID.
pub fn process_id() -> Result<Option<i32>> {
    // To close the file would give the lock back.
    if IS_SUPERVISOR.get() {
        return Ok(Some(std::process::id() as i32));
    }
    let file = match File::open(LOCK_FILE) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot_lock(&error)),
    };
    let mut lock = write_lock();
    // SAFETY: F_GETLK reads and writes the flock structure only.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GETLK, &mut lock) } {
        0 => Ok((i32::from(lock.l_type) != libc::F_UNLCK).then_some(lock.l_pid)),
        _ => Err(cannot_lock(&std::io::Error::last_os_error())),
    }
}

fn builder() -> BackgroundWorkerBuilder {
    BackgroundWorkerBuilder::new("pg_rag supervisor")
        .set_type("pg_rag supervisor")
        .set_library("pg_rag")
        .set_function("pg_rag_supervisor_main")
        .enable_shmem_access(None)
        .set_start_time(BgWorkerStartTime::ConsistentState)
        .set_restart_time(Some(Duration::from_secs(1)))
}

/// The main function of the supervisor's process.
#[pg_guard]
#[unsafe(no_mangle)]
pub extern "C-unwind" fn pg_rag_supervisor_main(_argument: pg_sys::Datum) {
    BackgroundWorker::attach_signal_handlers(
        SignalWakeFlags::SIGHUP | SignalWakeFlags::SIGTERM | SignalWakeFlags::SIGCHLD,
    );
    match lock() {
        Ok(Some(_held)) => {
            IS_SUPERVISOR.set(true);
            supervise();
        }
        Ok(None) => {}
        Err(error) => log!("{error}"),
    }
}

/// What ragd is started with; a change restarts it.
#[derive(PartialEq)]
struct RagdSettings {
    executable: String,
    library: String,
    threads: usize,
    llama: LlamaSettings,
}

impl RagdSettings {
    fn current() -> Self {
        RagdSettings {
            executable: guc::ragd_path(),
            library: guc::onnxruntime_library(),
            threads: guc::inference_threads(),
            llama: guc::llama(),
        }
    }
}

fn supervise() {
    // Of workers that were ended while there was no supervisor.
    registry::start_abandoned();
    let mut failures = 0;
    loop {
        let settings = RagdSettings::current();
        let started = Instant::now();
        match spawn(&settings) {
            Ok(child) => {
                if !attend(child, &settings) {
                    return;
                }
            }
            Err(error) => log!("cannot start {}: {error}", settings.executable),
        }
        failures = if started.elapsed() < SHORT_LIFE { failures + 1 } else { 0 };
        if !wait(pause(failures), &settings) {
            return;
        }
    }
}

/// Waits until `child` is gone; `false`: the server stops.
fn attend(mut child: Child, settings: &RagdSettings) -> bool {
    let mut beat = Beat::new();
    let mut line = look_at_line();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                log!("ragd (PID {}) ended: {status}", child.id());
                return true;
            }
            Ok(None) => {}
            Err(error) => {
                log!("cannot wait for ragd: {error}");
                return true;
            }
        }
        if let Some(why) = beat.look() {
            log!("ragd (PID {}) hangs and is killed: {why}", child.id());
            // It fails only if ragd has just ended, which is what is wanted.
            let _ = child.kill();
        }
        if !wait_until(beat.next().into_iter().chain(line).min()) {
            stop(&mut child);
            return false;
        }
        let (is_reloaded, is_called) =
            (BackgroundWorker::sighup_received(), BackgroundWorker::sigchld_received());
        // Not at each beat: the first in line is given a worker before its time.
        if is_reloaded || is_called || line.is_some_and(|time| time <= Instant::now()) {
            registry::start_abandoned();
            line = look_at_line();
        }
        if is_reloaded {
            reload();
            if RagdSettings::current() != *settings {
                log!("restarting ragd: its settings changed");
                stop(&mut child);
                return true;
            }
        }
    }
}

/// When databases that wait for a worker are worth another look, if there are any.
fn look_at_line() -> Option<Instant> {
    registry::time_to_start().map(|time| Instant::now() + time)
}

/// Waits for a signal, but no longer than until `time`; `false`: the server stops.
fn wait_until(time: Option<Instant>) -> bool {
    let left = time.map(|time| time.saturating_duration_since(Instant::now()));
    BackgroundWorker::wait_latch(left.map(|left| left.max(Duration::from_millis(1))))
}

/// Sleeps `pause`, whatever wakes the latch meanwhile, unless the settings become others than those
/// just tried; `false`: the server stops.
fn wait(pause: Duration, tried: &RagdSettings) -> bool {
    let end = Instant::now() + pause;
    loop {
        if Instant::now() >= end {
            return true;
        }
        if !wait_until(Some(end)) {
            return false;
        }
        if BackgroundWorker::sighup_received() {
            reload();
            if RagdSettings::current() != *tried {
                return true;
            }
        }
    }
}

/// None after a proper life, then 100 ms, doubling.
fn pause(failures: u32) -> Duration {
    match failures {
        0 => Duration::ZERO,
        n => PAUSES.pause(n - 1),
    }
}

fn reload() {
    // SAFETY: called in the worker's main loop, outside any transaction, as PostgreSQL's own
    // workers do.
    unsafe { pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP) };
}

fn spawn(settings: &RagdSettings) -> std::io::Result<Child> {
    let mut command = Command::new(&settings.executable);
    command
        .args(["--socket", SOCKET, "--onnxruntime", &settings.library])
        .args(["--threads", &settings.threads.to_string()])
        .args(["--llama", &settings.llama.library])
        .args(["--llama-threads", &settings.llama.threads.to_string()])
        .args(["--llama-memory", &settings.llama.memory.to_string()])
        .stdin(Stdio::null());
    // SAFETY: between fork and exec only async-signal-safe calls are made.
    unsafe { command.pre_exec(detach_from_server) };
    command.spawn()
}

/// In the child, before exec: gives back what a server process has and a plain program must
/// not have, and ties its life to the supervisor's.
fn detach_from_server() -> std::io::Result<()> {
    // SAFETY: sigemptyset, sigprocmask, prctl and close_range are system calls on local data.
    unsafe {
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        // CLOEXEC and not closed at once: the descriptor on which std reports a failed exec
        // is among them.
        libc::syscall(libc::SYS_close_range, 3, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
    Ok(())
}

/// Asks ragd to leave, and makes it.
fn stop(child: &mut Child) {
    // SAFETY: the child is not waited for yet, so its PID is still its own.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    let end = Instant::now() + FAREWELL;
    while Instant::now() < end {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    // Both fail only if the child has just left, which is what is wanted.
    let _ = child.kill();
    let _ = child.wait();
}

/// The lock, or `None` where another supervisor has it.
fn lock() -> Result<Option<File>> {
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(LOCK_FILE)
        .map_err(|error| cannot_lock(&error))?;
    // SAFETY: F_SETLK reads the flock structure only.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLK, &write_lock()) } {
        0 => Ok(Some(file)),
        _ => Ok(None),
    }
}

fn write_lock() -> libc::flock {
    // SAFETY: flock is plain data; all zero means the whole file.
    let mut lock: libc::flock = unsafe { std::mem::zeroed() };
    lock.l_type = libc::F_WRLCK as i16;
    lock.l_whence = libc::SEEK_SET as i16;
    lock
}

fn cannot_lock(error: &std::io::Error) -> Error {
    Error::new(ErrorKind::DaemonUnavailable, format!("cannot lock {LOCK_FILE}: {error}"))
}
