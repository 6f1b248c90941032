//! # key: which rows does a question for the whole name by their keys?
//!
//! ```text
//! "Summarise report.md" → report.md;  "Compare otter 1 with heron 2" → (otter, 1), (heron, 2)
//! ```
//!
//! A key of one text is looked up as it stands in the question, and one of a number behind what the table is called
//! ("ticket 7", "ticket no. 7"). One of several columns has its texts in the same part of the question, and its number
//! beside them: lengths ("in 2 sentences") and years are no keys.

use std::cell::LazyCell;

use super::{WholeSubject, compared_words, is_function, parts, subjects};
use crate::text::language::{NaturalLanguage, language};
use crate::text::number_word::{NUMBER_WORDS, number_words};
use crate::text::word_list::list_has;

/// Words of the longest key that a question may have, and of its beginning that are looked at for one.
const MOST_WORDS_OF_KEY: usize = 6;
const MOST_WORDS_BEFORE_KEY: usize = 40;

/// Words that stand between the number of a row and a text.
const OF: &str = "of von vom des de du del di van do da";

/// Signs behind which something else begins, and those of them that may stand behind a word for numbers.
const ENDS: [char; 7] = [',', ';', ':', '.', '?', '!', '…'];
const ENDS_OF_NUMBER_WORDS: [char; 2] = ['.', ':'];

/// What may be a key of several columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PossibleKey {
    /// What its texts may be, one at least.
    pub texts: Vec<String>,
    /// Its number, if it has one.
    pub number: Option<i64>,
}

/// What of `question` may be the key of a row that it names, as it is written and in small letters.
#[must_use]
pub fn possible_keys(question: &str) -> Vec<String> {
    as_written(&key_words(question, &subjects(question)))
}

/// Numbers of `question` that may be keys of rows that it names: those right behind what a table is called, of which
/// `names` are the names ("ticket 7"), or behind a word for numbers there ("ticket no. 7", "Ticket-Nr. 7").
#[must_use]
pub fn possible_numbers(question: &str, names: &[String]) -> Vec<i64> {
    let language = language(question);
    let places = tokens(question);
    let words: Vec<String> =
        places.iter().map(|(start, end)| question[*start..*end].to_lowercase()).collect();
    // Whether nothing ends between a word and the one before it; some signs may stand there.
    let follows = |at: usize, but: &[char]| {
        let is_end = |c: char| ENDS.contains(&c) && !but.contains(&c);
        at > 0 && !question[places[at - 1].1..places[at].0].contains(is_end)
    };
    let follows_table =
        |at: usize| follows(at, &[]) && is_table_name(&words[at - 1], names, language);
    let follows_number_word = |at: usize| {
        follows(at, &ENDS_OF_NUMBER_WORDS)
            && (list_has(NUMBER_WORDS, &words[at - 1]) && follows_table(at - 1)
                || is_numbered_table(&words[at - 1], names, language))
    };
    let number = |(at, word): (usize, &String)| {
        let number = word.parse().ok()?;
        (follows_table(at) || follows_number_word(at)).then_some(number)
    };
    words.iter().enumerate().filter_map(number).collect()
}

/// Whether `word` is what a table is called, joined to a word for numbers: "ticket-nr", "ticketnummer".
fn is_numbered_table(word: &str, names: &[String], language: Option<NaturalLanguage>) -> bool {
    number_words().any(|end| {
        let name = word.strip_suffix(end).map(|it| it.trim_end_matches('-'));
        name.is_some_and(|it| is_table_name(it, names, language))
    })
}

/// The keys of several columns, texts and at most one number, that `question` may name. Of two things that it compares, each has
/// its own. Where the key `has_number`, that stands right beside the text ("otter 2", "2 of the otter"), or behind a word for
/// numbers or what a table is called, of which `names` are the names.
#[must_use]
pub fn possible_composite_keys(
    question: &str,
    names: &[String],
    has_number: bool,
) -> Vec<PossibleKey> {
    let language = language(question);
    // "Compare otter 1 and 2."
    let anywhere = LazyCell::new(|| key_words(question, &subjects(question)));
    let of_part = |(part, subject): (&str, WholeSubject)| {
        let words = key_words(part, &[subject]);
        if !has_number {
            return vec![PossibleKey { texts: as_written(&words), number: None }];
        }
        let part = NumberedPart::read(part, words, names, language);
        let numbers = 0..part.tokens.len();
        numbers.filter_map(|at| part.key(at, &|| anywhere.clone(), language)).collect()
    };
    parts(question).into_iter().flat_map(of_part).filter(|it| !it.texts.is_empty()).collect()
}

/// A part of a question that is about one thing, in which numbers are looked at.
struct NumberedPart<'a> {
    text: &'a str,
    /// Words of it that may be a key.
    words: Vec<KeyWords<'a>>,
    /// Its tokens in small letters, and where they begin.
    tokens: Vec<(String, usize)>,
    /// For each token, whether a number may follow it that is a key.
    are_marks: Vec<bool>,
    /// For each token, whether it may be the text beside a number.
    are_texts: Vec<bool>,
}

impl<'a> NumberedPart<'a> {
    fn read(
        text: &'a str,
        words: Vec<KeyWords<'a>>,
        names: &[String],
        language: Option<NaturalLanguage>,
    ) -> NumberedPart<'a> {
        let token = |(start, end): (usize, usize)| (text[start..end].to_lowercase(), start);
        let tokens: Vec<(String, usize)> = tokens(text).into_iter().map(token).collect();
        let is_mark = |(it, _): &(String, usize)| {
            list_has(NUMBER_WORDS, it)
                || is_table_name(it, names, language)
                || is_numbered_table(it, names, language)
        };
        let are_marks: Vec<bool> = tokens.iter().map(is_mark).collect();
        let is_text = |((it, _), is_mark): (&(String, usize), &bool)| {
            !(*is_mark || is_function(it, language) || it.parse::<i64>().is_ok())
        };
        let are_texts = tokens.iter().zip(&are_marks).map(is_text).collect();
        NumberedPart { text, words, tokens, are_marks, are_texts }
    }

    /// The key with the number that the token at this place is; `None` where that is none. `anywhere` gives what may be a key
    /// in all of the question.
    fn key(
        &self,
        at: usize,
        anywhere: &dyn Fn() -> Vec<KeyWords<'a>>,
        language: Option<NaturalLanguage>,
    ) -> Option<PossibleKey> {
        let (token, start) = &self.tokens[at];
        let number: i64 = token.parse().ok()?;
        let before = self.text[..*start].trim_end();
        let is_behind_mark = at > 0 && self.are_marks[at - 1];
        let is_marked = is_behind_mark || self.tokens.len() == 1 || before.ends_with(['#', '№']);
        let is_apart = !is_marked && before.ends_with(ENDS);
        let end = at - usize::from(is_behind_mark);
        let next = |more: usize| self.tokens.get(at + more).map(|(it, _)| it.as_str());
        let has_of = next(1).is_some_and(|it| list_has(OF, it));
        let has_article = next(2).is_some_and(|it| is_function(it, language));
        let is_beside = |it: &KeyWords<'_>| {
            let is_before = !is_apart && it.last + 1 == end && self.are_texts[it.last];
            let is_start = it.first == at + 2 || has_article && it.first == at + 3;
            is_before || has_of && is_start
        };
        let those = |is_one: &dyn Fn(&KeyWords<'_>) -> bool| {
            self.words.iter().copied().filter(is_one).collect::<Vec<_>>()
        };
        let mut texts = those(&is_beside);
        if texts.is_empty() && is_marked {
            texts = those(&|it| self.are_texts[it.first..=it.last].contains(&true));
            if texts.is_empty() {
                texts = anywhere();
            }
        }
        Some(PossibleKey { texts: as_written(&texts), number: Some(number) })
    }
}

/// Whether `word` is what a table is called, of which `names` are the names.
fn is_table_name(word: &str, names: &[String], language: Option<NaturalLanguage>) -> bool {
    let terms = compared_words(word);
    let subject = WholeSubject { terms, others: Vec::new(), words: String::new(), language };
    names.iter().any(|name| subject.is_table(name))
}

/// Words of a text that may be a key, with the numbers of the first and of the last of its tokens.
#[derive(Clone, Copy)]
struct KeyWords<'a> {
    words: &'a str,
    first: usize,
    last: usize,
}

/// The words of `text` that may be a key, with a term of one of `subjects` each.
fn key_words<'a>(text: &'a str, subjects: &[WholeSubject]) -> Vec<KeyWords<'a>> {
    let tokens = tokens(text);
    let mut keys = Vec::new();
    for (first, (start, _)) in tokens.iter().enumerate() {
        for (last, (_, end)) in tokens.iter().enumerate().skip(first).take(MOST_WORDS_OF_KEY) {
            let key = &text[*start..*end];
            let words = compared_words(key);
            let is_said = |it: &WholeSubject| it.terms.iter().any(|term| words.contains(term));
            if key.contains(char::is_alphabetic) && subjects.iter().any(is_said) {
                keys.push(KeyWords { words: key, first, last });
            }
        }
    }
    keys
}

/// These words as they are written and in small letters, each once.
fn as_written(words: &[KeyWords<'_>]) -> Vec<String> {
    let both = |it: &KeyWords<'_>| [it.words.to_owned(), it.words.to_lowercase()];
    let mut keys: Vec<String> = words.iter().flat_map(both).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// The words of `text` between white space, without the punctuation around them, by their places. A number is a word of its own
/// behind a word for numbers: "no.7", "n°7".
fn tokens(text: &str) -> Vec<(usize, usize)> {
    let opens = ['"', '\'', '(', '«', '„', '“', '‘', '`', '[', '¿', '¡', '#', '№'];
    let closes = ['"', '\'', ')', '»', '”', '’', '`', ']', '.', ',', ';', ':', '?', '!', '…'];
    let place = |token: &str| {
        let rest = token.trim_start_matches(opens);
        let start = token.as_ptr().addr() - text.as_ptr().addr() + token.len() - rest.len();
        (start, start + rest.trim_end_matches(closes).len())
    };
    let parted = |(start, end): (usize, usize)| {
        let at = number_behind_word(&text[start..end]).map(|length| end - length);
        let word = text[start..at.unwrap_or(end)].trim_end_matches(ENDS_OF_NUMBER_WORDS);
        [Some((start, start + word.len())), at.map(|at| (at, end))].into_iter().flatten()
    };
    let tokens = text.split_whitespace().take(MOST_WORDS_BEFORE_KEY);
    tokens.map(place).filter(|(start, end)| start < end).flat_map(parted).collect()
}

/// The bytes of the number at the end of `token`, if nothing but a word for numbers stands before it.
fn number_behind_word(token: &str) -> Option<usize> {
    let word = token.trim_end_matches(|c: char| c.is_ascii_digit());
    let length = token.len() - word.len();
    let word = word.trim_end_matches(ENDS_OF_NUMBER_WORDS).to_lowercase();
    (length > 0 && list_has(NUMBER_WORDS, &word)).then_some(length)
}
