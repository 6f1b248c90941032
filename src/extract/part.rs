//! # part: what does this stretch of a passage say?
//!
//! ```text
//! prose, an item, a row with its columns, code → words in one line
//! ```

use std::ops::Range;

use super::cell::CellBoundary;
use super::fact_lines::without_leader;
use super::markup::plain;
use super::quotation::unquoted;
use super::wrapping::listed;
use crate::text::line::{single_line, without_line_hyphens};

/// Longest choice in brackets by which a program is told how it is called, in bytes.
const LONGEST_CHOICE: usize = 100;

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
    /// A row of a table, with the header row, and what parts the cells of both.
    Row(Option<Range<usize>>, CellBoundary),
    /// Code, with the name of its language.
    Code(Option<Range<usize>>),
}

impl UnitPart {
    /// What it says, in one line, with inline markup as it stands unless `is_plain`.
    pub fn words(&self, content: &str, is_plain: bool) -> String {
        let text = unquoted(content, &self.range);
        let shown = |text: &str| if is_plain { plain(text) } else { text.to_owned() };
        match &self.kind {
            PartKind::Sentence => shown(&single_line(&without_line_hyphens(&text))),
            PartKind::Item(_) => shown(&without_leader(&single_line(&without_line_hyphens(&text)))),
            PartKind::Lines => shown(&listed(&without_line_hyphens(&text))),
            PartKind::Code(_) => single_line(&text),
            PartKind::Row(columns, boundary) => {
                let columns = columns.clone().map(|range| boundary.cells(&content[range]));
                let cell = |text: &str| shown(&single_line(text));
                row(columns.unwrap_or_default(), boundary.cells(&text), cell)
            }
        }
    }
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

/// Whether `text` says how a program is called, as "shrink [-a] {fast | slow} file": one choice in brackets at least for four words,
/// and no end of a sentence. Numbers of notes and boxes of tasks are no choices.
pub(super) fn is_usage(text: &str) -> bool {
    if !text.is_ascii() || text.ends_with(['.', '!', '?', ':']) {
        return false;
    }
    let opened = text.match_indices(['[', '{']);
    let choices = opened.filter(|(at, _)| {
        let head = &text[at + 1..text.len().min(at + 1 + LONGEST_CHOICE)];
        let inside = head.split([']', '}']).next().unwrap_or_default();
        inside.chars().filter(|c| c.is_alphabetic()).nth(1).is_some()
            || inside.strip_prefix('-').is_some_and(|it| it.starts_with(char::is_alphabetic))
    });
    let choices = choices.count();
    let words = text.split_whitespace().filter(|it| it.contains(char::is_alphanumeric)).count();
    choices > 0 && words <= 4 * choices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_its_columns_are() {
        fn cells(row: &str) -> Vec<&str> {
            CellBoundary::Bar.cells(row)
        }
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
        assert!(!is_usage(&"[".repeat(200_000)));
    }
}
