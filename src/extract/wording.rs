//! # wording: how is the evidence put?
//!
//! ```text
//! evidence in reading order → "First sentence. Second one. [1] From elsewhere. [2]"
//! ```

use super::ExtractPassage;
use super::candidates::UnitCandidate;
use crate::text::marker::markers;

/// The answer's text: what stands together in a passage is cited together.
///
/// `chosen` are candidates with their index, in reading order.
pub(super) fn word(passages: &[ExtractPassage], chosen: &[(usize, &UnitCandidate)]) -> String {
    let together = |one: &(usize, &UnitCandidate), next: &(usize, &UnitCandidate)| {
        one.0 + 1 == next.0 && one.1.passage == next.1.passage
    };
    let groups = chosen.chunk_by(together).map(|group| {
        let passage = &passages[group[0].1.passage];
        let texts = group.iter().map(|(_, candidate)| candidate.unit.text(passage.content));
        let text = texts.collect::<Vec<_>>().join(" ");
        format!("{} [{}]", quoted(&text), passage.number)
    });
    groups.collect::<Vec<_>>().join(" ")
}

/// `text` without anything that a reader of citations could mistake: "[12]" becomes "(12)",
/// and backticks that don't pair become apostrophes, as what stands between backticks is
/// taken for code, and the citation might come to stand there.
fn quoted(text: &str) -> String {
    let text = if text.matches('`').count().is_multiple_of(2) && !text.contains("``") {
        text.to_string()
    } else {
        text.replace('`', "'")
    };
    // So does all that follows a fence.
    without_markers(without_fences(&text))
}

/// `text` without the fences that it begins with, blanks between them included.
fn without_fences(text: &str) -> &str {
    let mut rest = text;
    while let Some(after) = rest.trim_start().strip_prefix("~~~") {
        rest = after.trim_start();
    }
    rest
}

fn without_markers(text: &str) -> String {
    let mut safe = text.to_string();
    for marker in markers(text) {
        // Both brackets are one byte long, before and after.
        safe.replace_range(marker.range.start..marker.range.start + 1, "(");
        safe.replace_range(marker.range.end - 1..marker.range.end, ")");
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_never_opens_a_fence() {
        for (text, expected) in [
            ("~~~x", "x"),
            ("~~~~x", "~x"),
            ("~~~ ~~~x", "x"),
            (" ~~~~~~ \t~~~ x", "x"),
            ("~~~ ~~~", ""),
            ("x ~~~ y", "x ~~~ y"),
        ] {
            assert_eq!(quoted(text), expected, "{text:?}");
            assert_eq!(markers(&format!("{} [1]", quoted(text))).len(), 1, "{text:?}");
        }
    }
}
