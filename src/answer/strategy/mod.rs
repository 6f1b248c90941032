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
//! What retrieves and what writes comes in as [`Tools`]. What a model writes is not trusted: grades
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
mod last;
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
pub use last::{Begun, Last, Otherwise, Outcome, Pending};
pub use options::{KEYS, StrategyOptions};
pub use tools::{Calls, Limits, Reply, Tools};

use crate::error::{Error, ErrorKind, Result};
use crate::prompt::messages::Message;

/// A way to write an answer.
pub trait Strategy: Sync {
    /// The name that users write.
    fn name(&self) -> &'static str;

    /// What the strategy does, in a line.
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

    /// Whether it shares what it reads out among its calls, or makes a choice of it. What is found is
    /// then all on the desk, be it more than one call can read.
    fn reads_in_groups(&self) -> bool {
        false
    }

    /// Writes the answer to the desk's question, but for the call that makes it. Where the budget is
    /// spent the desk says nothing more, and the answer is made of what there is.
    fn answer(&self, desk: &mut Desk<'_>) -> Result<Written>;
}

/// What a strategy comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Written {
    /// An answer from the sources.
    Answer(String),
    /// An answer that stands on no source.
    Free(String),
    /// There is no answer.
    Nothing,
    /// The answer is what is replied to this.
    Asks(Last),
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

/// Answers `question` in the way of `strategy`, up to the call that makes the answer.
pub fn begin(
    strategy: &dyn Strategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn Tools,
) -> Result<Begun> {
    let mut desk = Desk::new(strategy, question, options, tools);
    match strategy.answer(&mut desk)? {
        Written::Asks(last) => Ok(desk.close(last)),
        written => Ok(Begun::Done(desk.work().written(written))),
    }
}

/// The messages of the first call that `strategy` would make. No language model is asked.
pub fn preview(
    strategy: &dyn Strategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn Tools,
) -> Result<Vec<Message>> {
    let mut desk = Desk::new(strategy, question, options, tools).previewing();
    let written = strategy.answer(&mut desk)?;
    Ok(match (desk.first_prompt(), written) {
        (Some(prompt), _) => prompt,
        (None, Written::Asks(last)) => last.prompt,
        (None, _) => Vec::new(),
    })
}

#[cfg(test)]
mod tests;
