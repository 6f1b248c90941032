//! How a document is to be cut, and which values make sense.

use serde::{Deserialize, Serialize};

use super::strategy::Strategy;
use crate::error::{Error, Result};

/// Smallest `max_tokens`: one character is up to 4 tokens in models that fall back to
/// bytes, and most models put 2 special tokens around a text.
pub const MIN_MAX_TOKENS: u32 = 8;

/// Largest `max_tokens`: longer than the input of any model.
pub const MAX_MAX_TOKENS: u32 = 1_000_000;

/// How a document is cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkOptions {
    /// Which places are good to cut at.
    pub strategy: Strategy,
    /// Upper bound of [`Chunk::token_count`](super::Chunk::token_count).
    pub max_tokens: u32,
    /// Tokens that a chunk repeats from the end of the one before it, at most; never more
    /// than half of a chunk is repeated.
    pub overlap: u32,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        ChunkOptions { strategy: Strategy::Recursive, max_tokens: 256, overlap: 0 }
    }
}

impl ChunkOptions {
    /// Options as SQL gives them.
    ///
    /// Fails for a strategy that is not known and for sizes that make no sense for any model.
    pub fn new(strategy: &str, max_tokens: i32, overlap: i32) -> Result<Self> {
        let count = |name: &str, value: i32| {
            u32::try_from(value)
                .map_err(|_| Error::invalid(format!("{name} must not be negative: {value}")))
        };
        let options = ChunkOptions {
            strategy: strategy.parse()?,
            max_tokens: count("max_tokens", max_tokens)?,
            overlap: count("overlap", overlap)?,
        };
        options.validate(0)?;
        Ok(options)
    }

    /// Checks the values for a model that puts `special_tokens` around a text.
    pub fn validate(&self, special_tokens: usize) -> Result<()> {
        let ChunkOptions { max_tokens, overlap, .. } = *self;
        if !(MIN_MAX_TOKENS..=MAX_MAX_TOKENS).contains(&max_tokens) {
            return Err(Error::invalid(format!(
                "max_tokens must be between {MIN_MAX_TOKENS} and {MAX_MAX_TOKENS}, not {max_tokens}"
            )));
        }
        if overlap >= max_tokens {
            return Err(Error::invalid(format!(
                "overlap must be less than max_tokens, not {overlap} with max_tokens {max_tokens}"
            ))
            .hint("An overlap of a tenth to a fifth of max_tokens is common."));
        }
        if max_tokens as usize <= special_tokens {
            return Err(Error::invalid(format!(
                "max_tokens must be more than the {special_tokens} special tokens of the model, \
                 not {max_tokens}"
            )));
        }
        Ok(())
    }
}
