//! A language model writes the answer, in the way of a strategy.

use std::time::Duration;

use serde_json::json;

use super::tools::Session;
use super::{Draft, Writing};
use crate::answer::strategy::{self, Opening, Outcome};
use crate::context::Reading;
use crate::context::prompt::{Message, is_no_answer};
use crate::context::template::Template;
use crate::daemon::protocol::Generated;
use crate::error::Result;
use crate::pg::catalog::{template, wording};
use crate::pg::search::Search;

/// What the language model of `writing` answers, and how long was searched.
pub fn write(question: &str, search: &Search, writing: &Writing) -> Result<(Draft, Duration)> {
    let mut tools = Session::new(search, writing)?;
    let Outcome { text, readings, supported, usage } =
        strategy::run(writing.strategy, question, &writing.strategy_options, &mut tools)?;
    let draft = Draft { text, readings, supported, confidence: None, citations: None, usage };
    Ok((draft, tools.retrieving()))
}

/// What it would be asked first.
pub fn messages(question: &str, search: &Search, writing: &Writing) -> Result<Vec<Message>> {
    let mut tools = Session::looking(search, writing);
    strategy::preview(writing.strategy, question, &writing.strategy_options, &mut tools)
}

/// The one call that makes the answer, if one does, and how long was searched.
pub fn opening(
    question: &str,
    search: &Search,
    writing: &Writing,
) -> Result<(Option<Opening>, Duration)> {
    let mut tools = Session::looking(search, writing);
    let options = &writing.strategy_options;
    let opening = strategy::opening(writing.strategy, question, options, &mut tools)?;
    Ok((opening, tools.retrieving()))
}

/// What one call has written of `readings`.
pub fn draft(readings: Vec<Reading>, generated: Generated) -> Draft {
    Draft {
        readings,
        supported: !is_no_answer(&generated.text),
        text: generated.text,
        confidence: None,
        citations: None,
        usage: json!({
            "strategy": "compact",
            "calls": 1,
            "prompt_tokens": generated.prompt_tokens,
            "completion_tokens": generated.completion_tokens,
            "finish_reason": generated.finish_reason,
            "attempts": generated.attempts,
        }),
    }
}

/// In which words it is asked: those of the call, of the pipeline, or the usual ones.
pub fn template_of(search: &Search, writing: &Writing) -> Result<Template> {
    match &writing.template {
        Some(template) => Ok(template.clone()),
        None => {
            let name = wording::template_of(search.pipeline.id)?;
            template::find(name.as_deref().unwrap_or(template::STANDARD))
        }
    }
}
