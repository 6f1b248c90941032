//! # cut: where is text cut into pieces?
//!
//! ```text
//! "It is in [the list. At length](a.b). Numbers follow." → two sentences;  a log without a full stop → lines
//! ```

use std::ops::Range;

use super::blocks::trim;
use super::part::PartKind;
use super::reference::is_reference;
use crate::text::sentence::sentences;

/// Longest unit in bytes. Text that goes on for longer without a full stop is cut where a
/// line or a word ends.
pub(super) const LONGEST_UNIT: usize = 800;

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
    let begins = |at: &usize| is_reference(&sentence[*at..], &PartKind::Sentence);
    sentence.match_indices(". [").map(|(at, _)| at + 2).find(begins)
}

/// Whether `text` ends with the words of a link or a picture, and its address follows.
fn is_link(text: &str, rest: &str) -> bool {
    text.ends_with(']') && rest.starts_with('(')
}

/// Whether `text` ends within a tag, a link or code that ends in `next`.
fn is_open(text: &str, next: &str) -> bool {
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

/// `range` in parts of at most [`LONGEST_UNIT`] bytes.
pub(super) fn cut_long(content: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut rest = range;
    while rest.len() > LONGEST_UNIT {
        let most = content.floor_char_boundary(rest.start + LONGEST_UNIT);
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
