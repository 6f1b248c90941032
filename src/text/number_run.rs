//! # number_run: which words of a text are one number?
//!
//! ```text
//! "1 250 000,00", "1万2千" → one;  "$ 36, 000", "98. 7 %" → one that a tokenizer or the extraction of a text has split
//! "in room 36, 500 guests" → one or two;  "12, 13", "rooms 12, 130 and 145", "in 1990. 7 people came" → two
//! ```
//!
//! Some countries part groups of digits with spaces. Tokenizers, and programs that get texts out of pages, put a space
//! behind the comma or the point of a number. So does whoever lists numbers or ends a sentence with one, and often only
//! the meaning tells which it is. Where it is in doubt, a text is read either way ([`readings`]).

mod decimals;
mod gap;
mod group;

#[cfg(test)]
mod tests;

use std::ops::Range;

use decimals::with_decimals;
use gap::{TextWords, is_number};
use group::{certainty_of_commas, certainty_of_spaced, compound, grouped, grouped_by_commas};

use super::number::{LONGEST, ascii_digit, ascii_sign, values};
use super::words::{Word, word_places, words};

/// Most words of a number that is split or may be several; more are a list or a column of numbers.
pub(crate) const MOST_WORDS: usize = 9;

/// Most words of a number that is part of a longer run of numbers: cells of a table stand side by side.
const MOST_WORDS_WITHIN: usize = 3;

/// How surely words are one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberCertainty {
    /// They may be several.
    Doubtful,
    /// They may be several in a table, hardly in a sentence.
    Likely,
    /// They are one.
    Certain,
}

/// A number that is written in several words of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NumberRun {
    /// Which words these are.
    pub words: Range<usize>,
    /// The number, with digits and signs of ASCII, and without the spaces of what was split.
    pub written: String,
    /// Whether it may be several.
    pub certainty: NumberCertainty,
}

impl NumberRun {
    /// Whether it is one number in a sentence where `is_known` decides the doubtful ones.
    pub fn is_one(&self, is_known: &dyn Fn(&str) -> bool) -> bool {
        self.certainty != NumberCertainty::Doubtful || is_known(&self.written)
    }

    /// As a word of the text.
    fn word(self) -> Word {
        Word { folded: self.written, is_name: false, is_number: true }
    }
}

/// A word of a text, or a number of several.
pub(crate) struct ReadWord {
    /// The word.
    pub word: Word,
    /// Which words of the text it is.
    pub place: Range<usize>,
    /// Whether these count each for itself, too.
    pub is_doubtful: bool,
}

/// The words of `text` in order. A number that may be several is followed by these.
pub(crate) fn readings(text: &str) -> Vec<ReadWord> {
    let mut runs = numbers_of(text).into_iter().peekable();
    let (mut read, mut end) = (Vec::new(), 0);
    for (at, word) in words(text).into_iter().enumerate() {
        while let Some(run) = runs.next_if(|run| run.words.start == at) {
            let is_doubtful = run.certainty != NumberCertainty::Certain;
            if !is_doubtful {
                end = end.max(run.words.end);
            }
            let place = run.words.clone();
            read.push(ReadWord { word: run.word(), place, is_doubtful });
        }
        if at >= end {
            read.push(ReadWord { word, place: at..at + 1, is_doubtful: false });
        }
    }
    read
}

/// The words of `text` in order, a number of several as one. Where it is in doubt it is one only if it `is_known`.
pub(crate) fn joined_words(text: &str, is_known: &dyn Fn(&str) -> bool) -> Vec<Word> {
    let mut runs = numbers_of(text).into_iter().peekable();
    let all = words(text);
    let (mut joined, mut end) = (Vec::new(), 0);
    for (at, word) in all.iter().enumerate() {
        while let Some(run) = runs.next_if(|run| run.words.start == at) {
            let is_sure = run.certainty == NumberCertainty::Certain;
            let are_known = || all[run.words.clone()].iter().all(|it| is_known(&it.folded));
            // "On May 5 100 people came" has two numbers of which a source speaks, and not one that it does not know.
            let is_one = is_sure || is_known(&run.written) || run.is_one(is_known) && !are_known();
            if at >= end && is_one {
                end = run.words.end;
                joined.push(run.word());
            }
        }
        if at >= end {
            joined.push(word.clone());
        }
    }
    joined
}

/// The numbers of `text` that are or may be written in several words.
pub(crate) fn joined_numbers(text: &str) -> impl Iterator<Item = String> {
    numbers_of(text).into_iter().map(|run| run.written)
}

/// The number that is or may be split between two sentences of `text`, of which one ends at the byte `end` and the next
/// begins at `start`.
pub(crate) fn number_across(text: &str, end: usize, start: usize) -> Option<NumberRun> {
    let is_split = text[..end].ends_with(|c: char| ascii_sign(c) == '.')
        && text[start..].starts_with(|c: char| ascii_digit(c).is_some());
    if !is_split {
        return None;
    }
    let from = text.floor_char_boundary(end.saturating_sub(LONGEST));
    let to = text.floor_char_boundary(start.saturating_add(LONGEST));
    // A word that is cut off may be a number that is cut off.
    let skipped = if from > 0 { text[from..to].find(char::is_whitespace)? } else { 0 };
    let around = &text[from + skipped..to];
    let start = start.checked_sub(from + skipped)?;
    let places: Vec<(usize, &str)> = word_places(around).collect();
    let is_across =
        |run: &NumberRun| places[run.words.start].0 < start && places[run.words.end - 1].0 >= start;
    numbers(TextWords { text: around, places: &places }).into_iter().find(is_across)
}

/// The numbers of `text` that are written in several of its words: groups of digits with a space between, and digits
/// with characters that stand for powers of ten. `places` are its words with the bytes at which they begin.
pub(crate) fn number_runs(text: &str, places: &[(usize, &str)]) -> Vec<NumberRun> {
    let all = TextWords { text, places };
    let mut runs = Vec::new();
    let mut at = 0;
    while at < places.len() {
        let rest = &places[at..];
        let words = at..at + grouped(text, rest).max(compound(rest)).max(1);
        at = words.end;
        if words.len() > 1 && all.bytes(&words).len() <= LONGEST {
            let certainty = certainty_of_spaced(&all, &words);
            runs.push(NumberRun { written: all.written(&words), words, certainty });
        }
    }
    runs
}

/// The numbers of [`number_runs`], and those that are hardly several, in order.
pub(crate) fn sure_runs(text: &str, places: &[(usize, &str)]) -> Vec<NumberRun> {
    let spaced = number_runs(text, places);
    let is_free = |words: &Range<usize>| {
        let next = spaced.partition_point(|it| it.words.end <= words.start);
        spaced.get(next).is_none_or(|it| words.end <= it.words.start)
    };
    let mut end = 0;
    let mut runs = numbers(TextWords { text, places });
    runs.retain(|run| {
        let is_sure = run.certainty != NumberCertainty::Doubtful;
        let is_kept = is_sure && run.words.start >= end && is_free(&run.words);
        if is_kept {
            end = run.words.end;
        }
        is_kept
    });
    runs.extend(spaced);
    runs.sort_by_key(|run| run.words.start);
    runs
}

/// What [`numbers`] finds in `text`.
fn numbers_of(text: &str) -> Vec<NumberRun> {
    if !text.contains(|c: char| ascii_digit(c).is_some()) {
        return Vec::new();
    }
    let places: Vec<(usize, &str)> = word_places(text).collect();
    numbers(TextWords { text, places: &places })
}

/// The numbers that are or may be written in several words, in order; of those that begin with the same word the
/// longest comes first. Within one that is certain no other begins.
fn numbers(text: TextWords) -> Vec<NumberRun> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.places.len() {
        let runs = numbers_at(text, at);
        let is_certain = |run: &&NumberRun| run.certainty == NumberCertainty::Certain;
        let end = runs.iter().filter(is_certain).map(|run| run.words.end).max();
        at = end.unwrap_or(at + 1);
        found.extend(runs);
    }
    found
}

/// The numbers that begin with the word `at`, the longest first.
fn numbers_at(text: TextWords, at: usize) -> Vec<NumberRun> {
    // One word is left for decimals.
    let rest = &text.places[at..text.places.len().min(at + MOST_WORDS - 1)];
    if !is_number(rest[0].1) {
        return Vec::new();
    }
    let spaced = grouped(text.text, rest).max(compound(rest));
    let by_commas = || grouped_by_commas(text.text, rest).max(1);
    let count = if spaced > 1 { spaced } else { by_commas() };
    let words = at..at + count;
    let mut runs = Vec::new();
    if count > 1 {
        let certainty = match spaced > 1 {
            true => Some(certainty_of_spaced(&text, &words)),
            false => certainty_of_commas(&text, &words),
        };
        let Some(certainty) = certainty else { return Vec::new() };
        runs.push((words.clone(), certainty));
        if certainty != NumberCertainty::Certain {
            let within = (2..count.min(MOST_WORDS_WITHIN + 1)).rev();
            runs.extend(within.map(|count| (at..at + count, NumberCertainty::Doubtful)));
        }
    }
    let run = |(words, certainty): (Range<usize>, NumberCertainty)| {
        let written = text.written(&words);
        let is_number = written.len() <= LONGEST && !values(&written).is_empty();
        is_number.then_some(NumberRun { words, written, certainty })
    };
    with_decimals(&text, &words).into_iter().chain(runs.into_iter().filter_map(run)).collect()
}
