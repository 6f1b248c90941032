//! Which of the chunks found say something that better ones have not said?
//!
//! ```text
//! hits, best first → fewer hits, or in another order
//! ```
//!
//! Chunks are looked at from the best to the last, so a chunk is only ever left out for the
//! sake of a better one.

use std::collections::{HashMap, HashSet};

use super::Hit;
use super::fusion::normalized;
use super::options::{Likeness, Normalize};
use super::shingles::Shingles;
use crate::vector;

/// Leaves out what says the same as a better hit: the same text, white space and case aside,
/// or, with `least` below 1, one that is as like it as that. `look_up` is called for each hit.
#[must_use]
pub fn without_repeats(
    hits: Vec<Hit>,
    likeness: Likeness,
    least: f64,
    look_up: &dyn Fn(),
) -> Vec<Hit> {
    let shingles = |hit: &Hit| match likeness {
        Likeness::Cosine => Shingles::default(),
        Likeness::Shingles => Shingles::of(&hit.passage.content),
    };
    let mut texts = HashSet::new();
    let mut kept: Vec<(Hit, Shingles)> = Vec::new();
    for hit in hits {
        look_up();
        let is_new = texts.insert(plain(&hit.passage.content));
        let own = shingles(&hit);
        let like = |(other, its): &(Hit, Shingles)| match likeness {
            Likeness::Cosine => cosine(&hit, other),
            Likeness::Shingles => own.resemblance(its),
        };
        if is_new && !kept.iter().any(|it| least < 1.0 && like(it) >= least) {
            kept.push((hit, own));
        }
    }
    kept.into_iter().map(|(hit, _)| hit).collect()
}

/// A text without what does not change its meaning.
fn plain(text: &str) -> String {
    text.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// At most `most` hits of each source row.
#[must_use]
pub fn limited_by_source(hits: Vec<Hit>, most: u32) -> Vec<Hit> {
    let mut counts: HashMap<(Option<&str>, &str), u32> = HashMap::new();
    let mut kept = Vec::with_capacity(hits.len());
    for hit in &hits {
        let count = counts.entry(hit.passage.row()).or_default();
        *count += 1;
        kept.push(*count <= most);
    }
    hits.into_iter().zip(kept).filter_map(|(hit, is_kept)| is_kept.then_some(hit)).collect()
}

/// `k` hits by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): each time the
/// one with the greatest `lambda * relevance - (1 - lambda) * likeness`, where likeness is the
/// cosine similarity to the nearest hit taken before. Relevance is the score, from 0 to 1.
///
/// The scores stay what they are, so they no longer fall from one hit to the next. `look_up` is called for each hit.
#[must_use]
pub fn marginally_relevant(
    mut hits: Vec<Hit>,
    lambda: f64,
    k: usize,
    look_up: &dyn Fn(),
) -> Vec<Hit> {
    let scores = hits.iter().map(|hit| hit.passage.score).collect();
    let mut relevance = normalized(scores, Normalize::Minmax);
    let mut likeness = vec![0.0_f64; hits.len()];
    let mut taken = Vec::with_capacity(k.min(hits.len()));
    while taken.len() < k && !hits.is_empty() {
        look_up();
        let worth = |at: usize| lambda * relevance[at] - (1.0 - lambda) * likeness[at];
        let best =
            (1..hits.len()).fold(0, |best, at| if worth(at) > worth(best) { at } else { best });
        let hit = hits.remove(best);
        relevance.remove(best);
        likeness.remove(best);
        for (likeness, other) in likeness.iter_mut().zip(&hits) {
            *likeness = likeness.max(cosine(&hit, other));
        }
        taken.push(hit);
    }
    taken
}

/// 0 where a vector is not known or has no direction.
fn cosine(a: &Hit, b: &Hit) -> f64 {
    if a.vector.len() == b.vector.len() { vector::cosine(&a.vector, &b.vector) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::hit;
    use super::*;

    fn with(id: i64, score: f64, source: &str, text: &str, vector: &[f32]) -> Hit {
        let mut hit = hit(id, score);
        hit.passage.source_key = source.to_owned();
        hit.passage.content = text.to_owned();
        hit.vector = vector.to_vec();
        hit
    }

    fn ids(hits: &[Hit]) -> Vec<i64> {
        hits.iter().map(|hit| hit.passage.chunk_id).collect()
    }

    fn some() -> Vec<Hit> {
        vec![
            with(1, 0.9, "a", "Ink is black.", &[1.0, 0.0]),
            with(2, 0.8, "b", "ink  IS black.", &[0.0, 2.0]),
            with(3, 0.7, "a", "Black is the ink.", &[3.0, 0.1]),
            with(4, 0.1, "a", "Paper is white.", &[0.0, 1.0]),
        ]
    }

    #[test]
    fn repeats_are_left_out() {
        let told = |likeness, least| ids(&without_repeats(some(), likeness, least, &|| ()));
        assert_eq!(told(Likeness::Cosine, 1.0), [1, 3, 4]);
        assert_eq!(told(Likeness::Cosine, 0.95), [1, 4]);
        // Vectors that are not there are not like each other.
        let bare = some().into_iter().map(|hit| Hit { vector: Vec::new(), ..hit }).collect();
        assert_eq!(ids(&without_repeats(bare, Likeness::Cosine, 0.5, &|| ())), [1, 3, 4]);
    }

    #[test]
    fn copies_are_left_out() {
        let text = |id, text: &str| with(id, 1.0, "a", text, &[]);
        let hits = || {
            vec![
                text(1, "The mill by the river burned down in the winter of 1875."),
                text(2, "the mill by the river burned down, in the winter of 1875!"),
                text(3, "The mill by the river burned down in the winter of 1876."),
                text(4, "In the winter of 1875 the mill by the river burned down."),
            ]
        };
        let told = |least| ids(&without_repeats(hits(), Likeness::Shingles, least, &|| ()));
        // The second differs in punctuation alone, so its text is another.
        assert_eq!(told(1.0), [1, 2, 3, 4]);
        assert_eq!(told(0.95), [1, 3, 4]);
        assert_eq!(told(0.7), [1, 4]);
        assert_eq!(told(0.3), [1]);
    }

    #[test]
    fn a_source_has_its_share() {
        assert_eq!(ids(&limited_by_source(some(), 1)), [1, 2]);
        assert_eq!(ids(&limited_by_source(some(), 2)), [1, 2, 3]);
    }

    #[test]
    fn novelty_is_worth_what_lambda_says() {
        assert_eq!(ids(&marginally_relevant(some(), 1.0, 3, &|| ())), [1, 2, 3]);
        assert_eq!(ids(&marginally_relevant(some(), 0.6, 3, &|| ())), [1, 2, 3]);
        let tell = some().into_iter().filter(|hit| hit.passage.chunk_id != 2).collect();
        assert_eq!(ids(&marginally_relevant(tell, 0.3, 2, &|| ())), [1, 4]);
        assert!(marginally_relevant(Vec::new(), 0.5, 3, &|| ()).is_empty());
    }

    #[test]
    fn work_can_end_at_each_hit() {
        let looks = std::cell::Cell::new(0);
        let look_up = || looks.set(looks.get() + 1);
        assert_eq!(marginally_relevant(some(), 0.5, 3, &look_up).len(), 3);
        assert_eq!(looks.get(), 3);
        assert_eq!(without_repeats(some(), Likeness::Cosine, 1.0, &look_up).len(), 3);
        assert_eq!(looks.get(), 7);
    }

    /// The definition: everything is computed anew for each place.
    fn naive(hits: &[Hit], lambda: f64, k: usize) -> Vec<i64> {
        let scores: Vec<f64> = hits.iter().map(|hit| hit.passage.score).collect();
        let relevance = normalized(scores, Normalize::Minmax);
        let mut taken: Vec<usize> = Vec::new();
        while taken.len() < k.min(hits.len()) {
            let worth = |at: usize| {
                let near = taken.iter().map(|t| cosine(&hits[at], &hits[*t])).fold(0.0, f64::max);
                lambda * relevance[at] - (1.0 - lambda) * near
            };
            let mut rest = (0..hits.len()).filter(|at| !taken.contains(at));
            let first = rest.next().unwrap();
            taken
                .push(rest.fold(first, |best, at| if worth(at) > worth(best) { at } else { best }));
        }
        taken.into_iter().map(|at| hits[at].passage.chunk_id).collect()
    }

    proptest! {
        #[test]
        fn mmr_is_its_definition(
            vectors in prop::collection::vec((-5_i8..5, -5_i8..5, 0_u8..50), 0..12),
            lambda in 0.0_f64..1.0,
            k in 0_usize..12,
        ) {
            let mut hits: Vec<Hit> = (0..).zip(&vectors)
                .map(|(id, (x, y, score))| with(id, f64::from(*score), "s", "t", &[f32::from(*x), f32::from(*y)]))
                .collect();
            hits.sort_by(|a, b| b.passage.score.total_cmp(&a.passage.score));
            let slow = naive(&hits, lambda, k);
            prop_assert_eq!(ids(&marginally_relevant(hits, lambda, k, &|| ())), slow);
        }
    }
}
