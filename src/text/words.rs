//! # words: which words of one text stand in another?
//!
//! ```text
//! (question, function words) → terms;  (term, words of a sentence) → credit from 0 to 1
//! ```
//!
//! Two words match if they are equal or begin alike for long enough ("develop", "developed").
//! A stemmer would need to know the language; measured on English questions this loses
//! nothing against Porter's, and it works for every script that is written in words.

use std::collections::HashSet;

use unicode_segmentation::UnicodeSegmentation;

use super::canonical::CanonicalText;
use super::number::with_ascii_digits;

/// Letters that words which are not equal must share at the beginning.
const LEAST_SHARED: usize = 4;

/// Part of the longer word that the shared beginning must make.
const LEAST_SHARE: f32 = 0.6;

/// Letters of the longest word that may be like another one. What is longer is no word of a
/// language, and its beginnings would be many.
const LONGEST: usize = 64;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// In lower case, without a possessive 's, in the form of [`CanonicalText`] and with the digits of ASCII.
    pub folded: String,
    /// Capitalised, and not only because it begins a sentence.
    pub is_name: bool,
    /// Whether it holds a digit.
    pub is_number: bool,
}

/// The words of `text`, in order; of scripts without spaces, the single characters.
pub(crate) fn words(text: &str) -> Vec<Word> {
    each_word(text).collect()
}

/// The words of `text`, in order, read as the iterator advances; of scripts without spaces, the
/// single characters.
pub(crate) fn each_word(text: &str) -> impl Iterator<Item = Word> {
    word_places(text).enumerate().map(|(index, (_, word))| {
        let bare = ["'s", "\u{2019}s", "'S", "\u{2019}S"]
            .iter()
            .find_map(|ending| word.strip_suffix(ending))
            .unwrap_or(word);
        Word {
            folded: folded(bare),
            is_name: index > 0 && bare.starts_with(char::is_uppercase),
            is_number: bare.contains(char::is_numeric),
        }
    })
}

/// The canonical form of `text` in small letters.
pub(crate) fn in_small_letters(text: &str) -> String {
    // The small letter of the Turkish "İ" is an "i", and not one with a second dot.
    CanonicalText::of(text).text.replace('İ', "i").to_lowercase()
}

fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let small = in_small_letters(word);
    // The line that stretches Arabic words stands alone where somebody writes about it.
    if small.is_empty() { word.to_owned() } else { with_ascii_digits(&small).into_owned() }
}

/// The words of `text`, each with the byte at which it begins. A name such as `server.max_size` is as many words as it has
/// parts, since questions name the last one.
pub(crate) fn word_places(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part =
        |part: &str| part.starts_with(char::is_alphabetic) && part.chars().nth(1).is_some();
    text.unicode_word_indices().flat_map(move |(start, word)| {
        let is_name = word.contains('.') && word.split('.').all(is_part);
        let parts = word.split(move |it| is_name && it == '.');
        parts.map(move |part| (start + part.as_ptr().addr() - word.as_ptr().addr(), part))
    })
}

/// The words that carry the question: each once, without those that only make it one.
///
/// A question of function words alone ("What is it?") keeps them all.
pub(crate) fn terms(question: &[Word]) -> Vec<Word> {
    let content = distinct(question.iter().filter(|word| !is_function_word(&word.folded)));
    if content.is_empty() { distinct(question.iter()) } else { content }
}

fn distinct<'a>(words: impl Iterator<Item = &'a Word>) -> Vec<Word> {
    let mut seen = HashSet::new();
    words.filter(|word| seen.insert(word.folded.as_str())).cloned().collect()
}

/// How well `word` stands for `term`: 1 if equal, else the part that the shared beginning
/// makes of the longer one, or 0 if that is too short.
pub(crate) fn credit(term: &str, word: &str) -> f32 {
    if term == word {
        return 1.0;
    }
    let shared = term.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    if shared < LEAST_SHARED {
        return 0.0;
    }
    let longer = term.chars().count().max(word.chars().count());
    let share = shared as f32 / longer as f32;
    if share < LEAST_SHARE || longer > LONGEST { 0.0 } else { share }
}

/// The beginnings of `word` by which others may be like it, each with its letters; the last is the
/// word. Two words have [`credit`] for each other where they have one of these in common: as much
/// as the longest of them makes of the longer word.
pub(crate) fn beginnings(word: &str) -> impl Iterator<Item = (usize, &str)> {
    let letters = word.chars().count();
    let is_shared = move |shared: usize| {
        let is_long = shared >= LEAST_SHARED && shared as f32 / letters as f32 >= LEAST_SHARE;
        shared == letters || is_long && letters <= LONGEST
    };
    let ends = word.char_indices().map(|(at, letter)| at + letter.len_utf8());
    (1..)
        .zip(ends)
        .filter(move |(shared, _)| is_shared(*shared))
        .map(move |(n, end)| (n, &word[..end]))
}

/// English words that say nothing about what is asked. Other languages have their rarity
/// to tell such words by, as long as the caller knows it.
pub(crate) fn is_function_word(word: &str) -> bool {
    FUNCTION_WORDS.binary_search(&word).is_ok()
}

#[rustfmt::skip]
const FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "all", "an", "and", "any", "are", "as", "at", "be", "been", "before",
    "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "during", "each",
    "for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i", "if", "in", "into",
    "is", "it", "its", "may", "me", "might", "more", "most", "my", "no", "nor", "not", "of", "on",
    "only", "or", "other", "our", "over", "own", "s", "same", "she", "should", "so", "some",
    "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "those", "to", "too", "under", "very", "was", "we", "were", "what", "when", "where", "which",
    "who", "whom", "whose", "why", "will", "with", "would", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_has_one_form_however_it_is_stored() {
        let folded = |text| words(text).into_iter().map(|it| it.folded).collect::<Vec<String>>();
        for (text, same) in [
            ("Kran\u{AD}ken\u{AD}haus", "krankenhaus"),
            ("CAFE\u{301}s", "cafés"),
            ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "한글"),
            ("مُدَّة", "مدة"),
            ("I\u{307}zmir", "izmir"),
            ("२४ ٢٧", "24 27"),
        ] {
            assert_eq!(folded(text), folded(same), "{text}");
            assert_eq!(folded(text).join(" "), same);
        }
    }

    #[test]
    fn a_joined_name_has_its_parts_and_a_number_or_an_abbreviation_has_none() {
        let folded = |text| words(text).into_iter().map(|it| it.folded).collect::<Vec<String>>();
        for (text, expected) in [
            ("Set rag_hnsw.ef_search.", &["set", "rag_hnsw", "ef_search"][..]),
            ("Node.js 4.2.0", &["node", "js", "4.2.0"]),
            ("3.5 of the U.S. v1.2", &["3.5", "of", "the", "u.s", "v1.2"]),
        ] {
            assert_eq!(folded(text), expected, "{text}");
        }
    }
}
