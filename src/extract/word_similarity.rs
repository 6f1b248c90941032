//! # wordwise: what do the nearest words say about a piece?
//!
//! ```text
//! (candidates, nearest words) → six signals for each candidate that was read
//! ```
//!
//! All are means over words of the question of the cosine of the nearest word, and differ in
//! which words count and in whose words may be the nearest.

use super::candidates::{Candidates, UnitCandidate};
use super::similarity::Similarities;

/// Cosines that differ by less are equal: the same word in the same place.
const SAME: f32 = 1e-6;

/// What speaks for a candidate, word by word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Matches {
    /// By the words that ask, such as "who": what stands in the place of the answer is a bit like
    /// them.
    pub asking: f32,
    /// By the terms, cubed and weighed as in `overlap`: half a match is much less than half of the
    /// truth.
    pub terms: f32,
    /// By the terms as far as no word is spelled like them.
    pub unspelled: f32,
    /// By all words, cubed, with the nearest word anywhere in the passage.
    pub passage: f32,
    /// Part of the words whose nearest word in the passage is here.
    pub won: f32,
    /// What the candidate before it would add, of the terms.
    pub from_previous: f32,
}

/// The matches of each candidate, where it was read. A definition counts as if it held the nearest words of all pieces.
pub(super) fn matches(
    candidates: &Candidates,
    similarities: &Similarities,
    telling: &[f32],
) -> Vec<Option<Matches>> {
    let words = QuestionVectors::of(candidates, telling);
    let anywhere = nearest_of(&similarities.nearest);
    let mut matches = vec![None; candidates.all.len()];
    for range in &candidates.of_passage {
        let of_passage = &similarities.nearest[range.clone()];
        let Some(held) = nearest_of(of_passage) else { continue };
        let mut previous = None;
        for (own, index) in of_passage.iter().zip(range.clone()) {
            let candidate = &candidates.all[index];
            let of_unit = |own: &Vec<f32>| match &anywhere {
                Some(best) if candidate.definition.is_some() => {
                    words.matches(candidate, best, previous, best)
                }
                _ => words.matches(candidate, own, previous, &held),
            };
            matches[index] = own.as_ref().map(of_unit);
            previous = own.as_deref();
        }
    }
    matches
}

/// For each word of the question the nearest in any of the pieces; `None` if none was read.
pub(super) fn nearest_of(pieces: &[Option<Vec<f32>>]) -> Option<Vec<f32>> {
    let mut read = pieces.iter().flatten();
    let first = read.next()?.clone();
    Some(read.fold(first, |mut held, own| {
        held.iter_mut().zip(own).for_each(|(held, own)| *held = held.max(*own));
        held
    }))
}

/// What each word of the question is.
struct QuestionVectors {
    /// 1 for those that ask.
    asking: Vec<f32>,
    /// Which term it is.
    term: Vec<Option<usize>>,
    /// 1 for those that are terms.
    is_term: Vec<f32>,
    /// How much it counts as a term.
    telling: Vec<f32>,
}

impl QuestionVectors {
    fn of(candidates: &Candidates, telling: &[f32]) -> QuestionVectors {
        let question = candidates.question;
        let term = question.term_of.clone();
        QuestionVectors {
            asking: question.asks.iter().map(|asks| f32::from(*asks)).collect(),
            is_term: term.iter().map(|term| f32::from(term.is_some())).collect(),
            telling: term.iter().map(|term| term.map_or(0.0, |term| telling[term])).collect(),
            term,
        }
    }

    fn matches(
        &self,
        candidate: &UnitCandidate,
        own: &[f32],
        previous: Option<&[f32]>,
        held: &[f32],
    ) -> Matches {
        let missing = |term: &Option<usize>| term.map_or(0.0, |term| 1.0 - candidate.credits[term]);
        let missing: Vec<f32> = self.term.iter().map(missing).collect();
        let won = own.iter().zip(held).filter(|(own, held)| **own >= **held - SAME).count();
        Matches {
            asking: mean(&self.asking, own.iter().copied()),
            terms: mean(&self.telling, own.iter().map(|cosine| cosine.powi(3))),
            unspelled: part(&missing, own),
            passage: held.iter().map(|cosine| cosine.powi(3)).sum::<f32>() / held.len() as f32,
            won: won as f32 / own.len() as f32,
            from_previous: previous.map_or(0.0, |previous| {
                let gain = previous.iter().zip(own).map(|(before, own)| (before - own).max(0.0));
                mean(&self.is_term, gain)
            }),
        }
    }
}

/// The mean of `values` by `weights`; 0 where nothing weighs.
fn mean(weights: &[f32], values: impl Iterator<Item = f32>) -> f32 {
    let (mut sum, mut whole) = (0.0, 0.0);
    for (weight, value) in weights.iter().zip(values) {
        sum += weight * value;
        whole += weight;
    }
    if whole > 0.0 { sum / whole } else { 0.0 }
}

/// The mean of `cosines` by how much is missing, but at most twice their sum: where next to
/// nothing is missing there is next to nothing to find.
fn part(missing: &[f32], cosines: &[f32]) -> f32 {
    let sum: f32 = missing.iter().zip(cosines).map(|(missing, cosine)| missing * cosine).sum();
    sum / missing.iter().take(cosines.len()).sum::<f32>().max(0.5)
}
