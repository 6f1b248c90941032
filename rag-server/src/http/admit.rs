//! Who asks, and may they now?

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::{Caller, Server};
use crate::failure::Failure;
use crate::tokens;

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
    let origin = text(request.headers(), header::ORIGIN);
    if server.anybody.is_some() && !host.is_some_and(is_loopback) {
        let forbidden =
            Failure::new(StatusCode::FORBIDDEN, "not_permitted", "not a name of this machine");
        return forbidden.hint("without tokens ask 127.0.0.1 or localhost").into_response();
    }
    if let Some(origin) = origin
        && !is_same(origin, host)
    {
        let message = "requests of pages of other sites are not answered";
        return Failure::new(StatusCode::FORBIDDEN, "not_permitted", message).into_response();
    }
    next.run(request).await
}

/// Whether an origin, scheme://host:port, has the host that was asked.
fn is_same(origin: &str, host: Option<&str>) -> bool {
    let of_origin = origin.split_once("://").map(|(_, host)| host);
    of_origin.is_some() && of_origin == host
}

fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
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
            next.run(request).await
        }
        Err(failure) => failure.into_response(),
    };
    server.metrics.count(route, response.status().as_u16(), began.elapsed());
    response
}

fn caller(server: &Server, headers: &HeaderMap, now: Instant) -> Result<Arc<Caller>, Failure> {
    let caller = match &server.anybody {
        Some(anybody) => anybody,
        None => by_token(server, headers)?,
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

fn by_token<'a>(server: &'a Server, headers: &HeaderMap) -> Result<&'a Arc<Caller>, Failure> {
    let token = text(headers, header::AUTHORIZATION).and_then(bearer);
    let caller = token.and_then(|token| server.callers.get(&tokens::digest(token)));
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
    const ROUTES: [&str; 9] = [
        "/v1/models",
        "/v1/chat/completions",
        "/v1/embeddings",
        "/ask",
        "/explain",
        "/source",
        "/feedback",
        "/metrics",
        "/mcp",
    ];
    ROUTES.into_iter().find(|route| *route == path).unwrap_or("other")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stands_behind_the_word_bearer() {
        assert_eq!(bearer("Bearer abc"), Some("abc"));
        assert_eq!(bearer("bearer  abc "), Some("abc"));
        assert_eq!(bearer("Basic abc"), None);
        assert_eq!(bearer("Bearer "), None);
        assert_eq!(bearer("abc"), None);
    }

    #[test]
    fn names_of_this_machine_are_known() {
        for host in ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example:8080", "127.0.0.1.evil.example", ""] {
            assert!(!is_loopback(host), "{host}");
        }
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
