//! # gap: what stands between two words of a number?
//!
//! ```text
//! "$ 36 , 000 €" → a comma, behind a currency, before a unit
//! ```

use std::ops::Range;

use crate::text::number::{ascii_digit, ascii_sign, is_currency_sign, with_ascii};

/// A text with its words and the bytes at which they begin.
#[derive(Clone, Copy)]
pub(super) struct TextWords<'a> {
    /// The text.
    pub text: &'a str,
    /// Its words.
    pub places: &'a [(usize, &'a str)],
}

impl<'a> TextWords<'a> {
    /// The word at a place, empty where there is none.
    pub fn word(&self, at: usize) -> &'a str {
        self.places.get(at).map_or("", |(_, word)| *word)
    }

    /// Whether the word at a place begins with a digit.
    pub fn is_number(&self, at: usize) -> bool {
        is_number(self.word(at))
    }

    /// Whether the word at a place begins with three zeros.
    pub fn is_thousands(&self, at: usize) -> bool {
        with_ascii(self.word(at)).starts_with("000")
    }

    /// What stands between the word at a place and the next.
    pub fn gap(&self, at: usize) -> &'a str {
        let (start, word) = self.places[at];
        let next = self.places.get(at + 1).map_or(self.text.len(), |(next, _)| *next);
        &self.text[start + word.len()..next]
    }

    /// The comma or point, with a space beside it, that parts the word at a place from the next.
    pub fn sign(&self, at: usize) -> Option<char> {
        split_sign(self.gap(at))
    }

    /// Where `words` stand in the text.
    pub fn bytes(&self, words: &Range<usize>) -> Range<usize> {
        let (last, word) = self.places[words.end - 1];
        self.places[words.start].0..last + word.len()
    }

    /// The number of `words` with digits and signs of ASCII, and with no space beside a comma.
    pub fn written(&self, words: &Range<usize>) -> String {
        let is_split = words.len() > 1 && self.sign(words.start).is_some();
        let written = match is_split {
            false => with_ascii(&self.text[self.bytes(words)]),
            true => {
                let groups = self.places[words.clone()].iter().map(|(_, word)| with_ascii(word));
                groups.collect::<Vec<String>>().join(",")
            }
        };
        written.trim_end().to_owned()
    }

    /// Whether the sign of a currency stands before `words`.
    pub fn is_behind_currency(&self, words: &Range<usize>) -> bool {
        let before = &self.text[..self.places[words.start].0];
        before.strip_suffix(is_space).unwrap_or(before).ends_with(is_currency_sign)
    }

    /// Whether a currency, per cent or degrees stand behind `words`.
    pub fn is_before_unit(&self, words: &Range<usize>) -> bool {
        let behind = &self.text[self.bytes(words).end..];
        let is_unit =
            |c: char| matches!(c, '%' | '％' | '٪' | '‰' | '°' | '℃') || is_currency_sign(c);
        behind.strip_prefix(is_space).unwrap_or(behind).starts_with(is_unit)
    }

    /// Whether a space stands right behind `words`.
    pub fn is_before_space(&self, words: &Range<usize>) -> bool {
        self.text[self.bytes(words).end..].starts_with(is_space)
    }
}

/// The comma or point of a `gap` between words that has a space beside it, and no more than one on each side.
pub(super) fn split_sign(gap: &str) -> Option<char> {
    let bare = gap.strip_prefix(is_space).unwrap_or(gap);
    let bare = bare.strip_suffix(is_space).unwrap_or(bare);
    let sign = match only(bare).filter(|_| bare.len() < gap.len())? {
        '،' => ',',
        other => ascii_sign(other),
    };
    matches!(sign, ',' | '.').then_some(sign)
}

/// A space as it stands within numbers; none ends a line.
pub(super) fn is_space(c: char) -> bool {
    ascii_sign(c) == ' '
}

/// The only character of a word.
pub(super) fn only(word: &str) -> Option<char> {
    let mut characters = word.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// Whether a word begins with a digit.
pub(super) fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| ascii_digit(c).is_some())
}

/// A word of nothing but digits, with those of ASCII; nothing for another. A narrow space between a number and its unit
/// is part of the number's word.
pub(super) fn number_in_ascii(word: &str) -> String {
    let digits = word.trim_end_matches(is_space);
    digits.chars().map(ascii_digit).collect::<Option<String>>().unwrap_or_default()
}
