//! Which texts go to a provider in one call?
//!
//! ```text
//! (texts, most of them) → ranges, one after the other
//! ```
//!
//! Providers limit the texts of a call and their tokens together, and ragd the length of an
//! answer. Tokens are estimated, since each provider has a tokenizer of its own: the limits
//! of a call are far enough apart for that. A text that is too long alone goes alone, and the
//! provider says what it thinks of it.

use std::ops::Range;

use super::call::MAX_BODY;

/// Most tokens of a call, as estimated.
const MOST_TOKENS: usize = 100_000;

/// Bytes of a number in JSON, at most: 17 digits, sign, exponent, and a line of its own.
const NUMBER: usize = 40;

/// Cuts `texts` into calls of at most `most` texts, whose answers have vectors of `dimension`
/// numbers.
pub fn batches(texts: &[String], dimension: Option<u32>, most: usize) -> Vec<Range<usize>> {
    let most = most_texts(dimension).clamp(1, most.max(1));
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut tokens = 0;
    for (index, text) in texts.iter().enumerate() {
        let more = estimate(text);
        match batches.last_mut() {
            Some(batch) if batch.len() < most && tokens + more <= MOST_TOKENS => {
                batch.end = index + 1;
                tokens += more;
            }
            _ => {
                batches.push(index..index + 1);
                tokens = more;
            }
        }
    }
    batches
}

/// As many texts as have vectors that fit into an answer.
fn most_texts(dimension: Option<u32>) -> usize {
    let bytes = dimension.map_or(1, |dimension| dimension as usize * NUMBER).max(1);
    MAX_BODY / bytes
}

/// Tokens of a text, rather too many: a token for three ASCII characters, and one for each
/// other character.
fn estimate(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let others = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(3) + others
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Most texts of a call in most protocols.
    const MOST: usize = 128;

    fn lengths(texts: &[String], dimension: Option<u32>) -> Vec<usize> {
        batches(texts, dimension, MOST).into_iter().map(|batch| batch.len()).collect()
    }

    fn texts(count: usize, length: usize) -> Vec<String> {
        vec!["x".repeat(length); count]
    }

    #[test]
    fn estimates_are_rather_high() {
        let check = |text: &str, tokens| assert_eq!(estimate(text), tokens, "{text}");
        check("", 0);
        check("a", 1);
        check("That is a happy person", 8);
        check("東京タワー", 5);
        check("né", 2);
    }

    #[test]
    fn calls_are_limited_in_texts_and_tokens() {
        assert_eq!(lengths(&[], None), [0; 0]);
        assert_eq!(lengths(&texts(300, 10), Some(384)), [128, 128, 44]);
        assert_eq!(lengths(&texts(5, 120_000), Some(384)), [2, 2, 1]);
        assert_eq!(lengths(&texts(2, 1_000_000), Some(384)), [1, 1]);
        assert_eq!(batches(&texts(5, 10), Some(384), 2), [0..2, 2..4, 4..5]);
    }

    #[test]
    fn long_vectors_make_small_calls() {
        assert_eq!(lengths(&texts(60, 10), Some(16_000)), [26, 26, 8]);
        assert_eq!(lengths(&texts(2, 10), Some(u32::MAX)), [1, 1]);
        assert_eq!(lengths(&texts(200, 10), Some(3072)), [128, 72]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn every_text_is_sent_once_and_in_order(
            lengths in prop::collection::vec(
                prop_oneof![9 => 0_usize..200, 1 => 50_000_usize..400_000],
                0..300,
            ),
            dimension in prop::option::of(1_u32..20_000),
        ) {
            let texts: Vec<String> = lengths.into_iter().map(|n| "y".repeat(n)).collect();
            let mut next = 0;
            for batch in batches(&texts, dimension, MOST) {
                prop_assert_eq!(batch.start, next);
                prop_assert!(!batch.is_empty() && batch.len() <= most_texts(dimension).clamp(1, MOST));
                let tokens: usize = texts[batch.clone()].iter().map(|text| estimate(text)).sum();
                prop_assert!(tokens <= MOST_TOKENS || batch.len() == 1);
                next = batch.end;
            }
            prop_assert_eq!(next, texts.len());
        }
    }
}
