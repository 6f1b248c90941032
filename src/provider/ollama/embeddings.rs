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
use crate::provider::embeddings::{self, Asked, Found, Protocol};
use crate::provider::trouble::Task;

/// The embed API, for embedding.
pub struct Embed;

/// The body of a reply.
#[derive(Deserialize)]
pub struct Answer {
    embeddings: Vec<Vec<f64>>,
    #[serde(default)]
    prompt_eval_count: u64,
}

impl Protocol for Embed {
    const TASK: &'static Task = &Task {
        dialect: &DIALECT,
        path: "embed",
        answer: embeddings::ANSWER,
        model: embeddings::MODEL,
        too_long: embeddings::TOO_LONG,
    };
    const MOST_TEXTS: usize = 128;
    type Answer = Answer;

    fn body(asked: &Asked<'_>) -> Value {
        let mut body = json!({"model": asked.provider.model, "input": asked.texts});
        if let Some(dimension) = asked.dimension {
            body["dimensions"] = json!(dimension);
        }
        if let Some(num_ctx) = asked.provider.special.num_ctx {
            body["options"] = json!({"num_ctx": num_ctx});
        }
        body
    }

    fn found(answer: Answer) -> Found {
        Found::in_order(answer.embeddings, answer.prompt_eval_count)
    }
}
