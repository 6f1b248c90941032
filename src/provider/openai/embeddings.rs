//! Embeddings.
//!
//! ```text
//! POST {base_url}/embeddings
//! {"model": ..., "input": ["...", ...], "encoding_format": "float"}
//! → {"data": [{"index": 0, "embedding": [...]}, ...], "usage": {"prompt_tokens": ...}}
//! ```
//!
//! Vectors stand where their `index` says, whatever their order, and have length 1 when they
//! leave here: distances then mean the same for every model.
//!
//! Some models can give shorter vectors than they do by themselves, if asked by the parameter
//! `dimensions`. Many servers refuse that parameter or ignore it. So it is sent only after an
//! answer that has another length than is wanted, and from then on at once.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::daemon::protocol::EmbedRequest;
use crate::error::{Error, ErrorKind, Result};
use crate::provider::batch::batches;
use crate::provider::call::Reply;
use crate::provider::caller::{Caller, Question};
use crate::provider::memory::{Memory, Shortened};
use crate::provider::retry::{Remedy, Trouble};
use crate::provider::trouble::{Task, Teller};

const TASK: Task = Task {
    path: "embeddings",
    answer: "embeddings",
    model: "the model that rag_add_model was given",
    too_long: "A text is longer than the model reads. Cut shorter chunks, with a smaller max_tokens.",
};

/// How far from 1 the length of a vector may be and still be called 1: what 32 bit numbers
/// lose.
const ROUNDING: f64 = 1e-5;

/// The vectors of some texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedded {
    /// Length of each; 0 if there was no text and none was wanted.
    pub dimension: u32,
    /// One vector after the other, in the order of the texts.
    pub values: Vec<f32>,
    /// Tokens read, as far as the provider says.
    pub tokens: u64,
}

/// Has the provider embed the texts of `request`, in as many calls as it takes. The limits of
/// the provider's configuration hold for each of them.
pub fn embed(request: &EmbedRequest, memory: &Memory, gone: &dyn Fn() -> bool) -> Result<Embedded> {
    let EmbedRequest { provider, dimension, lane, texts } = request;
    let caller = Caller::new(provider, &TASK, *lane, memory)?;
    let mut embedded = Embedded { dimension: dimension.unwrap_or(0), ..Embedded::default() };
    for batch in batches(texts, *dimension) {
        let wanted = Some(embedded.dimension).filter(|dimension| *dimension > 0);
        let mut question = Texts::new(request, &texts[batch], wanted, memory);
        let (answer, _) = caller.ask(&mut question, gone)?;
        if let (Some(dimension), Some(_)) = (wanted, request.dimension) {
            memory.note_length(model_of(request, dimension), question.shorten);
        }
        embedded.dimension = answer.dimension;
        embedded.values.extend(answer.values);
        embedded.tokens += answer.tokens;
    }
    Ok(embedded)
}

fn model_of(request: &EmbedRequest, dimension: u32) -> Shortened {
    let (base_url, model) = (request.provider.base_url.clone(), request.provider.model.clone());
    Shortened { base_url, model, dimension }
}

/// The texts of a call.
struct Texts<'a> {
    model: &'a str,
    texts: &'a [String],
    /// Length of the vectors; `None`: whatever length the model gives.
    wanted: Option<u32>,
    /// Whether that length is asked for.
    shorten: bool,
    /// Whether it may still be decided otherwise: once, so that this ends.
    may_change: bool,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
    #[serde(default)]
    usage: Value,
}

#[derive(Deserialize)]
struct Item {
    /// Servers that leave it out keep the order.
    index: Option<usize>,
    embedding: Vec<f64>,
}

impl<'a> Texts<'a> {
    fn new(
        request: &'a EmbedRequest,
        texts: &'a [String],
        wanted: Option<u32>,
        memory: &Memory,
    ) -> Self {
        let is_known = |dimension| memory.is_shortened(&model_of(request, dimension));
        let shorten = request.dimension.is_some_and(is_known);
        Texts {
            model: &request.provider.model,
            texts,
            wanted,
            shorten,
            may_change: request.dimension.is_some(),
        }
    }

    /// Asks for the wanted length from now on, or no longer does.
    fn change(&mut self) {
        self.shorten = !self.shorten;
        self.may_change = false;
    }

    /// Each vector at its place.
    fn in_order(&self, items: Vec<Item>) -> std::result::Result<Vec<Vec<f64>>, String> {
        if items.len() != self.texts.len() {
            return Err(format!("{} vectors for {} texts", items.len(), self.texts.len()));
        }
        let mut seen = HashSet::new();
        let mut vectors = vec![Vec::new(); items.len()];
        for (position, item) in items.into_iter().enumerate() {
            let index = item.index.unwrap_or(position);
            if !seen.insert(index) {
                return Err(format!("index {index} comes twice"));
            }
            *vectors.get_mut(index).ok_or_else(|| {
                format!("index {index} is not one of {} texts", self.texts.len())
            })? = item.embedding;
        }
        Ok(vectors)
    }
}

impl Question for Texts<'_> {
    type Answer = Embedded;

    fn encode(&self) -> Result<Vec<u8>> {
        let body = Body {
            model: self.model,
            input: self.texts,
            encoding_format: "float",
            dimensions: self.wanted.filter(|_| self.shorten),
        };
        serde_json::to_vec(&body).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("cannot encode an embedding request: {error}"))
        })
    }

    /// What was learned of a model may no longer hold.
    fn give_in(&mut self, reply: &Reply) -> bool {
        let refused = matches!(reply.status, 400 | 422) && self.shorten && self.may_change;
        if refused {
            self.change();
        }
        refused
    }

    fn read(
        &mut self,
        reply: &Reply,
        teller: &Teller<'_>,
    ) -> std::result::Result<Embedded, Trouble> {
        let answer: Answer = teller.read(reply)?;
        let vectors = self.in_order(answer.data).map_err(|why| teller.nonsense(&why, reply))?;
        let first = vectors.first().map_or(0, |vector| vector.len() as u32);
        let dimension = self.wanted.unwrap_or(first);
        if let Some(other) = vectors.iter().find(|vector| vector.len() != dimension as usize) {
            let misfit = teller.misfit(other.len(), dimension);
            if !self.shorten && self.may_change {
                self.change();
                return Err(Trouble { remedy: Remedy::Changed, ..misfit });
            }
            return Err(misfit);
        }
        if dimension == 0 {
            return Err(teller.nonsense("vectors without numbers", reply));
        }
        let mut values = Vec::with_capacity(vectors.len() * dimension as usize);
        for (index, vector) in vectors.iter().enumerate() {
            let unit = unit(vector);
            values.extend(unit.map_err(|number| {
                teller.nonsense(&format!("vector {index} holds {number:e}"), reply)
            })?);
        }
        Ok(Embedded { dimension, values, tokens: tokens(&answer.usage) })
    }
}

/// The vector of length 1 in the direction of `numbers`, or the number that is too large for
/// one. A vector of zeros has no direction and stays as it is.
fn unit(numbers: &[f64]) -> std::result::Result<Vec<f32>, f64> {
    if let Some(number) = numbers.iter().find(|number| !(**number as f32).is_finite()) {
        return Err(*number);
    }
    let length = numbers.iter().map(|number| number * number).sum::<f64>().sqrt();
    let scale = if length == 0.0 || (length - 1.0).abs() <= ROUNDING { 1.0 } else { length };
    Ok(numbers.iter().map(|number| (number / scale) as f32).collect())
}

fn tokens(usage: &Value) -> u64 {
    let count = |name| usage.get(name).and_then(Value::as_u64);
    count("prompt_tokens").or_else(|| count("total_tokens")).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_get_length_one() {
        let check = |numbers: &[f64], unit_vector: &[f32]| {
            assert_eq!(unit(numbers).unwrap(), unit_vector, "{numbers:?}");
        };
        check(&[3.0, 4.0], &[0.6, 0.8]);
        check(&[-1e30, 0.0], &[-1.0, 0.0]);
        check(&[1e-30], &[1.0]);
        check(&[0.0, 0.0], &[0.0, 0.0]);
        // What has length 1 but for rounding is not touched.
        check(&[0.600_000_1, 0.8], &[0.600_000_1, 0.8]);
    }

    #[test]
    fn what_no_vector_can_hold_is_named() {
        assert_eq!(unit(&[0.5, 1e39]), Err(1e39));
        assert_eq!(unit(&[-1e300]), Err(-1e300));
    }

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
