//! # capitals: how is a question in capitals written otherwise?
//!
//! ```text
//! "KIRMIZI IŞIK NEDEN YANIYOR?" → "kırmızı ışık neden yanıyor?";  "NASA, ESA" → as it is
//! ```
//!
//! To models, words in capitals are other words, and each looks like a name. With the default model the answer to
//! the question above has a confidence of 0.81 if it is asked in small letters, and of 0.01 in capitals.

use std::borrow::Cow;

use super::language::{NaturalLanguage, language};
use super::words::word_places;

/// Words in capitals that may be names or abbreviations.
const MOST_NAMES: usize = 2;

/// `question` in small letters, as its language has them, where all of more than two words are in capitals; otherwise as it is.
#[must_use]
pub fn without_capitals(question: &str) -> Cow<'_, str> {
    if !is_in_capitals(question) {
        return question.into();
    }
    // The small letter of the Turkish "İ" is an "i", and not one with a second dot.
    let small = question.replace('İ', "i").to_lowercase();
    let turkish = || question.replace('I', "ı").replace('İ', "i").to_lowercase();
    let is_turkish = |text: &str| language(text) == Some(NaturalLanguage::Turkish);
    let has_letters = question.contains(['İ', 'Ğ', 'Ş']);
    match is_turkish(&small) || has_letters && is_turkish(&turkish()) {
        true => turkish().into(),
        false => small.into(),
    }
}

/// Whether no letter of `question` is a small one, or of a script that has none, but for "ß", of which few keyboards have a
/// capital.
pub(super) fn is_in_capitals(question: &str) -> bool {
    let is_capital = |c: char| c.is_uppercase() || c == 'ß';
    let mut letters = question.chars().filter(|c| c.is_alphabetic());
    let mut words = word_places(question).filter(|(_, word)| word.starts_with(char::is_uppercase));
    letters.all(is_capital) && words.nth(MOST_NAMES).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_in_capitals_is_written_in_small_letters() {
        for (question, expected) in [
            ("KIRMIZI IŞIK NEDEN YANIYOR?", "kırmızı ışık neden yanıyor?"),
            ("İADE NASIL YAPILIR?", "iade nasıl yapılır?"),
            ("WHERE IS THE KIT?", "where is the kit?"),
            ("WO LIEGT DIE STRAßE?", "wo liegt die straße?"),
            ("ΠΟΥ ΕΠΙΤΡΕΠΕΤΑΙ ΤΟ ΚΑΠΝΙΣΜΑ;", "που επιτρεπεται το καπνισμα;"),
            ("СКОЛЬКО СТОИТ БИЛЕТ?", "сколько стоит билет?"),
        ] {
            assert_eq!(without_capitals(question), expected);
        }
    }

    #[test]
    fn other_questions_are_as_they_were_asked() {
        for question in [
            "",
            "NASA, ESA",
            "What is NASA?",
            "NHK TBS WOWOW の番組",
            "报销需要多少天？",
            "2024 18 7 ?",
        ] {
            assert!(matches!(without_capitals(question), Cow::Borrowed(it) if it == question));
        }
    }
}
