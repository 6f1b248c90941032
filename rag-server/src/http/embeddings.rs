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
use crate::database::{Lease, Parameter};
use crate::failure::Failure;
use crate::members::or_default;

/// Most texts of a request, as OpenAI has it.
const MOST: usize = 2048;

/// The members of a request that are read.
#[derive(Deserialize)]
pub struct Request {
    model: Option<String>,
    input: Value,
    #[serde(default, deserialize_with = "or_default")]
    encoding_format: Encoding,
    dimensions: Option<usize>,
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
                _ => Err(refused("input must be a text or an array of texts, not of tokens").hint(
                    "have the client send texts; LangChain: check_embedding_ctx_length=False",
                )),
            };
            texts.into_iter().map(text).collect::<Result<_, _>>()?
        }
        _ => return Err(refused("input must be a text or an array of texts")),
    };
    if texts.is_empty() || texts.len() > MOST {
        return Err(refused(format!("input must have 1 to {MOST} texts, not {}", texts.len())));
    }
    Ok(texts)
}

fn refused(message: impl Into<String>) -> Failure {
    Failure::request(message).param("input")
}

/// How texts become vectors.
struct TextEmbedding {
    model: Option<String>,
    kind: String,
}

impl TextEmbedding {
    async fn vectors(&self, lease: &mut Lease, texts: &[String]) -> Result<Vec<Vec<f32>>, Failure> {
        let sql = include_str!("../../sql/embed.sql");
        let parameters: [Parameter<'_>; 3] =
            [(&texts, Type::TEXT_ARRAY), (&self.model, Type::TEXT), (&self.kind, Type::TEXT)];
        Ok(lease.rows(sql, &parameters).await?.iter().map(|row| row.get(0)).collect())
    }

    /// The name of the model, and how many numbers its vectors have; nothing where there is no such model. The session knows
    /// which one is meant where none is named once it has embedded.
    async fn model(&self, lease: &mut Lease) -> Result<Option<(String, Option<i32>)>, Failure> {
        let sql = include_str!("../../sql/embedding_model.sql");
        let rows = lease.rows(sql, &[(&self.model, Type::TEXT)]).await?;
        Ok(rows.first().map(|row| (row.get(0), row.get(1))))
    }

    /// Refuses another number of dimensions than the model has, before texts are embedded in vain.
    async fn check_dimensions(&self, lease: &mut Lease, wanted: usize) -> Result<(), Failure> {
        // That there is no such model is told here, too.
        self.vectors(lease, &[]).await?;
        match self.model(lease).await? {
            Some((_, Some(dimension))) => check_dimensions(wanted, dimension),
            _ => Ok(()),
        }
    }
}

/// Refuses another number of dimensions than the model has: vectors are not shortened.
fn check_dimensions(wanted: usize, dimension: i32) -> Result<(), Failure> {
    if usize::try_from(dimension).is_ok_and(|dimension| dimension == wanted) {
        return Ok(());
    }
    let message = format!("dimensions must be {dimension}, as the model has, not {wanted}");
    let refused = Failure::request(message).param("dimensions");
    Err(refused.hint("leave dimensions out, or name another model"))
}

/// Embeds texts.
pub async fn embed(
    Extension(caller): Extension<Arc<Caller>>,
    JsonBody(request): JsonBody<Request>,
) -> Result<Json<Value>, Failure> {
    let Request { model, input, encoding_format, dimensions, kind } = request;
    let texts = texts(input)?;
    let embedding = TextEmbedding {
        model: model.filter(|model| !model.is_empty()),
        kind: kind.unwrap_or_else(|| "passage".to_owned()),
    };
    let mut lease = caller.database.lease().await?;
    if let Some(wanted) = dimensions {
        embedding.check_dimensions(&mut lease, wanted).await?;
    }
    let vectors = embedding.vectors(&mut lease, &texts).await?;
    let model = match &embedding.model {
        Some(model) => model.clone(),
        None => embedding.model(&mut lease).await?.map(|(name, _)| name).unwrap_or_default(),
    };
    let data: Vec<_> = vectors
        .iter()
        .enumerate()
        .map(|(index, vector)| {
            let vector = encoding_format.of(vector);
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
        for tokens in [json!([1, 2]), json!([[1, 2]])] {
            let tokens = texts(tokens).unwrap_err();
            assert!(tokens.hint.unwrap().contains("check_embedding_ctx_length"));
            assert_eq!((tokens.status.as_u16(), tokens.param), (400, Some("input")));
        }
        assert!(texts(json!([])).unwrap_err().message.contains("not 0"));
        assert!(texts(json!(3)).is_err());
        let many: Vec<_> = (0..2049).map(|_| "a").collect();
        assert!(texts(json!(many)).unwrap_err().message.contains("not 2049"));
    }

    #[test]
    fn null_is_what_is_left_out() {
        let text = r#"{"input": "a", "model": null, "encoding_format": null, "dimensions": null}"#;
        let request: Request = serde_json::from_str(text).unwrap();
        assert!(matches!(request.encoding_format, Encoding::Float));
        assert!(request.dimensions.is_none());
    }

    #[test]
    fn vectors_are_not_shortened() {
        assert!(check_dimensions(3, 3).is_ok());
        let refused = check_dimensions(2, 3).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.message.contains("must be 3")), (400, true));
    }

    #[test]
    fn base64_holds_little_endian_floats() {
        assert_eq!(Encoding::Base64.of(&[1.0]), json!("AACAPw=="));
        assert_eq!(Encoding::Float.of(&[0.5]), json!([0.5]));
    }
}
