//! Which names does a text have, by its capitals?
//!
//! ```text
//! "Later, Steve Hillage of the band Gong ..." → steve hillage │ gong
//! ```
//!
//! A name is a maximal run of words with capitals, which small words may join: "Bank of England". It may begin
//! with a year, and a year alone is one, too. Words such as "the" or "however" at the beginning of a run are cut
//! off. Where the small words may stand between two names ("Gong in London"), each of these counts as well. So it does where
//! "of" stands behind what is a name by itself ("Steve Hillage of Gong"), and not behind what needs it ("Bank of England").
//! That works as far as only names have capitals:
//!
//! * A single word that begins a sentence has a capital anyway. It counts if it has capitals or digits inside
//!   (NATO, PostgreSQL), if the text has it with a capital elsewhere within a sentence and nowhere without one,
//!   or if it is all that stands in the first line or in a heading. So the text alone decides, and no list of the
//!   corpus, which would be another one tomorrow.
//! * In German all nouns have capitals: there a name has two words or more, or capitals inside.
//! * Scripts without capitals have names in the Latin script, years, and titles between 《》, 〈〉 or 『』.
//!
//! On 4,858 passages of HotpotQA such entities, the parts of runs left out, were as good for a walk as those that a
//! language model had found.

mod reading;
mod sides;

use std::collections::HashMap;
use std::ops::Range;

use self::reading::NameTokens;
use super::name::{LONGEST, is_short_for, normal_form, value_form};
use super::{EntityExtractor, EntityMention, MOST_ENTITIES, NamingText};
use crate::chunk::HEADING_SEPARATOR;
use crate::text::character_counter::CharacterCounter;
use crate::text::language::language;

/// What a title counts.
const TITLE_COUNT: u32 = 2;

/// Words of the longest name.
const MOST_WORDS: usize = 8;

/// Longest title between its marks, in characters.
const LONGEST_TITLE: usize = 60;

/// The marks of titles.
const TITLE_MARKS: [(char, char); 3] = [('《', '》'), ('〈', '〉'), ('『', '』')];

/// Bytes of a question that are read.
const LONGEST_QUESTION: usize = 8192;

/// Names that may stand between a name and what it is short for, since they are parts of others.
const MOST_BETWEEN: usize = 5;

/// Finds names by capital letters.
pub struct RuleExtractor;

/// A name in a text.
pub(super) struct FoundName {
    /// Where it stands, in bytes.
    pub place: Range<usize>,
    /// Its normal form.
    pub norm: String,
    /// The normal form of what it is short for.
    pub alias_of: Option<String>,
    /// What it is a name of, where that is known.
    pub kind: Option<String>,
}

impl EntityExtractor for RuleExtractor {
    fn mentions(&self, text: &NamingText<'_>, interrupt: &mut dyn FnMut()) -> Vec<EntityMention> {
        mentions(text, names(text.content, interrupt), interrupt)
    }

    fn asked(&self, question: &str, interrupt: &mut dyn FnMut()) -> Vec<(String, String)> {
        let question = &question[..question.floor_char_boundary(LONGEST_QUESTION)];
        let tokens = NameTokens::of(question, language(question), interrupt);
        let mut found: Vec<(String, String)> = Vec::new();
        let mut add = |name: &str| {
            let norm = normal_form(name);
            if is_name(&norm) && !found.iter().any(|(known, _)| *known == norm) {
                found.push((norm, name.to_owned()));
            }
        };
        for run in tokens.runs() {
            let others = tokens.without_article(&run).into_iter().chain(tokens.parts(&run));
            let all = [run].into_iter().chain(others.collect::<Vec<_>>());
            all.for_each(|run| add(&question[tokens.place(&run)]));
        }
        titles(question).into_iter().for_each(|place| add(&question[place]));
        found.truncate(MOST_ENTITIES);
        found
    }
}

/// What a chunk names: `names` in its content, in the order of their places, and what the rules find in its context.
pub(super) fn mentions(
    text: &NamingText<'_>,
    names: Vec<FoundName>,
    interrupt: &mut dyn FnMut(),
) -> Vec<EntityMention> {
    let mut mentions = MentionList::default();
    for (norm, count) in of_context(text.context.unwrap_or_default(), interrupt) {
        mentions.add(EntityMention { norm, alias_of: None, kind: None, count, span: None });
    }
    let mut characters = CharacterCounter::new(text.content);
    for FoundName { place, norm, alias_of, kind } in names {
        let span = Some(characters.count_to(place.start)..characters.count_to(place.end));
        mentions.add(EntityMention { norm, alias_of, kind, count: 1, span });
    }
    mentions.found
}

/// The names of a text, in the order of their places: runs of capitals, the parts of such that may be two names,
/// and titles.
fn names(text: &str, interrupt: &mut dyn FnMut()) -> Vec<FoundName> {
    let tokens = NameTokens::of(text, language(text), interrupt);
    let runs = tokens.runs().into_iter().flat_map(|run| {
        let parts = tokens.parts(&run);
        [run].into_iter().chain(parts)
    });
    let runs = runs.filter(|run| tokens.is_name(run)).map(|run| tokens.place(&run));
    let name = |place: Range<usize>| {
        let norm = normal_form(&text[place.clone()]);
        FoundName { place, norm, alias_of: None, kind: None }
    };
    let mut found: Vec<FoundName> = runs.chain(titles(text)).map(name).collect();
    found.retain(|name| is_name(&name.norm));
    found.sort_by_key(|name| (name.place.start, name.place.end));
    note_short_forms(text, &mut found);
    found
}

/// Whether a normal form is that of a name, and not empty or too long.
pub(super) fn is_name(norm: &str) -> bool {
    !norm.is_empty() && norm.len() <= LONGEST && norm.split(' ').count() <= MOST_WORDS
}

/// Notes where one of two names is short for the other: "World Health Organization (WHO)".
pub(super) fn note_short_forms(text: &str, names: &mut [FoundName]) {
    for first in 0..names.len() {
        let after = first + 1..names.len().min(first + 1 + MOST_BETWEEN);
        for second in after {
            match short_form(text, &names[first], &names[second]) {
                Some(true) => names[first].alias_of = Some(names[second].norm.clone()),
                Some(false) => names[second].alias_of = Some(names[first].norm.clone()),
                None => {}
            }
        }
    }
}

/// Whether the second of two names stands in parentheses behind the first, and one of them is short for the other:
/// true if it is the first.
fn short_form(text: &str, first: &FoundName, second: &FoundName) -> Option<bool> {
    let between = text.get(first.place.end..second.place.start)?;
    if between.trim() != "(" || !text[second.place.end..].starts_with(')') {
        return None;
    }
    let is_short = |short: &FoundName, long: &FoundName| {
        let written = &text[short.place.clone()];
        !short.norm.contains(' ') && is_short_for(written, &long.norm, reading::is_connector)
    };
    let is_first = is_short(first, second);
    (is_first || is_short(second, first)).then_some(is_first)
}

/// What title and headings name, and what it counts: the title as a whole, without what stands in parentheses
/// behind it, and the names in the headings.
fn of_context(context: &str, interrupt: &mut dyn FnMut()) -> Vec<(String, u32)> {
    let (title, headings) = context.split_once(HEADING_SEPARATOR).unwrap_or((context, ""));
    // One that was too long has lost its beginning.
    let title = if title.starts_with('…') { "" } else { title };
    let bare = title.split(" (").next().unwrap_or_default();
    let whole = value_form(bare);
    let names = names(headings, interrupt).into_iter().map(|name| (name.norm, 1));
    let title = is_name(&whole).then_some((whole, TITLE_COUNT));
    title.into_iter().chain(names).collect()
}

/// The places of what stands between the marks of titles.
fn titles(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (open, close) in TITLE_MARKS {
        let mut from = 0;
        while let Some(at) = text[from..].find(open) {
            let start = from + at + open.len_utf8();
            let inside = text[start..].char_indices().take(LONGEST_TITLE);
            let mut inside = inside.take_while(|(_, c)| *c != '\n' && *c != open);
            if let Some((length, _)) = inside.find(|(_, c)| *c == close) {
                found.push(start..start + length);
            }
            from = start;
        }
    }
    found
}

/// Mentions, each entity once.
#[derive(Default)]
struct MentionList {
    found: Vec<EntityMention>,
    places: HashMap<String, usize>,
}

impl MentionList {
    fn add(&mut self, mention: EntityMention) {
        if let Some(known) = self.places.get(&mention.norm).and_then(|at| self.found.get_mut(*at)) {
            known.count += mention.count;
            known.alias_of = known.alias_of.take().or(mention.alias_of);
            known.kind = known.kind.take().or(mention.kind);
            known.span = known.span.take().or(mention.span);
        } else if self.found.len() < MOST_ENTITIES {
            self.places.insert(mention.norm.clone(), self.found.len());
            self.found.push(mention);
        }
    }
}

#[cfg(test)]
mod tests;
