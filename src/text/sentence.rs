//! # sentence: where does a sentence end?
//!
//! ```text
//! text → byte ranges of its sentences, in order
//! ```
//!
//! The rules of UAX #29 know terminators, quotes and brackets of every script, but no
//! abbreviations and no layout. So four steps:
//!
//! 1. Lines are grouped into blocks. A blank line, a heading, a list item, a table row or a
//!    fence ends a block; a single newline within a paragraph does not.
//! 2. UAX #29 cuts each block ([`bounds`]). It takes a small letter, also behind a number, for a sentence that goes on and knows
//!    no sign of Greek and of Thai, so cuts are added ([`beginning`], [`phrase_gap`]).
//! 3. Cuts that [`abbreviation`](super::abbreviation) knows to be no ends are taken back, and so are those in short brackets.
//! 4. Brackets and quotes that the rules leave on the wrong side go where they belong ([`bracket`]).

mod beginning;
mod bounds;
mod bracket;
mod phrase_gap;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use beginning::{cuts_before_small_letters, cuts_behind_greek_questions};
use bounds::cuts;
use bracket::{
    emphasis_end, ends_in_bracket, goes_on_behind_guillemet, guillemet_end, moved_past_brackets,
    short_brackets,
};
use phrase_gap::cuts_between_phrases;

use super::abbreviation::is_end;
use super::line::{Line, LineKind, lines};
use super::script::is_greek;

/// After so many bytes a line that goes on is looked at anew, so that the caller may stop.
const LONGEST_WINDOW: usize = 1 << 16;

/// How polite questions of Japanese end that have no question mark. The particle alone also ends words ("明らか") and
/// doubts ("だろうか").
const POLITE_QUESTIONS: &[&str] = &["ですか", "ますか", "ましたか", "ませんか"];

/// Byte ranges of the sentences of `text`, in order.
///
/// They cover the text but for white space, which no range begins or ends with.
/// Text that has no sentences (a heading, a list item, a table row) counts as one each.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    sentences_interruptibly(text, &mut || {})
}

/// Byte ranges of the sentences of `text`, in order, as [`sentences`] gives them. `interrupt` is
/// called every 64 KiB and for each paragraph, and may unwind.
pub fn sentences_interruptibly(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let caseless = is_caseless(text);
    for block in blocks(text, interrupt) {
        let from = block.start;
        cut_block((&text[block], from), caseless, &mut found, interrupt);
    }
    found
}

/// Whether a sentence asks something, by the sign at its end. That of Greek is, or looks like, a semicolon, and polite
/// questions of Japanese have a particle before a full stop.
pub fn is_question(sentence: &str) -> bool {
    let asks = |it: &str| POLITE_QUESTIONS.iter().any(|end| it.ends_with(end));
    sentence.ends_with(['?', '？', '؟', '\u{037E}'])
        || sentence.strip_suffix(';').is_some_and(|it| it.ends_with(is_greek))
        || sentence.strip_suffix('。').is_some_and(asks)
}

/// The part of `range` that is left without white space at both ends; `None` if nothing is.
pub(crate) fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let piece = &text[range.clone()];
    let rest = piece.trim_start();
    let start = range.start + (piece.len() - rest.len());
    let end = start + rest.trim_end().len();
    (start < end).then_some(start..end)
}

/// Whether the author (or a preprocessing step) wrote without capitals.
///
/// There a full stop before a small letter is an end, which it is not in other texts.
fn is_caseless(text: &str) -> bool {
    let mut upper = 0usize;
    let mut lower = 0usize;
    for (at, byte) in text.bytes().enumerate() {
        upper += usize::from(byte.is_ascii_uppercase());
        lower += usize::from(byte.is_ascii_lowercase());
        // Ordinary prose shows within a few lines that it has capitals.
        if at % 4096 == 4095 && upper * 100 > lower {
            return false;
        }
    }
    lower > 0 && upper * 500 < lower
}

/// Byte ranges of runs of lines within which sentences may go on from line to line.
fn blocks(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut open = false;
    for Line { range, kind } in lines(text) {
        interrupt();
        match kind {
            LineKind::Blank => open = false,
            LineKind::Text if open => {
                if let Some(block) = blocks.last_mut() {
                    block.end = range.end;
                }
            }
            LineKind::Text | LineKind::Item => {
                blocks.push(range);
                open = true;
            }
            LineKind::Alone => {
                blocks.push(range);
                open = false;
            }
        }
    }
    blocks
}

/// Adds the sentences of a block, which starts at a byte `offset` of the text.
fn cut_block(
    (block, offset): (&str, usize),
    caseless: bool,
    found: &mut Vec<Range<usize>>,
    interrupt: &mut dyn FnMut(),
) {
    let flat = flatten(block, caseless);
    let brackets = short_brackets(&flat);
    let mut start = 0;
    for cut in proposed(block, &flat, interrupt) {
        let Some(end) = moved_past_brackets(&flat, start, cut) else { continue };
        let cut = end + emphasis_end(&flat[start..end], &flat[end..]);
        let closed = cut + guillemet_end(&flat, cut);
        let said = if closed > cut { start..closed } else { start..end };
        let goes_on = || {
            ends_in_bracket(&flat, &brackets, start..cut)
                || closed > cut && goes_on_behind_guillemet(&flat[closed..])
                || !is_end(&flat[said.clone()], &flat[closed..], caseless)
        };
        if closed < block.len() && goes_on() {
            continue;
        }
        if let Some(sentence) = trimmed(block, start..closed) {
            found.push(offset + sentence.start..offset + sentence.end);
        }
        start = closed;
    }
    if let Some(sentence) = trimmed(block, start..block.len()) {
        found.push(offset + sentence.start..offset + sentence.end);
    }
}

/// Where sentences of a block may end, which is `line` on one line, in order.
fn proposed(block: &str, line: &str, interrupt: &mut dyn FnMut()) -> Vec<usize> {
    let mut all = cuts(line, LONGEST_WINDOW, interrupt);
    all.extend(cuts_before_small_letters(line));
    all.extend(cuts_behind_greek_questions(line));
    all.extend(cuts_between_phrases(block, line));
    all.sort_unstable();
    all
}

/// `block` as one line, with capitals where it has none; byte offsets stay the same.
fn flatten(block: &str, caseless: bool) -> Cow<'_, str> {
    let has_newline = block.bytes().any(|byte| byte == b'\n' || byte == b'\r');
    let mut flat = Cow::Borrowed(block);
    if has_newline {
        flat = Cow::Owned(block.replace(['\n', '\r'], " "));
    }
    if caseless {
        flat = Cow::Owned(flat.to_ascii_uppercase());
    }
    flat
}
