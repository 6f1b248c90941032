//! # blocks: how is this passage laid out?
//!
//! ```text
//! content → paragraphs, list items, table rows, code, headings, with byte ranges
//! ```
//!
//! A passage is a piece of a document of unknown kind, cut at an unknown place. So this is
//! no Markdown parser: it looks at one line at a time and reads plain text as paragraphs.
//! What it takes for markup never loses text, it only decides what may stand as evidence: front matter, comments and
//! scripts before the text do not.
//! Tables have outer bars, or at least a rule with bars under the names of their columns; `plain_table` finds others. A line with
//! the sign of a quotation begins one, with or without a blank line before it.

use std::ops::Range;

use super::cell::CellBoundary;
use super::directive::is_directive;
use super::plain_table::with_tables;
use super::quotation::{compares, depth};
use crate::text::fence::looks_like_fence;
use crate::text::line::line_ranges;
use crate::text::preamble::Preamble;

/// What a stretch of lines is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Running text of sentences.
    Prose,
    /// One item of a list, without its marker.
    Item,
    /// The inside of a code fence.
    Code,
    /// One row of a table, without its outer bars.
    Row,
    /// The header row of a table.
    Columns,
    /// A heading: names what follows, says nothing itself.
    Heading,
}

/// A stretch of lines of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextBlock {
    /// Where it lies in the content, in bytes, without markers and outer white space.
    pub range: Range<usize>,
    /// What kind of lines they are.
    pub kind: BlockKind,
    /// The number of an item ("2."), or the language of code, where there is one.
    pub label: Option<Range<usize>>,
    /// What parts the cells of a row or of the header.
    pub cells: CellBoundary,
}

impl TextBlock {
    /// A block without a label.
    pub fn new(range: Range<usize>, kind: BlockKind) -> TextBlock {
        TextBlock { range, kind, label: None, cells: CellBoundary::Bar }
    }
}

/// Cuts `content` into blocks, in order.
pub(super) fn blocks(content: &str) -> Vec<TextBlock> {
    let text = Preamble::of(content).length;
    let mut layout = Layout::default();
    if begins_in_code(&content[text..]) {
        layout.fence = Some(0..0);
    }
    for line in line_ranges(&content[text..]) {
        layout.add(content, text + line.start..text + line.end);
    }
    with_tables(content, &layout.done)
}

/// Whether `content` was cut out of a page within a block of code, so that its first fence ends that.
///
/// Such a fence names no language and has code above it and nothing right below it. The fences are then no pairs, or the
/// last one begins code that was cut, too.
fn begins_in_code(content: &str) -> bool {
    let lines: Vec<&str> = line_ranges(content).map(|line| content[line].trim()).collect();
    let fences: Vec<usize> = (0..lines.len()).filter(|at| looks_like_fence(lines[*at])).collect();
    let (Some(&first), Some(&last)) = (fences.first(), fences.last()) else { return false };
    let is_blank = |at: usize| lines.get(at).is_none_or(|line| line.is_empty());
    let is_bare = lines[first].chars().all(|c| matches!(c, '`' | '~'));
    let is_below_code = first == 0 || !is_blank(first - 1) && !lines[first - 1].ends_with(':');
    let ends_code = is_bare && is_below_code && is_blank(first + 1);
    let begins_code = || last > 0 && is_blank(last - 1) && !is_blank(last + 1);
    ends_code && (fences.len() % 2 == 1 || begins_code())
}

/// What one line says about the layout; ranges are of the text without its marker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BlockLine {
    /// Only white space, or a sign for a site generator.
    Blank,
    /// A fence of backticks or tildes, with the word behind it.
    Fence(Range<usize>),
    /// A line drawn with punctuation: under a heading, between table rows, across the page.
    Rule(Range<usize>),
    /// `# Heading`
    Heading(Range<usize>),
    /// `- item`, `1. item`: its text, and its marker.
    Item(Range<usize>, Range<usize>),
    /// `| a | b |`
    Row(Range<usize>),
    /// Anything else.
    Text(Range<usize>),
}

/// The blocks so far; the last one grows while `open`.
#[derive(Default)]
struct Layout {
    done: Vec<TextBlock>,
    open: bool,
    /// The language of the fence that is open, empty where it names none.
    fence: Option<Range<usize>>,
    /// Rows of the table that is read, its header counted twice, so that no other row becomes one.
    rows: usize,
    /// Whether its rows have no outer bars.
    in_open_table: bool,
    /// How many signs of a quotation stand before the last line.
    depth: usize,
}

impl Layout {
    fn add(&mut self, content: &str, line: Range<usize>) {
        self.quote(content, &line);
        match (classify(content, line.clone()), self.fence.clone()) {
            (BlockLine::Fence(_), Some(_)) => self.end_fence(None),
            (BlockLine::Blank, Some(_)) if trim(content, line.clone()).is_empty() => {}
            (_, Some(language)) => {
                self.extend(line.start..trim(content, line).end, BlockKind::Code, &language);
            }
            (BlockLine::Fence(language), None) => self.end_fence(Some(language)),
            (BlockLine::Blank, None) => {
                (self.open, self.rows, self.in_open_table) = (false, 0, false);
            }
            (BlockLine::Rule(rule), None) => self.rule(content, &content[rule]),
            (BlockLine::Heading(text), None) => self.push(text, BlockKind::Heading, None),
            (BlockLine::Item(text, marker), None) => {
                let is_numbered = content[marker.clone()].starts_with(|c: char| c.is_ascii_digit());
                self.push(text, BlockKind::Item, is_numbered.then_some(marker));
                self.open = true;
            }
            (BlockLine::Row(text), None) => self.push(text, BlockKind::Row, None),
            (BlockLine::Text(text), None)
                if self.in_open_table && content[text.clone()].contains('|') =>
            {
                self.push(text, BlockKind::Row, None);
            }
            (BlockLine::Text(text), None) => self.extend(text, BlockKind::Prose, &(0..0)),
        }
    }

    /// Ends a paragraph where a quotation begins. It ends where that ends, too, but for a line in small letters, which Markdown lets go
    /// on without the sign.
    fn quote(&mut self, content: &str, line: &Range<usize>) {
        let text = &content[line.clone()];
        let before = std::mem::replace(&mut self.depth, depth(text));
        let Some(last) = self.done.last() else { return };
        let begins = self.depth > before && !compares(&content[last.range.clone()], text);
        let ends = self.depth < before && !text.trim_start().starts_with(char::is_lowercase);
        if (begins || ends) && self.fence.is_none() && last.kind == BlockKind::Prose {
            self.open = false;
        }
    }

    fn end_fence(&mut self, next: Option<Range<usize>>) {
        (self.fence, self.open, self.rows, self.in_open_table) = (next, false, 0, false);
    }

    fn push(&mut self, range: Range<usize>, kind: BlockKind, label: Option<Range<usize>>) {
        self.open = false;
        self.rows = if kind == BlockKind::Row { self.rows + 1 } else { 0 };
        self.in_open_table &= kind == BlockKind::Row;
        if !range.is_empty() {
            self.done.push(TextBlock { label, ..TextBlock::new(range, kind) });
        }
    }

    /// Lines of text go on with the paragraph, list item or code that is open.
    fn extend(&mut self, range: Range<usize>, kind: BlockKind, language: &Range<usize>) {
        match self.done.last_mut() {
            Some(last) if self.open => last.range.end = range.end,
            _ => self.push(range, kind, (!language.is_empty()).then(|| language.clone())),
        }
        self.open = true;
    }

    /// The line above a rule was a heading, of a section or of a table's columns.
    fn rule(&mut self, content: &str, rule: &str) {
        if let Some(last) = self.done.last_mut() {
            let is_text = self.open && last.kind == BlockKind::Prose;
            let text = &content[last.range.clone()];
            let has_columns =
                || rule.contains(['|', '+']) && text.contains('|') && !text.contains(['\n', '\r']);
            if self.rows == 1 || is_text && has_columns() {
                (self.in_open_table, self.rows) = (is_text, 2);
                last.kind = BlockKind::Columns;
            } else if is_text {
                last.kind = BlockKind::Heading;
            }
        }
        self.open = false;
    }
}

/// Says what one line is.
pub(super) fn classify(content: &str, line: Range<usize>) -> BlockLine {
    let mut text = trim(content, line);
    while content[text.clone()].starts_with('>') {
        text = trim(content, text.start + 1..text.end);
    }
    let shown = &content[text.clone()];
    if shown.is_empty() || is_directive(shown) {
        BlockLine::Blank
    } else if looks_like_fence(shown) {
        BlockLine::Fence(language(content, text))
    } else if is_rule(shown) {
        BlockLine::Rule(text)
    } else if let Some(skip) = heading_marker(shown) {
        BlockLine::Heading(trim(content, text.start + skip..text.end))
    } else if let Some(skip) = item_marker(shown) {
        let marker = trim(content, text.start..text.start + skip);
        BlockLine::Item(trim(content, text.start + skip..text.end), marker)
    } else if shown.starts_with('|') {
        BlockLine::Row(inside_bars(content, text))
    } else {
        BlockLine::Text(text)
    }
}

/// The word behind the backticks or tildes of a `fence`.
fn language(content: &str, fence: Range<usize>) -> Range<usize> {
    let text = &content[fence.clone()];
    let info = text.trim_start_matches(['`', '~']);
    let info = trim(content, fence.end - info.len()..fence.end);
    let word = content[info.clone()].split_whitespace().next().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '+' | '#' | '-' | '_' | '.');
    if word.chars().all(is_name) { info.start..info.start + word.len() } else { 0..0 }
}

/// `range` without white space at its ends.
pub(super) fn trim(content: &str, range: Range<usize>) -> Range<usize> {
    let text = &content[range.clone()];
    let start = range.end - text.trim_start().len();
    let end = range.start + text.trim_end().len();
    start..end.max(start)
}

fn inside_bars(content: &str, row: Range<usize>) -> Range<usize> {
    let text = &content[row.clone()];
    let inner = text.trim_start_matches('|');
    let start = row.end - inner.len();
    trim(content, start..start + inner.trim_end_matches('|').len())
}

/// Three or more of the signs that lines are drawn with, and nothing else.
fn is_rule(text: &str) -> bool {
    let drawn = text.chars().filter(|c| matches!(c, '-' | '=' | '_' | '*' | '+')).count();
    drawn >= 3 && text.chars().all(|c| matches!(c, '-' | '=' | '_' | '*' | '+' | '|' | ':' | ' '))
}

/// Length of `## `, if the line starts so.
fn heading_marker(text: &str) -> Option<usize> {
    let level = text.len() - text.trim_start_matches('#').len();
    ((1..=6).contains(&level) && text[level..].starts_with([' ', '\t'])).then_some(level + 1)
}

/// Length of `- `, `* `, `• `, `12. ` or `12) `, if the line starts so and more follows.
fn item_marker(text: &str) -> Option<usize> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let sign = text[digits..].chars().next()?;
    let is_marker = match digits {
        0 => matches!(sign, '-' | '*' | '+' | '•' | '–' | '·' | '‣'),
        1..=3 => matches!(sign, '.' | ')'),
        _ => false,
    };
    let end = digits + sign.len_utf8();
    (is_marker && text[end..].starts_with([' ', '\t'])).then_some(end + 1)
}
