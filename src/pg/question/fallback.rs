//! Other pipelines are asked where the first has no answer.
//!
//! ```text
//! question → answer of the pipeline → refused or doubtful? → answer of the next fallback → the best of them
//! ```
//!
//! Each is asked as if the caller had named it: with the options of the call over its own defaults, but for its own
//! fallbacks, so that there is an end. The question is looked up in the same words, and embedded once for all
//! pipelines of a model, since a session remembers the vectors of a statement.

use std::collections::{HashSet, VecDeque};
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{self, Answer, AnswerStream};
use super::options::{AskedOptions, CallOptions};
use super::request::{PreparedQuestion, QuestionRequest};
use super::trace_log::TracedQuestion;
use crate::answer::fallback::{AnswerWorth, given};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::ragd::trace;
use crate::pg::ragd::usage::Usage;

/// An answer, and which pipeline it comes from.
pub struct AnsweredQuestion {
    /// The question, and what has answered it.
    pub asked: TracedQuestion,
    /// The answer. Its usage says of the other pipelines that were asked what came of it.
    pub answer: Answer,
}

/// The answer to the question that is prepared, or that of a fallback.
pub fn answered(
    request: &QuestionRequest<'_>,
    call: &CallOptions,
    first: PreparedQuestion,
) -> Result<AnsweredQuestion> {
    let mut chain = FallbackChain::of(request, call, &first);
    let mut next = Some(first);
    while let Some(prepared) = next {
        next = match chain.ask(&prepared)? {
            AnswerWorth::Given => None,
            AnswerWorth::Doubtful(_) | AnswerWorth::Refused => chain.next(&prepared)?,
        };
    }
    chain.given()
}

/// As [`answered`], streamed: where others can still be asked an answer is told once it is checked, and what the last
/// one writes is told while it is written.
pub fn streamed(
    request: &QuestionRequest<'_>,
    call: &CallOptions,
    first: PreparedQuestion,
) -> Result<(TracedQuestion, AnswerStream)> {
    let mut chain = FallbackChain::of(request, call, &first);
    let mut next = Some(first);
    while let Some(prepared) = next {
        if chain.names.is_empty() && chain.are_all_refused() {
            let asked = prepared.traced();
            let PreparedQuestion { text, search, writing, .. } = prepared;
            let stream = answer::stream(&text, search, writing)?;
            return Ok((asked, stream.beside(chain.others(None))));
        }
        next = match chain.ask(&prepared)? {
            AnswerWorth::Given => None,
            AnswerWorth::Doubtful(_) | AnswerWorth::Refused => chain.next(&prepared)?,
        };
    }
    let AnsweredQuestion { asked, answer } = chain.given()?;
    Ok((asked, AnswerStream::known(answer)))
}

/// The pipelines that can be asked, and what those that were have answered.
struct FallbackChain<'a> {
    request: &'a QuestionRequest<'a>,
    call: &'a CallOptions,
    /// What holds for the first pipeline, which says what its fallbacks are.
    options: AskedOptions,
    /// Those that are left.
    names: VecDeque<String>,
    /// IDs of the pipelines that have been asked. None is asked twice.
    asked: HashSet<i32>,
    answers: Vec<(AnswerWorth, AnsweredQuestion)>,
    /// Those that could not be asked, and why.
    skipped: Vec<Value>,
}

impl<'a> FallbackChain<'a> {
    fn of(
        request: &'a QuestionRequest<'a>,
        call: &'a CallOptions,
        first: &PreparedQuestion,
    ) -> FallbackChain<'a> {
        let options = first.options.clone();
        let names = options.options.answer.fallback.names().iter().cloned().collect();
        let (answers, skipped) = (Vec::new(), Vec::new());
        FallbackChain { request, call, options, names, asked: HashSet::new(), answers, skipped }
    }

    /// Has a question answered.
    fn ask(&mut self, prepared: &PreparedQuestion) -> Result<AnswerWorth> {
        pgrx::check_for_interrupts!();
        let asked = prepared.traced();
        let answer = answer::ask(&prepared.text, &prepared.search, &prepared.writing)?;
        let is_supported = answer.supported.unwrap_or_default();
        let worth = AnswerWorth::of(is_supported, answer.needs_review, answer.confidence);
        self.asked.extend(prepared.pipelines());
        self.answers.push((worth, AnsweredQuestion { asked, answer }));
        Ok(worth)
    }

    /// The question for the next pipeline that can be asked and has not been; `None` where there is none.
    fn next(&mut self, before: &PreparedQuestion) -> Result<Option<PreparedQuestion>> {
        let is_named = self.options.is_said_by_call("answer.fallback");
        while let Some(name) = self.names.pop_front() {
            let prepared = self.request.prepare_fallback(self.call, &name, is_named, &before.text);
            let prepared = match prepared {
                // The caller has not asked for it, and may not even know that it exists.
                Err(error) if !is_named && is_closed(&error) => {
                    self.skip(name, error.message());
                    continue;
                }
                prepared => self.options.named(&["answer.fallback"], prepared)?,
            };
            if prepared.pipelines().iter().all(|id| self.asked.contains(id)) {
                self.skip(name, "it has been asked");
                continue;
            }
            let said = format!("{name} is asked after {}", before.search.name());
            trace::done("fallback", said, Duration::ZERO, Usage::default());
            return Ok(Some(prepared));
        }
        Ok(None)
    }

    fn skip(&mut self, name: String, why: &str) {
        let said = format!("{name} is not asked: {why}");
        trace::done("fallback", said, Duration::ZERO, Usage::default());
        self.skipped.push(json!({"pipeline": name, "skipped": why}));
    }

    fn are_all_refused(&self) -> bool {
        self.answers.iter().all(|(worth, _)| *worth == AnswerWorth::Refused)
    }

    /// What became of the pipelines that were asked or could have been, but for the one of the answer at this place.
    fn others(&self, but: Option<usize>) -> Vec<Value> {
        let others = self.answers.iter().enumerate().filter(|(place, _)| Some(*place) != but);
        let asked = others.map(|(_, (_, AnsweredQuestion { asked, answer }))| {
            let (supported, confidence) = (answer.supported, answer.confidence);
            json!({"pipeline": asked.pipeline, "supported": supported, "confidence": confidence, "usage": answer.usage})
        });
        asked.chain(self.skipped.iter().cloned()).collect()
    }

    /// The answer that is given.
    fn given(mut self) -> Result<AnsweredQuestion> {
        let worth: Vec<AnswerWorth> = self.answers.iter().map(|(worth, _)| *worth).collect();
        let Some(place) = given(&worth) else {
            return Err(Error::new(ErrorKind::Internal, "no pipeline was asked"));
        };
        let others = self.others(Some(place));
        let (_, mut answered) = self.answers.swap_remove(place);
        if !others.is_empty() {
            answered.answer.usage["others"] = Value::Array(others);
        }
        Ok(answered)
    }
}

/// Whether an error says that the caller may not ask a pipeline, or that there is none.
fn is_closed(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Forbidden | ErrorKind::UndefinedObject)
}
