//! # subject: what is a question for the whole about?
//!
//! ```text
//! "Summarise the rules on leave." → leave;  "What are the main themes?" → nothing in particular
//! (subject, headings, titles, keys) → which of them it names
//! ```
//!
//! It is what is left without the words that only ask for the whole and those that any text can be called by. A heading is
//! named where it has all of that and says nothing else.

pub mod key;
mod words_of_any_text;

use std::borrow::Cow;

use self::words_of_any_text::OF_ANY_TEXT;
use super::terms::{QuestionWords, compared, term_credit};
use crate::chunk::HEADING_SEPARATOR;
use crate::text::comparison;
use crate::text::function_word::{is_function_character, is_function_word_of};
use crate::text::inflection::{has_forms, is_same_word};
use crate::text::language::{NaturalLanguage, language};
use crate::text::line::is_joined;
use crate::text::spelling::plain;
use crate::text::words::{Word, each_word};

/// Words of a question, or of a sentence, that are looked at.
const MOST_WORDS: usize = 200;

/// Letters of the shortest word that may be part of a compound.
const LEAST_OF_COMPOUND: usize = 5;

/// How well words of languages must match whose forms are not known.
const ALIKE: f32 = 0.6;

/// Languages that a short question may be in where its words don't tell.
const LANGUAGES: [NaturalLanguage; 9] = [
    NaturalLanguage::English,
    NaturalLanguage::German,
    NaturalLanguage::French,
    NaturalLanguage::Spanish,
    NaturalLanguage::Italian,
    NaturalLanguage::Portuguese,
    NaturalLanguage::Dutch,
    NaturalLanguage::Polish,
    NaturalLanguage::Turkish,
];

/// Endings of the names of files with texts, which no heading has.
const FILES: &[&str] = &["md", "txt", "html", "htm", "pdf", "docx", "rst", "adoc", "markdown"];

/// What a question for the whole is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WholeSubject {
    /// The words that say it, as they are compared, each once.
    terms: Vec<String>,
    /// Words of its question that say nothing of it, as they are compared.
    others: Vec<String>,
    /// These words as the question has them.
    words: String,
    /// The language of the question.
    language: Option<NaturalLanguage>,
}

/// A heading that a subject names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedHeading<'a> {
    /// The path down to it.
    pub path: &'a str,
    /// How many headings stand above it.
    pub depth: usize,
    /// Whether it says nothing else.
    pub is_exact: bool,
}

/// What `question`, which asks for the whole, is about: one subject, or the two that it compares.
#[must_use]
pub fn subjects(question: &str) -> Vec<WholeSubject> {
    parts(question).into_iter().map(|(_, subject)| subject).collect()
}

/// The parts of `question` that are about one thing each, with what that is.
fn parts(question: &str) -> Vec<(&str, WholeSubject)> {
    let language = language(question);
    let texts = comparison::compared(question).map_or(vec![question], |it| it.names.to_vec());
    texts.into_iter().map(|text| (text, WholeSubject::read(text, language))).collect()
}

impl WholeSubject {
    /// Reads `text`, which is of a question in this language.
    fn read(text: &str, language: Option<NaturalLanguage>) -> WholeSubject {
        let bare = without_unspaced(text, language);
        let QuestionWords { words, terms, term_of, .. } = QuestionWords::read(&bare, MOST_WORDS);
        let is_ending = |it: &Word| {
            FILES.contains(&it.folded.as_str()) && bare.contains(&format!(".{}", it.folded))
        };
        let says = |it: &Word| {
            !is_function(&it.folded, language)
                && !is_of_any_text(&it.folded, language)
                && !is_ending(it)
        };
        let are_said: Vec<bool> = terms.iter().map(says).collect();
        let mut said = String::new();
        for (word, term) in words.iter().zip(&term_of) {
            if term.is_some_and(|it| are_said[it]) {
                let is_glued = said.is_empty() || is_joined(&said, &word.folded);
                said += if is_glued { "" } else { " " };
                said += &word.folded;
            }
        }
        let (telling, others): (Vec<_>, Vec<_>) =
            terms.into_iter().zip(are_said).partition(|(_, is_said)| *is_said);
        let folded = |both: Vec<(Word, bool)>| both.into_iter().map(|(it, _)| it.folded).collect();
        WholeSubject { terms: folded(telling), others: folded(others), words: said, language }
    }

    /// Whether it is nothing in particular.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.terms.is_empty()
    }

    /// Its words, by which it can be looked up.
    #[must_use]
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Whether it is what a table or a pipeline is called.
    #[must_use]
    pub fn is_table(&self, name: &str) -> bool {
        let words = content_words(&name.replace('_', " "));
        !self.is_all() && self.terms.iter().all(|term| self.is_one_of(term, &words))
    }

    /// It without the words of these names of tables and pipelines, if anything is left then: who asks for the tickets about
    /// logins means what is in the table of tickets.
    #[must_use]
    pub fn apart_from(self, tables: &[String]) -> WholeSubject {
        let words: Vec<String> =
            tables.iter().flat_map(|it| content_words(&it.replace('_', " "))).collect();
        let is_of_table = |term: &String| self.is_one_of(term, &words);
        let (others, terms): (Vec<String>, Vec<String>) =
            self.terms.iter().cloned().partition(is_of_table);
        match terms.is_empty() {
            true => self,
            false => {
                let others = self.others.into_iter().chain(others).collect();
                WholeSubject { terms, others, ..self }
            }
        }
    }

    /// Whether `title`, a key or the path of a file is what it names and says nothing else. A number names no row.
    #[must_use]
    pub fn is_called(&self, title: &str) -> bool {
        let name = title.rsplit('/').next().unwrap_or(title);
        let name =
            name.rsplit_once('.').filter(|(_, end)| FILES.contains(end)).map_or(name, |it| it.0);
        name.contains(char::is_alphabetic) && self.is_exactly(&content_words(name))
    }

    /// How many of its words `key` has as they are.
    #[must_use]
    pub fn words_shared_with(&self, key: &str) -> usize {
        let words = compared_words(key);
        self.terms.iter().filter(|term| words.contains(term)).count()
    }

    /// The heading of a path that it names: one that says nothing else, or else one that has all of its words, or the last of
    /// those that have them together.
    #[must_use]
    pub fn heading_in<'a>(&self, path: &'a str) -> Option<NamedHeading<'a>> {
        if self.is_all() {
            return None;
        }
        let (mut titles, mut start) = (Vec::new(), 0);
        for title in path.split(HEADING_SEPARATOR) {
            let end = start + title.len();
            titles.push((content_words(title), end));
            start = end + HEADING_SEPARATOR.len();
        }
        let heading = |depth: usize, is_exact| {
            let (_, end) = titles.get(depth)?;
            Some(NamedHeading { path: &path[..*end], depth, is_exact })
        };
        let exact = titles.iter().position(|(words, _)| self.is_exactly(words));
        if let Some(depth) = exact {
            return heading(depth, true);
        }
        let has_all = titles.iter().position(|(words, _)| self.are_among(words));
        let together = || {
            let depth_of = |term: &String| {
                titles
                    .iter()
                    .position(|(words, _)| words.iter().any(|it| self.is_in_word(term, it)))
            };
            let depths: Option<Vec<usize>> = self.terms.iter().map(depth_of).collect();
            depths?.into_iter().max()
        };
        heading(has_all.or_else(together)?, false)
    }

    /// Whether `sentence` has all of its words.
    #[must_use]
    pub fn is_in(&self, sentence: &str) -> bool {
        !self.is_all() && self.are_among(&compared_words(sentence))
    }

    /// Whether each of its words is in one of `texts`.
    #[must_use]
    pub fn is_known_in<'a>(&self, texts: impl Iterator<Item = &'a str>) -> bool {
        let mut left: Vec<&String> = self.terms.iter().collect();
        for text in texts {
            if left.is_empty() {
                break;
            }
            let words = compared_words(text);
            left.retain(|term| !words.iter().any(|it| self.is_in_word(term, it)));
        }
        left.is_empty()
    }

    /// Whether these words of a name are its own, and others that say nothing.
    fn is_exactly(&self, words: &[String]) -> bool {
        let is_asked = |word: &String| {
            let is_own = self.terms.iter().chain(&self.others).any(|it| self.is_same(it, word));
            is_own || is_of_any_text(word, self.language)
        };
        !self.is_all()
            && self.terms.iter().all(|term| self.is_one_of(term, words))
            && words.iter().all(is_asked)
    }

    fn are_among(&self, words: &[String]) -> bool {
        self.terms.iter().all(|term| words.iter().any(|it| self.is_in_word(term, it)))
    }

    fn is_one_of(&self, term: &str, words: &[String]) -> bool {
        words.iter().any(|word| self.is_same(term, word))
    }

    /// Whether `word` is `term`, or a form of it.
    fn is_same(&self, term: &str, word: &str) -> bool {
        let language = self.language.unwrap_or(NaturalLanguage::English);
        match has_forms(language) {
            _ if term == word => true,
            true => is_same_word(&plain(term), &plain(word), language),
            false => term_credit(term, word) >= ALIKE,
        }
    }

    /// Whether `word` is `term`, a form of it, or a compound with it, as German and Dutch write them in one.
    fn is_in_word(&self, term: &str, word: &str) -> bool {
        let joins = matches!(self.language, Some(NaturalLanguage::German | NaturalLanguage::Dutch))
            && term.chars().nth(LEAST_OF_COMPOUND - 1).is_some();
        self.is_same(term, word) || joins && (word.starts_with(term) || word.ends_with(term))
    }
}

/// The words of a name that say something, as they are compared, without numbers.
fn content_words(name: &str) -> Vec<String> {
    let language = language(name);
    let says =
        |it: &Word| !is_function(&it.folded, language) && it.folded.contains(char::is_alphabetic);
    let terms = QuestionWords::read(name, MOST_WORDS).terms;
    terms.into_iter().filter(says).map(|it| it.folded).collect()
}

/// The words of a text as they are compared.
fn compared_words(text: &str) -> Vec<String> {
    let words: Vec<Word> = each_word(text).collect();
    compared(text, &words).into_iter().map(|it| it.folded).collect()
}

/// Whether a word only makes a question, in any of the languages where it is not known which one it is.
fn is_function(word: &str, language: Option<NaturalLanguage>) -> bool {
    let is_of = |it: NaturalLanguage| is_function_word_of(word, Some(it));
    word.chars().any(is_function_character)
        || language.map_or_else(|| LANGUAGES.into_iter().any(is_of), is_of)
}

/// Whether a word asks for the whole, or is one that any text can be called by.
fn is_of_any_text(word: &str, language: Option<NaturalLanguage>) -> bool {
    let is_of = |it: NaturalLanguage| OF_ANY_TEXT.have(word, it);
    language.map_or_else(|| LANGUAGES.into_iter().any(is_of), is_of)
}

/// `text` without what of a script without spaces only asks for the whole.
fn without_unspaced(text: &str, language: Option<NaturalLanguage>) -> Cow<'_, str> {
    let lists = OF_ANY_TEXT.unspaced.iter().filter(|(of, _)| language == Some(*of));
    lists.flat_map(|(_, phrases)| phrases.split(", ")).fold(Cow::Borrowed(text), |text, phrase| {
        match text.contains(phrase) {
            true => Cow::Owned(text.replace(phrase, " ")),
            false => text,
        }
    })
}

#[cfg(test)]
mod tests;
