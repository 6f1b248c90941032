//! From what both sides found to what is returned.
//!
//! ```text
//! hits after the fusion → threshold → recency → (rerank) → repeats → sources → the k best
//! ```
//!
//! Scores of different origin are mixed as shares of what was found: the least becomes 0 and
//! the greatest 1.

use super::Hit;
use super::diversity::{limited_by_source, marginally_relevant, without_repeats};
use super::fusion::normalized;
use super::options::{Normalize, Recency, RetrieveOptions};

/// What comes before the reranker: hits that are not near enough go, and age counts.
#[must_use]
pub fn before_rerank(mut hits: Vec<Hit>, options: &RetrieveOptions) -> Vec<Hit> {
    if let Some(least) = options.threshold {
        hits.retain(|hit| hit.passage.similarity.is_none_or(|similarity| similarity >= least));
    }
    if let Some(recency) = &options.recency {
        add_recency(&mut hits, recency);
    }
    hits
}

/// What comes after it: at most `k` hits, each of which says something new if that is asked for. Each hit may be compared with
/// all others, so `look_up` is called in between, which may end the work.
#[must_use]
pub fn after_rerank(
    mut hits: Vec<Hit>,
    options: &RetrieveOptions,
    k: usize,
    look_up: &dyn Fn(),
) -> Vec<Hit> {
    if let Some((likeness, least)) = options.dedupe() {
        hits = without_repeats(hits, likeness, least, look_up);
    }
    if let Some(most) = options.per_source {
        hits = limited_by_source(hits, most);
    }
    match options.mmr {
        Some(lambda) => marginally_relevant(hits, lambda, k, look_up),
        None => {
            hits.truncate(k);
            hits
        }
    }
}

/// Mixes the age into the scores. What has no time counts as infinitely old, what lies in the
/// future as new.
fn add_recency(hits: &mut [Hit], recency: &Recency) {
    let freshness =
        |hit: &Hit| hit.age.map_or(0.0, |age| (-age.max(0.0) / recency.half_life).exp2());
    let fresh: Vec<f64> = hits.iter().map(freshness).collect();
    mix(hits, &fresh, recency.weight);
}

/// Takes the reranker's scores of the first hits, one each: `weight` is their share in the new
/// order, and the rest is the score from before. Hits it has not read keep their order, behind
/// those it has.
///
/// With a weight of 1 the score is the reranker's own.
#[must_use]
pub fn reranked(mut hits: Vec<Hit>, scores: &[f64], weight: f64) -> Vec<Hit> {
    let mut rest = hits.split_off(scores.len().min(hits.len()));
    for (hit, score) in hits.iter_mut().zip(scores) {
        hit.passage.rerank_score = Some(*score);
    }
    if weight >= 1.0 {
        hits.iter_mut().zip(scores).for_each(|(hit, score)| hit.passage.score = *score);
        sort(&mut hits);
    } else {
        mix(&mut hits, &normalized(scores.to_vec(), Normalize::Minmax), weight);
    }
    sink(&mut rest, hits.last());
    hits.append(&mut rest);
    hits
}

/// Makes scores fall on from `last`, so that a caller that sorts by them again finds the same
/// order.
fn sink(rest: &mut [Hit], last: Option<&Hit>) {
    let Some(last) = last.map(|hit| hit.passage.score) else { return };
    for (place, hit) in (1..).zip(rest) {
        hit.passage.score = last - f64::from(place);
    }
}

fn mix(hits: &mut [Hit], other: &[f64], weight: f64) {
    let scores = hits.iter().map(|hit| hit.passage.score).collect();
    let own = normalized(scores, Normalize::Minmax);
    for ((hit, own), other) in hits.iter_mut().zip(own).zip(other) {
        hit.passage.score = (1.0 - weight) * own + weight * other;
    }
    sort(hits);
}

fn sort(hits: &mut [Hit]) {
    hits.sort_by(|a, b| b.passage.score.total_cmp(&a.passage.score));
}

#[cfg(test)]
mod tests {
    use super::super::tests::hit;
    use super::*;

    fn ids(hits: &[Hit]) -> Vec<i64> {
        hits.iter().map(|hit| hit.passage.chunk_id).collect()
    }

    fn scores(hits: &[Hit]) -> Vec<f64> {
        hits.iter().map(|hit| (hit.passage.score * 1e3).round() / 1e3).collect()
    }

    fn aged(id: i64, score: f64, age: Option<f64>) -> Hit {
        Hit { age, ..hit(id, score) }
    }

    #[test]
    fn what_is_not_near_enough_goes() {
        let near = |id, similarity| {
            let mut hit = hit(id, 1.0);
            hit.passage.similarity = similarity;
            hit
        };
        let hits = vec![near(1, Some(0.2)), near(2, Some(0.3)), near(3, None)];
        let options = RetrieveOptions { threshold: Some(0.3), ..Default::default() };
        assert_eq!(ids(&before_rerank(hits, &options)), [2, 3]);
    }

    #[test]
    fn age_counts() {
        let recency = |weight| Recency { column: "day".to_owned(), half_life: 10.0, weight };
        let of = |weight| {
            let hits = vec![
                aged(1, 3.0, None),
                aged(2, 2.0, Some(10.0)),
                aged(3, 1.0, Some(-5.0)),
                aged(4, 1.0, Some(20.0)),
            ];
            let options = RetrieveOptions { recency: Some(recency(weight)), ..Default::default() };
            before_rerank(hits, &options)
        };
        assert_eq!((ids(&of(0.0)), scores(&of(0.0))), (vec![1, 2, 3, 4], vec![1.0, 0.5, 0.0, 0.0]));
        assert_eq!(
            (ids(&of(1.0)), scores(&of(1.0))),
            (vec![3, 2, 4, 1], vec![1.0, 0.5, 0.25, 0.0])
        );
        assert_eq!(ids(&of(0.5)), [1, 2, 3, 4]);
    }

    #[test]
    fn the_reranker_has_its_share() {
        let hits = || vec![hit(1, 9.0), hit(2, 5.0), hit(3, 1.0), hit(4, 0.5)];
        let all = reranked(hits(), &[0.1, 0.3, 0.2], 1.0);
        assert_eq!((ids(&all), scores(&all)), (vec![2, 3, 1, 4], vec![0.3, 0.2, 0.1, -0.9]));
        assert_eq!(all[3].passage.rerank_score, None);
        let half = reranked(hits(), &[0.1, 0.3, 0.2], 0.5);
        assert_eq!((ids(&half), scores(&half)), (vec![2, 1, 3, 4], vec![0.75, 0.5, 0.25, -0.75]));
        assert_eq!(half[0].passage.rerank_score, Some(0.3));
        assert_eq!(ids(&reranked(hits(), &[0.1, 0.3, 0.2, 0.9], 0.0)), [1, 2, 3, 4]);
        assert!(reranked(Vec::new(), &[], 0.5).is_empty());
    }

    #[test]
    fn no_more_than_k() {
        let hits = || vec![hit(1, 3.0), hit(2, 2.0), hit(3, 1.0)];
        let options = |mmr, per_source| RetrieveOptions { mmr, per_source, ..Default::default() };
        assert_eq!(ids(&after_rerank(hits(), &options(None, None), 2, &|| ())), [1, 2]);
        assert_eq!(ids(&after_rerank(hits(), &options(Some(0.5), None), 2, &|| ())), [1, 2]);
        assert_eq!(ids(&after_rerank(hits(), &options(None, Some(1)), 2, &|| ())), [1]);
    }
}
