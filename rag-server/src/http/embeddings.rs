//! `/v1/embeddings`: `rag_embed_batch` for clients of OpenAI's API.

use std::sync::Arc;

use axum::{Extension, Json};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_postgres::types::Type;

use super::Caller;
use super::request::JsonBody;
use crate::database::Lease;
use crate::failure::Failure;

/// Most texts of a request, as OpenAI has it.
const MOST: usize = 2048;

/// The members of a request that are read.
#[derive(Deserialize)]
pub struct Request {
    model: Option<String>,
    input: Value,
    #[serde(default)]
    encoding_format: Encoding,
    /// `query` or `passage`; not a member of OpenAI's.
    kind: Option<String>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[default]
    Float,
    Base64,
}

impl Encoding {
    fn of(self, vector: &[f32]) -> Value {
        match self {
            Self::Float => json!(vector),
            Self::Base64 => {
                let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
                json!(STANDARD.encode(bytes))
            }
        }
    }
}

/// The texts of `input`: one, or an array.
fn texts(input: Value) -> Result<Vec<String>, Failure> {
    let texts: Vec<String> = match input {
        Value::String(text) => vec![text],
        Value::Array(texts) => {
            let text = |value: Value| match value {
                Value::String(text) => Ok(text),
                _ => Err(Failure::request(
                    "input must be a text or an array of texts, not of tokens",
                )
                .hint("have the client send texts; LangChain: check_embedding_ctx_length=False")),
            };
            texts.into_iter().map(text).collect::<Result<_, _>>()?
        }
        _ => return Err(Failure::request("input must be a text or an array of texts")),
    };
    if texts.is_empty() || texts.len() > MOST {
        let message = format!("input must have 1 to {MOST} texts, not {}", texts.len());
        return Err(Failure::request(message));
    }
    Ok(texts)
}

/// What embeds where no model is named. The session knows the setting once something was embedded.
async fn default_model(lease: &mut Lease) -> Result<String, Failure> {
    let rows = lease.rows(include_str!("../../sql/embedding_model.sql"), &[]).await?;
    Ok(rows.first().map(|row| row.get(0)).unwrap_or_default())
}

/// Embeds texts.
pub async fn embed(
    Extension(caller): Extension<Arc<Caller>>,
    JsonBody(request): JsonBody<Request>,
) -> Result<Json<Value>, Failure> {
    let Request { model, input, encoding_format, kind } = request;
    let texts = texts(input)?;
    let kind = kind.as_deref().unwrap_or("passage");
    let mut lease = caller.database.lease().await?;
    let model = model.filter(|model| !model.is_empty());
    let sql = include_str!("../../sql/embed.sql");
    let rows = lease
        .rows(sql, &[(&texts, Type::TEXT_ARRAY), (&model, Type::TEXT), (&kind, Type::TEXT)])
        .await?;
    let model = match model {
        Some(model) => model,
        None => default_model(&mut lease).await?,
    };
    let data: Vec<_> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            let vector = encoding_format.of(&row.get::<_, Vec<f32>>(0));
            json!({"object": "embedding", "index": index, "embedding": vector})
        })
        .collect();
    // Clients want the member; the model's tokens are not counted.
    let usage = json!({"prompt_tokens": 0, "total_tokens": 0});
    Ok(Json(json!({"object": "list", "data": data, "model": model, "usage": usage})))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_text_or_many() {
        assert_eq!(texts(json!("a")).unwrap(), ["a"]);
        assert_eq!(texts(json!(["a", "b"])).unwrap(), ["a", "b"]);
        let tokens = texts(json!([[1, 2]])).unwrap_err();
        assert!(tokens.hint.unwrap().contains("check_embedding_ctx_length"));
        assert!(texts(json!([])).unwrap_err().message.contains("not 0"));
        assert!(texts(json!(3)).is_err());
        let many: Vec<_> = (0..2049).map(|_| "a").collect();
        assert!(texts(json!(many)).unwrap_err().message.contains("not 2049"));
    }

    #[test]
    fn base64_holds_little_endian_floats() {
        assert_eq!(Encoding::Base64.of(&[1.0]), json!("AACAPw=="));
        assert_eq!(Encoding::Float.of(&[0.5]), json!([0.5]));
    }
}
