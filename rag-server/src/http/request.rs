//! The body of a request: JSON, and no more than is allowed.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::Server;
use crate::failure::Failure;
use crate::mcp;

/// How much of what is too large is read and thrown away, so that a client that sends all of it first is there to
/// read the answer.
const THROWN_AWAY: usize = 64 << 20;

/// How long a client may take to send a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// A body in JSON that fits `T`.
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<Server>> for JsonBody<T> {
    type Rejection = Failure;

    async fn from_request(request: Request, server: &Arc<Server>) -> Result<Self, Failure> {
        // A form of another site could send JSON under another name without being asked first.
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.trim().to_ascii_lowercase().starts_with("application/json") {
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Failure::new(status, "invalid_request", "the body must be JSON")
                .hint("send the header Content-Type: application/json"));
        }
        let bytes = read_in_time(request.into_body(), server.max_request).await?;
        parse(&bytes).map(Self)
    }
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Failure> {
    // An array would be read as the members in their order.
    if bytes.trim_ascii_start().first().is_some_and(|first| *first != b'{') {
        return Err(Failure::request("the body must be a JSON object"));
    }
    serde_json::from_slice(bytes)
        .map_err(|error| Failure::request(format!("the body cannot be read: {error}")))
}

/// Has a request of MCP answered only when its body is there, in time and not too large, and its filter as a text, so that
/// numbers in it keep their digits.
pub async fn read_first(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Result<Response, Failure> {
    let (mut head, body) = request.into_parts();
    let bytes = read_in_time(body, server.max_request).await?;
    let bytes = mcp::with_filter_as_text(&bytes).unwrap_or(bytes);
    head.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes.len()));
    Ok(next.run(Request::from_parts(head, Body::from(bytes))).await)
}

async fn read_in_time(body: Body, most: usize) -> Result<Vec<u8>, Failure> {
    timeout(PATIENCE, read(body, most)).await.unwrap_or_else(|_| {
        let message = format!("the body of the request took longer than {PATIENCE:?}");
        Err(Failure::new(StatusCode::REQUEST_TIMEOUT, "request_timeout", message))
    })
}

async fn read(body: Body, most: usize) -> Result<Vec<u8>, Failure> {
    let mut stream = body.into_data_stream();
    let mut bytes = Vec::new();
    let mut seen = 0;
    while let Some(part) = stream.next().await {
        let part: Bytes =
            part.map_err(|_| Failure::request("the body of the request was broken off"))?;
        seen += part.len();
        if seen <= most {
            bytes.extend_from_slice(&part);
        } else if seen > most + THROWN_AWAY {
            break;
        } else {
            bytes = Vec::new();
        }
    }
    if seen > most {
        let message = format!("the request is larger than {} KB", most / 1024);
        return Err(Failure::new(StatusCode::PAYLOAD_TOO_LARGE, "request_too_large", message)
            .hint("ask in fewer words, or start rag-server with a larger --max-request"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_too_large_is_read_to_its_end_and_refused() {
        assert_eq!(read(Body::from("abc"), 3).await.unwrap(), b"abc");
        let failure = read(Body::from(vec![b'x'; 10 << 20]), 1 << 20).await.unwrap_err();
        assert_eq!(failure.status, 413);
        assert_eq!(failure.message, "the request is larger than 1024 KB");
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_not_waited_for() {
        let parts = futures_util::stream::pending::<Result<Bytes, std::io::Error>>();
        let failure = read_in_time(Body::from_stream(parts), 3).await.unwrap_err();
        assert_eq!(failure.status, 408);
        assert!(failure.message.contains("30s"), "{}", failure.message);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let failure = parse::<crate::question::Question>(b"{\"k\": 3}").unwrap_err();
        assert!(failure.message.contains("missing field `question`"), "{}", failure.message);
        assert_eq!(failure.status, 400);
        for body in ["[]", " [\"a\"]", "null", "a"] {
            let failure = parse::<crate::question::Question>(body.as_bytes()).unwrap_err();
            assert_eq!(failure.message, "the body must be a JSON object", "{body}");
        }
        assert!(parse::<crate::question::Question>(b"\n{\"question\": \"a\"}").is_ok());
    }
}
