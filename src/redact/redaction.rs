//! How are values replaced in all texts of a call, and put back in its reply?

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::PiiKind;
use super::boundary::{begins_at, ends_at, is_of_word, words};
use super::escape::unescaped;
use super::find::{PiiSpan, find_beside};
use super::person::surname;
use super::pieces::PieceRestorer;
use super::placeholder::Placeholder;
use crate::text::token_labels::LabelledSpan;

/// A value and what was sent in its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplacedValue {
    /// As `[EMAIL_1]`.
    pub placeholder: String,
    /// Letter by letter.
    pub value: String,
}

/// The values of a call and their placeholders.
///
/// First it is shown all texts ([`learn`](Redaction::learn)), since a name that one of them announces may stand in
/// another one that does not; then they are replaced ([`replace`](Redaction::replace)). A value gets its placeholder
/// where it is first replaced, so numbers follow the order of the texts.
#[derive(Clone, Debug, Default)]
pub struct Redaction {
    /// By a text, what a model has found in it.
    labelled: HashMap<String, Vec<LabelledSpan>>,
    known: HashMap<String, LearnedValue>,
    /// By a value's first word, where in the value it begins and how long the value is.
    places: HashMap<String, BTreeSet<ValuePlace>>,
    values: HashMap<Placeholder, String>,
    last: HashMap<PiiKind, u32>,
}

#[derive(Clone, Copy, Debug)]
struct LearnedValue {
    kind: PiiKind,
    /// That of its placeholder, once it has one.
    number: Option<u32>,
}

/// Where the first word begins in a value, and how long the value is, in bytes. The longest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ValuePlace {
    length: std::cmp::Reverse<usize>,
    offset: usize,
}

/// A place in a text that was replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedSpan {
    /// What stands there now.
    pub placeholder: Placeholder,
    /// Its place in the text as it was, in bytes.
    pub range: Range<usize>,
}

impl Redaction {
    /// One that goes on with the placeholders of earlier calls.
    #[must_use]
    pub fn from_earlier<'a>(earlier: impl IntoIterator<Item = &'a ReplacedValue>) -> Redaction {
        let mut redaction = Redaction::default();
        for ReplacedValue { placeholder, value } in earlier {
            let parsed = Placeholder::parse(placeholder);
            let whole = parsed.filter(|(_, length)| *length == placeholder.len());
            if let Some((placeholder, _)) =
                whole.filter(|(it, _)| !redaction.values.contains_key(it))
            {
                redaction.add(value, placeholder.kind);
                redaction.assign(value, placeholder);
            }
        }
        redaction
    }

    /// Has what a model has `labelled` in `text` be values of it, beside those that the rules find there. To be told before
    /// the text is learned.
    pub fn tell(&mut self, text: String, labelled: Vec<LabelledSpan>) {
        self.labelled.insert(text, labelled);
    }

    /// Has `value` be one of the values, which another call has found.
    pub fn know(&mut self, value: &str, kind: PiiKind) {
        self.add(value, kind);
    }

    /// The values, whether they have been replaced or not.
    pub fn learned(&self) -> impl Iterator<Item = (&str, PiiKind)> {
        self.known.iter().map(|(value, it)| (value.as_str(), it.kind))
    }

    /// Looks for values in `text`. `interrupt` is called every 4 KiB or more often, and may unwind.
    pub fn learn(&mut self, text: &str, interrupt: &mut dyn FnMut()) {
        for PiiSpan { range, kind, is_certain } in self.found(text, interrupt) {
            let value = &text[range];
            self.add(value, kind);
            let is_name = kind == PiiKind::Person && is_certain;
            let alone = if is_name { surname(value) } else { None };
            if let Some(alone) = alone {
                self.add(alone, kind);
            }
        }
    }

    /// `text` with placeholders for the values that were learned. `interrupt` is called as by
    /// [`learn`](Redaction::learn).
    pub fn replace(&mut self, text: &str, interrupt: &mut dyn FnMut()) -> String {
        self.replace_with_spans(text, interrupt).0
    }

    /// As [`replace`](Redaction::replace), for a text that is read without the texts that come later: placeholders
    /// that it is the first to have are given anew to the next text, and nothing is put back for them.
    pub fn replace_alone(&mut self, text: &str, interrupt: &mut dyn FnMut()) -> String {
        let before = self.last.clone();
        let (replaced, spans) = self.replace_with_spans(text, interrupt);
        for ReplacedSpan { placeholder, .. } in spans {
            let is_new = placeholder.number > before.get(&placeholder.kind).copied().unwrap_or(0);
            let value = if is_new { self.values.remove(&placeholder) } else { None };
            if let Some(known) = value.and_then(|value| self.known.get_mut(&value)) {
                known.number = None;
            }
        }
        self.last = before;
        replaced
    }

    /// As [`replace`](Redaction::replace), with the places that were replaced, in order.
    pub fn replace_with_spans(
        &mut self,
        text: &str,
        interrupt: &mut dyn FnMut(),
    ) -> (String, Vec<ReplacedSpan>) {
        let mut replaced = String::with_capacity(text.len());
        let (mut spans, mut done) = (Vec::new(), 0);
        for range in self.spans(text, interrupt) {
            let Some(placeholder) = self.placeholder(&text[range.clone()]) else { continue };
            replaced += &text[done..range.start];
            replaced += &placeholder.to_string();
            done = range.end;
            spans.push(ReplacedSpan { placeholder, range });
        }
        (replaced + &text[done..], spans)
    }

    /// `text` with the values in the place of their placeholders. A placeholder that stands for nothing stays.
    #[must_use]
    pub fn restore(&self, text: &str) -> String {
        let (mut restored, mut done) = (String::with_capacity(text.len()), 0);
        for (place, _) in text.match_indices('[') {
            let parsed = Placeholder::parse(&text[place..]);
            if let Some((value, length)) =
                parsed.and_then(|(it, length)| Some((self.values.get(&it)?, length)))
            {
                restored += &text[done..place];
                restored += value;
                done = place + length;
            }
        }
        restored + &text[done..]
    }

    /// Puts values back into a text that comes in pieces.
    #[must_use]
    pub fn restorer(&self) -> PieceRestorer<'_> {
        PieceRestorer::new(self)
    }

    /// The placeholders that were given, by kind and number.
    #[must_use]
    pub fn replaced(&self) -> Vec<ReplacedValue> {
        let mut all: Vec<(&Placeholder, &String)> = self.values.iter().collect();
        all.sort_unstable();
        let pair = |(placeholder, value): (&Placeholder, &String)| ReplacedValue {
            placeholder: placeholder.to_string(),
            value: value.clone(),
        };
        all.into_iter().map(pair).collect()
    }

    fn add(&mut self, value: &str, kind: PiiKind) {
        if self.known.contains_key(value) {
            return;
        }
        self.known.insert(value.to_owned(), LearnedValue { kind, number: None });
        if let Some((offset, word)) = words(value, &mut || {}).next() {
            let place = ValuePlace { length: std::cmp::Reverse(value.len()), offset };
            self.places.entry(word.to_owned()).or_default().insert(place);
        }
    }

    fn assign(&mut self, value: &str, placeholder: Placeholder) {
        let Placeholder { kind, number } = placeholder;
        let last = self.last.entry(kind).or_default();
        *last = number.max(*last);
        self.values.insert(placeholder, value.to_owned());
        if let Some(known) = self.known.get_mut(value) {
            known.number = Some(number);
        }
    }

    /// The placeholder of a known value; a new one where it has none.
    fn placeholder(&mut self, value: &str) -> Option<Placeholder> {
        let LearnedValue { kind, number } = *self.known.get(value)?;
        if let Some(number) = number {
            return Some(Placeholder { kind, number });
        }
        let number = self.last.get(&kind).map_or(1, |last| last + 1);
        let placeholder = Placeholder { kind, number };
        self.assign(value, placeholder);
        Some(placeholder)
    }

    /// What the rules and the model, if there is one, find in `text`.
    fn found(&self, text: &str, interrupt: &mut dyn FnMut()) -> Vec<PiiSpan> {
        find_beside(text, self.labelled.get(text).map_or(&[], Vec::as_slice), interrupt)
    }

    /// Where values stand in `text`: those that are found there, and between them those that stand in another
    /// text. In order; no two overlap.
    fn spans(&self, text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
        let found: Vec<Range<usize>> =
            self.found(text, interrupt).into_iter().map(|span| span.range).collect();
        let mut spans: Vec<Range<usize>> = Vec::with_capacity(found.len());
        let mut ahead = found.into_iter().peekable();
        let mut over = 0;
        let text = &*unescaped(text, interrupt);
        for (at, word) in words(text, interrupt) {
            while let Some(next) = ahead.next_if(|next| next.start <= at) {
                over = next.end;
                spans.push(next);
            }
            let limit = ahead.peek().map_or(text.len(), |next| next.start);
            if let Some(range) = self.occurrence(text, (at, word), over..limit) {
                over = range.end;
                spans.push(range);
            }
        }
        spans.extend(ahead);
        spans
    }

    /// The longest known value within the bytes `within` whose first word is `word`, at the byte `at`.
    fn occurrence(
        &self,
        text: &str,
        (at, word): (usize, &str),
        within: Range<usize>,
    ) -> Option<Range<usize>> {
        let inflected = || self.places.get(word.strip_suffix('s')?);
        let places = self.places.get(word).or_else(inflected)?;
        let range_of = |place: &ValuePlace| {
            let start = at.checked_sub(place.offset)?;
            Some(start..start + place.length.0)
        };
        let mut ranges = places.iter().filter_map(range_of);
        ranges.find(|range| {
            range.start >= within.start && range.end <= within.end && self.stands_at(text, range)
        })
    }

    /// Whether a known value stands in this place, and no word goes on there that began elsewhere. A name may have the
    /// ending of a genitive: `Schmidts Brief`.
    fn stands_at(&self, text: &str, range: &Range<usize>) -> bool {
        let Some(value) = text.get(range.clone()) else { return false };
        let Some(known) = self.known.get(value) else { return false };
        let is_genitive = known.kind == PiiKind::Person
            && text[range.end..].starts_with('s')
            && ends_at(text, range.end + 1);
        let begins = !value.starts_with(is_of_word) || begins_at(text, range.start);
        let ends = !value.ends_with(is_of_word) || ends_at(text, range.end) || is_genitive;
        begins && ends
    }
}
