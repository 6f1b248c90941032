//! The protocols of Ollama, Gemini, Cohere and Voyage AI: texts that become vectors, and passages
//! that are ranked.

use pg_rag::embed::EmbeddingKind;
use pg_rag::error::{ErrorKind, Result};
use pg_rag::protocol::{EmbedRequest, Lane, RerankRequest};
use pg_rag::provider::schema::Unlimited;
use pg_rag::provider::{Embedded, ProviderMemory, embed, rerank};
use serde_json::{Value, json};

#[path = "support/http_server.rs"]
mod http_server;
#[path = "support/provider.rs"]
mod provider;
use http_server::{Reply, Request, Server};
use provider::{SECRET, body, check, check_silent, provider as at};

/// The apis of these tests.
const APIS: [&str; 4] = ["ollama", "gemini", "cohere", "voyage"];

/// A reply of `api` with these vectors.
fn vectors(api: &str, vectors: &[Value]) -> Reply {
    let reply = match api {
        "ollama" => json!({"model": "m", "embeddings": vectors, "prompt_eval_count": 8}),
        "gemini" => {
            let items: Vec<Value> = vectors.iter().map(|v| json!({"values": v})).collect();
            json!({"embeddings": items, "usageMetadata": {"promptTokenCount": 8}})
        }
        "cohere" => {
            let meta =
                json!({"api_version": {"version": "2"}, "billed_units": {"input_tokens": 8.0}});
            json!({"id": "1", "embeddings": {"float": vectors}, "texts": [], "meta": meta})
        }
        _ => {
            let item = |(index, v): (usize, &Value)| json!({"object": "embedding", "embedding": v, "index": index});
            // The last first, as an index allows.
            let data: Vec<Value> = vectors.iter().enumerate().map(item).rev().collect();
            json!({"object": "list", "data": data, "model": "m", "usage": {"total_tokens": 8}})
        }
    };
    Reply::json(200, &reply.to_string())
}

fn request(api: &str, server: &Server, texts: &[&str]) -> EmbedRequest {
    EmbedRequest {
        provider: at(api, server),
        dimension: None,
        lane: Lane::Bulk,
        kind: EmbeddingKind::Passage,
        texts: texts.iter().map(|text| text.to_string()).collect(),
    }
}

fn call(request: &EmbedRequest) -> Result<Embedded> {
    embed(request, &ProviderMemory::default(), &Unlimited, &|| false).inspect_err(check_silent)
}

/// What `api` was sent for two texts of this kind.
fn asked(api: &str, kind: EmbeddingKind) -> Request {
    let server = Server::play([vectors(api, &[json!([3, 0]), json!([0, -2.5])])]);
    let request = EmbedRequest { kind, ..request(api, &server, &["one", "two"]) };
    let embedded = call(&request).unwrap();
    let expected =
        Embedded { dimension: 2, values: vec![1.0, 0.0, 0.0, -1.0], tokens: 8, failed: None };
    assert_eq!(embedded, expected, "{api}");
    server.requests().remove(0)
}

#[test]
fn ollama_gets_texts() {
    let request = asked("ollama", EmbeddingKind::Query);
    assert_eq!(request.path, "/v1/embed");
    assert_eq!(body(&request), json!({"model": "tiny", "input": ["one", "two"]}));
    let server = Server::play([vectors("ollama", &[json!([1])])]);
    let mut request = self::request("ollama", &server, &["one"]);
    request.provider.special.num_ctx = Some(8192);
    call(&request).unwrap();
    assert_eq!(body(&server.requests()[0])["options"], json!({"num_ctx": 8192}));
}

#[test]
fn gemini_gets_a_request_a_text() {
    let one = |text: &str, task: &str| json!({"model": "models/tiny", "content": {"parts": [{"text": text}]}, "taskType": task});
    for (kind, task) in
        [(EmbeddingKind::Query, "RETRIEVAL_QUERY"), (EmbeddingKind::Passage, "RETRIEVAL_DOCUMENT")]
    {
        let request = asked("gemini", kind);
        assert_eq!(request.path, "/v1/models/tiny:batchEmbedContents");
        assert_eq!(request.header("x-goog-api-key"), Some(SECRET));
        assert_eq!(body(&request), json!({"requests": [one("one", task), one("two", task)]}));
    }
}

#[test]
fn cohere_gets_what_the_texts_are() {
    for (kind, name) in
        [(EmbeddingKind::Query, "search_query"), (EmbeddingKind::Passage, "search_document")]
    {
        let request = asked("cohere", kind);
        assert_eq!(request.path, "/v1/embed");
        assert_eq!(request.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
        let expected = json!({"model": "tiny", "texts": ["one", "two"], "input_type": name, "embedding_types": ["float"]});
        assert_eq!(body(&request), expected);
    }
}

#[test]
fn voyage_gets_what_the_texts_are() {
    for (kind, name) in [(EmbeddingKind::Query, "query"), (EmbeddingKind::Passage, "document")] {
        let request = asked("voyage", kind);
        assert_eq!(request.path, "/v1/embeddings");
        let expected = json!({"model": "tiny", "input": ["one", "two"], "input_type": name});
        assert_eq!(body(&request), expected);
    }
}

#[test]
fn many_texts_are_as_many_calls_as_the_protocol_wants() {
    let texts: Vec<String> = (0..250).map(|n| format!("text {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expected: [(&str, &[usize]); 4] = [
        ("ollama", &[128, 122]),
        ("gemini", &[100, 100, 50]),
        ("cohere", &[96, 96, 58]),
        ("voyage", &[128, 122]),
    ];
    for (api, sizes) in expected {
        let count = |request: &Request| {
            let body = body(request);
            let places = ["input", "requests", "texts"];
            places.iter().find_map(|place| Some(body.get(place)?.as_array()?.len())).unwrap()
        };
        let server =
            Server::answer(move |request| vectors(api, &vec![json!([0, 1]); count(request)]));
        let embedded = call(&request(api, &server, &texts)).unwrap();
        assert_eq!(embedded.values.len(), 500);
        let asked: Vec<usize> = server.requests().iter().map(count).collect();
        assert_eq!(asked, sizes, "{api}");
    }
}

#[test]
fn a_wanted_length_is_asked_for_in_each_protocol() {
    let places = [
        ("ollama", "/dimensions"),
        ("gemini", "/requests/0/outputDimensionality"),
        ("cohere", "/output_dimension"),
        ("voyage", "/output_dimension"),
    ];
    for (api, place) in places {
        let server = Server::answer(move |request| {
            let length = body(request).pointer(place).and_then(Value::as_u64).unwrap_or(4);
            vectors(api, &[json!(vec![1; length as usize])])
        });
        let request = EmbedRequest { dimension: Some(2), ..request(api, &server, &["one"]) };
        assert_eq!(call(&request).unwrap().dimension, 2, "{api}");
        assert_eq!(server.requests().len(), 2, "{api}: asked for only where it must be");
    }
}

#[test]
fn vectors_are_counted_and_measured() {
    for api in APIS {
        let check_nonsense = |vectors_of_two: &[Value], part: &str| {
            let server = Server::play([vectors(api, vectors_of_two)]);
            let error = call(&request(api, &server, &["one", "two"])).unwrap_err();
            check(&error, ErrorKind::ProviderFailed, part);
        };
        check_nonsense(&[json!([1, 0])], "1 vectors for 2 texts");
        check_nonsense(&[json!([1]), json!([1]), json!([1])], "3 vectors for 2 texts");
        check_nonsense(&[json!([]), json!([])], "vectors without numbers");
        check_nonsense(&[json!([1, 0]), json!([1e39, 0])], "holds 1e39");
        check_nonsense(&[json!([1, 0]), json!([null, 0])], "invalid type: null");
        check_nonsense(&[json!("AAAA"), json!([1])], "invalid type: string");
        let server = Server::play([Reply::json(200, "{}")]);
        let error = call(&request(api, &server, &["one"])).unwrap_err();
        check(&error, ErrorKind::ProviderFailed, "did not answer with embeddings: missing field");
        let server = Server::play([Reply::json(400, r#"{"detail":"no model tiny"}"#)]);
        let error = call(&request(api, &server, &["one"])).unwrap_err();
        check(&error, ErrorKind::ProviderRefused, "HTTP status 400: no model tiny");
    }
}

// Ranking.

const RANKERS: [&str; 3] = ["openai", "cohere", "voyage"];

fn ranked(api: &str, server: &Server, passages: &[&str]) -> Result<Vec<f32>> {
    let request = RerankRequest {
        provider: at(api, server),
        query: "Why?".into(),
        passages: passages.iter().map(|text| text.to_string()).collect(),
    };
    rerank(&request, &ProviderMemory::default(), &Unlimited, &|| false)
        .map(|ranked| ranked.scores)
        .inspect_err(check_silent)
}

fn scores(name: &str) -> Reply {
    let results =
        json!([{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.25}]);
    Reply::json(
        200,
        &json!({"model": "m", name: results, "usage": {"total_tokens": 26}}).to_string(),
    )
}

#[test]
fn passages_are_scored_in_their_order() {
    for (api, name) in RANKERS.into_iter().zip(["results", "results", "data"]) {
        let server = Server::play([scores(name)]);
        assert_eq!(ranked(api, &server, &["a", "b"]).unwrap(), [0.25, 0.9], "{api}");
        let asked = server.requests().remove(0);
        assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/v1/rerank"));
        assert_eq!(asked.header("authorization"), Some(format!("Bearer {SECRET}").as_str()));
        let expected = json!({"model": "tiny", "query": "Why?", "documents": ["a", "b"]});
        assert_eq!(body(&asked), expected);
        assert_eq!(ranked(api, &server, &[]).unwrap(), [0.0; 0]);
        assert_eq!(server.requests().len(), 1, "no passages are no call");
    }
}

#[test]
fn who_wants_texts_gets_texts() {
    let server = Server::answer(|request| match body(request).get("texts") {
        Some(_) => Reply::json(200, r#"[{"index":0,"score":0.5},{"index":1,"score":0.75}]"#),
        None => Reply::json(422, "Failed to deserialize the JSON body: missing field `texts`"),
    });
    assert_eq!(ranked("openai", &server, &["a", "b"]).unwrap(), [0.5, 0.75]);
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn scores_that_are_none_are_a_failure() {
    for api in RANKERS {
        let check_nonsense = |reply: Reply, part: &str| {
            let server = Server::play([reply]);
            let error = ranked(api, &server, &["a", "b", "c"]).unwrap_err();
            check(&error, ErrorKind::ProviderFailed, part);
        };
        check_nonsense(scores("results"), "did not answer with scores: 2 scores for 3 passages");
        check_nonsense(scores("others"), "no list of results with scores");
        check_nonsense(Reply::json(200, r#"{"error":"no"}"#), "no");
        check_nonsense(Reply::json(500, r#"{"message":"trouble"}"#), "HTTP status 500: trouble");
        check_nonsense(
            Reply::new(200).header("Content-Type", "text/html").body("<p>"),
            "a web page",
        );
    }
}
