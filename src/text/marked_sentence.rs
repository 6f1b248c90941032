//! # marked_sentence: which sentence of an answer cites what?
//!
//! ```text
//! "It grinds corn. [2] Corn is old [1]." → "It grinds corn. [2]" with [2], "Corn is old [1]." with [1]
//! ```
//!
//! A marker behind a full stop belongs to the sentence before it, if that is in the same line.

use std::ops::Range;

use super::line::item_sign;
use super::marker::{Marker, each_marker};
use super::sentence::sentences_interruptibly;

/// What a sentence ends with.
pub const TERMINATORS: [char; 8] = ['.', '!', '?', '。', '！', '？', '؟', '।'];

/// A sentence with the markers that belong to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedSentence {
    /// Bytes of the answer, markers included.
    pub range: Range<usize>,
    /// Its markers, in order.
    pub markers: Vec<Marker>,
}

/// The sentences of `answer`, in order, each with its markers; none is empty. `interrupt` is called every 64 KiB and for
/// each paragraph, and may unwind.
pub fn marked_sentences(answer: &str, interrupt: &mut dyn FnMut()) -> Vec<MarkedSentence> {
    let mut markers = each_marker(answer).peekable();
    let mut parts: Vec<MarkedSentence> = Vec::new();
    for mut range in sentences_interruptibly(answer, interrupt) {
        let before = parts.last().map_or(0, |last| last.range.end);
        range = range.start.max(before)..range.end.max(before);
        let mut inside = Vec::new();
        while let Some(marker) = markers.next_if(|it| it.range.start < range.end) {
            let begins = answer[range.start..marker.range.start].trim().is_empty();
            match parts.last_mut().filter(|_| begins) {
                Some(last) if !answer[last.range.end..marker.range.start].contains('\n') => {
                    last.range.end = marker.range.end;
                    range.start = marker.range.end.min(range.end);
                    last.markers.push(marker);
                }
                _ => inside.push(marker),
            }
        }
        let rest = &answer[range.clone()];
        range.start += rest.len() - rest.trim_start().len();
        if !range.is_empty() {
            parts.push(MarkedSentence { range, markers: inside });
        }
    }
    parts
}

/// The text of these bytes of `answer` without the `markers` in them, which are in order, and without the sign of a list
/// item. A number is such a sign at the beginning of a line alone: "3. Juli" within one is a date.
#[must_use]
pub fn bare_text(answer: &str, range: Range<usize>, markers: &[Marker]) -> String {
    let mut text = String::new();
    let mut from = range.start;
    for marker in markers {
        text += answer[from..marker.range.start.max(from)].trim_end();
        from = marker.range.end.min(range.end).max(from);
    }
    text += &answer[from..range.end];
    let text = text.trim().trim_start_matches(['-', '*', '#', '>', '•', ' ']);
    let before = answer[..range.start].trim_end_matches([' ', '\t']);
    let text = match before.is_empty() || before.ends_with('\n') {
        true => &text[item_sign(text)..],
        false => text,
    };
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answer: &str, expected: &[(&str, &[u32])]) {
        let found = marked_sentences(answer, &mut || {});
        let found: Vec<(&str, Vec<u32>)> = found
            .iter()
            .map(|it| {
                let numbers = it.markers.iter().flat_map(|marker| marker.numbers.clone());
                (&answer[it.range.clone()], numbers.collect())
            })
            .collect();
        let expected: Vec<(&str, Vec<u32>)> =
            expected.iter().map(|(text, numbers)| (*text, numbers.to_vec())).collect();
        assert_eq!(found, expected, "{answer}");
    }

    #[test]
    fn signs_of_items_are_no_text() {
        let check = |answer: &str, expected: &[&str]| {
            let bare = |it: MarkedSentence| bare_text(answer, it.range, &it.markers);
            let found: Vec<String> =
                marked_sentences(answer, &mut || {}).into_iter().map(bare).collect();
            assert_eq!(found, expected, "{answer}");
        };
        check("- It is old [1].\n2) It is [1] new. [2]", &["It is old.", "It is new."]);
        check("Er kam spät. 3. Juli war es.", &["Er kam spät.", "3. Juli war es."]);
        check("# Mills", &["Mills"]);
    }

    #[test]
    fn markers_belong_to_the_sentence_that_they_end() {
        check(
            "It grinds corn. [2] Corn is old [1, 3].",
            &[("It grinds corn. [2]", &[2]), ("Corn is old [1, 3].", &[1, 3])],
        );
        check(
            "It is old.[1][2] Rye is not.",
            &[("It is old.[1][2]", &[1, 2]), ("Rye is not.", &[])],
        );
        check("[1] It is old.", &[("[1] It is old.", &[1])]);
        check("It is old.\n\n[1] Rye is not.", &[("It is old.", &[]), ("[1] Rye is not.", &[1])]);
        check("It is old. [1]", &[("It is old. [1]", &[1])]);
        check("", &[]);
    }
}
