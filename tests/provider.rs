//! A provider asked over HTTP: what it gets to read, and what becomes of its moods.

use std::cell::RefCell;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::protocol::{GenerateRequest, Generated, KeySource, Message, SamplingParameters};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate};
use serde_json::{Value, json};

#[path = "provider/asked.rs"]
mod asked;
#[path = "provider/heard.rs"]
mod heard;
#[path = "support/http_server.rs"]
mod http_server;
#[path = "provider/retried.rs"]
mod retried;
#[path = "support/provider.rs"]
mod support;
#[path = "provider/timed.rs"]
mod timed;
use http_server::{Reply, Server};
use support::{SECRET, asking, check, check_silent, provider_at};

// What stays unsaid.

#[test]
fn the_key_is_in_no_error() {
    // Whatever is asked is answered with the key, in every way a server can.
    let echo = |status: u16, shape: fn(&str) -> String| {
        Server::answer(move |request| {
            let key = request.header("authorization").unwrap_or_default().to_string();
            Reply::json(status, &shape(&key)).header("Location", &format!("http://{SECRET}/"))
        })
    };
    let shapes: [fn(&str) -> String; 5] = [
        |key| json!({"error": {"message": format!("bad key {key}")}}).to_string(),
        |key| format!("<html>{key}</html>"),
        |key| format!("{}{key}", "x".repeat(290)),
        |key| json!({"choices": [{"finish_reason": key, "message": {"refusal": key}}]}).to_string(),
        |key| json!({"choices": [{"finish_reason": key.replace("-", "\u{200b}-")}]}).to_string(),
    ];
    for shape in shapes {
        for status in [200, 302, 400, 401, 429] {
            let server = echo(status, shape);
            let mut request = request(&server);
            request.provider.max_retries = 0;
            let error = call(&request).unwrap_err();
            assert_eq!(server.requests().len(), 1, "the key was sent");
            check_silent(&error);
        }
    }
}

#[test]
fn the_key_is_in_no_debug_output() {
    let server = Server::play([Reply::chat("ok")]);
    assert!(!format!("{:?}", request(&server)).contains(SECRET));
}

fn request(server: &Server) -> GenerateRequest {
    request_to(&server.base_url())
}

fn request_to(base_url: &str) -> GenerateRequest {
    let mut request = asking(provider_at("openai", base_url), &[("system", "Be brief.")]);
    request.provider.max_retries = 3;
    request
}

fn ask(server: &Server) -> Result<Generated> {
    call(&request(server))
}

/// Every error of these tests is looked through for the key.
fn call(request: &GenerateRequest) -> Result<Generated> {
    generate(request, &ProviderMemory::default(), &Unlimited, &|| false).inspect_err(check_silent)
}

fn check_failed(server: &Server, kind: ErrorKind, part: &str) -> Error {
    let error = ask(server).unwrap_err();
    check(&error, kind, part);
    error
}

/// `reply` fails like this, and is not asked for twice.
fn check_once(reply: Reply, kind: ErrorKind, part: &str) -> Error {
    let server = Server::play([reply]);
    let error = check_failed(&server, kind, part);
    assert_eq!(server.requests().len(), 1, "{error}");
    error
}
