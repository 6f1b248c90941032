//! # confidence: do the passages hold the answer at all?
//!
//! ```text
//! (scores, candidates, what the model says) → probability
//! ```
//!
//! A logistic model over ten facts, or over five where the model has no vectors for words, fitted
//! to questions asked twice: of a collection that holds their paragraph and of the same collection
//! without it. So it is the probability that the answer is there if that was as likely as not
//! beforehand.

use super::answer_type::AnswerType;
use super::candidates::Candidates;
use super::score::best_first;
use super::similarity::Similarities;
use super::word_similarity::nearest_of;
use crate::text::words::Word;

/// Pieces that are imagined beside those found, at [`USUAL_GAP`] below the best: the model was
/// fitted to some thirty pieces, and among one or two the best can't stand out.
const IMAGINED: f32 = 4.0;

/// How far the best piece usually stands above the mean where the answer is there.
const USUAL_GAP: f32 = 8.0;

/// What speaks for and against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ConfidenceSignals {
    /// The score of the best piece.
    pub best: f32,
    /// The mean score of what was read: how like the question everything is that was found. What
    /// answers stands out from that; what only shares the topic does not.
    pub mean: f32,
    /// Names of the question that the passage of the best candidate does not hold.
    pub missing_names: f32,
    /// Numbers of the question that it does not hold.
    pub missing_numbers: f32,
    /// Whether it is known what kind of thing is asked for; the score says whether it is there.
    pub kind_known: f32,
    /// What the nearest words say, where there are any.
    pub matched: Option<Matched>,
}

/// What the nearest words say of the whole question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Matched {
    /// The best score in another passage: an answer seldom stands in two.
    pub elsewhere: f32,
    /// Terms that the passage of the best candidate does not hold.
    pub missing_terms: f32,
    /// Mean cosine of the words of the question with their nearest in the best candidate.
    pub nearest: f32,
    /// Cosine of that word of the question which its passage matches least: one word that has no
    /// counterpart is enough to make another question of it.
    pub least: f32,
    /// Words of the question: the more it says, the less it matches by chance.
    pub words: f32,
}

impl ConfidenceSignals {
    /// Gathers them, with at least one candidate.
    pub fn gather(
        candidates: &Candidates,
        similarities: &Similarities,
        scores: &[f32],
    ) -> ConfidenceSignals {
        let question = candidates.question;
        let best = best_first(scores)[0];
        let held = &candidates.passage_credits[candidates.all[best].passage];
        let missing = |counts: fn(&Word) -> bool| {
            let terms = question.terms.iter().zip(held);
            terms.filter(|(term, _)| counts(term)).map(|(_, credit)| 1.0 - credit).sum()
        };
        let read = similarities.nearest.iter().zip(scores).filter(|(nearest, _)| nearest.is_some());
        let read: Vec<f32> = read.map(|(_, score)| *score).collect();
        let scored = if read.is_empty() { scores } else { &read };
        ConfidenceSignals {
            best: scores[best],
            mean: mean_of_many(scored, scores[best]),
            missing_names: missing(|term| term.is_name),
            missing_numbers: missing(|term| term.is_number),
            kind_known: f32::from(question.asked != AnswerType::Anything),
            matched: Matched::gather(candidates, similarities, scores, missing(|_| true)),
        }
    }

    /// Probability that the pieces answer the question, from 0 to 1.
    pub fn confidence(&self) -> f32 {
        let log_odds = match self.matched {
            None => {
                0.685 * self.best
                    - 0.43 * self.mean
                    - 0.564 * self.missing_names
                    - 1.11 * self.missing_numbers
                    - 0.567 * self.kind_known
                    - 6.247
            }
            Some(matched) => {
                0.612 * self.best
                    - 0.258 * self.mean
                    - 0.554 * self.missing_names
                    - 1.17 * self.missing_numbers
                    - 0.542 * self.kind_known
                    - 0.164 * matched.elsewhere
                    - 0.18 * matched.missing_terms
                    + 1.618 * matched.nearest
                    + 2.461 * matched.least
                    + 0.096 * matched.words
                    - 7.098
            }
        };
        1.0 / (1.0 + (-log_odds).exp())
    }
}

impl Matched {
    fn gather(
        candidates: &Candidates,
        similarities: &Similarities,
        scores: &[f32],
        missing_terms: f32,
    ) -> Option<Matched> {
        let best = best_first(scores)[0];
        let passage = candidates.all[best].passage;
        let own = similarities.nearest[best].as_ref()?;
        let of_passage = candidates.of_passage[passage].clone();
        let held = nearest_of(&similarities.nearest[of_passage])?;
        let others = candidates.all.iter().zip(&similarities.nearest).zip(scores);
        let elsewhere = others
            .filter(|((other, nearest), _)| other.passage != passage && nearest.is_some())
            .map(|(_, score)| *score)
            .reduce(f32::max);
        Some(Matched {
            elsewhere: elsewhere.unwrap_or(scores[best] - USUAL_GAP),
            missing_terms,
            nearest: own.iter().sum::<f32>() / own.len() as f32,
            least: held.iter().copied().fold(1.0, f32::min),
            words: own.len() as f32,
        })
    }
}

/// The mean score, as it would be among many pieces.
fn mean_of_many(scores: &[f32], best: f32) -> f32 {
    let found = scores.iter().sum::<f32>();
    (found + IMAGINED * (best - USUAL_GAP)) / (scores.len() as f32 + IMAGINED)
}
