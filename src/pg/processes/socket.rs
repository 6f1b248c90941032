//! The way to ragd.

use std::io::ErrorKind as Io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::UnixStream;

use super::supervisor;
use crate::error::{Error, ErrorKind, Result};

/// A connection to ragd that never blocks, or `None` where ragd does not listen (yet).
pub fn open_socket() -> Result<Option<UnixStream>> {
    let socket = nonblocking_socket()?;
    let address = address();
    // SAFETY: the address is a sockaddr_un of the length given.
    let status = unsafe {
        libc::connect(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_un>() as libc::socklen_t,
        )
    };
    if status == 0 {
        return Ok(Some(UnixStream::from(socket)));
    }
    let error = std::io::Error::last_os_error();
    match error.kind() {
        // Not there, left over by a ragd that was killed, or with a full backlog.
        Io::NotFound | Io::ConnectionRefused | Io::WouldBlock => Ok(None),
        _ => Err(Error::new(
            ErrorKind::DaemonUnavailable,
            format!("cannot connect to ragd at {}: {error}", supervisor::SOCKET),
        )),
    }
}

fn nonblocking_socket() -> Result<OwnedFd> {
    // SAFETY: a new descriptor, which has no other owner.
    unsafe {
        let kind = libc::SOCK_STREAM | libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        match libc::socket(libc::AF_UNIX, kind, 0) {
            -1 => Err(Error::new(
                ErrorKind::OutOfResources,
                format!("cannot create a socket: {}", std::io::Error::last_os_error()),
            )),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

fn address() -> libc::sockaddr_un {
    // SAFETY: sockaddr_un is plain data.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, from) in address.sun_path.iter_mut().zip(supervisor::SOCKET.bytes()) {
        *to = from as libc::c_char;
    }
    address
}
