//! A scripted HTTP/1.1 server on 127.0.0.1, for tests of what pg_rag asks of a provider.
//!
//! ```ignore
//! let server = Server::play([Reply::new(429).header("Retry-After", "1"), Reply::chat("Hello")]);
//! ...                                        // point a provider at server.url()
//! assert_eq!(server.requests().len(), 2);    // what was asked, headers and body included
//! ```
//!
//! A script is played one reply a request; its last reply is played for ever. Besides proper
//! replies it can send all that goes wrong in life: late headers, a pause in the middle of a
//! body, a body that ends early, a connection reset, bytes that are not HTTP. It also notices
//! when a client goes away before it has its reply.

// Each test crate uses a part of it.
#![allow(dead_code)]

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A running server. Dropping it closes its port and its connections.
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub path: String,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// When it had come whole.
    pub at: Instant,
}

/// What a request is answered with.
#[derive(Clone, Debug)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
    delay: Duration,
    pause: Option<(usize, Duration)>,
    close_after: Option<usize>,
}

#[derive(Clone, Debug)]
enum Body {
    /// With a `Content-Length`.
    Whole(Vec<u8>),
    /// Chunked; each piece is sent after its wait.
    Pieces(Vec<(Duration, Vec<u8>)>),
    /// Instead of a reply.
    Raw(Vec<u8>),
    /// Instead of a reply: the connection is reset before the request is read.
    Reset,
}

struct Shared {
    answer: Box<dyn Fn(&Request) -> Reply + Send + Sync>,
    next_resets: Box<dyn Fn() -> bool + Send + Sync>,
    requests: Mutex<Vec<Request>>,
    open: Mutex<Vec<TcpStream>>,
    connections: AtomicUsize,
    abandoned: AtomicUsize,
    stopped: AtomicBool,
}

impl Server {
    /// A server that plays `script`, and its last reply again and again.
    pub fn play(script: impl IntoIterator<Item = Reply>) -> Server {
        let script: Arc<Mutex<VecDeque<Reply>>> =
            Arc::new(Mutex::new(script.into_iter().collect()));
        assert!(!script.lock().unwrap().is_empty(), "a script needs a reply");
        let peek = Arc::clone(&script);
        let next_resets = move || matches!(peek.lock().unwrap()[0].body, Body::Reset);
        let answer = move |_: &Request| {
            let mut script = script.lock().unwrap();
            if script.len() > 1 { script.pop_front().unwrap() } else { script[0].clone() }
        };
        Server::start(Box::new(answer), Box::new(next_resets))
    }

    /// A server whose replies depend on the request.
    pub fn answer(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Server {
        Server::start(Box::new(answer), Box::new(|| false))
    }

    fn start(
        answer: Box<dyn Fn(&Request) -> Reply + Send + Sync>,
        next_resets: Box<dyn Fn() -> bool + Send + Sync>,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("the port that was bound");
        let shared = Arc::new(Shared {
            answer,
            next_resets,
            requests: Mutex::default(),
            open: Mutex::default(),
            connections: AtomicUsize::new(0),
            abandoned: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || accept(&listener, &accepting));
        Server { address, shared }
    }

    /// `http://127.0.0.1:port`
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// `http://127.0.0.1:port/v1`, as a provider's `base_url`.
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.url())
    }

    /// What was asked so far. A request answered by [`Reply::reset`] was not read.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// How many connections were opened.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many clients went away before they had their whole reply.
    pub fn abandoned(&self) -> usize {
        self.shared.abandoned.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts, which then drops the listener.
        let _ = TcpStream::connect(self.address);
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Request {
    /// The value of the header `name`, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a request body in UTF-8")
    }
}

impl Reply {
    /// A reply without a body.
    pub fn new(status: u16) -> Reply {
        Reply {
            status,
            headers: Vec::new(),
            body: Body::Whole(Vec::new()),
            delay: Duration::ZERO,
            pause: None,
            close_after: None,
        }
    }

    /// A reply of JSON.
    pub fn json(status: u16, body: &str) -> Reply {
        Reply::new(status).header("Content-Type", "application/json").body(body)
    }

    /// A chat completion that says `text`.
    pub fn chat(text: &str) -> Reply {
        Reply::json(
            200,
            &format!(
                r#"{{"id":"c","object":"chat.completion","model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":{}}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}}}"#,
                quote(text)
            ),
        )
    }

    /// A stream of server-sent events; each is sent, as a chunk, after its wait.
    pub fn events<'a>(events: impl IntoIterator<Item = (Duration, &'a str)>) -> Reply {
        let piece = |(wait, event)| (wait, format!("data: {event}\n\n").into_bytes());
        let mut reply = Reply::new(200).header("Content-Type", "text/event-stream");
        reply.body = Body::Pieces(events.into_iter().map(piece).collect());
        reply
    }

    /// A body of JSON in chunks; each is sent after its wait.
    pub fn chunked<'a>(pieces: impl IntoIterator<Item = (Duration, &'a str)>) -> Reply {
        let piece = |(wait, text): (Duration, &str)| (wait, text.as_bytes().to_vec());
        let mut reply = Reply::new(200).header("Content-Type", "application/json");
        reply.body = Body::Pieces(pieces.into_iter().map(piece).collect());
        reply
    }

    /// A body of this type in chunks of any bytes; each is sent after its wait.
    pub fn pieces<'a>(
        content_type: &str,
        pieces: impl IntoIterator<Item = (Duration, &'a [u8])>,
    ) -> Reply {
        let piece = |(wait, bytes): (Duration, &[u8])| (wait, bytes.to_vec());
        let mut reply = Reply::new(200).header("Content-Type", content_type);
        reply.body = Body::Pieces(pieces.into_iter().map(piece).collect());
        reply
    }

    /// A chat completion as a stream: each text is sent after its wait, then the usage and the end.
    pub fn chat_stream<'a>(texts: impl IntoIterator<Item = (Duration, &'a str)>) -> Reply {
        let delta = |text: &str| {
            let text = quote(text);
            format!(
                r#"{{"choices":[{{"index":0,"delta":{{"content":{text}}},"finish_reason":null}}]}}"#
            )
        };
        let mut events: Vec<(Duration, String)> =
            texts.into_iter().map(|(wait, text)| (wait, delta(text))).collect();
        for last in [
            r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7}}"#,
            "[DONE]",
        ] {
            events.push((Duration::ZERO, last.to_string()));
        }
        Reply::events(events.iter().map(|(wait, event)| (*wait, event.as_str())))
    }

    /// A redirect to `location`.
    pub fn redirect(status: u16, location: &str) -> Reply {
        Reply::new(status).header("Location", location)
    }

    /// These bytes and the end of the connection, instead of a reply.
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Reply {
        Reply { body: Body::Raw(bytes.into()), ..Reply::new(0) }
    }

    /// A reset connection instead of a reply. Only in a script.
    pub fn reset() -> Reply {
        Reply { body: Body::Reset, ..Reply::new(0) }
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Reply {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Reply {
        self.body = Body::Whole(body.into());
        self
    }

    /// Waits before the first byte.
    pub fn delay(mut self, delay: Duration) -> Reply {
        self.delay = delay;
        self
    }

    /// Waits after so many bytes of the body.
    pub fn pause(mut self, after: usize, pause: Duration) -> Reply {
        self.pause = Some((after, pause));
        self
    }

    /// Ends the connection after so many bytes of the body, though more was promised.
    pub fn close_after(mut self, bytes: usize) -> Reply {
        self.close_after = Some(bytes);
        self
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    for stream in listener.incoming() {
        if shared.stopped.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        shared.connections.fetch_add(1, Ordering::SeqCst);
        if let Ok(handle) = stream.try_clone() {
            shared.open.lock().unwrap().push(handle);
        }
        let serving = Arc::clone(shared);
        // An error here is a client that left, which is counted where it matters.
        thread::spawn(move || serve(&stream, &serving).is_ok());
    }
}

fn serve(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream);
    loop {
        if (shared.next_resets)() {
            return reset(stream, shared);
        }
        let Some(request) = read_request(&mut reader)? else { return Ok(()) };
        shared.requests.lock().unwrap().push(request.clone());
        let reply = (shared.answer)(&request);
        let sent = send(stream, &reply);
        if sent.is_err() {
            shared.abandoned.fetch_add(1, Ordering::SeqCst);
        }
        if !sent? {
            return stream.shutdown(Shutdown::Both);
        }
    }
}

/// A socket closed with bytes that nobody read is reset, not closed, on Linux.
fn reset(stream: &TcpStream, shared: &Shared) -> io::Result<()> {
    let mut first = [0];
    let came = (&*stream).read(&mut first)?;
    if came == 0 {
        return Ok(());
    }
    let nobody = Request {
        method: String::new(),
        path: String::new(),
        headers: Vec::new(),
        body: Vec::new(),
        at: Instant::now(),
    };
    (shared.answer)(&nobody);
    thread::sleep(Duration::from_millis(30));
    let address = stream.peer_addr()?;
    // The handle kept for the end of the server would keep the socket open.
    shared.open.lock().unwrap().retain(|open| open.peer_addr().ok() != Some(address));
    Ok(())
}

fn read_request(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_string);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let headers = read_headers(reader)?;
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request { method, path, headers, body, at: Instant::now() }))
}

fn read_headers(reader: &mut BufReader<&TcpStream>) -> io::Result<Vec<(String, String)>> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { return Ok(headers) };
        headers.push((name.to_ascii_lowercase(), value.trim().to_string()));
    }
}

/// Sends `reply`; says whether the connection can serve another request. Fails if the client
/// went away.
fn send(stream: &TcpStream, reply: &Reply) -> io::Result<bool> {
    wait(stream, reply.delay)?;
    match &reply.body {
        Body::Raw(bytes) => (&*stream).write_all(bytes).map(|()| false),
        Body::Reset => Ok(false),
        Body::Whole(body) => {
            let length = ("Content-Length".to_string(), body.len().to_string());
            send_head(stream, reply, &length)?;
            send_whole(stream, reply, body)
        }
        Body::Pieces(pieces) => {
            let chunked = ("Transfer-Encoding".to_string(), "chunked".to_string());
            send_head(stream, reply, &chunked)?;
            for (delay, piece) in pieces {
                wait(stream, *delay)?;
                send_chunk(stream, piece)?;
            }
            if reply.close_after.is_some() {
                return Ok(false);
            }
            send_chunk(stream, b"").map(|()| true)
        }
    }
}

fn send_head(mut stream: &TcpStream, reply: &Reply, framing: &(String, String)) -> io::Result<()> {
    let mut head = format!("HTTP/1.1 {} Scripted\r\n", reply.status);
    for (name, value) in reply.headers.iter().chain([framing]) {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(format!("{head}\r\n").as_bytes())
}

fn send_whole(mut stream: &TcpStream, reply: &Reply, body: &[u8]) -> io::Result<bool> {
    let end = reply.close_after.unwrap_or(body.len()).min(body.len());
    let (pause_at, pause) = reply.pause.unwrap_or((end, Duration::ZERO));
    let pause_at = pause_at.min(end);
    stream.write_all(&body[..pause_at])?;
    wait(stream, pause)?;
    stream.write_all(&body[pause_at..end])?;
    Ok(reply.close_after.is_none())
}

fn send_chunk(mut stream: &TcpStream, piece: &[u8]) -> io::Result<()> {
    let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
    chunk.extend_from_slice(piece);
    chunk.extend_from_slice(b"\r\n");
    stream.write_all(&chunk)
}

/// Waits, but no longer than the client does.
fn wait(stream: &TcpStream, length: Duration) -> io::Result<()> {
    let until = Instant::now() + length;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return stream.set_read_timeout(None);
        }
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.peek(&mut [0]) {
            Ok(0) => return Err(io::ErrorKind::ConnectionAborted.into()),
            // The client sends on before it has its reply; that is its affair.
            Ok(_) => thread::sleep(left.min(Duration::from_millis(5))),
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error),
        }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted += &format!("\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
