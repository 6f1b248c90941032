//! Embeddings.
//!
//! ```text
//! POST {base_url}/embed
//! {"model": ..., "texts": ["...", ...], "input_type": "search_query", "embedding_types": ["float"]}
//! → {"embeddings": {"float": [[...], ...]}, "meta": {"billed_units": {"input_tokens": ...}}}
//! ```

use serde::Deserialize;
use serde_json::{Value, json};

use super::DIALECT;
use crate::embed::Kind;
use crate::provider::embeddings::{self, Asked, Found, Protocol};
use crate::provider::trouble::Task;

/// The embed API, for embedding.
pub struct Embed;

/// The body of a reply.
#[derive(Deserialize)]
pub struct Answer {
    embeddings: Vectors,
    #[serde(default)]
    meta: Value,
}

#[derive(Deserialize)]
struct Vectors {
    float: Vec<Vec<f64>>,
}

impl Protocol for Embed {
    const TASK: &'static Task = &Task {
        dialect: &DIALECT,
        path: "embed",
        answer: embeddings::ANSWER,
        model: embeddings::MODEL,
        too_long: embeddings::TOO_LONG,
    };
    const MOST_TEXTS: usize = 96;
    type Answer = Answer;

    fn body(asked: &Asked<'_>) -> Value {
        let input_type = match asked.kind {
            Kind::Query => "search_query",
            Kind::Passage => "search_document",
        };
        let mut body = json!({
            "model": asked.provider.model,
            "texts": asked.texts,
            "input_type": input_type,
            "embedding_types": ["float"],
        });
        if let Some(dimension) = asked.dimension {
            body["output_dimension"] = json!(dimension);
        }
        body
    }

    fn found(answer: Answer) -> Found {
        let tokens = answer.meta.pointer("/billed_units/input_tokens").and_then(Value::as_f64);
        Found::in_order(answer.embeddings.float, tokens.unwrap_or(0.0) as u64)
    }
}
