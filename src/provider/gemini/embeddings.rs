//! Embeddings.
//!
//! ```text
//! POST {base_url}/models/{model}:batchEmbedContents
//! {"requests": [{"model": ..., "content": {"parts": [{"text": ...}]}, "taskType": ...}, ...]}
//! → {"embeddings": [{"values": [...]}, ...]}
//! ```
//!
//! How many tokens were read is not said by all models.

use serde::Deserialize;
use serde_json::{Value, json};

use super::DIALECT;
use crate::embed::Kind;
use crate::provider::embeddings::{self, Asked, Found, Protocol};
use crate::provider::trouble::{Task, resource};

/// The embedding API, for embedding.
pub struct Embed;

/// The body of a reply.
#[derive(Deserialize)]
pub struct Answer {
    embeddings: Vec<Item>,
    #[serde(default, rename = "usageMetadata")]
    usage: Value,
}

#[derive(Deserialize)]
struct Item {
    values: Vec<f64>,
}

impl Protocol for Embed {
    const TASK: &'static Task = &Task {
        dialect: &DIALECT,
        path: "{model}:batchEmbedContents",
        answer: embeddings::ANSWER,
        model: embeddings::MODEL,
        too_long: embeddings::TOO_LONG,
    };
    const MOST_TEXTS: usize = 100;
    type Answer = Answer;

    fn body(asked: &Asked<'_>) -> Value {
        let model = resource(&asked.provider.model);
        let task = match asked.kind {
            Kind::Query => "RETRIEVAL_QUERY",
            Kind::Passage => "RETRIEVAL_DOCUMENT",
        };
        let request = |text: &String| {
            let content = json!({"parts": [{"text": text}]});
            let mut request = json!({"model": model, "content": content, "taskType": task});
            if let Some(dimension) = asked.dimension {
                request["outputDimensionality"] = json!(dimension);
            }
            request
        };
        json!({"requests": asked.texts.iter().map(request).collect::<Vec<Value>>()})
    }

    fn found(answer: Answer) -> Found {
        let tokens = answer.usage.get("promptTokenCount").and_then(Value::as_u64).unwrap_or(0);
        Found::in_order(answer.embeddings.into_iter().map(|item| item.values), tokens)
    }
}
