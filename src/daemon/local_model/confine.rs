//! What the process of a local model may do once the model is loaded: compute, and speak with ragd.
//!
//! The file of a model comes from a stranger, and a library in C++ reads it. Whatever it makes the process do, the
//! process opens no file, makes no connection and starts no program: the kernel refuses all calls but those of
//! [`ALLOWED`] (seccomp). What is refused is an error of that call, so that a library which asks for too much goes on without.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch, apply_filter_all_threads};

use crate::error::{Error, ErrorKind, Result};

/// Memory, threads, time, and streams that are open already. Graphics cards are driven by ioctl.
const ALLOWED: &[c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_close,
    libc::SYS_lseek,
    libc::SYS_fstat,
    libc::SYS_ioctl,
    libc::SYS_ppoll,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_set_robust_list,
    libc::SYS_rseq,
    libc::SYS_membarrier,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_gettid,
    libc::SYS_getpid,
    libc::SYS_tgkill,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
    libc::SYS_sched_setscheduler,
    libc::SYS_getcpu,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_sysinfo,
    libc::SYS_uname,
    libc::SYS_restart_syscall,
    libc::SYS_prctl,
];

/// What only this processor has.
#[cfg(target_arch = "x86_64")]
const ALLOWED_TOO: &[c_long] = &[libc::SYS_poll, libc::SYS_time, libc::SYS_arch_prctl];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_TOO: &[c_long] = &[];

/// Takes from all threads of this process what it does not need any more.
///
/// Fails where the kernel knows no seccomp: the file of a model is not to be read without it.
pub fn confine() -> Result<()> {
    let failed = |why: &dyn std::fmt::Display| {
        let message = format!("cannot confine the process of a local model: {why}");
        Error::new(ErrorKind::Unsupported, message)
            .hint("Local models want a kernel with seccomp filters, which containers can turn off.")
    };
    let architecture: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|error| failed(&error))?;
    let rules: BTreeMap<c_long, _> =
        ALLOWED.iter().chain(ALLOWED_TOO).map(|call| (*call, Vec::new())).collect();
    let refused = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, refused, SeccompAction::Allow, architecture)
        .map_err(|error| failed(&error))?;
    let program: BpfProgram = filter.try_into().map_err(|error| failed(&error))?;
    apply_filter_all_threads(&program).map_err(|error| failed(&error))
}
