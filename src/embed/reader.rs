//! # reader: does this place of a passage answer the question?
//!
//! ```text
//! (logits of the tokens of a question and a passage) → scores of spans of the passage
//! ```
//!
//! A reader is a model of machine reading comprehension. It gives four logits a token: that the answer begins there,
//! that it ends there, that its sentence answers, and, of the first token, that the passage is about the question. The
//! first three were trained in one softmax over the tokens of all passages of a question and a constant 0 for
//! "nowhere" (the shared normalisation of Clark and Gardner, ACL 2018, section 3.2). So those of different passages
//! can be compared, and the log of the sum of their exponentials over some tokens is the log odds of these tokens
//! against "nowhere". The fourth alone ranks passages.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};

/// Logits of a token.
pub const LOGITS: usize = 4;

const START: usize = 0;
const END: usize = 1;
const EVIDENCE: usize = 2;
const RELEVANCE: usize = 3;

/// Numbers of a [`SpanScores`].
pub const NUMBERS: usize = 3;

/// What a reader says of a span of a passage, in log odds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpanScores {
    /// That the sentence that answers is there, against none in any passage.
    pub evidence: f32,
    /// That the answer itself is there, against none in any passage.
    pub answer: f32,
    /// That the passage is about the question.
    pub relevance: f32,
}

impl SpanScores {
    /// What the `logits` of a sequence, [`LOGITS`] a token, say of the tokens of `span`, of which there is one
    /// at least.
    #[must_use]
    pub fn of(logits: &[f32], span: &Range<usize>) -> SpanScores {
        let inside = &logits[span.start * LOGITS..span.end * LOGITS];
        let sum = |of: usize| log_sum(inside.chunks_exact(LOGITS).map(move |token| token[of]));
        SpanScores {
            evidence: sum(EVIDENCE),
            answer: (sum(START) + sum(END)) / 2.0,
            relevance: relevance(logits),
        }
    }

    /// As numbers, which [`SpanScores::from_numbers`] reads.
    #[must_use]
    pub fn numbers(&self) -> [f32; NUMBERS] {
        [self.evidence, self.answer, self.relevance]
    }

    /// The scores that these numbers are.
    #[must_use]
    pub fn from_numbers(&[evidence, answer, relevance]: &[f32; NUMBERS]) -> SpanScores {
        SpanScores { evidence, answer, relevance }
    }
}

/// What stands before a passage in the text that is read: its heading on a line of its own, as in training.
#[must_use]
pub fn opening(heading: Option<&str>) -> String {
    heading.filter(|it| !it.is_empty()).map(|it| format!("{it}\n")).unwrap_or_default()
}

/// The error where the reader of the embedding model `name` is asked for and there is none.
#[must_use]
pub fn no_reader(name: &str) -> Error {
    Error::new(ErrorKind::Unsupported, format!("model \"{name}\" has no reader"))
        .hint("Rerank by 'late_interaction', which goes with every embedding model, or use multilingual-e5-small, which has a reader.")
}

/// What the `logits` of a sequence say of its passage as a whole, in log odds; 0 where there are none.
#[must_use]
pub fn relevance(logits: &[f32]) -> f32 {
    logits.get(RELEVANCE).copied().unwrap_or(0.0)
}

/// The log of the sum of the exponentials.
pub fn log_sum(values: impl Iterator<Item = f32> + Clone) -> f32 {
    let greatest = values.clone().fold(f32::NEG_INFINITY, f32::max);
    if greatest == f32::NEG_INFINITY {
        return greatest;
    }
    greatest + values.map(|value| (value - greatest).exp()).sum::<f32>().ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_read_by_its_own_tokens() {
        let logits = [
            [9.0, 9.0, 9.0, 2.5],
            [1.0, -1.0, 0.0, 7.0],
            [1.0, 3.0, 0.0, 7.0],
            [9.0, 9.0, 9.0, 7.0],
        ];
        let scores = SpanScores::of(&logits.concat(), &(1..3));
        let two = 2.0_f32.ln();
        assert!((scores.evidence - two).abs() < 1e-6, "{scores:?}");
        let end = (3.0_f32.exp() + (-1.0_f32).exp()).ln();
        assert!((scores.answer - (1.0 + two + end) / 2.0).abs() < 1e-6, "{scores:?}");
        assert_eq!(scores.relevance, 2.5);
        assert_eq!(SpanScores::from_numbers(&scores.numbers()), scores);
    }

    #[test]
    fn a_passage_without_a_heading_begins_with_itself() {
        let openings = [None, Some(""), Some("Abbey")].map(opening);
        assert_eq!(openings, ["", "", "Abbey\n"]);
    }

    #[test]
    fn sums_of_large_numbers_are_numbers() {
        assert!((log_sum([500.0, 500.0].into_iter()) - 500.0 - 2.0_f32.ln()).abs() < 1e-4);
        assert_eq!(log_sum(std::iter::empty()), f32::NEG_INFINITY);
    }
}
