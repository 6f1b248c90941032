//! One HTTP call that can be given up at any moment.
//!
//! ```text
//! (url, key, body, limits) → status, headers that matter, body of at most 16 MB
//! ```
//!
//! The call runs on a thread of its own, because a blocked read cannot look up. The caller
//! looks every 50 ms whether somebody still waits; when nobody does it shuts the connection
//! down, so that the provider stops writing and the thread ends.
//!
//! Connections are kept for the next call. Redirects are never followed: the key is for the
//! host that the foreign server names and for no other.

use std::io::Read;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use ureq::http::{HeaderMap, Uri};
use ureq::{Agent, Body, Proxy, ProxyProtocol, Timeout};

use super::key::Key;
use crate::error::{Error, ErrorKind, Result};

/// How often the caller looks whether somebody still waits.
pub const POLL: Duration = Duration::from_millis(50);

/// Longest body that is read. An answer has some kilobytes.
pub const MAX_BODY: usize = 16 << 20;

/// Longest body of an error that is read; a message shows only its beginning.
const MAX_ERROR_BODY: usize = 64 << 10;

/// How many unused agents are kept.
const MAX_IDLE: usize = 16;

/// What is to be sent where.
pub struct Call {
    /// The whole URL, as [`endpoint`] made it.
    pub url: String,
    /// Goes into the header `Authorization`.
    pub key: Key,
    /// JSON.
    pub body: Vec<u8>,
    /// Limit for the name, the connection and TLS.
    pub connect_timeout: Duration,
    /// Limit for all of it.
    pub timeout: Duration,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    /// The HTTP status.
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
pub enum Failure {
    /// Nobody waits for the answer any more.
    Gone,
    /// There is no connection, or it ended before an answer began. May pass.
    NoAnswer(String),
    /// No connection within `connect_timeout`. May pass.
    ConnectTimeout,
    /// No whole answer within `timeout`.
    Timeout,
    /// The body is longer than [`MAX_BODY`].
    TooLong,
    /// Anything else; it would fail again.
    Broken(String),
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
    if uri.query().is_some() || base_url.contains('#') {
        return Err(unfit("has a query or a fragment"));
    }
    Ok(format!("{}/{path}", base_url.trim_end_matches('/')))
}

/// Posts `call` and waits for the reply, or until `gone` says that nobody waits for it.
pub fn post(call: Call, gone: &dyn Fn() -> bool) -> std::result::Result<Reply, Failure> {
    let url = call.url.clone();
    let agent = take_agent(&url)?;
    let runner = agent.clone();
    let (sender, receiver) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("provider call".into())
        .spawn(move || {
            // Nobody takes the outcome of a call that was given up.
            let _ = sender.send(exchange(&runner, &call));
        })
        .map_err(|error| Failure::Broken(format!("cannot start a thread: {error}")))?;
    loop {
        match receiver.recv_timeout(POLL) {
            Ok(outcome) => {
                if outcome.is_ok() {
                    keep_agent(url, agent);
                }
                return outcome;
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(Failure::Broken("the thread of the call ended early".into()));
            }
            Err(mpsc::RecvTimeoutError::Timeout) if gone() => {
                agent.shutdown();
                return Err(Failure::Gone);
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {}
        }
    }
}

fn exchange(agent: &Agent, call: &Call) -> std::result::Result<Reply, Failure> {
    let mut request = agent.post(&call.url).content_type("application/json");
    if let Some(value) = call.key.bearer() {
        request = request.header("Authorization", value);
    }
    let request = request
        .config()
        .timeout_global(Some(call.timeout))
        .timeout_resolve(Some(call.connect_timeout))
        .timeout_connect(Some(call.connect_timeout))
        .build();
    let response = request.send(&call.body[..]).map_err(before_answer)?;
    let (parts, body) = response.into_parts();
    let status = parts.status.as_u16();
    let text = |name: &str| header(&parts.headers, name);
    Ok(Reply {
        status,
        content_type: text("content-type").unwrap_or_default(),
        retry_after: text("retry-after"),
        location: text("location"),
        body: read_body(body, (200..300).contains(&status))?,
    })
}

/// The limit holds for the decompressed bytes: a small body can unpack to a huge one.
fn read_body(body: Body, success: bool) -> std::result::Result<Vec<u8>, Failure> {
    let limit = if success { MAX_BODY } else { MAX_ERROR_BODY };
    let mut bytes = Vec::new();
    match body.into_reader().take(limit as u64 + 1).read_to_end(&mut bytes) {
        Ok(_) if success && bytes.len() > limit => return Err(Failure::TooLong),
        Ok(_) => {}
        // The status says what is wrong; its explanation is welcome, also half of it.
        Err(_) if !success => {}
        Err(error) => return Err(during_answer(error.into(), bytes.len())),
    }
    bytes.truncate(limit);
    Ok(bytes)
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    Some(String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned())
}

fn before_answer(error: ureq::Error) -> Failure {
    use std::io::ErrorKind::*;
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => Failure::ConnectTimeout,
        ureq::Error::Timeout(_) => Failure::Timeout,
        ureq::Error::Io(error) => match error.kind() {
            ConnectionRefused | ConnectionReset | ConnectionAborted | BrokenPipe
            | UnexpectedEof | HostUnreachable | NetworkUnreachable | AddrNotAvailable => {
                Failure::NoAnswer(error.to_string())
            }
            TimedOut => Failure::ConnectTimeout,
            _ => Failure::Broken(error.to_string()),
        },
        error => Failure::Broken(error.to_string()),
    }
}

fn during_answer(error: ureq::Error, received: usize) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Timeout,
        error => Failure::Broken(format!("answer broke off after {received} bytes: {error}")),
    }
}

struct Idle {
    url: String,
    agent: Agent,
}

/// Agents with a connection that may still be open. An agent serves one call at a time, so
/// that shutting it down ends that call and no other.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());

fn take_agent(url: &str) -> std::result::Result<Agent, Failure> {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    match idle.iter().rposition(|kept| kept.url == url) {
        Some(found) => Ok(idle.remove(found).agent),
        None => new_agent(url),
    }
}

fn keep_agent(url: String, agent: Agent) {
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.len() >= MAX_IDLE {
        idle.remove(0);
    }
    idle.push(Idle { url, agent });
}

fn new_agent(url: &str) -> std::result::Result<Agent, Failure> {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(concat!("pg_rag/", env!("CARGO_PKG_VERSION")))
        .accept("application/json")
        .proxy(proxy(url)?)
        .build();
    Ok(config.new_agent())
}

/// The proxy that the environment names, for all hosts but this machine.
///
/// This is safe because calls go through a tunnel (CONNECT): the proxy learns the name of
/// the host, and of an https call nothing else.
fn proxy(url: &str) -> std::result::Result<Option<Proxy>, Failure> {
    let host = url.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_string));
    if host.is_none_or(|host| is_loopback(&host)) {
        return Ok(None);
    }
    match Proxy::try_from_env() {
        // The default agent would go past such a proxy without a word.
        Some(proxy) if !is_tunnel(proxy.protocol()) => {
            Err(Failure::Broken("the environment names a SOCKS proxy, only http works".into()))
        }
        proxy => Ok(proxy),
    }
}

fn is_tunnel(protocol: ProxyProtocol) -> bool {
    matches!(protocol, ProxyProtocol::Http | ProxyProtocol::Https)
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

impl Failure {
    /// The error that `provider` and its configuration make of this failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Failure::Timeout | Failure::ConnectTimeout => ErrorKind::ProviderTimeout,
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

    #[test]
    fn this_machine_is_never_behind_a_proxy() {
        for host in ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["example.com", "10.0.0.1", "localhost.example.com", "[::2]"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
