//! Paragraphs, then lines, sentences, words: the largest unit that fits.
//!
//! Lines are units only where their ends mean something. In a paragraph that was wrapped at
//! some width they mean nothing, and sentences come next. What a paragraph announces with a colon
//! is cut from it only where both do not fit.

use super::{CutPlan, skip_white_space};
use crate::text::line::{Line, LineKind, ends_with_colon, lines};
use crate::text::sentence::sentences;

/// Shortest line that can have been wrapped, in bytes. Code and lists have shorter ones.
const SHORTEST_WRAPPED_LINE: usize = 40;

/// The plan of a text by paragraphs, lines and sentences.
pub(super) fn plan(document: &str) -> CutPlan {
    let mut paragraphs = Vec::new();
    let mut line_starts = Vec::new();
    let mut announced = Vec::new();
    let mut paragraph = Vec::new();
    let mut close = |paragraph: &mut Vec<Line>| {
        if let Some(first) = paragraph.first() {
            let start = skip_white_space(document, first.range.start);
            let is_announced = ends_with_colon(&document[..start]);
            if is_announced { &mut announced } else { &mut paragraphs }.push(start);
            add_lines(document, paragraph, &mut line_starts);
            paragraph.clear();
        }
    };
    for line in lines(document) {
        match line.kind {
            LineKind::Blank => close(&mut paragraph),
            _ => paragraph.push(line),
        }
    }
    close(&mut paragraph);
    let sentence_starts = sentences(document).into_iter().map(|range| range.start).collect();
    CutPlan::unsectioned(document, vec![paragraphs, announced, line_starts, sentence_starts])
}

/// Adds the places within `paragraph` where a line begins something.
fn add_lines(document: &str, paragraph: &[Line], starts: &mut Vec<usize>) {
    let wrapped = is_wrapped(document, paragraph);
    for pair in paragraph.windows(2) {
        if !(wrapped && goes_on(&pair[0], &pair[1])) {
            starts.push(skip_white_space(document, pair[1].range.start));
        }
    }
}

/// Whether the second line may be the first one's continuation.
fn goes_on(first: &Line, second: &Line) -> bool {
    first.kind != LineKind::Alone && second.kind == LineKind::Text
}

/// Whether the lines of `paragraph` were wrapped: at least a third of those that may be
/// continuations look it. The others begin with a name or a number or end with a stop.
fn is_wrapped(document: &str, paragraph: &[Line]) -> bool {
    let (mut possible, mut likely) = (0, 0);
    for pair in paragraph.windows(2) {
        if goes_on(&pair[0], &pair[1]) {
            possible += 1;
            let is_long = pair[0].range.len() >= SHORTEST_WRAPPED_LINE;
            let next = &document[pair[1].range.clone()];
            likely += usize::from(is_long && next.starts_with(char::is_lowercase));
        }
    }
    likely > 0 && likely * 3 >= possible
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cut at its paragraphs (‖), those that are announced (¦), lines (|) and sentences (/), `document` reads `expected`.
    fn check(document: &str, expected: &str) {
        let plan = plan(document);
        let mut marked = String::new();
        for (at, character) in document.char_indices().skip(1) {
            let level = plan.levels.iter().position(|level| level.contains(&at));
            marked.extend(level.map(|level| ["‖", "¦", "|", "/"][level]));
            marked.push(character);
        }
        let first = document.chars().next().map(String::from).unwrap_or_default();
        assert_eq!(first + &marked, expected, "places in {document:?}");
    }

    #[test]
    fn places() {
        check("One. Two.\n\n  Three", "One. /Two.\n\n  ‖Three");
        check("One. Two:\n\n- a\n- b\n\nThree", "One. /Two:\n\n¦- a\n|- b\n\n‖Three");
        check("one\ntwo\r\nthree", "one\n|two\r\n|three");
        check("- one\n- two", "- one\n|- two");
        check("fn main() {\n    run();\n}", "fn main() {\n    |run();\n|}");
        check(
            "A paragraph that was wrapped at some width by\nthe editor of the author. It goes on and on and\nnever stops before\n# Title\nBody",
            "A paragraph that was wrapped at some width by\nthe editor of the author. /It goes on and on and\nnever stops before\n|# Title\n|Body",
        );
    }
}
