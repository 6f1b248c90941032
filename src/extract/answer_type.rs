//! # asked: what kind of thing does the question ask for?
//!
//! ```text
//! (question's words) → a time, a number, a name, or anything
//! ```
//!
//! A sentence without a number cannot say how many. That tells neighbours of equal wording
//! apart, and it is all that is read from a question word. Where none is known nothing is
//! expected, so a question in another language is answered by wording and meaning alone.

use crate::text::words::Word;

/// The kind of answer that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerType {
    /// A year, a date, a day of the week.
    Time,
    /// A number, in digits or words.
    Number,
    /// A person or a place, which many languages write with a capital.
    Name,
    /// Anything: the question does not tell.
    Anything,
}

/// Reads the question's words; the first phrase of the table that it holds decides.
pub(super) fn asked(question: &[Word]) -> AnswerType {
    let holds = |phrase: &str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        question
            .windows(phrase.len())
            .any(|window| window.iter().map(|word| word.folded.as_str()).eq(phrase.iter().copied()))
    };
    PHRASES
        .iter()
        .find(|(_, phrases)| phrases.iter().any(|phrase| holds(phrase)))
        .map_or(AnswerType::Anything, |(asked, _)| *asked)
}

impl AnswerType {
    /// Whether `sentence` holds something of this kind that the question does not;
    /// `None` where anything would do.
    pub(super) fn is_held_by(self, sentence: &[Word], question: &[Word]) -> Option<bool> {
        let kind: fn(&Word) -> bool = match self {
            AnswerType::Time => is_time,
            AnswerType::Number => |word| word.is_number || is_one_of(NUMBERS, word),
            AnswerType::Name => |word| word.is_name,
            AnswerType::Anything => return None,
        };
        let is_new = |word: &Word| question.iter().all(|other| other.folded != word.folded);
        Some(sentence.iter().any(|word| kind(word) && is_new(word)))
    }
}

/// A year, the name of a month or day, or a number with an ending ("19th", "1980s").
fn is_time(word: &Word) -> bool {
    let digits = word.folded.chars().take_while(char::is_ascii_digit).count();
    let ending = &word.folded[digits..];
    (digits == 4 && ending.is_empty())
        || (digits > 0 && ["s", "st", "nd", "rd", "th"].contains(&ending))
        || is_one_of(DAYS, word)
}

fn is_one_of(list: &[&str], word: &Word) -> bool {
    list.contains(&word.folded.as_str())
}

/// Phrases are words with a space between; of Chinese and Japanese, characters.
#[rustfmt::skip]
const PHRASES: &[(AnswerType, &[&str])] = &[
    (AnswerType::Time, &[
        "when", "year", "date", "century", "decade", "month", "what day", "which day",
        "wann", "welchem jahr", "welches jahr", "quand", "quelle année", "cuándo", "qué año",
        "quando", "che anno", "que ano", "wanneer", "когда", "каком году",
        "何 时", "什 么 时 候", "哪 年", "哪 一 年", "い つ",
    ]),
    (AnswerType::Number, &[
        "how many", "how much", "how old", "how long", "how far", "how tall", "how large",
        "how big", "how high", "how often", "what number", "what percent", "what percentage",
        "what age", "wie viele", "wie viel", "wie alt", "wie lange", "wie hoch", "wie weit", "combien",
        "cuánto", "cuánta", "cuántos", "cuántas", "quanto", "quanta", "quanti", "quante",
        "quantos", "quantas", "hoeveel", "сколько", "多 少", "几", "い く つ",
    ]),
    (AnswerType::Name, &[
        "who", "whom", "whose", "where", "quién", "quiénes", "dónde", "où", "кто", "где",
    ]),
];

#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "twenty", "thirty", "forty", "fifty", "sixty", "hundred", "hundreds", "thousand",
    "thousands", "million", "millions", "billion", "dozen", "half", "third", "quarter", "twice",
    "once", "first", "second", "fourth", "fifth", "several", "many",
];

#[rustfmt::skip]
const DAYS: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday",
    "saturday", "sunday",
];
