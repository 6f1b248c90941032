//! Does a text hold an expected answer?
//!
//! Compared as the SQuAD evaluation compares answers (Rajpurkar et al., EMNLP 2016): small letters,
//! without punctuation and English articles, words apart by one space. A match begins and ends
//! with a word, so "1999" does not hold "99"; beside letters of scripts that put no spaces between words,
//! any place will do.

use crate::text::script::{is_han, is_kana, is_southeast_asian};

/// Whether `text` holds one of `answers`.
pub fn holds_any(text: &str, answers: &[String]) -> bool {
    let text = normalized(text);
    answers.iter().any(|answer| holds(&text, &normalized(answer)))
}

/// Whether `text` holds the words of `answer`; both are normalised.
fn holds(text: &str, answer: &str) -> bool {
    let answer = answer.trim();
    if answer.is_empty() {
        return false;
    }
    text.match_indices(answer).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + answer.len()..]);
        is_edge(before.chars().next_back(), answer.chars().next())
            && is_edge(answer.chars().next_back(), after.chars().next())
    })
}

/// Whether a word may end between two neighbours.
fn is_edge(before: Option<char>, after: Option<char>) -> bool {
    [before, after].into_iter().flatten().any(|c| c == ' ' || is_without_spaces(c))
}

/// The words of `text`, with a space before and after each.
pub(super) fn normalized(text: &str) -> String {
    let mut normalized = String::from(" ");
    let separated = |c: char| c.is_whitespace() || is_punctuation(c);
    for word in text.to_lowercase().split(separated) {
        if !matches!(word, "" | "a" | "an" | "the") {
            normalized.push_str(word);
            normalized.push(' ');
        }
    }
    normalized
}

fn is_punctuation(c: char) -> bool {
    // A combining mark is part of its letter in Arabic, Hebrew and the scripts of India.
    let is_mark = matches!(c, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{610}'..='\u{61a}'
        | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{dff}' | '\u{e31}'..='\u{e4e}');
    !c.is_alphanumeric() && !is_mark
}

/// Whether `c` belongs to a script that puts no spaces between words.
pub(super) fn is_without_spaces(c: char) -> bool {
    is_southeast_asian(c) || is_kana(c) || is_han(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, answer: &str, expected: bool) {
        assert_eq!(holds_any(text, &[answer.to_owned()]), expected, "{answer:?} in {text:?}");
    }

    #[test]
    fn words_are_compared_and_not_letters() {
        check("It rains in July, August, and September.", "july, August and September", true);
        check("It was in 1999.", "1999", true);
        check("It was in 1999.", "99", false);
        check("The Panthers scored 308 points", "the 308", true);
        check("over 10,000 people", "over 10,000", true);
        check("over 10,000 people", "", false);
        check("over 10,000 people", "the", false);
        check("", "x", false);
    }

    #[test]
    fn other_scripts() {
        check("黑豹队防守丢了308分", "308", true);
        check("黑豹队防守丢了1308分", "308", false);
        check("黑豹队的防守", "防守", true);
        check("Die Straße ist weiß.", "STRAßE", true);
        check("في عام ١٩٩٩", "١٩٩٩", true);
    }

    #[test]
    fn one_of_several_answers_is_enough() {
        assert!(holds_any("a red door", &["blue".to_owned(), "red".to_owned()]));
        assert!(!holds_any("a red door", &[]));
    }
}
