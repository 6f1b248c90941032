//! Providers of any protocol on the scripted server, and the care that no error holds the key.

// Each test crate uses a part of it.
#![allow(dead_code)]

use pg_rag::error::{Error, ErrorKind};
use pg_rag::protocol::{
    GenerateRequest, KeySource, Lane, Message, ProviderConfig, Response, SamplingParameters, encode,
};
use serde_json::Value;

use super::http_server::{Request, Server};

/// The key of all calls.
pub const SECRET: &str = "sk-loopback-7Kq2vX9";

/// The model "tiny" of a server called "test" that speaks `api`.
pub fn provider(api: &str, server: &Server) -> ProviderConfig {
    ProviderConfig {
        name: "test".into(),
        api: api.into(),
        base_url: server.base_url(),
        model: "tiny".into(),
        api_key: KeySource::Inline(SECRET.into()),
        connect_timeout_ms: 2000,
        timeout_ms: 20_000,
        max_retries: 0,
        limits: Default::default(),
        network: Default::default(),
        special: Default::default(),
    }
}

/// A request that `api` answer these messages.
pub fn chat(api: &str, server: &Server, messages: &[(&str, &str)]) -> GenerateRequest {
    let message = |(role, content): &(&str, &str)| Message {
        role: role.to_string(),
        content: content.to_string(),
    };
    GenerateRequest {
        provider: provider(api, server),
        messages: messages.iter().map(message).collect(),
        sampling: SamplingParameters::of_temperature(0.2),
        max_tokens: None,
        schema: None,
        tools: None,
        lane: Lane::Query,
    }
}

/// The body of a request.
pub fn body(request: &Request) -> Value {
    serde_json::from_str(request.text()).expect("a request of JSON")
}

/// An error of the provider that holds `part`, and not the key.
pub fn check(error: &Error, kind: ErrorKind, part: &str) {
    check_silent(error);
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().starts_with("provider \"test\" "), "{error}");
    assert!(error.message().contains(part), "{error}\ndoes not hold\n{part}");
}

/// No part of an error, as a caller or a log would see it, holds the key or a good part of it.
pub fn check_silent(error: &Error) {
    let frame = encode(&Response::Failed(error.clone())).unwrap();
    let seen = format!("{error} {error:?} {}", String::from_utf8_lossy(&frame));
    assert!(!seen.contains(&SECRET[..8]), "{seen}");
}
