//! # The socket: a thread a connection
//!
//! ```text
//! connection → frame → handler → frame → ... until the client closes
//! ```
//!
//! Threads and blocking calls, because a connection is a session of PostgreSQL, of which
//! there are hundreds and not hundreds of thousands, and because everything a request waits
//! for (a model, a provider) takes longer than a thread does to wake.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::cache::Cache;
use super::frame::{self, ReadError, ReceivedFrame};
use super::handler::{HandlerContext, HandlerReply};
use super::local_model::child::LocalModelOptions;
use super::local_model::host::LocalModelHost;
use super::outbox::Outbox;
use super::parse::Parsers;
use super::registry::Registry;
use super::runtime::Runtime;
use super::worker::IsAlive;
use super::{log, peer, process};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Response, encode};
use crate::provider::ProviderMemory;

/// Padded tokens in a batch, where nothing else is said: as many as keep `threads` busy. See
/// `benches/embed.rs`: more gains little on a CPU, and a query waits for the batch before it.
#[must_use]
pub fn batch_tokens(threads: usize) -> usize {
    (threads * 128).clamp(256, 1024)
}

/// The stack of a connection's thread.
const STACK: usize = 1 << 20;

/// A body from which on memory is given back after the request.
const LARGE: usize = 8 << 20;

/// How long a ragd that is about to end is waited for.
const HANDOVER: (u32, Duration) = (20, Duration::from_millis(100));

/// The settings that ragd is started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Where the socket goes.
    pub socket: PathBuf,
    /// The ONNX Runtime library.
    pub onnxruntime: PathBuf,
    /// Threads that work on a batch.
    pub threads: usize,
    /// Padded tokens in a batch.
    pub max_batch_tokens: usize,
    /// How local language models are run.
    pub local_models: LocalModelOptions,
}

/// ragd's server, listening on its socket.
pub struct RagdServer {
    listener: UnixListener,
    socket: Socket,
    handler: Arc<HandlerContext>,
}

/// A socket's file, known by device and inode.
#[derive(Clone, Debug)]
pub struct Socket {
    path: PathBuf,
    identity: (u64, u64),
}

impl RagdServer {
    /// Makes the socket; only this operating system user can connect to it.
    ///
    /// The socket of a ragd that was killed is replaced. Fails with
    /// [`ErrorKind::DaemonUnavailable`] if a living one serves there or the path can't be used.
    pub fn bind(options: &ServerOptions) -> Result<RagdServer> {
        clear_path(&options.socket)?;
        let listener =
            bind_private(&options.socket).map_err(|error| cannot_listen(&options.socket, error))?;
        let socket =
            Socket::of(&options.socket).map_err(|error| cannot_listen(&options.socket, error))?;
        let runtime = Runtime::new(options.onnxruntime.clone());
        let registry = Registry::new(runtime, options.threads, options.max_batch_tokens);
        let local_models = Arc::new(LocalModelHost::new(options.local_models.clone()));
        Ok(RagdServer {
            listener,
            socket,
            handler: Arc::new(HandlerContext {
                registry,
                memory: ProviderMemory::with_local_models(local_models.clone()),
                local_models,
                parsers: Parsers::new(),
                cache: Cache::default(),
            }),
        })
    }

    /// The socket, for removing it at the end.
    pub fn socket(&self) -> Socket {
        self.socket.clone()
    }

    /// Serves connections for ever.
    pub fn serve(&self) -> ! {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => self.start(stream),
                Err(error) => {
                    // Out of descriptors or memory: connections that end make room.
                    log::line(format!("cannot accept a connection: {error}"));
                    thread::sleep(Duration::from_millis(50));
                }
            }
        }
    }

    fn start(&self, stream: UnixStream) {
        if !peer::is_same_user(&stream) {
            log::line("refused a connection of another operating system user");
            return;
        }
        let stream = Arc::new(stream);
        let (theirs, handler) = (Arc::clone(&stream), Arc::clone(&self.handler));
        let thread = thread::Builder::new().name("ragd-client".to_string()).stack_size(STACK);
        if let Err(error) = thread.spawn(move || converse(&theirs, &handler)) {
            let message = format!("ragd cannot start a thread for a connection: {error}");
            log::line(&message);
            send(&stream, Response::Failed(Error::new(ErrorKind::OutOfResources, message)));
        }
    }
}

impl Socket {
    fn of(path: &Path) -> io::Result<Socket> {
        let metadata = fs::symlink_metadata(path)?;
        Ok(Socket { path: path.to_path_buf(), identity: (metadata.dev(), metadata.ino()) })
    }

    /// Removes the file, unless another ragd has put its own there.
    pub fn remove(&self) {
        if Socket::of(&self.path).is_ok_and(|now| now.identity == self.identity) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Answers one request after the other until the client has enough.
fn converse(stream: &Arc<UnixStream>, handler: &HandlerContext) {
    let watched = Arc::clone(stream);
    let is_alive: IsAlive = Arc::new(move || peer::is_open(&watched));
    loop {
        let body = match frame::read(&mut &**stream) {
            Ok(ReceivedFrame::Body(body)) => body,
            Ok(ReceivedFrame::End) | Err(ReadError::Lost) => return,
            Err(ReadError::Corrupt(error)) => {
                log::line(format!("closed a connection: {error}"));
                send(stream, Response::Failed(error));
                return;
            }
        };
        let size = body.len();
        let HandlerReply { response, go_on } =
            handler.answer(&body, &is_alive, &mut Outbox::new(stream));
        drop(body);
        if !send(stream, response) || !go_on {
            return;
        }
        if size >= LARGE {
            process::release_memory();
        }
    }
}

/// Sends an answer, or, where it is too long for a frame, that it is. False if the client
/// has gone.
fn send(mut stream: &UnixStream, response: Response) -> bool {
    let frame = encode(&response).or_else(|error| encode(&Response::Failed(error)));
    drop(response);
    match frame {
        Ok(frame) => frame::write(&mut stream, &frame).is_ok(),
        Err(error) => {
            log::line(error);
            false
        }
    }
}

/// Makes room for the socket: removes one that no process listens on.
fn clear_path(path: &Path) -> Result<()> {
    for _ in 0..HANDOVER.0 {
        match fs::symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(cannot_listen(path, error)),
            Ok(metadata) if !metadata.file_type().is_socket() => {
                return Err(cannot_listen(path, "there is a file that is no socket"));
            }
            Ok(_) => {}
        }
        if UnixStream::connect(path).is_err() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    Err(cannot_listen(path, error))
                }
                _ => Ok(()),
            };
        }
        thread::sleep(HANDOVER.1);
    }
    Err(cannot_listen(path, "another ragd serves there"))
}

/// Binds with a mask under which the socket is its owner's alone from the first moment.
fn bind_private(path: &Path) -> io::Result<UnixListener> {
    // SAFETY: umask can't fail and takes no pointer. It holds for the whole process, so it is
    // put back; ragd has no other thread yet.
    let before = unsafe { libc::umask(0o177) };
    let listener = UnixListener::bind(path);
    // SAFETY: as above.
    unsafe { libc::umask(before) };
    listener
}

fn cannot_listen(path: &Path, why: impl std::fmt::Display) -> Error {
    let message = format!("cannot listen on \"{}\": {why}", path.display());
    Error::new(ErrorKind::DaemonUnavailable, message)
}
