//! # fallback: which pipelines are asked where the first has no answer, and which answer is given?
//!
//! ```text
//! "archive" │ ["faq", "archive"] → pipelines, one after the other
//! (supported, doubtful, confidence) of each answer → the one that is given
//! ```
//!
//! The first answer that the documents hold and that is not doubtful is given, and nobody else is asked. Where there
//! is none, the doubtful one with the highest confidence is better than a refusal.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};

use crate::error::{Error, Result};

/// Most fallbacks of a question. Each of them may take as long as the first answer.
const MOST: usize = 8;

/// What is asked, one after the other, where a pipeline has no answer: each as the argument `pipeline` names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FallbackPipelines(Vec<String>);

impl FallbackPipelines {
    /// An error for too many of them, and for one without a name.
    pub fn check(&self) -> Result<()> {
        if self.0.iter().any(|name| name.trim().is_empty()) {
            return Err(Error::invalid("option \"answer.fallback\" names a pipeline \"\"")
                .hint("Name one, or several in an array, as in [\"faq\", \"archive\"]."));
        }
        match self.0.len() {
            ..=MOST => Ok(()),
            count => Err(Error::invalid(format!(
                "option \"answer.fallback\" must name at most {MOST} pipelines, not {count}"
            ))
            .hint("An element may name several that are asked at once, as in \"faq, archive\".")),
        }
    }

    /// The names, in their order.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for FallbackPipelines {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrNames)
    }
}

struct NameOrNames;

impl<'de> Visitor<'de> for NameOrNames {
    type Value = FallbackPipelines;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a name or an array of names")
    }

    fn visit_str<E>(self, name: &str) -> std::result::Result<FallbackPipelines, E> {
        Ok(FallbackPipelines(vec![name.to_owned()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(
        self,
        mut names: A,
    ) -> std::result::Result<FallbackPipelines, A::Error> {
        let mut all = Vec::new();
        while let Some(name) = names.next_element()? {
            all.push(name);
        }
        Ok(FallbackPipelines(all))
    }
}

/// What an answer is worth beside others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AnswerWorth {
    /// There is no answer.
    Refused,
    /// It is doubtful; with its confidence from 0 to 1.
    Doubtful(f32),
    /// It is given, and nobody else is asked.
    Given,
}

impl AnswerWorth {
    /// Of an answer that is `supported`, and perhaps doubtful.
    #[must_use]
    pub fn of(supported: bool, is_doubtful: bool, confidence: Option<f32>) -> AnswerWorth {
        match (supported, is_doubtful) {
            (false, _) => AnswerWorth::Refused,
            (true, true) => AnswerWorth::Doubtful(confidence.unwrap_or_default()),
            (true, false) => AnswerWorth::Given,
        }
    }
}

/// The place of the answer that is given, of several in the order in which they came; `None` of none. Of doubtful ones
/// that are as sure as each other the first, of refusals the last, which is what was said in the end.
#[must_use]
pub fn given(answers: &[AnswerWorth]) -> Option<usize> {
    let given = answers.iter().position(|worth| *worth == AnswerWorth::Given);
    let doubtful = || {
        let mut best: Option<(usize, f32)> = None;
        for (place, worth) in answers.iter().enumerate() {
            match (*worth, best) {
                (AnswerWorth::Doubtful(new), Some((_, known))) if new <= known => {}
                (AnswerWorth::Doubtful(new), _) => best = Some((place, new)),
                _ => {}
            }
        }
        best.map(|(place, _)| place)
    };
    given.or_else(doubtful).or_else(|| answers.len().checked_sub(1))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::answer::options::AnswerOptions;
    use crate::options::read;

    #[test]
    fn one_name_or_several_are_read() {
        let check = |value: Value, expected: &[&str]| {
            let options: AnswerOptions = read("answer", json!({ "fallback": value }), &[]).unwrap();
            options.check().unwrap();
            assert_eq!(options.fallback.names(), expected);
        };
        check(json!("faq"), &["faq"]);
        check(json!(["faq", "a, b", "*"]), &["faq", "a, b", "*"]);
        check(json!([]), &[]);
        assert!(AnswerOptions::default().fallback.names().is_empty());
    }

    #[test]
    fn what_is_no_name_is_an_error() {
        let check = |value: Value, message: &str| {
            let read = read::<AnswerOptions>("answer", json!({ "fallback": value }), &[]);
            assert_eq!(read.and_then(|it| it.check()).unwrap_err().message(), message);
        };
        check(json!(3), "option \"answer.fallback\" must be a name or an array of names, not 3");
        check(json!(["faq", 3]), "option \"answer.fallback[1]\" must be a string, not 3");
        check(json!([null]), "option \"answer.fallback[0]\" must be a string, not null");
        check(json!([" "]), "option \"answer.fallback\" names a pipeline \"\"");
        check(
            json!(["a", "b", "c", "d", "e", "f", "g", "h", "i"]),
            "option \"answer.fallback\" must name at most 8 pipelines, not 9",
        );
    }

    #[test]
    fn a_doubtful_answer_is_better_than_none() {
        use AnswerWorth::{Doubtful, Given, Refused};
        for (answers, expected) in [
            (&[][..], None),
            (&[Refused, Refused], Some(1)),
            (&[Refused, Given], Some(1)),
            (&[Doubtful(0.4), Given], Some(1)),
            (&[Doubtful(0.4), Refused], Some(0)),
            (&[Refused, Doubtful(0.0), Refused], Some(1)),
            (&[Doubtful(0.2), Doubtful(0.3), Doubtful(0.3)], Some(1)),
        ] {
            assert_eq!(given(answers), expected, "{answers:?}");
        }
        assert_eq!(AnswerWorth::of(false, true, Some(0.9)), Refused);
        assert_eq!(AnswerWorth::of(true, true, Some(0.4)), Doubtful(0.4));
        assert_eq!(AnswerWorth::of(true, false, None), Given);
    }
}
