//! # chunk: where may this text be cut?
//!
//! ```text
//! (document, method, max_tokens, overlap) → chunks with character spans
//! ```
//!
//! A [`ChunkingMethod`] lists the good places to cut, best first, and never looks at tokens.
//! The [`TokenIndex`](token_index::TokenIndex) knows where the tokens lie and never looks at
//! the text. The [`Packer`](packing::Packer) fills one chunk after the other up to the best
//! place in reach. What holds for every chunk of every method:
//!
//! * its content is the document from `start_char` to `end_char`, without white space at
//!   its ends, and no character that is not white space is outside all chunks;
//! * its `token_count` is what the tokenizer says about the content alone, plus the special
//!   tokens, and never more than `max_tokens`;
//! * it has at most [`CHARACTERS_PER_TOKEN`] characters for each token it may have, because
//!   some tokenizers make a single token of a word of any length;
//! * without overlap it begins where the one before it ended or later.
//!
//! The time is linear in the length of the document.

pub mod context;
mod json;
mod language;
mod method;
mod options;
pub mod semantic;

mod cutting;
mod hierarchy;
mod packing;
mod token_index;
mod word_memo;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use language::Language;
pub use method::{CHUNKING_METHODS, ChunkingMethod, CutPlan, FORM_FEED, MethodInfo};
pub use options::{ChunkingOptions, MAX_MAX_TOKENS, MIN_MAX_TOKENS, MethodSettings};
pub use packing::CHARACTERS_PER_TOKEN;
pub use word_memo::WordMemo;

use crate::error::{Error, ErrorKind, Result};
use crate::text::character_counter::CharacterCounter;
use packing::{PackedChunk, Packer};
use token_index::TokenIndex;

/// What stands between the headings of a path, and between the title of a document and that path.
pub const HEADING_SEPARATOR: &str = " > ";

/// One piece of a document, small enough for a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The text, an exact substring of the document.
    pub content: String,
    /// First character, counted in Unicode code points from 0.
    pub start_char: u32,
    /// One past the last character.
    pub end_char: u32,
    /// Tokens as the model sees them, special tokens included.
    pub token_count: u32,
    /// Path of the headings the chunk stands under, outermost first, with a [`HEADING_SEPARATOR`] between two.
    pub heading: Option<String>,
    /// First character, and one past the last, of the larger chunk it is a part of.
    pub parent: Option<(u32, u32)>,
}

/// What was found out about a document elsewhere, before it is cut.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Where it may be cut, of a method whose plan is made in a process of its own.
    pub plan: Option<CutPlan>,
    /// Between each two neighbouring sentences, how little they have to do with each other;
    /// for [`ChunkingMethod::Semantic`].
    pub distances: Option<Vec<f32>>,
}

/// How long a text is for a model, and where its tokens lie.
pub trait Tokenizer {
    /// Byte ranges of the tokens of `text`, in order, without special tokens.
    ///
    /// The whole text is meant, however long: no truncation, no padding.
    fn token_spans(&self, text: &str) -> Result<Vec<(usize, usize)>>;

    /// How many special tokens the model puts around a text.
    fn special_tokens(&self) -> usize;

    /// How many tokens `text` has, without special tokens.
    ///
    /// To be overridden where counting is cheaper than locating.
    fn count_tokens(&self, text: &str) -> Result<usize> {
        Ok(self.token_spans(text)?.len())
    }

    /// Whether a text has just the tokens of its words, each as if it were alone, and none
    /// contains white space.
    ///
    /// White space is what `char::is_whitespace` says but for U+000B, U+000C and U+0085.
    /// True of models that split at white space before anything else (BERT's WordPiece);
    /// not of those that make the space part of the word (SentencePiece, byte-level BPE).
    /// Where it is true, each different word is tokenized once, and chunks of whole words
    /// need not be counted: cutting is then several times faster than tokenizing.
    fn splits_at_white_space(&self) -> bool {
        false
    }
}

/// Cuts `document` into chunks, in order.
///
/// A document of nothing but white space has none. Fails if the options are out of range,
/// if the tokenizer fails, or if a single character has more tokens than a chunk may have.
pub fn chunk(
    document: &str,
    options: &ChunkingOptions,
    tokenizer: &dyn Tokenizer,
) -> Result<Vec<Chunk>> {
    chunk_remembering(document, options, tokenizer, &mut WordMemo::default())
}

/// [`chunk`] with the words that were met in other documents, for callers that cut many.
///
/// The chunks are the same; `memo` was used with no other tokenizer.
pub fn chunk_remembering(
    document: &str,
    options: &ChunkingOptions,
    tokenizer: &dyn Tokenizer,
    memo: &mut WordMemo,
) -> Result<Vec<Chunk>> {
    chunk_knowing(document, Findings::default(), options, tokenizer, memo)
}

/// [`chunk_remembering`] with what is known of the document already.
///
/// Fails, beside what [`chunk`] says, if the findings are not about this document.
pub fn chunk_knowing(
    document: &str,
    findings: Findings,
    options: &ChunkingOptions,
    tokenizer: &dyn Tokenizer,
    memo: &mut WordMemo,
) -> Result<Vec<Chunk>> {
    options.validate(tokenizer.special_tokens())?;
    if u32::try_from(document.len()).is_err() {
        let length = document.len();
        return Err(Error::new(
            ErrorKind::OutOfResources,
            format!("document of {length} bytes is too long to be cut"),
        ));
    }
    let index = TokenIndex::new(document, tokenizer, memo)?;
    let plan = match (findings.plan, findings.distances) {
        (Some(plan), _) => plan.checked(document)?,
        (None, Some(distances)) => semantic::plan(document, &distances, &index, options)?,
        (None, None) => options.base().plan(document, &options.settings),
    };
    let special_tokens = tokenizer.special_tokens();
    if options.by == ChunkingMethod::Hierarchical {
        return hierarchy::chunks(document, plan, &index, options, tokenizer);
    }
    let pieces = Packer::new(document, &plan, &index, options, tokenizer).pack()?;
    Ok(to_chunks(document, &plan, pieces, special_tokens))
}

/// Where `document` may be cut by `options`, which says nothing of tokens.
pub fn plan(document: &str, options: &ChunkingOptions) -> CutPlan {
    options.base().plan(document, &options.settings)
}

/// Where source code may be cut by its layout alone.
pub fn plan_by_layout(document: &str) -> CutPlan {
    method::plan_by_layout(document)
}

/// `pieces` with their text, and their places in characters.
fn to_chunks(
    document: &str,
    plan: &CutPlan,
    pieces: Vec<PackedChunk>,
    special_tokens: usize,
) -> Vec<Chunk> {
    let mut starts = CharacterCounter::new(document);
    let mut ends = CharacterCounter::new(document);
    let to_chunk = |PackedChunk { range, tokens, section }| Chunk {
        start_char: starts.count_to(range.start),
        end_char: ends.count_to(range.end),
        heading: plan.heading(section, &range),
        content: document[range].to_owned(),
        token_count: (tokens + special_tokens) as u32,
        parent: None,
    };
    pieces.into_iter().map(to_chunk).collect()
}
