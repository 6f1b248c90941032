//! Where to cut when no larger unit fits: between words, else between tokens.

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// Bytes looked at for a word boundary of UAX #29.
const NEIGHBOURHOOD: usize = 1024;

/// The last place in `range`, its beginning excluded and its end included, where a word begins.
///
/// White space decides. Where there is none in the second half (Chinese, Japanese, Thai, an
/// address, a long identifier), UAX #29 does.
pub(super) fn last_word_start(text: &str, range: Range<usize>) -> Option<usize> {
    let spaced = last_after_space(text, range.clone());
    match spaced {
        Some(at) if (at - range.start) * 2 >= range.len() => spaced,
        _ => last_boundary(text, range).or(spaced),
    }
}

/// The first place in `range`, its end excluded, where a word begins.
pub(super) fn first_word_start(text: &str, range: Range<usize>) -> Option<usize> {
    if is_after_space(text, range.start) {
        return Some(range.start);
    }
    let piece = &text[range.clone()];
    let spaced = piece
        .find(char::is_whitespace)
        .map(|at| range.end - piece[at..].trim_start().len())
        .filter(|&at| at < range.end);
    spaced.or_else(|| first_boundary(text, range))
}

/// `limit`, or the last place before it that is not within a grapheme; in any case a place
/// between characters after `start`, which is between graphemes itself.
pub(super) fn grapheme_floor(text: &str, start: usize, limit: usize) -> usize {
    let limit = text.floor_char_boundary(limit);
    let rest = &text[start..];
    if limit > start {
        let mut cursor = GraphemeCursor::new(limit - start, rest.len(), true);
        if cursor.is_boundary(rest, 0).unwrap_or(true) {
            return limit;
        }
        if let Ok(Some(at)) = cursor.prev_boundary(rest, 0)
            && at > 0
        {
            return start + at;
        }
        return limit;
    }
    start + rest.chars().next().map_or(0, char::len_utf8)
}

/// The first place in `range` at `from` or later that is not within a grapheme and not
/// before white space; `range` begins between graphemes.
pub(super) fn grapheme_ceil(text: &str, range: Range<usize>, from: usize) -> Option<usize> {
    let piece = &text[range.clone()];
    let mut cursor = GraphemeCursor::new(from - range.start, piece.len(), true);
    let boundary = match cursor.is_boundary(piece, 0) {
        Ok(false) => range.start + cursor.next_boundary(piece, 0).ok().flatten()?,
        _ => from,
    };
    let visible = range.end - text[boundary..range.end].trim_start().len();
    (visible < range.end).then_some(visible)
}

/// Whether a word begins at `at`, with white space before it.
fn is_after_space(text: &str, at: usize) -> bool {
    text[..at].ends_with(char::is_whitespace) && !text[at..].starts_with(char::is_whitespace)
}

/// The last place in `range` that has white space before it or after it.
fn last_after_space(text: &str, range: Range<usize>) -> Option<usize> {
    if text[range.end..].starts_with(char::is_whitespace) {
        return Some(range.end);
    }
    let piece = &text[range.clone()];
    let (at, space) = piece.char_indices().rfind(|(_, c)| c.is_whitespace())?;
    Some(range.start + at + space.len_utf8())
}

/// The last word boundary of UAX #29 in `range` that a letter, digit or symbol follows.
fn last_boundary(text: &str, range: Range<usize>) -> Option<usize> {
    let from = text.floor_char_boundary(range.end.saturating_sub(NEIGHBOURHOOD)).max(range.start);
    // The word at the end is seen whole, or else its end would be taken for a boundary.
    let to = text.ceil_char_boundary((range.end + NEIGHBOURHOOD / 4).min(text.len()));
    text[from..to]
        .split_word_bound_indices()
        .map(|(at, word)| (from + at, word))
        .take_while(|(at, _)| *at <= range.end)
        // The first is where looking began.
        .skip(1)
        .filter(|(_, word)| begins_word(word))
        .last()
        .map(|(at, _)| at)
}

/// The first word boundary of UAX #29 in `range` that a letter, digit or symbol follows.
fn first_boundary(text: &str, range: Range<usize>) -> Option<usize> {
    let to = text.floor_char_boundary(range.start + NEIGHBOURHOOD).min(range.end);
    text[range.start..to]
        .split_word_bound_indices()
        .skip(1)
        .find(|(_, word)| begins_word(word))
        .map(|(at, _)| range.start + at)
}

/// Whether a line may begin with `word`: it is not punctuation that belongs to what is before.
fn begins_word(word: &str) -> bool {
    word.starts_with(char::is_alphanumeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        let check = |text: &str, limit: usize, expected: Option<&str>| {
            let found = last_word_start(text, 0..limit).map(|at| &text[..at]);
            assert_eq!(found, expected, "last place in {text:?} up to {limit}");
        };
        check("one two three", 10, Some("one two "));
        check("one two three", 8, Some("one two "));
        check("one two three", 7, Some("one two"));
        check("onetwothree", 7, None);
        check("path/to/file", 9, Some("path/to/"));
        check("今天很好", 6, Some("今天"));
        check("a 今天很好我们走", 20, Some("a 今天很好我们"));
        check("don't.stop", 9, None);
    }

    #[test]
    fn graphemes() {
        let check = |text: &str, limit: usize, expected: &str| {
            assert_eq!(&text[..grapheme_floor(text, 0, limit)], expected, "{text:?} to {limit}");
        };
        check("abc", 2, "ab");
        check("ae\u{301}b", 2, "a");
        check("e\u{301}\u{302}b", 3, "e\u{301}");
        check("é", 1, "é");
        check("abc", 0, "a");
        check("a👨‍👩‍👧b", 8, "a");
        check("🇩🇪🇫🇷", 12, "🇩🇪");
    }
}
