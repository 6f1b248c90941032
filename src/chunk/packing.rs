//! How is each chunk filled?
//!
//! Greedily, from the front:
//!
//! ```text
//! while text is left:
//!     reach = the farthest place that max_tokens allow
//!     cut at the last place in reach of the largest unit that has one there
//!     count the tokens of what was cut off; while too many, shorten the reach
//! ```
//!
//! A unit that fits into a chunk is never cut. Where the next unit must be cut anyway, a
//! chunk that is not yet half full takes its first part.

use std::ops::Range;

use super::Tokenizer;
use super::cutting::{first_word_start, grapheme_ceil, grapheme_floor, last_word_start};
use super::method::{CutPlan, skip_white_space};
use super::options::ChunkingOptions;
use super::token_index::TokenIndex;
use crate::error::{Error, Result};
use crate::text::sentence::trimmed;

/// Most characters of a chunk for each token it may have.
///
/// WordPiece makes one "unknown" token of a word of more than 100 characters, be it
/// 10 MB long, and runs of white space have no token at all. Prose has 4 to 5 characters a
/// token, the longest words of a vocabulary about 16.
pub const CHARACTERS_PER_TOKEN: usize = 16;

/// How often a shorter overlap is tried when the first one has too many tokens.
const OVERLAP_ATTEMPTS: usize = 4;

/// A chunk in bytes.
pub(super) struct PackedChunk {
    /// Byte range in the document.
    pub range: Range<usize>,
    /// Tokens without special tokens.
    pub tokens: usize,
    /// Number of its section in the plan.
    pub section: usize,
}

/// Fills chunks with the pieces of a plan.
pub(super) struct Packer<'a> {
    // What is cut
    text: &'a str,
    plan: &'a CutPlan,
    // Measures
    tokenizer: &'a dyn Tokenizer,
    index: &'a TokenIndex,
    // Limits, in tokens without special tokens
    max_tokens: u32,
    budget: usize,
    overlap: usize,
}

impl<'a> Packer<'a> {
    /// A packer for `text`, whose tokens are in `index`; `options` are valid.
    pub(super) fn new(
        text: &'a str,
        plan: &'a CutPlan,
        index: &'a TokenIndex,
        options: &ChunkingOptions,
        tokenizer: &'a dyn Tokenizer,
    ) -> Self {
        let max_tokens = options.max_tokens;
        let budget = max_tokens as usize - tokenizer.special_tokens();
        // With more than half, a document would make many times its own length of chunks.
        let overlap = (options.overlap as usize).min(budget / 2);
        Packer { text, plan, tokenizer, index, max_tokens, budget, overlap }
    }

    /// All pieces, in order.
    pub(super) fn pack(&self) -> Result<Vec<PackedChunk>> {
        let mut pieces = Vec::new();
        for (number, section) in self.plan.sections.iter().enumerate() {
            self.pack_section(number, section.range.clone(), &mut pieces)?;
        }
        Ok(pieces)
    }

    /// Adds the pieces of one section.
    fn pack_section(
        &self,
        number: usize,
        range: Range<usize>,
        into: &mut Vec<PackedChunk>,
    ) -> Result<()> {
        let Some(range) = trimmed(self.text, range) else { return Ok(()) };
        let mut start = range.start;
        let mut fresh = range.start;
        loop {
            let (piece, tokens) = self.next_piece(start, fresh, range.end)?;
            into.push(PackedChunk { range: piece.clone(), tokens, section: number });
            if piece.end >= range.end {
                return Ok(());
            }
            fresh = skip_white_space(self.text, piece.end);
            start = self.overlap_start(&piece)?.unwrap_or(fresh);
        }
    }

    /// The piece that begins at `start` and holds text from `fresh` on, and its tokens.
    ///
    /// What is before `fresh` is overlap and given up if nothing new fits after it.
    fn next_piece(&self, start: usize, fresh: usize, end: usize) -> Result<(Range<usize>, usize)> {
        let mut reach = self.reach(start, end);
        let mut attempt = 0;
        while reach > fresh {
            let cut = self.cut(fresh, reach, end);
            let piece = start..start + self.text[start..cut].trim_end().len();
            let tokens = self.count(&piece)?;
            if tokens <= self.budget {
                return Ok((piece, tokens));
            }
            reach = self.shorter_reach(&piece, attempt)?;
            attempt += 1;
        }
        if start < fresh {
            return self.next_piece(fresh, fresh, end);
        }
        self.single_character(fresh)
    }

    /// The farthest place before `end` that a chunk from `start` on may hold.
    fn reach(&self, start: usize, end: usize) -> usize {
        let reach = self.index.reach(start, self.budget).map_or(end, |reach| reach.min(end));
        let reach = self.text.floor_char_boundary(reach);
        let longest = self.budget.saturating_mul(CHARACTERS_PER_TOKEN);
        if reach.saturating_sub(start) <= longest {
            return reach;
        }
        let characters = self.text[start..reach].char_indices();
        characters.take(longest + 1).nth(longest).map_or(reach, |(at, _)| start + at)
    }

    /// Where to cut after `fresh`, at `reach`, which is later, or before it.
    fn cut(&self, fresh: usize, reach: usize, end: usize) -> usize {
        if reach >= end {
            return end;
        }
        let mut unfilled = None;
        for depth in 0..self.plan.levels.len() {
            let Some(cut) = last_within(&self.plan.levels[depth], fresh, reach) else { continue };
            let is_filled = (cut - fresh) * 2 >= reach - fresh;
            if is_filled || self.next_unit_fits(depth, cut, end) {
                return cut;
            }
            unfilled = unfilled.max(Some(cut));
        }
        let word =
            self.plan.whole_words.then(|| last_word_start(self.text, fresh..reach)).flatten();
        unfilled.max(word).unwrap_or_else(|| grapheme_floor(self.text, fresh, reach))
    }

    /// Whether the unit at `depth` that begins at `start` fits into a chunk.
    fn next_unit_fits(&self, depth: usize, start: usize, end: usize) -> bool {
        let next =
            |level: &Vec<usize>| level.get(level.partition_point(|&at| at <= start)).copied();
        let unit_end = self.plan.levels[..=depth].iter().filter_map(next).fold(end, usize::min);
        self.reach(start, end) >= unit_end
    }

    /// The tokens of `piece` alone.
    fn count(&self, piece: &Range<usize>) -> Result<usize> {
        self.index.count(self.text, piece, self.tokenizer)
    }

    /// A reach that leaves something of `piece` away, which has too many tokens.
    ///
    /// The tokens of the piece itself say how much. As a shorter piece may have others at
    /// its end, more is left away each time; a reach of half and less each time makes sure
    /// that the end comes soon.
    fn shorter_reach(&self, piece: &Range<usize>, attempt: u32) -> Result<usize> {
        let spans = self.tokenizer.token_spans(&self.text[piece.clone()])?;
        let kept = match attempt {
            0 => self.budget,
            1 => self.budget - self.budget / 16 - 1,
            _ => self.budget >> attempt.min(31),
        };
        let by_tokens = spans.get(kept).map_or(piece.len(), |&(start, _)| start);
        let most = if attempt < 2 { piece.len() - 1 } else { piece.len() / 2 };
        Ok(self.text.floor_char_boundary(piece.start + by_tokens.min(most)))
    }

    /// The character at `start`, the smallest piece there is.
    fn single_character(&self, start: usize) -> Result<(Range<usize>, usize)> {
        let piece = start..grapheme_floor(self.text, start, start);
        let tokens = self.count(&piece)?;
        if tokens <= self.budget {
            return Ok((piece, tokens));
        }
        Err(Error::invalid(format!(
            "max_tokens {} is too small for the character \"{}\", which alone has {tokens} tokens \
             and {} special ones",
            self.max_tokens,
            self.text[piece].escape_debug(),
            self.tokenizer.special_tokens()
        )))
    }

    /// Where the piece after `last` begins so that it repeats the end of `last`; `None`: it
    /// repeats nothing.
    fn overlap_start(&self, last: &Range<usize>) -> Result<Option<usize>> {
        if self.overlap == 0 {
            return Ok(None);
        }
        // Pieces begin one after the other, so the whole of `last` is never repeated.
        let second = grapheme_floor(self.text, last.start, last.start);
        let longest = self.overlap * CHARACTERS_PER_TOKEN;
        let characters = self.text[last.clone()].char_indices();
        let farthest = characters.rev().nth(longest - 1).map_or(second, |(at, _)| last.start + at);
        let mut wanted = self.overlap;
        for _ in 0..OVERLAP_ATTEMPTS {
            let lowest = self.index.reach_back(last.end, wanted).max(second).max(farthest);
            let Some(start) = self.first_start(last, lowest) else { return Ok(None) };
            let tokens = self.count(&(start..last.end))?;
            if tokens <= self.overlap {
                return Ok(Some(start));
            }
            wanted = wanted.saturating_sub(tokens - self.overlap);
        }
        Ok(None)
    }

    /// The first place in `piece` at `lowest` or later that is good to begin at: a unit, else
    /// a word, else, if words may be cut, a token.
    fn first_start(&self, piece: &Range<usize>, lowest: usize) -> Option<usize> {
        if lowest >= piece.end {
            return None;
        }
        let lowest = self.text.ceil_char_boundary(lowest);
        let first =
            |level: &Vec<usize>| level.get(level.partition_point(|&at| at < lowest)).copied();
        let unit = self.plan.levels.iter().filter_map(first).min();
        // Markdown takes some white space, like U+000B, for text.
        let unit = unit.map(|at| skip_white_space(self.text, at)).filter(|&at| at < piece.end);
        if unit.is_some() {
            return unit;
        }
        if self.plan.whole_words {
            return first_word_start(self.text, lowest..piece.end);
        }
        grapheme_ceil(self.text, piece.clone(), lowest)
    }
}

/// The last of `places` after `from` and not after `to`.
fn last_within(places: &[usize], from: usize, to: usize) -> Option<usize> {
    let count = places.partition_point(|&at| at <= to);
    places[..count].last().copied().filter(|&at| at > from)
}
