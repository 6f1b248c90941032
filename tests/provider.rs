//! A provider asked over HTTP: what it gets to read, and what becomes of its moods.

use std::cell::RefCell;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::protocol::{
    CallLimits, GenerateRequest, Generated, KeySource, Lane, Message, Network, ProviderConfig,
    Response, SamplingParameters, encode,
};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate};
use serde_json::{Value, json};

#[path = "support/http_server.rs"]
mod http_server;
use http_server::{Reply, Server};

const SECRET: &str = "sk-loopback-7Kq2vX9";

// What is asked.

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

// What comes back.

#[test]
fn other_shapes_of_an_answer_are_understood() {
    for (content, text) in [
        (json!([{"type": "text", "text": "a"}, {"type": "image"}, {"text": "b"}]), "ab"),
        (json!("nul\u{0}free"), "nulfree"),
    ] {
        let body = json!({"choices": [{"message": {"content": content}}], "usage": null});
        let generated = ask(&Server::play([Reply::json(200, &body.to_string())])).unwrap();
        assert_eq!((generated.text.as_str(), generated.prompt_tokens), (text, None));
    }
}

#[test]
fn chunked_answers_are_read() {
    let body = r#"{"choices":[{"message":{"content":"in pieces"},"finish_reason":"stop"}]}"#;
    let (head, tail) = body.split_at(30);
    let late = Duration::from_millis(30);
    let server = Server::play([Reply::chunked([(Duration::ZERO, head), (late, tail)])]);
    assert_eq!(ask(&server).unwrap().text, "in pieces");
}

#[test]
fn nonsense_is_a_provider_failure_that_shows_what_came() {
    let failed = ErrorKind::ProviderFailed;
    let html = Reply::new(200).header("Content-Type", "text/html").body("<html>Welcome</html>");
    check_once(html, failed, "a web page: \"<html>Welcome</html>\"");
    check_once(Reply::json(200, ""), failed, "not JSON: EOF while parsing");
    check_once(Reply::json(200, r#"{"choices":[{"mess"#), failed, "not JSON: EOF while parsing");
    check_once(Reply::json(200, r#"{"choices":[]}"#), failed, "no choices: \"{\"choices\":[]}\"");
    check_once(Reply::json(200, "[]"), failed, "no choices: \"[]\"");
    check_once(Reply::json(200, r#"{"choices":null}"#), failed, "no choices");
    let deep = "[".repeat(200_000);
    check_once(Reply::json(200, &deep), failed, "recursion limit");
    let latin =
        Reply::new(200).body(&b"{\"choices\":[{\"message\":{\"content\":\"caf\xe9\"}}]}"[..]);
    check_once(latin, failed, "not UTF-8");
    check_once(Reply::json(200, r#"{"error":{"message":"no GPU"}}"#), failed, "error: no GPU");
    check_once(Reply::raw("SSH-2.0-OpenSSH_9.2\r\n"), failed, "failed at http://127.0.0.1");
}

#[test]
fn an_answer_without_text_says_why() {
    let choice = |choice: Value| Reply::json(200, &json!({"choices": [choice]}).to_string());
    let failed = ErrorKind::ProviderFailed;
    let empty = choice(json!({"message": {"content": " "}, "finish_reason": "content_filter"}));
    check_once(empty, failed, "wrote no text: its finish_reason is \"content_filter\"");
    let refusal = choice(json!({"message": {"content": null, "refusal": "I will not"}}));
    check_once(refusal, failed, "wrote no text: it refuses: I will not");
    let used_up = choice(json!({"message": {"content": null}, "finish_reason": "length"}));
    let error = check_once(used_up, failed, "its finish_reason is \"length\"");
    assert!(error.hint_text().unwrap().contains("max_tokens"));
}

#[test]
fn half_a_body_is_not_an_answer() {
    let body = Reply::chat("the whole truth").close_after(60);
    check_once(body, ErrorKind::ProviderFailed, "answer broke off after 60 bytes");
}

#[test]
fn a_huge_body_is_cut_off() {
    let huge = Reply::json(200, &format!("\"{}\"", "a".repeat(17 << 20)));
    check_once(huge, ErrorKind::ProviderFailed, "more than the limit of 16777216 bytes");
    let huge_error = Reply::json(400, &"a".repeat(17 << 20));
    let error = check_once(huge_error, ErrorKind::ProviderRefused, "HTTP status 400: aaa");
    assert!(error.message().len() < 400, "{}", error.message().len());
}

#[test]
fn redirects_are_not_followed() {
    let elsewhere = Server::play([Reply::chat("stolen")]);
    for status in [301, 302, 303, 307, 308] {
        let location = format!("{}/v1/chat/completions", elsewhere.url());
        let reply = Reply::redirect(status, &location);
        let part = format!("{status}, a redirect to {location}, which is not followed");
        check_once(reply, ErrorKind::ProviderFailed, &part);
    }
    assert_eq!((elsewhere.requests().len(), elsewhere.connections()), (0, 0));
}

#[test]
fn statuses_have_hints() {
    for (status, body, hint) in [
        (401, r#"{"error":{"message":"bad key"}}"#, "Check the key in the user mapping"),
        (403, "", "Check the key in the user mapping"),
        (404, "", "base_url and model"),
        (400, r#"{"error":{"message":"maximum context length is 8"}}"#, "prompt is longer"),
        (400, r#"{"error":{"message":"exceed_context_size_error: context size"}}"#, "longer"),
        (413, "", "prompt is longer"),
        (400, r#"{"error":"what?"}"#, "speaks this api"),
        (422, r#"{"detail":[{"loc":["model"]}]}"#, "speaks this api"),
    ] {
        let part = format!("HTTP status {status}");
        // What is wrong with the question is told from what is wrong with the provider.
        let kind = match status {
            400 | 413 | 422 => ErrorKind::ProviderRefused,
            _ => ErrorKind::ProviderFailed,
        };
        let error = check_once(Reply::json(status, body), kind, &part);
        assert!(error.hint_text().unwrap().contains(hint), "{status}: {error:?}");
    }
}

#[test]
fn words_of_the_provider_are_one_short_line() {
    let noise = format!("a\r\nb\x1b[2J\t{}", "long ".repeat(200));
    let body = json!({"error": {"message": noise}}).to_string();
    let error = check_once(Reply::json(418, &body), ErrorKind::ProviderFailed, "418: a b[2J long");
    assert!(error.message().chars().count() < 370);
    assert!(!error.message().contains(char::is_control));
}

// When it is asked again.

#[test]
fn a_busy_provider_is_asked_again_when_it_says() {
    let busy = Reply::json(429, r#"{"error":{"message":"slow down"}}"#).header("Retry-After", "1");
    let server = Server::play([busy, Reply::chat("now")]);
    assert_eq!(ask(&server).unwrap().attempts, 2);
    let requests = server.requests();
    let waited = requests[1].at - requests[0].at;
    assert!(waited >= Duration::from_secs(1) && waited < Duration::from_secs(15), "{waited:?}");
    assert_eq!(requests[0].body, requests[1].body);
}

#[test]
fn a_date_in_retry_after_is_understood() {
    let begun = Instant::now();
    let then = httpdate::fmt_http_date(std::time::SystemTime::now() + Duration::from_secs(2));
    let server = Server::play([Reply::new(503).header("Retry-After", &then), Reply::chat("now")]);
    assert_eq!(ask(&server).unwrap().attempts, 2);
    // A date has no fractions of seconds.
    assert!(begun.elapsed() >= Duration::from_millis(900), "{:?}", begun.elapsed());
}

#[test]
fn a_provider_in_trouble_is_asked_as_often_as_allowed() {
    let server = Server::play([Reply::json(500, r#"{"error":{"message":"out of luck"}}"#)]);
    let mut request = request(&server);
    request.provider.max_retries = 2;
    let error = call(&request).unwrap_err();
    check(&error, ErrorKind::ProviderFailed, "HTTP status 500: out of luck");
    assert_eq!(error.detail_text(), Some("The call was made 3 times."));
    let times: Vec<_> = server.requests().iter().map(|request| request.at).collect();
    assert_eq!(times.len(), 3);
    assert!(times[1] - times[0] >= Duration::from_millis(250));
    assert!(times[2] - times[1] >= Duration::from_millis(500));
}

#[test]
fn passing_statuses_are_retried_and_lasting_ones_are_not() {
    for (status, calls) in
        [(429, 2), (500, 2), (502, 2), (503, 2), (504, 2), (400, 1), (401, 1), (404, 1), (501, 1)]
    {
        let server = Server::play([Reply::new(status).header("Retry-After", "0")]);
        let mut request = request(&server);
        request.provider.max_retries = 1;
        call(&request).unwrap_err();
        assert_eq!(server.requests().len(), calls, "{status}");
    }
}

#[test]
fn a_reset_connection_is_tried_again() {
    let server = Server::play([Reply::reset(), Reply::chat("second try")]);
    let generated = ask(&server).unwrap();
    assert_eq!((generated.text.as_str(), generated.attempts), ("second try", 2));
}

#[test]
fn a_connection_closed_without_a_word_is_tried_again() {
    let server = Server::play([Reply::raw(""), Reply::chat("second try")]);
    assert_eq!(ask(&server).unwrap().attempts, 2);
}

#[test]
fn nobody_listening_is_said_with_the_address() {
    // A port that was free a moment ago may be another test's server by now.
    let mut request = request_to("http://127.0.0.1:1/v1");
    request.provider.max_retries = 1;
    let error = call(&request).unwrap_err();
    let part = "cannot be reached at http://127.0.0.1:1/v1: ";
    check(&error, ErrorKind::ProviderFailed, part);
    assert!(error.message().contains("refused"), "{error}");
    assert_eq!(error.detail_text(), Some("The call was made 2 times."));
}

// How long it may take.

#[test]
fn late_headers_and_late_bodies_time_out() {
    let long = Duration::from_secs(30);
    for slow in [Reply::chat("late").delay(long), Reply::chat("late").pause(40, long)] {
        let server = Server::play([slow]);
        let mut request = request(&server);
        request.provider.timeout_ms = 400;
        let begun = Instant::now();
        let error = call(&request).unwrap_err();
        check(&error, ErrorKind::ProviderTimeout, "within timeout of 400 ms");
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(390) && took < Duration::from_secs(15), "{took:?}");
        assert_eq!(error.hint_text(), Some("Raise timeout of server \"test\"."));
        // On a busy machine the time may be over before the request was read.
        assert!(server.requests().len() <= 1);
    }
}

#[test]
fn a_call_that_is_cut_short_names_the_timeout_that_was_set() {
    let server = Server::play([Reply::chat("late").delay(Duration::from_secs(30))]);
    let mut request = request(&server);
    (request.provider.timeout_ms, request.provider.limits.within_ms) = (20_000, Some(300));
    let error = call(&request).unwrap_err();
    let part =
        "within the 300 ms that budget.seconds leaves to this call, with timeout of 20000 ms";
    check(&error, ErrorKind::ProviderTimeout, part);
    assert_eq!(error.hint_text(), Some("Raise budget.seconds of the answer."));
    // There may be more time than a call may take.
    request.provider.limits.within_ms = Some(30_000);
    assert_eq!((request.provider.call_ms(), request.provider.is_cut_short()), (20_000, false));
}

#[test]
fn an_address_that_never_answers_times_out_while_connecting() {
    // The queue of a listener that accepts nobody fills up; then the kernel drops what
    // knocks, as an unreachable host would.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let wait = Duration::from_millis(200);
    let mut held = Vec::new();
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, wait) {
        held.push(stream);
        assert!(held.len() < 20_000, "the queue never fills");
    }
    let mut request = request_to(&format!("http://{address}/v1"));
    request.provider.connect_timeout_ms = 300;
    request.provider.max_retries = 0;
    let begun = Instant::now();
    let error = call(&request).unwrap_err();
    check(&error, ErrorKind::ProviderTimeout, "within connect_timeout of 300 ms");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn retries_stay_within_the_overall_limit() {
    let server = Server::play([Reply::new(503).header("Retry-After", "2")]);
    let mut request = request(&server);
    // Time for one pause, and after it too little for another.
    request.provider.timeout_ms = 3900;
    request.provider.max_retries = 1000;
    let begun = Instant::now();
    check(&call(&request).unwrap_err(), ErrorKind::ProviderFailed, "HTTP status 503");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_wait_beyond_the_limit_fails_at_once() {
    let server = Server::play([Reply::new(429).header("Retry-After", "3600")]);
    let begun = Instant::now();
    check_failed(&server, ErrorKind::ProviderFailed, "HTTP status 429");
    assert!(begun.elapsed() < Duration::from_secs(15));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn who_leaves_is_let_go_and_the_provider_hears_of_it() {
    let long = Duration::from_secs(30);
    for slow in [Reply::chat("late").delay(long), Reply::chat("late").pause(40, long)] {
        let server = Server::play([slow]);
        let left = RefCell::new(None);
        let gone = || {
            let leave = !server.requests().is_empty();
            if leave {
                left.borrow_mut().get_or_insert_with(Instant::now);
            }
            leave
        };
        generate(&request(&server), &ProviderMemory::default(), &Unlimited, &gone).unwrap_err();
        let took = left.borrow().unwrap().elapsed();
        assert!(took < Duration::from_secs(15), "{took:?}");
        let hears = Instant::now() + Duration::from_secs(15);
        while server.abandoned() == 0 && Instant::now() < hears {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(server.abandoned(), 1, "the connection is still open");
    }
}

#[test]
fn who_leaves_during_a_wait_is_let_go() {
    let server = Server::play([Reply::new(503).header("Retry-After", "20")]);
    let mut request = request(&server);
    request.provider.timeout_ms = 60_000;
    let begun = Instant::now();
    let leave = Duration::from_millis(400);
    generate(&request, &ProviderMemory::default(), &Unlimited, &|| begun.elapsed() > leave)
        .unwrap_err();
    assert!(begun.elapsed() < leave + Duration::from_secs(10), "{:?}", begun.elapsed());
}

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
            assert_silent(&error);
        }
    }
}

#[test]
fn the_key_is_in_no_debug_output() {
    let server = Server::play([Reply::chat("ok")]);
    assert!(!format!("{:?}", request(&server)).contains(SECRET));
}

/// No part of an error, as a caller or a log would see it, holds the key or a good part of it.
fn assert_silent(error: &Error) {
    let frame = encode(&Response::Failed(error.clone())).unwrap();
    let seen = format!("{error} {error:?} {}", String::from_utf8_lossy(&frame));
    assert!(!seen.contains(&SECRET[..8]), "{seen}");
}

fn request(server: &Server) -> GenerateRequest {
    request_to(&server.base_url())
}

fn request_to(base_url: &str) -> GenerateRequest {
    GenerateRequest {
        provider: ProviderConfig {
            name: "test".into(),
            api: "openai".into(),
            base_url: base_url.into(),
            model: "tiny".into(),
            api_key: KeySource::Inline(SECRET.into()),
            connect_timeout_ms: 2000,
            timeout_ms: 20_000,
            max_retries: 3,
            special: Default::default(),
            limits: CallLimits::default(),
            network: Network::default(),
        },
        messages: vec![Message { role: "system".into(), content: "Be brief.".into() }],
        sampling: Default::default(),
        max_tokens: None,
        schema: None,
        tools: None,
        lane: Lane::Query,
    }
}

fn ask(server: &Server) -> Result<Generated> {
    call(&request(server))
}

/// Every error of these tests is looked through for the key.
fn call(request: &GenerateRequest) -> Result<Generated> {
    let outcome = generate(request, &ProviderMemory::default(), &Unlimited, &|| false);
    if let Err(error) = &outcome {
        assert_silent(error);
    }
    outcome
}

fn check(error: &Error, kind: ErrorKind, part: &str) {
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.message().starts_with("provider \"test\" "), "{error}");
    assert!(error.message().contains(part), "{error}\ndoes not hold\n{part}");
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
