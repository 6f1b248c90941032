//! Who asks, and may they now?

use std::net::{Ipv4Addr, Ipv6Addr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use super::callers::Callers;
use super::{Caller, Server};
use crate::failure::Failure;

/// Refuses what a page of another site has its visitor's browser send. It cannot read a response, since no response
/// allows that, but without tokens it could ask, and a name of its own that leads to this machine would make it the same
/// site.
pub async fn same_origin(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    let host = text(request.headers(), header::HOST)
        .or_else(|| request.uri().authority().map(|authority| authority.as_str()));
    if server.callers.now().anybody().is_some() && !host.is_some_and(is_loopback) {
        let forbidden =
            Failure::new(StatusCode::FORBIDDEN, "not_permitted", "not a name of this machine");
        return forbidden.hint("without tokens ask 127.0.0.1 or localhost").into_response();
    }
    if !is_from_here(request.headers(), host) {
        let message = "requests of pages of other sites are not answered";
        return Failure::new(StatusCode::FORBIDDEN, "not_permitted", message).into_response();
    }
    next.run(request).await
}

/// Whether no page sends a request, or one of the host that was asked. An origin that cannot be read is another one.
fn is_from_here(headers: &HeaderMap, host: Option<&str>) -> bool {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    origins.all(|origin| origin.to_str().is_ok_and(|origin| is_same(origin, host)))
}

/// Whether an origin, scheme://host:port, has the host that was asked.
fn is_same(origin: &str, host: Option<&str>) -> bool {
    let of_origin = origin.split_once("://").map(|(_, host)| host);
    of_origin.is_some() && of_origin == host
}

/// Whether a host is a name or an address of this machine: an address leads nowhere else, and of names only `localhost`
/// belongs to nobody.
fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let version_6 = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
    match version_6 {
        Some(address) => address.parse().is_ok_and(|address: Ipv6Addr| address.is_loopback()),
        None if name.eq_ignore_ascii_case("localhost") => true,
        None => name.parse().is_ok_and(|address: Ipv4Addr| address.is_loopback()),
    }
}

/// Lets a request pass whose token is known and not beyond its rate, with its [`Caller`], and counts it.
pub async fn admit(
    State(server): State<Arc<Server>>,
    mut request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let route = route(request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str));
    let response = match caller(&server, request.headers(), began) {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            unless_it_panics(next.run(request)).await
        }
        Err(failure) => failure.into_response(),
    };
    server.metrics.count(route, response.status().as_u16(), began.elapsed());
    response
}

/// A response. A panic is a failure, too: without an answer, the client would take the network for the cause.
async fn unless_it_panics(answered: impl Future<Output = Response>) -> Response {
    // What it had in hand is dropped with it.
    let answered = AssertUnwindSafe(answered).catch_unwind().await;
    answered.unwrap_or_else(|_| Failure::defect().into_response())
}

fn caller(server: &Server, headers: &HeaderMap, now: Instant) -> Result<Arc<Caller>, Failure> {
    let callers = server.callers.now();
    let caller = match callers.anybody() {
        Some(anybody) => anybody,
        None => by_token(server, &callers, headers)?,
    };
    caller.limit.take(now).map_err(|wait| {
        server.metrics.limited.fetch_add(1, Ordering::Relaxed);
        let status = StatusCode::TOO_MANY_REQUESTS;
        let failure = Failure::new(status, "rate_limited", "too many requests of this token");
        Failure {
            retry_after: Some(u32::try_from(wait.as_secs()).unwrap_or(u32::MAX - 1) + 1),
            ..failure
        }
    })?;
    Ok(Arc::clone(caller))
}

fn by_token<'a>(
    server: &Server,
    callers: &'a Callers,
    headers: &HeaderMap,
) -> Result<&'a Arc<Caller>, Failure> {
    let token = text(headers, header::AUTHORIZATION).and_then(bearer);
    let caller = token.and_then(|token| callers.with_token(token));
    caller.ok_or_else(|| {
        server.metrics.unknown_tokens.fetch_add(1, Ordering::Relaxed);
        let message = match token {
            Some(_) => "the token is not known",
            None => "a bearer token is missing",
        };
        Failure::new(StatusCode::UNAUTHORIZED, "invalid_api_key", message)
            .hint("send the header Authorization: Bearer TOKEN")
    })
}

/// The token of a header; the word before it is read in any case.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()).filter(|token| !token.is_empty())
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// The path as a label that lives as long as the program.
fn route(path: &str) -> &'static str {
    const ROUTES: [&str; 11] = [
        "/v1/models",
        "/v1/models/{model}",
        "/v1/chat/completions",
        "/v1/embeddings",
        "/ask",
        "/explain",
        "/search",
        "/source",
        "/feedback",
        "/metrics",
        "/mcp",
    ];
    ROUTES.into_iter().find(|route| *route == path).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use std::future::{poll_fn, ready};
    use std::task::Poll;

    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_token_stands_behind_the_word_bearer() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        assert_eq!(bearer("Basic abc"), None);
        assert_eq!(bearer("Bearer "), None);
        assert_eq!(bearer("abc"), None);
    }

    #[tokio::test]
    async fn a_panic_is_an_error_as_others_are() {
        let panics = poll_fn(|_| -> Poll<Response> { panic!("a test wants it") });
        let response = unless_it_panics(panics).await;
        assert_eq!(response.status(), 500);
        let body = axum::body::to_bytes(response.into_body(), 1000).await.unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(
            (&body["error"]["type"], &body["error"]["code"]),
            (&"server_error".into(), &"internal".into())
        );
        let response = unless_it_panics(ready("well".into_response())).await;
        assert_eq!(response.status(), 200);
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for host in [
            "localhost",
            "localhost:8080",
            "LOCALHOST:8080",
            "127.0.0.1:1",
            "127.0.0.1",
            "127.1.2.3:8080",
            "[::1]:8080",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "evil.example",
            "localhost.evil.example:8080",
            "127.0.0.1.evil.example",
            "127.0.0.1:8080.evil.example",
            "10.0.0.1:8080",
            "0.0.0.0:8080",
            "[::2]:8080",
            "[::1].evil.example",
            "::1",
            "127.1",
            "",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn every_origin_of_a_request_is_looked_at() {
        let check = |origins: &[&[u8]], expected: bool| {
            let mut headers = HeaderMap::new();
            for origin in origins {
                headers.append(header::ORIGIN, HeaderValue::from_bytes(origin).unwrap());
            }
            assert_eq!(is_from_here(&headers, Some("rag.example")), expected, "{origins:?}");
        };
        check(&[], true);
        check(&[b"https://rag.example"], true);
        check(&[b"https://evil.example"], false);
        check(&[b"https://rag.example", b"https://evil.example"], false);
        check(&[b"https://\xc3\xa9vil.example"], false);
        check(&[b"null"], false);
        check(&[b""], false);
    }

    #[test]
    fn an_origin_is_the_same_with_the_same_host_and_port() {
        assert!(is_same("http://localhost:8080", Some("localhost:8080")));
        assert!(is_same("https://rag.example", Some("rag.example")));
        assert!(!is_same("http://localhost:3000", Some("localhost:8080")));
        assert!(!is_same("null", Some("localhost:8080")));
        assert!(!is_same("http://evil.example", None));
    }
}
