//! A cross-encoder in a folder, from rag_add_model to the order of what was found.

use super::cluster::Cluster;
use super::cross_encoder;
use super::documents::{QUESTION, SETUP, assert_fails};

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
