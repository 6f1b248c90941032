//! A language model grades passages.
//!
//! ```text
//! (template, question, passages, nonce) → messages;  answer → one score a passage
//! ```
//!
//! All passages of a call are graded together, so that the grades are comparable and the
//! question is paid for once. They stand between marked lines, as chunks in a prompt do
//! ([`crate::prompt::messages`]): a passage that praises itself stays a passage.

use crate::error::{Error, ErrorKind, Result};
use crate::prompt::messages::{self, Message, PromptSource};
use crate::prompt::template::Template;

/// The template that is used.
pub const TEMPLATE: &str = "judge";

/// Most passages in a call.
pub const PASSAGES_A_CALL: usize = 20;

/// Characters of a passage that are read.
const LONGEST: usize = 2000;

/// The best grade.
const BEST: f32 = 10.0;

/// The messages in which `template` asks for the grades of `passages`, which are numbered from 1.
///
/// `nonce` is something that could not be known when the passages were written.
pub fn messages(
    template: &Template,
    question: &str,
    passages: &[&str],
    nonce: &str,
) -> Result<Vec<Message>> {
    let source = |text: &&str| PromptSource {
        content: text.chars().take(LONGEST).collect(),
        ..Default::default()
    };
    let sources: Vec<PromptSource> = passages.iter().map(source).collect();
    messages::messages(template, question, &sources, nonce)
}

/// The grades of `count` passages in `answer`, from 0 to 1. A passage without a grade has 0; `None` if
/// there is no grade at all.
pub fn scores(answer: &str, count: usize) -> Option<Vec<f32>> {
    let mut scores = vec![None; count];
    for (number, grade) in answer.lines().filter_map(grade) {
        if let Some(score) = number.checked_sub(1).and_then(|place| scores.get_mut(place)) {
            // The first grade counts; what comes later may be an afterthought or a quotation.
            score.get_or_insert((grade / BEST).clamp(0.0, 1.0));
        }
    }
    if count > 0 && scores.iter().all(Option::is_none) {
        return None;
    }
    Some(scores.into_iter().map(Option::unwrap_or_default).collect())
}

/// The error of an `answer` without grades; empty is one that must not be shown.
pub fn no_grades(answer: &str) -> Error {
    Error::new(ErrorKind::ProviderFailed, said(answer))
        .hint("Rerank with another model: SET rag.llm, or rerank => 'late_interaction'.")
}

/// What a search says that goes on without the grades of an `answer` that has none.
pub fn remark(answer: &str) -> String {
    format!("{}; the chunks keep the order of the search", said(answer))
}

fn said(answer: &str) -> String {
    if answer.is_empty() {
        return "the language model replied without grades".to_owned();
    }
    let start: String = answer.chars().take(80).collect();
    format!("the language model replied \"{start}\" instead of grades")
}

/// Number and grade of a line like `3: 7`, `[3] 7/10` or `PromptSource 3: 7.5`.
fn grade(line: &str) -> Option<(usize, f32)> {
    let mut numbers = line
        .split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|number| number.trim_matches('.'))
        .filter(|number| !number.is_empty());
    let (number, grade) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    Some((number, grade))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::template::tests::shipped;

    fn check(answer: &str, expected: &[f32]) {
        assert_eq!(scores(answer, expected.len()).unwrap(), expected, "{answer}");
    }

    #[test]
    fn grades_are_read_as_models_write_them() {
        check("1: 7\n2: 0\n3: 10", &[0.7, 0.0, 1.0]);
        check("Here are the grades:\n\n[2] 5/10\nSource 1: 2.5.\n", &[0.25, 0.5]);
        check("1. 3\n1: 9", &[0.3]);
        check("1: 99\n7: 5\n0: 5\n99999999999999999999: 5", &[1.0, 0.0]);
        assert!(scores("", 0).unwrap().is_empty());
    }

    #[test]
    fn no_grades_are_told() {
        assert_eq!(scores("I cannot do that.", 2), None);
        let error = no_grades("I cannot do that.");
        assert_eq!(error.kind(), ErrorKind::ProviderFailed);
        assert!(error.message().contains("I cannot do that."), "{error}");
        let hidden = no_grades("");
        assert_eq!(hidden.message(), "the language model replied without grades");
        let remark = remark(&"No. ".repeat(100));
        assert!(remark.len() < 200 && remark.ends_with("order of the search"), "{remark}");
    }

    #[test]
    fn passages_are_marked_and_cut() {
        let long = "x".repeat(3000);
        let messages = messages(&shipped(TEMPLATE), "Why?", &["Ink.", &long], "nonce7").unwrap();
        assert_eq!(messages[0].role, "system");
        assert!(messages[0].content.contains("nonce7") && messages[0].content.contains("grade"));
        assert!(messages[1].content.contains("<<<source 2 nonce7>>>"));
        assert_eq!(messages[1].content.matches('x').count(), 2000);
        assert!(messages[1].content.trim_end().ends_with("Question: Why?"));
    }
}
