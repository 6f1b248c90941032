//! # observation: what is an answer chosen by?
//!
//! ```text
//! (question, passages, embedder) → the signals of each piece, and those of the confidence
//! ```
//!
//! For those that fit the weights of a [`Calibration`](crate::embed::calibration::Calibration) to a model.

use super::candidates::{Candidates, ParsedQuestion};
use super::confidence::ConfidenceSignals;
use super::score::{UnitSignals, scores, unit_signals};
use super::similarity::{ModelBudget, similarities_and_doubts};
use super::{Evidence, ExtractOptions, ExtractPassage, evidence};
use crate::embed::Embedder;
use crate::error::Result;

/// The signals by which an answer is chosen, in the order of the lists of
/// [`embed::calibration`](crate::embed::calibration).
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractObservation {
    /// Each piece that can be evidence, in reading order.
    pub pieces: Vec<ObservedPiece>,
    /// What the confidence is told from without vectors of words.
    pub confidence: [f32; 5],
    /// What it is told from with them; `None` if the model has none.
    pub word_confidence: Option<[f32; 13]>,
    /// What it is told from where a reader has read.
    pub reader_confidence: Option<[f32; 13]>,
}

/// A piece with its signals.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedPiece {
    /// Where it is, and its score as it stands.
    pub evidence: Evidence,
    /// Its similarity on the common scale, if it was embedded.
    pub similarity: Option<f32>,
    /// By what that is guessed.
    pub guess: [f32; 3],
    /// By what it is scored before its words are read.
    pub first_look: [f32; 11],
    /// By what it is scored after that, if they were.
    pub score: Option<[f32; 16]>,
    /// By what it is scored where a reader has read.
    pub reader_score: Option<[f32; 14]>,
}

/// The signals for `question` and `passages`, of which as much is embedded or read as `options` say; `None`
/// where there is nothing to choose from.
///
/// Fails as [`extract`](super::extract) does.
pub fn observe(
    question: &str,
    passages: &[ExtractPassage],
    embedder: &mut dyn Embedder,
    options: &ExtractOptions,
) -> Result<Option<ExtractObservation>> {
    let question = ParsedQuestion::read(question);
    let mut candidates = Candidates::read(&question, passages);
    if question.terms.is_empty() || candidates.all.is_empty() {
        return Ok(None);
    }
    let calibration = embedder.calibration()?;
    let model = (&calibration, ModelBudget::of(options));
    let similarities = similarities_and_doubts(&mut candidates, passages, embedder, model)?;
    let scores = scores(&candidates, &similarities, &calibration);
    let confidence = ConfidenceSignals::gather(&candidates, &similarities, &scores, &calibration);
    let signals = unit_signals(&candidates, &similarities, &calibration.guess);
    let piece = |(index, unit): (usize, UnitSignals)| {
        let signals = &unit.first_look;
        let candidate = &candidates.all[index];
        let (passage, bytes) = (candidate.passage, candidate.unit.range());
        ObservedPiece {
            evidence: evidence(passage, bytes, passages[passage].content, scores[index]),
            similarity: similarities.candidates[index],
            guess: [signals.passage_similarity, signals.held, signals.overlap],
            first_look: signals.of_first_look(),
            score: unit.with_words,
            reader_score: unit.with_reader,
        }
    };
    Ok(Some(ExtractObservation {
        pieces: signals.into_iter().enumerate().map(piece).collect(),
        confidence: confidence.without_words(),
        word_confidence: confidence.with_words(),
        reader_confidence: confidence.with_reader(),
    }))
}
