//! The process at the other end of a socket: which user runs it, and is it still there?

use std::mem::{size_of, zeroed};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

/// The user a process runs as when it is not known: no user has `(uid_t) -1`.
const UNKNOWN: libc::uid_t = libc::uid_t::MAX;

/// Whether the other end runs as the same operating system user as this process.
///
/// The socket's mode already says so; this holds where a filesystem ignores modes.
pub fn is_same_user(stream: &UnixStream) -> bool {
    // SAFETY: geteuid takes nothing and always succeeds.
    let own = unsafe { libc::geteuid() };
    user(stream) == own
}

fn user(stream: &UnixStream) -> libc::uid_t {
    // SAFETY: ucred is three integers, for which zeros are a value.
    let mut credentials: libc::ucred = unsafe { zeroed() };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the descriptor is open as long as `stream` lives, `credentials` is a ucred and
    // `size` its size, as SO_PEERCRED wants.
    let status = unsafe {
        libc::getsockopt(
            stream.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &mut size,
        )
    };
    if status == 0 { credentials.uid } else { UNKNOWN }
}

/// Whether the other end still waits for an answer: it has not closed its end.
///
/// Costs one system call and never blocks. A client that half-closes counts as gone, because
/// closing is how a session cancels.
pub fn is_open(stream: &UnixStream) -> bool {
    let mut byte = 0_u8;
    // SAFETY: the descriptor is open as long as `stream` lives and the buffer is one byte long.
    let read = unsafe {
        libc::recv(
            stream.as_raw_fd(),
            (&raw mut byte).cast(),
            1,
            libc::MSG_PEEK | libc::MSG_DONTWAIT,
        )
    };
    match read {
        0 => false,
        1.. => true,
        _ => matches!(
            std::io::Error::last_os_error().kind(),
            std::io::ErrorKind::WouldBlock | std::io::ErrorKind::Interrupted
        ),
    }
}

/// Whether a frame of some kilobytes can be written at once: the other end takes what it is sent.
pub fn has_room(stream: &UnixStream) -> bool {
    let mut poll = libc::pollfd { fd: stream.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: one descriptor, which is open as long as `stream` lives.
    let ready = unsafe { libc::poll(&raw mut poll, 1, 0) };
    ready == 1 && poll.revents & libc::POLLOUT != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_open_until_it_is_closed() {
        let (here, there) = UnixStream::pair().unwrap();
        assert!(is_open(&here));
        assert!(is_same_user(&here));
        assert!(has_room(&here));
        drop(there);
        assert!(!is_open(&here));
    }
}
