//! # asked_kind: is a row asked for a kind of value that it has none of?
//!
//! ```text
//! "What is the phone number of the archive?" and "Office: Archive, Room: 4B, Phone: –" → yes: the row answers something else
//! ```
//!
//! A row that names the thing resembles the question whatever it says of it, and a reader prefers it to running text. So
//! an answer is withheld where a price ([`price`](super::price)) or another kind of value is clearly asked for, the best piece is
//! a row, or an item or a line that is no sentence, and nothing that is quoted or stands above it may be such a value.
//!
//! A doubt speaks for the piece: any number that nothing tells to be something else, and any word that speaks of the kind. A
//! column does not where its cell is empty or a dash, nor do headings beside such a column. "When" may ask for a condition, and
//! "how many" for rows to be counted, so these words alone ask for no kind.

#[rustfmt::skip]
mod kinds;

#[cfg(test)]
mod tests;

use self::kinds::{
    HOW_FAR, HOW_HEAVY, HOW_LONG, LASTS, LENGTH, NET, NET_ADDRESS, OPENS, PHONE, PHONE_NUMBER,
    TIME, WEIGHS, WEIGHT, WHEN,
};
use super::ExtractPassage;
use super::answer_type::{AnswerType, asked, is_number_or_time};
use super::candidates::{Candidates, ParsedQuestion};
use super::choice::ChosenUnit;
use super::identifier::identifiers;
use super::markup::plain;
use super::measure::is_same_measure;
use super::part::{PartKind, UnitPart};
use super::price::{HOW_MUCH, asks_for_price, is_amount, is_bare, may_be_priced, speaks_of_money};
use super::unit::Unit;
use super::when::{SPACES, WrittenNumber};
use super::wrapping::ends_with_sentence;
use crate::text::line::single_line;
use crate::text::number::with_ascii_digits;
use crate::text::phrase::Phrases;
use crate::text::word_list::list_has;
use crate::text::words::{Word, in_small_letters, words};

/// What is left of the confidence where nothing of the kind is told.
pub(super) const UNTOLD: f32 = 0.1;

/// Words of a question among which "when" stands where it asks for that alone: "from when on".
const WORDS_OF_WHEN: usize = 3;

/// Digits of the shortest number by which somebody may be called, and of one that is no other, whatever stands behind it.
const FEWEST_PHONE_DIGITS: usize = 3;
const SURE_PHONE_DIGITS: usize = 6;

/// The part of a confidence that is left: all of it unless a kind of value is asked for, the `best` candidate is a row or the
/// like, and neither what is `chosen` nor what stands above it may tell one.
pub(super) fn told_share(
    candidates: &Candidates,
    best: usize,
    chosen: &[ChosenUnit],
    passages: &[ExtractPassage],
) -> f32 {
    let candidate = &candidates.all[best];
    let passage = &passages[candidate.passage];
    if !is_row_or_line(&candidate.unit, passage.content) {
        return 1.0;
    }
    let question = candidates.question;
    let (kinds, asks_for_price) = (asked_kinds(question), asks_for_price(question));
    let is_priced = || asks_for_price && may_be_priced(passage, chosen, passages, &question.text);
    let may_be_told = || {
        let quoted = QuotedText::of(chosen, passages);
        // Words of the other language may be missing in the lists.
        candidates.are_foreign[candidate.passage]
            || kinds.iter().any(|it| it.may_be_told(&quoted, question))
    };
    let is_told = match kinds.is_empty() {
        true => !asks_for_price || is_priced(),
        false => may_be_told() || is_priced(),
    };
    if is_told { 1.0 } else { UNTOLD }
}

fn is_row_or_line(unit: &Unit, content: &str) -> bool {
    unit.parts.last().is_some_and(|part| match part.kind {
        PartKind::Row(..) => true,
        PartKind::Item(_) | PartKind::Lines => !ends_with_sentence(&content[part.range.clone()]),
        PartKind::Sentence | PartKind::Code(_) => false,
    })
}

/// The kinds of values besides prices that `question` clearly asks for, where it does not ask who or where besides.
fn asked_kinds(question: &ParsedQuestion) -> Vec<&'static AskedKind> {
    let text = &question.text;
    if question.asked == AnswerType::Name || identifiers(text).next().is_some() {
        return Vec::new();
    }
    let says = |phrases: &Phrases| phrases.stand_in(text);
    let first = &question.words[..question.words.len().min(WORDS_OF_WHEN)];
    let asks_once = question.asks.iter().filter(|it| **it).count() == 1;
    // When a museum opened is a year.
    let is_past = question.words.iter().any(|it| it.folded == "did");
    let opens = || asks_once && !is_past && asked(first) == AnswerType::Time && says(&OPENS);
    let lasts = || says(&HOW_LONG) && LASTS.stand_at_end_of(text);
    let all = [
        (&PHONE, says(&PHONE_NUMBER)),
        (&NET, says(&NET_ADDRESS)),
        (&TIME, says(&WHEN) || lasts() || opens()),
        (&LENGTH, says(&HOW_FAR)),
        (&WEIGHT, says(&HOW_HEAVY) || says(&HOW_MUCH) && says(&WEIGHS)),
    ];
    all.into_iter().filter(|(_, is_asked)| *is_asked).map(|(kind, _)| kind).collect()
}

/// A kind of value, and what tells of it.
struct AskedKind {
    /// What speaks of it, in lower case, within words, too, with a comma and a space between.
    within: &'static str,
    /// Whole words that speak of the kind, with spaces between.
    words: &'static str,
    /// Units in which it is measured, or told instead: "how far" by how long it takes.
    units: &'static str,
    /// Whether a number that is no amount of money may be one.
    may_be: fn(&WrittenNumber, &QuotedText) -> bool,
    /// Whether it is told in words, too: "nine", "Monday".
    has_words: bool,
}

impl AskedKind {
    /// Whether `quoted` may tell such a value, which is not the `question`'s own.
    fn may_be_told(&self, quoted: &QuotedText, question: &ParsedQuestion) -> bool {
        let digits = with_ascii_digits(&quoted.said);
        let may_be = |it: &WrittenNumber| {
            !is_amount(it) && !it.stands_in(&question.text) && (self.may_be)(it, quoted)
        };
        let is_new = |it: &Word| question.words.iter().all(|own| own.folded != it.folded);
        let may_be_word = |it: &Word| {
            let mut units = self.units.split_ascii_whitespace();
            self.has_words && !it.is_number && is_number_or_time(it) && is_new(it)
                || units.any(|unit| is_same_measure(unit, &it.folded))
        };
        self.is_spoken_of(&quoted.said)
            || self.is_spoken_of(&quoted.above) && !self.is_spoken_of(&quoted.left_out)
            || words(&quoted.values).iter().any(may_be_word)
            || WrittenNumber::all(&digits).any(|it| may_be(&it))
    }

    fn is_spoken_of(&self, text: &str) -> bool {
        let small = in_small_letters(text);
        self.within.split(", ").any(|it| small.contains(it))
            || words(text).iter().any(|it| list_has(self.words, &it.folded))
    }
}

/// Whether somebody may be called by `number`, or by what goes on with it.
fn may_be_phone_number(number: &WrittenNumber, _: &QuotedText) -> bool {
    let count = number.digits.chars().filter(char::is_ascii_digit).count();
    let behind = number.behind.trim_start_matches(SPACES).trim_start_matches(['(', '/', '–']);
    let goes_on = behind.starts_with(|c: char| c.is_ascii_digit());
    let is_long = count >= FEWEST_PHONE_DIGITS || goes_on;
    !is_when(number) && (count >= SURE_PHONE_DIGITS || is_long && is_bare(number))
}

/// Whether `number` may be a time, or how long something takes. In a list of prices others are amounts.
fn may_be_time(number: &WrittenNumber, quoted: &QuotedText) -> bool {
    is_when(number)
        || has_unit(number)
        || is_bare(number) && (!quoted.is_of_money || number.may_be_when())
}

/// Whether `number` may say how far or how heavy.
fn may_be_quantity(number: &WrittenNumber, quoted: &QuotedText) -> bool {
    has_unit(number) || !is_when(number) && is_bare(number) && !quoted.is_of_money
}

/// Whether letters right behind `number` may be any unit: "10m".
fn has_unit(number: &WrittenNumber) -> bool {
    number.behind.starts_with(|c: char| c.is_lowercase() || c.is_uppercase())
}

fn is_when(number: &WrittenNumber) -> bool {
    number.is_day() || number.is_time_of_day()
}

/// What is quoted of passages, a line for each cell, and what stands above it.
#[derive(Debug, Default)]
struct QuotedText {
    /// What is quoted, with the columns of rows.
    said: String,
    /// What is quoted, without the columns of rows.
    values: String,
    /// Columns of which a row says nothing.
    left_out: String,
    /// The headings.
    above: String,
    /// Whether a passage speaks of money.
    is_of_money: bool,
}

impl QuotedText {
    fn of(chosen: &[ChosenUnit], passages: &[ExtractPassage]) -> QuotedText {
        let mut quoted = QuotedText::default();
        for ChosenUnit { unit, passage, .. } in chosen {
            let ExtractPassage { heading, content, .. } = passages[*passage];
            let heading = heading.unwrap_or_default();
            let above = unit.lead.iter().chain(&unit.under).chain(unit.above.iter());
            above.for_each(|it| put(&mut quoted.above, &content[it.clone()]));
            put(&mut quoted.above, heading);
            unit.parts.iter().for_each(|part| quoted.add(part, content));
            quoted.is_of_money |= speaks_of_money(heading) || speaks_of_money(content);
        }
        quoted
    }

    fn add(&mut self, part: &UnitPart, content: &str) {
        let PartKind::Row(columns, boundary) = &part.kind else {
            let said = part.words(content, true);
            put(&mut self.said, &said);
            put(&mut self.values, &said);
            return;
        };
        let columns = columns.clone().map_or_else(Vec::new, |it| boundary.cells(&content[it]));
        let cells = boundary.cells(&content[part.range.clone()]);
        for at in 0..columns.len().max(cells.len()) {
            let shown = |of: &[&str]| plain(&single_line(of.get(at).copied().unwrap_or_default()));
            let (column, cell) = (shown(&columns), shown(&cells));
            if cell.chars().all(|c| matches!(c, '-' | '–' | '—' | '−')) {
                put(&mut self.left_out, &column);
            } else {
                put(&mut self.said, &format!("{column}: {cell}"));
                put(&mut self.values, &cell);
            }
        }
    }
}

fn put(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// The part of a confidence that is left where the last piece of `content` is the best, and quoted alone.
#[cfg(test)]
pub(super) fn share_of_last(heading: Option<&str>, question: &str, content: &str) -> f32 {
    let passages = [ExtractPassage { heading, ..ExtractPassage::of(1, content) }];
    let question = ParsedQuestion::read(question);
    let candidates = Candidates::read(&question, &passages);
    let best = candidates.all.len() - 1;
    told_share(&candidates, best, &[ChosenUnit::of(&candidates, best)], &passages)
}
