//! The pieces of a paragraph: what is said by whom, lines that tell a fact each, and sentences.

use std::ops::Range;
use std::rc::Rc;

use super::{UnitBuilder, kind_of_text, within};
use crate::extract::blocks::{BlockKind, TextBlock, trim};
use crate::extract::fact_lines::{definitions, fact_lines, most_fact_lines};
use crate::extract::heading_stack::{RELEASE_LINE, UNMARKED};
use crate::extract::part::{PartKind, UnitPart};
use crate::extract::quotation::{unquoted, without_signs};
use crate::extract::talk::ChatMessage;
use crate::extract::title::{is_heading, is_option, option_title, title};
use crate::extract::turn::turns;
use crate::text::line::strong_line;
use crate::text::sentence::is_question;

impl UnitBuilder<'_> {
    /// Reads a paragraph, in which lines of `releases` stand above what follows each.
    pub(super) fn prose(
        &mut self,
        block: &TextBlock,
        rest: &[TextBlock],
        releases: &[Range<usize>],
    ) {
        let range = &block.range;
        let first = releases.partition_point(|it| it.start < range.start);
        let mut start = range.start;
        for line in releases[first..].iter().take_while(|it| it.end <= range.end) {
            self.stretch(start..line.start, &[]);
            self.begin_section(line.clone(), RELEASE_LINE);
            start = line.end;
        }
        self.stretch(start..range.end, rest);
    }

    /// Reads a stretch of a paragraph, which may be nothing but a heading.
    fn stretch(&mut self, range: Range<usize>, rest: &[TextBlock]) {
        // Below a line of a quotation the signs of the next line stand first.
        let range = without_signs(self.content, trim(self.content, range));
        if !rest.is_empty() && is_option(&self.content[range.clone()]) {
            self.begin_option(range);
        } else if !rest.is_empty() && is_heading(self.content, &range) {
            self.begin_section(range, UNMARKED);
        } else if let Some(heading) = emphasised_heading(self.content, &range, rest) {
            self.begin_section(heading, UNMARKED);
        } else if !range.is_empty() {
            self.paragraph(range, rest);
        }
    }

    /// A first line that is a title is no part of the sentence on the next.
    fn paragraph(&mut self, mut range: Range<usize>, rest: &[TextBlock]) {
        let mut title_of = title as fn(&str) -> Option<usize>;
        if self.turns(&range, rest) {
            return;
        }
        if self.definitions(&range) {
            self.announce(rest);
            return;
        }
        // Those signs of a quotation that are left stand before its other lines.
        while let Some(length) = title_of(&unquoted(self.content, &range)) {
            if self.facts(&range) {
                self.announce(rest);
                return;
            }
            let title = trim(self.content, range.start..range.start + length);
            range = trim(self.content, range.start + length..range.end);
            range = without_signs(self.content, range);
            if is_option(&self.content[title.clone()]) {
                self.begin_option(title);
            } else if is_heading(self.content, &title) {
                self.begin_section(title, UNMARKED);
            } else {
                self.push(title, &PartKind::Sentence, None);
            }
            // Below the name of a group of options stands the first of them.
            title_of = option_title;
        }
        if !self.facts(&range) && !self.most_facts(&range) {
            self.running_text(range);
        }
        self.announce(rest);
    }

    /// What follows is of the option that is named at `range`. It is told by its first sentence, which is shown with the name.
    fn begin_option(&mut self, range: Range<usize>) {
        self.begin_section(range, UNMARKED);
        (self.heading, self.under) = (None, None);
    }

    fn running_text(&mut self, range: Range<usize>) {
        let kind = kind_of_text(self.content, &range);
        self.text(range, &kind);
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

    /// Reads a paragraph of a chat message by message. What one of them asks stands above those that follow in it.
    pub(super) fn talk(&mut self, messages: &[ChatMessage], rest: &[TextBlock]) {
        for (at, message) in messages.iter().enumerate() {
            let range = message.range.clone();
            let first = self.units.len();
            if is_heading(self.content, &range) {
                self.begin_section(range, UNMARKED);
            } else if messages.len() == 1 {
                self.running_text(range);
            } else {
                let kind = kind_of_text(self.content, &range);
                self.say(self.sentences_of(&range), &kind);
            }
            for unit in &mut self.units[first..] {
                unit.follows |= at > 0;
                unit.opens_talk = message.opens;
            }
        }
        self.end_answer();
        self.announce(rest);
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
        let found = fact_lines(&self.content[range.clone()]);
        let is_found = found.is_some();
        found.into_iter().for_each(|lines| self.facts_of(range, lines));
        is_found
    }

    /// Reads a paragraph of which most lines do so. They stand below the first one if that names them all.
    fn most_facts(&mut self, range: &Range<usize>) -> bool {
        let found = most_fact_lines(&self.content[range.clone()]);
        let Some((named, lines)) = found else { return false };
        let section = named.is_some().then(|| self.section.clone());
        named.into_iter().for_each(|line| self.begin_answer(within(range, line)));
        self.facts_of(range, lines);
        if let Some(section) = section {
            self.end_answer();
            self.section = section;
        }
        true
    }

    fn facts_of(&mut self, range: &Range<usize>, lines: Vec<Range<usize>>) {
        let kind = PartKind::Item(None);
        let part = |it: Range<usize>| UnitPart { range: within(range, it), kind: kind.clone() };
        let parts: Vec<UnitPart> = lines.into_iter().map(part).collect();
        let whole = self.all_of(parts.clone()).map(Rc::new);
        let first = self.units.len();
        parts.into_iter().for_each(|part| self.piece(part.range, &kind));
        self.units[first..].iter_mut().for_each(|it| it.bullets.clone_from(&whole));
        self.is_new = false;
    }
}

/// What a line between the signs of strong emphasis says, if it stands alone and is a heading or a question, as pages have it that
/// were made from HTML or from a word processor. Of a chunk that ends with it, only a question stands above what the next one says.
fn emphasised_heading(
    content: &str,
    range: &Range<usize>,
    rest: &[TextBlock],
) -> Option<Range<usize>> {
    let text = &content[range.clone()];
    let said = strong_line(text)?;
    let start = range.start + (said.as_ptr().addr() - text.as_ptr().addr());
    let heading = start..start + said.len();
    let is_above = !rest.is_empty() && is_heading(content, &heading) || is_asked(said);
    is_above.then_some(heading)
}

/// Whether `line` is a question, perhaps with its number and what leads to it: "(12) I lost my keys. What now?". What tells a number
/// before the question is no part of that.
fn is_asked(line: &str) -> bool {
    let numbered = line.trim_start_matches(|c: char| c.is_ascii_digit() || "().# ".contains(c));
    is_question(line) && !numbered.contains(|c: char| c.is_ascii_digit())
}
