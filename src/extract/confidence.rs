//! # confidence: do the passages hold the answer at all?
//!
//! ```text
//! (scores, candidates, what the model says) → probability
//! ```
//!
//! A logistic model over thirteen facts, or over five where the model has no vectors for words. Its weights
//! belong to the model's [`Calibration`], and are fitted to questions asked twice: of a collection that
//! holds their paragraph and of the same collection without it. So it is the probability that the answer
//! is there if that was as likely as not beforehand.

use super::answer_type::AnswerType;
use super::candidates::Candidates;
use super::score::best_first;
use super::similarity::Similarities;
use super::word_similarity::nearest_of;
use crate::embed::calibration::{Calibration, ScoreGaps};
use crate::text::words::Word;

/// Pieces that are imagined beside those found, as far below the best as usual: the weights were
/// fitted to some thirty pieces, and among one or two the best can't stand out.
const IMAGINED: f32 = 4.0;

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
    /// Cosine of that term of the question which the best candidate itself matches least.
    pub least_here: f32,
    /// Part of the terms that the best candidate does not hold itself.
    pub missing_here: f32,
    /// 1 if the best candidate lacks the kind of thing that is asked for.
    pub misfit: f32,
}

impl ConfidenceSignals {
    /// Gathers them, with at least one candidate.
    pub fn gather(
        candidates: &Candidates,
        similarities: &Similarities,
        scores: &[f32],
        gaps: ScoreGaps,
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
            mean: mean_of_many(scored, scores[best], gaps.mean),
            missing_names: missing(|term| term.is_name),
            missing_numbers: missing(|term| term.is_number),
            kind_known: f32::from(question.asked != AnswerType::Anything),
            matched: Matched::gather(
                candidates,
                similarities,
                (scores, gaps.elsewhere),
                missing(|_| true),
            ),
        }
    }

    /// Probability that the pieces answer the question, from 0 to 1.
    pub fn confidence(&self, calibration: &Calibration) -> f32 {
        let log_odds = match self.with_words() {
            Some(signals) => calibration.word_confidence.of(&signals),
            None => calibration.confidence.of(&self.without_words()),
        };
        1.0 / (1.0 + (-log_odds).exp())
    }

    /// In the order of [`CONFIDENCE_SIGNALS`](crate::embed::calibration::CONFIDENCE_SIGNALS).
    pub fn without_words(&self) -> [f32; 5] {
        [self.best, self.mean, self.missing_names, self.missing_numbers, self.kind_known]
    }

    /// In the order of [`WORD_CONFIDENCE_SIGNALS`](crate::embed::calibration::WORD_CONFIDENCE_SIGNALS).
    pub fn with_words(&self) -> Option<[f32; 13]> {
        let matched = self.matched?;
        let [best, mean, names, numbers, kind] = self.without_words();
        Some([
            best,
            mean,
            names,
            numbers,
            kind,
            matched.elsewhere,
            matched.missing_terms,
            matched.nearest,
            matched.least,
            matched.words,
            matched.least_here,
            matched.missing_here,
            matched.misfit,
        ])
    }
}

impl Matched {
    fn gather(
        candidates: &Candidates,
        similarities: &Similarities,
        (scores, usual_gap): (&[f32], f32),
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
        let held_here: f32 = candidates.all[best].credits.iter().sum();
        Some(Matched {
            elsewhere: elsewhere.unwrap_or(scores[best] - usual_gap),
            missing_terms,
            nearest: own.iter().sum::<f32>() / own.len() as f32,
            least: held.iter().copied().fold(1.0, f32::min),
            words: own.len() as f32,
            least_here: least_term(candidates, own),
            missing_here: 1.0 - held_here / candidates.all[best].credits.len().max(1) as f32,
            misfit: f32::from(candidates.all[best].fits == Some(false)),
        })
    }
}

/// The least of the `cosines` of words that are terms.
fn least_term(candidates: &Candidates, cosines: &[f32]) -> f32 {
    let of_terms = candidates.question.term_of.iter().zip(cosines);
    of_terms.filter(|(term, _)| term.is_some()).map(|(_, cosine)| *cosine).fold(1.0, f32::min)
}

/// The mean score, as it would be among many pieces.
fn mean_of_many(scores: &[f32], best: f32, usual_gap: f32) -> f32 {
    let found = scores.iter().sum::<f32>();
    (found + IMAGINED * (best - usual_gap)) / (scores.len() as f32 + IMAGINED)
}
