//! A conversation with a child process that may hang, flood or die.
//!
//! The pipes don't block. One loop writes what the child takes, reads what it gives, and
//! looks at the clock and the client in between.

use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use std::time::{Duration, Instant};

use crate::daemon::worker::IsAlive;

/// What the child says on standard error is kept up to this length.
const COMPLAINT: usize = 4096;

/// What is read at a time.
const PIECE: usize = 64 << 10;

/// How long, and until when, the conversation goes on.
pub struct Exchange<'a> {
    /// The child has to be done by then.
    pub deadline: Instant,
    /// Whether the client still waits for the result.
    pub is_alive: &'a IsAlive,
    /// The time between two looks at the client.
    pub glance: Duration,
    /// Bytes that the child may give.
    pub room: usize,
}

/// How a conversation ended.
pub enum Ended {
    /// The child closed its output.
    Closed {
        /// What the child wrote to its output.
        output: Vec<u8>,
        /// What it said on standard error.
        complaint: String,
    },
    /// The deadline has passed.
    Late,
    /// The client has gone.
    Gone,
    /// The child gave more than there is room for.
    TooMuch,
}

/// The ends of the pipes; `None` once closed.
struct Pipes<'a> {
    input: Option<ChildStdin>,
    output: Option<ChildStdout>,
    complaint: Option<ChildStderr>,
    /// What is still to be written.
    rest: &'a [u8],
    given: Vec<u8>,
    said: Vec<u8>,
}

impl Exchange<'_> {
    /// Sends `frame` and reads until the child is done.
    pub fn run(&self, child: &mut Child, frame: &[u8]) -> io::Result<Ended> {
        let mut pipes = Pipes {
            input: child.stdin.take(),
            output: child.stdout.take(),
            complaint: child.stderr.take(),
            rest: frame,
            given: Vec::new(),
            said: Vec::new(),
        };
        for descriptor in pipes.descriptors().into_iter().filter(|descriptor| *descriptor >= 0) {
            stop_blocking(descriptor)?;
        }
        while pipes.output.is_some() || pipes.complaint.is_some() {
            if !(self.is_alive)() {
                return Ok(Ended::Gone);
            }
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Ended::Late);
            }
            pipes.wait(left.min(self.glance))?;
            pipes.write();
            pipes.read()?;
            if pipes.given.len() > self.room {
                return Ok(Ended::TooMuch);
            }
        }
        let complaint = String::from_utf8_lossy(&pipes.said).into_owned();
        Ok(Ended::Closed { output: pipes.given, complaint })
    }
}

impl Pipes<'_> {
    fn descriptors(&self) -> [RawFd; 3] {
        [
            self.input.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            self.output.as_ref().map_or(-1, AsRawFd::as_raw_fd),
            self.complaint.as_ref().map_or(-1, AsRawFd::as_raw_fd),
        ]
    }

    /// Waits until something can be written or read, or for `time`.
    fn wait(&self, time: Duration) -> io::Result<()> {
        let [input, output, complaint] = self.descriptors();
        let mut waited =
            [(input, libc::POLLOUT), (output, libc::POLLIN), (complaint, libc::POLLIN)]
                .map(|(fd, events)| libc::pollfd { fd, events, revents: 0 });
        let milliseconds = time.as_millis().clamp(1, 1000) as libc::c_int;
        // SAFETY: the array is a local one of the length given; poll passes over descriptors
        // that are negative.
        let ready =
            unsafe { libc::poll(waited.as_mut_ptr(), waited.len() as libc::nfds_t, milliseconds) };
        if ready < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes what the child takes. One that takes no more has closed its input, and what it
    /// says about that is read.
    fn write(&mut self) {
        let Some(input) = &mut self.input else { return };
        while !self.rest.is_empty() {
            match input.write(self.rest) {
                Ok(written) => self.rest = &self.rest[written..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.input = None;
    }

    fn read(&mut self) -> io::Result<()> {
        if read_some(&mut self.output, &mut self.given)? {
            self.output = None;
        }
        if read_some(&mut self.complaint, &mut self.said)? {
            self.complaint = None;
        }
        self.said.truncate(COMPLAINT);
        Ok(())
    }
}

/// Reads what is there, up to one piece. True at the end.
fn read_some(pipe: &mut Option<impl Read>, into: &mut Vec<u8>) -> io::Result<bool> {
    let Some(pipe) = pipe else { return Ok(false) };
    let before = into.len();
    into.resize(before + PIECE, 0);
    let read = pipe.read(&mut into[before..]);
    into.truncate(before + read.as_ref().map_or(0, |read| *read));
    match read {
        Ok(read) => Ok(read == 0),
        Err(error) => match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(false),
            _ => Err(error),
        },
    }
}

fn stop_blocking(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: the descriptor is open, and these commands take and give numbers only.
    unsafe {
        let flags = libc::fcntl(descriptor, libc::F_GETFL);
        if flags < 0 || libc::fcntl(descriptor, libc::F_SETFL, flags | libc::O_NONBLOCK) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}
