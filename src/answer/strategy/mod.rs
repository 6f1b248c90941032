//! # strategy: in how many calls is an answer written?
//!
//! ```text
//! (question, tools, budget) → text whose markers [n] cite what was read
//! ```
//!
//! A strategy is a file with an [`AnswerStrategy`], which works at a [`Desk`] and stands in [`ALL`].
//! The desk is all it has: it looks things up, numbers what is read, asks a language model, and
//! keeps the budget. So a strategy can neither overrun a limit nor lose a number, and a new one
//! touches no other. The registry is what `rag_answer`, `rag.strategy` and the errors read.
//!
//! What retrieves and what writes comes in as [`StrategyHost`]. What a model writes is not trusted: grades
//! and lists are read out of it by readers that take what they understand, and what goes into a
//! later prompt stands between lines there ([`crate::context::step`]).
//!
//! ```text
//! compact           all sources, one call
//! simple_summarize  a share of each source, one call
//! refine            group after group, each improves the answer
//! tree_summarize    groups at once, their answers merged
//! map_rerank        groups at once, the surest answer
//! decompose_*       sub-questions first
//! ircot             think, look up, think
//! self_rag          does it need sources, are they relevant, is the answer supported?
//! corrective        grade what was found, look again or abstain
//! sql               has a query written and run, its rows are the sources
//! combined          has a query written that can join what was found, and reads both
//! agent             decides step by step what to look up, open, ask, compute or call
//! global            community after community at once, their answers merged
//! local             what is around the question in the graph, one call
//! graph             picks predicates, what is said over them is read, one call more
//! auto              chooses
//! ```

pub mod agent;
mod auto;
mod budget;
mod cited;
mod combined;
mod compact;
mod corrective;
mod decompose_parallel;
mod decompose_sequential;
mod desk;
mod global;
mod grade;
mod graph;
mod ircot;
mod kept;
mod last;
mod local;
mod map_rerank;
mod options;
mod refine;
mod self_rag;
mod simple_summarize;
mod sql;
mod stepped;
mod sub_question;
mod surroundings;
mod tools;
mod tree_summarize;

pub use budget::{Budget, BudgetLedger, TokenPrices, estimate_all};
pub use desk::Desk;
pub use global::community_calls;
pub use kept::KeptCall;
pub use last::{BegunAnswer, Fallback, FinalPrompt, PendingAnswer};
pub use options::StrategyOptions;
pub use stepped::{AgentNext, AgentProgress, SteppedAnswer, step};
pub use surroundings::{GraphNote, PathOfRows, Surroundings, joined, related, saying_rows, stated};
pub use tools::{Limits, ModelReply, ReadingCalls, StrategyHost, WantedSources};

use crate::error::{Error, ErrorKind, Result};
use crate::graph::communities::rank::CommunityQuest;
use crate::prompt::messages::Message;

/// A way to write an answer: what users are told about it, and how it is done.
pub struct AnswerStrategy {
    /// As users write it.
    pub name: &'static str,
    /// What it does, in a line.
    pub description: &'static str,
    /// How many calls of a language model it makes, in a line.
    pub calls: &'static str,
    /// The options that it reads, besides the budget.
    pub options: &'static [&'static str],
    /// Whether the built-in answerer can stand in for a language model.
    pub is_for_extractive: bool,
    /// Whether it divides what it reads among its calls, or selects from it. Then everything found is
    /// on the desk, even if it is more than one call can read.
    pub reads_in_groups: bool,
    /// Writes the answer to the desk's question, but for the call that makes it. Where the budget is
    /// spent the desk says nothing more, and the answer is made of what there is.
    answer: fn(&mut Desk<'_>) -> Result<StrategyResult>,
}

/// What a strategy comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StrategyResult {
    /// An answer from the sources.
    Answer(String),
    /// An answer that stands on no source.
    Free(String),
    /// There is no answer.
    Nothing,
    /// The answer is what is replied to this.
    Asks(FinalPrompt),
}

/// All strategies, in the order in which they are listed.
pub const ALL: [&AnswerStrategy; 17] = [
    &auto::STRATEGY,
    &compact::STRATEGY,
    &refine::STRATEGY,
    &tree_summarize::STRATEGY,
    &simple_summarize::STRATEGY,
    &map_rerank::STRATEGY,
    &decompose_sequential::STRATEGY,
    &decompose_parallel::STRATEGY,
    &ircot::STRATEGY,
    &self_rag::STRATEGY,
    &corrective::STRATEGY,
    &sql::STRATEGY,
    &combined::STRATEGY,
    &agent::STRATEGY,
    &global::STRATEGY,
    &local::STRATEGY,
    &graph::STRATEGY,
];

/// Where a strategy has its sources from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StrategySources {
    /// From searches, or what else it does.
    Found,
    /// From the communities of which chunks speak that the question finds.
    Communities(CommunityQuest),
    /// From what is around the question in the graph.
    Surroundings(CommunityQuest),
}

impl AnswerStrategy {
    /// Where it has its sources from.
    #[must_use]
    pub fn sources(&self, options: &StrategyOptions) -> StrategySources {
        match self.name {
            name if name == global::STRATEGY.name => {
                StrategySources::Communities(global::quest(options))
            }
            name if name == local::STRATEGY.name => {
                StrategySources::Surroundings(local::quest(options))
            }
            _ => StrategySources::Found,
        }
    }
}

/// The strategy called `name`; `auto` for `None`.
pub fn named(name: Option<&str>) -> Result<&'static AnswerStrategy> {
    let name = name.unwrap_or("auto");
    ALL.into_iter().find(|strategy| strategy.name == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|strategy| strategy.name).collect();
        Error::new(ErrorKind::InvalidParameter, format!("unknown strategy \"{name}\""))
            .hint(format!("Known strategies: {}.", known.join(", ")))
    })
}

/// Answers `question` in the way of `strategy`, up to the call that makes the answer.
pub fn begin(
    strategy: &AnswerStrategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn StrategyHost,
) -> Result<BegunAnswer> {
    let mut desk = Desk::new(strategy, question, options, tools);
    let written = (strategy.answer)(&mut desk)?;
    begun(desk, written)
}

/// What a strategy has `written`, up to the call that makes the answer.
fn begun(mut desk: Desk<'_>, written: StrategyResult) -> Result<BegunAnswer> {
    match desk.in_form(written)? {
        StrategyResult::Asks(last) => Ok(desk.close(last)),
        written => Ok(BegunAnswer::Done(Box::new(desk.work().written(written)))),
    }
}

/// The messages of the first call that `strategy` would make. No language model is asked.
pub fn preview(
    strategy: &AnswerStrategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn StrategyHost,
) -> Result<Vec<Message>> {
    let mut desk = Desk::new(strategy, question, options, tools).previewing();
    let written = (strategy.answer)(&mut desk)?;
    let written = desk.in_form(written)?;
    Ok(match (desk.first_prompt(), written) {
        (Some(prompt), _) => prompt,
        (None, StrategyResult::Asks(last)) => last.prompt,
        (None, _) => Vec::new(),
    })
}

/// How many calls `strategy` would make, where those are not made whose replies are kept and no budget ends the work. No
/// language model is asked.
pub fn calls_left(
    strategy: &AnswerStrategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn StrategyHost,
) -> Result<usize> {
    let mut desk = Desk::new(strategy, question, options, tools).counting();
    let written = (strategy.answer)(&mut desk)?;
    Ok(desk.counted() + usize::from(matches!(written, StrategyResult::Asks(_))))
}

#[cfg(test)]
mod tests;
