//! Two lists become one.
//!
//! ```text
//! (nearest vectors, matching words) → candidates, best first
//! ```
//!
//! Places ignore how far apart two scores are: a chunk that holds the one rare name of the
//! question is a place better than the next, and no more. A weighted sum of normalised scores
//! keeps the distance, but lets a chunk that is mediocre on both sides pass the best of one.
//! The default adds both. nDCG@10 of SQuAD paragraphs and SciFact, by BM25 and
//! all-minilm-l6-v2, on the questions it was chosen by: places with k = 60 0.911 and 0.704, with k = 3
//! 0.920 and 0.742, weighted 0.941 and 0.735, both 0.940 and 0.749.
//!
//! The default also looks how the words stand in the texts ([`super::proximity`]). That is evidence
//! of words once more, so the vectors have more than half of the weighted sum: 0.7 of it, which is the best
//! of 0.6 to 0.9 on SciFact's questions for training (0.739) and nearly so on XQuAD (docs/retrieval.md).
//!
//! It matters that both scores are known of every candidate: where a chunk that the vectors
//! alone put forward had no text score, SciFact's figure was 0.726.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::options::{Fusion, Normalize, RetrieveOptions};
use super::proximity::CandidateTexts;

/// What a first place is worth in [`Fusion::Combined`] is 1 / (1 + 1 / this); a standard
/// deviation of the scores is worth 1.
const COMBINED_K: f64 = 3.0;

/// What a standard deviation of the share of words that stand together is worth beside the 1 of a
/// standard deviation of the scores.
const TOGETHER: f64 = 0.15;

/// What a standard deviation of the share of pairs of words is worth beside the 1 of a standard
/// deviation of the scores.
const PAIRS: f64 = 0.1;

/// What it is worth to be named by the best text.
const NAMED: f64 = 0.5;

/// A chunk that a side puts forward.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FusedCandidate {
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// Cosine similarity to the question, where the question was embedded; no number where the chunk's vector has no
    /// direction.
    pub similarity: Option<f64>,
    /// How well the words match, where that is known; greater is better.
    pub lexical: Option<f64>,
}

/// A chunk after the fusion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// The fused score; greater is better.
    pub score: f64,
    /// Place among the nearest vectors, from 1.
    pub dense_rank: Option<i32>,
    /// Place among the matching texts, from 1.
    pub lexical_rank: Option<i32>,
    /// How well the words match, where that is known; greater is better.
    pub lexical: Option<f64>,
    similarity: Option<f64>,
}

/// One list of two, each best first; best first, and those of like score by age.
///
/// Where one side found nothing or was not asked, the score is that of the other.
#[must_use]
pub fn fuse<T: CandidateTexts>(
    dense: &[FusedCandidate],
    lexical: &[FusedCandidate],
    texts: &T,
    options: &RetrieveOptions,
) -> Vec<Candidate> {
    let mut candidates = union(dense, lexical);
    let scores = match (dense, lexical, options.fusion()) {
        (_, [], _) => candidates.iter().map(|one| one.similarity.unwrap_or(0.0)).collect(),
        ([], _, _) => candidates.iter().map(|one| one.lexical.unwrap_or(0.0)).collect(),
        (_, _, Fusion::Rrf) => places(&candidates, f64::from(options.rrf_k())),
        (_, _, Fusion::Weighted) => weighted(&candidates, lexical, options),
        (_, _, Fusion::Combined) => combined(&candidates, lexical, texts, options),
    };
    candidates.iter_mut().zip(scores).for_each(|(one, score)| one.score = score);
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id)));
    candidates
}

/// Those of the nearest vectors that can be compared with the question's: nothing is near to a vector of zeros, which
/// has no direction, nor is it to anything.
#[must_use]
pub fn with_direction(mut nearest: Vec<FusedCandidate>) -> Vec<FusedCandidate> {
    nearest.retain(|found| found.similarity.is_some_and(f64::is_finite));
    nearest
}

/// The nearest `most` chunks of two lists, each of which is by similarity. A chunk counts where it
/// is nearest.
#[must_use]
pub fn nearest_of_both(
    own: Vec<FusedCandidate>,
    other: Vec<FusedCandidate>,
    most: usize,
) -> Vec<FusedCandidate> {
    let mut all = own;
    all.extend(other);
    let similarity = |found: &FusedCandidate| found.similarity.unwrap_or(f64::NEG_INFINITY);
    all.sort_by(|a, b| similarity(b).total_cmp(&similarity(a)).then(a.chunk_id.cmp(&b.chunk_id)));
    let mut seen = std::collections::HashSet::new();
    all.retain(|found| seen.insert(found.chunk_id));
    all.truncate(most);
    all
}

/// Scores that tell the order and no more, of candidates that are in order: 1, 1/2, 1/3 and so on.
///
/// A score of words alone would tell how frequent they are in texts that the caller does not see.
pub fn score_by_place(candidates: &mut [Candidate]) {
    (1..).zip(candidates).for_each(|(place, one)| one.score = 1.0 / f64::from(place));
}

/// Every chunk of both lists once, with what is known of it.
fn union(dense: &[FusedCandidate], lexical: &[FusedCandidate]) -> Vec<Candidate> {
    let mut candidates: Vec<Candidate> = Vec::with_capacity(dense.len() + lexical.len());
    let mut known = HashMap::with_capacity(dense.len());
    for (place, found) in (1..).zip(dense) {
        known.insert(found.chunk_id, candidates.len());
        candidates.push(Candidate { dense_rank: Some(place), ..Candidate::of(found) });
    }
    for (place, found) in (1..).zip(lexical) {
        let at = *known.entry(found.chunk_id).or_insert_with(|| {
            candidates.push(Candidate::of(found));
            candidates.len() - 1
        });
        candidates[at].lexical_rank = Some(place);
        candidates[at].lexical = found.lexical;
    }
    candidates
}

impl Candidate {
    /// A chunk that neither side put forward, but the graph did, with this score.
    #[must_use]
    pub fn by_graph(chunk_id: i64, score: f64) -> Candidate {
        let found = FusedCandidate { chunk_id, similarity: None, lexical: None };
        Candidate { score, ..Candidate::of(&found) }
    }

    fn of(found: &FusedCandidate) -> Candidate {
        Candidate {
            chunk_id: found.chunk_id,
            score: 0.0,
            dense_rank: None,
            lexical_rank: None,
            similarity: found.similarity.filter(|it| it.is_finite()),
            lexical: found.lexical,
        }
    }
}

/// The sum of the reciprocals of the places.
fn places(candidates: &[Candidate], k: f64) -> Vec<f64> {
    let part = |place: Option<i32>| place.map_or(0.0, |place| 1.0 / (k + f64::from(place)));
    candidates.iter().map(|one| part(one.dense_rank) + part(one.lexical_rank)).collect()
}

/// The weighted sum of the normalised scores.
fn weighted(
    candidates: &[Candidate],
    lexical: &[FusedCandidate],
    options: &RetrieveOptions,
) -> Vec<f64> {
    let floor = unknown(lexical, options);
    let cosines = candidates.iter().map(|one| one.similarity.unwrap_or(0.0));
    let words = candidates.iter().map(|one| one.lexical.unwrap_or(floor));
    let weight = options.dense_weight();
    let dense = normalized(cosines.collect(), options.normalize);
    let words = normalized(words.collect(), options.normalize);
    dense.iter().zip(words).map(|(dense, words)| weight * dense + (1.0 - weight) * words).collect()
}

/// What a chunk gets whose text score is not known: it is below the last of a full list, and
/// where the list is not full, no word of the question is in it.
fn unknown(lexical: &[FusedCandidate], options: &RetrieveOptions) -> f64 {
    let is_full = lexical.len() >= options.candidates as usize;
    let last = lexical.last().and_then(|found| found.lexical);
    if is_full { last.unwrap_or(0.0) / 2.0 } else { 0.0 }
}

/// Places and scores, how close the words of the question are, and what the best text names.
fn combined<T: CandidateTexts>(
    candidates: &[Candidate],
    lexical: &[FusedCandidate],
    texts: &T,
    options: &RetrieveOptions,
) -> Vec<f64> {
    let places = places(candidates, COMBINED_K);
    let mut scores = weighted(candidates, lexical, options);
    scores.iter_mut().zip(places).for_each(|(score, place)| *score += COMBINED_K * place);
    let closeness = options.closeness();
    let close: Vec<_> = candidates.iter().map(|one| texts.closeness(one.chunk_id)).collect();
    let together = normalized(close.iter().map(|it| it.together).collect(), options.normalize);
    let pairs = normalized(close.iter().map(|it| it.pairs).collect(), options.normalize);
    for (score, (together, pairs)) in scores.iter_mut().zip(together.iter().zip(pairs)) {
        *score += closeness * (TOGETHER * together + PAIRS * pairs);
    }
    raise_named(candidates, &mut scores, texts, closeness * NAMED);
    scores
}

/// What the best text names comes earlier by `worth`, but not before it.
fn raise_named<T: CandidateTexts>(
    candidates: &[Candidate],
    scores: &mut [f64],
    texts: &T,
    worth: f64,
) {
    let best = scores
        .iter()
        .zip(candidates)
        .max_by(|(a, one), (b, other)| a.total_cmp(b).then(other.chunk_id.cmp(&one.chunk_id)));
    let Some((most, best)) = best.map(|(score, one)| (score.next_down(), one.chunk_id)) else {
        return;
    };
    for (score, one) in scores.iter_mut().zip(candidates) {
        if *score < most && texts.names(best, one.chunk_id) {
            *score = (*score + worth).min(most);
        }
    }
}

/// Scores as they can be compared with those of another source. Scores that are all the same
/// say nothing, and become 0.
#[must_use]
pub fn normalized(mut values: Vec<f64>, how: Normalize) -> Vec<f64> {
    let (offset, scale) = match how {
        Normalize::Minmax => range(&values),
        Normalize::Zscore => moments(&values),
    };
    // What differs by rounding alone does not differ.
    let flat = scale <= 1e-12 * offset.abs().max(1e-12);
    let scale = if flat { 0.0 } else { 1.0 / scale };
    values.iter_mut().for_each(|value| *value = (*value - offset) * scale);
    values
}

/// The least value, and how far the greatest is from it.
fn range(values: &[f64]) -> (f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (least, most - least)
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::proximity::ClosenessTexts;
    use super::super::proximity::tests::{Plain, texts};
    use super::*;

    fn found(chunk_id: i64, similarity: f64, lexical: f64) -> FusedCandidate {
        FusedCandidate { chunk_id, similarity: Some(similarity), lexical: Some(lexical) }
    }

    /// The fusion where nothing is known of the texts.
    fn blind(
        dense: &[FusedCandidate],
        lexical: &[FusedCandidate],
        options: &RetrieveOptions,
    ) -> Vec<Candidate> {
        fuse(dense, lexical, &ClosenessTexts::<Plain>::default(), options)
    }

    fn ids(candidates: &[Candidate]) -> Vec<i64> {
        candidates.iter().map(|one| one.chunk_id).collect()
    }

    fn by(fusion: Fusion, normalize: Normalize, dense_weight: f64) -> RetrieveOptions {
        let dense_weight = Some(dense_weight);
        RetrieveOptions { fusion: Some(fusion), normalize, dense_weight, ..Default::default() }
    }

    #[test]
    fn one_side_alone_keeps_its_scores() {
        let default = RetrieveOptions::default();
        let dense = blind(&[found(7, 0.9, 0.0), found(3, 0.2, 0.0)], &[], &default);
        assert_eq!(ids(&dense), [7, 3]);
        assert_eq!(
            (dense[0].score, dense[0].dense_rank, dense[0].lexical_rank),
            (0.9, Some(1), None)
        );
        let lexical = blind(&[], &[found(5, 0.1, 12.5)], &default);
        assert_eq!((lexical[0].score, lexical[0].lexical_rank), (12.5, Some(1)));
        assert!(blind(&[], &[], &default).is_empty());
    }

    #[test]
    fn places_tell_the_order_and_no_more() {
        let default = RetrieveOptions::default();
        let mut fused = blind(&[], &[found(5, 0.1, 12.5), found(2, 0.1, 0.3)], &default);
        score_by_place(&mut fused);
        assert_eq!(ids(&fused), [5, 2]);
        assert_eq!((fused[0].score, fused[1].score), (1.0, 0.5));
    }

    #[test]
    fn a_chunk_counts_where_it_is_nearest() {
        let own = vec![found(1, 0.9, 1.0), found(2, 0.3, 2.0), found(3, 0.2, 3.0)];
        let other = vec![found(3, 0.95, 3.0), found(4, 0.5, 4.0), found(1, 0.1, 1.0)];
        let both = nearest_of_both(own.clone(), other, 3);
        assert_eq!(both, [found(3, 0.95, 3.0), found(1, 0.9, 1.0), found(4, 0.5, 4.0)]);
        assert_eq!(nearest_of_both(own.clone(), Vec::new(), 9), own);
    }

    #[test]
    fn a_vector_without_direction_is_near_to_nothing() {
        let zeros = found(9, f64::NAN, 5.0);
        let nearest = vec![found(1, 0.9, 9.0), found(2, -0.1, 1.0)];
        assert_eq!(with_direction([nearest.clone(), vec![zeros]].concat()), nearest);
        let lexical = [found(1, 0.9, 9.0), zeros, found(2, -0.1, 1.0)];
        for fusion in [Fusion::Rrf, Fusion::Weighted, Fusion::Combined] {
            for normalize in [Normalize::Minmax, Normalize::Zscore] {
                let fused = blind(&nearest, &lexical, &by(fusion, normalize, 0.7));
                assert_eq!(fused[0].chunk_id, 1);
                assert!(fused.iter().all(|one| one.score.is_finite()), "{fused:?}");
                let zeros = fused.iter().find(|one| one.chunk_id == 9).unwrap();
                assert_eq!((zeros.dense_rank, zeros.lexical_rank), (None, Some(2)));
            }
        }
    }

    #[test]
    fn a_text_far_ahead_stays_ahead() {
        // By places, 1 and 2 are even; by scores, 2 matches the words far better.
        let (one, two, three) = (found(1, 0.52, 2.0), found(2, 0.51, 20.0), found(3, 0.1, 0.0));
        let (dense, lexical) = ([one, two, three], [two, one]);
        for fusion in [Fusion::Weighted, Fusion::Combined] {
            let fused = blind(&dense, &lexical, &by(fusion, Normalize::Zscore, 0.5));
            assert_eq!(ids(&fused), [2, 1, 3]);
            assert_eq!((fused[0].dense_rank, fused[0].lexical_rank), (Some(2), Some(1)));
        }
        let fused = blind(&dense, &lexical, &by(Fusion::Rrf, Normalize::Zscore, 0.5));
        assert_eq!(ids(&fused), [1, 2, 3]);
        assert!((fused[0].score - (1.0 / 61.0 + 1.0 / 62.0)).abs() < 1e-12);
    }

    #[test]
    fn of_like_scores_the_closer_text_is_better() {
        let both = [found(1, 0.5, 5.0), found(2, 0.5, 5.0), found(3, 0.1, 1.0)];
        let turned = [both[1], both[0], both[2]];
        let texts = texts("iron ink", &["ink of soot - iron", "this is iron ink", "soot"]);
        let of = |fusion| {
            let options = by(fusion, Normalize::Zscore, 0.5);
            ids(&fuse(&both, &turned, &texts, &options))
        };
        assert_eq!(of(Fusion::Combined), [2, 1, 3]);
        assert_eq!((of(Fusion::Weighted), of(Fusion::Rrf)), (vec![1, 2, 3], vec![1, 2, 3]));
    }

    #[test]
    fn what_the_best_text_names_comes_earlier() {
        let both =
            [found(1, 0.9, 9.0), found(2, 0.5, 5.0), found(3, 0.49, 4.9), found(4, 0.1, 1.0)];
        let best = "ink was made in new york - long ago";
        let texts = texts("ink", &[best, "ink - old paper", "new york is a town - ink", "soot"]);
        let options = by(Fusion::Combined, Normalize::Zscore, 0.5);
        assert_eq!(ids(&blind(&both, &both, &options)), [1, 2, 3, 4]);
        assert_eq!(ids(&fuse(&both, &both, &texts, &options)), [1, 3, 2, 4]);
        let unclose = RetrieveOptions { closeness: Some(0.0), ..options.clone() };
        assert_eq!(ids(&fuse(&both, &both, &texts, &unclose)), [1, 2, 3, 4]);
        // But not before the best, however near it is.
        let even = [found(1, 0.9, 9.0), found(3, 0.89, 8.9), found(2, 0.2, 2.0)];
        assert_eq!(ids(&fuse(&even, &even, &texts, &options)), [1, 3, 2]);
    }

    #[test]
    fn an_unknown_text_score_is_below_a_full_list() {
        let unknown_score = |candidates| {
            let options = RetrieveOptions { candidates, ..Default::default() };
            unknown(&[found(1, 0.0, 9.0), found(2, 0.0, 4.0)], &options)
        };
        assert_eq!((unknown_score(2), unknown_score(3)), (2.0, 0.0));
    }

    #[test]
    fn equal_scores_say_nothing() {
        for how in [Normalize::Minmax, Normalize::Zscore] {
            assert_eq!(normalized(vec![3.0, 3.0], how), [0.0, 0.0]);
            assert!(normalized(Vec::new(), how).is_empty());
        }
        assert_eq!(normalized(vec![1.0, 3.0], Normalize::Minmax), [0.0, 1.0]);
        assert_eq!(normalized(vec![1.0, 3.0], Normalize::Zscore), [-1.0, 1.0]);
    }

    /// The definitions, each chunk looked for in both lists.
    struct Naive<'a> {
        dense: &'a [FusedCandidate],
        lexical: &'a [FusedCandidate],
        options: &'a RetrieveOptions,
    }

    impl Naive<'_> {
        fn ids(&self) -> Vec<i64> {
            let both = self.dense.iter().chain(self.lexical);
            both.map(|found| found.chunk_id)
                .collect::<std::collections::BTreeSet<_>>()
                .into_iter()
                .collect()
        }

        fn of(&self, id: i64, what: fn(&FusedCandidate) -> Option<f64>) -> f64 {
            let mut both = self.dense.iter().chain(self.lexical);
            what(both.find(|found| found.chunk_id == id).unwrap()).unwrap()
        }

        fn share(&self, id: i64, what: fn(&FusedCandidate) -> Option<f64>) -> f64 {
            let values: Vec<f64> = self.ids().iter().map(|id| self.of(*id, what)).collect();
            let least = values.iter().copied().fold(f64::MAX, f64::min);
            let most = values.iter().copied().fold(f64::MIN, f64::max);
            if most - least < 1e-9 { 0.0 } else { (self.of(id, what) - least) / (most - least) }
        }

        fn places(&self, id: i64, k: f64) -> f64 {
            let place =
                |list: &[FusedCandidate]| list.iter().position(|found| found.chunk_id == id);
            let both = [self.dense, self.lexical].into_iter().filter_map(place);
            both.map(|at| 1.0 / (k + 1.0 + at as f64)).sum()
        }

        fn score(&self, id: i64) -> f64 {
            let weight = self.options.dense_weight();
            let weighted = weight * self.share(id, |found| found.similarity)
                + (1.0 - weight) * self.share(id, |found| found.lexical);
            match self.options.fusion() {
                Fusion::Rrf => self.places(id, f64::from(self.options.rrf_k())),
                Fusion::Weighted => weighted,
                Fusion::Combined => weighted + 3.0 * self.places(id, 3.0),
            }
        }

        fn fuse(&self) -> Vec<f64> {
            let mut scores: Vec<f64> = self.ids().iter().map(|id| self.score(*id)).collect();
            scores.sort_by(|a, b| b.total_cmp(a));
            scores
        }
    }

    /// Two lists over few chunks, so that they overlap; a chunk's scores are the same in both.
    fn lists() -> impl Strategy<Value = (Vec<FusedCandidate>, Vec<FusedCandidate>)> {
        let scores = prop::collection::vec((0_u8..100, 1_u8..100), 12);
        let side = || prop::collection::btree_set(0_usize..12, 1..12);
        (scores, side(), side()).prop_map(|(scores, dense, lexical)| {
            let of =
                |id: &usize| found(*id as i64, f64::from(scores[*id].0), f64::from(scores[*id].1));
            let mut dense: Vec<FusedCandidate> = dense.iter().map(of).collect();
            let mut lexical: Vec<FusedCandidate> = lexical.iter().map(of).collect();
            dense.sort_by(|a, b| b.similarity.partial_cmp(&a.similarity).unwrap());
            lexical.sort_by(|a, b| b.lexical.partial_cmp(&a.lexical).unwrap());
            (dense, lexical)
        })
    }

    proptest! {
        #[test]
        fn the_fusion_is_its_definition(
            (dense, lexical) in lists(),
            weight in 0.0_f64..1.0,
            fusion in prop::sample::select(vec![Fusion::Rrf, Fusion::Weighted, Fusion::Combined]),
        ) {
            let options = by(fusion, Normalize::Minmax, weight);
            let fast = blind(&dense, &lexical, &options);
            let naive = Naive { dense: &dense, lexical: &lexical, options: &options };
            let slow = naive.fuse();
            prop_assert_eq!(fast.len(), slow.len());
            for (fast, slow) in fast.iter().zip(slow) {
                prop_assert!((fast.score - slow).abs() < 1e-9, "{:?} is not {}", fast, slow);
                prop_assert!((naive.score(fast.chunk_id) - fast.score).abs() < 1e-9);
            }
        }
    }
}
