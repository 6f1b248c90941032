//! What a walk over the graph adds to what was found.
//!
//! ```text
//! candidates → chunks that a walk begins at;  (candidates, what a walk came to) → candidates, best first
//! ```
//!
//! A chunk's own score, as a share of what was found, stays as it is, and what a walk brings from elsewhere is added to it.
//! With the walk's own part counted too, and half of the score the walk's, what many chunks name gained so much that
//! questions for one passage lost (docs/graph.md).

use std::collections::HashMap;

use super::fusion::{Candidate, normalized};
use super::options::Normalize;

/// The best `most` of `candidates`, which are in order, and what each has of the best score: above 0, at most 1.
#[must_use]
pub fn seeds(candidates: &[Candidate], most: usize) -> Vec<(i64, f64)> {
    let shares = shares(candidates);
    let all = candidates.iter().zip(shares).take(most);
    all.map(|(one, share)| (one.chunk_id, share)).filter(|(_, share)| *share > 0.0).collect()
}

/// The candidates, and the chunks that a walk came to with their scores, as one list: to what a candidate has of the best
/// score, from 0 to 1, `weight` times the walk's score is added. Best first, and those of like score by age.
#[must_use]
pub fn with_walk(candidates: Vec<Candidate>, walked: &[(i64, f64)], weight: f64) -> Vec<Candidate> {
    if walked.is_empty() {
        return candidates;
    }
    let mut walked: HashMap<i64, f64> = walked.iter().copied().collect();
    let shares = shares(&candidates);
    let mut all = candidates;
    for (one, share) in all.iter_mut().zip(shares) {
        one.score = share + weight * walked.remove(&one.chunk_id).unwrap_or_default();
    }
    let new = walked.into_iter();
    all.extend(new.map(|(id, score)| Candidate::by_graph(id, weight * score)));
    all.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id)));
    all
}

/// Scores from 0, the least, to 1, the best; 1 of all where they are the same.
fn shares(candidates: &[Candidate]) -> Vec<f64> {
    let scores = candidates.iter().map(|one| one.score).collect();
    let shares = normalized(scores, Normalize::Minmax);
    match shares.iter().any(|share| *share > 0.0) {
        true => shares,
        false => vec![1.0; shares.len()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(scores: &[(i64, f64)]) -> Vec<Candidate> {
        scores.iter().map(|(id, score)| Candidate::by_graph(*id, *score)).collect()
    }

    fn shown(candidates: &[Candidate]) -> Vec<(i64, f64)> {
        candidates.iter().map(|one| (one.chunk_id, one.score)).collect()
    }

    #[test]
    fn a_walk_begins_at_the_best() {
        let found = candidates(&[(1, 3.0), (2, 2.0), (3, -1.0)]);
        assert_eq!(seeds(&found, 20), [(1, 1.0), (2, 0.75)]);
        assert_eq!(seeds(&found, 1), [(1, 1.0)]);
        assert_eq!(seeds(&candidates(&[(4, 0.2)]), 20), [(4, 1.0)]);
        assert!(seeds(&[], 20).is_empty());
    }

    #[test]
    fn what_a_walk_brings_is_added() {
        let found = || candidates(&[(1, 2.0), (2, 1.0), (3, 0.0)]);
        let walked = [(9, 0.25), (2, 0.125)];
        let once = shown(&with_walk(found(), &walked, 1.0));
        assert_eq!(once, [(1, 1.0), (2, 0.625), (9, 0.25), (3, 0.0)]);
        let none = shown(&with_walk(found(), &walked, 0.0));
        assert_eq!(none, [(1, 1.0), (2, 0.5), (3, 0.0), (9, 0.0)]);
        let most = shown(&with_walk(found(), &walked, 8.0));
        assert_eq!(most, [(9, 2.0), (2, 1.5), (1, 1.0), (3, 0.0)]);
    }

    #[test]
    fn without_a_walk_all_stays() {
        let found = candidates(&[(1, 2.0), (2, 1.0)]);
        assert_eq!(with_walk(found.clone(), &[], 0.5), found);
        assert_eq!(shown(&with_walk(Vec::new(), &[(5, 0.25)], 0.5)), [(5, 0.125)]);
    }
}
