//! A language model writes the answer, in the way of a strategy.

use std::time::{Duration, Instant};

use serde_json::json;

use super::Writing;
use super::kept::KeptReplies;
use super::semantic_cache::SemanticLookup;
use super::tools::{Session, ask_last, last_request};
use crate::answer::draft::Draft;
use crate::answer::strategy::{self, BegunAnswer, ModelReply, PendingAnswer, StrategyOptions};
use crate::error::Result;
use crate::pg::catalog::template;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::ragd::usage;
use crate::prompt::messages::Message;
use crate::prompt::template::Template;
use crate::protocol::ProviderConfig;

/// How far an answer has come.
pub enum AnswerSoFar {
    /// The answer is there.
    Known(Box<Draft>),
    /// A call is left.
    Asking(Box<FinalCall>),
}

/// The call that makes the answer.
pub struct FinalCall {
    /// The call, with its prompt and limits.
    pub pending: PendingAnswer,
    /// Where the answer is kept for questions that mean the same.
    look: Option<SemanticLookup>,
    /// Where the reply is kept for the same question.
    kept: Option<KeptReplies>,
}

impl FinalCall {
    /// The answer, of what was replied after so many milliseconds; it is kept for questions that mean the
    /// same. A call that ran out of its time counts as far as it was passed on, which is `told`.
    pub fn finish(self, reply: Result<ModelReply>, told: &str, took_ms: u64) -> Result<Draft> {
        if let (Some(kept), Some(call), Ok(reply)) = (&self.kept, &self.pending.kept, &reply) {
            kept.keep(std::iter::once((call, reply)))?;
        }
        let draft = self.pending.finish(reply, told, took_ms)?;
        if let Some(look) = self.look {
            look.keep(&draft);
        }
        Ok(draft)
    }
}

/// What the language model of `writing` answers, and how long was searched.
pub fn write(
    question: &str,
    search: &FederatedSearch,
    writing: &Writing,
    provider: &ProviderConfig,
) -> Result<(Draft, Duration)> {
    let (so_far, retrieving) = begin(question, search, writing, provider)?;
    let call = match so_far {
        AnswerSoFar::Known(draft) => return Ok((*draft, retrieving)),
        AnswerSoFar::Asking(call) => *call,
    };
    let pending = &call.pending;
    let begun = Instant::now();
    let request = last_request(provider, pending, writing, &search.context);
    let reply = ask_last(request, pending.step, &search.context);
    let draft = call.finish(reply, "", begun.elapsed().as_millis() as u64)?;
    Ok((draft, retrieving))
}

/// Does what leads up to the call that makes the answer, if it is not known what a question that means the
/// same was answered.
pub fn begin(
    question: &str,
    search: &FederatedSearch,
    writing: &Writing,
    provider: &ProviderConfig,
) -> Result<(AnswerSoFar, Duration)> {
    let options = priced(&writing.strategy_options, provider)?;
    let mut tools = Session::new(search, writing, provider.clone());
    let begun = strategy::begin(writing.strategy, question, &options, &mut tools)?;
    let retrieving = tools.retrieving();
    let pending = match begun {
        BegunAnswer::Done(draft) => return Ok((AnswerSoFar::Known(draft), retrieving)),
        BegunAnswer::Asking(pending) => *pending,
    };
    let look = SemanticLookup::new(question, &pending, search, writing, provider)?;
    let so_far = match look.as_ref().map(|look| look.find(pending.readings())).transpose()? {
        Some(Some(text)) => AnswerSoFar::Known(Box::new(remembered(text, pending))),
        _ => {
            let keeps = pending.kept.is_some();
            let kept = keeps.then(|| KeptReplies::of(search, writing, Some(provider)));
            AnswerSoFar::Asking(Box::new(FinalCall { pending, look, kept }))
        }
    };
    Ok((so_far, retrieving))
}

impl From<BegunAnswer> for AnswerSoFar {
    /// Of an answer that took several calls: none that means the same is known.
    fn from(begun: BegunAnswer) -> AnswerSoFar {
        match begun {
            BegunAnswer::Done(draft) => AnswerSoFar::Known(draft),
            BegunAnswer::Asking(pending) => {
                let (pending, look, kept) = (*pending, None, None);
                AnswerSoFar::Asking(Box::new(FinalCall { pending, look, kept }))
            }
        }
    }
}

/// The prompt of the first call that the strategy would make.
pub fn messages(
    question: &str,
    search: &FederatedSearch,
    writing: &Writing,
) -> Result<Vec<Message>> {
    let mut tools = Session::looking(search, writing);
    strategy::preview(writing.strategy, question, &writing.strategy_options, &mut tools)
}

/// `options` with the prices of the provider where they name none.
pub fn priced(options: &StrategyOptions, provider: &ProviderConfig) -> Result<StrategyOptions> {
    let budget = options.budget.priced(usage::prices(provider))?;
    Ok(StrategyOptions { budget, ..*options })
}

fn remembered(text: String, pending: PendingAnswer) -> Draft {
    let usage = json!({"strategy": "compact", "calls": 0, "cache": "semantic"});
    Draft::of_model(text, pending.into_readings(), true, usage)
}

/// The template of the prompt: the one that is wanted, or the usual one.
pub fn template_of(writing: &Writing) -> Result<Template> {
    template_or_usual(writing.template.as_ref())
}

/// The template that is `named`, or the usual one.
pub fn template_or_usual(named: Option<&Template>) -> Result<Template> {
    named.cloned().map_or_else(|| template::find(template::STANDARD), Ok)
}
