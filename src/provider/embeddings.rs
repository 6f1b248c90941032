//! How are texts turned into vectors by a provider?
//!
//! ```text
//! (texts, what they are for, protocol) → one vector a text, tokens read
//! ```
//!
//! A protocol is a [`EmbeddingsProtocol`]: how the body looks, and where in a reply the vectors stand. All
//! else is here, the same for all. Vectors have length 1 when they leave here: distances then
//! mean the same for every model.
//!
//! Some models can give shorter vectors than they do by themselves, if asked. Many servers
//! refuse that parameter or ignore it. So it is sent only after an answer that has another
//! length than is wanted, and from then on at once.

use std::collections::HashSet;
use std::marker::PhantomData;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::batch::batches;
use super::call::HttpReply;
use super::caller::{Caller, ProviderQuestion};
use super::chat::{credible, encode};
use super::errors::{CallPurpose, ErrorFormatter};
use super::provider_state::{ProviderMemory, Shortened};
use super::retry::{CallAttempts, CallError, Remedy};
use crate::account::tokens_of;
use crate::embed::EmbeddingKind;
use crate::error::{Error, Result};
use crate::protocol::{EmbedRequest, ProviderConfig};

/// What a reply should be, in messages.
pub const ANSWER: &str = "embeddings";

/// Where an embedding model is named.
pub const MODEL: &str = "the model that rag_add_model was given";

/// What can be done about a text that is too long.
pub const TOO_LONG: &str =
    "A text is longer than the model reads. Cut shorter chunks, with a smaller max_tokens.";

/// How far from 1 the length of a vector may be and still be called 1: what 32 bit numbers
/// lose.
const ROUNDING: f64 = 1e-5;

/// The words of a protocol.
pub trait EmbeddingsProtocol {
    /// What is asked for.
    const TASK: &'static CallPurpose;
    /// Most texts of a call.
    const MOST_TEXTS: usize;
    /// The body of a reply.
    type Answer: DeserializeOwned;

    /// The body of a request.
    fn body(asked: &EmbeddingsQuestion<'_>) -> Value;

    /// The vectors of a reply.
    fn found(answer: Self::Answer) -> ReplyVectors;
}

/// What is asked, ready to be put into a protocol's words.
pub struct EmbeddingsQuestion<'a> {
    /// The provider that is asked.
    pub provider: &'a ProviderConfig,
    /// What the texts are.
    pub kind: EmbeddingKind,
    /// The texts to be embedded.
    pub texts: &'a [String],
    /// Length of the vectors; `None`: the length that the model gives by itself.
    pub dimension: Option<u32>,
}

/// The vectors of a reply.
pub struct ReplyVectors {
    /// Vectors, with the number of the text of each, if the protocol says it.
    pub items: Vec<(Option<usize>, Vec<f64>)>,
    /// Tokens read, as far as the provider says.
    pub tokens: u64,
}

impl ReplyVectors {
    /// Vectors that stand in the order of the texts.
    pub fn in_order(vectors: impl IntoIterator<Item = Vec<f64>>, tokens: u64) -> ReplyVectors {
        ReplyVectors { items: vectors.into_iter().map(|vector| (None, vector)).collect(), tokens }
    }
}

/// The vectors of some texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Embedded {
    /// Length of each; 0 if there was no text and none was wanted.
    pub dimension: u32,
    /// One vector after the other, in the order of the texts.
    pub values: Vec<f32>,
    /// Tokens read, as far as the provider says.
    pub tokens: u64,
    /// Why the last texts have no vectors. Those of the first are not thrown away for that: they
    /// may be paid for, and a caller that asks again for all of them may never come to the end.
    pub failed: Option<Error>,
}

/// Has the provider embed the texts of `request`, in as many calls as it takes, in the words of
/// `P`. The limits of the provider's configuration hold for each of them. Where one fails that is not
/// the first, there are the vectors of the texts before it, and the error.
pub fn embed<P: EmbeddingsProtocol>(
    request: &EmbedRequest,
    memory: &ProviderMemory,
    gone: &dyn Fn() -> bool,
) -> Result<Embedded> {
    let EmbedRequest { provider, dimension, lane, texts, .. } = request;
    let caller = Caller::new(provider, P::TASK, *lane, memory)?;
    let mut embedded = Embedded { dimension: dimension.unwrap_or(0), ..Embedded::default() };
    for batch in batches(texts, *dimension, P::MOST_TEXTS) {
        let wanted = Some(embedded.dimension).filter(|dimension| *dimension > 0);
        let is_known = |dimension| memory.is_shortened(&model_of(&caller, request, dimension));
        let shorten = request.dimension.is_some_and(is_known);
        let mut question = TextsOfCall::<P>::new(request, &texts[batch], wanted, shorten);
        let (answer, effort) = match caller.ask(&mut question, gone) {
            Ok(answer) => answer,
            Err(error) if embedded.values.is_empty() => return Err(error),
            Err(error) => return Ok(Embedded { failed: Some(error), ..embedded }),
        };
        if let (Some(dimension), Some(_)) = (wanted, request.dimension) {
            memory.note_length(model_of(&caller, request, dimension), question.shorten);
        }
        embedded.dimension = answer.dimension;
        embedded.values.extend(answer.values);
        let tokens = read_in_all(answer.tokens, &effort, &question);
        embedded.tokens = embedded.tokens.saturating_add(tokens);
    }
    Ok(embedded)
}

/// Tokens read, those of calls in vain among them: they have to be paid for as well. What the provider has
/// not counted is estimated then.
fn read_in_all<P>(tokens: u64, effort: &CallAttempts, question: &TextsOfCall<'_, P>) -> u64 {
    let Some(wasted) = effort.wasted else { return tokens };
    let sent = tokens_of(question.texts.iter().map(String::len).sum());
    let read = if tokens == 0 { sent } else { tokens };
    read.saturating_add(wasted.input_of(sent))
}

fn model_of(caller: &Caller<'_>, request: &EmbedRequest, dimension: u32) -> Shortened {
    let (provider, model) = (caller.id(), request.provider.model.clone());
    Shortened { provider, model, dimension }
}

/// The texts of a call.
struct TextsOfCall<'a, P> {
    request: &'a EmbedRequest,
    texts: &'a [String],
    /// Length of the vectors; `None`: whatever length the model gives.
    wanted: Option<u32>,
    /// Whether that length is asked for.
    shorten: bool,
    /// Whether it may still be decided otherwise: once, so that this ends.
    may_change: bool,
    protocol: PhantomData<P>,
}

impl<'a, P> TextsOfCall<'a, P> {
    fn new(
        request: &'a EmbedRequest,
        texts: &'a [String],
        wanted: Option<u32>,
        shorten: bool,
    ) -> Self {
        let may_change = request.dimension.is_some();
        TextsOfCall { request, texts, wanted, shorten, may_change, protocol: PhantomData }
    }

    /// Asks for the wanted length from now on, or no longer does.
    fn change(&mut self) {
        self.shorten = !self.shorten;
        self.may_change = false;
    }

    /// The wanted length, or that of the first vector, if all vectors have it.
    fn length(
        &mut self,
        vectors: &[Vec<f64>],
        reply: &HttpReply,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<u32, CallError> {
        let first = vectors.first().map_or(0, |vector| vector.len() as u32);
        let dimension = self.wanted.unwrap_or(first);
        if let Some(other) = vectors.iter().find(|vector| vector.len() != dimension as usize) {
            let misfit = teller.misfit(other.len(), dimension);
            if !self.shorten && self.may_change {
                self.change();
                return Err(CallError { remedy: Remedy::Changed, ..misfit });
            }
            return Err(misfit);
        }
        match dimension {
            0 => Err(teller.nonsense("vectors without numbers", reply)),
            _ => Ok(dimension),
        }
    }
}

impl<P: EmbeddingsProtocol> ProviderQuestion for TextsOfCall<'_, P> {
    type Answer = Embedded;

    fn encode(&self) -> Result<Vec<u8>> {
        encode(&P::body(&EmbeddingsQuestion {
            provider: &self.request.provider,
            kind: self.request.kind,
            texts: self.texts,
            dimension: self.wanted.filter(|_| self.shorten),
        }))
    }

    /// What was learned of a model may no longer hold.
    fn give_in(&mut self, reply: &HttpReply) -> bool {
        let refused = matches!(reply.status, 400 | 422) && self.shorten && self.may_change;
        if refused {
            self.change();
        }
        refused
    }

    fn read(
        &mut self,
        reply: &HttpReply,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Embedded, CallError> {
        let ReplyVectors { items, tokens } = P::found(teller.read(reply)?);
        let tokens = credible(tokens);
        let embedded = self.embedded(items, reply, teller);
        // What is of no use has been read all the same.
        let read = (tokens > 0).then_some(tokens);
        let embedded = embedded.map_err(|trouble| trouble.billed(read, None))?;
        Ok(Embedded { tokens, ..embedded })
    }
}

impl<P: EmbeddingsProtocol> TextsOfCall<'_, P> {
    /// The vectors of a reply, as they are wanted.
    fn embedded(
        &mut self,
        items: Vec<(Option<usize>, Vec<f64>)>,
        reply: &HttpReply,
        teller: &ErrorFormatter<'_>,
    ) -> std::result::Result<Embedded, CallError> {
        let vectors = in_order(items, self.texts.len(), "vectors for", "texts")
            .map_err(|why| teller.nonsense(&why, reply))?;
        let dimension = self.length(&vectors, reply, teller)?;
        let mut values = Vec::with_capacity(vectors.len() * dimension as usize);
        for (index, vector) in vectors.iter().enumerate() {
            let unit = unit(vector);
            values.extend(unit.map_err(|number| {
                teller.nonsense(&format!("vector {index} holds {number:e}"), reply)
            })?);
        }
        Ok(Embedded { dimension, values, tokens: 0, failed: None })
    }
}

/// What there is one of for each of `count` things, each at its place. `Err` says what is wrong
/// with the places, naming `what` there is, and the `things`.
pub fn in_order<T: Default + Clone>(
    items: Vec<(Option<usize>, T)>,
    count: usize,
    what: &str,
    things: &str,
) -> std::result::Result<Vec<T>, String> {
    if items.len() != count {
        return Err(format!("{} {what} {count} {things}", items.len()));
    }
    let mut seen = HashSet::new();
    let mut ordered = vec![T::default(); count];
    for (position, (index, item)) in items.into_iter().enumerate() {
        // Servers that leave it out keep the order.
        let index = index.unwrap_or(position);
        if !seen.insert(index) {
            return Err(format!("index {index} comes twice"));
        }
        *ordered
            .get_mut(index)
            .ok_or_else(|| format!("index {index} is not one of {count} {things}"))? = item;
    }
    Ok(ordered)
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
}
