//! How near does an answer come to an expected one?
//!
//! Compared as the SQuAD evaluation compares answers (Rajpurkar et al., EMNLP 2016): small letters,
//! without punctuation and English articles. If several answers are expected, the nearest counts.
//! In scripts that put no spaces between words each character is a token, as in MLQA (Lewis et al.,
//! ACL 2020).

use std::collections::HashMap;

use super::containment::{is_without_spaces, normalized};
use crate::text::marker::markers;

/// Weight of the tokens in the correctness of an answer, beside that of its meaning; RAGAS takes
/// three to one between claims and similarity.
const TOKENS: f64 = 0.75;

/// `answer` without its citations.
pub fn bare(answer: &str) -> String {
    let mut bare = String::with_capacity(answer.len());
    let mut from = 0;
    for marker in markers(answer) {
        bare += answer[from..marker.range.start].trim_end_matches(' ');
        from = marker.range.end;
    }
    bare + &answer[from..]
}

/// Whether `answer` is one of `expected`.
pub fn is_exact(answer: &str, expected: &[String]) -> bool {
    let answer = normalized(answer);
    expected.iter().any(|text| normalized(text) == answer)
}

/// The harmonic mean of the share of the answer's tokens that the expected answer has and of the
/// share of the expected tokens that the answer has; 0 if nothing is expected.
pub fn token_f1(answer: &str, expected: &[String]) -> f64 {
    let answer = tokens(answer);
    expected.iter().map(|text| f1(&answer, &tokens(text))).fold(0.0, f64::max)
}

/// Tokens and meaning together, from 0 to 1.
pub fn correctness(token_f1: f64, similarity: f64) -> f64 {
    TOKENS * token_f1 + (1.0 - TOKENS) * similarity.clamp(0.0, 1.0)
}

fn f1(answer: &[String], expected: &[String]) -> f64 {
    if answer.is_empty() || expected.is_empty() {
        return f64::from(u8::from(answer.is_empty() && expected.is_empty()));
    }
    let mut left: HashMap<&str, usize> = HashMap::new();
    for token in expected {
        *left.entry(token).or_default() += 1;
    }
    let mut is_there = |token: &&String| match left.get_mut(token.as_str()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    let common = answer.iter().filter(|token| is_there(token)).count();
    2.0 * common as f64 / (answer.len() + expected.len()) as f64
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    for word in normalized(text).split(' ').filter(|word| !word.is_empty()) {
        let mut begins = true;
        for letter in word.chars() {
            let alone = is_without_spaces(letter);
            match tokens.last_mut() {
                Some(last) if !begins && !alone => last.push(letter),
                _ => tokens.push(letter.to_string()),
            }
            begins = alone;
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn expected(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn citations_are_no_part_of_an_answer() {
        assert_eq!(bare("It is red [1]. `a[1]` Green [2, 3]."), "It is red. `a[1]` Green.");
    }

    #[test]
    fn exact_is_without_articles_and_punctuation() {
        let check = |answer: &str, texts: &[&str], exact: bool| {
            assert_eq!(is_exact(answer, &expected(texts)), exact, "{answer}");
        };
        check("The Red door!", &["a red  door"], true);
        check("red door", &["door", "Red, door"], true);
        check("red doors", &["red door"], false);
        check("red", &[], false);
    }

    #[test]
    fn tokens_are_counted_as_often_as_they_are_there() {
        let check = |answer: &str, texts: &[&str], f1: f64| {
            let found = token_f1(answer, &expected(texts));
            assert!((found - f1).abs() < 1e-9, "{answer}: {found}");
        };
        check("the first day of the month", &["first day of each month"], 8.0 / 9.0);
        check("red red red", &["red"], 0.5);
        check("blue", &["red", "Blue!"], 1.0);
        check("", &["red"], 0.0);
        check("red", &[], 0.0);
        check("1889年に", &["1889年"], 0.8);
        check("黑豹队的防守", &["防守"], 0.5);
    }

    #[test]
    fn correctness_is_mostly_tokens() {
        assert_eq!((correctness(1.0, 1.2), correctness(0.0, -0.5)), (1.0, 0.0));
        assert_eq!(correctness(0.4, 0.8), 0.5);
    }

    proptest! {
        #[test]
        fn the_same_is_exact_and_more_or_less_is_not_better(text in "\\PC{0,30}", more in "\\PC{0,10}") {
            let same = expected(&[&text]);
            prop_assert!(is_exact(&text, &same));
            prop_assert!((token_f1(&text, &same) - 1.0).abs() < 1e-9);
            let longer = format!("{text} {more}");
            prop_assert!((0.0..=1.0).contains(&token_f1(&longer, &same)));
        }
    }
}
