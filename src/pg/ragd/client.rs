//! The session's end of ragd's socket.
//!
//! A session keeps one connection. While it waits for ragd it waits on its latch too, so that
//! cancel, statement_timeout and pg_terminate_backend act at once: they unwind out of
//! [`Connection`]'s methods, the connection is dropped, and ragd sees that its caller is gone.

use std::cell::RefCell;
use std::io::{ErrorKind as Io, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use pgrx::prelude::*;

use super::usage::{self, Admitted};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::processes::socket::open_socket;
use crate::pg::processes::supervisor;
use crate::pg::server::wait_event::{self, Waiting};
use crate::pg::server::{guc, role};
use crate::protocol::{self, HEADER, Request, Response};

/// How often a call that can be repeated is made when ragd goes away in its middle.
const ATTEMPTS: u32 = 5;

/// How often a call that can be repeated is made when ragd goes away each time after a silence as
/// long as `rag.ragd_heartbeat_timeout`: what it hangs on may be this very call, and all others
/// wait behind it.
const HANGS: u32 = 2;

/// Pause between two looks for ragd's socket.
const POLL: Duration = Duration::from_millis(10);

/// Between two looks whether there is a supervisor, while ragd does not listen.
const START_AGAIN: Duration = Duration::from_secs(1);

/// How often in a row there may be no slot for a supervisor, and the pause in between.
const REFUSALS: u32 = 3;
const REFUSED: Duration = Duration::from_millis(100);

/// How often a caller that watches is asked whether to go on.
const WATCH: Duration = Duration::from_millis(500);

/// Looks after other things while ragd works; an error ends the call.
pub type Watch<'a> = dyn FnMut() -> Result<()> + 'a;

thread_local! {
    static IDLE: RefCell<Option<Connection>> = const { RefCell::new(None) };
}

/// Sends `request` and returns what ragd answers; starts ragd where it does not run. What a provider
/// is paid for is charged to no pipeline.
///
/// Where ragd goes away in the middle, a request that costs nothing but time is sent again.
pub fn call(request: &Request) -> Result<Response> {
    call_for(0, request)
}

/// Sends `request` as [`call`] does, and charges it to the pipeline with the ID `pipeline`.
pub fn call_for(pipeline: i32, request: &Request) -> Result<Response> {
    call_and_watch(pipeline, request, None)
}

/// Sends `request` and returns what ragd answers, as [`call_for`] does; `watch` is called about twice
/// a second while the caller waits, and ends the call by an error.
pub fn call_and_watch(
    pipeline: i32,
    request: &Request,
    mut watch: Option<&mut Watch<'_>>,
) -> Result<Response> {
    let frame = protocol::encode_call(role::on_behalf_of().to_u32(), request)?;
    let admitted = usage::admit(request, pipeline)?;
    let _waiting = Waiting::for_answer(request);
    let mut losses = Losses { limit: guc::ragd_heartbeat_timeout(), lost: 0, hung: 0 };
    loop {
        // ragd may have been restarted since the last call: that is looked at beforehand, since a
        // connection lost after the request was sent does not say whether it was carried out.
        let connection = idle_or_new();
        let sent = Instant::now();
        match connection.and_then(|it| exchange(it, &frame, watch.as_deref_mut())) {
            Err(error) if !costs(request) && losses.allow(&error, sent.elapsed()) => {}
            Ok(Response::Failed(error)) | Err(error) => {
                let error = losses.explain(error);
                admitted.failed(&error);
                return Err(error);
            }
            Ok(response) => {
                admitted.answered(&response);
                return Ok(response);
            }
        }
    }
}

/// How often ragd has gone away in the middle of a call.
struct Losses {
    /// A call without an answer for so long means that ragd hangs; `None`: that is not watched.
    limit: Option<Duration>,
    lost: u32,
    /// How often of these it had hung, as far as a session can tell.
    hung: u32,
}

impl Losses {
    /// Whether the call may be made again after an error that has come after so long.
    fn allow(&mut self, error: &Error, took: Duration) -> bool {
        if error.kind() != ErrorKind::DaemonLost {
            return false;
        }
        self.lost += 1;
        self.hung += u32::from(self.limit.is_some_and(|limit| took >= limit));
        self.lost < ATTEMPTS && self.hung < HANGS
    }

    /// The error that ends the call.
    fn explain(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::DaemonLost || self.hung < HANGS {
            return error;
        }
        let message = format!("{} (it was made {HANGS} times)", error.message());
        Error::new(ErrorKind::DaemonHung, message).hint(
            "ragd may hang because of what it is asked: the server log says why it ended. Raise \
             rag.ragd_heartbeat_timeout if it only needs longer.",
        )
    }
}

/// Whether a provider may have been paid for `request` when ragd goes away in its middle.
fn costs(request: &Request) -> bool {
    matches!(
        request,
        Request::Generate(_)
            | Request::GenerateMany(_)
            | Request::EmbedRemotely(_)
            | Request::RerankRemotely(_)
    )
}

fn idle_or_new() -> Result<Connection> {
    IDLE.take().filter(Connection::is_open).map_or_else(connect, Ok)
}

fn exchange(
    mut connection: Connection,
    frame: &[u8],
    watch: Option<&mut Watch<'_>>,
) -> Result<Response> {
    connection.send(frame)?;
    if let Some(watch) = watch {
        while !connection.wait_for_answer(WATCH) {
            watch()?;
        }
    }
    let response = connection.answer()?;
    IDLE.replace(Some(connection));
    Ok(response)
}

/// A call whose answer comes in pieces. Dropping it gives the call up.
pub struct ReplyPieces {
    /// Nothing after the last frame.
    connection: Option<Connection>,
    /// Until it is known what it cost.
    admitted: Option<Admitted>,
}

impl ReplyPieces {
    /// Sends `request`, which is charged to `pipeline`; starts ragd where it does not run. A call
    /// that may cost money is not repeated.
    pub fn of(pipeline: i32, request: &Request) -> Result<ReplyPieces> {
        let (connection, admitted) = begun(pipeline, request)?;
        Ok(ReplyPieces { connection: Some(connection), admitted: Some(admitted) })
    }

    /// Gives the call up, which counts as it was begun.
    pub fn give_up(&mut self) {
        self.connection = None;
        self.admitted = None;
    }

    /// Waits for the next frame: a [`Response::Piece`] or, once, the last one.
    pub fn next(&mut self) -> Result<Response> {
        // While it waits it is owned by this call only, so that an interrupt closes it.
        let mut connection = self.connection.take().ok_or_else(ended)?;
        let _waiting = Waiting::for_provider();
        let response = connection.answer()?;
        if let Response::Piece(_) = &response {
            self.connection = Some(connection);
            return Ok(response);
        }
        IDLE.replace(Some(connection));
        settled(self.admitted.take().ok_or_else(ended)?, response)
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::Internal, "an answer in pieces was read beyond its end")
}

/// A call whose answer is waited for beside other things. Dropping it gives the call up.
pub struct PendingReply {
    connection: Connection,
    admitted: Admitted,
}

impl PendingReply {
    /// Sends `request`, which is charged to `pipeline`; starts ragd where it does not run. A call
    /// that may cost money is not repeated.
    pub fn of(pipeline: i32, request: &Request) -> Result<PendingReply> {
        let (connection, admitted) = begun(pipeline, request)?;
        Ok(PendingReply { connection, admitted })
    }

    /// Whether ragd has answered, or is gone.
    pub fn has_come(&self) -> bool {
        self.connection.has_answer()
    }

    /// The answer; waits for it where it has not come.
    pub fn take(self) -> Result<Response> {
        let PendingReply { mut connection, admitted } = self;
        let _waiting = Waiting::for_provider();
        let response = connection.answer()?;
        IDLE.replace(Some(connection));
        settled(admitted, response)
    }
}

/// Waits until one of `replies` has come, or this process is woken, but no longer than `time`.
pub fn wait_for_any(replies: &[&PendingReply], time: Duration) {
    let _waiting = Waiting::for_provider();
    let milliseconds = time.as_millis() as _;
    // SAFETY: the set is freed before this function returns; MyLatch is this process's own, and the
    // descriptors live as long as the borrows. One event is written.
    unsafe {
        let count = replies.len() as i32 + 2;
        #[cfg(any(feature = "pg15", feature = "pg16"))]
        let set = pg_sys::CreateWaitEventSet(pg_sys::TopMemoryContext, count);
        #[cfg(not(any(feature = "pg15", feature = "pg16")))]
        let set = pg_sys::CreateWaitEventSet(std::ptr::null_mut(), count);
        let add = |event: u32, descriptor: i32, latch: *mut pg_sys::Latch| {
            pg_sys::AddWaitEventToSet(set, event, descriptor, latch, std::ptr::null_mut());
        };
        add(pg_sys::WL_LATCH_SET, -1, pg_sys::MyLatch);
        add(pg_sys::WL_EXIT_ON_PM_DEATH, -1, std::ptr::null_mut());
        for reply in replies {
            let descriptor = reply.connection.0.as_raw_fd();
            add(pg_sys::WL_SOCKET_READABLE, descriptor, std::ptr::null_mut());
        }
        let mut event = pg_sys::WaitEvent::default();
        pg_sys::WaitEventSetWait(set, milliseconds, &raw mut event, 1, wait_event::current());
        pg_sys::FreeWaitEventSet(set);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts!();
}

/// `request` on its way, on a connection of its own.
fn begun(pipeline: i32, request: &Request) -> Result<(Connection, Admitted)> {
    let frame = protocol::encode_call(role::on_behalf_of().to_u32(), request)?;
    let admitted = usage::admit(request, pipeline)?;
    let mut connection = idle_or_new()?;
    connection.send(&frame)?;
    Ok((connection, admitted))
}

/// The last response to a call, which is accounted for.
fn settled(admitted: Admitted, response: Response) -> Result<Response> {
    match response {
        Response::Failed(error) => {
            admitted.failed(&error);
            Err(error)
        }
        response => {
            admitted.answered(&response);
            Ok(response)
        }
    }
}

/// A non-blocking connection to ragd.
struct Connection(UnixStream);

impl Connection {
    /// Whether ragd is still there and has nothing to say; it never speaks first.
    fn is_open(&self) -> bool {
        matches!((&self.0).read(&mut [0]), Err(error) if error.kind() == Io::WouldBlock)
    }

    /// Waits for a frame.
    fn answer(&mut self) -> Result<Response> {
        let mut header = [0; HEADER];
        self.receive(&mut header)?;
        let mut body = vec![0; protocol::body_length(header)?];
        self.receive(&mut body)?;
        protocol::decode(&body)
    }

    fn send(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            // ragd may read as fast as this is written, so that the loop never waits.
            check_for_interrupts!();
            match self.0.write(bytes) {
                Ok(written) => bytes = &bytes[written..],
                Err(error) => self.wait_or_fail(&error, pg_sys::WL_SOCKET_WRITEABLE)?,
            }
        }
        Ok(())
    }

    fn receive(&mut self, mut buffer: &mut [u8]) -> Result<()> {
        while !buffer.is_empty() {
            check_for_interrupts!();
            match self.0.read(buffer) {
                Ok(0) => return Err(lost("the connection was closed")),
                Ok(read) => buffer = &mut buffer[read..],
                Err(error) => self.wait_or_fail(&error, pg_sys::WL_SOCKET_READABLE)?,
            }
        }
        Ok(())
    }

    /// Waits until ragd answers or is gone, but no longer than `time`; whether it does.
    fn wait_for_answer(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if self.has_answer() || left.is_zero() {
                return self.has_answer();
            }
            wait(Some((self, pg_sys::WL_SOCKET_READABLE)), Some(left));
        }
    }

    /// Whether there is something to read, be it the end.
    fn has_answer(&self) -> bool {
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which is open.
        unsafe { libc::poll(&raw mut poll, 1, 0) != 0 }
    }

    fn wait_or_fail(&self, error: &std::io::Error, event: u32) -> Result<()> {
        match error.kind() {
            Io::WouldBlock => wait(Some((self, event)), None),
            Io::Interrupted => {}
            _ => return Err(lost(&error.to_string())),
        }
        Ok(())
    }
}

/// Waits for the socket, the latch or the time, whichever comes first, and lets interrupts act.
fn wait(socket: Option<(&Connection, u32)>, time: Option<Duration>) {
    let mut events = pg_sys::WL_LATCH_SET | pg_sys::WL_EXIT_ON_PM_DEATH;
    let mut descriptor = -1;
    if let Some((connection, event)) = socket {
        events |= event;
        descriptor = connection.0.as_raw_fd();
    }
    let milliseconds = time.map_or(-1, |time| {
        events |= pg_sys::WL_TIMEOUT;
        time.as_millis() as _
    });
    // SAFETY: MyLatch is this process's own; the descriptor lives as long as the borrow.
    unsafe {
        pg_sys::WaitLatchOrSocket(
            pg_sys::MyLatch,
            events as i32,
            descriptor,
            milliseconds,
            wait_event::current(),
        );
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts!();
}

/// Waits for so long, or until something happens that the session has to look at.
pub fn pause(time: Duration) {
    wait(None, Some(time));
}

/// Connects; starts ragd first where it does not listen.
fn connect() -> Result<Connection> {
    if let Some(stream) = open_socket()? {
        return Ok(Connection(stream));
    }
    check_executable()?;
    let deadline = Instant::now() + guc::ragd_start_timeout();
    let _waiting = Waiting::for_start();
    let (mut next, mut refusals) = (Instant::now(), 0);
    while Instant::now() < deadline {
        // Again and again: the supervisor that runs may be about to leave.
        if Instant::now() >= next {
            let started = supervisor::start();
            refusals = if started.is_ok() { 0 } else { refusals + 1 };
            match started {
                Ok(()) => next = Instant::now() + START_AGAIN,
                // Other sessions may have the last slots for a moment, for the same purpose.
                Err(_) if refusals < REFUSALS => next = Instant::now() + REFUSED,
                Err(error) => return Err(error),
            }
        }
        wait(None, Some(POLL));
        if let Some(stream) = open_socket()? {
            return Ok(Connection(stream));
        }
    }
    Err(did_not_start())
}

fn check_executable() -> Result<()> {
    let path = guc::ragd_path();
    match std::fs::metadata(&path) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::new(
            ErrorKind::FileUnavailable,
            format!("cannot start ragd: \"{path}\": {error}"),
        )
        .hint("Install pg_rag completely (\"make install\"), or set rag.ragd_path.")),
    }
}

fn did_not_start() -> Error {
    let waited = guc::ragd_start_timeout().as_millis();
    Error::new(ErrorKind::DaemonUnavailable, format!("ragd did not start within {waited} ms")).hint(
        "The server log says why. If no background worker slot is free, raise max_worker_processes.",
    )
}

fn lost(why: &str) -> Error {
    Error::new(ErrorKind::DaemonLost, format!("ragd went away during the call: {why}"))
        .hint("It is started again; repeat the statement. The server log says why it ended.")
}

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;

    /// How often a call is made that ragd leaves after these times, and the kind of its error.
    fn check(limit: Option<u64>, seconds: &[u64]) -> (usize, ErrorKind) {
        let limit = limit.map(Duration::from_secs);
        let mut losses = Losses { limit, lost: 0, hung: 0 };
        let is_last = |took: &u64| !losses.allow(&lost("it ended"), Duration::from_secs(*took));
        let calls = seconds.iter().position(is_last).expect("a last call") + 1;
        (calls, losses.explain(lost("it ended")).kind())
    }

    #[pg_extern]
    fn a_call_is_repeated_but_not_for_ever() {
        assert_eq!(check(Some(10), &[0; 9]), (5, ErrorKind::DaemonLost));
        assert_eq!(check(None, &[60; 9]), (5, ErrorKind::DaemonLost));
        assert_eq!(check(Some(10), &[10; 9]), (2, ErrorKind::DaemonHung));
        assert_eq!(check(Some(10), &[0, 12, 3, 11, 0]), (4, ErrorKind::DaemonHung));
        assert_eq!(check(Some(10), &[0, 0, 99, 0, 0]), (5, ErrorKind::DaemonLost));
    }

    #[pg_extern]
    fn other_errors_are_the_callers() {
        let mut losses = Losses { limit: None, lost: 0, hung: 0 };
        assert!(!losses.allow(&did_not(), Duration::ZERO));
        assert_eq!(losses.explain(did_not()), did_not());
    }

    fn did_not() -> Error {
        Error::new(ErrorKind::DaemonUnavailable, "ragd did not start")
    }
}
