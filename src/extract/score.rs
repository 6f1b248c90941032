//! # score: which piece holds the answer?
//!
//! ```text
//! (candidates, similarities) → a score each, whose differences are log odds
//! ```
//!
//! The first look is a sum of eleven signals. What the model has read word by word is scored
//! anew: by eight of them and six of [`word_similarity`](super::word_similarity). The weights are those of a
//! conditional logit model ("which of these sentences holds the answer?"), fitted to one half
//! of the questions of a reading-comprehension set; docs/answers.md has what the other half gave.
//!
//! What was tried and dropped, because it moved nothing: ranks and fused scores of the
//! retrieval, position in the passage, length, similarity of the neighbours, embedding a
//! sentence with the one before it, embedding the question without its question word, and
//! document frequencies: terms weigh alike over a passage, and within the candidates the
//! terms that stand in most of them tell least.

use std::cmp::Ordering;

use super::candidates::{Candidates, UnitCandidate};
use super::similarity::Similarities;
use super::word_similarity::{Matches, matches};

/// What speaks for a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Signals {
    /// Cosine with the question.
    pub similarity: f32,
    /// The best of that in its passage: a good neighbour vouches for the whole passage.
    pub best_similarity: f32,
    /// The passage's cosine with the question.
    pub passage_similarity: f32,
    /// Part of the terms that the passage holds.
    pub coverage: f32,
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
    /// The weighted sum of all signals.
    pub fn score(&self) -> f32 {
        5.3 * self.similarity
            + 6.57 * self.best_similarity
            + 7.61 * self.passage_similarity
            + 1.34 * self.coverage
            + 5.42 * self.overlap
            + 3.23 * self.about
            + 3.89 * self.from_previous
            + 2.04 * self.from_next
            + 0.87 * self.closeness
            + 0.77 * self.fit
            - 1.07 * self.misfit
    }

    /// The sum with what the words say, weighed. What stands in the question word by word has been
    /// counted by then: the similarity of the whole counts against a piece that only resembles it.
    pub fn score_with(&self, matches: &Matches) -> f32 {
        7.13 * self.passage_similarity - 1.76 * self.similarity
            + 5.81 * self.best_similarity
            + 4.11 * self.about
            + 1.39 * self.from_previous
            + 1.35 * self.from_next
            + 0.35 * self.fit
            - 0.84 * self.misfit
            + 3.19 * matches.asking
            + 6.56 * matches.terms
            + 2.4 * matches.unspelled
            + 9.1 * matches.passage
            + 1.73 * matches.won
            + 2.48 * matches.from_previous
    }
}

/// The score of each candidate.
///
/// Those whose words were compared with the question's are scored anew. The others, less promising
/// already, stand behind them.
pub(super) fn scores(candidates: &Candidates, similarities: &Similarities) -> Vec<f32> {
    let signals = signals(candidates, similarities);
    let telling = Weights::of(candidates).telling;
    let matches = matches(candidates, similarities, &telling);
    let score = |(signals, matches): (&Signals, &Option<Matches>)| {
        matches.as_ref().map(|matches| signals.score_with(matches))
    };
    let read: Vec<Option<f32>> = signals.iter().zip(&matches).map(score).collect();
    let unread: Vec<f32> = signals.iter().map(Signals::score).collect();
    behind(&read, &unread)
}

/// The scores of what was read, and below the least of them, as far apart as they were, those of
/// what was not.
fn behind(read: &[Option<f32>], unread: &[f32]) -> Vec<f32> {
    let Some(least) = read.iter().flatten().copied().reduce(f32::min) else {
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
pub(super) fn signals(candidates: &Candidates, similarities: &Similarities) -> Vec<Signals> {
    let weights = Weights::of(candidates);
    let indexes = 0..candidates.all.len();
    let mut signals: Vec<Signals> =
        indexes.map(|index| weights.signals(candidates, similarities, index)).collect();
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
        similarities: &Similarities,
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
                .unwrap_or_else(|| guess(passage_similarity, held, overlap)),
            best_similarity: 0.0,
            passage_similarity,
            coverage: share(&self.alike, of_passage),
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

/// A candidate's likely cosine with the question, for those that are not embedded.
fn guess(passage_similarity: f32, held: f32, overlap: f32) -> f32 {
    0.035 + 0.549 * passage_similarity + 0.57 * held - 0.213 * overlap
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
