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
    let first = pieces.recv().await.unwrap_or_else(|| Err(broken_off()))?;
    let is_over = matches!(first, Piece::Details(_));
    let first = frames.begin() + &frames.frames(Ok(first));
    let rest = Rest { pieces, frames, first: Some(first), is_over, _guard: guard };
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

fn broken_off() -> Failure {
    Failure::unavailable("the answer was broken off")
}

struct Rest<F, G> {
    pieces: Pieces,
    frames: F,
    first: Option<String>,
    /// Whether the details were sent, or an error.
    is_over: bool,
    _guard: G,
}

impl<F: Frames, G> Rest<F, G> {
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        if self.is_over {
            return None;
        }
        let Ok(piece) = timeout(SILENCE, self.pieces.recv()).await else {
            return Some(": still there\n\n".to_owned());
        };
        // An answer without its end is not to look like a whole one.
        let piece = piece.unwrap_or_else(|| Err(broken_off()));
        self.is_over = !matches!(piece, Ok(Piece::Step(_) | Piece::Text(_)));
        Some(self.frames.frames(piece))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Words;

    impl Frames for Words {
        fn frames(&mut self, piece: Result<Piece, Failure>) -> String {
            match piece {
                Ok(Piece::Step(step)) => step.to_string(),
                Ok(Piece::Text(text)) => text,
                Ok(Piece::Details(details)) => details.to_string(),
                Err(failure) => failure.message,
            }
        }
    }

    async fn told(said: Vec<Result<Piece, Failure>>) -> Result<String, Failure> {
        let (sender, pieces) = mpsc::channel(8);
        for piece in said {
            sender.send(piece).await.unwrap();
        }
        drop(sender);
        let body = response(pieces, Words, ()).await?.into_body();
        let bytes = axum::body::to_bytes(body, 1000).await.unwrap();
        Ok(String::from_utf8(bytes.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn an_answer_without_its_end_ends_with_an_error() {
        let text = || Ok(Piece::Text("Nine. ".to_owned()));
        let details = || Ok(Piece::Details(serde_json::json!(1)));
        assert_eq!(told(vec![text(), details()]).await.unwrap(), "Nine. 1");
        let step = Ok(Piece::Step(serde_json::json!(0)));
        assert_eq!(told(vec![step, text(), details()]).await.unwrap(), "0Nine. 1");
        assert_eq!(told(vec![details()]).await.unwrap(), "1");
        assert_eq!(told(vec![text()]).await.unwrap(), "Nine. the answer was broken off");
        let failed = told(vec![text(), Err(Failure::request("no"))]).await;
        assert_eq!(failed.unwrap(), "Nine. no");
        assert_eq!(told(vec![]).await.unwrap_err().status, 503);
    }

    #[test]
    fn every_line_of_data_has_its_prefix() {
        assert_eq!(frame(None, "a"), "data: a\n\n");
        assert_eq!(frame(Some("piece"), "a\nb"), "event: piece\ndata: a\ndata: b\n\n");
        assert_eq!(frame(None, "a\rb\r\nc"), "data: a\ndata: b\ndata: \ndata: c\n\n");
        assert_eq!(frame(None, ""), "data: \n\n");
    }
}
