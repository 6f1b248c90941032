//! A loop in which the language model decides at each step what to do next (ReAct; Yao et al., ICLR 2023, arXiv
//! 2210.03629), until it answers or has no step left.
//!
//! ```text
//! question looked up → sources, notes → steps: search, open, graph, sql, calculate, call ─┐ or an answer
//!                           ▲                                                             │     │
//!                           └─────────── what they found, or why they failed ◄────────────┘     ▼
//!                           ▲                                                               evaluator
//!                           └─────────────── what is missing, once ◄────────────────────────────┘
//! ```
//!
//! Steps are tools of the provider's own protocol ([`as_tools`]), of which a reply may call several, or, where there
//! are none, one JSON object of a schema ([`offered`]), which every provider can be asked for, and local models by a
//! grammar. A reply is a wish among what was offered ([`reply`]), and nothing more: neither a chunk nor the model can
//! have anything done besides. What was done stands in a memory ([`memory`]), of which a model is told before each
//! step, so nothing is done twice; with tools it stands in the conversation ([`conversation`]) as long as a call can read all of
//! that. Texts of sources and of what functions return are data and stand between their lines. An [`evaluator`] may
//! judge the answer.

mod action;
pub mod arithmetic;
mod as_tools;
mod conversation;
mod evaluator;
mod memory;
mod offered;
mod reply;

pub use action::{
    ActionOutcome, AgentAction, AgentHost, AgentOffers, AgentSearch, AgentWalk, ArgumentKind,
    StepPrompt, ToolArgument, ToolCall, ToolOffer,
};
pub use offered::schema as reply_schema;

use std::collections::BTreeSet;

use serde_json::Value;

use self::action::AgentTurn;
use self::conversation::AgentConversation;
use self::memory::{AgentMemory, StepEnd};
use self::reply::{AgentReply, WrongReply};
use super::cited::only;
use super::compact::answer_from;
use super::{AnswerStrategy, Desk, Fallback, FinalPrompt, StrategyResult};
use crate::context::step::{Material, Numbered, StepOutcome};
use crate::error::Result;
use crate::prompt::messages::{Message, is_no_answer};
use crate::prompt::place;

/// Steps of an answer, the answer itself among them, where nothing is said.
const STEPS: u32 = 5;

/// The template in which a step is asked for.
const TEMPLATE: &str = "agent";

/// What a call for a step is called.
const STEP: &str = "agent";

/// `agent`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "agent",
    description: "decides at each step whether to search, open a document, follow the graph, have a query run, compute, \
        call a function or answer",
    calls: "1 for each of up to max_steps (5) steps, or for several that are taken at once; 1 for each reply that has to \
        be corrected; 1 with evaluate",
    options: &["max_steps", "evaluate", "tools", "sql"],
    is_for_extractive: false,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let mut run = AgentRun::begun(desk)?;
    loop {
        if let Some(written) = run.go_on(desk)? {
            return Ok(written);
        }
    }
}

/// An answer that an agent is working on, reply by reply.
pub struct AgentRun {
    work: AgentWork,
    /// Steps that are left, with the answer.
    left: u32,
    /// How many steps were told of.
    told: usize,
}

impl AgentRun {
    /// The question is looked up.
    pub fn begun(desk: &mut Desk<'_>) -> Result<AgentRun> {
        let left = desk.options.max_steps.unwrap_or(STEPS);
        Ok(AgentRun { work: AgentWork::begun(desk)?, left, told: 0 })
    }

    /// Takes the steps of one more reply. Where there is no further one, the answer, or what is to be asked for it.
    pub fn go_on(&mut self, desk: &mut Desk<'_>) -> Result<Option<StrategyResult>> {
        let work = &mut self.work;
        // The last step is an answer in any case.
        if self.left > 1 {
            self.left -= match work.turn(desk, self.left)? {
                TurnResult::Answered(text) if work.is_complete(desk, &text)? => {
                    desk.tell("actions", work.memory.told(0));
                    return Ok(Some(work.answered(text)));
                }
                TurnResult::Answered(_) => 1,
                TurnResult::Done(steps) => steps,
                TurnResult::Over => self.left - 1,
            };
        }
        if self.left > 1 {
            return Ok(None);
        }
        desk.tell("actions", work.memory.told(0));
        work.last(desk).map(Some)
    }

    /// The steps since this was asked before, as users see them.
    pub fn news(&mut self) -> Vec<Value> {
        let from = std::mem::replace(&mut self.told, self.work.memory.count());
        match self.work.memory.told(from) {
            Value::Array(steps) => steps,
            _ => Vec::new(),
        }
    }
}

/// An agent at work.
struct AgentWork {
    offers: AgentOffers,
    conversation: AgentConversation,
    memory: AgentMemory,
    /// What has been found, in the order of the numbers.
    sources: Vec<Numbered>,
    /// Whether something was computed, on which an answer may stand without a source.
    has_computed: bool,
    /// An answer that the evaluator has sent back.
    draft: Option<String>,
}

/// How a turn ends.
enum TurnResult {
    /// With this answer.
    Answered(String),
    /// With so many steps that were taken, or could not be.
    Done(u32),
    /// There is no other: the budget is spent, or nothing of use is replied.
    Over,
}

impl AgentWork {
    /// The work with the question itself looked up, as each of them begins.
    fn begun(desk: &mut Desk<'_>) -> Result<AgentWork> {
        let offers = desk.offers()?;
        let conversation = AgentConversation::new(&offers, desk.offers_tools(TEMPLATE)?);
        let mut work = AgentWork {
            offers,
            conversation,
            memory: AgentMemory::default(),
            sources: Vec::new(),
            has_computed: false,
            draft: None,
        };
        let found = desk.found()?;
        let question = desk.question.to_owned();
        let first = AgentAction::Search(AgentSearch { question, ..AgentSearch::default() });
        let (said, _) = work.add(found, None);
        work.memory.keep(&first, "", said, StepEnd::Done);
        Ok(work)
    }

    /// The steps of one reply; `left` are there with the answer.
    fn turn(&mut self, desk: &mut Desk<'_>, left: u32) -> Result<TurnResult> {
        let Some(reply) = self.decided(desk, left)? else { return Ok(TurnResult::Over) };
        let (mut taken, mut outcomes) = (0, Vec::with_capacity(reply.wishes.len()));
        for wish in &reply.wishes {
            outcomes.push(match wish {
                Err(problem) => self.refused(desk, problem),
                Ok(AgentTurn { reason, action: AgentAction::Answer(text) }) => {
                    desk.announce("answer", reason);
                    return Ok(TurnResult::Answered(text.clone()));
                }
                Ok(turn) if taken + 1 >= left => self.left_out(turn),
                Ok(turn) => match self.take(desk, turn)? {
                    Some(outcome) => outcome,
                    None => return Ok(TurnResult::Over),
                },
            });
            taken += u32::from(wish.is_ok() && taken + 1 < left);
        }
        self.go_on(desk, reply, outcomes, left - taken)?;
        Ok(TurnResult::Done(taken.max(1)))
    }

    /// Takes a step; `None` where there is no time for it.
    fn take(&mut self, desk: &mut Desk<'_>, turn: &AgentTurn) -> Result<Option<StepOutcome>> {
        let action = &turn.action;
        if let Some(why) = self.memory.refusal(action) {
            desk.announce("repeat", &turn.said());
            return Ok(Some(self.keep(turn, why, Vec::new(), StepEnd::Refused)));
        }
        if !desk.has_time() {
            return Ok(None);
        }
        desk.announce(action.name(), &turn.said());
        let (said, new, end) = match desk.act(action)? {
            ActionOutcome::Found(sources, note) => {
                self.has_computed |= matches!(action, AgentAction::Calculate(_));
                let (said, new) = self.add(sources, note.as_deref());
                (said, new, StepEnd::Done)
            }
            ActionOutcome::Failed(why) => (format!("failed: {why}"), Vec::new(), StepEnd::Failed),
            ActionOutcome::Interrupted(why) => (
                format!("failed for now: {why}. It may be tried once more"),
                Vec::new(),
                StepEnd::Interrupted,
            ),
        };
        Ok(Some(self.keep(turn, said, new, end)))
    }

    /// Keeps a step in the memory; what is told of it.
    fn keep(
        &mut self,
        turn: &AgentTurn,
        said: String,
        new: Vec<Numbered>,
        end: StepEnd,
    ) -> StepOutcome {
        let number = self.memory.keep(&turn.action, &turn.reason, said.clone(), end);
        StepOutcome { number, said, sources: new }
    }

    /// A step that the reply asks for beyond those that are left.
    fn left_out(&mut self, turn: &AgentTurn) -> StepOutcome {
        self.keep(turn, "not done: no step was left".to_owned(), Vec::new(), StepEnd::Refused)
    }

    /// What is no step that was offered.
    fn refused(&mut self, desk: &mut Desk<'_>, problem: &str) -> StepOutcome {
        desk.announce("unreadable", problem);
        let said = format!("not done, as that is no step that can be taken: {problem}");
        StepOutcome { number: self.memory.count() + 1, said, sources: Vec::new() }
    }

    /// Adds what was found; what is told of it, and what of it is new.
    fn add(&mut self, found: Vec<Numbered>, note: Option<&str>) -> (String, Vec<Numbered>) {
        let numbers: Vec<usize> = found.iter().map(|one| one.number).collect();
        let is_known = |one: &Numbered| self.sources.iter().any(|it| it.number == one.number);
        let new: Vec<Numbered> = found.into_iter().filter(|one| !is_known(one)).collect();
        let outcome = memory::found(&numbers, new.len(), note);
        self.sources.extend(new.iter().cloned());
        (outcome, new)
    }

    /// What the language model decides to do; `None` where the budget has no room for the question, or nothing that can
    /// be read is replied twice.
    fn decided(&mut self, desk: &mut Desk<'_>, left: u32) -> Result<Option<AgentReply>> {
        let mut wrong: Option<WrongReply> = None;
        for is_last in [false, true] {
            let asked = self.asked(desk, left, wrong.as_ref())?;
            let Some(said) = desk.prepare_in(STEP, asked)? else { return Ok(None) };
            let reply = self.conversation.read(&said, &self.offers, desk.numbered());
            let Some(problem) = reply.problem() else { return Ok(Some(reply)) };
            let outcomes = reply.problems().map(|it| self.refused(desk, it)).collect();
            if !is_last {
                // What has no result in the conversation is told at a new beginning, or the same would be asked again.
                if reply.called.is_none() {
                    self.conversation.forget();
                }
                self.go_on(desk, reply, outcomes, left)?;
                wrong = Some(WrongReply { text: said.text, problem });
            }
        }
        Ok(None)
    }

    /// What is asked for a step, with what is wrong with the last reply.
    fn asked(
        &mut self,
        desk: &mut Desk<'_>,
        left: u32,
        wrong: Option<&WrongReply>,
    ) -> Result<StepPrompt> {
        let mut messages = self.prompt(desk, left, &self.conversation.actions, "")?;
        if let Some(wrong) = wrong {
            wrong.repair(&mut messages);
        }
        if self.conversation.wants_beginning() {
            let definitions = self.conversation.definitions();
            let mut beginning = self.prompt(desk, left, "", &definitions)?;
            if let Some(wrong) = wrong {
                wrong.warn(&mut beginning);
            }
            self.conversation.begin(beginning);
        }
        Ok(self.conversation.asked(messages))
    }

    /// The prompt of a step, with its `actions`, or with room for what is sent `beside` it.
    fn prompt(
        &self,
        desk: &mut Desk<'_>,
        left: u32,
        actions: &str,
        beside: &str,
    ) -> Result<Vec<Message>> {
        let notes = self.memory.notes();
        let texts = [&notes[..], &[format!("{actions}{beside}")]].concat();
        let sources = desk.newest(&self.sources, &texts)?;
        let material = Material {
            question: desk.question,
            sources: &sources,
            notes: &notes,
            examples: &[],
            n: left,
            actions,
            beside,
        };
        desk.prompt(place::AGENT, material)
    }

    /// Says in the conversation what has come of a reply. One that a call cannot read any more begins anew, with notes.
    fn go_on(
        &mut self,
        desk: &mut Desk<'_>,
        reply: AgentReply,
        outcomes: Vec<StepOutcome>,
        left: u32,
    ) -> Result<()> {
        let Some(called) = reply.called.filter(|_| left > 1) else { return Ok(()) };
        let results = desk.told(outcomes, left)?;
        self.conversation.add(called, results);
        let (texts, beside) = (self.conversation.texts(), self.conversation.definitions());
        if !desk.can_show(&self.sources)? || !desk.can_read(texts, &beside)? {
            self.conversation.forget();
        }
        Ok(())
    }

    /// Whether this answer is the last word: nobody is to judge it, or who does misses nothing.
    fn is_complete(&mut self, desk: &mut Desk<'_>, text: &str) -> Result<bool> {
        let is_judged = desk.options.evaluate == Some(true) && self.draft.is_none();
        if !is_judged || is_no_answer(text) {
            return Ok(true);
        }
        let Some(missing) = evaluator::missing(desk, text, &self.sources)? else { return Ok(true) };
        let action = AgentAction::Answer(text.to_owned());
        let said = format!("the evaluator misses: {missing}");
        self.memory.keep(&action, "", said, StepEnd::Done);
        self.draft = Some(text.to_owned());
        self.conversation.forget();
        Ok(false)
    }

    /// The answer that a step gives, or the draft where that is none.
    fn answered(&self, text: String) -> StrategyResult {
        match (self.accepted(text), &self.draft) {
            (StrategyResult::Nothing, Some(draft)) => self.accepted(draft.clone()),
            (answer, _) => answer,
        }
    }

    /// The answer that a text is. One that stands on nothing that was found or computed is none.
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
        let prompt = desk.prompt(place::ANSWER_WITH_NOTES, material)?;
        let draft = self.draft.as_ref().map(|text| self.accepted(text.clone()));
        let otherwise = match draft {
            Some(StrategyResult::Answer(text)) => Fallback::IfUnknown(text),
            Some(StrategyResult::Free(text)) => Fallback::FreeIfUnknown(text),
            _ => Fallback::Nothing,
        };
        Ok(StrategyResult::Asks(FinalPrompt { step: "answer", prompt, otherwise }))
    }
}
