//! # vocabulary: which words are there, and which of them are alike?
//!
//! ```text
//! word → its number, that of its first letters, those of the beginnings by which it is like others
//! ```
//!
//! A text says most of its words many times. Each is kept once, and all else is about numbers.

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;

use crate::text::number::{canonical, meanings, number_letters};
use crate::text::words::{beginnings, credit};

/// Letters by which words are told apart where their order counts.
const STEM: usize = 5;

/// Letters that two words share at least if one stands for the other.
const SHARED: usize = 4;

/// What no word of the vocabulary has.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The words that were added, by numbers from 0.
#[derive(Default)]
pub(super) struct Vocabulary {
    numbers: HashMap<Rc<str>, u32>,
    entries: Vec<VocabularyEntry>,
    stems: HashMap<Box<str>, u32>,
    firsts: HashMap<Box<str>, u32>,
    beginnings: HashMap<Box<str>, u32>,
}

/// What is known of a word.
pub(super) struct VocabularyEntry {
    /// As it is written, in lower case.
    pub folded: Rc<str>,
    /// Number of its first letters, for comparing the order of words.
    pub stem: u32,
    /// Number of the letters that it shares with every word that it is like.
    pub first: u32,
    /// The number of its letters.
    pub letters: u32,
    /// Numbers of the beginnings by which it is like others.
    pub beginnings: Box<[u32]>,
    /// The words of what its number may mean, if they are others: "9,000" and "9,000.00" are found as "9000" too.
    pub meanings: Box<[u32]>,
}

impl Vocabulary {
    /// The number of `word`, which is added where it is new.
    pub fn add(&mut self, word: &str) -> u32 {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let others = meanings(word).into_iter().filter(|it| it != word);
        let meanings = others.map(|it| self.add(&it)).collect();
        let folded: Rc<str> = word.into();
        let ways = likely_beginnings(word).map(|(_, text)| number(&mut self.beginnings, text));
        let beginnings = ways.collect();
        let entry = VocabularyEntry {
            folded: Rc::clone(&folded),
            stem: number(&mut self.stems, &order_key(word)),
            first: number(&mut self.firsts, shared_letters(word)),
            letters: word.chars().count() as u32,
            beginnings,
            meanings,
        };
        self.entries.push(entry);
        let number = self.entries.len() as u32 - 1;
        self.numbers.insert(folded, number);
        number
    }

    /// What is known of the word with this number.
    pub fn entry(&self, number: u32) -> &VocabularyEntry {
        &self.entries[number as usize]
    }

    /// The number of `word`, or [`UNKNOWN`].
    pub fn find(&self, word: &str) -> u32 {
        self.numbers.get(word).copied().unwrap_or(UNKNOWN)
    }

    /// The number of the first letters of `word`, for comparing the order of words, or [`UNKNOWN`].
    pub fn stem(&self, word: &str) -> u32 {
        self.stems.get(&*order_key(word)).copied().unwrap_or(UNKNOWN)
    }

    /// The number of the letters that `word` shares with every word that it is like, or [`UNKNOWN`].
    pub fn first(&self, word: &str) -> u32 {
        self.firsts.get(shared_letters(word)).copied().unwrap_or(UNKNOWN)
    }

    /// Whether there is the number `written`, however it is written.
    pub fn has_number(&self, written: &str) -> bool {
        let has = |word: &str| self.numbers.contains_key(word);
        has(written) || meanings(written).iter().any(|it| has(it))
    }

    /// The number of a beginning, or `None`.
    pub fn beginning(&self, text: &str) -> Option<u32> {
        self.beginnings.get(text).copied()
    }
}

/// The number of `text`, which is added where it is new.
fn number(numbers: &mut HashMap<Box<str>, u32>, text: &str) -> u32 {
    if let Some(number) = numbers.get(text) {
        return *number;
    }
    let next = numbers.len() as u32;
    numbers.insert(text.into(), next);
    next
}

/// How well `word` stands for `term`, as [`credit`] has it, but for numbers: another one is no less another because it
/// begins alike.
pub(super) fn likeness(term: &str, word: &str) -> f32 {
    let credit = credit(term, word);
    let least = number_letters(term).max(number_letters(word));
    if credit == 1.0 || least == 0 {
        return credit;
    }
    let shared = term.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    if shared < least { 0.0 } else { credit }
}

/// The beginnings by which `word` is like others, as [`likeness`] has it, each with its letters; the last is the word.
pub(super) fn likely_beginnings(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let least = number_letters(word);
    beginnings(word).filter(move |(letters, _)| *letters >= least)
}

/// What of `word` counts where the order of words does: a number without its signs, or the first letters.
fn order_key(word: &str) -> Cow<'_, str> {
    canonical(word).map_or_else(|| first(word, STEM).into(), Cow::Owned)
}

/// The letters that `word` shares with every word that it is like; all of a short one.
pub(super) fn shared_letters(word: &str) -> &str {
    first(word, SHARED)
}

/// The first `letters` of a word, or all of them.
fn first(word: &str, letters: usize) -> &str {
    word.char_indices().nth(letters).map_or(word, |(at, _)| &word[..at])
}
