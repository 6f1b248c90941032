//! A provider asked for embeddings: what becomes of texts, and who waits when it is busy.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{Error, ErrorKind, Result};
use pg_rag::protocol::{
    EmbedRequest, GenerateRequest, KeySource, Lane, ProviderConfig, Response, decode, encode,
};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{Embedded, ProviderMemory, embed, generate};
use proptest::prelude::*;
use serde_json::{Value, json};

#[path = "provider_embed/busy.rs"]
mod busy;
#[path = "support/embedder.rs"]
mod embedder;
#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
use embedder::{DIMENSION, body, embeddings, embeddings_of_one_length, texts};
use http_server::{Reply, Server};
use provider::{SECRET, check_silent, provider};

// What is asked, and what comes back.

#[test]
fn vectors_stand_in_the_order_of_the_texts() {
    let server = Server::answer(embeddings);
    let asked = ["How do I reset a password?", "Wie? \u{1f600} \"\n", "password reset"];
    let embedded = ask(&server, &asked).unwrap();
    assert_eq!((embedded.dimension, embedded.tokens), (DIMENSION as u32, 3));
    for (text, vector) in asked.iter().zip(embedded.values.chunks(DIMENSION)) {
        check_same(vector, &expected(text, DIMENSION));
        let length: f32 = vector.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-5, "{text}: {length}");
    }
}

#[test]
fn the_request_has_the_texts_and_the_model() {
    let server = Server::answer(embeddings);
    ask(&server, &["one", "two"]).unwrap();
    let asked = server.requests().remove(0);
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/embeddings"));
    assert_eq!(asked.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
    let expected = json!({"model": "tiny", "input": ["one", "two"], "encoding_format": "float"});
    assert_eq!(body(&asked), expected);
}

#[test]
fn no_texts_are_no_call() {
    let server = Server::answer(embeddings);
    let embedded = ask(&server, &[]).unwrap();
    assert_eq!((embedded, server.requests().len()), (Embedded::default(), 0));
}

#[test]
fn many_texts_are_several_calls() {
    let server = Server::answer(embeddings);
    let many: Vec<String> = (0..300).map(|n| format!("text number {n}")).collect();
    let embedded = call(&request(&server, &many), &ProviderMemory::default()).unwrap();
    let sizes: Vec<usize> = server.requests().iter().map(|asked| texts(asked).len()).collect();
    assert_eq!(sizes, [128, 128, 44]);
    assert_eq!((embedded.values.len(), embedded.tokens), (300 * DIMENSION, 300));
    let last = &embedded.values[299 * DIMENSION..];
    check_same(last, &expected("text number 299", DIMENSION));
}

#[test]
fn the_vectors_before_a_failure_are_kept() {
    let many: Vec<String> = (0..300).map(|n| format!("text number {n}")).collect();
    let items: Vec<_> = (0..128).map(|n| json!({"index": n, "embedding": [1, 2, 2]})).collect();
    let first = json!({"data": items, "usage": {"prompt_tokens": 640}});
    let busy = Reply::new(429).header("Retry-After", "30");
    let server = Server::play([Reply::json(200, &first.to_string()), busy]);
    let embedded = call(&request(&server, &many), &ProviderMemory::default()).unwrap();
    assert_eq!((embedded.dimension, embedded.values.len(), embedded.tokens), (3, 128 * 3, 640));
    check_busy(&embedded.failed.unwrap(), "HTTP status 429", 30_000..=30_500);
    assert_eq!(server.requests().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn batching_changes_no_vector(
        words in prop::collection::vec("[a-z é東]{0,40}", 1..280),
        cut in 0_usize..280,
    ) {
        let server = Server::answer(embeddings);
        let memory = ProviderMemory::default();
        let (head, tail) = words.split_at(cut.min(words.len()));
        let whole = call(&request(&server, &words), &memory).unwrap();
        let mut parts = call(&request(&server, head), &memory).unwrap().values;
        parts.extend(call(&request(&server, tail), &memory).unwrap().values);
        prop_assert_eq!(whole.values, parts);
    }
}

#[test]
fn an_answer_may_lack_what_is_not_needed() {
    let bare = json!({"data": [{"embedding": [3, 0]}, {"embedding": [0.0, -2e-3]}]});
    let server = Server::play([Reply::json(200, &bare.to_string())]);
    let embedded = ask(&server, &["a", "b"]).unwrap();
    let expected =
        Embedded { dimension: 2, values: vec![1.0, 0.0, 0.0, -1.0], tokens: 0, failed: None };
    assert_eq!(embedded, expected);
}

#[test]
fn nonsense_is_a_provider_failure_that_shows_what_came() {
    let two = |items: Value| Reply::json(200, &json!({ "data": items }).to_string());
    let item = |index: usize, vector: Value| json!({"index": index, "embedding": vector});
    let fine = || item(0, json!([1, 0]));
    check_once(two(json!([fine()])), "did not answer with embeddings: 1 vectors for 2 texts");
    check_once(two(json!([fine(), fine()])), "index 0 comes twice");
    check_once(two(json!([fine(), item(2, json!([1, 0]))])), "index 2 is not one of 2 texts");
    check_once(
        two(json!([fine(), item(1, json!([1, 0])), item(2, json!([1, 0]))])),
        "3 vectors for 2 texts",
    );
    check_once(two(json!([fine(), item(1, json!([1]))])), "a vector of 1 dimensions");
    check_once(two(json!([item(0, json!([])), item(1, json!([]))])), "vectors without numbers");
    check_once(two(json!([fine(), item(1, json!([1e39, 0]))])), "vector 1 holds 1e39");
    check_once(two(json!([fine(), item(1, json!([null, 0]))])), "invalid type: null");
    check_once(two(json!([fine(), item(1, json!("AACAPw=="))])), "invalid type: string");
    check_once(Reply::json(200, r#"{"data":[{"index":0,"embedding":[1e400]}]}"#), "out of range");
    check_once(Reply::json(200, r#"{"data":[{"index":-1,"embedding":[1]}]}"#), "invalid value");
    check_once(Reply::json(200, r#"{"data":[{"index":0,"embed"#), "not JSON: EOF while parsing");
    check_once(Reply::json(200, ""), "not JSON: EOF while parsing a value");
    check_once(Reply::json(200, r#"{"choices":[]}"#), "missing field `data`");
    check_once(Reply::json(200, "NaN"), "not JSON");
    check_once(Reply::json(200, r#"{"error":{"message":"no GPU"}}"#), "reports an error: no GPU");
    let html = Reply::new(200).header("Content-Type", "text/html").body("<html>Welcome</html>");
    let error = check_once(html, "a web page: \"<html>Welcome</html>\"");
    assert!(error.hint_text().unwrap().contains("ends before /embeddings"), "{error:?}");
}

#[test]
fn half_an_answer_is_none() {
    let whole = json!({"data": [{"index": 0, "embedding": [1, 0]}]}).to_string();
    check_once(Reply::json(200, &whole).close_after(30), "answer broke off after 30 bytes");
    let pieces = [(Duration::ZERO, &whole[..30])];
    check_once(Reply::chunked(pieces).close_after(0), "answer broke off after 30 bytes");
}

#[test]
fn a_long_text_is_said_to_be_long() {
    let said = r#"{"error":{"message":"maximum input length is 8192 tokens"}}"#;
    let error = check_once(Reply::json(400, said), "HTTP status 400: maximum input length");
    assert!(error.hint_text().unwrap().contains("shorter chunks"), "{error:?}");
}

#[test]
fn no_answer_in_time_is_a_timeout() {
    let server = Server::play([Reply::json(200, "{}").delay(Duration::from_secs(30))]);
    let mut request = request(&server, &two_texts());
    request.provider.timeout_ms = 300;
    let begun = Instant::now();
    let error = call(&request, &ProviderMemory::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ProviderTimeout);
    assert!(error.message().contains("did not answer within timeout of 300 ms"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn who_leaves_is_let_go() {
    let server = Server::play([Reply::json(200, "{}").delay(Duration::from_secs(30))]);
    let request = request(&server, &two_texts());
    let begun = Instant::now();
    let gone = || !server.requests().is_empty();
    embed(&request, &ProviderMemory::default(), &Unlimited, &gone).unwrap_err();
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

// How long vectors are.

#[test]
fn a_wanted_length_is_asked_for_only_where_it_must_be() {
    let server = Server::answer(embeddings);
    let memory = ProviderMemory::default();
    let with_length = |dimension| {
        let request = EmbedRequest { dimension, ..request(&server, &["short".to_string()]) };
        let before = server.requests().len();
        let embedded = call(&request, &memory).unwrap();
        let asked = server.requests().split_off(before);
        let asked = asked.iter().map(|asked| body(asked)["dimensions"].as_u64()).collect();
        (embedded, asked)
    };
    let check = |dimension: Option<u32>, length: usize, asked: &[Option<u64>]| {
        let (embedded, was_asked): (Embedded, Vec<Option<u64>>) = with_length(dimension);
        assert_eq!((embedded.dimension as usize, was_asked.as_slice()), (length, asked));
        // Each call reads a token, that for a vector of another length too.
        assert_eq!(embedded.tokens, asked.len() as u64);
        check_same(&embedded.values, &expected("short", length));
    };
    check(None, DIMENSION, &[None]);
    check(Some(DIMENSION as u32), DIMENSION, &[None]);
    // Found out once, and remembered.
    check(Some(8), 8, &[None, Some(8)]);
    check(Some(8), 8, &[Some(8)]);
    check(Some(4), 4, &[None, Some(4)]);
    check(Some(DIMENSION as u32), DIMENSION, &[None]);
}

#[test]
fn a_length_that_the_model_does_not_have_is_an_error() {
    let server = Server::answer(embeddings_of_one_length);
    let mut request = request(&server, &two_texts());
    request.dimension = Some(8);
    let error = call(&request, &ProviderMemory::default()).unwrap_err();
    check(&error, "gave a vector of 64 dimensions for model \"tiny\", not 8");
    assert_eq!(server.requests().len(), 2);

    let said = r#"{"error":{"message":"dimensions are not supported"}}"#;
    let refusing = Server::answer(move |request| match body(request)["dimensions"] {
        Value::Null => embeddings(request),
        _ => Reply::json(400, said),
    });
    request.provider.base_url = refusing.base_url();
    let error = call(&request, &ProviderMemory::default()).unwrap_err();
    check(&error, "HTTP status 400: dimensions are not supported");
    assert_eq!(refusing.requests().len(), 2);
}

#[test]
fn what_was_learned_of_a_model_may_cease_to_hold() {
    let replaced = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let is_replaced = std::sync::Arc::clone(&replaced);
    let server = Server::answer(move |request| {
        let asked = !body(request)["dimensions"].is_null();
        match is_replaced.load(std::sync::atomic::Ordering::SeqCst) {
            false => embeddings(request),
            true if asked => Reply::json(400, r#"{"error":"unknown parameter"}"#),
            true => Reply::json(200, r#"{"data":[{"embedding":[0,0,1]}]}"#),
        }
    });
    let memory = ProviderMemory::default();
    let request = EmbedRequest { dimension: Some(3), ..request(&server, &["x".to_string()]) };
    call(&request, &memory).unwrap();
    replaced.store(true, std::sync::atomic::Ordering::SeqCst);
    for calls in [4, 5] {
        assert_eq!(call(&request, &memory).unwrap().values, [0.0, 0.0, 1.0]);
        assert_eq!(server.requests().len(), calls);
    }
}

// What stays unsaid.

#[test]
fn the_key_is_in_no_error() {
    let shapes: [fn(&str) -> String; 4] = [
        |key| json!({"error": {"message": format!("bad key {key}")}}).to_string(),
        |key| json!({"data": [{"index": 0, "embedding": key}]}).to_string(),
        |key| json!({"data": [{"index": 0, "embedding": [1]}], "usage": key}).to_string(),
        |key| format!("<html>{key}</html>"),
    ];
    for shape in shapes {
        for status in [200, 302, 400, 401, 429, 503] {
            let server = Server::answer(move |request| {
                let key = request.header("authorization").unwrap_or_default().to_string();
                Reply::json(status, &shape(&key)).header("Retry-After", "9")
            });
            let mut request = request(&server, &two_texts());
            request.provider.max_retries = 0;
            // `call` looks each error through.
            call(&request, &ProviderMemory::default()).unwrap_err();
            assert_eq!(server.requests().len(), 1, "the key was sent");
        }
    }
}

fn two_texts() -> Vec<String> {
    vec!["first".into(), "second".into()]
}

/// An answer to [`two_texts`].
fn vectors() -> Reply {
    let item = |index: usize| json!({"index": index, "embedding": [1, 2, 2]});
    Reply::json(200, &json!({"data": [item(0), item(1)]}).to_string())
}

fn request(server: &Server, texts: &[String]) -> EmbedRequest {
    EmbedRequest {
        provider: ProviderConfig { max_retries: 3, ..provider("openai", server) },
        dimension: None,
        lane: Lane::Bulk,
        kind: EmbeddingKind::Passage,
        texts: texts.to_vec(),
    }
}

fn ask(server: &Server, texts: &[&str]) -> Result<Embedded> {
    let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
    call(&request(server, &texts), &ProviderMemory::default())
}

/// Every error of these tests is looked through for the key.
fn call(request: &EmbedRequest, memory: &ProviderMemory) -> Result<Embedded> {
    embed(request, memory, &Unlimited, &|| false).inspect_err(check_silent)
}

/// The vector of length 1 that the server of these tests means.
fn expected(text: &str, dimension: usize) -> Vec<f32> {
    let numbers = embedder::vector(text, dimension);
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    numbers.iter().map(|number| (number / length) as f32).collect()
}

fn check_same(found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} is not {expected}");
    }
}

fn check(error: &Error, part: &str) {
    let about_request = ["status 400", "status 413", "status 422"];
    let kind = match about_request.iter().any(|status| error.message().contains(status)) {
        true => ErrorKind::ProviderRefused,
        false => ErrorKind::ProviderFailed,
    };
    assert_eq!(error.kind(), kind, "{error}");
    check_words(error, part);
}

fn check_words(error: &Error, part: &str) {
    assert!(error.message().starts_with("provider \"test\" "), "{error}");
    assert!(error.message().contains(part), "{error}\ndoes not hold\n{part}");
}

fn check_busy(error: &Error, part: &str, delay: std::ops::RangeInclusive<u128>) {
    assert_eq!(error.kind(), ErrorKind::ProviderBusy, "{error}");
    check_words(error, part);
    let told = error.retry_delay().expect("a time to wait").as_millis();
    assert!(delay.contains(&told), "{told} ms, not {delay:?}");
    assert!(error.hint_text().unwrap().starts_with("Repeat the statement in "), "{error:?}");
}

/// `reply` to two texts fails like this, and is not asked for twice.
fn check_once(reply: Reply, part: &str) -> Error {
    let server = Server::play([reply]);
    let error = ask(&server, &["a", "b"]).unwrap_err();
    check(&error, part);
    assert_eq!(server.requests().len(), 1, "{error}");
    error
}
