//! How many tokens has this text?
//!
//! ```text
//! (text, tokens that one tokenizer finds) → tokens that another one may find
//! ```
//!
//! A language model counts its context in tokens of its own. Where its tokenizer is at hand, it
//! counts; else another one does, and [`estimate`] leaves room for the difference.

use crate::error::Result;

/// Counts the tokens of texts, by a model's tokenizer or by an estimate.
pub trait Counter {
    /// The tokens of each text, in the order of `texts`.
    fn count(&mut self, texts: &[String]) -> Result<Vec<usize>>;
}

/// Longest run of characters without white space that a tokenizer takes apart. WordPiece makes
/// one unknown token of what is longer.
const LONGEST_WORD: usize = 100;

/// Bytes of a long run that make a token at least, as in Base64 or in scripts without spaces.
const BYTES_OF_RUN: usize = 3;

/// Bytes of other text that make a token at most.
const BYTES_OF_TEXT: usize = 6;

/// The tokens that some language model may find in `text`, where another tokenizer finds
/// `tokens`: a fifth more, and never fewer than its length makes likely.
#[must_use]
pub fn estimate(text: &str, tokens: usize) -> usize {
    let is_run = |word: &&str| word.chars().nth(LONGEST_WORD).is_some();
    let in_runs: usize = text.split_whitespace().filter(is_run).map(str::len).sum();
    let by_length = in_runs.div_ceil(BYTES_OF_RUN) + (text.len() - in_runs).div_ceil(BYTES_OF_TEXT);
    (tokens + tokens.div_ceil(5)).max(by_length)
}

/// With a counter for the tests of other files.
#[cfg(test)]
pub mod tests {
    use super::*;

    /// Counts words, and each line's end, as tokens.
    pub struct Words;

    impl Counter for Words {
        fn count(&mut self, texts: &[String]) -> Result<Vec<usize>> {
            Ok(texts.iter().map(|text| words(text)).collect())
        }
    }

    /// The tokens of `text`.
    pub fn words(text: &str) -> usize {
        text.split_whitespace().count() + text.matches('\n').count()
    }

    #[test]
    fn another_tokenizer_may_find_more() {
        assert_eq!(estimate("", 0), 0);
        assert_eq!(estimate("one two three four five", 5), 6);
        assert_eq!(estimate("one", 1), 2);
        // What WordPiece takes for one unknown word.
        assert_eq!(estimate(&"x".repeat(3000), 1), 1000);
        assert_eq!(estimate(&"x".repeat(100), 1), 17);
        // Scripts without spaces: a character has three bytes, and is a token to WordPiece.
        assert_eq!(estimate(&"水".repeat(1000), 1000), 1200);
    }
}
