//! What is asked.

use super::*;

#[test]
fn an_answer_comes_back_with_its_counts() {
    let server = Server::play([Reply::chat("Press \"reset\".\nThen wait.")]);
    let generated = ask(&server).unwrap();
    let expected = Generated {
        text: "Press \"reset\".\nThen wait.".into(),
        finish_reason: "stop".into(),
        prompt_tokens: Some(11),
        cached_tokens: None,
        completion_tokens: Some(7),
        attempts: 1,
        tools: None,
        withheld: Default::default(),
    };
    assert_eq!(generated, expected);
}

#[test]
fn cached_tokens_are_among_those_that_were_read() {
    for (details, hit, cached) in [
        (json!({"cached_tokens": 8}), json!(null), Some(8)),
        (json!({"cached_tokens": 0}), json!(null), Some(0)),
        (json!({"cached_tokens": 99}), json!(null), Some(11)),
        (json!({"cached_tokens": -1}), json!(null), None),
        (json!(null), json!(null), None),
        // As DeepSeek says it, alone or besides.
        (json!(null), json!(6), Some(6)),
        (json!({"cached_tokens": 8}), json!(6), Some(8)),
        (json!({}), json!(99), Some(11)),
    ] {
        let reply = json!({
            "choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}],
            "usage": {
                "prompt_tokens": 11, "completion_tokens": 7,
                "prompt_tokens_details": details, "prompt_cache_hit_tokens": hit,
            },
        });
        let server = Server::play([Reply::json(200, &reply.to_string())]);
        let generated = ask(&server).unwrap();
        assert_eq!((generated.prompt_tokens, generated.cached_tokens), (Some(11), cached));
    }
}

#[test]
fn the_request_is_a_chat_completion() {
    let server = Server::play([Reply::chat("ok")]);
    let mut request = request(&server);
    request.sampling.temperature = 0.2;
    request.max_tokens = Some(321);
    request.messages.push(Message { role: "user".into(), content: "Wie? \u{1f600} \"\n".into() });
    call(&request).unwrap();
    let asked = server.requests().remove(0);
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert_eq!(asked.header("content-type"), Some("application/json"));
    assert!(asked.header("user-agent").unwrap().starts_with("pg_rag/"));
    let expected = json!({
        "model": "tiny",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Wie? \u{1f600} \"\n"},
        ],
        "stream": false,
        "temperature": 0.2,
        "max_tokens": 321,
    });
    assert_eq!(serde_json::from_str::<Value>(asked.text()).unwrap(), expected);
}

#[test]
fn without_a_key_no_authorization_is_sent() {
    let server = Server::play([Reply::chat("ok")]);
    let mut request = request(&server);
    request.provider.api_key = KeySource::None;
    call(&request).unwrap();
    assert_eq!(server.requests()[0].header("authorization"), None);
}

#[test]
fn connections_are_kept() {
    // What other tests keep at the same time may push a connection out.
    let is_kept = (0..5).any(|_| {
        let server = Server::play([Reply::chat("ok")]);
        for _ in 0..3 {
            ask(&server).unwrap();
        }
        assert_eq!(server.requests().len(), 3);
        server.connections() == 1
    });
    assert!(is_kept, "a connection a call");
}

#[test]
fn sampling_is_asked_for_by_its_names_and_given_up_by_them() {
    let refused = json!({"error": {"message": "Unrecognized request argument supplied: top_k", "param": null}});
    let server = Server::play([Reply::json(400, &refused.to_string()), Reply::chat("ok")]);
    let mut request = request(&server);
    request.sampling = SamplingParameters {
        temperature: 0.4,
        top_p: Some(0.9),
        top_k: Some(40),
        frequency_penalty: Some(0.5),
        presence_penalty: Some(-0.5),
    };
    request.provider.max_retries = 0;
    assert_eq!(call(&request).unwrap().attempts, 2);
    let sent = |at: usize| serde_json::from_str::<Value>(server.requests()[at].text()).unwrap();
    let names = ["temperature", "top_p", "top_k", "frequency_penalty", "presence_penalty"];
    let first = sent(0);
    let values: Vec<&Value> = names.iter().map(|name| &first[name]).collect();
    assert_eq!(values, [&json!(0.4), &json!(0.9), &json!(40), &json!(0.5), &json!(-0.5)]);
    assert!(sent(1).get("top_k").is_none() && sent(1).get("top_p").is_some());
}

#[test]
fn parameters_the_model_refuses_are_given_up() {
    let refuse = |param: &str| {
        let body = json!({"error": {"message": "unsupported", "param": param}}).to_string();
        Reply::json(400, &body)
    };
    let server =
        Server::play([refuse("max_tokens"), refuse("temperature"), Reply::chat("at last")]);
    let mut request = request(&server);
    request.max_tokens = Some(9);
    request.provider.max_retries = 0;
    assert_eq!(call(&request).unwrap().attempts, 3);
    let last: Value = serde_json::from_str(server.requests()[2].text()).unwrap();
    assert_eq!(last["max_completion_tokens"], 9);
    assert!(last.get("max_tokens").is_none() && last.get("temperature").is_none());

    let stubborn = Server::play([refuse("temperature")]);
    check_failed(&stubborn, ErrorKind::ProviderRefused, "HTTP status 400: unsupported");
    assert_eq!(stubborn.requests().len(), 2);
}
