//! Providers of any protocol on the scripted server, and the care that no error holds the key.

// Each test crate uses a part of it.
#![allow(dead_code)]

use pg_rag::error::{Error, ErrorKind};
use pg_rag::protocol::{
    GenerateRequest, KeySource, Lane, Message, ProviderConfig, Response, SamplingParameters, encode,
};
use serde_json::{Value, json};

use super::http_server::{Reply, Request, Server};

/// The key of all calls.
pub const SECRET: &str = "sk-loopback-7Kq2vX9";

/// The model "tiny" of a server called "test" that speaks `api`.
pub fn provider(api: &str, server: &Server) -> ProviderConfig {
    provider_at(api, &server.base_url())
}

/// The one at this address.
pub fn provider_at(api: &str, base_url: &str) -> ProviderConfig {
    ProviderConfig {
        name: "test".into(),
        api: api.into(),
        base_url: base_url.into(),
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
    let sampling = SamplingParameters::of_temperature(0.2);
    GenerateRequest { sampling, ..asking(provider(api, server), messages) }
}

/// A request that `provider` answer these messages, with nothing else said.
pub fn asking(provider: ProviderConfig, messages: &[(&str, &str)]) -> GenerateRequest {
    let message = |(role, content): &(&str, &str)| Message {
        role: role.to_string(),
        content: content.to_string(),
    };
    GenerateRequest {
        provider,
        messages: messages.iter().map(message).collect(),
        sampling: Default::default(),
        max_tokens: None,
        schema: None,
        tools: None,
        lane: Lane::Query,
    }
}

/// A reply of `api` that says `text`.
pub fn says(api: &str, text: &str) -> Reply {
    let said = json!([{"type": "text", "text": text}]);
    let reply = match api {
        "anthropic" => json!({"content": said, "stop_reason": "end_turn"}),
        "ollama" => json!({"message": {"role": "assistant", "content": text}, "done": true}),
        "gemini" => {
            json!({"candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}]})
        }
        "cohere" => json!({"message": {"content": said}, "finish_reason": "COMPLETE"}),
        _ => json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}),
    };
    Reply::json(200, &reply.to_string())
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
