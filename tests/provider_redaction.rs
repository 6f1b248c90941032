//! What a provider with the option `redact` gets to read: no byte of the personal data of a request, in any protocol; and
//! that its reply has them all the same.

use std::time::Duration;

use pg_rag::error::Result;
use pg_rag::protocol::{GenerateRequest, Generated, ProviderConfig, RedactionPolicy};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate, generate_stream};
use pg_rag::redact::withheld::WithheldValues;
use serde_json::{Value, json};

#[path = "provider_redaction/answers.rs"]
mod answers;
#[path = "support/http_server.rs"]
mod http_server;
#[path = "provider_redaction/names.rs"]
mod names;
#[path = "support/provider.rs"]
mod provider;
#[path = "provider_redaction/texts.rs"]
mod texts;
#[path = "provider_redaction/tools.rs"]
mod tools;
use http_server::{Reply, Server};
use provider::{chat, check_silent, says};

const APIS: [&str; 5] = ["openai", "anthropic", "ollama", "gemini", "cohere"];

/// What no provider may read.
const PERSONAL: [&str; 9] = [
    "anna@example.com",
    "Anna Schmidt",
    "Schmidt",
    "+49 30 1234567",
    "DE89 3704 0044 0532 0130 00",
    "4111 1111 1111 1111",
    "10.1.2.3",
    "app:s3cret",
    "123-45-6789",
];

const SYSTEM: &str = "You work for Herr Anna Schmidt. Never call +49 30 1234567.";
const QUESTION: &str = "Whose are anna@example.com, DE89 3704 0044 0532 0130 00, 4111 1111 1111 1111, 10.1.2.3, \
    https://app:s3cret@db.example.com/ and SSN 123-45-6789? Schmidt's?";

/// The configuration of `api` that hides personal data.
fn hiding(api: &str, server: &Server) -> ProviderConfig {
    let mut config = provider::provider(api, server);
    config.special.redact = RedactionPolicy::Pii;
    config
}

fn request(api: &str, server: &Server, messages: &[(&str, &str)]) -> GenerateRequest {
    GenerateRequest { provider: hiding(api, server), ..chat(api, server, messages) }
}

fn call(request: &GenerateRequest) -> Result<Generated> {
    generate(request, &ProviderMemory::default(), &Unlimited, &|| false).inspect_err(check_silent)
}

/// Nothing that came to `server` holds personal data; all of it.
fn check_wire(server: &Server, name: &str) -> Vec<String> {
    let requests: Vec<String> = server.requests().iter().map(|it| it.text().to_owned()).collect();
    assert!(!requests.is_empty());
    for request in &requests {
        for value in PERSONAL {
            assert!(!request.contains(value), "{name} was sent {value}: {request}");
        }
    }
    requests
}

/// The stream of `api` that says these pieces.
fn streams(api: &str, pieces: &[&str]) -> Reply {
    let event = |piece: &&str| match api {
        "anthropic" => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})
        }
        "ollama" => json!({"message": {"role": "assistant", "content": piece}, "done": false}),
        "gemini" => json!({"candidates": [{"content": {"parts": [{"text": piece}]}}]}),
        _ => {
            json!({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": piece}}}})
        }
    };
    let end = match api {
        "openai" => return Reply::chat_stream(pieces.iter().map(|piece| (Duration::ZERO, *piece))),
        "anthropic" => json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        "ollama" => json!({"message": {"content": ""}, "done": true, "done_reason": "stop"}),
        "gemini" => json!({"candidates": [{"finishReason": "STOP"}]}),
        _ => json!({"type": "message-end", "delta": {"finish_reason": "COMPLETE"}}),
    };
    let events = pieces.iter().map(event).chain([end]).map(|event| event.to_string());
    if api == "ollama" {
        let lines: String = events.map(|event| event + "\n").collect();
        return Reply::new(200).header("Content-Type", "application/x-ndjson").body(lines);
    }
    let events: Vec<String> = events.collect();
    Reply::events(events.iter().map(|event| (Duration::ZERO, event.as_str())))
}
