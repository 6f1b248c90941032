//! How near do the sentences of the context come to a question or an answer?
//!
//! A figure that needs neither judgements nor a language model: a context none of whose sentences
//! resembles the question is rarely one that answers it. It measures with an embedding model, so it
//! favours what that model itself retrieves.

use crate::text::sentence::sentences;
use crate::vector::cosine;

/// Most sentences that are looked at in one context.
const MOST: usize = 400;

/// The sentences of the chunks, in their order, each once; pieces without letters or digits and
/// what is beyond 400 sentences are left out.
pub fn sentences_of<'a>(contents: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for content in contents {
        for range in sentences(content) {
            let sentence = &content[range];
            if sentence.chars().any(char::is_alphanumeric) && !found.contains(&sentence) {
                found.push(sentence);
            }
            if found.len() == MOST {
                return found;
            }
        }
    }
    found
}

/// The greatest cosine of any of `questions` and any of `sentences`; `None` if there are none.
pub fn best_similarity(questions: &[Vec<f32>], sentences: &[Vec<f32>]) -> Option<f64> {
    let pairs = questions.iter().flat_map(|a| sentences.iter().map(move |b| cosine(a, b)));
    pairs.max_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_come_once_and_in_order() {
        let chunks = ["One fish. Two fish.", "***\n\nTwo fish. Red fish."];
        assert_eq!(sentences_of(chunks), ["One fish.", "Two fish.", "Red fish."]);
    }

    #[test]
    fn the_best_pair_counts() {
        let check = |questions: &[Vec<f32>], expected: Option<f64>| {
            let found = best_similarity(questions, &[vec![2.0, 0.0], vec![0.0, 0.0]]);
            let equal = match (found, expected) {
                (Some(found), Some(expected)) => (found - expected).abs() < 1e-6,
                (found, expected) => found == expected,
            };
            assert!(equal, "{questions:?}: {found:?}, not {expected:?}");
        };
        check(&[vec![0.0, 1.0], vec![1.0, 1.0]], Some(0.5f64.sqrt()));
        check(&[], None);
    }
}
