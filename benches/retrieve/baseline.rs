//! What other ways reach on the same sets.
//!
//! BM25 is that of bm25s with Lucene's formula (k1 0.9, b 0.4, Porter's stems) over title and text;
//! dense is all-minilm-l6-v2 with 8-bit weights over whole documents, cut off at 256 tokens; RRF is
//! the reciprocal rank fusion of the two with k = 60 and k = 10. Shares of characters are those of
//! BM25 over chunks of 800 and of 1600 characters.

/// Figures of one way.
pub struct Baseline {
    pub name: &'static str,
    /// As many as [`metrics`] names; `None` where nobody has measured it.
    pub values: [Option<f64>; 2],
}

/// What counts on a set: metrics with their k.
pub fn metrics(set: &str) -> [(&'static str, i32); 2] {
    match set {
        "chunking_eval" => [("span_recall", 5), ("span_precision", 5)],
        "hotpotqa500" => [("ndcg", 10), ("all_found", 10)],
        _ => [("ndcg", 10), ("recall", 10)],
    }
}

/// What other ways reach on a set, and what is wanted.
pub fn baselines(set: &str) -> Vec<Baseline> {
    let rows: &[(&str, [f64; 2])] = match set {
        "scifact" => &[
            ("BM25 (Lucene)", [0.671, 0.795]),
            ("dense, whole documents", [0.641, f64::NAN]),
            ("RRF, k = 60", [0.707, f64::NAN]),
            ("RRF, k = 10", [0.716, f64::NAN]),
            ("goal", [0.74, f64::NAN]),
        ],
        "squad_train_sample" => &[
            ("BM25 (Lucene)", [0.882, 0.951]),
            ("dense, whole documents", [0.842, 0.943]),
            ("RRF, k = 60", [0.907, 0.974]),
            ("RRF, k = 10", [0.915, 0.983]),
            ("goal", [0.94, 0.987]),
        ],
        "hotpotqa500" => &[
            ("BM25 (Lucene)", [0.782, 0.812]),
            ("dense, whole documents", [0.780, 0.708]),
            ("RRF, k = 60", [0.818, 0.830]),
            ("RRF, k = 10", [0.829, 0.852]),
            ("goal", [0.86, 0.89]),
        ],
        "pgdocs14" => &[
            ("BM25 (Lucene)", [0.708, 0.893]),
            ("dense, whole documents", [0.475, f64::NAN]),
            ("RRF, k = 60", [0.620, f64::NAN]),
            ("RRF, k = 10", [0.670, f64::NAN]),
            ("goal", [0.76, f64::NAN]),
        ],
        "xquad/en" => &[("BM25 (Lucene)", [0.965, f64::NAN])],
        "chunking_eval" => &[
            ("BM25, 800 characters", [0.853, f64::NAN]),
            ("BM25, 1600 characters", [0.913, f64::NAN]),
        ],
        _ => &[],
    };
    let known = |value: f64| (!value.is_nan()).then_some(value);
    rows.iter().map(|(name, values)| Baseline { name, values: values.map(known) }).collect()
}
