//! What a process that reads documents of users may do: compute, for a while, in limited memory.
//!
//! The child is ragd's own executable, started anew, so that it has nothing of ragd's memory: no
//! document of another caller, no key. It opens no file after its start, and a defect in a library
//! can do no more than end it.

use std::io;
use std::time::Duration;

use super::log;
use super::process;

/// Address space of the process, in bytes.
pub const MEMORY: u64 = 1 << 30;

/// How far it stands back; 19 is the most, and each step is worth about a quarter.
const NICENESS: libc::c_int = 10;

/// Takes from this process what it does not need. To be called first of all.
///
/// `time` is the limit for computing, for the case that no process is left to end this one. Gives
/// false if the parent has died already.
pub fn confine(time: Duration) -> bool {
    let has_parent = process::detach_child();
    limit(libc::RLIMIT_AS, MEMORY);
    limit(libc::RLIMIT_CPU, time.as_secs() + 1);
    limit(libc::RLIMIT_CORE, 0);
    limit(libc::RLIMIT_FSIZE, 0);
    // The three standard streams are open already, and no other descriptor will be.
    limit(libc::RLIMIT_NOFILE, 0);
    limit(libc::RLIMIT_NPROC, 0);
    give_up_privileges();
    has_parent
}

fn give_up_privileges() {
    // SAFETY: this prctl takes numbers only.
    if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
        log::line(format!("cannot give up privileges: {}", io::Error::last_os_error()));
    }
}

/// Takes from this process, which is to load a local model, what it does not need for that: it leaves no image of
/// its memory, has at most `memory` bytes of its own (0: as many as there are), and stands back where processors are short.
pub fn limit_before(memory: u64) {
    if memory > 0 {
        limit(libc::RLIMIT_DATA, memory);
    }
    limit(libc::RLIMIT_CORE, 0);
    stand_back();
    give_up_privileges();
}

/// Has this process stand back where processors are short: it is not known how long a document or a text
/// takes, and questions are answered within milliseconds.
pub fn stand_back() {
    // SAFETY: setpriority takes numbers only; 0 is this process.
    if unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS) } != 0 {
        log::line(format!("cannot lower a child's priority: {}", io::Error::last_os_error()));
    }
}

fn limit(resource: libc::__rlimit_resource_t, most: u64) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the structure is a local one, and is only read.
    if unsafe { libc::setrlimit(resource, &limit) } != 0 {
        log::line(format!("cannot limit a child: {}", io::Error::last_os_error()));
    }
}
