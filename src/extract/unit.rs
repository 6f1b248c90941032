//! # unit: what is a piece of evidence?
//!
//! ```text
//! parts of a passage, and what they hang on → as it is judged, as it is shown
//! ```

use std::ops::Range;
use std::rc::Rc;

use super::announcement::{AnnouncedBy, announced_by};
use super::part::{PartKind, UnitPart, is_usage};
use super::reference::is_reference;
use super::talk::ChatStart;

/// A piece of a passage that can stand as evidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// What is shown, in order: mostly one sentence. Between the parts lie list markers, code
    /// fences and line breaks.
    pub parts: Vec<UnitPart>,
    /// What is read with it: the heading or the question above it.
    pub lead: Option<Range<usize>>,
    /// The numbered list that it is an item of.
    pub list: Option<Rc<Unit>>,
    /// The list without numbers that it is an item of, or the table that it is a row of.
    pub bullets: Option<Rc<Unit>>,
    /// Whether a sentence of the same paragraph stands before it.
    pub follows: bool,
    /// Where the chat begins of whose first turn it is.
    pub opens_talk: Option<ChatStart>,
    /// Whether it is the first sentence of running text under the heading, or of the passage.
    pub opens: bool,
    /// The heading or the question that it stands under, where it is the first such sentence.
    pub section: Option<Range<usize>>,
    /// The heading or the question that it stands under, be it the first sentence there or not.
    pub under: Option<Range<usize>>,
    /// The headings that this one stands below, the nearest first.
    pub above: Rc<[Range<usize>]>,
}

impl Unit {
    /// A piece of `parts` of which nothing else is known.
    pub fn new(parts: Vec<UnitPart>, lead: Option<Range<usize>>) -> Unit {
        Unit {
            parts,
            lead,
            list: None,
            bullets: None,
            follows: false,
            opens_talk: None,
            opens: false,
            section: None,
            under: None,
            above: Rc::default(),
        }
    }

    /// From the beginning of its first part to the end of its last.
    pub fn range(&self) -> Range<usize> {
        let start = self.parts.first().map_or(0, |part| part.range.start);
        let end = self.parts.last().map_or(start, |part| part.range.end);
        start..end
    }

    /// Whether it is a row of a table, which no sentence announces.
    pub fn is_row(&self) -> bool {
        self.parts.first().is_some_and(|part| matches!(part.kind, PartKind::Row(..)))
    }

    /// Whether it is code without a word on it.
    pub fn is_code(&self) -> bool {
        self.parts.iter().all(|part| matches!(part.kind, PartKind::Code(_)))
    }

    /// The code in it, block by block.
    pub fn code<'a>(&'a self, content: &'a str) -> impl Iterator<Item = &'a str> {
        let code = self.parts.iter().filter(|part| matches!(part.kind, PartKind::Code(_)));
        code.map(|part| content[part.range.clone()].trim())
    }

    /// By what it only announces what is not part of it: it tells readers what they are about to read, or ends with a colon,
    /// and nothing behind it belongs to it; or it says where something else is said, be it shown with a heading or not.
    pub fn announcement(&self, content: &str) -> Option<AnnouncedBy> {
        let refers = |it: &UnitPart| is_reference(&content[it.range.clone()], &it.kind);
        match &self.parts[..] {
            [only] if refers(only) => Some(AnnouncedBy::Reference),
            [only] => announced_by(&content[only.range.clone()]),
            [_, listed @ ..] if !listed.is_empty() && listed.iter().all(refers) => {
                Some(AnnouncedBy::Reference)
            }
            _ => None,
        }
    }

    /// What is judged, in one line without markup: the lead, then what is shown.
    pub fn reading(&self, content: &str) -> String {
        let lead = self.lead.clone().map(|range| UnitPart { range, kind: PartKind::Sentence });
        in_one_line(lead.iter().chain(&self.parts), content)
    }

    /// What is judged of it but for its code, to which belongs how a program is called.
    pub fn reading_of_words(&self, content: &str) -> String {
        if self.is_code() || is_usage(&self.shown(content)) {
            return String::new();
        }
        let lead = self.lead.clone().map(|range| UnitPart { range, kind: PartKind::Sentence });
        let is_said = |part: &&UnitPart| !matches!(part.kind, PartKind::Code(_));
        in_one_line(lead.iter().chain(&self.parts).filter(is_said), content)
    }

    /// What is shown, in one line without markup.
    pub fn shown(&self, content: &str) -> String {
        in_one_line(self.parts.iter(), content)
    }
}

fn in_one_line<'a>(parts: impl Iterator<Item = &'a UnitPart>, content: &str) -> String {
    let mut text = String::new();
    for (index, part) in parts.enumerate() {
        let words = part.words(content, true);
        text += if text.is_empty() { "" } else { joint(&text, index) };
        text += &words;
    }
    text
}

/// What is put between `text` and part number `index` of a unit, where the layout of the
/// source stood.
pub(super) fn joint(text: &str, index: usize) -> &'static str {
    match (text.ends_with(|c: char| c.is_alphanumeric() || c == ')'), index) {
        (false, _) => " ",
        (true, 1) => ": ",
        (true, _) => "; ",
    }
}
