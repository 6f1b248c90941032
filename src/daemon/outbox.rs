//! Pieces of an answer, as fast as the session takes them.
//!
//! ```text
//! piece → (what the session has not taken yet, and the piece) → a frame, if there is room
//! ```
//!
//! A session may take its time: it may be a cursor that is not fetched from. The provider is read
//! on nevertheless, since a call has a limit and a place among few. What the session does not take
//! waits here, and goes out in larger pieces later.

use std::os::unix::net::UnixStream;

use super::{frame, peer};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::{Response, encode};

/// Longest text of a frame, in bytes: so much fits where there is room for more at all.
const MOST: usize = 16 << 10;

/// What is on its way to a session.
pub struct Outbox<'a> {
    stream: &'a UnixStream,
    waiting: String,
}

impl Outbox<'_> {
    /// An empty outbox for the session at the other end of `stream`.
    pub fn new(stream: &UnixStream) -> Outbox<'_> {
        Outbox { stream, waiting: String::new() }
    }

    /// Sends `piece`, or keeps it for the time being.
    ///
    /// Fails with [`ErrorKind::DaemonLost`] if the session has gone.
    pub fn add(&mut self, piece: &str) -> Result<()> {
        if !peer::is_open(self.stream) {
            return Err(Error::new(ErrorKind::DaemonLost, "the client has gone"));
        }
        self.waiting += piece;
        while !self.waiting.is_empty() && peer::has_room(self.stream) {
            self.send()?;
        }
        Ok(())
    }

    /// Sends what is left, however long that takes.
    pub fn flush(&mut self) -> Result<()> {
        while !self.waiting.is_empty() {
            self.send()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<()> {
        let rest = self.waiting.split_off(self.waiting.floor_char_boundary(MOST));
        let piece = std::mem::replace(&mut self.waiting, rest);
        frame::write(&mut &*self.stream, &encode(&Response::Piece(piece))?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::ReceivedFrame;
    use super::*;
    use crate::protocol::decode;

    fn received(stream: &UnixStream) -> String {
        let Ok(ReceivedFrame::Body(body)) = frame::read(&mut &*stream) else { panic!("no frame") };
        match decode::<Response>(&body).unwrap() {
            Response::Piece(piece) => piece,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_piece_goes_out_at_once() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut outbox = Outbox::new(&here);
        for piece in ["one ", "", "zwei \u{1f600}"] {
            outbox.add(piece).unwrap();
        }
        assert_eq!(received(&there), "one ");
        assert_eq!(received(&there), "zwei \u{1f600}");
    }

    #[test]
    fn what_is_not_taken_waits_and_nothing_is_lost() {
        let (here, there) = UnixStream::pair().unwrap();
        let mut outbox = Outbox::new(&here);
        let mut sent = String::new();
        for number in 0..20_000 {
            let piece = format!("Wörter {number}, ");
            outbox.add(&piece).unwrap();
            sent += &piece;
        }
        assert!(outbox.waiting.len() > MOST, "the socket took all of it");
        let length = sent.len();
        let reader = std::thread::spawn(move || {
            let mut whole = String::new();
            while whole.len() < length {
                whole += &received(&there);
            }
            whole
        });
        outbox.flush().unwrap();
        assert_eq!(reader.join().unwrap(), sent);
    }

    #[test]
    fn a_session_that_has_gone_ends_it() {
        let (here, there) = UnixStream::pair().unwrap();
        drop(there);
        let error = Outbox::new(&here).add("piece").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DaemonLost);
    }
}
