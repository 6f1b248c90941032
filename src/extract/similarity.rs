//! # similarity: what does the model say?
//!
//! ```text
//! (candidates, passages, embedder) → cosines with the question, as far as they matter
//! ```
//!
//! Embedding is what an answer costs. The score without it, from words and from the
//! passages' similarity, is good enough to choose by: with a dozen candidates embedded the
//! answers are nearly as good as with all. One pass of the model over a candidate gives its
//! vector and those of its words.

use super::ExtractPassage;
use super::candidates::Candidates;
use super::nearest::{EmbeddedText, read};
use super::score::{best_first, scores};
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::{Error, ErrorKind, Result};

/// Cosines with the question.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Similarities {
    /// The cosine of each passage.
    pub passages: Vec<f32>,
    /// The cosine of each candidate, where it was embedded.
    pub candidates: Vec<Option<f32>>,
    /// For each candidate and each word of the question, the cosine of the nearest word; none where
    /// the candidate was not embedded or the model has no vectors for words.
    pub nearest: Vec<Option<Vec<f32>>>,
}

/// Embeds the question, the passages whose similarity is not known, and the `most` most
/// promising candidates.
pub(super) fn similarities(
    candidates: &Candidates,
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
    most: usize,
) -> Result<Similarities> {
    let question = vec![candidates.question.text.clone()];
    let question = embed(&question, EmbeddingKind::Query, embedder)?.swap_remove(0);
    let mut known = Similarities {
        passages: of_passages(&question, passages, embedder)?,
        candidates: vec![None; candidates.all.len()],
        nearest: vec![None; candidates.all.len()],
    };
    let mut promising = best_first(&scores(candidates, &known));
    promising.truncate(most);
    let texts: Vec<String> =
        promising.iter().map(|index| candidates.all[*index].reading.clone()).collect();
    match read(&candidates.question.text, &texts, embedder) {
        Ok(found) => {
            for (index, EmbeddedText { vector, nearest }) in promising.into_iter().zip(found) {
                known.candidates[index] = Some(cosine(&question, &vector));
                known.nearest[index] = Some(nearest);
            }
        }
        // Models behind a server, and those that pool otherwise, have vectors of texts alone.
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            for (index, cosine) in promising.iter().zip(cosines(&question, texts, embedder)?) {
                known.candidates[*index] = Some(cosine);
            }
        }
        Err(error) => return Err(error),
    }
    Ok(known)
}

fn of_passages(
    question: &[f32],
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
) -> Result<Vec<f32>> {
    let unknown = passages.iter().filter(|passage| passage.dense_similarity.is_none());
    let texts = unknown.map(|passage| passage.content.to_string()).collect();
    let mut embedded = cosines(question, texts, embedder)?.into_iter();
    let similarities = passages.iter().map(|passage| match passage.dense_similarity {
        Some(similarity) => as_cosine(similarity),
        None => embedded.next().unwrap_or_default(),
    });
    Ok(similarities.collect())
}

fn cosines(question: &[f32], texts: Vec<String>, embedder: &mut dyn Embedder) -> Result<Vec<f32>> {
    let vectors = embed(&texts, EmbeddingKind::Passage, embedder)?;
    Ok(vectors.iter().map(|vector| cosine(question, vector)).collect())
}

/// The vectors of `texts`, as many as there are texts.
fn embed(
    texts: &[String],
    kind: EmbeddingKind,
    embedder: &mut dyn Embedder,
) -> Result<Vec<Vec<f32>>> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let vectors = embedder.embed(texts, kind)?;
    if vectors.len() == texts.len() {
        return Ok(vectors);
    }
    let message = format!("{} vectors for {} texts", vectors.len(), texts.len());
    Err(Error::new(ErrorKind::Internal, message))
}

/// 0 where a vector has no direction.
pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    as_cosine(dot(a, b) / (dot(a, a) * dot(b, b)).sqrt())
}

/// From -1 to 1, whatever a caller or rounding made of it; 0 if it is no number.
fn as_cosine(similarity: f32) -> f32 {
    if similarity.is_nan() { 0.0 } else { similarity.clamp(-1.0, 1.0) }
}
