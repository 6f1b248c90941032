//! What is asked, word for word.

use super::*;

fn check_asked(request: &Request, path: &str, expected: &Value) {
    assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", path));
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(&body(request), expected);
}

/// Messages as most protocols write them.
fn said(messages: &[(&str, &str)]) -> Value {
    messages.iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

#[test]
fn anthropic_wants_the_system_apart_and_a_limit() {
    let request = asked("anthropic", |_| ());
    let expected = json!({
        "model": "tiny",
        "system": "Be brief.",
        "messages": said(&MESSAGES[1..]),
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
        "messages": said(&MESSAGES),
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
        "messages": said(&MESSAGES),
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
