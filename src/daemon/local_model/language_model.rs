//! What reads and writes, as the engine knows it.

use super::library::Token;
use crate::error::Result;
use crate::prompt::sampling::SamplingParameters;

/// What reads and writes.
pub trait LanguageModel {
    /// What chooses the tokens of a text.
    type Sampler;

    /// Tokens that a sequence can have.
    fn context_tokens(&self) -> usize;

    /// Most tokens of a batch.
    fn batch_tokens(&self) -> usize;

    /// The tokens of a prompt.
    fn tokenize(&self, prompt: &str) -> Result<Vec<Token>>;

    /// The bytes that a token stands for.
    fn piece(&self, token: Token) -> Vec<u8>;

    /// Whether a text ends with `token`.
    fn is_end(&self, token: Token) -> bool;

    /// What chooses the tokens of a text, as [`SamplingParameters`] say, by chance as `seed` has it, and only such as
    /// `grammar` allows.
    fn sampler(
        &self,
        how: &SamplingParameters,
        seed: u32,
        grammar: Option<&str>,
    ) -> Result<Self::Sampler>;

    /// Sends a batch through the model. `stops` is asked meanwhile whether nobody wants it any more; where the model
    /// cannot be stopped, it is not.
    fn decode(&mut self, tokens: &[BatchToken], stops: &(dyn Fn() -> bool + Sync)) -> Decoded;

    /// The token that follows the one at place `row` of the last batch, which was asked.
    fn sample(&mut self, row: usize, sampler: &mut Self::Sampler) -> Result<Token>;

    /// Takes what `sequence` has from position `from` on out of the cache. False if it can only be taken out as a whole.
    fn forget(&mut self, sequence: usize, from: usize) -> bool;

    /// Gives `to` what `from` has in the cache, in the place of what it had.
    fn copy(&mut self, from: usize, to: usize);

    /// Empties the cache.
    fn forget_all(&mut self);
}

/// A token of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchToken {
    /// The token.
    pub token: Token,
    /// Its place in its text, from 0.
    pub position: usize,
    /// The sequence of its text.
    pub sequence: usize,
    /// Whether the token after it is to be chosen.
    pub is_asked: bool,
}

/// What became of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// It is in the cache, and tokens can be chosen.
    Done,
    /// It was stopped. A part of it may be in the cache.
    Stopped,
    /// There was no room for it.
    NoRoom,
    /// The library has failed, with this code.
    Failed(i32),
}
