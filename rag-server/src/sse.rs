//! Server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::stream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::failure::Failure;
use crate::question::Piece;

/// After so much silence a comment is sent, so that nobody between takes the connection for dead.
const SILENCE: Duration = Duration::from_secs(15);

/// What a told answer still has to say.
pub type Pieces = mpsc::Receiver<Result<Piece, Failure>>;

/// One event: an optional name, and data of any number of lines.
pub fn frame(event: Option<&str>, data: &str) -> String {
    let mut text = String::with_capacity(data.len() + 32);
    if let Some(event) = event {
        text.push_str("event: ");
        text.push_str(event);
        text.push('\n');
    }
    // A lone carriage return ends a line of an event stream, too.
    for line in data.split('\n').flat_map(|line| line.split('\r')) {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text
}

/// How the parts of an answer become frames.
pub trait Frames: Send + 'static {
    /// What is sent before the first part.
    fn begin(&mut self) -> String {
        String::new()
    }
    /// The frames of one part.
    fn frames(&mut self, piece: Result<Piece, Failure>) -> String;
}

/// Streams an answer. An error before its first part is returned, so that it gets a status of its own; a later one
/// is a frame. `guard` is dropped with the stream.
pub async fn response(
    mut pieces: Pieces,
    mut frames: impl Frames,
    guard: impl Send + 'static,
) -> Result<Response, Failure> {
    let first = match pieces.recv().await {
        Some(Err(failure)) => return Err(failure),
        Some(first) => frames.begin() + &frames.frames(first),
        None => return Err(Failure::unavailable("the answer was broken off")),
    };
    let rest = Rest { pieces, frames, first: Some(first), _guard: guard };
    let stream = stream::unfold(rest, |mut rest| async move {
        let text = rest.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), rest))
    });
    let mut response = Response::new(Body::from_stream(stream));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // nginx keeps a response back until it has a page of it, unless it is told.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

struct Rest<F, G> {
    pieces: Pieces,
    frames: F,
    first: Option<String>,
    _guard: G,
}

impl<F: Frames, G> Rest<F, G> {
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        match timeout(SILENCE, self.pieces.recv()).await {
            Ok(piece) => piece.map(|piece| self.frames.frames(piece)),
            Err(_) => Some(": still there\n\n".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_data_has_its_prefix() {
        assert_eq!(frame(None, "a"), "data: a\n\n");
        assert_eq!(frame(Some("piece"), "a\nb"), "event: piece\ndata: a\ndata: b\n\n");
        assert_eq!(frame(None, "a\rb\r\nc"), "data: a\ndata: b\ndata: \ndata: c\n\n");
        assert_eq!(frame(None, ""), "data: \n\n");
    }
}
