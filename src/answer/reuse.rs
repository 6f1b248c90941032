//! May the answer to one question be given to another?
//!
//! ```text
//! (question, question) → alike or not      (answer, old numbers → new numbers) → answer
//! ```
//!
//! Vectors say that two questions are about the same. They hardly tell 2023 from 2024, one name
//! from another, or what is allowed from what is not, so those are compared as they are written.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::redact::find::find;
use crate::text::marker::markers;
use crate::text::words::{Word, words};

/// Words that turn a question into its contrary.
const NEGATIONS: [&str; 11] =
    ["cannot", "kein", "neither", "never", "nicht", "no", "none", "nor", "not", "ohne", "without"];

/// Whether both questions name the same numbers, names and personal data, and negate alike. Of a model that gets no
/// personal data to read, the vectors of two questions about two persons are the same.
#[must_use]
pub fn are_alike(first: &str, second: &str) -> bool {
    let is_about_others = personal_data(first) != personal_data(second);
    let (first, second) = (words(first), words(second));
    !is_about_others
        && numbers(&first) == numbers(&second)
        && is_negated(&first) == is_negated(&second)
        && names_are_named(&first, &second)
        && names_are_named(&second, &first)
}

fn personal_data(question: &str) -> BTreeSet<&str> {
    find(question, &mut || {}).into_iter().map(|span| &question[span.range]).collect()
}

fn numbers(words: &[Word]) -> BTreeSet<&str> {
    words.iter().filter(|word| word.is_number).map(|word| word.folded.as_str()).collect()
}

fn is_negated(words: &[Word]) -> bool {
    let negates = |word: &str| {
        NEGATIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
    };
    words.iter().filter(|word| negates(&word.folded)).count() % 2 == 1
}

/// Whether each name of `first` is a word of `second`, which may write it without a capital.
fn names_are_named(first: &[Word], second: &[Word]) -> bool {
    let is_there = |name: &Word| second.iter().any(|word| word.folded == name.folded);
    first.iter().filter(|word| word.is_name && !is_speaker(word)).all(is_there)
}

/// Whether `word` is the English "I", which is written like a name.
fn is_speaker(word: &Word) -> bool {
    let rest = word.folded.strip_prefix('i');
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['\'', '\u{2019}']))
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
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_cut_short_is_not_whole() {
        assert!(is_whole(&json!({"calls": 1, "finish_reason": "stop"})));
        assert!(is_whole(&json!({"calls": 1, "finish_reason": null})));
        assert!(!is_whole(&json!({"calls": 1, "finish_reason": "length"})));
        assert!(!is_whole(&json!({"calls": 1, "finish_reason": ""})));
        assert!(!is_whole(&json!({"finish_reason": "stop", "stopped_by": "tokens"})));
    }

    #[test]
    fn questions_of_other_things_are_not_alike() {
        for (first, second, expected) in [
            ("How do I reset a password?", "How can a password be reset?", true),
            ("What was built in 2023?", "What was built in 2024?", false),
            ("When did Anna leave?", "When did Berta leave?", false),
            ("When did anna leave?", "When did Anna leave?", true),
            ("May I park here?", "May I not park here?", false),
            ("Is it written in C?", "Is it written in R?", false),
            ("Why don\u{2019}t the lights work?", "Why don't the lights work?", true),
            ("Why don't the lights work?", "Why do the lights work?", false),
            ("Who is a@b.de?", "Who is c@b.de?", false),
            ("Who wrote from a@b.de?", "Who has written from a@b.de?", true),
            ("", "", true),
        ] {
            assert_eq!(are_alike(first, second), expected, "{first} {second}");
            assert_eq!(are_alike(second, first), expected, "{second} {first}");
        }
    }

    #[test]
    fn markers_get_the_numbers_of_the_new_sources() {
        let numbers = BTreeMap::from([(1, 3), (2, 1)]);
        let new = |answer| renumbered(answer, &numbers);
        assert_eq!(new("One [1]. Two [1, 2]."), Some("One [3]. Two [3][1].".to_owned()));
        assert_eq!(new("Nothing."), Some("Nothing.".to_owned()));
        assert_eq!(new("`a[7]` [2-1]"), Some("`a[7]` [1][3]".to_owned()));
        assert_eq!(new("Other [3]."), None);
        assert_eq!(cited("One [1]. Two [1, 4]."), BTreeSet::from([1, 4]));
    }
}
