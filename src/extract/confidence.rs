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
use super::candidates::{Candidates, UnitCandidate};
use super::score::{LEAST_LOG_ODDS, best_first};
use super::similarity::Similarities;
use super::word_similarity::nearest_of;
use crate::embed::calibration::Calibration;
use crate::embed::reading::log_sum;
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
    /// What the reader says, where there is one.
    pub read: Option<Read>,
}

/// What the reader says of the whole question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Read {
    /// The best score in another passage.
    pub elsewhere: f32,
    /// Terms that the passage of the best candidate does not hold.
    pub missing_terms: f32,
    /// Part of the terms that the best candidate does not hold itself.
    pub missing_here: f32,
    /// 1 if the best candidate lacks the kind of thing that is asked for.
    pub misfit: f32,
    /// Log odds that any of the pieces answers.
    pub evidence: f32,
    /// Log odds that any of them holds the answer itself.
    pub answer: f32,
    /// Log odds that the passage of the best candidate is about the question.
    pub relevance: f32,
    /// Log odds that the best candidate answers.
    pub best: f32,
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
        calibration: &Calibration,
    ) -> ConfidenceSignals {
        let question = candidates.question;
        let is_read = similarities.readings.iter().any(Option::is_some);
        let of_reader = calibration.reader.as_ref().filter(|_| is_read).map(|it| it.gaps);
        let gaps = of_reader.unwrap_or(calibration.gaps);
        let best = best_first(scores)[0];
        let held = &candidates.passage_credits[candidates.all[best].passage];
        let missing = |counts: fn(&Word) -> bool| {
            let terms = question.terms.iter().zip(held);
            terms.filter(|(term, _)| counts(term)).map(|(_, credit)| 1.0 - credit).sum()
        };
        let looked_at = |(index, _): &(usize, &f32)| {
            similarities.nearest[*index].is_some() || similarities.readings[*index].is_some()
        };
        let read = scores.iter().enumerate().filter(looked_at);
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
            read: Read::gather(
                candidates,
                similarities,
                (scores, gaps.elsewhere),
                missing(|_| true),
            ),
        }
    }

    /// Probability that the pieces answer the question, from 0 to 1.
    pub fn confidence(&self, calibration: &Calibration) -> f32 {
        let log_odds = match (&calibration.reader, self.with_reading(), self.with_words()) {
            (Some(reader), Some(signals), _) => reader.confidence.of(&signals),
            (_, _, Some(signals)) => calibration.word_confidence.of(&signals),
            (_, _, None) => calibration.confidence.of(&self.without_words()),
        };
        1.0 / (1.0 + (-log_odds).exp())
    }

    /// In the order of [`CONFIDENCE_SIGNALS`](crate::embed::calibration::CONFIDENCE_SIGNALS).
    pub fn without_words(&self) -> [f32; 5] {
        [self.best, self.mean, self.missing_names, self.missing_numbers, self.kind_known]
    }

    /// In the order of [`READER_CONFIDENCE_SIGNALS`](crate::embed::calibration::READER_CONFIDENCE_SIGNALS).
    pub fn with_reading(&self) -> Option<[f32; 13]> {
        let read = self.read?;
        let [best, mean, names, numbers, kind] = self.without_words();
        let log_odds = [read.evidence, read.answer, read.relevance, read.best];
        let [evidence, answer, relevance, read_best] = log_odds.map(|it| it.max(LEAST_LOG_ODDS));
        Some([
            best,
            mean,
            names,
            numbers,
            kind,
            read.elsewhere,
            read.missing_terms,
            read.missing_here,
            read.misfit,
            evidence,
            answer,
            relevance,
            read_best,
        ])
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

impl Read {
    fn gather(
        candidates: &Candidates,
        similarities: &Similarities,
        (scores, usual_gap): (&[f32], f32),
        missing_terms: f32,
    ) -> Option<Read> {
        let readings = &similarities.readings;
        let best = best_first(scores)[0];
        let (own, own_reading) = (&candidates.all[best], readings[best]?);
        let others = candidates.all.iter().zip(readings).zip(scores);
        let elsewhere = others
            .filter(|((other, reading), _)| other.passage != own.passage && reading.is_some())
            .map(|(_, score)| *score)
            .reduce(f32::max);
        Some(Read {
            elsewhere: elsewhere.unwrap_or(scores[best] - usual_gap),
            missing_terms,
            missing_here: missing_here(own),
            misfit: f32::from(own.fits == Some(false)),
            evidence: log_sum(readings.iter().flatten().map(|it| it.evidence)),
            answer: log_sum(readings.iter().flatten().map(|it| it.answer)),
            relevance: own_reading.relevance,
            best: own_reading.evidence,
        })
    }
}

/// Part of the terms that a candidate does not hold itself.
fn missing_here(candidate: &UnitCandidate) -> f32 {
    let held: f32 = candidate.credits.iter().sum();
    1.0 - held / candidate.credits.len().max(1) as f32
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
        Some(Matched {
            elsewhere: elsewhere.unwrap_or(scores[best] - usual_gap),
            missing_terms,
            nearest: own.iter().sum::<f32>() / own.len() as f32,
            least: held.iter().copied().fold(1.0, f32::min),
            words: own.len() as f32,
            least_here: least_term(candidates, own),
            missing_here: missing_here(&candidates.all[best]),
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
