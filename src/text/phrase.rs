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
        let begins = |phrase: &str| {
            let length = phrase.split(' ').count().min(words.len());
            says(&words[..length], phrase)
        };
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
        let text: String = question.chars().take(40 * MOST_WORDS).collect();
        let words: Vec<String> = each_word(&text).take(MOST_WORDS).map(|it| it.folded).collect();
        let found = language(&text);
        let is_said = |(of, phrases): &(NaturalLanguage, &str)| {
            let counts = found.map_or(is_safe_alone(*of), |it| it == *of);
            counts && phrases.split(", ").any(|phrase| says(&words, phrase))
        };
        // Without spaces, there are no words to begin with a phrase.
        let is_written = |(of, phrases): &(NaturalLanguage, &str)| {
            found == Some(*of) && phrases.split(", ").any(|it| text.contains(it))
        };
        self.spaced.iter().any(is_said) || self.unspaced.iter().any(is_written)
    }
}

/// Whether the phrases of a language count where the language is not known: not those of languages in which another
/// one's everyday words would be taken for them.
fn is_safe_alone(language: NaturalLanguage) -> bool {
    use NaturalLanguage::{Italian, Portuguese, Spanish};
    !matches!(language, Italian | Portuguese | Spanish)
}

/// Whether the words of `phrase` are the beginnings of words that follow each other.
fn says(words: &[String], phrase: &str) -> bool {
    let beginnings: Vec<&str> = phrase.split(' ').collect();
    let fits = |(word, beginning): (&String, &&str)| match beginning.strip_suffix('.') {
        Some(whole) => word == whole,
        None => word.starts_with(*beginning),
    };
    words.windows(beginnings.len()).any(|run| run.iter().zip(&beginnings).all(fits))
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
