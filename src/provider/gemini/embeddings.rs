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
use crate::embed::EmbeddingKind;
use crate::provider::embeddings::{self, EmbeddingsProtocol, EmbeddingsQuestion, ReplyVectors};
use crate::provider::errors::{CallPurpose, resource};

/// The embedding API, for embedding.
pub struct GeminiEmbed;

/// The body of a reply.
#[derive(Deserialize)]
pub struct GeminiEmbeddings {
    embeddings: Vec<GeminiItem>,
    #[serde(default, rename = "usageMetadata")]
    usage: Value,
}

#[derive(Deserialize)]
struct GeminiItem {
    values: Vec<f64>,
}

impl EmbeddingsProtocol for GeminiEmbed {
    const TASK: &'static CallPurpose = &CallPurpose {
        dialect: &DIALECT,
        path: "{model}:batchEmbedContents",
        answer: embeddings::ANSWER,
        model: embeddings::MODEL,
        too_long: embeddings::TOO_LONG,
    };
    const MOST_TEXTS: usize = 100;
    type Answer = GeminiEmbeddings;

    fn body(asked: &EmbeddingsQuestion<'_>) -> Value {
        let model = resource(&asked.provider.model);
        let task = match asked.kind {
            EmbeddingKind::Query => "RETRIEVAL_QUERY",
            EmbeddingKind::Passage => "RETRIEVAL_DOCUMENT",
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

    fn found(answer: GeminiEmbeddings) -> ReplyVectors {
        let tokens = answer.usage.get("promptTokenCount").and_then(Value::as_u64).unwrap_or(0);
        ReplyVectors::in_order(answer.embeddings.into_iter().map(|item| item.values), tokens)
    }
}
