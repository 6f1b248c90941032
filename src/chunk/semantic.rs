//! # semantic: where does a text go over to something else?
//!
//! ```text
//! (vectors of its sentences) → distances between neighbours → runs of sentences
//! ```
//!
//! The vectors come from outside: a model runs in ragd or behind a provider. What is done with
//! them needs none.
//!
//! A single sentence says little, so the distance at a boundary is that of the few sentences
//! before it from the few after it. A boundary is a cut where its distance is among the
//! greatest of the document. Runs that are longer than a chunk may be are cut once more, at
//! their greatest distance, and runs that are too short are joined with the neighbour that is
//! nearer.

use std::collections::VecDeque;
use std::ops::Range;

use super::method::{ChunkingMethod, CutPlan, Section};
use super::options::ChunkingOptions;
use super::token_index::TokenIndex;
use crate::error::{Error, ErrorKind, Result};
use crate::text::sentence::sentences;
use crate::vector::cosine;

/// Sentences on either side of a boundary that are compared.
const WINDOW: usize = 3;

/// Takes in the vectors of a document's sentences, in order, and keeps few of them.
#[derive(Debug, Default)]
pub struct Distances {
    /// Vectors of sentences whose boundaries are not done yet, and of those before them.
    near: VecDeque<Vec<f32>>,
    /// How many of the vectors in `near` come before the next boundary.
    before: usize,
    done: Vec<f32>,
}

impl Distances {
    /// Takes in the vector of the next sentence; all have the same length.
    pub fn push(&mut self, vector: Vec<f32>) {
        self.near.push_back(vector);
        if self.before == 0 {
            self.before = 1;
        } else if self.near.len() == self.before + WINDOW {
            self.measure();
        }
    }

    /// One distance for each boundary between two sentences, from 0, the same, to 2.
    #[must_use]
    pub fn finish(mut self) -> Vec<f32> {
        while self.near.len() > self.before {
            self.measure();
        }
        self.done
    }

    /// Measures at the next boundary.
    fn measure(&mut self) {
        let side = |range: Range<usize>| sum(self.near.range(range));
        let end = self.near.len().min(self.before + WINDOW);
        self.done.push(1.0 - cosine(&side(0..self.before), &side(self.before..end)) as f32);
        self.before += 1;
        if self.before > WINDOW {
            self.near.pop_front();
            self.before -= 1;
        }
    }
}

fn sum<'a>(vectors: impl Iterator<Item = &'a Vec<f32>>) -> Vec<f32> {
    let mut sum: Vec<f32> = Vec::new();
    for vector in vectors {
        sum.resize(vector.len().max(sum.len()), 0.0);
        sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += value);
    }
    sum
}

/// A section for each run of sentences that belong together; in it the places of `recursive`.
pub(super) fn plan(
    document: &str,
    distances: &[f32],
    index: &TokenIndex,
    options: &ChunkingOptions,
) -> Result<CutPlan> {
    let sentences = sentences(document);
    if sentences.len().saturating_sub(1) != distances.len() {
        let message =
            format!("{} distances between {} sentences", distances.len(), sentences.len());
        return Err(Error::new(ErrorKind::Internal, message));
    }
    let tokens: Vec<usize> = sentences.iter().map(|range| index.estimate(range)).collect();
    let bounds = Bounds {
        percentile: options.percentile(),
        fewest: options.min_tokens() as usize,
        most: options.max_tokens as usize,
    };
    let plan = ChunkingMethod::Recursive.plan(document, &options.settings);
    let starts = runs(&tokens, distances, &bounds);
    let ends = starts.iter().skip(1).map(|first| sentences[*first].start).chain([document.len()]);
    let begin =
        |(number, first): (usize, &usize)| if number == 0 { 0 } else { sentences[*first].start };
    let sections = starts.iter().enumerate().map(begin).zip(ends);
    let sections =
        sections.map(|(start, end)| Section { range: start..end, heading: None }).collect();
    Ok(CutPlan { sections, ..plan })
}

/// Which runs are wanted.
struct Bounds {
    /// Percent of the distances that are too small for a cut.
    percentile: u32,
    /// Fewest tokens of a run, if its neighbours leave room.
    fewest: usize,
    /// Most tokens of a run of several sentences.
    most: usize,
}

/// The first sentence of each run, in order. `tokens` are those of each sentence.
fn runs(tokens: &[usize], distances: &[f32], bounds: &Bounds) -> Vec<usize> {
    if tokens.is_empty() {
        return vec![0];
    }
    let threshold = percentile(distances, bounds.percentile);
    let far = |boundary: &usize| distances[boundary - 1] > threshold;
    let mut starts: Vec<usize> = vec![0];
    starts.extend((1..tokens.len()).filter(far));
    let starts = cut_long(&starts, tokens, distances, bounds);
    join_short(starts, tokens, distances, bounds)
}

/// The value below which `percent` of the values lie, between two of them where need be.
fn percentile(values: &[f32], percent: u32) -> f32 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f32::total_cmp);
    let place = (sorted.len().saturating_sub(1)) as f32 * percent as f32 / 100.0;
    let at = |place: usize| sorted.get(place).copied().unwrap_or(0.0);
    let low = at(place as usize);
    low + (at(place.ceil() as usize) - low) * place.fract()
}

/// Cuts runs of more tokens than a chunk may have, each at its greatest distance.
fn cut_long(starts: &[usize], tokens: &[usize], distances: &[f32], bounds: &Bounds) -> Vec<usize> {
    let mut sums = vec![0];
    sums.extend(tokens.iter().scan(0, |sum, tokens| {
        *sum += tokens;
        Some(*sum)
    }));
    let ends = starts.iter().skip(1).copied().chain([tokens.len()]);
    let mut waiting: Vec<Range<usize>> =
        starts.iter().copied().zip(ends).map(|(a, b)| a..b).collect();
    waiting.reverse();
    let mut found = Vec::new();
    while let Some(run) = waiting.pop() {
        if run.len() < 2 || sums[run.end] - sums[run.start] <= bounds.most {
            found.push(run.start);
            continue;
        }
        let cut = best_cut(&run, &sums, distances);
        waiting.push(cut..run.end);
        waiting.push(run.start..cut);
    }
    found
}

/// Where a run of two sentences or more is cut: at the greatest distance that leaves a quarter of
/// its tokens on either side, else in the middle. So runs get shorter soon, however long they are.
fn best_cut(run: &Range<usize>, sums: &[usize], distances: &[f32]) -> usize {
    let (first, last) = (sums[run.start], sums[run.end]);
    let quarter = (last - first) / 4;
    let from = sums.partition_point(|sum| *sum < first + quarter).max(run.start + 1);
    let to = sums.partition_point(|sum| *sum <= last - quarter).min(run.end);
    let greatest = (from..to).max_by(|a, b| distances[a - 1].total_cmp(&distances[b - 1]));
    greatest.unwrap_or_else(|| {
        let middle = sums.partition_point(|sum| *sum < first + 2 * quarter);
        middle.clamp(run.start + 1, run.end - 1)
    })
}

/// Joins runs of too few tokens with a neighbour, over the smallest distance first.
fn join_short(
    starts: Vec<usize>,
    tokens: &[usize],
    distances: &[f32],
    bounds: &Bounds,
) -> Vec<usize> {
    let end = |number: usize| starts.get(number + 1).copied().unwrap_or(tokens.len());
    let mut sums: Vec<usize> =
        (0..starts.len()).map(|number| tokens[starts[number]..end(number)].iter().sum()).collect();
    // Of joined runs the first and the last one know the other, and the tokens of all.
    let mut other: Vec<usize> = (0..starts.len()).collect();
    let mut is_joined = vec![false; starts.len()];
    let mut boundaries: Vec<usize> = (1..starts.len()).collect();
    boundaries.sort_by(|a, b| {
        distances[starts[*a] - 1].total_cmp(&distances[starts[*b] - 1]).then(a.cmp(b))
    });
    for right in boundaries {
        let left = right - 1;
        let is_short = sums[left].min(sums[right]) < bounds.fewest;
        let sum = sums[left] + sums[right];
        if is_short && sum <= bounds.most {
            let (first, last) = (other[left], other[right]);
            (other[first], other[last]) = (last, first);
            (sums[first], sums[last]) = (sum, sum);
            is_joined[right] = true;
        }
    }
    let kept = starts.iter().zip(is_joined).filter(|(_, is_joined)| !is_joined);
    kept.map(|(start, _)| *start).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Sentences of `tokens` with `distances` (in tenths) between them make runs that begin at
    /// `expected`.
    fn check(tokens: &[usize], distances: &[u8], bounds: (u32, usize, usize), expected: &[usize]) {
        let distances: Vec<f32> =
            distances.iter().map(|tenths| f32::from(*tenths) / 10.0).collect();
        let (percentile, fewest, most) = bounds;
        let found = runs(tokens, &distances, &Bounds { percentile, fewest, most });
        assert_eq!(found, expected, "runs of {tokens:?} with {distances:?}");
    }

    #[test]
    fn cuts_are_where_the_distance_is_great() {
        check(&[], &[], (90, 0, 100), &[0]);
        check(&[5], &[], (90, 0, 100), &[0]);
        check(&[5; 4], &[1, 9, 1], (90, 0, 100), &[0, 2]);
        check(&[5; 6], &[1, 8, 1, 9, 1], (60, 0, 100), &[0, 2, 4]);
        check(&[5; 4], &[3, 3, 3], (90, 0, 100), &[0]);
    }

    #[test]
    fn long_runs_are_cut_at_their_greatest_distance() {
        check(&[10; 6], &[1, 2, 1, 3, 1], (99, 0, 60), &[0, 4]);
        check(&[10; 6], &[1, 2, 1, 3, 1], (99, 0, 40), &[0, 4]);
        check(&[10; 6], &[1, 2, 1, 3, 1], (99, 0, 20), &[0, 2, 4]);
        check(&[100, 1, 1], &[0, 0], (99, 0, 50), &[0, 1]);
        check(&[100, 100], &[0], (99, 0, 50), &[0, 1]);
    }

    #[test]
    fn short_runs_are_joined_with_the_nearer_neighbour() {
        check(&[20, 2, 20], &[9, 8], (1, 5, 100), &[0, 1]);
        check(&[20, 2, 20], &[8, 9], (1, 5, 100), &[0, 2]);
        check(&[20, 2, 20], &[8, 9], (1, 5, 21), &[0, 1, 2]);
        check(&[2, 2, 2, 2], &[9, 8, 9], (1, 5, 100), &[0]);
    }

    #[test]
    fn distances_compare_neighbourhoods() {
        let measured = |vectors: &[[f32; 2]]| {
            let mut distances = Distances::default();
            vectors.iter().for_each(|vector| distances.push(vector.to_vec()));
            distances.finish()
        };
        assert!(measured(&[]).is_empty());
        assert!(measured(&[[1.0, 0.0]]).is_empty());
        assert_eq!(measured(&[[1.0, 0.0], [0.0, 1.0]]), [1.0]);
        let (a, b) = ([1.0, 0.0], [0.0, 1.0]);
        let found = measured(&[a, a, a, a, b, b, b, b]);
        let greatest = (0..found.len()).max_by(|x, y| found[*x].total_cmp(&found[*y]));
        assert_eq!((found.len(), greatest, found[0]), (7, Some(3), 0.0));
        assert_eq!(measured(&[[0.0, 0.0], a]), [1.0]);
    }

    proptest! {
        /// What is kept of the vectors is all that is needed.
        #[test]
        fn windows_are_those_of_the_whole(
            vectors in prop::collection::vec(prop::array::uniform3(-1.0_f32..1.0), 0..20),
        ) {
            let mut distances = Distances::default();
            for vector in &vectors {
                distances.push(vector.to_vec());
                prop_assert!(distances.near.len() <= 2 * WINDOW);
            }
            let found = distances.finish();
            let all: Vec<Vec<f32>> = vectors.iter().map(|vector| vector.to_vec()).collect();
            let plain: Vec<f32> = (1..all.len()).map(|at| {
                let before = sum(all[at.saturating_sub(WINDOW)..at].iter());
                let after = sum(all[at..(at + WINDOW).min(all.len())].iter());
                1.0 - cosine(&before, &after) as f32
            }).collect();
            prop_assert_eq!(found, plain);
        }

        #[test]
        fn runs_keep_their_bounds(
            sentences in prop::collection::vec((0_usize..50, 0.0_f32..1.0), 1..60),
            percentile in 1_u32..100, fewest in 0_usize..60, most in 20_usize..120,
        ) {
            let (tokens, distances): (Vec<usize>, Vec<f32>) = sentences.into_iter().unzip();
            let distances = &distances[1..];
            let starts = runs(&tokens, distances, &Bounds { percentile, fewest, most });
            prop_assert_eq!(starts[0], 0);
            prop_assert!(starts.windows(2).all(|pair| pair[0] < pair[1]));
            let ends = starts[1..].iter().copied().chain([tokens.len()]);
            let sums: Vec<usize> = starts.iter().zip(ends)
                .map(|(start, end)| {
                    let sum = tokens[*start..end].iter().sum();
                    assert!(sum <= most || end - start == 1);
                    sum
                })
                .collect();
            for pair in sums.windows(2) {
                prop_assert!(pair[0].min(pair[1]) >= fewest || pair[0] + pair[1] > most);
            }
        }
    }
}
