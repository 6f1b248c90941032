//! Providers that ragd asks for its clients.

use std::thread;
use std::time::{Duration, Instant};

use pg_rag::embed::EmbeddingKind;
use pg_rag::error::ErrorKind;
use pg_rag::protocol::{EmbedRequest, GenerateRequest, Lane, ProviderConfig, Request, Response};

use super::http_server::{Reply, Server};
use super::provider::{asking, provider, provider_at};
use super::ragd::Ragd;

#[test]
fn a_provider_it_does_not_know_is_named() {
    let ragd = Ragd::start();
    let request = Request::Generate(asking(provider_at("delphi", "http://127.0.0.1:9"), &[]));
    let error = ragd.connect().call(&request).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("delphi"), "{error}");
}

/// A request to have `server` answer in the form of `schema`.
fn formed_by(server: &Server, schema: &serde_json::Value) -> Request {
    let Request::GenerateStream(request) = told_by(server) else { panic!("another request") };
    Request::Generate(GenerateRequest { schema: Some(schema.to_string()), ..request })
}

#[test]
fn an_answer_has_the_form_of_its_schema() {
    let server = Server::answer(|_| Reply::chat(r#"{"city": "Ulm"}"#));
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    let city = serde_json::json!({"type": "object", "required": ["city"]});
    let Response::Text(generated) = connection.call(&formed_by(&server, &city)).unwrap() else {
        panic!("no text")
    };
    assert_eq!(generated.text, r#"{"city": "Ulm"}"#);
    let rooms = serde_json::json!({"type": "object", "required": ["rooms"]});
    let error = connection.call(&formed_by(&server, &rooms)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReplyMisfit);
    assert!(error.message().contains("\"rooms\" is a required property"), "{error}");
    let calls = server.requests().len();
    let error = connection.call(&formed_by(&server, &serde_json::json!({"type": "objekt"})));
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.message().contains("schema is not a JSON schema: at /type"), "{error}");
    assert_eq!(server.requests().len(), calls, "it is refused before anything is paid for");
}

#[test]
fn a_schema_is_looked_at_without_a_provider() {
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    let schema = |schema: &str| Request::CheckSchema(schema.to_owned());
    let answer = connection.call(&schema(r#"{"type": "object"}"#)).unwrap();
    assert_eq!(answer, Response::ValidSchema);
    let error = connection.call(&schema(r#"{"type": "objekt"}"#)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.message().contains("schema is not a JSON schema: at /type"), "{error}");
}

/// Each of forty definitions refers twice to the next one: the last is checked 2^40 times.
#[test]
fn a_schema_that_takes_for_ever_is_given_up() {
    let mut definitions: serde_json::Map<String, serde_json::Value> = (0..40)
        .map(|number| {
            let next = serde_json::json!({"$ref": format!("#/$defs/a{}", number + 1)});
            (format!("a{number}"), serde_json::json!({"allOf": [next, next]}))
        })
        .collect();
    definitions.insert("a40".to_string(), serde_json::json!({"type": "string"}));
    let schema = serde_json::json!({"$ref": "#/$defs/a0", "$defs": definitions});
    let server = Server::answer(|_| Reply::chat("\"Ulm\""));
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    let error = connection.call(&formed_by(&server, &schema)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    assert!(error.message().starts_with("schema is too complex"), "{error}");
    assert!(error.bill().is_some(), "the answer has been paid for");
    // ragd goes on.
    assert!(matches!(connection.call(&Request::Status).unwrap(), Response::Status(_)));
}

/// A request to have `server` tell an answer while it writes it.
fn told_by(server: &Server) -> Request {
    Request::GenerateStream(asking(provider("openai", server), &[]))
}

#[test]
fn an_answer_is_told_while_it_is_written() {
    let server = Server::play([Reply::chat_stream([
        (Duration::ZERO, "Two "),
        (Duration::from_millis(1500), "words."),
    ])]);
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    let mut pieces = Vec::new();
    let last = connection.listen(&told_by(&server), |piece| {
        pieces.push((piece.to_string(), Instant::now()));
    });
    let Response::Text(generated) = last.unwrap() else { panic!("no end") };
    assert_eq!((generated.text.as_str(), generated.attempts), ("Two words.", 1));
    let texts: Vec<&str> = pieces.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(texts, ["Two ", "words."]);
    // Whoever hears the first late hears the second sooner after it.
    assert!(pieces[1].1 - pieces[0].1 > Duration::from_millis(50), "both came together");
    // The connection serves on.
    assert!(matches!(connection.call(&Request::Status).unwrap(), Response::Status(_)));
}

#[test]
fn who_leaves_in_the_middle_of_an_answer_ends_it() {
    let long = Duration::from_secs(60);
    let server = Server::play([Reply::chat_stream([(Duration::ZERO, "One "), (long, "two")])]);
    let ragd = Ragd::start();
    let mut connection = ragd.connect();
    connection.send(&told_by(&server)).unwrap();
    assert_eq!(connection.receive().unwrap(), Response::Piece("One ".to_string()));
    drop(connection);
    let left = Instant::now();
    while server.abandoned() == 0 {
        assert!(left.elapsed() < Duration::from_secs(30), "the provider writes on");
        thread::sleep(Duration::from_millis(5));
    }
    println!("the provider was let go after {:?}", left.elapsed());
}

#[test]
fn all_sessions_leave_a_busy_provider_alone() {
    let busy = Reply::new(429).header("Retry-After", "30");
    let vectors = r#"{"data": [{"embedding": [0, 2]}], "usage": {"prompt_tokens": 3}}"#;
    let server = Server::play([Reply::json(200, vectors), busy]);
    let provider = ProviderConfig { max_retries: 3, ..provider("openai", &server) };
    let texts = vec!["text".to_string()];
    let (lane, dimension) = (Lane::Bulk, Some(2));
    let request = Request::EmbedRemotely(EmbedRequest {
        provider,
        dimension,
        lane,
        kind: EmbeddingKind::Passage,
        texts,
    });
    let ragd = Ragd::start();
    let embedded = ragd.connect().call(&request).unwrap();
    let values = vec![0.0, 1.0];
    assert_eq!(embedded, Response::Vectors { dimension: 2, values, tokens: 3 });
    for _ in 0..3 {
        let error = ragd.connect().call(&request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProviderBusy, "{error}");
        let delay = error.retry_delay().expect("a time to wait");
        assert!(delay > Duration::from_secs(25) && delay < Duration::from_secs(31), "{delay:?}");
    }
    assert_eq!(server.requests().len(), 2);
}
