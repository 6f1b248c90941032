//! What several pipelines found becomes one list.
//!
//! ```text
//! one list a pipeline, each best first → passages, best first
//! ```
//!
//! Scores of different pipelines do not compare: each is a share of what its own search has found. So the
//! passages are measured anew, all by the same measure: the scores of the reranker, if one has read all of
//! them, or else what the [`fusion`](super::fusion) makes of their similarities, by one model, and of their
//! words. A pipeline knows more of its own passages than that (how the words stand, their age, its options),
//! so each list keeps its order, and the new measure says how far the lists reach into each other.

use std::collections::HashMap;

use super::fusion::{FusedCandidate, fuse, score_by_place};
use super::proximity::{CandidateTexts, Closeness};
use super::{Passage, RetrieveOptions};

/// What one pipeline has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FederatedList {
    /// The passages, best first.
    pub passages: Vec<Passage>,
    /// The first so many have a similarity that compares with those of the other lists, or none has.
    pub compared: usize,
}

/// The best `k` of all lists, each of which keeps its order; a list that is alone stays as it is.
///
/// `by_reranker` says that the reranker's scores of all lists compare. What is not measured in a list comes
/// behind all that is, from each list in turn.
#[must_use]
pub fn federated(lists: Vec<FederatedList>, by_reranker: bool, k: usize) -> Vec<Passage> {
    let mut lists: Vec<FederatedList> =
        lists.into_iter().filter(|list| !list.passages.is_empty()).collect();
    let mut all = match lists.len() {
        0 | 1 => lists.pop().map(|list| list.passages).unwrap_or_default(),
        _ => merged(&lists, by_reranker),
    };
    all.truncate(k);
    (1..).zip(all).map(|(rank, passage)| Passage { rank, ..passage }).collect()
}

fn merged(lists: &[FederatedList], by_reranker: bool) -> Vec<Passage> {
    let measured = if by_reranker { grades(lists) } else { evidence(lists) };
    let mut places: Vec<(f64, usize, usize)> = Vec::new();
    for (list, values) in measured.iter().enumerate() {
        let falling = (0..).zip(falling(values));
        places.extend(falling.map(|(place, value)| (value, place, list)));
    }
    places.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let last = places.last().map_or(0.0, |(value, ..)| *value);
    let mut rest: Vec<(usize, usize)> = Vec::new();
    for (list, (FederatedList { passages, .. }, values)) in lists.iter().zip(&measured).enumerate()
    {
        rest.extend((values.len()..passages.len()).map(|place| (place, list)));
    }
    rest.sort_unstable();
    let sunk =
        (1..).zip(rest).map(|(behind, (place, list))| (last - f64::from(behind), place, list));
    let scored = places.into_iter().chain(sunk);
    scored
        .map(|(score, place, list)| Passage { score, ..lists[list].passages[place].clone() })
        .collect()
}

/// The reranker's scores of what it has read in each list.
fn grades(lists: &[FederatedList]) -> Vec<Vec<f64>> {
    let read =
        |list: &FederatedList| list.passages.iter().map_while(|it| it.rerank_score).collect();
    lists.iter().map(read).collect()
}

/// Where nothing is known of the texts.
struct NoTexts;

impl CandidateTexts for NoTexts {
    fn closeness(&self, _: i64) -> Closeness {
        Closeness::default()
    }

    fn names(&self, _: i64, _: i64) -> bool {
        false
    }
}

/// What the fusion makes of the passages of all lists, as if one search had found them.
///
/// Their words count only where they were scored by the index in every list.
fn evidence(lists: &[FederatedList]) -> Vec<Vec<f64>> {
    let has_words = |list: &FederatedList| list.passages.iter().any(|it| it.lexical.is_some());
    let with_words = lists.iter().all(has_words);
    let compared = |list: &FederatedList| list.compared.min(list.passages.len());
    let passages = lists.iter().flat_map(|list| &list.passages[..compared(list)]);
    let found = |(chunk_id, passage): (i64, &Passage)| FusedCandidate {
        chunk_id,
        similarity: passage.similarity,
        lexical: passage.lexical.filter(|_| with_words),
    };
    let pool: Vec<FusedCandidate> = (0..).zip(passages).map(found).collect();
    let scores = scores(&pool);
    let Some(least) = scores.values().copied().reduce(f64::min) else {
        return vec![Vec::new(); lists.len()];
    };
    let mut number = 0..;
    let mut next = || number.next().and_then(|number| scores.get(&number)).copied();
    let mut values =
        |list: &FederatedList| (0..compared(list)).map(|_| next().unwrap_or(least)).collect();
    lists.iter().map(&mut values).collect()
}

fn scores(pool: &[FusedCandidate]) -> HashMap<i64, f64> {
    let dense = best_first(pool, |it| it.similarity);
    let lexical = best_first(pool, |it| it.lexical.filter(|score| *score > 0.0));
    let mut fused = fuse(&dense, &lexical, &NoTexts, &RetrieveOptions::default());
    if dense.is_empty() {
        // Scores of words alone would tell how frequent these are in texts that the caller does not see.
        score_by_place(&mut fused);
    }
    fused.into_iter().map(|one| (one.chunk_id, one.score)).collect()
}

fn best_first(
    pool: &[FusedCandidate],
    score: impl Fn(&FusedCandidate) -> Option<f64>,
) -> Vec<FusedCandidate> {
    let mut side: Vec<(f64, FusedCandidate)> =
        pool.iter().filter_map(|one| Some((score(one)?, *one))).collect();
    side.sort_by(|a, b| b.0.total_cmp(&a.0));
    side.into_iter().map(|(_, one)| one).collect()
}

/// The falling sequence that is nearest to `values` by least squares: neighbours that rise have their mean
/// (pool adjacent violators, Ayer et al. 1955).
fn falling(values: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<(f64, u32)> = Vec::with_capacity(values.len());
    for value in values {
        let (mut mean, mut count) = (*value, 1);
        while let Some((before, number)) = blocks.last().copied()
            && before < mean
        {
            blocks.pop();
            let all = f64::from(number) + f64::from(count);
            mean = (before * f64::from(number) + mean * f64::from(count)) / all;
            count += number;
        }
        blocks.push((mean, count));
    }
    blocks.into_iter().flat_map(|(mean, count)| (0..count).map(move |_| mean)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::hit;
    use super::*;

    fn passage(chunk_id: i64, similarity: Option<f64>, lexical: Option<f64>) -> Passage {
        Passage { similarity, lexical, ..hit(chunk_id, 1.0).passage }
    }

    fn list(passages: Vec<Passage>) -> FederatedList {
        FederatedList { compared: passages.len(), passages }
    }

    fn dense(found: &[(i64, f64)]) -> FederatedList {
        list(found.iter().map(|(id, similarity)| passage(*id, Some(*similarity), None)).collect())
    }

    fn check(lists: &[FederatedList], by_reranker: bool, expected: &[i64]) {
        let found = federated(lists.to_vec(), by_reranker, 10);
        let ids: Vec<i64> = found.iter().map(|it| it.chunk_id).collect();
        assert_eq!(ids, expected);
        assert!(found.is_sorted_by(|a, b| a.score >= b.score && a.rank + 1 == b.rank), "{found:?}");
    }

    #[test]
    fn a_list_that_is_alone_stays_as_it_is() {
        let alone = dense(&[(3, 0.2), (1, 0.9)]);
        let found = federated(vec![FederatedList::default(), alone.clone()], false, 10);
        let rank = (1..).zip(alone.passages).map(|(rank, it)| Passage { rank, ..it });
        assert_eq!(found, rank.collect::<Vec<_>>());
        assert!(federated(Vec::new(), true, 10).is_empty());
    }

    #[test]
    fn what_speaks_of_the_question_comes_first_whichever_pipeline_has_it() {
        check(
            &[dense(&[(1, 0.3), (2, 0.2)]), dense(&[(11, 0.8), (12, 0.7)]), dense(&[(21, 0.25)])],
            false,
            &[11, 12, 1, 21, 2],
        );
    }

    #[test]
    fn the_one_text_with_the_word_is_not_lost_among_others() {
        let words = list(vec![passage(1, Some(0.3), Some(9.0)), passage(2, Some(0.2), Some(0.5))]);
        let near = [(11, 0.4), (12, 0.38), (13, 0.35), (14, 0.34)];
        let near = near.map(|(id, similarity)| passage(id, Some(similarity), Some(0.1)));
        let found = federated(vec![list(near.to_vec()), words], false, 2);
        assert!(found.iter().any(|it| it.chunk_id == 1), "{found:?}");
    }

    #[test]
    fn words_that_are_not_scored_everywhere_do_not_count() {
        let scored = list(vec![passage(1, Some(0.3), Some(9.0))]);
        check(&[scored, dense(&[(11, 0.4)])], false, &[11, 1]);
    }

    #[test]
    fn words_alone_are_compared_and_tell_places_only() {
        let of = |id, score| passage(id, None, Some(score));
        let lists = [list(vec![of(1, 2.0), of(2, 1.0)]), list(vec![of(11, 7.0)])];
        check(&lists, false, &[11, 1, 2]);
        assert_eq!(federated(lists.to_vec(), false, 1)[0].score, 1.0);
    }

    #[test]
    fn a_reranker_that_has_read_all_decides() {
        let read = |id, score: Option<f64>| Passage {
            rerank_score: score,
            ..passage(id, Some(0.5), None)
        };
        let lists = [
            list(vec![read(1, Some(0.4)), read(2, None)]),
            list(vec![read(11, Some(0.9)), read(12, Some(0.1)), read(13, None)]),
        ];
        check(&lists, true, &[11, 1, 12, 2, 13]);
    }

    #[test]
    fn what_does_not_compare_comes_last_from_each_list_in_turn() {
        let mut lists =
            [dense(&[(1, 0.3), (2, 0.9), (3, 0.9)]), dense(&[(11, 0.8), (12, 0.2), (13, 0.1)])];
        lists.iter_mut().for_each(|list| list.compared = 1);
        check(&lists, false, &[11, 1, 2, 12, 3, 13]);
    }

    #[test]
    fn neighbours_that_rise_have_their_mean() {
        assert_eq!(falling(&[3.0, 1.0, 2.0, 0.0]), [3.0, 1.5, 1.5, 0.0]);
        assert_eq!(falling(&[1.0, 2.0, 3.0]), [2.0, 2.0, 2.0]);
        assert!(falling(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn each_list_keeps_its_order_and_loses_nothing(
            lists in prop::collection::vec(
                prop::collection::vec((-1.0..1.0, prop::option::of(0.0..20.0)), 0..6), 1..5),
            by_reranker: bool,
        ) {
            let lists: Vec<FederatedList> = (0..).zip(lists).map(|(list_no, found)| {
                let numbered = (0..).zip(found);
                list(numbered.map(|(no, (similarity, lexical))| Passage {
                    rerank_score: lexical,
                    ..passage(list_no * 100 + no, Some(similarity), lexical)
                }).collect())
            }).collect();
            let found = federated(lists.clone(), by_reranker, 100);
            prop_assert_eq!(found.len(), lists.iter().map(|list| list.passages.len()).sum::<usize>());
            prop_assert!(lists.iter().filter(|list| !list.passages.is_empty()).count() < 2
                || found.is_sorted_by(|a, b| a.score >= b.score));
            for (list_no, list) in (0..).zip(&lists) {
                let own = found.iter().map(|it| it.chunk_id).filter(|id| id / 100 == list_no);
                prop_assert!(own.eq(list.passages.iter().map(|it| it.chunk_id)));
            }
        }
    }
}
