//! # units: which pieces of a passage can be evidence?
//!
//! ```text
//! content → sentences, list items, table rows and code, with what they hang on
//! ```
//!
//! A heading or a question answers nothing, however much it resembles what is asked; but it
//! tells what the next piece is about. So it becomes that piece's *lead*: read with it, and
//! shown with it where the piece alone would say too little.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::blocks::{BlockKind, TextBlock, blocks, trim};
use crate::text::sentence::sentences;

/// Words up to which a line that ends without a full stop may be a heading.
const LONGEST_HEADING: usize = 8;

/// Words below which a piece is shown with its lead.
const SHORTEST_ALONE: usize = 4;

/// Longest unit in bytes. Text that goes on for longer without a full stop is cut where a
/// line or a word ends.
const LONGEST_UNIT: usize = 800;

/// A piece of a passage that can stand as evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// What is shown, in bytes of the content, in order: mostly one sentence. Between the
    /// parts lie list markers, code fences and line breaks.
    pub parts: Vec<Range<usize>>,
    /// What is read with it: the heading, header row or question above it.
    pub lead: Option<Range<usize>>,
}

impl Unit {
    /// From the beginning of its first part to the end of its last.
    pub fn range(&self) -> Range<usize> {
        let start = self.parts.first().map_or(0, |part| part.start);
        let end = self.parts.last().map_or(start, |part| part.end);
        start..end
    }

    /// What a reader sees, in one line.
    pub fn text(&self, content: &str) -> String {
        let mut text = String::new();
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                text += joint(&text, index);
            }
            flatten(&content[part.clone()], &mut text);
        }
        text
    }

    /// What is judged: the lead, then the text.
    pub fn reading(&self, content: &str) -> String {
        let mut text = String::new();
        if let Some(lead) = &self.lead {
            flatten(&content[lead.clone()], &mut text);
            text += joint(&text, 1);
        }
        text + &self.text(content)
    }
}

/// The pieces of `content` that can be evidence, in order.
///
/// They overlap only where a list is there whole, with the sentence that announces it, and
/// item by item.
pub(super) fn units(content: &str) -> Vec<Unit> {
    let blocks = blocks(content);
    let mut pieces = UnitBuilder { content, units: Vec::new(), lead: None };
    for (index, block) in blocks.iter().enumerate() {
        let rest = &blocks[index + 1..];
        match block.kind {
            BlockKind::Heading => pieces.lead = Some(block.range.clone()),
            BlockKind::Row => pieces.row(block, rest.first()),
            BlockKind::Code => pieces.code(block),
            BlockKind::Prose if !rest.is_empty() && is_heading(content, block) => {
                pieces.lead = Some(block.range.clone());
            }
            BlockKind::Prose | BlockKind::Item => {
                pieces.text(block);
                pieces.announce(rest);
            }
        }
    }
    pieces.units
}

struct UnitBuilder<'a> {
    content: &'a str,
    units: Vec<Unit>,
    lead: Option<Range<usize>>,
}

impl UnitBuilder<'_> {
    fn text(&mut self, block: &TextBlock) {
        let start = block.range.start;
        for sentence in sentences(&self.content[block.range.clone()]) {
            let sentence = start + sentence.start..start + sentence.end;
            if self.content[sentence.clone()].ends_with(['?', '？', '؟']) {
                self.lead = Some(sentence);
            } else {
                self.piece(sentence);
            }
        }
    }

    /// All rows of a table are read with its header, which therefore stays the lead.
    fn row(&mut self, block: &TextBlock, next: Option<&TextBlock>) {
        let lead = self.lead.take();
        self.push(block.range.clone(), lead.clone());
        if next.is_some_and(|next| next.kind == BlockKind::Row) {
            self.lead = lead;
        }
    }

    /// Code that no sentence announced stands for itself.
    fn code(&mut self, block: &TextBlock) {
        if self.units.last().is_none_or(|last| last.range().end < block.range.end) {
            self.piece(block.range.clone());
        }
    }

    /// Adds a piece with the lead that waits for one; a short one begins with its lead.
    fn piece(&mut self, range: Range<usize>) {
        let short = self.content[range.clone()].unicode_words().nth(SHORTEST_ALONE - 1).is_none();
        match self.lead.take() {
            Some(lead) if short && !range.is_empty() => {
                self.units.push(Unit { parts: vec![lead, range], lead: None });
            }
            lead => self.push(range, lead),
        }
    }

    fn push(&mut self, range: Range<usize>, lead: Option<Range<usize>>) {
        for part in cut_long(self.content, range) {
            if self.content[part.clone()].contains(char::is_alphanumeric) {
                self.units.push(Unit { parts: vec![part], lead: lead.clone() });
            }
        }
    }

    /// A sentence that announces code or a list takes it in, if it is not too long.
    fn announce(&mut self, rest: &[TextBlock]) {
        let (Some(last), Some(next)) = (self.units.last_mut(), rest.first()) else { return };
        let range = last.range();
        let announces = self.content[range.clone()].ends_with([':', '：']);
        let wanted = |block: &&TextBlock| {
            let is_wanted = block.kind == next.kind
                && (block.kind == BlockKind::Code || announces && block.kind == BlockKind::Item);
            is_wanted && block.range.end - range.start <= LONGEST_UNIT
        };
        last.parts.extend(rest.iter().take_while(wanted).map(|block| block.range.clone()));
    }
}

/// What is put between `text` and part number `index` of a unit, where the layout of the
/// source stood.
fn joint(text: &str, index: usize) -> &'static str {
    match (text.ends_with(|c: char| c.is_alphanumeric() || c == ')'), index) {
        (false, _) => " ",
        (true, 1) => ": ",
        (true, _) => "; ",
    }
}

/// Appends `part` with each run of white space as one space.
fn flatten(part: &str, text: &mut String) {
    for (index, word) in part.split_whitespace().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
}

/// One short line that ends like no sentence and holds no number.
fn is_heading(content: &str, block: &TextBlock) -> bool {
    let text = &content[block.range.clone()];
    !text.contains('\n')
        && !text.contains(char::is_numeric)
        && text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '\u{201d}'))
        && text.unicode_words().nth(LONGEST_HEADING).is_none()
}

/// `range` in parts of at most [`LONGEST_UNIT`] bytes.
fn cut_long(content: &str, range: Range<usize>) -> Vec<Range<usize>> {
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
