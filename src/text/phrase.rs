//! # phrase: does this question have one of these phrases?
//!
//! ```text
//! (question, phrases by language) → "Wie viele Mühlen gibt es?" has the German "wie viel"
//! ```
//!
//! Phrases are looked up in the language of the question alone, since "resume" goes on in English and sums up in
//! Portuguese.

use super::language::{NaturalLanguage, language};
use super::words::each_word;

/// Words of a question that are looked at.
const MOST_WORDS: usize = 200;

/// Characters at the beginning of a sentence that are looked at.
const MOST_CHARACTERS_OF_BEGINNING: usize = 400;

/// Phrases that mean the same in several languages. Those of a language are separated by a comma and a space.
pub struct Phrases {
    /// Of languages that write spaces: beginnings of words that follow each other, in lower case. One before a full stop
    /// is a whole word.
    pub spaced: &'static [(NaturalLanguage, &'static str)],
    /// Of languages without spaces: what stands anywhere in the text.
    pub unspaced: &'static [(NaturalLanguage, &'static str)],
}

impl Phrases {
    /// Whether `sentence` begins with one of them, as told by its first words. In a language that is not recognised, those
    /// of most languages count.
    #[must_use]
    pub fn begin(&self, sentence: &str) -> bool {
        let text: String = sentence.chars().take(MOST_CHARACTERS_OF_BEGINNING).collect();
        let words: Vec<String> = each_word(&text).take(MOST_WORDS).map(|it| it.folded).collect();
        let begins = |phrase: &str| begins_with(&words, phrase);
        let (mut spaced, mut unspaced) = (self.spaced.iter(), self.unspaced.iter());
        // Few sentences begin with a phrase of any language, so the language is seldom told.
        spaced.any(|(of, phrases)| {
            phrases.split(", ").any(begins)
                && language(&text).map_or(is_safe_alone(*of), |it| it == *of)
        }) || unspaced.any(|(of, phrases)| {
            let begins = |it: &str| text.trim_start().starts_with(it);
            phrases.split(", ").any(begins) && language(&text) == Some(*of)
        })
    }

    /// Whether `question` has one of them. In a language that is not recognised, as that of a question without small
    /// words, those of most languages count.
    #[must_use]
    pub fn stand_in(&self, question: &str) -> bool {
        self.first_end_in(question).is_some()
    }

    /// Whether the last words of `question` are the first place where it has one of them, by the rules of
    /// [`stand_in`](Self::stand_in).
    #[must_use]
    pub fn stand_at_end_of(&self, question: &str) -> bool {
        let words = each_word(question).take(MOST_WORDS + 1).count();
        self.first_end_in(question) == Some(words)
    }

    /// Whether `word`, in lower case, is one of those of `language` that are a single word, or begins as one does.
    #[must_use]
    pub fn have(&self, word: &str, language: NaturalLanguage) -> bool {
        let mut lists = self.spaced.iter().filter(|(of, _)| *of == language);
        lists.any(|(_, phrases)| phrases.split(", ").any(|phrase| fits(word, phrase)))
    }

    /// The number of words of `question` up to the end of that phrase which ends first; `None` where it has none of them,
    /// by the rules of [`stand_in`](Self::stand_in). In a script without spaces, each character is a word.
    #[must_use]
    pub fn first_end_in(&self, question: &str) -> Option<usize> {
        let text: String = question.chars().take(40 * MOST_WORDS).collect();
        let words: Vec<String> = each_word(&text).take(MOST_WORDS).map(|it| it.folded).collect();
        let found = language(&text);
        let counts = |of: NaturalLanguage| found.map_or(is_safe_alone(of), |it| it == of);
        let spaced = self.spaced.iter().filter(|(of, _)| counts(*of));
        let spaced = spaced.flat_map(|(_, phrases)| phrases.split(", "));
        // Without spaces, there are no words to begin with a phrase.
        let unspaced = self.unspaced.iter().filter(|(of, _)| found == Some(*of));
        let unspaced = unspaced.flat_map(|(_, phrases)| phrases.split(", "));
        let written = |phrase: &str| {
            let at = text.find(phrase)?;
            Some(each_word(&text[..at + phrase.len()]).count())
        };
        let said = spaced.filter_map(|phrase| end_of(&words, phrase));
        said.chain(unspaced.filter_map(written)).min()
    }
}

/// Whether the phrases of a language count where the language is not known: not those of languages in which another
/// one's everyday words would be taken for them.
fn is_safe_alone(language: NaturalLanguage) -> bool {
    use NaturalLanguage::{Italian, Portuguese, Spanish};
    !matches!(language, Italian | Portuguese | Spanish)
}

/// Whether the words of `phrase` are the beginnings of the first of `words`.
fn begins_with(words: &[String], phrase: &str) -> bool {
    let mut words = words.iter();
    phrase.split(' ').all(|it| words.next().is_some_and(|word| fits(word, it)))
}

/// The number of words up to the end of those that begin with the words of `phrase`, where they first do.
fn end_of(words: &[String], phrase: &str) -> Option<usize> {
    let at = (0..words.len()).find(|at| begins_with(&words[*at..], phrase))?;
    Some(at + phrase.split(' ').count())
}

/// Whether `word` begins with `beginning`, or is it where that ends with a full stop.
fn fits(word: &str, beginning: &str) -> bool {
    match beginning.strip_suffix('.') {
        Some(whole) => word == whole,
        None => word.starts_with(beginning),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Phrases = Phrases {
        spaced: &[
            (NaturalLanguage::English, "how many, count."),
            (NaturalLanguage::German, "wie viel, anzahl"),
        ],
        unspaced: &[(NaturalLanguage::Chinese, "多少")],
    };

    #[test]
    fn a_phrase_is_said_in_the_language_of_the_question() {
        for question in
            ["How many are there?", "What is the count?", "Wie viele sind es?", "有多少？"]
        {
            assert!(COUNTS.stand_in(question), "{question}");
        }
        for question in ["", "Which country is it?", "How are many of them?", "Is it the anzahl?"] {
            assert!(!COUNTS.stand_in(question), "{question}");
        }
        assert!(COUNTS.stand_in("Anzahl Mühlen"), "no small word tells the language");
        assert!(!COUNTS.stand_in(&"word ".repeat(1_000_000)));
    }

    #[test]
    fn the_phrase_that_ends_first_is_found() {
        for (question, end) in [
            ("How many are there?", Some(2)),
            ("What is the count, and how many are there?", Some(4)),
            ("Anzahl", Some(1)),
            ("那里有多少？", Some(5)),
            ("What is it?", None),
            ("", None),
        ] {
            assert_eq!(COUNTS.first_end_in(question), end, "{question}");
        }
    }

    #[test]
    fn a_phrase_stands_at_the_end() {
        assert!(
            COUNTS.stand_at_end_of("What is the count?") && COUNTS.stand_at_end_of("那里有多少？")
        );
        for question in ["The count is what?", "Is it the count of counts, and the count?", ""] {
            assert!(!COUNTS.stand_at_end_of(question), "{question}");
        }
    }

    #[test]
    fn a_word_is_of_its_language() {
        let (english, german) = (NaturalLanguage::English, NaturalLanguage::German);
        assert!(COUNTS.have("count", english) && COUNTS.have("anzahlen", german));
        for word in ["counts", "anzahl", "how", ""] {
            assert!(!COUNTS.have(word, english), "{word}");
        }
    }

    #[test]
    fn a_sentence_begins_with_a_phrase_or_has_it_elsewhere() {
        for sentence in [
            "How many are there is not known.",
            "\"Count\" is a word.",
            "Anzahl",
            "多少是不知道的。",
        ] {
            assert!(COUNTS.begin(sentence), "{sentence}");
        }
        for sentence in ["", "How", "It is not known how many there are.", "我不知道有多少。"]
        {
            assert!(!COUNTS.begin(sentence), "{sentence}");
        }
    }
}
