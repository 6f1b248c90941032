//! The protocol of Voyage AI: embeddings that know what they are for.
//!
//! ```text
//! POST {base_url}/embeddings
//! {"model": ..., "input": ["...", ...], "input_type": "query"}
//! → {"data": [{"index": 0, "embedding": [...]}, ...], "usage": {"total_tokens": ...}}
//! ```

use serde_json::{Value, json};

use super::dialect::Dialect;
use super::embeddings::{self, EmbeddingsProtocol, EmbeddingsQuestion, ReplyVectors};
use super::errors::CallPurpose;
use super::openai::embeddings::OpenAiEmbeddings;
use crate::embed::EmbeddingKind;

/// How Voyage AI is spoken to.
pub const DIALECT: Dialect = Dialect { key_header: None, headers: &[], base_url_end: "/v1" };

/// The embeddings API, for embedding.
pub struct VoyageEmbed;

impl EmbeddingsProtocol for VoyageEmbed {
    const TASK: &'static CallPurpose = &CallPurpose {
        dialect: &DIALECT,
        path: "embeddings",
        answer: embeddings::ANSWER,
        model: embeddings::MODEL,
        too_long: embeddings::TOO_LONG,
    };
    const MOST_TEXTS: usize = 128;
    type Answer = OpenAiEmbeddings;

    fn body(asked: &EmbeddingsQuestion<'_>) -> Value {
        let input_type = match asked.kind {
            EmbeddingKind::Query => "query",
            EmbeddingKind::Passage => "document",
        };
        let mut body =
            json!({"model": asked.provider.model, "input": asked.texts, "input_type": input_type});
        if let Some(dimension) = asked.dimension {
            body["output_dimension"] = json!(dimension);
        }
        body
    }

    fn found(answer: OpenAiEmbeddings) -> ReplyVectors {
        answer.found()
    }
}
