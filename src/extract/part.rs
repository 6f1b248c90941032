//! # part: what does this stretch of a passage say?
//!
//! ```text
//! prose, an item, a row with its columns, code → words in one line
//! ```

use std::ops::Range;

use unicode_width::UnicodeWidthStr;

use super::markup::plain;
use crate::text::line::{single_line, without_line_hyphens};

/// A stretch of a passage that belongs to a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UnitPart {
    /// Where it lies in the content, in bytes.
    pub range: Range<usize>,
    /// What it is.
    pub kind: PartKind,
}

/// What a part of a unit is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    /// Running text, mostly a sentence.
    Sentence,
    /// Short lines that were not wrapped: each says something of its own.
    Lines,
    /// An item of a list, with its number.
    Item(Option<Range<usize>>),
    /// A row of a table, with the header row.
    Row(Option<Range<usize>>),
    /// Code, with the name of its language.
    Code(Option<Range<usize>>),
}

impl UnitPart {
    /// What it says, in one line, with inline markup as it stands unless `is_plain`.
    pub fn words(&self, content: &str, is_plain: bool) -> String {
        let text = &content[self.range.clone()];
        let shown = |text: &str| if is_plain { plain(text) } else { text.to_owned() };
        match &self.kind {
            PartKind::Sentence | PartKind::Item(_) => {
                shown(&single_line(&without_line_hyphens(text)))
            }
            PartKind::Lines => shown(&listed(&without_line_hyphens(text))),
            PartKind::Code(_) => single_line(text),
            PartKind::Row(columns) => {
                let columns = columns.clone().map(|range| &content[range]);
                let cell = |text: &str| shown(&single_line(text));
                row(columns.map(cells).unwrap_or_default(), cells(text), cell)
            }
        }
    }
}

/// Lines with commas between them, where they don't end with punctuation and the next one does not go on in a small letter.
fn listed(text: &str) -> String {
    let mut list = String::new();
    for line in text.lines().map(single_line).filter(|line| !line.is_empty()) {
        if !list.is_empty() {
            let ends = list.ends_with(|c: char| c.is_alphanumeric() || c == ')');
            list += if ends && !line.starts_with(char::is_lowercase) { ", " } else { " " };
        }
        list += &line;
    }
    list
}

/// "Plan: Team, Users: 50": what the row says of each column, without those that are empty.
fn row(columns: Vec<&str>, values: Vec<&str>, shown: impl Fn(&str) -> String) -> String {
    let said = values.into_iter().enumerate().filter_map(|(at, value)| {
        let column = shown(columns.get(at).copied().unwrap_or_default());
        let value = shown(value);
        match (column.trim_end_matches(':'), value.is_empty()) {
            (_, true) => None,
            ("", _) => Some(value),
            (column, _) => Some(format!("{column}: {value}")),
        }
    });
    let said: Vec<String> = said.collect();
    said.join(if said.iter().any(|it| it.contains(',')) { "; " } else { ", " })
}

/// The cells of a row, cut at the bars that no backslash and no backticks keep.
fn cells(row: &str) -> Vec<&str> {
    let (mut cells, mut start, mut is_code) = (Vec::new(), 0, false);
    for (at, sign) in row.char_indices() {
        match sign {
            '`' => is_code = !is_code && row[at + 1..].contains('`'),
            '|' if !is_code && !row[..at].ends_with('\\') => {
                cells.push(row[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(row[start..].trim());
    cells
}

/// Whether `text` says how a program is called, as "shrink [-a] {fast | slow} file": one choice in brackets at least for four words,
/// and no end of a sentence. Numbers of notes and boxes of tasks are no choices.
pub(super) fn is_usage(text: &str) -> bool {
    if !text.is_ascii() || text.ends_with(['.', '!', '?', ':']) {
        return false;
    }
    let opened = text.match_indices(['[', '{']);
    let choices = opened.filter(|(at, _)| {
        let inside = text[at + 1..].split([']', '}']).next().unwrap_or_default();
        inside.chars().filter(|c| c.is_alphabetic()).nth(1).is_some()
            || inside.strip_prefix('-').is_some_and(|it| it.starts_with(char::is_alphabetic))
    });
    let choices = choices.count();
    let words = text.split_whitespace().filter(|it| it.contains(char::is_alphanumeric)).count();
    choices > 0 && words <= 4 * choices
}

/// Columns of a screen up to which text is not wrapped.
const NARROW: usize = 50;

/// Whether no line of `text` was wrapped: all of them are short, or the next word would have had room in each, and they are of
/// different lengths. One long line among others that are as good as full has an address in it.
pub(super) fn is_unwrapped(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let widths: Vec<usize> = lines.iter().map(|line| line.width()).collect();
    let widest = widths.iter().copied().max().unwrap_or_default();
    let differ = || widths.iter().rev().skip(1).any(|width| 4 * width < 3 * widest);
    let has_room = |pair: &[&str]| has_room(pair[0], pair[1], widest);
    widest < NARROW || differ() && lines.windows(2).all(has_room)
}

/// Whether the line that `text` begins with was ended on purpose.
pub(super) fn first_is_unwrapped(text: &str) -> bool {
    let widest = text.lines().map(UnicodeWidthStr::width).max().unwrap_or_default();
    let mut lines = text.lines();
    matches!((lines.next(), lines.next()), (Some(one), Some(next)) if has_room(one, next, widest))
}

/// Whether the first word of `next` would have stood in `line`, had lines been wrapped at `widest`.
fn has_room(line: &str, next: &str, widest: usize) -> bool {
    let word = next.split_whitespace().next().unwrap_or_default();
    line.width() + 1 + word.width() <= widest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_its_columns_are() {
        let row = |columns: &str, values: &str| super::row(cells(columns), cells(values), plain);
        assert_eq!(
            row("Plan | Users | Price", "Team | 50 | 20 EUR"),
            "Plan: Team, Users: 50, Price: 20 EUR"
        );
        assert_eq!(row("Plan | | Price:", "Team | 50 |"), "Plan: Team, 50");
        assert_eq!(row("Option | Values", "`a|b` | x, y"), "Option: a|b; Values: x, y");
        assert_eq!(row("Option", "a \\| b | **c**"), "Option: a | b, c");
        assert_eq!(row("", "one ` tick | two"), "one ` tick, two");
    }

    #[test]
    fn how_a_program_is_called_is_told_from_sentences() {
        assert!(is_usage("SYNOPSIS: watch [options] command"));
        assert!(is_usage("shrink [-a] [-o=file] {fast | slow | remove name...}"));
        for text in [
            "",
            "It is so [1].",
            "He was born in Ghent [7] and grew up there",
            "Plan: Team",
            "Architect: Gustave Eiffel[3]",
            "[ ] Alice: deployment",
            "[x] Alice: deployment",
            "Head | Anna Schmidt",
            "居里夫人于1898年发现了镭[1]。",
        ] {
            assert!(!is_usage(text), "{text}");
        }
    }

    #[test]
    fn lines_that_were_wrapped_are_told_from_others() {
        assert!(is_unwrapped("Support hours\nMonday to Friday 9-18\nSaturday 10-14"));
        assert!(!is_unwrapped(
            "The telescope stands on a mountain in the desert and is open to\nvisitors on clear nights."
        ));
        assert!(!is_unwrapped(
            "The pump is made by a company of one family that sells open pumps and\nclosed ones. Its rival is a \
             [wholly free project](/community/of/the/project/), made by hundreds\nof people and companies."
        ));
        assert!(is_unwrapped(
            "Monday to Friday 9-18\nSunday closed\nOn the first Saturday of each month we are open until noon only"
        ));
        assert!(first_is_unwrapped(
            "Charger hot\nThe USB-C charger becomes hot when it is covered."
        ));
        assert!(!first_is_unwrapped("One line"));
        assert_eq!(
            listed("Monday 9-18\n\n Saturday 10-14 \nor\nlater."),
            "Monday 9-18, Saturday 10-14 or later."
        );
    }
}
