//! # blocks: how is this passage laid out?
//!
//! ```text
//! content → paragraphs, list items, table rows, code, headings, with byte ranges
//! ```
//!
//! A passage is a piece of a document of unknown kind, cut at an unknown place. So this is
//! no Markdown parser: it looks at one line at a time and reads plain text as paragraphs.
//! What it takes for markup never loses text, it only decides what may stand as evidence.

use std::ops::Range;

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
    /// A heading, or the header row of a table: names what follows, says nothing itself.
    Heading,
}

/// A stretch of lines of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextBlock {
    /// Where it lies in the content, in bytes, without markers and outer white space.
    pub range: Range<usize>,
    /// What kind of lines they are.
    pub kind: BlockKind,
}

/// Cuts `content` into blocks, in order.
pub(super) fn blocks(content: &str) -> Vec<TextBlock> {
    let mut layout = Layout::default();
    for line in lines(content) {
        layout.add(content, line);
    }
    layout.done
}

/// What one line says about the layout; ranges are of the text without its marker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BlockLine {
    /// Only white space.
    Blank,
    /// A fence of backticks or tildes.
    Fence,
    /// A line drawn with punctuation: under a heading, between table rows, across the page.
    Rule,
    /// `# Heading`
    Heading(Range<usize>),
    /// `- item`, `1. item`
    Item(Range<usize>),
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
    in_fence: bool,
}

impl Layout {
    fn add(&mut self, content: &str, line: Range<usize>) {
        match classify(content, line.clone()) {
            BlockLine::Fence => {
                self.in_fence = !self.in_fence;
                self.open = false;
            }
            BlockLine::Blank if self.in_fence => {}
            _ if self.in_fence => self.extend(line.start..trim(content, line).end, BlockKind::Code),
            BlockLine::Blank => self.open = false,
            BlockLine::Rule => self.rule(),
            BlockLine::Heading(text) => self.push(text, BlockKind::Heading),
            BlockLine::Item(text) => {
                self.push(text, BlockKind::Item);
                self.open = true;
            }
            BlockLine::Row(text) => self.push(text, BlockKind::Row),
            BlockLine::Text(text) => self.extend(text, BlockKind::Prose),
        }
    }

    fn push(&mut self, range: Range<usize>, kind: BlockKind) {
        self.open = false;
        if !range.is_empty() {
            self.done.push(TextBlock { range, kind });
        }
    }

    /// Lines of text go on with the paragraph, list item or code that is open.
    fn extend(&mut self, range: Range<usize>, kind: BlockKind) {
        match self.done.last_mut() {
            Some(last) if self.open => last.range.end = range.end,
            _ => self.push(range, kind),
        }
        self.open = true;
    }

    /// The line above a rule was a heading, of a section or of a table's columns.
    fn rule(&mut self) {
        if let Some(last) = self.done.last_mut() {
            let underlined = self.open && last.kind == BlockKind::Prose;
            if underlined || last.kind == BlockKind::Row {
                last.kind = BlockKind::Heading;
            }
        }
        self.open = false;
    }
}

/// The lines of `content` as byte ranges, without their ends.
fn lines(content: &str) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    content.split_inclusive('\n').map(move |line| {
        let range = start..start + line.trim_end_matches(['\n', '\r']).len();
        start += line.len();
        range
    })
}

/// Says what one line is.
pub(super) fn classify(content: &str, line: Range<usize>) -> BlockLine {
    let mut text = trim(content, line);
    while content[text.clone()].starts_with('>') {
        text = trim(content, text.start + 1..text.end);
    }
    let shown = &content[text.clone()];
    if shown.is_empty() {
        BlockLine::Blank
    } else if shown.starts_with("```") || shown.starts_with("~~~") {
        BlockLine::Fence
    } else if is_rule(shown) {
        BlockLine::Rule
    } else if let Some(skip) = heading_marker(shown) {
        BlockLine::Heading(trim(content, text.start + skip..text.end))
    } else if let Some(skip) = item_marker(shown) {
        BlockLine::Item(trim(content, text.start + skip..text.end))
    } else if shown.starts_with('|') {
        BlockLine::Row(inside_bars(content, text))
    } else {
        BlockLine::Text(text)
    }
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
