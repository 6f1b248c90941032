//! What comes back, and what is made of it.

use super::*;

fn check_heard(api: &str, reply: Reply, text: &str, reason: &str, tokens: (u64, u64)) {
    let expected = Generated {
        text: text.into(),
        finish_reason: reason.into(),
        prompt_tokens: Some(tokens.0),
        cached_tokens: None,
        completion_tokens: Some(tokens.1),
        attempts: 1,
        tools: None,
        withheld: Default::default(),
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
