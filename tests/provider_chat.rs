//! The protocols of Anthropic, Ollama, Gemini and Cohere: what is asked, word for word, and what is
//! made of the replies that the vendors document.

use std::time::Duration;

use pg_rag::error::{ErrorKind, Result};
use pg_rag::protocol::{Generated, PROVIDER_APIS, Special};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate, generate_stream};
use serde_json::{Value, json};

#[path = "provider_chat/asked.rs"]
mod asked;
#[path = "provider_chat/heard.rs"]
mod heard;
#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
#[path = "provider_chat/told.rs"]
mod told;
use http_server::{Reply, Request, Server};
use provider::{SECRET, body, chat, check, check_silent};

const MESSAGES: [(&str, &str); 4] = [
    ("system", "Be brief."),
    ("user", "What is a lock? \u{1f600}"),
    ("assistant", "A wait."),
    ("user", "For what?"),
];

/// The apis of these tests.
const APIS: [&str; 4] = ["anthropic", "ollama", "gemini", "cohere"];

fn anthropic(content: &Value, reason: &str) -> Reply {
    let usage = json!({"input_tokens": 2095, "output_tokens": 503});
    let reply = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content, "stop_reason": reason, "stop_sequence": null, "usage": usage});
    Reply::json(200, &reply.to_string())
}

fn ollama(text: &str, reason: &str) -> Reply {
    let message = json!({"role": "assistant", "content": text});
    let reply = json!({"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": true, "done_reason": reason, "total_duration": 5191566416_u64, "prompt_eval_count": 26, "eval_count": 298});
    Reply::json(200, &reply.to_string())
}

fn gemini(parts: &Value, reason: &str) -> Reply {
    let candidate =
        json!({"content": {"parts": parts, "role": "model"}, "finishReason": reason, "index": 0});
    let usage = json!({"promptTokenCount": 4, "candidatesTokenCount": 715, "totalTokenCount": 719});
    let reply = json!({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "m"});
    Reply::json(200, &reply.to_string())
}

fn cohere(content: &Value, reason: &str) -> Reply {
    let message = json!({"role": "assistant", "content": content});
    let tokens = json!({"input_tokens": 71, "output_tokens": 418});
    let usage =
        json!({"billed_units": {"input_tokens": 5, "output_tokens": 418}, "tokens": tokens});
    let reply = json!({"id": "c", "finish_reason": reason, "message": message, "usage": usage});
    Reply::json(200, &reply.to_string())
}

/// A reply of `api` that says `text`.
fn says(api: &str, text: &str) -> Reply {
    match api {
        "anthropic" => anthropic(&json!([{"type": "text", "text": text}]), "end_turn"),
        "ollama" => ollama(text, "stop"),
        "gemini" => gemini(&json!([{"text": text}]), "STOP"),
        _ => cohere(&json!([{"type": "text", "text": text}]), "COMPLETE"),
    }
}

fn ask(api: &str, reply: Reply) -> Result<Generated> {
    let server = Server::play([reply]);
    let outcome =
        generate(&chat(api, &server, &MESSAGES), &ProviderMemory::default(), &Unlimited, &|| false);
    assert_eq!(server.requests().len(), 1, "{api}: asked twice");
    outcome.inspect_err(check_silent)
}

/// What `api` was sent, once.
fn asked(api: &str, change: impl Fn(&mut pg_rag::protocol::GenerateRequest)) -> Request {
    let server = Server::play([says(api, "ok")]);
    let mut request = chat(api, &server, &MESSAGES);
    change(&mut request);
    generate(&request, &ProviderMemory::default(), &Unlimited, &|| false).unwrap();
    server.requests().remove(0)
}
