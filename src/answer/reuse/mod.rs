//! May the answer to one question be given to another?
//!
//! ```text
//! (question, question) → likeness;  (likeness, cosine, thresholds) → reused or not
//! (answer, old numbers → new numbers) → answer
//! ```
//!
//! Vectors say that two questions are about the same. They hardly tell the warranty of a product from its battery, what
//! comes before from what comes after, or what is allowed from what is necessary: questions that differ in one such
//! word have cosines in the middle of those that mean the same. So the words are compared, a file a step:
//!
//! ```text
//! written_word    the words of a question, without accents and contractions
//! phrase_table    which phrases tell what: it asks when, it is about what is possible, it is only polite
//! phrases         these phrases, language by language
//! question_form   a question as what it asks and the words that say something
//! comparison      do two of them ask the same?
//! ```
//!
//! Words count alike however rare they are in the documents: "adults" and "children" are frequent wherever somebody
//! asks about one of them. What a reader finds in the cited passages is no help either: where only the minimum is
//! documented, it points at that, too, when asked for the maximum.

mod comparison;
mod phrase_table;
mod phrases;
mod question_form;
mod written_word;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use self::comparison::QuestionLikeness;
use self::comparison::compare;
use self::phrase_table::Phrasebook;
use self::question_form::QuestionForm;
use crate::embed::calibration::QuestionThresholds;
use crate::redact::find::find;
use crate::text::bigram::is_unspaced;
use crate::text::language::{NaturalLanguage, language};
use crate::text::marker::markers;
use crate::text::spelling::plain;
use crate::text::words::words;

impl QuestionLikeness {
    /// What the words of two questions say. Of a model that gets no personal data to read, the vectors of two questions
    /// about two persons are the same, so these data are compared, too.
    #[must_use]
    pub fn of(first: &str, second: &str) -> QuestionLikeness {
        if first == second {
            return QuestionLikeness::SameWords;
        }
        if personal_data(first) != personal_data(second) {
            return QuestionLikeness::Different;
        }
        let language = match (language(first), language(second)) {
            // A few words of Japanese without syllables look like Chinese.
            (Some(NaturalLanguage::Chinese), Some(NaturalLanguage::Japanese))
            | (Some(NaturalLanguage::Japanese), Some(NaturalLanguage::Chinese)) => {
                Some(NaturalLanguage::Japanese)
            }
            (Some(one), Some(other)) if one != other => return QuestionLikeness::Different,
            (one, other) => one.or(other),
        };
        match language.and_then(Phrasebook::of) {
            Some(phrasebook) => QuestionLikeness::by_phrases(first, second, phrasebook),
            None => QuestionLikeness::by_all_words(first, second),
        }
    }

    /// Whether an answer may be reused for questions of this likeness whose vectors have such a cosine.
    #[must_use]
    pub fn allows(self, cosine: f32, thresholds: &QuestionThresholds) -> bool {
        match self {
            QuestionLikeness::SameWords => cosine >= thresholds.same_words,
            QuestionLikeness::OtherWords => thresholds.other_words.is_some_and(|it| cosine >= it),
            QuestionLikeness::Different => false,
        }
    }

    fn by_phrases(first: &str, second: &str, phrasebook: &Phrasebook) -> QuestionLikeness {
        let [one, other] = [first, second].map(|it| QuestionForm::read(it, phrasebook));
        match one.says_something() && other.says_something() {
            true => compare(&one, &other, phrasebook.table.language),
            false => QuestionLikeness::by_all_words(first, second),
        }
    }

    /// Of a language without phrases, or questions that consist of them: no word may be missing.
    fn by_all_words(first: &str, second: &str) -> QuestionLikeness {
        match all_words(first) == all_words(second) {
            true => QuestionLikeness::SameWords,
            false => QuestionLikeness::Different,
        }
    }
}

/// The words of a question in the order of the alphabet; in a script without spaces, whose characters these are, in
/// their own. Where there is no word, the question itself.
fn all_words(question: &str) -> Vec<String> {
    let mut all: Vec<String> =
        words(question).into_iter().map(|word| plain(&word.folded)).collect();
    if all.is_empty() {
        return vec![question.trim().to_owned()];
    }
    if !question.contains(is_unspaced) {
        all.sort_unstable();
    }
    all
}

fn personal_data(question: &str) -> BTreeSet<&str> {
    find(question, &mut || {}).into_iter().map(|span| &question[span.range]).collect()
}

/// The numbers that an answer cites.
#[must_use]
pub fn cited(answer: &str) -> BTreeSet<u32> {
    markers(answer).into_iter().flat_map(|marker| marker.numbers).collect()
}

/// The answer with the numbers of its markers exchanged; each must be in `numbers`.
#[must_use]
pub fn renumbered(answer: &str, numbers: &BTreeMap<u32, u32>) -> Option<String> {
    let mut text = String::with_capacity(answer.len());
    let mut at = 0;
    for marker in markers(answer) {
        text += &answer[at..marker.range.start];
        for number in &marker.numbers {
            text += &format!("[{}]", numbers.get(number)?);
        }
        at = marker.range.end;
    }
    text += &answer[at..];
    Some(text)
}

/// Whether an answer that took what `usage` says came to its end by itself.
#[must_use]
pub fn is_whole(usage: &Value) -> bool {
    let reason = usage.get("finish_reason").and_then(Value::as_str);
    reason.is_none_or(|reason| reason == "stop") && usage.get("stopped_by").is_none()
}

#[cfg(test)]
mod tests;
