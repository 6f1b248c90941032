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

use super::announcement::{AnnouncedBy, announced_by, announces, announces_list};
use super::blocks::{BlockKind, TextBlock, blocks, trim};
use super::cut::{LONGEST_UNIT, cut_long, whole_sentences};
use super::markup::{between_block_tags, is_name_of_picture};
use super::part::{PartKind, UnitPart, is_unwrapped, is_usage};
use super::reference::{is_navigation, is_reference};
use super::title::{is_heading, is_option, option_title, title};
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
    /// Whether it is the first sentence of running text under the heading, or of the passage.
    pub opens: bool,
    /// The heading or the question that it stands under, where it is the first such sentence.
    pub section: Option<Range<usize>>,
    /// The heading or the question that it stands under, be it the first sentence there or not.
    pub under: Option<Range<usize>>,
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
            opens: false,
            section: None,
            under: None,
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
        self.parts.first().is_some_and(|part| matches!(part.kind, PartKind::Row(_)))
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
            BlockKind::Heading => pieces.begin_section(block.range.clone()),
            BlockKind::Columns => pieces.columns = short(&block.range),
            BlockKind::Row => pieces.row(block, rest),
            BlockKind::Code => pieces.code(block),
            BlockKind::Prose if !rest.is_empty() && is_heading(content, &block.range) => {
                pieces.begin_section(block.range.clone());
            }
            BlockKind::Prose => pieces.paragraph(block, rest),
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
            columns: None,
            table: None,
            in_table: false,
            list: None,
            is_numbered: false,
            in_list: false,
        }
    }

    /// What follows stands under the heading at `range`.
    fn begin_section(&mut self, range: Range<usize>) {
        self.heading = short(&range);
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
        while let Some(length) = title_of(&self.content[range.clone()]) {
            let title = trim(self.content, range.start..range.start + length);
            range = trim(self.content, range.start + length..range.end);
            if is_option(&self.content[title.clone()]) {
                self.begin_section(title);
                // An option is told by its first sentence, which is shown with its name.
                (self.heading, self.under) = (None, None);
            } else if is_heading(self.content, &title) {
                self.begin_section(title);
            } else {
                self.push(title, &PartKind::Sentence, None);
            }
            // Below the name of a group of options stands the first of them.
            title_of = option_title;
        }
        let text = &self.content[range.clone()];
        let has_lines = text.contains('\n') && is_unwrapped(text);
        self.text(range, &if has_lines { PartKind::Lines } else { PartKind::Sentence });
        self.announce(rest);
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
                self.begin_section(part);
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
                true if is_alone => self.begin_section(sentence),
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
        let whole = Unit { section, ..Unit::new(parts, None) };
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
                self.units.push(Unit { under: self.under.clone(), ..Unit::new(parts, None) });
            }
            lead => self.push(range, kind, lead),
        }
    }

    fn push(&mut self, range: Range<usize>, kind: &PartKind, lead: Option<Range<usize>>) {
        for range in cut_long(self.content, range) {
            let part = UnitPart { range, kind: kind.clone() };
            if part.words(self.content, true).contains(char::is_alphanumeric) {
                let unit = Unit::new(vec![part], lead.clone());
                self.units.push(Unit { under: self.under.clone(), ..unit });
            }
        }
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

/// `range`, unless it is too long to be read with each of the pieces below it.
fn short(range: &Range<usize>) -> Option<Range<usize>> {
    (range.len() <= LONGEST_UNIT).then(|| range.clone())
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
