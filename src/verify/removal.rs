//! # removal: what is left of an answer without what no source supports?
//!
//! ```text
//! "The flat has two rooms [1]. It has a garden [1]." + claims with verdicts → "The flat has two rooms [1]."
//! ```
//!
//! Only claims are judged, so headings, code and questions stay, and so does a label, unless all that it announces is
//! gone.

use std::ops::Range;

use super::{Claim, Verdict};
use crate::text::line::item_sign;
use crate::text::words::words;

/// An answer without the claims that no source supports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SupportedPart {
    /// The text; empty where no claim is left.
    pub text: String,
    /// Whether each of the claims is left out; empty where none is.
    pub removed: Vec<bool>,
}

impl SupportedPart {
    /// All of an answer.
    #[must_use]
    pub fn all(text: String) -> SupportedPart {
        SupportedPart { text, removed: Vec::new() }
    }
}

/// The part of `answer` that its sources support; `None` where that is all of it.
///
/// `claims` are those of this very text. A question claims nothing, so none is left out.
#[must_use]
pub fn supported_part(answer: &str, claims: &[Claim]) -> Option<SupportedPart> {
    let removed: Vec<bool> =
        claims.iter().map(|it| it.verdict != Verdict::Supported && !it.asks()).collect();
    let chosen = claims.iter().zip(&removed);
    let gone: Vec<&Range<usize>> =
        chosen.filter(|(_, is_removed)| **is_removed).map(|(claim, _)| &claim.bytes).collect();
    if gone.is_empty() {
        return None;
    }
    let is_left = |(claim, is_removed): (&Claim, &bool)| !is_removed && !claim.asks();
    let text = match claims.iter().zip(&removed).any(is_left) {
        true => without(answer, &gone),
        false => String::new(),
    };
    Some(SupportedPart { text, removed })
}

/// `answer` without these parts of it, which are in order, and without the lines of which nothing else is left.
fn without(answer: &str, gone: &[&Range<usize>]) -> String {
    let mut lines: Vec<(&str, KeptLine)> = Vec::new();
    let (mut at, mut gone) = (0, gone);
    for line in answer.split_inclusive('\n') {
        let bare = line.trim_end();
        let range = at..at + bare.len();
        at += line.len();
        let cut = gone.iter().take_while(|it| it.start < range.end).count();
        let kept = match cut {
            0 => KeptLine::Whole,
            _ => kept_of(bare, range.start, &gone[..cut]),
        };
        lines.push((line, kept));
        // One may go on in the next line.
        gone = &gone[gone.partition_point(|it| it.end <= at)..];
    }
    drop_bare_labels(&mut lines);
    text_of(&lines)
}

/// What is left of a line.
enum KeptLine {
    Whole,
    Part(String),
    Gone,
}

/// What is left of `line`, which begins at the byte `at` of the answer, without the parts that are gone of it.
fn kept_of(line: &str, at: usize, gone: &[&Range<usize>]) -> KeptLine {
    let sign = &line[..item_sign(line)];
    let mut pieces = Vec::new();
    let mut from = sign.len();
    for range in gone {
        let start = range.start.saturating_sub(at).clamp(from, line.len());
        pieces.push(line[from..start].trim());
        from = range.end.saturating_sub(at).clamp(start, line.len());
    }
    pieces.push(line[from..].trim());
    pieces.retain(|piece| !piece.is_empty());
    match pieces.iter().any(|piece| !words(piece).is_empty()) {
        true => KeptLine::Part(format!("{sign}{}", pieces.join(" "))),
        false => KeptLine::Gone,
    }
}

/// A label announces nothing where all that follows it is gone, up to the next label or heading.
fn drop_bare_labels(lines: &mut [(&str, KeptLine)]) {
    let is_label = |line: &str| line.trim_end().ends_with([':', '：']);
    let (mut has_gone, mut is_open) = (false, true);
    for (line, kept) in lines.iter_mut().rev() {
        match kept {
            KeptLine::Gone => has_gone = true,
            KeptLine::Whole if line.trim().is_empty() => {}
            KeptLine::Whole if is_label(line) && has_gone && is_open => *kept = KeptLine::Gone,
            _ => (has_gone, is_open) = (false, is_label(line) || line.starts_with('#')),
        }
    }
}

/// The lines that are left, with one blank line where there were several around what is gone.
fn text_of(lines: &[(&str, KeptLine)]) -> String {
    let mut text = String::new();
    let mut is_behind_gone = false;
    for (line, kept) in lines {
        match kept {
            KeptLine::Gone => is_behind_gone = true,
            KeptLine::Whole
                if is_behind_gone && line.trim().is_empty() && text.ends_with("\n\n") => {}
            KeptLine::Whole => text += line,
            KeptLine::Part(kept) => {
                text += kept;
                text += &line[line.trim_end().len()..];
            }
        }
        is_behind_gone &= line.trim().is_empty() || matches!(kept, KeptLine::Gone);
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::verify::verify;

    const SOURCES: [&str; 2] = [
        "The flat in Cologne has two rooms. It is let from May.",
        "The owner moved to Bonn in the spring.",
    ];

    fn part(answer: &str) -> Option<SupportedPart> {
        supported_part(answer, &verify(answer, &SOURCES, &mut || {}))
    }

    fn check(answer: &str, left: &str) {
        assert_eq!(part(answer).expect("something to remove").text, left, "{answer}");
    }

    #[test]
    fn what_no_source_says_is_left_out() {
        check(
            "The flat has two rooms [1]. A swimming pool is heated daily [1]. It is let from May [1].",
            "The flat has two rooms [1]. It is let from May [1].",
        );
        check(
            "The flat has two rooms. [1] A swimming pool is heated daily. [2]",
            "The flat has two rooms. [1]",
        );
        check(
            "A swimming pool is heated daily. The flat has two rooms [1].",
            "The flat has two rooms [1].",
        );
        check("A swimming pool is heated daily [1].", "");
        check("Is that so? A swimming pool is heated daily [1].", "");
        assert_eq!(part("The flat has two rooms [1]. What else?"), None);
        assert_eq!(part(""), None);
    }

    #[test]
    fn lists_keep_their_form() {
        check(
            "What is known:\n\n- The flat has two rooms [1].\n- A swimming pool is heated daily.\n- The owner moved to Bonn [2].",
            "What is known:\n\n- The flat has two rooms [1].\n- The owner moved to Bonn [2].",
        );
        check(
            "The flat has two rooms [1].\n\nSports:\n\n1. A swimming pool is heated daily.\n2. Tennis courts are floodlit nightly.\n\nPeople:\n\n1. The owner moved to Bonn [2].",
            "The flat has two rooms [1].\n\nPeople:\n\n1. The owner moved to Bonn [2].",
        );
        check(
            "The flat has two rooms [1] and a\nswimming pool that is heated daily by steam engines.\nIt is let from May [1].",
            "It is let from May [1].",
        );
        check(
            "* A swimming pool is heated daily. The flat has two rooms [1].\n\n  - A tennis court.",
            "* The flat has two rooms [1].",
        );
    }

    proptest! {
        #[test]
        fn only_whole_claims_are_left_out(
            answer in "(The flat has two rooms\\. |A pool is heated daily\\. |\\[[1-3]\\]|\n|\n\n|- |1\\. |é ){0,16}",
        ) {
            let claims = verify(&answer, &SOURCES, &mut || {});
            for claim in &claims {
                prop_assert!(answer.get(claim.bytes.clone()).is_some());
            }
            if let Some(part) = supported_part(&answer, &claims) {
                prop_assert_eq!(part.removed.len(), claims.len());
                prop_assert!(part.text.len() < answer.len());
                prop_assert!(!part.text.contains("heated"));
            }
        }
    }
}
