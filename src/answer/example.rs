//! # example: answers of the past that show a language model what an answer is like
//!
//! ```text
//! (pairs of a question and an answer, the nearest first, how many) → texts that fit in a prompt, the nearest last
//! ```
//!
//! Few-shot prompting (Brown et al., NeurIPS 2020, section 2): a model does as the examples do that it has read. An example
//! shows the tone, the length and what is said first. Its facts are those of other sources, so it cites nothing.

use crate::text::marker::without_markers;

/// Most bytes of all examples in a prompt, about 1,500 tokens of English.
const MOST_BYTES: usize = 6000;

/// A question that somebody has asked, and an answer that was found good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExampleAnswer {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: String,
}

impl ExampleAnswer {
    /// How it stands in a prompt. Citations are in parentheses: their numbers are those of other sources.
    #[must_use]
    pub fn shown(&self) -> String {
        let (question, answer) = (self.question.trim(), self.answer.trim());
        format!("Question: {question}\nAnswer: {}", without_markers(answer))
    }
}

/// The first of `pairs`, at most `most`, that fit in a prompt together, as they stand in it: the first one last, since a
/// model heeds most what it has read last.
#[must_use]
pub fn fitting(pairs: &[ExampleAnswer], most: usize) -> Vec<String> {
    let mut left = MOST_BYTES;
    let fits = |text: &String| {
        let fits = text.len() <= left;
        left -= if fits { text.len() } else { 0 };
        fits
    };
    let mut shown: Vec<String> =
        pairs.iter().map(ExampleAnswer::shown).filter(fits).take(most).collect();
    shown.reverse();
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(question: &str, answer: &str) -> ExampleAnswer {
        ExampleAnswer { question: question.to_owned(), answer: answer.to_owned() }
    }

    #[test]
    fn the_nearest_stands_last_and_cites_nothing() {
        let pairs =
            [pair(" Near? ", "Yes [1]."), pair("Far?", "No [2, 3]."), pair("Farther?", "No.")];
        assert_eq!(
            fitting(&pairs, 2),
            ["Question: Far?\nAnswer: No (2, 3).", "Question: Near?\nAnswer: Yes (1)."]
        );
        assert!(fitting(&pairs, 0).is_empty() && fitting(&[], 5).is_empty());
    }

    #[test]
    fn what_does_not_fit_gives_way_to_what_does() {
        let long = "a".repeat(MOST_BYTES);
        let pairs = [pair("Long?", &long), pair("Short?", "Yes."), pair("Brief?", "No.")];
        assert_eq!(
            fitting(&pairs, 2),
            ["Question: Brief?\nAnswer: No.", "Question: Short?\nAnswer: Yes."]
        );
    }
}
