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
use std::rc::Rc;

use unicode_segmentation::UnicodeSegmentation;

use super::announcement::{announces, announces_list};
use super::blocks::{BlockKind, TextBlock, blocks, trim};
use super::cut::{LONGEST_UNIT, cut_long, whole_sentences};
use super::fact_lines::{definitions, fact_lines};
use super::heading_stack::{HeadingStack, UNMARKED, level};
use super::markup::{between_block_tags, is_name_of_picture};
use super::part::{PartKind, UnitPart, is_unwrapped};
use super::reference::is_navigation;
use super::title::{is_heading, is_option, option_title, title};
use super::turn::{opening_turn, turns};
use super::unit::Unit;
use crate::text::line::ends_with_colon;
use crate::text::sentence::is_question;

/// Words below which a piece is shown with its lead.
const SHORTEST_ALONE: usize = 4;

/// Longest code that is shown with the sentence before it, in bytes.
const LONGEST_CODE: usize = 2000;

/// Longest code that is shown with a sentence which doesn't announce it with a colon, in bytes.
const LONGEST_UNANNOUNCED: usize = 300;

/// Longest table that is shown whole with the sentence that announces it, in bytes; of a longer one the rows stand for
/// themselves.
const LONGEST_TABLE: usize = 400;

/// Words of the longest numbered item that is shown with the paragraph below it, and bytes of both together.
const LONGEST_STEP: usize = 12;
const LONGEST_EXPLAINED: usize = 600;

/// Longest list that is shown whole where one of its items is the answer, in bytes.
const LONGEST_LIST: usize = 1500;

/// The pieces of `content` that can be evidence, in order.
///
/// They overlap only where a list is there whole, with the sentence that announces it, and
/// item by item.
pub(super) fn units(content: &str) -> Vec<Unit> {
    let blocks = blocks(content);
    let mut pieces = UnitBuilder::new(content);
    for (index, block) in blocks.iter().enumerate() {
        let (before, rest) = (&blocks[..index], &blocks[index + 1..]);
        pieces.enter(block.kind);
        match block.kind {
            BlockKind::Heading => {
                pieces.begin_section(block.range.clone(), level(content, &block.range));
            }
            BlockKind::Columns => pieces.columns = short(&block.range),
            BlockKind::Row => pieces.row(block, rest),
            BlockKind::Code => pieces.code(block),
            BlockKind::Prose if !rest.is_empty() && is_heading(content, &block.range) => {
                pieces.begin_section(block.range.clone(), UNMARKED);
            }
            BlockKind::Prose => {
                let first = pieces.units.len();
                pieces.paragraph(block, rest);
                pieces.open_talk(first, &block.range);
            }
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
    /// The headings that are above what is read, and those that the last of them stands below, the nearest first.
    headings: HeadingStack,
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
        self.heading = short(&range);
        self.above = self.headings.enter(level, self.heading.clone());
        self.is_asked = false;
        self.begin_answer(range);
    }

    /// What follows answers the question or stands under the heading at `range`.
    fn begin_answer(&mut self, range: Range<usize>) {
        self.lead = short(&range);
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

    /// A first line that is a title is no part of the sentence on the next.
    fn paragraph(&mut self, block: &TextBlock, rest: &[TextBlock]) {
        let mut range = block.range.clone();
        let mut title_of = title as fn(&str) -> Option<usize>;
        if self.turns(&range, rest) {
            return;
        }
        if self.definitions(&range) {
            self.announce(rest);
            return;
        }
        while let Some(length) = title_of(&self.content[range.clone()]) {
            if self.facts(&range) {
                self.announce(rest);
                return;
            }
            let title = trim(self.content, range.start..range.start + length);
            range = trim(self.content, range.start + length..range.end);
            if is_option(&self.content[title.clone()]) {
                self.begin_section(title, UNMARKED);
                // An option is told by its first sentence, which is shown with its name.
                (self.heading, self.under) = (None, None);
            } else if is_heading(self.content, &title) {
                self.begin_section(title, UNMARKED);
            } else {
                self.push(title, &PartKind::Sentence, None);
            }
            // Below the name of a group of options stands the first of them.
            title_of = option_title;
        }
        if !self.facts(&range) {
            self.running_text(range);
        }
        self.announce(rest);
    }

    fn running_text(&mut self, range: Range<usize>) {
        let text = &self.content[range.clone()];
        let has_lines = text.contains('\n') && is_unwrapped(text);
        self.text(range, &if has_lines { PartKind::Lines } else { PartKind::Sentence });
    }

    /// Reads a paragraph of questions and answers with the signs of who speaks. All that the asker says is the question.
    fn turns(&mut self, range: &Range<usize>, rest: &[TextBlock]) -> bool {
        let below = rest.first().filter(|it| it.kind == BlockKind::Prose);
        let below = below.map_or("", |it| &self.content[it.range.clone()]);
        let found = turns(&self.content[range.clone()], below, self.is_asked);
        let first = self.units.len();
        for turn in &found {
            let said = within(range, turn.range.clone());
            if turn.asks {
                self.begin_section(said, UNMARKED);
                self.is_asked = true;
            } else if !said.is_empty() {
                self.running_text(said);
            }
        }
        if self.units.len() > first {
            self.announce(rest);
        }
        !found.is_empty()
    }

    /// Notes which of the units from `first` on are of the first turn, where the paragraph at `range` is a chat.
    fn open_talk(&mut self, first: usize, range: &Range<usize>) {
        let is_below = first > 0;
        let Some(length) = opening_turn(&self.content[range.clone()]).filter(|_| !is_below) else {
            return;
        };
        let end = range.start + length;
        self.units[first..].iter_mut().for_each(|it| it.opens_talk = it.range().end <= end);
    }

    /// Reads a paragraph of terms, each with what it means in the lines below it.
    fn definitions(&mut self, range: &Range<usize>) -> bool {
        let Some(found) = definitions(&self.content[range.clone()]) else { return false };
        for definition in found {
            let part =
                |it: Range<usize>| UnitPart { range: within(range, it), kind: PartKind::Sentence };
            let lead = self.lead.take();
            let unit = self.unit(definition.into_iter().map(part).collect(), lead);
            self.units.push(unit);
        }
        self.is_new = false;
        true
    }

    /// Reads a paragraph of which each line tells a fact of its own, as the items of a list.
    fn facts(&mut self, range: &Range<usize>) -> bool {
        let Some(lines) = fact_lines(&self.content[range.clone()]) else { return false };
        let kind = PartKind::Item(None);
        let part = |it: Range<usize>| UnitPart { range: within(range, it), kind: kind.clone() };
        let parts: Vec<UnitPart> = lines.into_iter().map(part).collect();
        let whole = self.all_of(parts.clone()).map(Rc::new);
        let first = self.units.len();
        parts.into_iter().for_each(|part| self.piece(part.range, &kind));
        self.units[first..].iter_mut().for_each(|it| it.bullets.clone_from(&whole));
        self.is_new = false;
        true
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
        if is_indented && is_short && below.range.end - item.range.start <= LONGEST_EXPLAINED {
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
        let mut follows = false;
        let sentences = whole_sentences(&self.content[range.clone()]);
        let is_alone = sentences.len() == 1;
        for sentence in sentences {
            let sentence = range.start + sentence.start..range.start + sentence.end;
            let text = self.content[sentence.clone()].trim_end_matches(['*', '_']);
            if is_name_of_picture(text) {
                continue;
            }
            match is_question(text) {
                true if is_alone => self.begin_section(sentence, UNMARKED),
                true => self.begin_answer(sentence),
                false => {
                    let first = self.units.len();
                    self.piece(sentence, kind);
                    self.units[first..].iter_mut().for_each(|unit| unit.follows = follows);
                    self.open_section(first);
                }
            }
            follows = true;
        }
        self.under.clone_from(&self.heading);
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

    /// All rows of a table are read with its lead.
    fn row(&mut self, block: &TextBlock, rest: &[TextBlock]) {
        let lead = self.lead.take().and_then(|lead| short(&lead));
        self.is_new = false;
        let kind = PartKind::Row(self.columns.clone());
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
        let section = self.section.as_ref().and_then(short);
        let whole = Unit { section, ..self.unit(parts, None) };
        (whole.parts.len() > 1 && whole.range().len() <= LONGEST_LIST).then_some(whole)
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
        let fits = short(&range).is_some() && !matches!(kind, PartKind::Code(_));
        let is_needed =
            |lead: &Range<usize>| is_short || fits && is_option(&self.content[lead.clone()]);
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
        let (Some(last), Some(next)) = (self.units.last_mut(), rest.first()) else { return };
        let range = last.range();
        let text = &self.content[range.clone()];
        // An item that does not end is none that brings the next.
        let is_sentence = last.parts.last().is_some_and(|it| it.kind == PartKind::Sentence);
        let announces = match next.kind {
            BlockKind::Item if is_sentence => announces_list(text),
            _ => announces(text),
        };
        let most = match (next.kind, announces) {
            (BlockKind::Code, true) => LONGEST_CODE,
            (BlockKind::Code, false) => LONGEST_UNANNOUNCED,
            _ => LONGEST_UNIT,
        };
        let fits = |block: &&TextBlock| block.range.end - range.end <= most;
        if announces && next.kind == BlockKind::Columns {
            let rows = rest[1..].iter().take_while(|block| block.kind == BlockKind::Row);
            let kind = PartKind::Row(short(&next.range));
            let row =
                |block: &TextBlock| UnitPart { range: block.range.clone(), kind: kind.clone() };
            if rows.clone().all(|block| block.range.end - range.end <= LONGEST_TABLE) {
                last.parts.extend(rows.map(row));
            }
            return;
        }
        let wanted = |block: &&TextBlock| {
            let is_wanted = block.kind == next.kind
                && (block.kind == BlockKind::Code || announces && block.kind == BlockKind::Item);
            is_wanted && fits(block)
        };
        last.parts.extend(rest.iter().take_while(wanted).map(item_or_code));
    }
}

/// A block of a list, or code.
fn item_or_code(block: &TextBlock) -> UnitPart {
    let kind = match block.kind {
        BlockKind::Code => PartKind::Code(block.label.clone()),
        _ => PartKind::Item(block.label.clone()),
    };
    UnitPart { range: block.range.clone(), kind }
}

/// What is `inner` of the text at `range`, in the content.
fn within(range: &Range<usize>, inner: Range<usize>) -> Range<usize> {
    range.start + inner.start..range.start + inner.end
}

/// `range`, unless it is too long to be read with each of the pieces below it.
fn short(range: &Range<usize>) -> Option<Range<usize>> {
    (range.len() <= LONGEST_UNIT).then(|| range.clone())
}
