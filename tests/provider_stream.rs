//! An answer of a provider that is told while it is written.

use std::thread;
use std::time::{Duration, Instant};

use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::protocol::{GenerateRequest, Generated};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{ProviderMemory, generate_stream};
use serde_json::{Value, json};

#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
use http_server::{Reply, Server};
use provider::{SECRET, asking, check};

const NOW: Duration = Duration::ZERO;
const SSE: &str = "text/event-stream";

// What is told, and when.

#[test]
fn each_piece_is_told_when_it_comes() {
    let gap = Duration::from_millis(1500);
    let server = Server::play([Reply::chat_stream([(NOW, "Press "), (gap, "re"), (gap, "set.")])]);
    let told = tell(&server);
    assert_eq!(told.texts(), ["Press ", "re", "set."]);
    for pair in told.pieces.windows(2) {
        // Whoever hears one late hears the next one sooner after it.
        assert!(pair[1].1 - pair[0].1 > Duration::from_millis(50), "pieces came together");
    }
    let expected = Generated {
        text: "Press reset.".into(),
        finish_reason: "stop".into(),
        prompt_tokens: Some(11),
        cached_tokens: None,
        completion_tokens: Some(7),
        attempts: 1,
        tools: None,
        withheld: Default::default(),
    };
    assert_eq!(told.outcome.unwrap(), expected);
}

#[test]
fn a_stream_says_what_was_cached() {
    let usage =
        r#"{"prompt_tokens":11,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":8}}"#;
    let last = format!(r#"{{"choices":[],"usage":{usage}}}"#);
    let events = [
        r#"{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}"#,
        last.as_str(),
        "[DONE]",
    ];
    let server = Server::play([Reply::events(events.map(|event| (NOW, event)))]);
    let generated = tell(&server).outcome.unwrap();
    assert_eq!((generated.prompt_tokens, generated.cached_tokens), (Some(11), Some(8)));
}

#[test]
fn a_character_that_is_parted_does_not_end_a_stream() {
    let delta = |content: &str, reason: &str| {
        format!(
            r#"{{"choices":[{{"index":0,"delta":{{"content":"{content}"}},"finish_reason":{reason}}}]}}"#
        )
    };
    let (first, second) = (delta(r"Hi \ud83d", "null"), delta(r"\ude00 \ud83d\ude00", "\"stop\""));
    let server = Server::play([Reply::events([(NOW, &*first), (NOW, &*second), (NOW, "[DONE]")])]);
    let text = tell(&server).outcome.unwrap().text;
    assert_eq!(text, "Hi \u{fffd}\u{fffd} \u{1f600}");
}

#[test]
fn the_request_asks_for_a_stream_with_its_usage() {
    let server = Server::play([Reply::chat_stream([(NOW, "ok")])]);
    tell(&server).outcome.unwrap();
    let asked = server.requests().remove(0);
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    assert!(asked.header("accept").unwrap().contains(SSE));
    assert_eq!(asked.header("accept-encoding"), Some("identity"));
    let body: Value = serde_json::from_str(asked.text()).unwrap();
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

#[test]
fn a_server_that_knows_no_stream_options_is_asked_without() {
    for refusal in [
        Reply::json(400, r#"{"error":{"message":"unknown","param":"stream_options"}}"#),
        Reply::json(422, r#"{"detail":[{"loc":["body","stream_options"]}]}"#),
    ] {
        let server = Server::play([refusal, Reply::chat_stream([(NOW, "ok")])]);
        let told = tell(&server);
        assert_eq!(told.outcome.unwrap().attempts, 2);
        let second: Value = serde_json::from_str(server.requests()[1].text()).unwrap();
        assert!(second.get("stream_options").is_none() && second["stream"] == true);
    }
}

#[test]
fn other_ways_to_write_a_stream_are_understood() {
    let event = |text: &str| format!(r#"data:{{"choices":[{{"delta":{{"content":"{text}"}}}}]}}"#);
    let end = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    // Without [DONE], with comments, CR LF and a character cut in two.
    let stream = format!(": ping\r\n\r\n{}\r\n\r\n{end}\r\n\r\n", event("Straße"));
    let cut = stream.find('ß').unwrap() + 1;
    let (head, tail) = stream.as_bytes().split_at(cut);
    let late = Duration::from_millis(30);
    check_told(Reply::pieces(SSE, [(NOW, head), (late, tail)]), &["Straße"]);
    // All at once, the last blank line left out.
    let stream = format!("{}\n\n{}\n\n{end}\n", event("a"), event("b"));
    check_told(Reply::pieces(SSE, [(NOW, stream.as_bytes())]), &["a", "b"]);
    let nul = format!("{}\n\n{end}\n\n", event("a\\u0000b"));
    check_told(Reply::pieces(SSE, [(NOW, nul.as_bytes())]), &["ab"]);
}

#[test]
fn a_server_that_answers_all_at_once_is_understood() {
    let server = Server::play([Reply::chat("The whole truth.")]);
    let told = tell(&server);
    assert_eq!(told.texts(), ["The whole truth."]);
    assert_eq!(told.outcome.unwrap().prompt_tokens, Some(11));
}

#[test]
fn connections_are_kept() {
    // The end of a stream is waited for a moment only, and what other tests keep at the same time
    // may push a connection out.
    let is_kept = (0..5).any(|_| {
        let server = Server::play([Reply::chat_stream([(NOW, "ok")])]);
        for _ in 0..3 {
            tell(&server).outcome.unwrap();
        }
        assert_eq!(server.requests().len(), 3);
        server.connections() == 1
    });
    assert!(is_kept, "a connection a call");
}

#[test]
fn the_end_is_believed_though_the_connection_stays_open() {
    let event = r#"data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}"#;
    let stream = format!("{event}\n\ndata: [DONE]\n\n");
    let long = Duration::from_secs(60);
    let server = Server::play([Reply::pieces(SSE, [(NOW, stream.as_bytes()), (long, b"\n")])]);
    let begun = Instant::now();
    assert_eq!(tell(&server).outcome.unwrap().text, "ok");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}

// What goes wrong.

#[test]
fn half_a_stream_is_an_error_after_what_was_told() {
    let half = Reply::chat_stream([(NOW, "Half "), (Duration::from_millis(50), "of it")]);
    // The reply ends without its last chunk; and, politely, without an end of the answer.
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"Half \"}}]}\n\n";
    let polite = || Reply::pieces(SSE, [(NOW, event.as_bytes())]);
    for broken in [polite().close_after(0), polite()] {
        let server = Server::play([broken, half.clone()]);
        let told = tell(&server);
        assert_eq!(told.texts(), ["Half "]);
        check(&told.outcome.unwrap_err(), ErrorKind::ProviderFailed, "broke off");
        assert_eq!(server.requests().len(), 1, "it was asked again after a piece was told");
    }
}

#[test]
fn nonsense_in_a_stream_is_named() {
    let failed = ErrorKind::ProviderFailed;
    let html = Reply::new(200).header("Content-Type", "text/html").body("<html>Welcome</html>");
    check_fails(html, failed, "a web page: \"<html>Welcome</html>\"");
    let stream = |bytes: &[u8]| Reply::pieces(SSE, [(NOW, bytes)]);
    check_fails(stream(b"data: caf\xe9\n\n"), failed, "not UTF-8");
    check_fails(stream(b"data: {\"cho\n\n"), failed, "an event is not JSON");
    check_fails(stream(b"data: <html>\n\n"), failed, "an event is not JSON");
    check_fails(stream(&vec![b'a'; 5 << 20]), failed, "a line is longer than");
    let error = b"data: {\"error\":{\"message\":\"no GPU\",\"code\":500}}\n\n";
    check_fails(stream(error), failed, "reports an error: no GPU");
    let error = format!("data: {{\"error\":\"bad key {SECRET}\"}}\n\n");
    check_fails(stream(error.as_bytes()), failed, "bad key ***");
}

#[test]
fn an_error_in_the_middle_comes_after_what_was_told() {
    let events = [
        (NOW, r#"{"choices":[{"delta":{"content":"So far "}}]}"#),
        (NOW, r#"{"error":{"message":"out of memory"}}"#),
    ];
    let server = Server::play([Reply::events(events)]);
    let told = tell(&server);
    assert_eq!(told.texts(), ["So far "]);
    check(&told.outcome.unwrap_err(), ErrorKind::ProviderFailed, "out of memory");
}

#[test]
fn an_answer_without_text_says_why() {
    let failed = ErrorKind::ProviderFailed;
    let end = |choice: &str| {
        let event = format!(r#"{{"choices":[{choice}]}}"#);
        Reply::events([(NOW, event.as_str()), (NOW, "[DONE]")])
    };
    check_fails(
        end(r#"{"delta":{"refusal":"I will not"},"finish_reason":"stop"}"#),
        failed,
        "wrote no text: it refuses: I will not",
    );
    let used_up = end(r#"{"delta":{},"finish_reason":"length"}"#);
    let error = check_fails(used_up, failed, "its finish_reason is \"length\"");
    assert!(error.hint_text().unwrap().contains("max_tokens"));
}

// When it is asked again.

#[test]
fn what_fails_before_the_first_piece_is_tried_again() {
    for (first, is_billed) in [
        (Reply::new(503).header("Retry-After", "0"), false),
        (Reply::reset(), false),
        (Reply::pieces(SSE, []), true),
        (Reply::pieces(SSE, [(NOW, &b": ping\n\n"[..])]).close_after(0), true),
    ] {
        let server = Server::play([first.clone(), Reply::chat_stream([(NOW, "now")])]);
        let told = tell(&server);
        let generated = told.outcome.unwrap_or_else(|error| panic!("{first:?}: {error}"));
        assert_eq!((told.pieces.len(), generated.attempts), (1, 2), "{first:?}");
        // What was begun in vain has read the question as well.
        assert_eq!(generated.prompt_tokens > Some(11), is_billed, "{first:?} {generated:?}");
    }
}

#[test]
fn refusals_are_told_as_of_any_call() {
    check_fails(Reply::json(401, "{}"), ErrorKind::ProviderFailed, "HTTP status 401");
    let too_long = r#"{"error":{"message":"maximum context length is 8"}}"#;
    check_fails(Reply::json(400, too_long), ErrorKind::ProviderRefused, "context length");
}

// How long it may take.

#[test]
fn the_first_piece_has_a_limit_of_its_own() {
    let long = Duration::from_secs(30);
    let nothing = Reply::events([(long, "[DONE]")]);
    for silent in [Reply::chat_stream([(long, "late")]), nothing, Reply::chat("late").delay(long)] {
        let server = Server::play([silent]);
        let mut request = request(&server);
        request.provider.limits.first_token_timeout_ms = Some(300);
        request.provider.max_retries = 0;
        let begun = Instant::now();
        let error = call(&request).outcome.unwrap_err();
        check(&error, ErrorKind::ProviderTimeout, "within first_token_timeout of 300 ms");
        let took = begun.elapsed();
        assert!(took >= Duration::from_millis(290) && took < Duration::from_secs(15), "{took:?}");
    }
}

#[test]
fn later_pieces_may_take_their_time() {
    let gap = Duration::from_millis(2600);
    let server = Server::play([Reply::chat_stream([(NOW, "one "), (gap, "two")])]);
    let mut request = request(&server);
    request.provider.limits.first_token_timeout_ms = Some(2000);
    assert_eq!(call(&request).outcome.unwrap().text, "one two");
}

#[test]
fn the_whole_has_a_limit() {
    let long = Duration::from_secs(30);
    let server = Server::play([Reply::chat_stream([(NOW, "one "), (long, "two")])]);
    let mut request = request(&server);
    request.provider.timeout_ms = 2000;
    let told = call(&request);
    assert_eq!(told.texts(), ["one "]);
    let error = told.outcome.unwrap_err();
    check(&error, ErrorKind::ProviderTimeout, "within timeout of 2000 ms");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn nobody_waiting_ends_the_call_at_once() {
    let long = Duration::from_secs(30);
    for stuck in [
        Reply::chat_stream([(NOW, "one "), (long, "two")]),
        Reply::chat_stream([(long, "one")]),
        Reply::chat("late").delay(long),
    ] {
        let server = Server::play([stuck]);
        let begun = Instant::now();
        // The server hears only of those who leave after they have asked.
        let gone = || !server.requests().is_empty();
        let outcome = generate_stream(
            &request(&server),
            &ProviderMemory::default(),
            &Unlimited,
            &gone,
            &mut |_| Ok(()),
        );
        assert!(outcome.unwrap_err().message().contains("given up"));
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        wait_for(|| server.abandoned() == 1);
    }
}

#[test]
fn who_does_not_listen_any_more_ends_the_call() {
    let long = Duration::from_secs(30);
    let server = Server::play([Reply::chat_stream([(NOW, "one "), (NOW, "two"), (long, "three")])]);
    let mut heard = 0;
    let outcome = generate_stream(
        &request(&server),
        &ProviderMemory::default(),
        &Unlimited,
        &|| false,
        &mut |_| {
            heard += 1;
            Err(Error::new(ErrorKind::DaemonLost, "no more"))
        },
    );
    assert_eq!((outcome.unwrap_err().message(), heard), ("no more", 1));
    wait_for(|| server.abandoned() == 1);
    assert_eq!(server.requests().len(), 1);
}

// What the tests share.

struct Told {
    pieces: Vec<(String, Instant)>,
    outcome: Result<Generated>,
}

impl Told {
    fn texts(&self) -> Vec<&str> {
        self.pieces.iter().map(|(text, _)| text.as_str()).collect()
    }
}

fn request(server: &Server) -> GenerateRequest {
    let mut request = asking(provider::provider("openai", server), &[("user", "How?")]);
    request.provider.max_retries = 3;
    request
}

fn tell(server: &Server) -> Told {
    call(&request(server))
}

fn call(request: &GenerateRequest) -> Told {
    let mut pieces = Vec::new();
    let outcome =
        generate_stream(request, &ProviderMemory::default(), &Unlimited, &|| false, &mut |piece| {
            pieces.push((piece.to_string(), Instant::now()));
            Ok(())
        });
    if let Ok(generated) = &outcome {
        let told: String = pieces.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(told, generated.text);
    }
    Told { pieces, outcome }
}

fn check_told(reply: Reply, texts: &[&str]) {
    let told = tell(&Server::play([reply]));
    assert_eq!(told.texts(), texts);
    assert_eq!(told.outcome.unwrap().text, texts.concat());
}

/// `reply` fails like this before anything was told, and is not asked for twice.
fn check_fails(reply: Reply, kind: ErrorKind, part: &str) -> Error {
    let server = Server::play([reply]);
    let told = tell(&server);
    assert!(told.pieces.is_empty(), "{:?}", told.pieces);
    let error = told.outcome.unwrap_err();
    check(&error, kind, part);
    assert_eq!(server.requests().len(), 1, "{error}");
    error
}

fn wait_for(holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never came");
        thread::sleep(Duration::from_millis(5));
    }
}
