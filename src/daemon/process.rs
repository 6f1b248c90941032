//! ragd as a process: what it must not inherit from a database server, and how it ends.
//!
//! ragd is the child of a background worker. It may hold nothing of PostgreSQL's (open files,
//! blocked signals), must not outlive it, and should be the first to go when memory is short.

use std::fs;
use std::io;
use std::mem::zeroed;

use super::log;

/// How readily the kernel kills ragd when memory is short; sessions have 0, the most is 1000.
const OOM_SCORE: &str = "900";

/// How readily the kernel kills a process that reads a document when memory is short: first of all.
const CHILD_OOM_SCORE: &str = "1000";

/// Signals that end ragd. SIGHUP reloads a server, so it must not kill ragd.
const END: [libc::c_int; 3] = [libc::SIGTERM, libc::SIGINT, libc::SIGQUIT];

/// Makes this process one of its own. To be called first of all, while there is one thread
/// and nothing is open.
///
/// Gives false if the parent has died already, so that nothing would ever stop ragd.
pub fn detach() -> bool {
    close_inherited();
    reset_signals(&end_signals());
    limit_arenas();
    if let Err(error) = fs::write("/proc/self/oom_score_adj", OOM_SCORE) {
        log::line(format!("cannot raise oom_score_adj: {error}"));
    }
    die_with_parent()
}

/// Makes this process, a child of ragd, one of its own: as [`detach`], but no signal is
/// blocked, and it is the very first to go when memory is short.
pub fn detach_child() -> bool {
    close_inherited();
    reset_signals(&no_signals());
    if let Err(error) = fs::write("/proc/self/oom_score_adj", CHILD_OOM_SCORE) {
        log::line(format!("cannot raise oom_score_adj: {error}"));
    }
    die_with_parent()
}

/// Waits for a signal that ends ragd, and gives its number.
///
/// All threads block these signals (they inherit the mask), so none is interrupted.
pub fn wait_for_end() -> libc::c_int {
    let mut signal = 0;
    // SAFETY: the set is a local one and `signal` outlives the call.
    while unsafe { libc::sigwait(&end_signals(), &mut signal) } != 0 {}
    signal
}

/// Ends at once: threads may be deep inside ONNX Runtime, whose destructors must not run
/// under them.
pub fn end(status: i32) -> ! {
    // SAFETY: _exit never returns and runs no destructor.
    unsafe { libc::_exit(status) }
}

/// Gives freed memory back to the operating system, after a request that needed much of it.
pub fn release_memory() {
    // SAFETY: malloc_trim takes the allocator's own locks and moves nothing that is in use.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// The descriptors of a session or of the postmaster: its sockets, data files, the death pipe.
fn close_inherited() {
    // SAFETY: nothing is open yet but the standard streams, which are kept; no other thread uses a
    // descriptor of this process.
    let status = unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    if status != 0 {
        close_listed();
    }
}

/// For kernels before 5.9, which have no close_range.
fn close_listed() {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<libc::c_int> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in open {
        // SAFETY: as above; the descriptor of the listing itself is closed already, which
        // makes close fail and nothing else.
        unsafe { libc::close(descriptor) };
    }
}

/// Default dispositions but for SIGPIPE (a client that has gone is an error of write, not a
/// death) and SIGHUP, and only the signals of `blocked` blocked.
fn reset_signals(blocked: &libc::sigset_t) {
    for signal in 1..=libc::SIGRTMAX() {
        let disposition = match signal {
            libc::SIGPIPE | libc::SIGHUP => libc::SIG_IGN,
            _ => libc::SIG_DFL,
        };
        // SAFETY: no handler is installed, only the two standard dispositions; for signals
        // that can't be changed the call fails and changes nothing.
        unsafe { libc::signal(signal, disposition) };
    }
    // SAFETY: the set is initialised and the old mask is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, blocked, std::ptr::null_mut()) };
}

fn no_signals() -> libc::sigset_t {
    // SAFETY: sigset_t is plain memory that sigemptyset initialises.
    unsafe {
        let mut set = zeroed();
        libc::sigemptyset(&mut set);
        set
    }
}

fn end_signals() -> libc::sigset_t {
    // SAFETY: sigset_t is plain memory that sigemptyset initialises; the signals exist.
    unsafe {
        let mut set = zeroed();
        libc::sigemptyset(&mut set);
        END.iter().for_each(|signal| {
            libc::sigaddset(&mut set, *signal);
        });
        set
    }
}

/// A thread a connection would otherwise mean an arena a thread, each of which keeps what it
/// once had: megabytes a session.
fn limit_arenas() {
    // SAFETY: mallopt only sets a number; no other thread runs yet.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Has the kernel kill ragd when its parent dies. False if that has happened before.
fn die_with_parent() -> bool {
    // SAFETY: getppid and this prctl take no pointers.
    unsafe {
        let parent = libc::getppid();
        if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
            log::line(format!("cannot ask to die with the parent: {}", io::Error::last_os_error()));
        }
        libc::getppid() == parent && parent != 1
    }
}
