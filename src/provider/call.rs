//! One HTTP call that can be given up at any moment.
//!
//! ```text
//! (url, headers, body, limits) → status, headers that matter, body of at most 16 MB
//!                              → the same, and the body piece by piece
//! ```
//!
//! The call runs on a thread of its own, because a blocked read cannot look up. The caller looks
//! every 50 ms whether its client still waits; when it does not, it shuts the connection down, so
//! that the provider stops writing and the thread ends.
//!
//! Connections are kept for the next call. Redirects are never followed: the key is for the
//! host that the foreign server names and for no other.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use ureq::http::{HeaderMap, Uri};
use ureq::{Agent, Body, Timeout};

use super::agent::{self, HostRoute, ProxiedAgent};
use super::host::Refused;
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Network, has_fit_port};

/// How often the caller looks whether its client still waits.
pub const POLL: Duration = Duration::from_millis(50);

/// Longest body that is read. An answer has some kilobytes.
pub const MAX_BODY: usize = 16 << 20;

/// Longest stream that is read: each word of an answer comes with some hundred bytes of its own.
pub const MAX_STREAM: usize = 64 << 20;

/// Longest body of an error that is read; a message shows only its beginning.
const MAX_ERROR_BODY: usize = 64 << 10;

/// Longest piece of a body, in bytes, and how many of them wait to be looked at.
const PIECE: (usize, usize) = (64 << 10, 16);

/// A request, and where it is to be sent.
pub struct HttpCall {
    /// The whole URL, as [`endpoint`] made it.
    pub url: String,
    /// Names and values, the key among them.
    pub headers: Vec<(String, String)>,
    /// The body, in JSON.
    pub body: Vec<u8>,
    /// Limit for the name, the connection and TLS.
    pub connect_timeout: Duration,
    /// Limit for the whole call.
    pub timeout: Duration,
    /// By which way the host is reached, and which hosts may be.
    pub network: Network,
    /// Whether the body is wanted while it is written.
    pub stream: bool,
}

/// What the provider replied.
#[derive(Debug)]
pub struct HttpReply {
    /// The HTTP status code.
    pub status: u16,
    /// The header `Content-Type`, or nothing.
    pub content_type: String,
    /// The header `Retry-After`.
    pub retry_after: Option<String>,
    /// The header `Location`.
    pub location: Option<String>,
    /// The body, decompressed; of an error, the first 64 kB.
    pub body: Vec<u8>,
}

/// Why nothing came back that could be read.
#[derive(Debug)]
pub enum CallFailure {
    /// The client does not wait for the answer any more.
    Gone,
    /// There is no connection, or it ended before an answer began. May pass.
    NoAnswer(String),
    /// No connection within `connect_timeout`. May pass.
    ConnectTimeout,
    /// No whole answer within `timeout`.
    Timeout,
    /// Nothing was written within `first_token_timeout`. May pass.
    Silence,
    /// The answer ended before its end.
    BrokeOff(String),
    /// The body is longer than so many bytes.
    TooLong(usize),
    /// The host has no address that may be called.
    Refused(Refused),
    /// The host's certificate does not prove that it is the one it claims to be.
    Untrusted(String),
    /// An option of the server cannot be used.
    Unfit {
        /// The option's name.
        option: &'static str,
        /// What kind of error that is.
        kind: ErrorKind,
        /// Why it cannot be used.
        why: String,
    },
    /// The proxy of the environment cannot be used.
    UnfitEnvironment(String),
    /// Anything else; it would fail again.
    Broken(String),
}

/// How long a call may be waited for.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// Says that the client does not wait any more.
    pub gone: &'a dyn Fn() -> bool,
    /// When waiting ends with [`CallFailure::Silence`].
    pub until: Option<Instant>,
}

/// The URL of `path` under `base_url`.
///
/// Fails if `base_url` is not plain `http://host/path` or `https://host/path`. A user name or
/// password in it is refused: every role can read the options of a foreign server.
pub fn endpoint(base_url: &str, path: &str) -> Result<String> {
    let unfit = |why: &str| {
        // What stands before an @ may be a password.
        let shown = base_url.rsplit('@').next().unwrap_or_default();
        Error::invalid(format!("base_url \"{shown}\" {why}"))
            .hint("It should look like https://host/v1.")
    };
    let uri: Uri = base_url.parse().map_err(|_| unfit("is not a URL"))?;
    let authority = uri.authority().ok_or_else(|| unfit("has no host"))?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(unfit("begins neither with http:// nor with https://"));
    }
    if authority.as_str().contains('@') {
        return Err(unfit("holds a user name or password")
            .hint("Put the key into the user mapping, where only its role sees it."));
    }
    if !has_fit_port(authority.as_str()) {
        return Err(unfit("has a port that is not between 1 and 65535"));
    }
    if uri.query().is_some() || base_url.contains('#') {
        return Err(unfit("has a query or a fragment"));
    }
    Ok(format!("{}/{path}", base_url.trim_end_matches('/')))
}

/// A reply on its way. Dropping it shuts the connection down, unless the reply has ended.
pub struct Incoming {
    events: Receiver<std::result::Result<Event, CallFailure>>,
    /// Nothing after the end.
    line: Option<ProxiedAgent>,
    looked: Instant,
}

enum Event {
    /// Status and headers have come.
    Head(HttpReply),
    /// More of the body.
    Piece(Vec<u8>),
    /// The end of the body.
    End,
}

impl Incoming {
    /// Makes `call`, without waiting for anything.
    pub fn open(call: HttpCall) -> std::result::Result<Incoming, CallFailure> {
        let line = agent::take(HostRoute { url: call.url.clone(), network: call.network.clone() })?;
        let runner = line.agent.clone();
        let (sender, events) = sync_channel(PIECE.1);
        thread::Builder::new()
            .name("provider call".into())
            .spawn(move || {
                let end = exchange(&runner, &call, &sender).map(|()| Event::End);
                // The outcome of a call that was given up is not taken.
                let _ = sender.send(end);
            })
            .map_err(|error| CallFailure::Broken(format!("cannot start a thread: {error}")))?;
        Ok(Incoming { events, line: Some(line), looked: Instant::now() })
    }

    /// The reply without its body.
    pub fn head(&mut self, patience: &Patience<'_>) -> std::result::Result<HttpReply, CallFailure> {
        match self.next(patience)? {
            Event::Head(reply) => Ok(reply),
            _ => Err(CallFailure::Broken("a body came before its head".into())),
        }
    }

    /// More of the body; `None` at its end.
    pub fn piece(
        &mut self,
        patience: &Patience<'_>,
    ) -> std::result::Result<Option<Vec<u8>>, CallFailure> {
        match self.next(patience)? {
            Event::Piece(bytes) => Ok(Some(bytes)),
            _ => Ok(None),
        }
    }

    /// `reply` with all of its body.
    pub fn whole(
        &mut self,
        mut reply: HttpReply,
        patience: &Patience<'_>,
    ) -> std::result::Result<HttpReply, CallFailure> {
        while let Some(bytes) = self.piece(patience)? {
            reply.body.extend_from_slice(&bytes);
        }
        Ok(reply)
    }

    fn next(&mut self, patience: &Patience<'_>) -> std::result::Result<Event, CallFailure> {
        loop {
            if self.looked.elapsed() >= POLL {
                self.looked = Instant::now();
                if (patience.gone)() {
                    return Err(CallFailure::Gone);
                }
            }
            match self.events.recv_timeout(pause(patience.until)?) {
                Ok(Ok(Event::End)) => {
                    if let Some(line) = self.line.take() {
                        agent::keep(line);
                    }
                    return Ok(Event::End);
                }
                Ok(outcome) => return outcome,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(CallFailure::Broken("the thread of the call ended early".into()));
                }
            }
        }
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            line.agent.shutdown();
        }
    }
}

fn pause(until: Option<Instant>) -> std::result::Result<Duration, CallFailure> {
    let Some(until) = until else { return Ok(POLL) };
    match until.saturating_duration_since(Instant::now()) {
        Duration::ZERO => Err(CallFailure::Silence),
        left => Ok(left.min(POLL)),
    }
}

type ToldResult = SyncSender<std::result::Result<Event, CallFailure>>;

fn exchange(
    agent: &Agent,
    call: &HttpCall,
    told: &ToldResult,
) -> std::result::Result<(), CallFailure> {
    let mut request = agent.post(&call.url).content_type("application/json");
    if call.stream {
        // What is compressed comes late.
        request = request
            .header("Accept", "text/event-stream, application/x-ndjson, application/json")
            .header("Accept-Encoding", "identity");
    }
    for (name, value) in &call.headers {
        request = request.header(name, value);
    }
    let request = request
        .config()
        .timeout_global(Some(call.timeout))
        .timeout_resolve(Some(call.connect_timeout))
        .timeout_connect(Some(call.connect_timeout))
        .build();
    let response = request.send(&call.body[..]).map_err(before_answer)?;
    let (parts, body) = response.into_parts();
    let text = |name: &str| header(&parts.headers, name);
    let reply = HttpReply {
        status: parts.status.as_u16(),
        content_type: text("content-type").unwrap_or_default(),
        retry_after: text("retry-after"),
        location: text("location"),
        body: Vec::new(),
    };
    let limit = match reply.status {
        200..300 => BodyLimit::Fail(if call.stream { MAX_STREAM } else { MAX_BODY }),
        // The status says what is wrong; its explanation is welcome, also half of it.
        _ => BodyLimit::Cut(MAX_ERROR_BODY),
    };
    match told.send(Ok(Event::Head(reply))) {
        Ok(()) => read_body(body, limit, told),
        Err(_) => Err(CallFailure::Gone),
    }
}

/// What happens to a body after so many bytes, decompressed: a small body can unpack to a huge one.
#[derive(Clone, Copy)]
enum BodyLimit {
    /// The call fails after so many bytes.
    Fail(usize),
    /// The rest is left out, as it is where the body breaks off.
    Cut(usize),
}

fn read_body(
    body: Body,
    limit: BodyLimit,
    told: &ToldResult,
) -> std::result::Result<(), CallFailure> {
    let mut reader = body.into_reader();
    let mut buffer = vec![0; PIECE.0];
    let mut received = 0;
    loop {
        let read = match (reader.read(&mut buffer), limit) {
            (Ok(0), _) => return Ok(()),
            (Ok(read), _) => read,
            (Err(error), _) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            (Err(_), BodyLimit::Cut(_)) => return Ok(()),
            (Err(error), BodyLimit::Fail(_)) => return Err(during_answer(error.into(), received)),
        };
        let room = match limit {
            BodyLimit::Fail(most) if received + read > most => {
                return Err(CallFailure::TooLong(most));
            }
            BodyLimit::Fail(_) => read,
            BodyLimit::Cut(most) => read.min(most - received),
        };
        received += room;
        if told.send(Ok(Event::Piece(buffer[..room].to_vec()))).is_err() {
            return Err(CallFailure::Gone);
        }
        if room < read {
            return Ok(());
        }
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned())
}

fn before_answer(error: ureq::Error) -> CallFailure {
    use std::io::ErrorKind::*;
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => CallFailure::ConnectTimeout,
        ureq::Error::Timeout(_) => CallFailure::Timeout,
        ureq::Error::Rustls(error) => broken_tls(&error),
        ureq::Error::Io(error) => match error.kind() {
            PermissionDenied => refused(&error),
            InvalidData => match inner::<rustls::Error>(&error) {
                Some(error) => broken_tls(error),
                None => CallFailure::Broken(error.to_string()),
            },
            ConnectionRefused | ConnectionReset | ConnectionAborted | BrokenPipe
            | UnexpectedEof | HostUnreachable | NetworkUnreachable | AddrNotAvailable => {
                CallFailure::NoAnswer(error.to_string())
            }
            TimedOut => CallFailure::ConnectTimeout,
            _ => CallFailure::Broken(error.to_string()),
        },
        error => CallFailure::Broken(error.to_string()),
    }
}

fn refused(error: &std::io::Error) -> CallFailure {
    match inner::<Refused>(error) {
        Some(refused) => CallFailure::Refused(refused.clone()),
        None => CallFailure::Broken(error.to_string()),
    }
}

fn inner<T: std::error::Error + 'static>(error: &std::io::Error) -> Option<&T> {
    error.get_ref()?.downcast_ref()
}

fn broken_tls(error: &rustls::Error) -> CallFailure {
    let why = error.to_string();
    match error {
        rustls::Error::InvalidCertificate(_) => CallFailure::Untrusted(why),
        _ => CallFailure::Broken(why),
    }
}

fn during_answer(error: ureq::Error, received: usize) -> CallFailure {
    match error {
        ureq::Error::Timeout(_) => CallFailure::Timeout,
        error => CallFailure::BrokeOff(format!("answer broke off after {received} bytes: {error}")),
    }
}

impl CallFailure {
    /// The error that `provider` and its configuration make of this failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            CallFailure::Timeout | CallFailure::ConnectTimeout | CallFailure::Silence => {
                ErrorKind::ProviderTimeout
            }
            CallFailure::Refused(_) => ErrorKind::Forbidden,
            CallFailure::Unfit { kind, .. } => *kind,
            _ => ErrorKind::ProviderFailed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_is_under_the_base() {
        for base in ["http://h:8080/v1", "http://h:8080/v1/", "http://h:8080/v1//"] {
            assert_eq!(
                endpoint(base, "chat/completions").unwrap(),
                "http://h:8080/v1/chat/completions"
            );
        }
        assert_eq!(endpoint("https://h", "x").unwrap(), "https://h/x");
    }

    #[test]
    fn unfit_base_urls_are_refused_with_the_reason() {
        for (base, why) in [
            ("", "is not a URL"),
            ("h/v1", "is not a URL"),
            ("/v1", "has no host"),
            ("localhost:8080", "begins neither"),
            ("ftp://h/v1", "begins neither"),
            ("http://h/v1?key=1", "has a query"),
            ("http://h/v1#top", "has a query or a fragment"),
            ("http://h /v1", "is not a URL"),
            ("http://h:99999/v1", "has a port that is not between"),
            ("http://h:0/v1", "has a port that is not between"),
            ("http://[::1]:65536/v1", "has a port that is not between"),
        ] {
            let error = endpoint(base, "x").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
            assert!(error.message().contains(why), "{base}: {error}");
        }
    }

    #[test]
    fn a_password_in_the_base_url_is_refused_and_not_shown() {
        for base in ["https://me:hunter2@h/v1", "https://hunter2@h/v1", "ftp://hunter2@h"] {
            let error = endpoint(base, "x").unwrap_err();
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }
}
