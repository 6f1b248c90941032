//! Streams as the vendors document them, event by event.

use super::*;
use crate::provider::key::ApiKey;
use crate::provider::{anthropic, cohere, gemini, ollama};

/// Pieces as they come, and what is given at the end.
fn listen<P: ChatProtocol>(events: &[&str]) -> (Vec<String>, Result<Generated>) {
    let provider = ProviderConfig { api: "any".into(), ..ProviderConfig::unreachable() };
    let teller = ErrorFormatter { provider: &provider, key: &ApiKey::default(), task: P::STREAM };
    let (mut reader, mut pieces) = (Events::<P>::default(), Vec::new());
    for event in events {
        match reader.read(event, &teller) {
            Ok(piece) => pieces.extend(piece),
            Err(trouble) => return (pieces, Err(trouble.error)),
        }
    }
    (pieces, reader.finish(&teller).map_err(|trouble| trouble.error))
}

fn check<P: ChatProtocol>(events: &[&str], pieces: &[&str], reason: &str, tokens: (u64, u64)) {
    let (told, outcome) = listen::<P>(events);
    assert_eq!(told, pieces);
    let generated = outcome.unwrap();
    assert_eq!(generated.text, pieces.concat());
    assert_eq!(generated.finish_reason, reason);
    let counted = (generated.prompt_tokens.unwrap(), generated.completion_tokens.unwrap());
    assert_eq!(counted, tokens);
    // Without its last events the stream has broken off.
    let (_, outcome) = listen::<P>(&events[..2]);
    let error = outcome.unwrap_err();
    assert!(error.message().contains("broke off its answer after"), "{error}");
}

fn check_error<P: ChatProtocol>(events: &[&str], pieces: &[&str], part: &str) {
    let (told, outcome) = listen::<P>(events);
    let error = outcome.unwrap_err();
    assert_eq!(told, pieces, "{error}");
    assert!(error.message().contains(part), "{error}\ndoes not hold\n{part}");
}

#[test]
fn anthropic_tells_a_message_block_by_block() {
    let events = [
        r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"!\u0000"}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"Hm."}}"#,
        r#"{"type":"content_block_stop","index":0}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    check::<anthropic::Messages>(&events, &["Hello", "!"], "stop", (25, 15));
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let broken = [events[0], events[3], overloaded];
    check_error::<anthropic::Messages>(&broken, &["Hello"], "reports an error: Overloaded");
    let refusal = r#"{"type":"message_delta","delta":{"stop_reason":"refusal"},"usage":{}}"#;
    check_error::<anthropic::Messages>(&[events[0], refusal], &[], "it was blocked: refusal");
}

#[test]
fn ollama_tells_a_line_a_token() {
    let events = [
        r#"{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"The"},"done":false}"#,
        r#"{"model":"m","message":{"role":"assistant","content":"","thinking":"Hm."},"done":false}"#,
        r#"{"model":"m","message":{"role":"assistant","content":" sky"},"done":false}"#,
        r#"{"model":"m","message":{"role":"assistant","content":""},"done_reason":"length","done":true,"total_duration":4883583458,"prompt_eval_count":26,"eval_count":282}"#,
    ];
    check::<ollama::chat::OllamaChat>(&events, &["The", " sky"], "length", (26, 282));
    let failed = [events[0], r#"{"error":"model runner has unexpectedly stopped"}"#];
    check_error::<ollama::chat::OllamaChat>(
        &failed,
        &["The"],
        "model runner has unexpectedly stopped",
    );
    check_error::<ollama::chat::OllamaChat>(&["<html>"], &[], "an event is not JSON");
}

#[test]
fn gemini_tells_candidate_by_candidate() {
    let events = [
        r#"{"candidates":[{"content":{"parts":[{"text":"thinking aloud","thought":true}],"role":"model"},"index":0}],"usageMetadata":{"promptTokenCount":8}}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"Plants "},{"text":"grow"}],"role":"model"},"index":0}]}"#,
        r#"{"candidates":[{"content":{"parts":[{"text":"."}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":8,"candidatesTokenCount":5,"thoughtsTokenCount":40,"totalTokenCount":53}}"#,
    ];
    check::<gemini::chat::GenerateContent>(&events, &["Plants grow", "."], "stop", (8, 45));
    let stopped = r#"{"candidates":[{"finishReason":"SAFETY","index":0}]}"#;
    check_error::<gemini::chat::GenerateContent>(&[stopped], &[], "it was blocked: SAFETY");
    let (pieces, outcome) = listen::<gemini::chat::GenerateContent>(&[events[1], stopped]);
    assert_eq!((pieces.len(), outcome.unwrap().finish_reason.as_str()), (1, "content_filter"));
    let blocked = r#"{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}"#;
    check_error::<gemini::chat::GenerateContent>(
        &[blocked],
        &[],
        "it was blocked: PROHIBITED_CONTENT",
    );
    let failed =
        r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#;
    check_error::<gemini::chat::GenerateContent>(&[failed], &[], "The model is overloaded.");
}

#[test]
fn cohere_tells_what_kind_an_event_is() {
    let events = [
        r#"{"id":"1","type":"message-start","delta":{"message":{"role":"assistant","content":[]}}}"#,
        r#"{"type":"content-start","index":0,"delta":{"message":{"content":{"type":"text","text":""}}}}"#,
        r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"thinking":"Hm."}}}}"#,
        r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"LLM"}}}}"#,
        r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":" stands"}}}}"#,
        r#"{"type":"content-end","index":0}"#,
        r#"{"type":"message-end","delta":{"finish_reason":"COMPLETE","usage":{"billed_units":{"input_tokens":3,"output_tokens":2},"tokens":{"input_tokens":69,"output_tokens":11}}}}"#,
    ];
    check::<cohere::chat::CohereChat>(&events, &["LLM", " stands"], "stop", (69, 11));
    let failed = r#"{"type":"message-end","delta":{"finish_reason":"ERROR","error":"no GPU"}}"#;
    check_error::<cohere::chat::CohereChat>(&[events[0], failed], &[], "no GPU");
}

fn check_cached<P: ChatProtocol>(events: &[&str], read: u64, cached: Option<u64>) {
    let generated = listen::<P>(events).1.unwrap();
    assert_eq!((generated.prompt_tokens, generated.cached_tokens), (Some(read), cached));
}

#[test]
fn a_stream_says_what_was_cached() {
    let start =
        |usage: &str| format!(r#"{{"type":"message_start","message":{{"usage":{usage}}}}}"#);
    let delta =
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#;
    let end = |usage: &str| {
        format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{usage}}}"#
        )
    };
    let cached = r#"{"input_tokens":25,"cache_read_input_tokens":1000,"cache_creation_input_tokens":200,"output_tokens":1}"#;
    for (first, last, read, expected) in [
        (cached, r#"{"output_tokens":15}"#, 1225, Some(1000)),
        // What the end leaves out was said at the beginning.
        (cached, r#"{"input_tokens":25,"output_tokens":15}"#, 1225, Some(1000)),
        (r#"{"input_tokens":0,"output_tokens":0}"#, cached, 1225, Some(1000)),
        (r#"{"input_tokens":25,"output_tokens":1}"#, r#"{"output_tokens":15}"#, 25, None),
        (
            r#"{"input_tokens":25,"cache_read_input_tokens":null}"#,
            r#"{"output_tokens":1}"#,
            25,
            None,
        ),
    ] {
        let (first, last) = (start(first), end(last));
        let events = [first.as_str(), delta, last.as_str()];
        check_cached::<anthropic::Messages>(&events, read, expected);
    }
    let gemini = |usage: &str| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"Hi"}}]}},"finishReason":"STOP"}}],"usageMetadata":{usage}}}"#
        )
    };
    let counted =
        gemini(r#"{"promptTokenCount":80,"cachedContentTokenCount":64,"candidatesTokenCount":5}"#);
    check_cached::<gemini::chat::GenerateContent>(&[counted.as_str()], 80, Some(64));
    let ollama = |counts: &str| {
        format!(r#"{{"message":{{"content":"Hi"}},"done":true,"done_reason":"stop"{counts}}}"#)
    };
    let counted = ollama(r#","prompt_eval_count":21,"prompt_eval_cached_count":16,"eval_count":2"#);
    check_cached::<ollama::chat::OllamaChat>(&[counted.as_str()], 21, Some(16));
    let untold = ollama(r#","prompt_eval_count":21,"eval_count":2"#);
    check_cached::<ollama::chat::OllamaChat>(&[untold.as_str()], 21, None);
    let cohere = |counts: &str| {
        format!(
            r#"{{"type":"message-end","delta":{{"finish_reason":"COMPLETE","usage":{{"tokens":{{"input_tokens":69,"output_tokens":11}}{counts}}}}}}}"#
        )
    };
    let text =
        r#"{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"Hi"}}}}"#;
    for (counts, expected) in [
        ("", None),
        (r#","cached_tokens":0"#, Some(0)),
        (r#","cached_tokens":64.0"#, Some(64)),
        (r#","cached_tokens":1e30"#, Some(69)),
        (r#","cached_tokens":-1"#, None),
    ] {
        let end = cohere(counts);
        check_cached::<cohere::chat::CohereChat>(&[text, end.as_str()], 69, expected);
    }
    // No more can be cached than was read.
    let odd = gemini(r#"{"promptTokenCount":8,"cachedContentTokenCount":64}"#);
    check_cached::<gemini::chat::GenerateContent>(&[odd.as_str()], 8, Some(8));
}

#[test]
fn what_may_pass_is_told_from_what_will_not() {
    let provider_error = |kind: &str| format!(r#"{{"error":{{"type":"{kind}","message":"x"}}}}"#);
    for (kind, passes) in [("overloaded_error", true), ("invalid_request_error", false)] {
        let event: Value = serde_json::from_str(&provider_error(kind)).unwrap();
        let error = event.get("error").unwrap();
        assert_eq!(is_passing(error), passes, "{kind}");
    }
}
