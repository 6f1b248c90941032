//! Embeddings.
//!
//! ```text
//! POST {base_url}/embed
//! {"model": ..., "input": ["...", ...]}
//! → {"embeddings": [[...], ...], "prompt_eval_count": ...}
//! ```

use serde::Deserialize;
use serde_json::{Value, json};

use super::DIALECT;
use crate::provider::embeddings::{self, EmbeddingsProtocol, EmbeddingsQuestion, ReplyVectors};
use crate::provider::errors::CallPurpose;

/// The embed API, for embedding.
pub struct OllamaEmbed;

/// The body of a reply.
#[derive(Deserialize)]
pub struct OllamaEmbeddings {
    embeddings: Vec<Vec<f64>>,
    #[serde(default)]
    prompt_eval_count: u64,
}

impl EmbeddingsProtocol for OllamaEmbed {
    const TASK: &'static CallPurpose = &CallPurpose {
        dialect: &DIALECT,
        path: "embed",
        answer: embeddings::ANSWER,
        model: embeddings::MODEL,
        too_long: embeddings::TOO_LONG,
    };
    const MOST_TEXTS: usize = 128;
    type Answer = OllamaEmbeddings;

    fn body(asked: &EmbeddingsQuestion<'_>) -> Value {
        let mut body = json!({"model": asked.provider.model, "input": asked.texts});
        if let Some(dimension) = asked.dimension {
            body["dimensions"] = json!(dimension);
        }
        if let Some(num_ctx) = asked.provider.special.num_ctx {
            body["options"] = json!({"num_ctx": num_ctx});
        }
        body
    }

    fn found(answer: OllamaEmbeddings) -> ReplyVectors {
        ReplyVectors::in_order(answer.embeddings, answer.prompt_eval_count)
    }
}
