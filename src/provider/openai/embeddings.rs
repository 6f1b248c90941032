//! Embeddings.
//!
//! ```text
//! POST {base_url}/embeddings
//! {"model": ..., "input": ["...", ...], "encoding_format": "float"}
//! → {"data": [{"index": 0, "embedding": [...]}, ...], "usage": {"prompt_tokens": ...}}
//! ```
//!
//! Vectors stand where their `index` says, whatever their order.

use serde::Deserialize;
use serde_json::{Value, json};

use super::DIALECT;
use crate::provider::embeddings::{self, EmbeddingsProtocol, EmbeddingsQuestion, ReplyVectors};
use crate::provider::errors::CallPurpose;

/// The embeddings API, for embedding.
pub struct OpenAiEmbed;

/// The body of a reply.
#[derive(Deserialize)]
pub struct OpenAiEmbeddings {
    data: Vec<OpenAiItem>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct OpenAiItem {
    /// Servers that leave it out keep the order.
    index: Option<usize>,
    embedding: Vec<f64>,
}

impl OpenAiEmbeddings {
    /// The reply's vectors, by their places in the request, and its tokens.
    pub fn found(self) -> ReplyVectors {
        let items = self.data.into_iter().map(|item| (item.index, item.embedding));
        ReplyVectors { items: items.collect(), tokens: tokens(&self.usage) }
    }
}

impl EmbeddingsProtocol for OpenAiEmbed {
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
        let mut body = json!({
            "model": asked.provider.model,
            "input": asked.texts,
            "encoding_format": "float",
        });
        if let Some(dimension) = asked.dimension {
            body["dimensions"] = json!(dimension);
        }
        body
    }

    fn found(answer: OpenAiEmbeddings) -> ReplyVectors {
        answer.found()
    }
}

fn tokens(usage: &Value) -> u64 {
    let count = |name| usage.get(name).and_then(Value::as_u64);
    count("prompt_tokens").or_else(|| count("total_tokens")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_where_they_are_told() {
        let check = |usage: &str, count| {
            assert_eq!(tokens(&serde_json::from_str(usage).unwrap()), count, "{usage}");
        };
        check(r#"{"prompt_tokens": 7, "total_tokens": 8}"#, 7);
        check(r#"{"total_tokens": 8}"#, 8);
        check(r#"{"prompt_tokens": -1}"#, 0);
        check("null", 0);
        check("[]", 0);
    }
}
