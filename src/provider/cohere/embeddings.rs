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
use crate::embed::EmbeddingKind;
use crate::provider::embeddings::{self, EmbeddingsProtocol, EmbeddingsQuestion, ReplyVectors};
use crate::provider::errors::CallPurpose;

/// The embed API, for embedding.
pub struct CohereEmbed;

/// The body of a reply.
#[derive(Deserialize)]
pub struct CohereEmbeddings {
    embeddings: CohereVectors,
    #[serde(default)]
    meta: Value,
}

#[derive(Deserialize)]
struct CohereVectors {
    float: Vec<Vec<f64>>,
}

impl EmbeddingsProtocol for CohereEmbed {
    const TASK: &'static CallPurpose = &CallPurpose {
        dialect: &DIALECT,
        path: "embed",
        answer: embeddings::ANSWER,
        model: embeddings::MODEL,
        too_long: embeddings::TOO_LONG,
    };
    const MOST_TEXTS: usize = 96;
    type Answer = CohereEmbeddings;

    fn body(asked: &EmbeddingsQuestion<'_>) -> Value {
        let input_type = match asked.kind {
            EmbeddingKind::Query => "search_query",
            EmbeddingKind::Passage => "search_document",
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

    fn found(answer: CohereEmbeddings) -> ReplyVectors {
        let tokens = answer.meta.pointer("/billed_units/input_tokens").and_then(Value::as_f64);
        ReplyVectors::in_order(answer.embeddings.float, tokens.unwrap_or(0.0) as u64)
    }
}
