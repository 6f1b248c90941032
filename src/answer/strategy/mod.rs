//! # strategy: in how many calls is an answer written?
//!
//! ```text
//! (question, tools, budget) → text whose markers [n] cite what was read
//! ```
//!
//! A strategy is a file that implements [`Strategy`] over a [`Desk`] and stands in [`ALL`].
//! The desk is all it has: it looks things up, numbers what is read, asks a language model, and
//! keeps the budget. So a strategy can neither overrun a limit nor lose a number, and a new one
//! touches no other. The registry is what `rag_answer`, `rag_strategies` and the errors read.
//!
//! Who retrieves and who writes comes in as [`Tools`]. What a model writes is a stranger's text:
//! grades and lists are read out of it by readers that take what they understand, and what goes
//! into a later prompt stands between lines there ([`crate::context::step`]).
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
//! auto              chooses
//! ```

mod auto;
mod budget;
mod cited;
mod compact;
mod corrective;
mod decompose_parallel;
mod decompose_sequential;
mod desk;
mod grade;
mod ircot;
mod map_rerank;
mod options;
mod refine;
mod self_rag;
mod simple_summarize;
mod sub_question;
mod tools;
mod tree_summarize;

pub use budget::Budget;
pub use desk::Desk;
pub use options::{KEYS, StrategyOptions};
pub use tools::{Limits, Reply, Tools};

use serde_json::Value;

use crate::context::Reading;
use crate::context::prompt::{Message, NO_ANSWER, is_no_answer};
use crate::error::{Error, ErrorKind, Result};

/// A way to write an answer.
pub trait Strategy: Sync {
    /// As users write it.
    fn name(&self) -> &'static str;

    /// What it does, in a line.
    fn description(&self) -> &'static str;

    /// How many calls of a language model it makes, in a line.
    fn calls(&self) -> &'static str;

    /// The options that it reads, besides the budget.
    fn options(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the built-in answerer can stand in for a language model.
    fn is_for_extractive(&self) -> bool {
        false
    }

    /// Writes the answer to the desk's question. Where the budget is spent the desk says nothing
    /// more, and the answer is made of what there is.
    fn answer(&self, desk: &mut Desk<'_>) -> Result<Written>;
}

/// What a strategy comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// An answer from the sources.
    Answer(String),
    /// An answer that stands on no source.
    Free(String),
    /// There is none.
    Nothing,
}

impl Written {
    /// An answer, if there is a text.
    fn from_reply(reply: Option<String>) -> Written {
        reply.map_or(Written::Nothing, Written::Answer)
    }
}

/// All strategies, in the order in which they are listed.
pub const ALL: [&dyn Strategy; 11] = [
    &auto::Auto,
    &compact::Compact,
    &refine::Refine,
    &tree_summarize::TreeSummarize,
    &simple_summarize::SimpleSummarize,
    &map_rerank::MapRerank,
    &decompose_sequential::DecomposeSequential,
    &decompose_parallel::DecomposeParallel,
    &ircot::Ircot,
    &self_rag::SelfRag,
    &corrective::Corrective,
];

/// The strategy called `name`; `auto` for `None`.
pub fn named(name: Option<&str>) -> Result<&'static dyn Strategy> {
    let name = name.unwrap_or("auto");
    ALL.into_iter().find(|strategy| strategy.name() == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|strategy| strategy.name()).collect();
        Error::new(ErrorKind::InvalidParameter, format!("unknown strategy \"{name}\""))
            .hint(format!("Known strategies: {}.", known.join(", ")))
    })
}

/// An answer and what it took.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The text; its marker [n] cites the n-th of `readings`.
    pub text: String,
    /// All that was read, in the order of its numbers.
    pub readings: Vec<Reading>,
    /// Whether the text says that it is an answer from the sources.
    pub supported: bool,
    /// `strategy`, `calls`, `steps`, tokens, and `stopped_by` where the budget was spent.
    pub usage: Value,
}

/// Answers `question` in the way of `strategy`.
pub fn run(
    strategy: &dyn Strategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn Tools,
) -> Result<Outcome> {
    let mut desk = Desk::new(strategy.name(), question, options, tools);
    let written = strategy.answer(&mut desk)?;
    let (text, supported) = match written {
        Written::Answer(text) => {
            let supported = !is_no_answer(&text);
            (text, supported)
        }
        Written::Free(text) => (text, false),
        Written::Nothing => (NO_ANSWER.to_owned(), false),
    };
    let (readings, usage) = desk.close();
    Ok(Outcome { text, readings, supported, usage })
}

/// The messages of the first call that `strategy` would make. Nobody is asked.
pub fn preview(
    strategy: &dyn Strategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn Tools,
) -> Result<Vec<Message>> {
    let mut desk = Desk::new(strategy.name(), question, options, tools).previewing();
    strategy.answer(&mut desk)?;
    Ok(desk.first_prompt())
}

/// An answer that takes one call, before it is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// The prompt.
    pub messages: Vec<Message>,
    /// What is read, in the order of its numbers.
    pub readings: Vec<Reading>,
}

/// What the one call would be asked in which `strategy` answers. `None` where it takes several, or
/// where there is nothing to read.
pub fn opening(
    strategy: &dyn Strategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn Tools,
) -> Result<Option<Opening>> {
    // The others take several calls always.
    if !strategy.is_for_extractive() {
        return Ok(None);
    }
    let mut desk = Desk::new(strategy.name(), question, options, tools).previewing();
    strategy.answer(&mut desk)?;
    Ok(desk.opening().filter(|(strategy, _)| *strategy == compact::Compact.name()).map(|it| it.1))
}

#[cfg(test)]
mod tests;
