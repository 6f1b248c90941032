//! The protocols of Anthropic, Ollama, Gemini and Cohere: what is asked, word for word, and what is
//! made of the replies that the vendors document.

use std::time::Duration;

use pg_rag::error::{ErrorKind, Result};
use pg_rag::protocol::{Generated, PROVIDER_APIS, Special};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate, generate_stream};
use serde_json::{Value, json};

#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
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

// What is asked.

fn check_asked(request: &Request, path: &str, expected: &Value) {
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", path));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(&body(request), expected);
}

#[test]
fn anthropic_wants_the_system_apart_and_a_limit() {
    let request = asked("anthropic", |_| ());
    let expected = json!({
        "model": "tiny",
        "system": "Be brief.",
        "messages": [
            {"role": "user", "content": "What is a lock? \u{1f600}"},
            {"role": "assistant", "content": "A wait."},
            {"role": "user", "content": "For what?"},
        ],
        "max_tokens": 4096,
        "stream": false,
        "temperature": 0.2,
    });
    check_asked(&request, "/v1/messages", &expected);
    assert_eq!(request.header("x-api-key"), Some(SECRET));
    assert_eq!(request.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(request.header("authorization"), None);
    let request = asked("anthropic", |request| request.max_tokens = Some(77));
    assert_eq!(body(&request)["max_tokens"], 77);
}

#[test]
fn ollama_wants_its_numbers_among_options() {
    let request = asked("ollama", |request| {
        request.max_tokens = Some(77);
        request.provider.special.num_ctx = Some(16_384);
    });
    let expected = json!({
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is a lock? \u{1f600}"},
            {"role": "assistant", "content": "A wait."},
            {"role": "user", "content": "For what?"},
        ],
        "stream": false,
        "options": {"temperature": 0.2, "num_predict": 77, "num_ctx": 16_384},
    });
    check_asked(&request, "/v1/chat", &expected);
    assert_eq!(request.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    let request = asked("ollama", |_| ());
    assert_eq!(body(&request)["options"], json!({"temperature": 0.2}));
}

#[test]
fn gemini_wants_contents_in_parts_and_the_model_in_the_path() {
    let request = asked("gemini", |request| request.max_tokens = Some(77));
    let expected = json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "What is a lock? \u{1f600}"}]},
            {"role": "model", "parts": [{"text": "A wait."}]},
            {"role": "user", "parts": [{"text": "For what?"}]},
        ],
        "generationConfig": {"temperature": 0.2, "maxOutputTokens": 77},
    });
    check_asked(&request, "/v1/models/tiny:generateContent", &expected);
    assert_eq!(request.header("x-goog-api-key"), Some(SECRET));
    assert_eq!(request.header("authorization"), None);
    let request = asked("gemini", |request| request.provider.model = "tunedModels/my?one".into());
    assert_eq!(request.path, "/v1/tunedModels/my%3Fone:generateContent");
}

#[test]
fn cohere_wants_what_openai_wants() {
    let request = asked("cohere", |request| request.max_tokens = Some(77));
    let expected = json!({
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is a lock? \u{1f600}"},
            {"role": "assistant", "content": "A wait."},
            {"role": "user", "content": "For what?"},
        ],
        "stream": false,
        "temperature": 0.2,
        "max_tokens": 77,
    });
    check_asked(&request, "/v1/chat", &expected);
    assert_eq!(request.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
}

#[test]
fn each_protocol_has_its_names_for_sampling() {
    let all = |request: &mut pg_rag::protocol::GenerateRequest| {
        request.sampling.top_p = Some(0.9);
        request.sampling.top_k = Some(40);
        request.sampling.frequency_penalty = Some(0.5);
        request.sampling.presence_penalty = Some(-0.5);
    };
    let usual = json!({
        "temperature": 0.2, "top_p": 0.9, "top_k": 40,
        "frequency_penalty": 0.5, "presence_penalty": -0.5,
    });
    for (api, place, expected) in [
        ("ollama", "/options", usual),
        (
            "gemini",
            "/generationConfig",
            json!({
                "temperature": 0.2, "topP": 0.9, "topK": 40,
                "frequencyPenalty": 0.5, "presencePenalty": -0.5,
            }),
        ),
        (
            "cohere",
            "",
            json!({
                "temperature": 0.2, "p": 0.9, "k": 40,
                "frequency_penalty": 0.5, "presence_penalty": -0.5,
            }),
        ),
    ] {
        let request = asked(api, all);
        let body = body(&request);
        let sent = body.pointer(place).unwrap();
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&sent[name], value, "{api} {name}");
        }
    }
    let sent = body(&asked("anthropic", |request| {
        request.sampling.top_p = Some(0.9);
        request.sampling.top_k = Some(40);
    }));
    assert_eq!((&sent["top_p"], &sent["top_k"]), (&json!(0.9), &json!(40)));
}

#[test]
fn a_parameter_that_a_protocol_has_no_name_for_is_an_error() {
    let server = Server::play([Reply::new(500)]);
    let mut request = chat("anthropic", &server, &MESSAGES);
    request.sampling.presence_penalty = Some(0.5);
    let error = generate(&request, &ProviderMemory::default(), &Unlimited, &|| false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(error.message(), "the api \"anthropic\" has no parameter \"presence_penalty\"");
    assert!(server.requests().is_empty());
}

#[test]
fn a_server_may_want_the_key_under_another_name() {
    for api in APIS {
        let request = asked(api, |request| {
            request.provider.special =
                Special { key_header: Some("Api-Key".into()), ..Special::default() };
        });
        assert_eq!(request.header("api-key"), Some(SECRET), "{api}");
        let usual = ["authorization", "x-api-key", "x-goog-api-key"];
        assert!(usual.iter().all(|name| request.header(name).is_none()), "{api}");
    }
}

// What comes back.

fn check_heard(api: &str, reply: Reply, text: &str, reason: &str, tokens: (u64, u64)) {
    let expected = Generated {
        text: text.into(),
        finish_reason: reason.into(),
        prompt_tokens: Some(tokens.0),
        cached_tokens: None,
        completion_tokens: Some(tokens.1),
        attempts: 1,
        tools: None,
    };
    assert_eq!(ask(api, reply).unwrap(), expected, "{api}");
}

#[test]
fn what_is_said_is_heard_and_counted() {
    let content = json!([
        {"type": "thinking", "thinking": "Hm.", "signature": "x"},
        {"type": "text", "text": "For "},
        {"type": "text", "text": "a\u{0} row."},
    ]);
    check_heard("anthropic", anthropic(&content, "end_turn"), "For a row.", "stop", (2095, 503));
    check_heard("ollama", ollama("For a row.", "stop"), "For a row.", "stop", (26, 298));
    let parts = json!([{"text": "Hm.", "thought": true}, {"text": "For "}, {"text": "a row."}]);
    check_heard("gemini", gemini(&parts, "STOP"), "For a row.", "stop", (4, 715));
    let content =
        json!([{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "For a row."}]);
    check_heard("cohere", cohere(&content, "COMPLETE"), "For a row.", "stop", (71, 418));
}

#[test]
fn why_it_ends_has_one_word_in_all_protocols() {
    let text = json!([{"type": "text", "text": "For"}]);
    let check = |api: &str, reply: Reply, reason: &str| {
        assert_eq!(ask(api, reply).unwrap().finish_reason, reason, "{api}");
    };
    check("anthropic", anthropic(&text, "stop_sequence"), "stop");
    check("anthropic", anthropic(&text, "max_tokens"), "length");
    check("anthropic", anthropic(&text, "refusal"), "content_filter");
    check("anthropic", anthropic(&text, "pause_turn"), "pause_turn");
    check("ollama", ollama("For", "length"), "length");
    let parts = json!([{"text": "For"}]);
    check("gemini", gemini(&parts, "MAX_TOKENS"), "length");
    check("gemini", gemini(&parts, "RECITATION"), "content_filter");
    check("cohere", cohere(&text, "MAX_TOKENS"), "length");
}

#[test]
fn cached_tokens_are_among_those_that_were_read() {
    let anthropic = json!({
        "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1},
    });
    let gemini = json!({
        "candidates": [{"content": {"parts": [{"text": "ok"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 125, "cachedContentTokenCount": 100, "candidatesTokenCount": 1},
    });
    let cohere = json!({
        "message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}, "finish_reason": "COMPLETE",
        "usage": {"tokens": {"input_tokens": 125, "output_tokens": 1}, "cached_tokens": 100},
    });
    let ollama = json!({
        "message": {"role": "assistant", "content": "ok"}, "done": true, "done_reason": "stop",
        "prompt_eval_count": 125, "prompt_eval_cached_count": 100, "eval_count": 1,
    });
    let replies =
        [("anthropic", anthropic), ("gemini", gemini), ("cohere", cohere), ("ollama", ollama)];
    for (api, reply) in replies {
        let generated = ask(api, Reply::json(200, &reply.to_string())).unwrap();
        let counts = (generated.prompt_tokens, generated.cached_tokens);
        assert_eq!(counts, (Some(125), Some(100)), "{api}");
    }
}

#[test]
fn silence_says_why() {
    let check_silence = |api: &str, reply: Reply, part: &str| {
        let error = ask(api, reply).unwrap_err();
        check(&error, ErrorKind::ProviderFailed, &format!("wrote no text: {part}"));
        error
    };
    let nothing = json!([]);
    check_silence("anthropic", anthropic(&nothing, "end_turn"), "its finish_reason is \"stop\"");
    check_silence("anthropic", anthropic(&nothing, "refusal"), "it was blocked: refusal");
    check_silence("ollama", ollama(" \n", "load"), "its finish_reason is \"load\"");
    check_silence("gemini", gemini(&nothing, "SAFETY"), "it was blocked: SAFETY");
    let blocked = json!({"promptFeedback": {"blockReason": "BLOCKLIST"}, "usageMetadata": {}});
    let error = check_silence(
        "gemini",
        Reply::json(200, &blocked.to_string()),
        "it was blocked: BLOCKLIST",
    );
    assert!(error.hint_text().unwrap().contains("filter"), "{error:?}");
    for (api, reply) in [
        ("anthropic", anthropic(&nothing, "max_tokens")),
        ("ollama", ollama("", "length")),
        ("gemini", gemini(&nothing, "MAX_TOKENS")),
        ("cohere", cohere(&nothing, "MAX_TOKENS")),
    ] {
        let error = check_silence(api, reply, "its finish_reason is \"length\"");
        assert!(error.hint_text().unwrap().contains("Raise max_tokens"), "{error:?}");
    }
}

#[test]
fn nonsense_is_a_failure_that_shows_what_came() {
    let none = [
        ("anthropic", "no content"),
        ("ollama", "no message"),
        ("gemini", "no candidates"),
        ("cohere", "no message"),
    ];
    for (api, why) in none {
        let check_nonsense = |reply: Reply, part: &str| {
            let error = ask(api, reply).unwrap_err();
            let part = format!("did not answer with a chat completion: {part}");
            check(&error, ErrorKind::ProviderFailed, &part);
            error
        };
        check_nonsense(
            Reply::json(200, r#"{"other": 1}"#),
            &format!("{why}: \"{{\"other\": 1}}\""),
        );
        check_nonsense(Reply::json(200, "[]"), why);
        check_nonsense(Reply::json(200, ""), "not JSON");
        check_nonsense(Reply::json(200, r#"{"content": [{"te"#), "not JSON: EOF");
        check_nonsense(Reply::new(200).body(b"{\"a\": \"caf\xe9\"}".to_vec()), "not UTF-8");
        let html = Reply::new(200).header("Content-Type", "text/html").body("<html>Hi</html>");
        check_nonsense(html, "a web page: \"<html>Hi</html>\"");
    }
    let error = ask("gemini", Reply::json(200, "{}")).unwrap_err();
    let hint = "ends before /models/tiny:generateContent, often with /v1beta";
    assert!(error.hint_text().unwrap().contains(hint), "{error:?}");
}

#[test]
fn each_vendor_says_in_its_own_way_what_is_wrong() {
    let not_found =
        r#"{"error":{"code":404,"message":"models/tiny is not found","status":"NOT_FOUND"}}"#;
    for (api, status, said, part, hint) in [
        (
            "anthropic",
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"},"request_id":"r"}"#,
            "invalid x-api-key",
            "Check the key",
        ),
        (
            "anthropic",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            "prompt is too long",
            "fewer or shorter chunks",
        ),
        (
            "ollama",
            404,
            r#"{"error":"model 'tiny' not found"}"#,
            "model 'tiny' not found",
            "base_url and model",
        ),
        (
            "gemini",
            400,
            r#"{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}"#,
            "API key not valid",
            "Check the key",
        ),
        (
            "gemini",
            400,
            r#"{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}"#,
            "input token count",
            "fewer or shorter chunks",
        ),
        ("gemini", 404, not_found, "models/tiny is not found", "base_url and model"),
        (
            "cohere",
            401,
            r#"{"id":"1","message":"invalid api token"}"#,
            "invalid api token",
            "Check the key",
        ),
    ] {
        let error = ask(api, Reply::json(status, said)).unwrap_err();
        assert!(error.message().contains(&format!("HTTP status {status}: ")), "{error}");
        assert!(error.message().contains(part), "{error}");
        assert!(error.hint_text().unwrap().contains(hint), "{error:?}");
    }
    let error = ask("ollama", Reply::json(200, r#"{"error":"out of memory"}"#)).unwrap_err();
    check(&error, ErrorKind::ProviderFailed, "reports an error: out of memory");
}

#[test]
fn the_overloaded_are_asked_again() {
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let busy = r#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"0.1s"}]}}"#;
    for (api, status, body) in [
        ("anthropic", 529, overloaded),
        ("anthropic", 200, overloaded),
        ("gemini", 429, busy),
        ("cohere", 503, ""),
    ] {
        let server = Server::play([Reply::json(status, body), says(api, "ok")]);
        let mut request = chat(api, &server, &MESSAGES);
        request.provider.max_retries = 1;
        let generated =
            generate(&request, &ProviderMemory::default(), &Unlimited, &|| false).unwrap();
        assert_eq!((generated.text.as_str(), generated.attempts), ("ok", 2), "{api} {status}");
    }
}

#[test]
fn a_temperature_that_is_refused_is_given_up() {
    let refusing = |api: &'static str, path: &'static str| {
        Server::answer(move |request| match body(request).pointer(path) {
            Some(_) => Reply::json(400, r#"{"error":{"message":"`temperature` is deprecated"}}"#),
            None => says(api, "ok"),
        })
    };
    let places = [
        ("anthropic", "/temperature"),
        ("ollama", "/options/temperature"),
        ("gemini", "/generationConfig/temperature"),
        ("cohere", "/temperature"),
    ];
    for (api, path) in places {
        let server = refusing(api, path);
        let generated = generate(
            &chat(api, &server, &MESSAGES),
            &ProviderMemory::default(),
            &Unlimited,
            &|| false,
        )
        .unwrap();
        assert_eq!((generated.text.as_str(), server.requests().len()), ("ok", 2), "{api}");
    }
}

// Told while it is written.

/// A stream of `api` that says "For a row." in two pieces.
fn streamed(api: &str) -> (&'static str, Vec<String>) {
    let event = |event: Value| format!("data: {event}\n\n");
    let line = |line: Value| format!("{line}\n");
    let sse = "text/event-stream";
    match api {
        "anthropic" => {
            let text = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
            let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"input_tokens": 9, "output_tokens": 4}});
            (sse, vec![event(text("For ")), event(text("a row.")), event(end)])
        }
        "ollama" => {
            let text = |text: &str| json!({"message": {"content": text}, "done": false});
            let end = json!({"message": {"content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 9, "eval_count": 4});
            let lines = vec![line(text("For ")), line(text("a row.")), line(end)];
            ("application/x-ndjson", lines)
        }
        "gemini" => {
            let text =
                |text: &str| json!({"candidates": [{"content": {"parts": [{"text": text}]}}]});
            let end = json!({"candidates": [{"finishReason": "STOP"}], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4}});
            (sse, vec![event(text("For ")), event(text("a row.")), event(end)])
        }
        _ => {
            let text = |text: &str| json!({"type": "content-delta", "delta": {"message": {"content": {"text": text}}}});
            let end = json!({"type": "message-end", "delta": {"finish_reason": "COMPLETE", "usage": {"tokens": {"input_tokens": 9, "output_tokens": 4}}}});
            (sse, vec![event(text("For ")), event(text("a row.")), event(end)])
        }
    }
}

#[test]
fn each_protocol_tells_what_it_writes() {
    for api in APIS {
        let (kind, pieces) = streamed(api);
        let pieces = pieces.iter().map(|piece| (Duration::from_millis(20), piece.as_bytes()));
        let server = Server::play([Reply::pieces(kind, pieces)]);
        let mut told = Vec::new();
        let mut hear = |piece: &str| {
            told.push(piece.to_string());
            Ok(())
        };
        let request = chat(api, &server, &MESSAGES);
        let generated =
            generate_stream(&request, &ProviderMemory::default(), &Unlimited, &|| false, &mut hear)
                .unwrap();
        assert_eq!(told, ["For ", "a row."], "{api}");
        assert_eq!(
            (generated.text.as_str(), generated.finish_reason.as_str()),
            ("For a row.", "stop")
        );
        let counted = (generated.prompt_tokens, generated.completion_tokens);
        assert_eq!(counted, (Some(9), Some(4)), "{api}");
        let asked = server.requests().remove(0);
        match api {
            "gemini" => assert_eq!(asked.path, "/v1/models/tiny:streamGenerateContent?alt=sse"),
            _ => assert_eq!(body(&asked)["stream"], true, "{api}"),
        }
    }
}

#[test]
fn half_a_stream_is_no_answer() {
    for api in APIS {
        let (kind, pieces) = streamed(api);
        let pieces = pieces[..2].iter().map(|piece| (Duration::ZERO, piece.as_bytes()));
        let server = Server::play([Reply::pieces(kind, pieces)]);
        let mut told = String::new();
        let mut hear = |piece: &str| {
            told += piece;
            Ok(())
        };
        let request = chat(api, &server, &MESSAGES);
        let error =
            generate_stream(&request, &ProviderMemory::default(), &Unlimited, &|| false, &mut hear)
                .unwrap_err();
        check(&error, ErrorKind::ProviderFailed, "broke off its answer after 10 bytes of text");
        assert_eq!((told.as_str(), server.requests().len()), ("For a row.", 1), "{api}");
    }
}

// What stays unsaid.

#[test]
fn the_key_is_in_no_error() {
    let shapes: [fn(&str) -> String; 6] = [
        |key| json!({"error": {"message": format!("bad key {key}")}}).to_string(),
        |key| json!({"message": format!("bad key {key}")}).to_string(),
        |key| {
            json!({"stop_reason": key, "content": [], "done_reason": key, "done": true}).to_string()
        },
        |key| {
            json!({"promptFeedback": {"blockReason": key}, "message": {"content": []}, "finish_reason": key}).to_string()
        },
        |key| {
            json!({"candidates": [{"finishReason": key}], "message": {}, "done": true, "done_reason": key}).to_string()
        },
        |key| format!("<html>{key}</html>"),
    ];
    for api in APIS {
        for shape in shapes {
            for status in [200, 302, 400, 401, 429, 529] {
                let server = Server::answer(move |request| {
                    let sent = ["authorization", "x-api-key", "x-goog-api-key"];
                    let key = sent.iter().find_map(|name| request.header(name)).unwrap_or_default();
                    Reply::json(status, &shape(key)).header("Location", &format!("http://{key}/"))
                });
                let request = chat(api, &server, &MESSAGES);
                let error = generate(&request, &ProviderMemory::default(), &Unlimited, &|| false)
                    .unwrap_err();
                assert_eq!(server.requests().len(), 1, "the key was sent");
                check_silent(&error);
            }
        }
    }
}

#[test]
fn a_temperature_is_checked_before_a_call() {
    for api in PROVIDER_APIS.iter().filter(|api| **api != "voyage") {
        let server = Server::play([Reply::new(500)]);
        let mut request = chat(api, &server, &MESSAGES);
        request.sampling.temperature = f32::NAN;
        let error =
            generate(&request, &ProviderMemory::default(), &Unlimited, &|| false).unwrap_err();
        assert_eq!(
            (error.kind(), server.requests().len()),
            (ErrorKind::InvalidParameter, 0),
            "{api}"
        );
    }
}
