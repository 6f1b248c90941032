//! Pseudo-relevance feedback: what was found first says what to look for.
//!
//! ```text
//! (the question's vector, the first chunks: words and vectors) → words to add, a new vector
//! ```
//!
//! Words are chosen by the relevance model RM1 (Lavrenko and Croft, SIGIR 2001): the probability
//! that a word comes out of one of these chunks. Added to those of the question they make RM3
//! (Abdul-Jaleel et al., TREC 2004), where the question keeps its share by being looked up
//! itself, too. The vector moves towards those of the chunks, as Rocchio's does (1971), without a
//! negative part: what was not found is not known to be wrong.

use std::collections::{HashMap, HashSet};

/// Chunks that are taken, unless the options say otherwise.
pub const CHUNKS: u32 = 5;

/// Words that are added.
pub const TERMS: u32 = 8;

/// How many times a word of the question counts beside one of these.
pub const REPEAT: u32 = 3;

/// Share of the chunks in the vector.
pub const WEIGHT: f64 = 0.3;

/// A chunk that was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedbackChunk {
    /// Its words as they are indexed, and how often each is there.
    pub words: Vec<(String, u32)>,
    /// Its vector; empty where it is not needed.
    pub vector: Vec<f32>,
}

/// The `most` likeliest words of the chunks, best first, without those that are `known`.
///
/// The first chunk counts most: the n-th counts 1 / (1 + n). A word that only one of several
/// chunks has says something about that chunk and not about the question, and is left out.
#[must_use]
pub fn likely_words(seen: &[FeedbackChunk], known: &HashSet<String>, most: usize) -> Vec<String> {
    let mut likely: HashMap<&str, (f64, usize)> = HashMap::new();
    for (place, chunk) in (1..).zip(seen) {
        let length: u32 = chunk.words.iter().map(|(_, count)| count).sum();
        let weight = 1.0 / (1.0 + f64::from(place)) / f64::from(length.max(1));
        for (word, count) in &chunk.words {
            let (probability, chunks) = likely.entry(word).or_default();
            *probability += weight * f64::from(*count);
            *chunks += 1;
        }
    }
    let least = seen.len().min(2);
    let mut words: Vec<(&str, f64)> = likely
        .into_iter()
        .filter(|(word, (_, chunks))| {
            *chunks >= least && is_telling(word) && !known.contains(*word)
        })
        .map(|(word, (probability, _))| (word, probability))
        .collect();
    words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
    words.into_iter().take(most).map(|(word, _)| word.to_owned()).collect()
}

/// Whether a word by itself means anything.
fn is_telling(word: &str) -> bool {
    word.chars().count() > 2 && word.chars().any(char::is_alphabetic)
}

/// The question's vector moved towards those of the chunks: `weight` is their share. All count
/// with their directions alone.
#[must_use]
pub fn moved(question: &[f32], seen: &[FeedbackChunk], weight: f64) -> Vec<f32> {
    let mut sum = vec![0.0; question.len()];
    for chunk in seen.iter().filter(|chunk| chunk.vector.len() == question.len()) {
        add(&mut sum, &chunk.vector, 1.0);
    }
    let mut moved = vec![0.0; question.len()];
    add(&mut moved, question, 1.0 - weight);
    let sum: Vec<f32> = sum.iter().map(|value| *value as f32).collect();
    add(&mut moved, &sum, weight);
    let moved: Vec<f32> = moved.iter().map(|value| *value as f32).collect();
    // Nothing may be left of two opposite directions.
    if moved.iter().any(|value| *value != 0.0) { moved } else { question.to_vec() }
}

/// The mean direction of vectors of the same length.
#[must_use]
pub fn mean(vectors: &[Vec<f32>]) -> Vec<f32> {
    let mut sum = vec![0.0; vectors.first().map_or(0, Vec::len)];
    vectors.iter().for_each(|vector| add(&mut sum, vector, 1.0));
    sum.iter().map(|value| *value as f32).collect()
}

/// Adds the direction of a vector.
fn add(sum: &mut [f64], vector: &[f32], weight: f64) {
    let square: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
    let scale = if square > 0.0 { weight / square.sqrt() } else { 0.0 };
    sum.iter_mut().zip(vector).for_each(|(sum, value)| *sum += scale * f64::from(*value));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn chunk(words: &[(&str, u32)], vector: &[f32]) -> FeedbackChunk {
        let words = words.iter().map(|(word, count)| ((*word).to_owned(), *count)).collect();
        FeedbackChunk { words, vector: vector.to_vec() }
    }

    #[test]
    fn words_of_several_chunks_are_taken() {
        let seen = [
            chunk(&[("ink", 2), ("soot", 3), ("iron", 1), ("4711", 9), ("of", 9)], &[]),
            chunk(&[("soot", 1), ("iron", 4), ("gall", 5), ("4711", 9), ("of", 9)], &[]),
        ];
        let known = HashSet::from(["ink".to_owned()]);
        assert_eq!(likely_words(&seen, &known, 5), ["soot", "iron"]);
        assert_eq!(likely_words(&seen, &known, 1), ["soot"]);
        assert_eq!(likely_words(&seen[..1], &known, 5), ["soot", "iron"]);
        assert!(likely_words(&[], &known, 5).is_empty());
    }

    #[test]
    fn the_vector_moves_by_its_weight() {
        let seen = [chunk(&[], &[0.0, 5.0]), chunk(&[], &[0.0, 0.1]), chunk(&[], &[])];
        assert_eq!(moved(&[2.0, 0.0], &seen, 0.0), [1.0, 0.0]);
        assert_eq!(moved(&[2.0, 0.0], &seen, 1.0), [0.0, 1.0]);
        assert_eq!(moved(&[2.0, 0.0], &seen, 0.25), [0.75, 0.25]);
        assert_eq!(moved(&[2.0, 0.0], &[], 0.5), [0.5, 0.0]);
        assert_eq!(moved(&[1.0, 0.0], &[chunk(&[], &[-1.0, 0.0])], 0.5), [1.0, 0.0]);
        assert_eq!(mean(&[vec![2.0, 0.0], vec![0.0, 3.0]]), [1.0, 1.0]);
        assert!(mean(&[]).is_empty());
    }

    proptest! {
        #[test]
        fn a_moved_vector_is_a_vector(
            question in prop::collection::vec(-5.0_f32..5.0, 3),
            others in prop::collection::vec(prop::collection::vec(-5.0_f32..5.0, 0..4), 0..5),
            weight in 0.0_f64..1.0,
        ) {
            let seen: Vec<FeedbackChunk> = others.iter().map(|vector| chunk(&[], vector)).collect();
            let moved = moved(&question, &seen, weight);
            prop_assert_eq!(moved.len(), 3);
            prop_assert!(moved.iter().all(|value| value.is_finite()));
        }
    }
}
