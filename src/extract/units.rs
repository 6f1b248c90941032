//! # units: which pieces of a passage can be evidence?
//!
//! ```text
//! content → sentences, list items, table rows and code, with what they hang on
//! ```
//!
//! A heading or a question answers nothing, however much it resembles what is asked; but it
//! tells what the next piece is about. So it becomes that piece's *lead*: read with it, and
//! shown with it where the piece alone would say too little.

mod paragraph;

use std::ops::Range;
use std::rc::Rc;

use unicode_segmentation::UnicodeSegmentation;

use super::announced::{item_or_code, take_in};
use super::announcement::announces_list;
use super::blocks::{BlockKind, TextBlock, blocks, trim};
use super::cut::{cut_long, short, whole_sentences};
use super::heading_stack::{HeadingStack, UNMARKED, level};
use super::markup::{between_block_tags, is_name_of_picture};
use super::part::{PartKind, UnitPart};
use super::quotation::unquoted;
use super::reference::is_navigation;
use super::release::release_lines;
use super::talk::messages;
use super::title::{is_heading, is_option, names_option};
use super::unit::Unit;
use super::wrapping::is_unwrapped;
use crate::text::length::is_within;
use crate::text::line::{ends_with_colon, with_line_feeds};
use crate::text::sentence::is_question;

/// Words below which a piece is shown with its lead.
const SHORTEST_ALONE: usize = 4;

/// Words of the longest numbered item that is shown with the paragraph below it, and the [`length`](crate::text::length) of both
/// together.
const LONGEST_STEP: usize = 12;
const LONGEST_EXPLAINED: usize = 600;

/// Longest list that is shown whole where one of its items is the answer.
const LONGEST_LIST: usize = 1500;

/// The pieces of `content` that can be evidence, in order.
///
/// They overlap only where a list is there whole, with the sentence that announces it, and
/// item by item.
pub(super) fn units(content: &str) -> Vec<Unit> {
    let content = with_line_feeds(content);
    let content = &*content;
    let blocks = blocks(content);
    let messages = messages(content, &blocks);
    let releases = release_lines(content, &blocks);
    let mut pieces = UnitBuilder::new(content);
    for (index, block) in blocks.iter().enumerate() {
        let (before, rest) = (&blocks[..index], &blocks[index + 1..]);
        pieces.enter(block.kind);
        match block.kind {
            BlockKind::Heading => {
                pieces.begin_section(block.range.clone(), level(content, &block.range));
            }
            BlockKind::Columns => pieces.begin_table(block),
            BlockKind::Row => pieces.row(block, rest),
            BlockKind::Code => pieces.code(block),
            BlockKind::Prose if !messages[index].is_empty() => pieces.talk(&messages[index], rest),
            BlockKind::Prose => pieces.prose(block, rest, &releases),
            BlockKind::Item => pieces.item(block, before.last(), rest),
        }
    }
    pieces.units
}

struct UnitBuilder<'a> {
    content: &'a str,
    units: Vec<Unit>,
    lead: Option<Range<usize>>,
    /// The heading or the question that is above what is read.
    section: Option<Range<usize>>,
    /// Whether nothing has been said below it.
    is_new: bool,
    /// What all pieces stand under up to the next heading: the last one, or a question with a paragraph of its own.
    heading: Option<Range<usize>>,
    /// What the next piece stands under: that, or a question that is answered in its own paragraph.
    under: Option<Range<usize>>,
    /// The headings that are above what is read, those of them that the last one stands below, and those that `under` stands below,
    /// the nearest first.
    headings: HeadingStack,
    outer: Rc<[Range<usize>]>,
    above: Rc<[Range<usize>]>,
    /// Whether a question that the sign of its asker stands before is above what is read.
    is_asked: bool,
    /// The header of the table that is read.
    columns: Option<Range<usize>>,
    /// The table that is read, if it is short enough to be shown, and whether one is read.
    table: Option<Rc<Unit>>,
    in_table: bool,
    /// The list that is read, if it is short enough to be shown, and whether it has numbers.
    list: Option<Rc<Unit>>,
    is_numbered: bool,
    in_list: bool,
}

impl UnitBuilder<'_> {
    fn new(content: &str) -> UnitBuilder<'_> {
        UnitBuilder {
            content,
            units: Vec::new(),
            lead: None,
            section: None,
            is_new: true,
            heading: None,
            under: None,
            headings: HeadingStack::default(),
            outer: Rc::default(),
            above: Rc::default(),
            is_asked: false,
            columns: None,
            table: None,
            in_table: false,
            list: None,
            is_numbered: false,
            in_list: false,
        }
    }

    /// What follows stands under the heading at `range`, which is of a `level`.
    fn begin_section(&mut self, range: Range<usize>, level: usize) {
        self.heading = short(self.content, &range);
        self.outer = self.headings.enter(level, self.heading.clone());
        self.above = Rc::clone(&self.outer);
        self.is_asked = false;
        self.begin_below(range);
    }

    /// What follows in the paragraph answers the question at `range`, which stands below all headings.
    fn begin_answer(&mut self, range: Range<usize>) {
        self.above = self.headings.all();
        self.begin_below(range);
    }

    /// What follows the paragraph stands under the last heading again.
    fn end_answer(&mut self) {
        self.under.clone_from(&self.heading);
        self.above = Rc::clone(&self.outer);
    }

    fn begin_below(&mut self, range: Range<usize>) {
        self.lead = short(self.content, &range);
        self.under.clone_from(&self.lead);
        (self.section, self.is_new) = (Some(range), true);
    }

    /// Leaves the table or the list that a block of `kind` is not part of.
    fn enter(&mut self, kind: BlockKind) {
        if kind != BlockKind::Row {
            (self.columns, self.table, self.in_table) = (None, None, false);
        }
        if !matches!(kind, BlockKind::Item | BlockKind::Code) {
            (self.list, self.in_list) = (None, false);
        }
    }

    fn item(&mut self, block: &TextBlock, before: Option<&TextBlock>, rest: &[TextBlock]) {
        if is_navigation(&self.content[block.range.clone()]) {
            return;
        }
        if !self.in_list {
            self.list = self.whole_list(block, before, rest).map(Rc::new);
            self.is_numbered = block.label.is_some();
        }
        self.in_list = true;
        let first = self.units.len();
        self.text(block.range.clone(), &PartKind::Item(block.label.clone()));
        self.announce(rest);
        self.explain(first, block, rest);
        for unit in &mut self.units[first..] {
            let list = if self.is_numbered { &mut unit.list } else { &mut unit.bullets };
            list.clone_from(&self.list);
        }
    }

    /// A numbered item that is one short sentence takes in the paragraph below it, which is part of it: "4. It returns an error."
    fn explain(&mut self, first: usize, item: &TextBlock, rest: &[TextBlock]) {
        let below = rest.first().filter(|it| it.kind == BlockKind::Prose && item.label.is_some());
        let ([unit], Some(below)) = (&mut self.units[first..], below) else { return };
        let line = self.content[..below.range.start].rfind('\n').map_or(0, |at| at + 1);
        let is_indented = line < below.range.start;
        let is_short = self.content[item.range.clone()].unicode_words().nth(LONGEST_STEP).is_none();
        let both = &self.content[item.range.start..below.range.end];
        if is_indented && is_short && is_within(both, LONGEST_EXPLAINED) {
            let kind = PartKind::Sentence;
            unit.parts.push(UnitPart { range: below.range.clone(), kind });
        }
    }

    /// The list that begins with `first`, with the sentence before that announces it; `None` where
    /// it is too long.
    fn whole_list(
        &self,
        first: &TextBlock,
        before: Option<&TextBlock>,
        rest: &[TextBlock],
    ) -> Option<Unit> {
        let is_of_list = |it: &&TextBlock| matches!(it.kind, BlockKind::Item | BlockKind::Code);
        let mut blocks: Vec<&TextBlock> = rest.iter().take_while(is_of_list).collect();
        blocks.insert(0, first);
        let said = self.units.last().map_or(&[][..], |last| &last.parts);
        let is_next = |it: &&UnitPart| before.is_some_and(|one| one.range.end == it.range.end);
        let announced = said.iter().find(is_next);
        let announced = announced.filter(|it| announces_list(&self.content[it.range.clone()]));
        let parts = blocks.into_iter().map(item_or_code);
        self.all_of(announced.cloned().into_iter().chain(parts).collect())
    }

    /// Cuts text at tags of HTML; a heading between them is no part of the sentence behind it.
    fn text(&mut self, range: Range<usize>, kind: &PartKind) {
        let parts = between_block_tags(&self.content[range.clone()]);
        for (at, part) in parts.iter().enumerate() {
            let part = trim(self.content, range.start + part.start..range.start + part.end);
            if at + 1 < parts.len() && is_heading(self.content, &part) {
                self.begin_section(part, UNMARKED);
            } else if !part.is_empty() {
                self.sentences(part, kind);
            }
        }
    }

    /// A question that is all there is stands above what follows as a heading does, another one above the rest of `range`.
    fn sentences(&mut self, range: Range<usize>, kind: &PartKind) {
        let sentences = self.sentences_of(&range);
        match &sentences[..] {
            [only] if is_question(self.bare(only)) => self.begin_section(only.clone(), UNMARKED),
            _ => self.say(sentences, kind),
        }
        self.end_answer();
    }

    fn sentences_of(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let sentences = whole_sentences(&self.content[range.clone()]);
        sentences.into_iter().map(|it| within(range, it)).collect()
    }

    /// The sentence at `range` without the emphasis that ends with it.
    fn bare(&self, range: &Range<usize>) -> &str {
        self.content[range.clone()].trim_end_matches(['*', '_'])
    }

    fn say(&mut self, sentences: Vec<Range<usize>>, kind: &PartKind) {
        let mut follows = false;
        for sentence in sentences {
            let text = self.bare(&sentence);
            if is_name_of_picture(text) {
                continue;
            }
            if is_question(text) {
                self.begin_answer(sentence);
            } else {
                let first = self.units.len();
                self.piece(sentence, kind);
                self.units[first..].iter_mut().for_each(|unit| unit.follows = follows);
                self.open_section(first);
            }
            follows = true;
        }
    }

    /// Units from `first` on are what the section says first. An announcement ("Syntax:") and a single word say nothing of
    /// it, and a list goes into detail at once.
    fn open_section(&mut self, first: usize) {
        let Some(unit) = self.units.get_mut(first).filter(|_| self.is_new) else { return };
        let Some(last) = unit.parts.last() else { return };
        let text = &self.content[last.range.clone()];
        let is_text = matches!(last.kind, PartKind::Sentence | PartKind::Lines);
        if is_text && (ends_with_colon(text) || text.unicode_words().nth(1).is_none()) {
            return;
        }
        self.is_new = false;
        if is_text {
            (unit.opens, unit.section) = (true, self.section.clone());
        }
    }

    /// What follows are rows below the header `block`.
    fn begin_table(&mut self, block: &TextBlock) {
        self.columns = short(self.content, &block.range);
        (self.table, self.in_table) = (None, false);
    }

    /// All rows of a table are read with its lead.
    fn row(&mut self, block: &TextBlock, rest: &[TextBlock]) {
        let lead = self.lead.take().and_then(|lead| short(self.content, &lead));
        self.is_new = false;
        let kind = PartKind::Row(self.columns.clone(), block.cells);
        if !std::mem::replace(&mut self.in_table, true) {
            let rows = rest.iter().take_while(|it| it.kind == BlockKind::Row);
            let part = |it: &TextBlock| UnitPart { range: it.range.clone(), kind: kind.clone() };
            let parts = [block].into_iter().chain(rows).map(part).collect();
            self.table = self.all_of(parts).map(Rc::new);
        }
        let first = self.units.len();
        self.push(block.range.clone(), &kind, lead.clone());
        self.units[first..].iter_mut().for_each(|it| it.bullets.clone_from(&self.table));
        if rest.first().is_some_and(|next| next.kind == BlockKind::Row) {
            self.lead = lead;
        }
    }

    /// A list or a table of several `parts`, if it is short enough to be shown whole.
    fn all_of(&self, parts: Vec<UnitPart>) -> Option<Unit> {
        let section = self.section.as_ref().and_then(|range| short(self.content, range));
        let whole = Unit { section, ..self.unit(parts, None) };
        let is_shown =
            whole.parts.len() > 1 && is_within(&self.content[whole.range()], LONGEST_LIST);
        is_shown.then_some(whole)
    }

    /// Code that no sentence announced stands for itself.
    fn code(&mut self, block: &TextBlock) {
        if self.units.last().is_none_or(|last| last.range().end < block.range.end) {
            self.piece(block.range.clone(), &PartKind::Code(block.label.clone()));
        }
    }

    /// Adds a piece with the lead that waits for one; a short one begins with its lead.
    fn piece(&mut self, range: Range<usize>, kind: &PartKind) {
        let is_short =
            self.content[range.clone()].unicode_words().nth(SHORTEST_ALONE - 1).is_none();
        let fits = short(self.content, &range).is_some() && !matches!(kind, PartKind::Code(_));
        let names = |lead: &Range<usize>| {
            let lead = &self.content[lead.clone()];
            is_option(lead) && !names_option(&self.content[range.clone()], lead)
        };
        let is_needed = |lead: &Range<usize>| is_short || fits && names(lead);
        match self.lead.take() {
            Some(lead) if is_needed(&lead) && !range.is_empty() => {
                let lead = UnitPart { range: lead, kind: PartKind::Sentence };
                let parts = vec![lead, UnitPart { range, kind: kind.clone() }];
                self.units.push(self.unit(parts, None));
            }
            lead => self.push(range, kind, lead),
        }
    }

    fn push(&mut self, range: Range<usize>, kind: &PartKind, lead: Option<Range<usize>>) {
        for range in cut_long(self.content, range) {
            let part = UnitPart { range, kind: kind.clone() };
            if part.words(self.content, true).contains(char::is_alphanumeric) {
                self.units.push(self.unit(vec![part], lead.clone()));
            }
        }
    }

    /// A piece that stands under what is above it.
    fn unit(&self, parts: Vec<UnitPart>, lead: Option<Range<usize>>) -> Unit {
        let (under, above) = (self.under.clone(), self.above.clone());
        Unit { under, above, ..Unit::new(parts, lead) }
    }

    /// A sentence that announces code, a list or a table takes it in, if it is not too long.
    fn announce(&mut self, rest: &[TextBlock]) {
        if let Some(last) = self.units.last_mut() {
            take_in(last, self.content, rest);
        }
    }
}

/// How the running text of a paragraph is read.
fn kind_of_text(content: &str, range: &Range<usize>) -> PartKind {
    let text = unquoted(content, range);
    let has_lines = text.contains('\n') && is_unwrapped(&text);
    if has_lines { PartKind::Lines } else { PartKind::Sentence }
}

/// What is `inner` of the text at `range`, in the content.
fn within(range: &Range<usize>, inner: Range<usize>) -> Range<usize> {
    range.start + inner.start..range.start + inner.end
}
