//! # score: which piece holds the answer?
//!
//! ```text
//! (candidates, similarities) → a score each, whose differences are log odds
//! ```
//!
//! The first look is a sum of eleven signals. What the model has read word by word is scored
//! anew: by ten of them and six of [`word_similarity`](super::word_similarity). The weights belong to the model's
//! [`Calibration`]. They are those of a conditional logit model ("which of these sentences holds the
//! answer?"), fitted to one half of the questions of judged sets; docs/answer_quality.md has what the other half gave.
//!
//! What was tried and dropped, because it moved nothing: ranks and fused scores of the
//! retrieval, position in the passage, length, similarity of the neighbours, embedding a
//! sentence with the one before it, embedding the question without its question word, and
//! document frequencies: terms weigh alike over a passage, and within the candidates the
//! terms that stand in most of them tell least.

use std::cmp::Ordering;

use super::announcement::AnnouncedBy;
use super::candidates::{Candidates, UnitCandidate};
use super::identifier::LackedName;
use super::similarity::Similarities;
use super::word_similarity::{Matches, matches};
use crate::embed::calibration::{Calibration, WeightedSum, joined};
use crate::embed::reader::SpanScores;

/// Log odds of a reader below which it makes no difference how unlikely something is.
pub(super) const LEAST_LOG_ODDS: f32 = -15.0;

/// Log odds that are added to what stands below the heading that names the thing whose definition is asked for, and to a list
/// that does: "What are the house rules?". Others may repeat the words of the question, and say what else there is to it.
const DEFINITION: f32 = 3.0;

/// Log odds that are taken from what only says what comes next, as it repeats the words of the question and answers nothing.
const ANNOUNCEMENT: f32 = 6.0;

/// Log odds that are taken from what only says where something is said: it is the question over again, and never its answer.
const REFERENCE: f32 = 12.0;

/// Log odds that are taken from what is about something else than the question names, where a passage has the name.
const NAMELESS: f32 = 3.0;

/// Log odds that are taken from what has no name of an option or the like where the question asks for one. A reader finds a
/// sentence that repeats the question more likely by four.
const WITHOUT_WANTED: f32 = 6.0;

/// What speaks for a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Signals {
    /// Cosine with the question, on the common scale; for one that is not embedded, what is likely.
    pub similarity: f32,
    /// The best of that in its passage: a good neighbour vouches for the whole passage.
    pub best_similarity: f32,
    /// The passage's cosine with the question.
    pub passage_similarity: f32,
    /// Part of the terms that the passage holds.
    pub coverage: f32,
    /// Part of the terms that it holds itself.
    pub held: f32,
    /// Part of the terms that it holds itself, where terms that stand in few candidates
    /// weigh more.
    pub overlap: f32,
    /// Part of the terms that it holds itself, where names and numbers count as held if the
    /// passage holds them: a text names its subject once and says "it" from then on.
    pub about: f32,
    /// What the candidate before it would add to the part of the terms held.
    pub from_previous: f32,
    /// What the candidate after it would add, weighed as for `overlap`.
    pub from_next: f32,
    /// How closely terms stand together.
    pub closeness: f32,
    /// 1 if it holds the kind of thing that is asked for.
    pub fit: f32,
    /// 1 if it lacks that.
    pub misfit: f32,
}

impl Signals {
    /// In the order of [`FIRST_LOOK_SIGNALS`](crate::embed::calibration::FIRST_LOOK_SIGNALS).
    pub fn of_first_look(&self) -> [f32; 11] {
        [
            self.similarity,
            self.best_similarity,
            self.passage_similarity,
            self.coverage,
            self.overlap,
            self.about,
            self.from_previous,
            self.from_next,
            self.closeness,
            self.fit,
            self.misfit,
        ]
    }

    /// With what the reader says, in the order of
    /// [`READER_SCORE_SIGNALS`](crate::embed::calibration::READER_SCORE_SIGNALS).
    pub fn with_reader(&self, scores: &SpanScores) -> [f32; 14] {
        joined(self.of_first_look(), scores.numbers().map(|it| it.max(LEAST_LOG_ODDS)))
    }

    /// With what the words say, in the order of [`SCORE_SIGNALS`](crate::embed::calibration::SCORE_SIGNALS).
    pub fn with_words(&self, matches: &Matches) -> [f32; 16] {
        [
            self.similarity,
            self.best_similarity,
            self.passage_similarity,
            self.coverage,
            self.overlap,
            self.about,
            self.from_previous,
            self.from_next,
            self.fit,
            self.misfit,
            matches.asking,
            matches.terms,
            matches.unspelled,
            matches.passage,
            matches.won,
            matches.from_previous,
        ]
    }
}

/// The signals of a candidate, as far as it was looked at.
pub(super) struct UnitSignals {
    /// Those of the first look.
    pub first_look: Signals,
    /// With those of its words, where they were compared.
    pub with_words: Option<[f32; 16]>,
    /// With what the reader says, where it has read.
    pub with_reader: Option<[f32; 14]>,
}

/// The score of each candidate.
///
/// Those that were read, or whose words were compared with the question's, are scored anew. The others, less promising
/// already, stand behind them.
pub(super) fn scores(
    candidates: &Candidates,
    similarities: &Similarities,
    calibration: &Calibration,
) -> Vec<f32> {
    let signals = unit_signals(candidates, similarities, &calibration.guess);
    let score = |it: &UnitSignals| match (&calibration.reader, &it.with_reader) {
        (Some(reader), Some(signals)) => Some(reader.score.of(signals)),
        _ => it.with_words.map(|signals| calibration.score.of(&signals)),
    };
    let read: Vec<Option<f32>> = signals.iter().map(score).collect();
    let first_look = |it: &UnitSignals| calibration.first_look.of(&it.first_look.of_first_look());
    let unread: Vec<f32> = signals.iter().map(first_look).collect();
    let mut scores = behind(&read, &unread);
    for (score, candidate) in scores.iter_mut().zip(&candidates.all) {
        let is_asked_list = candidate.is_of_asked_list && candidates.question.definiendum.is_some();
        let defines = candidate.definition.is_some() || is_asked_list;
        *score += if defines { DEFINITION } else { 0.0 };
        *score -= match candidate.announcement {
            Some(AnnouncedBy::Reference) => REFERENCE,
            Some(AnnouncedBy::Words | AnnouncedBy::Colon) => ANNOUNCEMENT,
            None => 0.0,
        };
        *score -= match candidate.lacked_name {
            Some(LackedName::Known) => NAMELESS,
            Some(LackedName::Wanted) => WITHOUT_WANTED,
            None => 0.0,
        };
    }
    scores
}

/// All signals of each candidate.
pub(super) fn unit_signals(
    candidates: &Candidates,
    similarities: &Similarities,
    guess: &WeightedSum<3>,
) -> Vec<UnitSignals> {
    let signals = signals(candidates, similarities, guess);
    let telling = Weights::of(candidates).telling;
    let matches = matches(candidates, similarities, &telling);
    let of_unit =
        |(index, (first_look, matches)): (usize, (Signals, Option<Matches>))| UnitSignals {
            first_look,
            with_words: matches.map(|matches| first_look.with_words(&matches)),
            with_reader: similarities.span_scores[index].map(|it| first_look.with_reader(&it)),
        };
    signals.into_iter().zip(matches).enumerate().map(of_unit).collect()
}

/// The scores of what was read, and below the least of them, as far apart as they were, those of
/// what was not.
///
/// Scores of the two looks are of different scales: what a reader has read and found wanting may have log odds of -15,
/// where the first look would say -3. So what was not read has no place among what was, but for this: it promised
/// less. Of passages that a reader has not read that holds for the best of their pieces, not for all, and it may be
/// that such a piece answers and the dullest of those that were read does not. But short passages, where few pieces
/// would be read, are read until they are as long as one long passage, and what is quoted without having been read
/// would be quoted on a guess. It stands strictly below, so that the best piece is never one of which the reader has
/// said nothing.
fn behind(read: &[Option<f32>], unread: &[f32]) -> Vec<f32> {
    let Some(least) = read.iter().flatten().copied().reduce(f32::min).map(f32::next_down) else {
        return unread.to_vec();
    };
    let rest = read.iter().zip(unread).filter(|(read, _)| read.is_none());
    let best = rest.map(|(_, unread)| *unread).fold(f32::NEG_INFINITY, f32::max);
    let score = |(read, unread): (&Option<f32>, &f32)| read.unwrap_or(least - (best - unread));
    read.iter().zip(unread).map(score).collect()
}

/// Indexes by score, best first; of equals, in reading order.
pub(super) fn best_first(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|a, b| scores[*b].partial_cmp(&scores[*a]).unwrap_or(Ordering::Equal));
    order
}

/// The signals of each candidate.
fn signals(
    candidates: &Candidates,
    similarities: &Similarities,
    guess: &WeightedSum<3>,
) -> Vec<Signals> {
    let weights = Weights::of(candidates);
    let indexes = 0..candidates.all.len();
    let mut signals: Vec<Signals> =
        indexes.map(|index| weights.signals(candidates, (similarities, guess), index)).collect();
    for range in &candidates.of_passage {
        let siblings = &mut signals[range.clone()];
        let best = siblings.iter().map(|sibling| sibling.similarity).fold(-1.0, f32::max);
        siblings.iter_mut().for_each(|sibling| sibling.best_similarity = best);
    }
    signals
}

/// How much each term counts.
struct Weights {
    /// Weights by which all terms count the same.
    alike: Vec<f32>,
    /// The rarer among the candidates, the more: what stands in all of them tells nothing.
    telling: Vec<f32>,
}

impl Weights {
    fn of(candidates: &Candidates) -> Weights {
        let terms = candidates.question.terms.len();
        let all = candidates.all.len() as f32;
        let telling = |term: usize| {
            let holders = candidates.all.iter().filter(|other| other.credits[term] > 0.0);
            let holders = holders.count() as f32;
            (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
        };
        Weights { alike: vec![1.0; terms], telling: (0..terms).map(telling).collect() }
    }

    /// All signals but `best_similarity`, which needs those of the whole passage.
    fn signals(
        &self,
        candidates: &Candidates,
        (similarities, guess): (&Similarities, &WeightedSum<3>),
        index: usize,
    ) -> Signals {
        let candidate = &candidates.all[index];
        let of_passage = &candidates.passage_credits[candidate.passage];
        let passage_similarity = similarities.passages[candidate.passage];
        let held = share(&self.alike, &candidate.credits);
        let overlap = share(&self.telling, &candidate.credits);
        let sibling = |at: usize| {
            let is_sibling = candidates.of_passage[candidate.passage].contains(&at);
            is_sibling.then(|| &candidates.all[at])
        };
        Signals {
            similarity: similarities.candidates[index]
                .unwrap_or_else(|| guess.of(&[passage_similarity, held, overlap])),
            best_similarity: 0.0,
            passage_similarity,
            coverage: share(&self.alike, of_passage),
            held,
            overlap,
            about: share(&self.alike, &with_names(candidates, candidate)),
            from_previous: sibling(index.wrapping_sub(1))
                .map_or(0.0, |other| gain(&self.alike, candidate, other)),
            from_next: sibling(index + 1)
                .map_or(0.0, |other| gain(&self.telling, candidate, other)),
            closeness: candidate.closeness,
            fit: f32::from(candidate.fits == Some(true)),
            misfit: f32::from(candidate.fits == Some(false)),
        }
    }
}

/// The part of `weights` that `credits` cover, from 0 to 1.
fn share(weights: &[f32], credits: &[f32]) -> f32 {
    let whole: f32 = weights.iter().sum();
    let held: f32 = weights.iter().zip(credits).map(|(weight, credit)| weight * credit).sum();
    if whole > 0.0 { held / whole } else { 0.0 }
}

fn gain(weights: &[f32], candidate: &UnitCandidate, other: &UnitCandidate) -> f32 {
    let gains: Vec<f32> = candidate
        .credits
        .iter()
        .zip(&other.credits)
        .map(|(own, others)| (others - own).max(0.0))
        .collect();
    share(weights, &gains)
}

/// The credits of `candidate`; of names and numbers, those of its passage.
fn with_names(candidates: &Candidates, candidate: &UnitCandidate) -> Vec<f32> {
    let of_passage = &candidates.passage_credits[candidate.passage];
    let own = candidate.credits.iter().zip(of_passage);
    own.zip(&candidates.question.terms)
        .map(|((own, passage), term)| if term.is_name || term.is_number { *passage } else { *own })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{behind, best_first};

    #[test]
    fn what_was_not_read_keeps_its_order_behind_what_was() {
        assert_eq!(behind(&[None, None], &[1.0, 2.0]), [1.0, 2.0]);
        let scores = behind(&[None, Some(-3.0), None, Some(5.0)], &[2.0, 9.0, 1.5, 0.0]);
        assert_eq!((scores[1], scores[3]), (-3.0, 5.0));
        assert_eq!(best_first(&scores), [3, 1, 0, 2]);
        assert!((scores[0] - scores[2] - 0.5).abs() < 1e-5, "{scores:?}");
    }

    #[test]
    fn where_all_that_was_read_is_alike_the_best_was_read_nevertheless() {
        let read = [None, Some(-15.0), Some(-15.0), None];
        assert_eq!(best_first(&behind(&read, &[3.0, 0.0, 0.0, 3.0])), [1, 2, 0, 3]);
        assert_eq!(best_first(&behind(&[None, Some(0.0)], &[0.0, 0.0])), [1, 0]);
    }
}
