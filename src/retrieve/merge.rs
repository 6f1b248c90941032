//! What several lookups found becomes one list.
//!
//! ```text
//! one list a lookup, each best first → candidates, best first
//! ```
//!
//! Only places count: scores of different questions cannot be compared.

use std::collections::HashMap;

use super::fusion::Candidate;
use crate::rewrite::Merge;

/// The constant of the reciprocal places.
const K: f64 = 60.0;

/// What a place in the list of a second look is worth, beside one of the question's own.
const FEEDBACK: f64 = 0.5;

/// One list of several; one that is alone stays as it is.
///
/// A chunk keeps the best place that it has on either side.
#[must_use]
pub fn merged(mut lists: Vec<Vec<Candidate>>, merge: Merge) -> Vec<Candidate> {
    if lists.len() <= 1 {
        return lists.pop().unwrap_or_default();
    }
    let standings = standings(&lists, merge);
    let mut candidates: Vec<(Candidate, Standing)> = standings.into_values().collect();
    candidates.sort_by(|(a, of_a), (b, of_b)| {
        let by_sum = of_b.sum.total_cmp(&of_a.sum);
        let order = match merge {
            Merge::Reciprocal | Merge::Feedback => by_sum,
            Merge::Union => of_a.best.cmp(&of_b.best).then(by_sum),
            Merge::Shares => (of_a.best, of_a.list).cmp(&(of_b.best, of_b.list)),
        };
        order.then(a.chunk_id.cmp(&b.chunk_id))
    });
    let score = |standing: &Standing| match merge {
        Merge::Reciprocal | Merge::Feedback => standing.sum,
        Merge::Union | Merge::Shares => 1.0 / f64::from(standing.best),
    };
    let scored = |(mut candidate, standing): (Candidate, Standing)| {
        candidate.score = score(&standing);
        candidate
    };
    candidates.into_iter().map(scored).collect()
}

/// Where a chunk stands in the lists.
struct Standing {
    /// Its best place, from 1.
    best: u32,
    /// The first list in which it has this place.
    list: usize,
    /// The sum of the reciprocals of its places.
    sum: f64,
}

fn standings(lists: &[Vec<Candidate>], merge: Merge) -> HashMap<i64, (Candidate, Standing)> {
    let mut standings: HashMap<i64, (Candidate, Standing)> = HashMap::new();
    for (list, candidates) in lists.iter().enumerate() {
        let weight = if merge == Merge::Feedback && list > 0 { FEEDBACK } else { 1.0 };
        for (place, candidate) in (1..).zip(candidates) {
            let first = || (*candidate, Standing { best: place, list, sum: 0.0 });
            let (known, standing) = standings.entry(candidate.chunk_id).or_insert_with(first);
            known.dense_rank = least(known.dense_rank, candidate.dense_rank);
            known.lexical_rank = least(known.lexical_rank, candidate.lexical_rank);
            standing.sum += weight / (K + f64::from(place));
            if place < standing.best {
                (standing.best, standing.list) = (place, list);
            }
        }
    }
    standings
}

fn least(a: Option<i32>, b: Option<i32>) -> Option<i32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::RetrieveOptions;
    use super::super::fusion::{FusedCandidate, fuse};
    use super::super::proximity::ClosenessTexts;
    use super::super::proximity::tests::Plain;
    use super::*;

    fn list(ids: &[i64]) -> Vec<Candidate> {
        let found = |(place, id): (usize, &i64)| FusedCandidate {
            chunk_id: *id,
            similarity: Some(1.0 - place as f64 / 100.0),
            lexical: None,
        };
        let dense: Vec<FusedCandidate> = ids.iter().enumerate().map(found).collect();
        put_together(&dense, &[])
    }

    fn put_together(dense: &[FusedCandidate], lexical: &[FusedCandidate]) -> Vec<Candidate> {
        fuse(dense, lexical, &ClosenessTexts::<Plain>::default(), &RetrieveOptions::default())
    }

    fn check(lists: &[&[i64]], merge: Merge, expected: &[i64]) {
        let lists = lists.iter().map(|ids| list(ids)).collect();
        let merged = merged(lists, merge);
        let ids: Vec<i64> = merged.iter().map(|one| one.chunk_id).collect();
        assert_eq!(ids, expected, "{merge:?}");
        assert!(merged.is_sorted_by(|a, b| a.score >= b.score), "{merged:?}");
    }

    #[test]
    fn each_way_of_merging() {
        let lists: [&[i64]; 3] = [&[1, 2, 3], &[4, 3, 5], &[6, 3, 2]];
        // 3 is never first, but in all of them.
        check(&lists, Merge::Reciprocal, &[3, 2, 1, 4, 6, 5]);
        check(&lists, Merge::Union, &[1, 4, 6, 3, 2, 5]);
        check(&lists[..2], Merge::Feedback, &[3, 1, 2, 4, 5]);
        check(&lists, Merge::Shares, &[1, 4, 6, 2, 3, 5]);
    }

    #[test]
    fn one_list_stays_as_it_is() {
        let one = list(&[3, 1, 2]);
        for merge in [Merge::Union, Merge::Reciprocal, Merge::Feedback, Merge::Shares] {
            assert_eq!(merged(vec![one.clone()], merge), one);
            assert!(merged(Vec::new(), merge).is_empty());
            assert!(merged(vec![Vec::new(), Vec::new()], merge).is_empty());
        }
    }

    #[test]
    fn places_on_the_sides_are_the_best_ones() {
        let found =
            |chunk_id| FusedCandidate { chunk_id, similarity: Some(0.5), lexical: Some(1.0) };
        let one = put_together(&[found(1), found(2)], &[]);
        let two = put_together(&[found(2)], &[found(1), found(2)]);
        let merged = merged(vec![one, two], Merge::Reciprocal);
        let places = merged.iter().map(|it| (it.chunk_id, it.dense_rank, it.lexical_rank));
        let mut places: Vec<_> = places.collect();
        places.sort_unstable();
        assert_eq!(places, [(1, Some(1), Some(1)), (2, Some(1), Some(2))]);
    }

    proptest! {
        #[test]
        fn every_chunk_is_there_once(lists in prop::collection::vec(prop::collection::hash_set(0_i64..30, 0..10), 2..5)) {
            let mut wanted: Vec<i64> = lists.iter().flatten().copied().collect();
            wanted.sort_unstable();
            wanted.dedup();
            for merge in [Merge::Union, Merge::Reciprocal, Merge::Feedback, Merge::Shares] {
                let lists = lists.iter().map(|ids| list(&ids.iter().copied().collect::<Vec<_>>())).collect();
                let merged = merged(lists, merge);
                prop_assert!(merged.is_sorted_by(|a, b| a.score >= b.score));
                let mut ids: Vec<i64> = merged.iter().map(|one| one.chunk_id).collect();
                ids.sort_unstable();
                prop_assert_eq!(&ids, &wanted);
            }
        }
    }
}
