//! # cut: where is text cut into pieces?
//!
//! ```text
//! "It is in [the list. At length](a.b). Numbers follow." → two sentences;  a log without a full stop → lines
//! ```

use std::ops::Range;

use super::blocks::trim;
use super::part::PartKind;
use super::reference::is_reference;
use crate::text::length::{end_within, is_within};
use crate::text::sentence::sentences;

/// Longest unit, by its [`length`](crate::text::length). Text that goes on for longer without a full stop is cut where a
/// line or a word ends.
pub(super) const LONGEST_UNIT: usize = 800;

/// Longest sentence in bytes that may end within a tag, a link or code: a sign that opens and never closes would hold
/// together all that follows.
const LONGEST_OPEN: usize = 2048;

/// `range` of `content`, unless it is too long to be read with each of the pieces below it.
pub(super) fn short(content: &str, range: &Range<usize>) -> Option<Range<usize>> {
    is_within(&content[range.clone()], LONGEST_UNIT).then(|| range.clone())
}

/// The sentences of `text`; what looks like the end of one within a tag, a link or code is none.
pub(super) fn whole_sentences(text: &str) -> Vec<Range<usize>> {
    let mut whole: Vec<Range<usize>> = Vec::new();
    for sentence in sentences(text) {
        match whole.last_mut() {
            Some(last)
                if is_open(&text[last.clone()], &text[sentence.clone()])
                    || is_link(&text[..last.end], &text[last.end..]) =>
            {
                last.end = sentence.end;
            }
            _ => whole.push(sentence),
        }
    }
    let parts = |it: Range<usize>| match reference_in(&text[it.clone()]) {
        Some(at) => vec![it.start..it.start + at - 1, it.start + at..it.end],
        None => vec![it],
    };
    whole.into_iter().flat_map(parts).collect()
}

/// Where in `sentence` another one begins that only says where something is said: in a small letter, as its page is called so.
fn reference_in(sentence: &str) -> Option<usize> {
    let begins = |at: &usize| {
        let rest = &sentence[*at..];
        is_reference(&rest[..end_within(rest, LONGEST_UNIT)], &PartKind::Sentence)
    };
    sentence.match_indices(". [").map(|(at, _)| at + 2).find(begins)
}

/// Whether `text` ends with the words of a link or a picture, and its address follows.
fn is_link(text: &str, rest: &str) -> bool {
    text.ends_with(']') && rest.starts_with('(')
}

/// Whether `text` ends within a tag, a link or code that ends in `next`.
fn is_open(text: &str, next: &str) -> bool {
    if text.len() > LONGEST_OPEN {
        return false;
    }
    let opened = |open: &str, close: char| {
        let rest = text.rfind(open).map(|at| &text[at + open.len()..]);
        rest.filter(|rest| !rest.contains(close))
    };
    let first = |signs: &[char]| next.find(signs).and_then(|at| next[at..].chars().next());
    let is_tag = |rest: &str| rest.starts_with(|c: char| c.is_ascii_alphabetic());
    let in_tag = || opened("<", '>').is_some_and(is_tag) && first(&['<', '>']) == Some('>');
    let in_address = || opened("](", ')').is_some() && first(&[')', ' ']) == Some(')');
    let in_text = || {
        let rest = next.split_once(']').map(|(_, rest)| rest);
        opened("[", ']').is_some()
            && first(&['[', ']']) == Some(']')
            && rest.is_some_and(|rest| rest.starts_with('('))
    };
    let in_code = || text.matches('`').count() % 2 == 1 && next.contains('`');
    in_tag() || in_address() || in_text() || in_code()
}

/// `range` in parts that are no longer than [`LONGEST_UNIT`].
pub(super) fn cut_long(content: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut rest = range;
    while !is_within(&content[rest.clone()], LONGEST_UNIT) {
        let most = rest.start + end_within(&content[rest.clone()], LONGEST_UNIT);
        let window = &content[rest.start..most];
        let end = window
            .rfind('\n')
            .or_else(|| window.rfind(char::is_whitespace))
            .filter(|length| *length > 0)
            .map_or(most, |length| rest.start + length);
        parts.push(trim(content, rest.start..end));
        rest = trim(content, end..rest.end);
    }
    parts.push(rest);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_an_end_within_code_ends_no_sentence() {
        let text = "Set `a.b. C` first. Then wait.";
        let found: Vec<&str> = whole_sentences(text).into_iter().map(|it| &text[it]).collect();
        assert_eq!(found, ["Set `a.b. C` first.", "Then wait."]);
    }

    #[test]
    fn a_part_has_as_many_letters_in_each_alphabet() {
        for (text, letters) in [
            ("word ".repeat(500), 780..=800),
            ("слово ".repeat(500), 780..=800),
            ("ถ้อยคำ ".repeat(500), 780..=800),
            ("期".repeat(1000), 266..=266),
        ] {
            let parts = cut_long(&text, 0..text.len());
            assert!(parts.len() > 3, "{text}");
            for part in &parts[..parts.len() - 1] {
                assert!(letters.contains(&text[part.clone()].chars().count()), "{part:?} {text}");
            }
        }
    }

    #[test]
    fn signs_that_never_close_hold_no_long_text_together() {
        for (first, piece) in [("Ab ` cd. ", "Ef `` gh. "), ("Ab <a cd. ", "Ef > gh <a ij. ")] {
            let text = first.to_string() + &piece.repeat(50_000);
            let longest = whole_sentences(&text).into_iter().map(|it| it.len()).max();
            let longest = longest.unwrap_or_default();
            assert!(longest > LONGEST_UNIT && longest < 2 * LONGEST_OPEN, "{piece} {longest}");
        }
    }
}
