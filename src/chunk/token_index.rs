//! Where do the tokens of a whole document begin?
//!
//! Asking the tokenizer about every candidate piece would tokenize the document many times
//! over. Here it is done once, and pieces are sized by looking token starts up. What the
//! index says of a piece is a good guess; what [`TokenIndex::count`] says is exact, and
//! costs little where the tokenizer promises that words do not depend on each other.

use std::ops::Range;

use super::Tokenizer;
use super::word_memo::{STRETCH, StartsAndSeams, WordMemo, is_separator};
use crate::error::Result;

/// The tokens of a document.
pub(super) struct TokenIndex {
    /// Byte offsets where tokens begin, not falling.
    starts: Vec<u32>,
    /// Places within a word where the document was cut to be tokenized in stretches.
    seams: Vec<usize>,
    /// Whether the tokenizer [splits at white space](Tokenizer::splits_at_white_space).
    is_local: bool,
}

impl TokenIndex {
    /// Tokenizes `text`, whose length fits into a `u32`.
    pub(super) fn new(text: &str, tokenizer: &dyn Tokenizer, memo: &mut WordMemo) -> Result<Self> {
        let is_local = tokenizer.splits_at_white_space();
        let (starts, seams) = match is_local {
            true => memo.starts(text, tokenizer)?,
            false => stretch_starts(text, tokenizer)?,
        };
        Ok(TokenIndex { starts, seams, is_local })
    }

    /// The farthest place up to which the text from `from` has at most `budget` tokens;
    /// `None`: to the end.
    pub(super) fn reach(&self, from: usize, budget: usize) -> Option<usize> {
        let first = self.first_at(from);
        let begins_token = self.starts.get(first).is_none_or(|&start| start as usize == from);
        // A cut within a token leaves a part of it, which counts.
        let part = usize::from(first > 0 && !begins_token);
        self.starts.get(first + budget - part).map(|&start| start as usize)
    }

    /// The place from which the text up to `to` has `count` tokens.
    pub(super) fn reach_back(&self, to: usize, count: usize) -> usize {
        let first = self.first_at(to);
        match first.checked_sub(count) {
            Some(token) => self.starts.get(token).map_or(to, |&start| start as usize),
            None => 0,
        }
    }

    /// About how many tokens begin in `range`.
    pub(super) fn estimate(&self, range: &Range<usize>) -> usize {
        self.first_at(range.end) - self.first_at(range.start)
    }

    /// How many tokens `piece` of `text` has alone.
    ///
    /// Where words do not depend on each other, only those are counted anew that `piece`
    /// has a part of.
    pub(super) fn count(
        &self,
        text: &str,
        piece: &Range<usize>,
        tokenizer: &dyn Tokenizer,
    ) -> Result<usize> {
        if !self.is_local || self.has_seam(piece) {
            return tokenizer.count_tokens(&text[piece.clone()]);
        }
        let whole = whole_words(text, piece);
        let mut count = self.first_at(whole.end) - self.first_at(whole.start);
        for part in [piece.start..whole.start, whole.end..piece.end] {
            if !part.is_empty() {
                count += tokenizer.count_tokens(&text[part])?;
            }
        }
        Ok(count)
    }

    /// Whether `range` has a seam inside.
    fn has_seam(&self, range: &Range<usize>) -> bool {
        let next = self.seams.partition_point(|&seam| seam <= range.start);
        self.seams.get(next).is_some_and(|&seam| seam < range.end)
    }

    /// Number of the first token that begins at `at` or later.
    fn first_at(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| (start as usize) < at)
    }
}

/// The part of `piece` from the first to the last word that is whole, with the white space
/// beside them.
fn whole_words(text: &str, piece: &Range<usize>) -> Range<usize> {
    let content = &text[piece.clone()];
    let begins_whole = text[..piece.start].chars().next_back().is_none_or(is_separator);
    let ends_whole = text[piece.end..].chars().next().is_none_or(is_separator);
    let start = match content.find(is_separator) {
        _ if begins_whole => piece.start,
        Some(at) => piece.start + at,
        None => piece.end,
    };
    let end = match content.char_indices().rfind(|(_, c)| is_separator(*c)) {
        _ if ends_whole => piece.end,
        Some((at, separator)) => piece.start + at + separator.len_utf8(),
        None => start,
    };
    start..end.max(start)
}

/// Token starts of `text` from tokenizing it stretch by stretch, and the places within words
/// where one stretch ends.
fn stretch_starts(text: &str, tokenizer: &dyn Tokenizer) -> Result<StartsAndSeams> {
    let (mut starts, mut seams) = (Vec::new(), Vec::new());
    let mut start = 0;
    while start < text.len() {
        let end = stretch_end(text, start);
        // Normalization may report tokens of one character out of order.
        let mut last = start;
        starts.extend(tokenizer.token_spans(&text[start..end])?.into_iter().map(|(at, _)| {
            last = last.max(start + at);
            last as u32
        }));
        if end < text.len() && !text[..end].ends_with(char::is_whitespace) {
            seams.push(end);
        }
        start = end;
    }
    Ok((starts, seams))
}

/// Where the stretch that begins at `start` ends: after a blank line, else after a newline,
/// else after white space, else anywhere.
fn stretch_end(text: &str, start: usize) -> usize {
    if text.len() - start <= STRETCH {
        return text.len();
    }
    let most = text.floor_char_boundary(start + STRETCH);
    let half = text.floor_char_boundary(start + STRETCH / 2);
    let tail = &text[half..most];
    let after = |at: usize, length: usize| half + at + length;
    let blank = tail.rfind("\n\n").map(|at| after(at, 2));
    let line = || tail.rfind('\n').map(|at| after(at, 1));
    let space = || {
        let (at, found) = tail.char_indices().rfind(|(_, c)| c.is_whitespace())?;
        Some(after(at, found.len_utf8()))
    };
    blank.or_else(line).or_else(space).unwrap_or(most)
}
