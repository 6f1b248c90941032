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
use super::polarity::{AT_ODDS, is_at_odds};
use super::score::{LEAST_LOG_ODDS, best_first};
use super::similarity::Similarities;
use super::terms::worth_in_words;
use super::word_similarity::nearest_of;
use crate::embed::calibration::{Calibration, joined};
use crate::embed::reader::{SpanScores, log_sum};
use crate::text::words::Word;

/// Part of the terms that a piece in another language lacks at most. It shares no words with the question, which says neither
/// that it answers nor that it does not. Of 56 questions in English about short texts in seven other languages, the
/// default model and its reader have 38 answered where all terms count as missing, 43 where half of them do, and 47 where
/// none does; of as many that the texts don't answer, 1, 7 and 13.
const UNKNOWN: f32 = 0.5;

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
    /// Whether the question asks what is not so, and the best piece says what is.
    pub is_at_odds: bool,
    /// What is known of the best piece, if it was looked at closely.
    pub closer: Option<CloserLook>,
}

/// What a reader or the nearest words say of the whole question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CloserLook {
    /// The best score in another passage: an answer seldom stands in two.
    pub elsewhere: f32,
    /// Terms that the passage of the best candidate does not hold.
    pub missing_terms: f32,
    /// Part of the terms that the best candidate does not hold itself.
    pub missing_here: f32,
    /// 1 if the best candidate lacks the kind of thing that is asked for.
    pub misfit: f32,
    /// What else is known, by whom.
    pub by: LookedBy,
}

/// Who has looked, and what only this one can say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LookedBy {
    /// A reader.
    Reader(ReaderSignals),
    /// The vectors of words.
    Words(WordSignals),
}

/// What only a reader says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReaderSignals {
    /// Log odds that any of the pieces answers.
    pub evidence: f32,
    /// Log odds that any of them holds the answer itself.
    pub answer: f32,
    /// Log odds that the passage of the best candidate is about the question.
    pub relevance: f32,
    /// Log odds that the best candidate answers.
    pub best: f32,
}

/// What only the nearest words say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WordSignals {
    /// Mean cosine of the words of the question with their nearest in the best candidate.
    pub nearest: f32,
    /// Cosine of that word of the question which its passage matches least: one word that has no
    /// counterpart is enough to make another question of it.
    pub least: f32,
    /// Words of the question: the more it says, the less it matches by chance.
    pub words: f32,
    /// Cosine of that term of the question which the best candidate itself matches least.
    pub least_here: f32,
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
        let is_read = similarities.span_scores.iter().any(Option::is_some);
        let of_reader = calibration.reader.as_ref().filter(|_| is_read).map(|it| it.gaps);
        let gaps = of_reader.unwrap_or(calibration.gaps);
        let best = best_first(scores)[0];
        let passage = candidates.all[best].passage;
        let held = &candidates.passage_credits[passage];
        let missing = |counts: fn(&Word) -> bool| -> f32 {
            let terms = question.terms.iter().zip(held);
            terms.filter(|(term, _)| counts(term)).map(|(_, credit)| 1.0 - credit).sum()
        };
        let missing_words = |counts: fn(&Word) -> bool| match candidates.are_foreign[passage] {
            true => WordsOfTerms::of(&question.terms, held, counts).missing(),
            false => missing(counts),
        };
        // What only says where the answer stands is no piece that this one could stand out from.
        let tells =
            |index: usize| similarities.is_looked_at(index) && !candidates.all[index].refers();
        let looked_at = scores.iter().enumerate().filter(|it| tells(it.0));
        let looked_at: Vec<f32> = looked_at.map(|(_, score)| *score).collect();
        let scored = if looked_at.is_empty() { scores } else { &looked_at };
        ConfidenceSignals {
            best: scores[best],
            mean: mean_of_many(scored, scores[best], gaps.mean),
            missing_names: missing_words(|term| term.is_name),
            // Digits are the same in every language.
            missing_numbers: missing(|term| term.is_number),
            kind_known: f32::from(question.asked != AnswerType::Anything),
            is_at_odds: is_at_odds(question, &candidates.all[best].reading),
            closer: CloserLook::gather(
                candidates,
                similarities,
                (scores, gaps.elsewhere),
                missing_words(|_| true),
            ),
        }
    }

    /// Probability that the pieces answer the question, from 0 to 1.
    pub fn confidence(&self, calibration: &Calibration) -> f32 {
        let log_odds = match (&calibration.reader, self.with_reader(), self.with_words()) {
            (Some(reader), Some(signals), _) => reader.confidence.of(&signals),
            (_, _, Some(signals)) => calibration.word_confidence.of(&signals),
            (_, _, None) => calibration.confidence.of(&self.without_words()),
        };
        let against = if self.is_at_odds { AT_ODDS } else { 0.0 };
        1.0 / (1.0 + (against - log_odds).exp())
    }

    /// In the order of [`CONFIDENCE_SIGNALS`](crate::embed::calibration::CONFIDENCE_SIGNALS).
    pub fn without_words(&self) -> [f32; 5] {
        [self.best, self.mean, self.missing_names, self.missing_numbers, self.kind_known]
    }

    /// In the order of [`READER_CONFIDENCE_SIGNALS`](crate::embed::calibration::READER_CONFIDENCE_SIGNALS).
    pub fn with_reader(&self) -> Option<[f32; 13]> {
        let closer = self.closer?;
        let LookedBy::Reader(reader) = closer.by else { return None };
        let log_odds = [reader.evidence, reader.answer, reader.relevance, reader.best];
        let of_reader = log_odds.map(|it| it.max(LEAST_LOG_ODDS));
        let CloserLook { elsewhere, missing_terms, missing_here, misfit, .. } = closer;
        let closer: [f32; 8] = joined([elsewhere, missing_terms, missing_here, misfit], of_reader);
        Some(joined(self.without_words(), closer))
    }

    /// In the order of [`WORD_CONFIDENCE_SIGNALS`](crate::embed::calibration::WORD_CONFIDENCE_SIGNALS).
    pub fn with_words(&self) -> Option<[f32; 13]> {
        let closer = self.closer?;
        let LookedBy::Words(words) = closer.by else { return None };
        let CloserLook { elsewhere, missing_terms, missing_here, misfit, .. } = closer;
        let WordSignals { nearest, least, words, least_here } = words;
        let closer =
            [elsewhere, missing_terms, nearest, least, words, least_here, missing_here, misfit];
        Some(joined(self.without_words(), closer))
    }
}

impl CloserLook {
    /// Gathers it, with at least one candidate; `None` where the best one was not looked at closely.
    fn gather(
        candidates: &Candidates,
        similarities: &Similarities,
        (scores, usual_gap): (&[f32], f32),
        missing_terms: f32,
    ) -> Option<CloserLook> {
        let best = best_first(scores)[0];
        let own = &candidates.all[best];
        let by = match similarities.span_scores[best] {
            Some(scores) => {
                LookedBy::Reader(ReaderSignals::gather(candidates, similarities, &scores))
            }
            None => LookedBy::Words(WordSignals::gather(candidates, similarities, best)?),
        };
        let is_other = |index: usize| {
            candidates.all[index].passage != own.passage && similarities.is_looked_at(index)
        };
        let others = scores.iter().enumerate().filter(|(index, _)| is_other(*index));
        let elsewhere = others.map(|(_, score)| *score).reduce(f32::max);
        Some(CloserLook {
            elsewhere: elsewhere.unwrap_or(scores[best] - usual_gap),
            missing_terms,
            missing_here: match candidates.are_foreign[own.passage] {
                true => {
                    let terms = &candidates.question.terms;
                    WordsOfTerms::of(terms, &own.credits, |_| true).missing_share()
                }
                false => missing_here(own),
            },
            misfit: f32::from(own.fits == Some(false)),
            by,
        })
    }
}

impl ReaderSignals {
    /// `own` is what the reader says of the best candidate.
    fn gather(
        candidates: &Candidates,
        similarities: &Similarities,
        own: &SpanScores,
    ) -> ReaderSignals {
        let all = candidates.all.iter().zip(&similarities.span_scores);
        let all =
            all.filter(|(candidate, _)| !candidate.refers()).filter_map(|(_, it)| it.as_ref());
        ReaderSignals {
            evidence: log_sum(all.clone().map(|it| it.evidence)),
            answer: log_sum(all.map(|it| it.answer)),
            relevance: own.relevance,
            best: own.evidence,
        }
    }
}

impl WordSignals {
    fn gather(
        candidates: &Candidates,
        similarities: &Similarities,
        best: usize,
    ) -> Option<WordSignals> {
        let own = similarities.nearest[best].as_ref()?;
        let of_passage = candidates.of_passage[candidates.all[best].passage].clone();
        let held = nearest_of(&similarities.nearest[of_passage])?;
        Some(WordSignals {
            nearest: own.iter().sum::<f32>() / own.len() as f32,
            least: held.iter().copied().fold(1.0, f32::min),
            words: own.len() as f32,
            least_here: least_term(candidates, own),
        })
    }
}

/// Terms of a question that a text in another language may lack, as words of a language with spaces: however many
/// characters a word has, the question says as much.
#[derive(Clone, Copy, Debug, Default)]
struct WordsOfTerms {
    all: f32,
    held: f32,
}

impl WordsOfTerms {
    /// Those of `terms` that `counts` takes, where the text has them with `credits`.
    fn of(terms: &[Word], credits: &[f32], counts: fn(&Word) -> bool) -> WordsOfTerms {
        let both = terms.iter().zip(credits).filter(|(term, _)| counts(term));
        both.fold(WordsOfTerms::default(), |sum, (term, credit)| {
            let words = worth_in_words(term);
            WordsOfTerms { all: sum.all + words, held: sum.held + words * credit }
        })
    }

    /// How many words count as missing.
    fn missing(self) -> f32 {
        (self.all - self.held).min(UNKNOWN * self.all)
    }

    /// Part of the words that counts as missing.
    fn missing_share(self) -> f32 {
        if self.all > 0.0 { self.missing() / self.all } else { UNKNOWN }
    }
}

/// Part of the terms that a candidate does not hold itself.
fn missing_here(candidate: &UnitCandidate) -> f32 {
    let held: f32 = candidate.credits.iter().sum();
    1.0 - held / candidate.credits.len().max(1) as f32
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
