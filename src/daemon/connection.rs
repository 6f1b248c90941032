//! A client that blocks: for tests, benchmarks and tools.
//!
//! Sessions of PostgreSQL have a client of their own, which waits interruptibly.

use std::os::unix::net::UnixStream;
use std::path::Path;

use super::frame::{self, ReadError, ReceivedFrame};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Request, Response, decode, encode_call};

/// A connection to ragd. Dropping it cancels what it asked.
pub struct ClientConnection {
    stream: UnixStream,
    role: u32,
}

impl ClientConnection {
    /// Connects to the socket at `path`.
    ///
    /// Fails with [`ErrorKind::DaemonUnavailable`] if ragd does not listen there.
    pub fn connect(path: impl AsRef<Path>) -> Result<ClientConnection> {
        let path = path.as_ref();
        let stream = UnixStream::connect(path).map_err(|error| {
            let message = format!("cannot connect to ragd at \"{}\": {error}", path.display());
            Error::new(ErrorKind::DaemonUnavailable, message)
        })?;
        Ok(ClientConnection { stream, role: 0 })
    }

    /// The connection with `role`, an OID of PostgreSQL's, as the role on whose behalf it asks; 0
    /// is none.
    #[must_use]
    pub fn of_role(self, role: u32) -> ClientConnection {
        ClientConnection { role, ..self }
    }

    /// Asks, and waits for the answer. [`Response::Failed`] comes back as the error it holds.
    pub fn call(&mut self, request: &Request) -> Result<Response> {
        self.send(request)?;
        self.receive()
    }

    /// Sends a request, without waiting for the answer.
    pub fn send(&mut self, request: &Request) -> Result<()> {
        frame::write(&mut self.stream, &encode_call(self.role, request)?)
    }

    /// Waits for the answer to what was sent.
    pub fn receive(&mut self) -> Result<Response> {
        match frame::read(&mut self.stream) {
            Ok(ReceivedFrame::Body(body)) => match decode(&body)? {
                Response::Failed(error) => Err(error),
                response => Ok(response),
            },
            Ok(ReceivedFrame::End) | Err(ReadError::Lost) => {
                Err(Error::new(ErrorKind::DaemonLost, "ragd closed the connection"))
            }
            Err(ReadError::Corrupt(error)) => Err(error),
        }
    }

    /// Asks, passes the pieces of the answer on, and gives the last frame.
    pub fn listen(&mut self, request: &Request, mut hear: impl FnMut(&str)) -> Result<Response> {
        self.send(request)?;
        loop {
            match self.receive()? {
                Response::Piece(piece) => hear(&piece),
                last => return Ok(last),
            }
        }
    }

    /// The socket, for clients that misbehave on purpose.
    pub fn stream(&mut self) -> &mut UnixStream {
        &mut self.stream
    }
}
