//! A language model writes the answer, in the way of a strategy.

use std::time::{Duration, Instant};

use serde_json::json;

use super::semantic_cache::SemanticLookup;
use super::tools::{Session, ask_all};
use super::{Draft, Writing};
use crate::answer::strategy::{self, BegunAnswer, FinishedAnswer, PendingAnswer, StrategyOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::{prompt_settings, template};
use crate::pg::question::search::Search;
use crate::pg::ragd::usage;
use crate::prompt::messages::Message;
use crate::prompt::template::Template;
use crate::protocol::ProviderConfig;

/// An answer up to the call that makes it.
pub struct AnswerSoFar {
    /// How far the answer has come.
    pub state: AnswerState,
    /// How long was searched.
    pub retrieving: Duration,
}

/// How far an answer has come.
pub enum AnswerState {
    /// The answer is there.
    Known(Draft),
    /// A call is left.
    Asking(Box<FinalCall>),
}

/// What is left to be asked.
pub struct FinalCall {
    /// The call, with its prompt and limits.
    pub pending: PendingAnswer,
    /// Where it is kept what was answered to such a question.
    pub look: Option<SemanticLookup>,
}

/// What the language model of `writing` answers, and how long was searched.
pub fn write(
    question: &str,
    search: &Search,
    writing: &Writing,
    provider: &ProviderConfig,
) -> Result<(Draft, Duration)> {
    let AnswerSoFar { state, retrieving } = begin(question, search, writing, provider)?;
    let FinalCall { pending, look } = match state {
        AnswerState::Known(draft) => return Ok((draft, retrieving)),
        AnswerState::Asking(asking) => *asking,
    };
    let begun = Instant::now();
    let prompts = vec![pending.prompt.clone()];
    let mut replies = ask_all(provider, pending.step, prompts, pending.limits, writing)?;
    let missing = || Err(Error::new(ErrorKind::Internal, "a call was not made"));
    let reply = replies.pop().unwrap_or_else(missing);
    let draft = draft(pending.finish(reply, "", begun.elapsed().as_millis() as u64)?);
    if let Some(look) = look {
        look.keep(&draft);
    }
    Ok((draft, retrieving))
}

/// Does what leads up to the call that makes the answer, if it is not known what a question that means the
/// same was answered.
pub fn begin(
    question: &str,
    search: &Search,
    writing: &Writing,
    provider: &ProviderConfig,
) -> Result<AnswerSoFar> {
    let options = priced(&writing.strategy_options, provider)?;
    let mut tools = Session::new(search, writing, provider.clone());
    let begun = strategy::begin(writing.strategy, question, &options, &mut tools)?;
    let retrieving = tools.retrieving();
    let pending = match begun {
        BegunAnswer::Done(outcome) => {
            return Ok(AnswerSoFar { state: AnswerState::Known(draft(outcome)), retrieving });
        }
        BegunAnswer::Asking(pending) => *pending,
    };
    let look = SemanticLookup::new(question, &pending, search, writing, provider)?;
    let state = match look.as_ref().map(|look| look.find(pending.readings())).transpose()? {
        Some(Some(text)) => AnswerState::Known(remembered(text, pending)),
        _ => AnswerState::Asking(Box::new(FinalCall { pending, look })),
    };
    Ok(AnswerSoFar { state, retrieving })
}

/// The prompt of the first call that the strategy would make.
pub fn messages(question: &str, search: &Search, writing: &Writing) -> Result<Vec<Message>> {
    let mut tools = Session::looking(search, writing);
    strategy::preview(writing.strategy, question, &writing.strategy_options, &mut tools)
}

/// `options` with the prices of the provider where they name none.
fn priced(options: &StrategyOptions, provider: &ProviderConfig) -> Result<StrategyOptions> {
    let price = usage::price(provider).map(|price| (price.input, price.output));
    Ok(StrategyOptions { budget: options.budget.priced(price)?, ..*options })
}

/// What a strategy has come to.
pub fn draft(outcome: FinishedAnswer) -> Draft {
    let FinishedAnswer { text, readings, supported, usage } = outcome;
    Draft { text, readings, supported, confidence: None, citations: None, usage }
}

fn remembered(text: String, pending: PendingAnswer) -> Draft {
    Draft {
        text,
        readings: pending.into_readings(),
        supported: true,
        confidence: None,
        citations: None,
        usage: json!({"strategy": "compact", "calls": 0, "cache": "semantic"}),
    }
}

/// The template of the prompt: that of the call, of the pipeline, or the usual one.
pub fn template_of(search: &Search, writing: &Writing) -> Result<Template> {
    match &writing.template {
        Some(template) => Ok(template.clone()),
        None => {
            let name = prompt_settings::template_of(search.pipeline.id)?;
            template::find(name.as_deref().unwrap_or(template::STANDARD))
        }
    }
}
