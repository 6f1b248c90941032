//! A loop in which the language model decides at each step what to do next (ReAct; Yao et al., ICLR 2023, arXiv
//! 2210.03629), until it answers or has no step left.
//!
//! ```text
//! question looked up → sources, notes → a step: search, open, graph, sql, calculate, call ─┐ or an answer
//!                           ▲                                                              │
//!                           └─────────── what it found, or why it failed ◄─────────────────┘
//! ```
//!
//! Unlike in the paper a step is one JSON object of a schema ([`offered`]), which every provider can be asked for, and
//! local models by a grammar. A reply is a wish among what was offered ([`reply`]), and nothing more: neither a chunk
//! nor the model can have anything done besides. What was done stands in a memory ([`memory`]), of which a model is
//! told before each step, so nothing is done twice. Texts of sources and of what functions return are data and stand
//! between their lines.

mod action;
pub mod arithmetic;
mod memory;
mod offered;
mod reply;

pub use action::{
    ActionOutcome, AgentAction, AgentHost, AgentOffers, AgentSearch, ArgumentKind, ToolArgument,
    ToolCall, ToolOffer,
};
pub use offered::schema as reply_schema;

use std::collections::BTreeSet;

use self::action::AgentTurn;
use self::memory::AgentMemory;
use super::cited::only;
use super::compact::answer_from;
use super::{AnswerStrategy, Desk, Fallback, FinalPrompt, StrategyResult};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::{Message, is_no_answer};

/// Steps of an answer, the answer itself among them, where nothing is said.
const STEPS: u32 = 5;

/// The template in which a step is asked for.
const TEMPLATE: &str = "agent";

/// What a template of a step has to use.
const NEEDED: [&str; 4] = ["question", "sources", "notes", "actions"];

/// What a call for a step is called.
const STEP: &str = "agent";

/// `agent`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "agent",
    description: "decides at each step whether to search, open a document, follow the graph, have a query run, compute, \
        call a function or answer",
    calls: "1 for each of up to max_steps (5) steps, and 1 for each reply that has to be corrected",
    options: &["max_steps"],
    is_for_extractive: false,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let steps = desk.options.max_steps.unwrap_or(STEPS);
    let mut work = AgentWork::begun(desk)?;
    // The last step is an answer in any case.
    for left in (2..=steps).rev() {
        match work.turn(desk, left)? {
            TurnResult::Answered(text) => {
                desk.tell("actions", work.memory.told());
                return Ok(work.accepted(text));
            }
            TurnResult::Done => {}
            TurnResult::Over => break,
        }
    }
    desk.tell("actions", work.memory.told());
    work.last(desk)
}

/// An agent at work.
struct AgentWork {
    offers: AgentOffers,
    schema: String,
    actions: String,
    memory: AgentMemory,
    /// What has been found, in the order of the numbers.
    sources: Vec<Numbered>,
    /// Whether something was computed, on which an answer may stand without a source.
    has_computed: bool,
}

/// How a turn ends.
enum TurnResult {
    /// With this answer.
    Answered(String),
    /// With something that was done, or could not be.
    Done,
    /// There is no other: the budget is spent, or nothing of use is replied.
    Over,
}

impl AgentWork {
    /// The work with the question itself looked up, as each of them begins.
    fn begun(desk: &mut Desk<'_>) -> Result<AgentWork> {
        let offers = desk.offers()?;
        let (schema, actions) = (offered::schema(&offers), offered::described(&offers));
        let (memory, sources) = (AgentMemory::default(), Vec::new());
        let mut work = AgentWork { offers, schema, actions, memory, sources, has_computed: false };
        let found = desk.found()?;
        let question = desk.question.to_owned();
        let first = AgentAction::Search(AgentSearch { question, ..AgentSearch::default() });
        let outcome = work.add(found, None);
        work.memory.keep(&first, "", outcome);
        Ok(work)
    }

    /// One step; `left` are there with it.
    fn turn(&mut self, desk: &mut Desk<'_>, left: u32) -> Result<TurnResult> {
        let Some(AgentTurn { reason, action }) = self.decided(desk, left)? else {
            return Ok(TurnResult::Over);
        };
        if let AgentAction::Answer(text) = action {
            desk.announce("answer", &reason);
            return Ok(TurnResult::Answered(text));
        }
        if let Some(number) = self.memory.known(&action) {
            desk.announce("repeat", &format!("{action}: {reason}"));
            let outcome = format!("that was step {number} already, so it was not done again");
            self.memory.keep(&action, &reason, outcome);
            return Ok(TurnResult::Done);
        }
        if !desk.has_time() {
            return Ok(TurnResult::Over);
        }
        desk.announce(action.name(), &format!("{action}: {reason}"));
        let outcome = match desk.act(&action)? {
            ActionOutcome::Found(sources, note) => {
                self.has_computed |= matches!(action, AgentAction::Calculate(_));
                self.add(sources, note.as_deref())
            }
            ActionOutcome::Failed(why) => format!("failed: {why}"),
        };
        self.memory.keep(&action, &reason, outcome);
        Ok(TurnResult::Done)
    }

    /// Adds what was found; what is told of it.
    fn add(&mut self, found: Vec<Numbered>, note: Option<&str>) -> String {
        let numbers: Vec<usize> = found.iter().map(|one| one.number).collect();
        let is_known = |one: &Numbered| self.sources.iter().any(|it| it.number == one.number);
        let new: Vec<Numbered> = found.into_iter().filter(|one| !is_known(one)).collect();
        let outcome = memory::found(&numbers, new.len(), note);
        self.sources.extend(new);
        outcome
    }

    /// What the language model decides to do; `None` where the budget has no room for the question, or nothing that can
    /// be read is replied twice.
    fn decided(&self, desk: &mut Desk<'_>, left: u32) -> Result<Option<AgentTurn>> {
        let mut prompt = self.prompt(desk, left)?;
        for is_last in [false, true] {
            let Some(said) = desk.prepare_in(STEP, prompt.clone(), self.schema.clone())? else {
                return Ok(None);
            };
            match reply::read(&said, &self.offers, desk.numbered()) {
                Ok(turn) => return Ok(Some(turn)),
                Err(problem) => {
                    desk.announce("unreadable", &problem);
                    if !is_last {
                        prompt.extend(reply::repair(&said, &problem));
                    }
                }
            }
        }
        Ok(None)
    }

    fn prompt(&self, desk: &mut Desk<'_>, left: u32) -> Result<Vec<Message>> {
        let notes = self.memory.notes();
        let texts = [&notes[..], std::slice::from_ref(&self.actions)].concat();
        let sources = desk.newest(&self.sources, &texts)?;
        let material = Material {
            question: desk.question,
            sources: &sources,
            notes: &notes,
            n: left,
            actions: &self.actions,
        };
        desk.prompt(TEMPLATE, material, &[&NEEDED[..], &["n"]].concat())
    }

    /// The answer that a step gives. One that stands on nothing that was found or computed is none.
    fn accepted(&self, text: String) -> StrategyResult {
        let known: BTreeSet<usize> = self.sources.iter().map(|one| one.number).collect();
        let text = only(&text, &known);
        match (self.sources.is_empty(), self.has_computed) {
            _ if is_no_answer(&text) => StrategyResult::Nothing,
            (false, _) => StrategyResult::Answer(text),
            (true, true) => StrategyResult::Free(text),
            (true, false) => StrategyResult::Nothing,
        }
    }

    /// The answer from what there is, which is all that is left to be asked for.
    fn last(&self, desk: &mut Desk<'_>) -> Result<StrategyResult> {
        let notes = self.memory.notes();
        // The one step that each answer begins with says nothing.
        if notes.len() < 2 {
            return answer_from(desk, &self.sources);
        }
        if desk.has_none(&self.sources) && !self.has_computed {
            return Ok(StrategyResult::Nothing);
        }
        let sources = desk.newest(&self.sources, &notes)?;
        let material = Material {
            question: desk.question,
            sources: &sources,
            notes: &notes,
            ..Material::default()
        };
        let needed = ["question", "sources", "notes"];
        let prompt = desk.prompt("answer_with_notes", material, &needed)?;
        Ok(StrategyResult::Asks(FinalPrompt {
            step: "answer",
            prompt,
            otherwise: Fallback::Nothing,
        }))
    }
}
