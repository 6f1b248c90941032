//! Sub-questions: how a question is broken up, and how their answers are put together.

use std::collections::BTreeSet;

use super::cited::{numbers, only};
use super::compact::answer_from;
use super::desk::note;
use super::{Desk, Fallback, FinalPrompt, StrategyResult};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::is_no_answer;
use crate::prompt::{list, place};

/// Most sub-questions, unless the options say otherwise.
const MOST: u32 = 4;

/// What was found out about a sub-question.
pub struct Finding {
    question: String,
    /// Its markers are those of the sources that the call was shown.
    answer: String,
}

impl Finding {
    /// What a model wrote that was shown `sources` and these earlier findings; `None` where it
    /// found nothing.
    pub fn new(
        question: &str,
        reply: Option<String>,
        sources: &[Numbered],
        before: &[Finding],
    ) -> Option<Finding> {
        let answer = reply.filter(|text| !is_no_answer(text))?;
        let mut known: BTreeSet<usize> = sources.iter().map(|one| one.number).collect();
        known.extend(before.iter().flat_map(|finding| numbers(&finding.answer)));
        Some(Finding { question: question.to_owned(), answer: only(&answer, &known) })
    }

    /// As a later call is shown it.
    pub fn note(&self) -> String {
        note(&format!("Question: {}\nAnswer: {}", self.question, self.answer))
    }
}

/// The sub-questions of the question, in the order in which they build on each other; none where
/// it is simple, or the budget has room for one call only.
pub fn split(desk: &mut Desk<'_>) -> Result<Vec<String>> {
    let n = desk.options.sub_questions.unwrap_or(MOST);
    let material = Material { question: desk.question, n, ..Material::default() };
    let prompt = desk.prompt(place::DECOMPOSE, material)?;
    let reply = desk.prepare("decompose", prompt)?.unwrap_or_default();
    Ok(list::questions(&reply, desk.question, n as usize))
}

/// The answer to the question, from what was found out, what that cites, and what the question
/// itself finds. Without room for another call: the answers to the sub-questions.
pub fn conclude(desk: &mut Desk<'_>, findings: &[Finding]) -> Result<StrategyResult> {
    let found = desk.found()?;
    if findings.is_empty() {
        return answer_from(desk, &found);
    }
    let mut shown: BTreeSet<usize> = found.iter().map(|one| one.number).collect();
    shown.extend(findings.iter().flat_map(|finding| numbers(&finding.answer)));
    let sources = desk.sources(&shown);
    let notes: Vec<String> = findings.iter().map(Finding::note).collect();
    let material = Material {
        question: desk.question,
        sources: &sources,
        notes: &notes,
        ..Material::default()
    };
    let prompt = desk.prompt(place::ANSWER_WITH_NOTES, material)?;
    let answers: Vec<&str> = findings.iter().map(|it| it.answer.as_str()).collect();
    let otherwise = Fallback::IfSilent(answers.join("\n\n"));
    Ok(StrategyResult::Asks(FinalPrompt { step: "answer", prompt, otherwise }))
}
