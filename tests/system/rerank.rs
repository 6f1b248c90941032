//! A cross-encoder in a folder, from rag_add_model to the order of what was found.

use serde_json::{Value, json};

use super::cluster::Cluster;
use super::cross_encoder;
use super::documents::{QUESTION, SETUP, assert_fails, count};
use super::embedder::body;
use super::http_server::{Reply, Request, Server};

/// Scores of Cohere's protocol: what speaks of invoices answers everything best.
fn scores(request: &Request) -> Reply {
    let body = body(request);
    let documents = body["documents"].as_array().expect("passages");
    let score = |text: &Value| match text.as_str().is_some_and(|text| text.contains("Invoices")) {
        true => 0.96875,
        false => 0.25,
    };
    let results: Vec<Value> = (0..documents.len())
        .rev()
        .map(|index| json!({"index": index, "relevance_score": score(&documents[index])}))
        .collect();
    let meta = json!({"api_version": {"version": "2"}, "billed_units": {"search_units": 1}});
    Reply::json(200, &json!({"id": "r", "results": results, "meta": meta}).to_string())
}

fn ranker(http: &Server) -> String {
    format!(
        "CREATE SERVER ranks FOREIGN DATA WRAPPER rag_llm
             OPTIONS (api 'cohere', base_url '{}/v2', max_retries '0');
         CREATE USER MAPPING FOR PUBLIC SERVER ranks OPTIONS (api_key 'sk-of-ranks');
         SELECT rag_add_model('far', server => 'ranks', model => 'rerank-v3.5', task => 'rerank');",
        http.url()
    )
}

#[test]
fn a_reranker_behind_a_server_decides_the_order() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(scores);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", ranker(&http))).unwrap();
    let find = "SELECT source_key, rerank_score, score FROM rag_retrieve($1, rerank => 'far')";
    let rows = client.query(find, &[&QUESTION]).unwrap();
    let first = (rows[0].get::<_, &str>(0), rows[0].get::<_, f64>(1), rows[0].get::<_, f64>(2));
    assert_eq!((rows.len(), first), (3, ("2", 0.96875, 0.96875)));
    assert!(rows[1..].iter().all(|row| row.get::<_, f64>(1) == 0.25), "{rows:?}");

    let requests = http.requests();
    assert_eq!(requests.len(), 1, "all passages in one call");
    assert_eq!((requests[0].method.as_str(), requests[0].path.as_str()), ("POST", "/v2/rerank"));
    assert_eq!(requests[0].header("authorization"), Some("Bearer sk-of-ranks"));
    let mut asked = body(&requests[0]);
    let documents = asked["documents"].take();
    assert_eq!(asked, json!({"model": "rerank-v3.5", "query": QUESTION, "documents": null}));
    let texts = documents.as_array().expect("passages");
    assert_eq!(texts.len(), 3);
    assert!(texts.iter().any(|text| text.as_str().unwrap().starts_with("To reset a password")));

    // Only so many are read again, and the others stand behind them.
    let few = "SELECT count(rerank_score) FROM rag_retrieve($1, rerank => 'far', options => '{\"retrieve\": {\"rerank_candidates\": 1}}')";
    assert_eq!(client.query_one(few, &[&QUESTION]).unwrap().get::<_, i64>(0), 1);
    assert_eq!(body(&http.requests()[1])["documents"].as_array().map(Vec::len), Some(1));
    let used = "SELECT sum(calls)::bigint FROM rag.stat_usage WHERE server = 'ranks' AND model = 'rerank-v3.5'";
    assert_eq!(count(&mut client, used), 2);
}

#[test]
fn a_reranker_that_fails_is_named() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([
        Reply::json(500, "{}"),
        Reply::json(200, r#"{"results": [{"index": 7, "relevance_score": 0.5}]}"#),
        Reply::json(401, r#"{"message": "invalid api token"}"#),
    ]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", ranker(&http))).unwrap();
    let find = "SELECT * FROM rag_retrieve('How?', rerank => 'far')";
    assert_fails(&mut client, find, &["38000", "ranks", "500"]);
    assert_fails(&mut client, find, &["38000", "ranks"]);
    assert_fails(&mut client, find, &["38000", "ranks", "invalid api token"]);
    client.batch_execute("CREATE ROLE guest; GRANT SELECT ON docs, docs_rag, docs_rag_chunks TO guest; SET ROLE guest").unwrap();
    assert_fails(&mut client, find, &["42501", "ranks", "GRANT USAGE"]);
    assert_eq!(http.requests().len(), 3, "who may not call it does not");
}

const PASSAGES: [&str; 3] = ["Ink is black.", "Paper is white.", ""];

#[test]
fn a_cross_encoder_ranks_as_plain_onnx_runtime_does() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let folder = cluster.folder().join("cross");
    let pairs = PASSAGES.map(|passage| (QUESTION, passage));
    let Some(logits) = cross_encoder::make(&folder, 1, &pairs) else { return };
    cluster.give(&folder);
    let expected: Vec<f64> =
        logits.iter().map(|logits| 1.0 / (1.0 + (-f64::from(logits[0])).exp())).collect();

    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let add = "SELECT dimension, max_tokens, pooling FROM rag_add_model('cross', $1)";
    let added = client.query_one(add, &[&folder.to_str()]).unwrap();
    assert_eq!(added.get::<_, Option<i32>>(0), None);
    assert_eq!((added.get(1), added.get::<_, Option<&str>>(2)), (64, None));

    let rerank = "SELECT ord, score FROM rag_rerank($1, $2, 'cross')";
    let rows = client.query(rerank, &[&QUESTION, &&PASSAGES[..]]).unwrap();
    let scores: Vec<(i32, f64)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    assert!(scores.is_sorted_by(|a, b| a.1 >= b.1), "{scores:?}");
    for (ord, score) in &scores {
        let expected = expected[*ord as usize - 1];
        assert!((score - expected).abs() < 1e-4, "{ord}: {score} is not {expected}");
    }

    let retrieve = "SELECT bool_and(score = rerank_score), count(*) = 3,
                           array_agg(rerank_score ORDER BY rank) = array_agg(rerank_score ORDER BY rerank_score DESC)
                    FROM rag_retrieve($1, rerank => 'cross')";
    let row = client.query_one(retrieve, &[&QUESTION]).unwrap();
    assert_eq!((row.get(0), row.get(1), row.get(2)), (true, true, true));

    assert_fails(&mut client, "SELECT rag_embed('x', 'cross')", &["42809", "is a reranker"]);
    let pipeline = "SELECT rag_create_pipeline('docs', 'title', 'other', model => 'cross')";
    assert_fails(&mut client, pipeline, &["42809", "is a reranker"]);
    client.batch_execute("SELECT rag_drop_model('cross')").unwrap();
    assert_fails(&mut client, "SELECT rag_rerank('x', ARRAY['x'], 'cross')", &["42704", "cross"]);
}
