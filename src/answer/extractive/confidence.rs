//! # confidence: do the passages hold the answer at all?
//!
//! ```text
//! (scores, candidates) → probability
//! ```
//!
//! A logistic model over five facts, fitted to questions asked twice: of a collection that
//! holds their paragraph and of the same collection without it. So it is the probability
//! that the answer is there if that was as likely as not beforehand.

use super::asked::Asked;
use super::candidates::Candidates;

/// Pieces that are imagined beside those found, at [`USUAL_GAP`] below the best: the model was
/// fitted to some thirty pieces, and among one or two the best can't stand out.
const IMAGINED: f32 = 4.0;

/// How far the best piece usually stands above the mean where the answer is there.
const USUAL_GAP: f32 = 8.0;

/// What speaks for and against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Facts {
    /// The best score.
    pub best: f32,
    /// The mean score: how like the question everything is that was found. What answers
    /// stands out from that; what only shares the topic does not.
    pub mean: f32,
    /// Names of the question that the passage of the best candidate does not hold.
    pub missing_names: f32,
    /// Numbers of the question that it does not hold.
    pub missing_numbers: f32,
    /// Whether it is known what kind of thing is asked for; the score says whether it is there.
    pub kind_known: f32,
}

impl Facts {
    /// Gathers them; `best` is the index of the candidate with the best score.
    pub fn gather(candidates: &Candidates, scores: &[f32], best: usize) -> Facts {
        let question = candidates.question;
        let held = &candidates.passage_credits[candidates.all[best].passage];
        let missing = |numbers: bool| {
            let terms = question.terms.iter().zip(held);
            terms
                .filter(|(term, _)| if numbers { term.is_number } else { term.is_name })
                .map(|(_, credit)| 1.0 - credit)
                .sum()
        };
        Facts {
            best: scores[best],
            mean: mean_of_many(scores, scores[best]),
            missing_names: missing(false),
            missing_numbers: missing(true),
            kind_known: f32::from(question.asked != Asked::Anything),
        }
    }

    /// From 0 to 1.
    pub fn confidence(&self) -> f32 {
        let log_odds = 0.685 * self.best
            - 0.43 * self.mean
            - 0.564 * self.missing_names
            - 1.11 * self.missing_numbers
            - 0.567 * self.kind_known
            - 6.247;
        1.0 / (1.0 + (-log_odds).exp())
    }
}

/// The mean score, as it would be among many pieces.
fn mean_of_many(scores: &[f32], best: f32) -> f32 {
    let found = scores.iter().sum::<f32>();
    (found + IMAGINED * (best - USUAL_GAP)) / (scores.len() as f32 + IMAGINED)
}
