//! An answer of the strategy `agent`, reply by reply: whoever has it written can tell each step as it is taken.

use serde_json::Value;

use super::agent::{self, AgentRun};
use super::desk::DeskContents;
use super::{BegunAnswer, Desk, StrategyHost, StrategyOptions, begun};
use crate::error::Result;

/// An answer that an agent is working on, and nobody for the moment.
pub struct SteppedAnswer {
    run: AgentRun,
    desk: DeskContents,
}

/// How far an agent has come.
pub struct AgentProgress {
    /// The steps that it has taken since it was asked before, as users see them.
    pub steps: Vec<Value>,
    /// What is to be done next.
    pub next: AgentNext,
}

/// What is to be done next for an answer of an agent.
pub enum AgentNext {
    /// It takes further steps.
    Steps(Box<SteppedAnswer>),
    /// Its last call is to be made, if there is one.
    Ends(Box<BegunAnswer>),
}

/// Looks the question up where nothing is `paused` yet; else the language model is asked for steps once more, and these
/// are taken. Question, options and tools are those of the same answer each time.
pub fn step(
    paused: Option<SteppedAnswer>,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn StrategyHost,
) -> Result<AgentProgress> {
    let Some(SteppedAnswer { mut run, desk }) = paused else {
        let mut desk = Desk::new(&agent::STRATEGY, question, options, tools);
        let run = AgentRun::begun(&mut desk)?;
        return Ok(progress(run, desk));
    };
    let mut desk = desk.resume(question, options, tools);
    match run.go_on(&mut desk)? {
        None => Ok(progress(run, desk)),
        Some(written) => {
            let (steps, ended) = (run.news(), begun(desk, written)?);
            Ok(AgentProgress { steps, next: AgentNext::Ends(Box::new(ended)) })
        }
    }
}

fn progress(mut run: AgentRun, desk: Desk<'_>) -> AgentProgress {
    let steps = run.news();
    let desk = desk.pause();
    AgentProgress { steps, next: AgentNext::Steps(Box::new(SteppedAnswer { run, desk })) }
}
