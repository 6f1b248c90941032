//! The call that makes the answer.
//!
//! A strategy does not make it itself but says what it would ask ([`FinalPrompt`]). So the code that runs
//! the strategy can have the answer streamed, look first whether it is known, or only show the
//! prompt.

use super::StrategyResult;
use super::budget::BudgetLedger;
use super::kept::KeptCall;
use super::tools::{Limits, ModelReply};
use crate::answer::draft::Draft;
use crate::answer::form::{AnswerForm, FormedAnswer};
use crate::context::Reading;
use crate::error::Result;
use crate::prompt::messages::{Message, NO_ANSWER, is_no_answer};

/// What is asked for the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinalPrompt {
    /// What the call is for.
    pub step: &'static str,
    /// The prompt.
    pub prompt: Vec<Message>,
    /// What the answer is where the call gives none.
    pub otherwise: Fallback,
}

/// What the answer is where the last call gives none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// There is no answer.
    Nothing,
    /// This, where nothing is said.
    IfSilent(String),
    /// This, also where it is said that the sources hold no answer.
    IfUnknown(String),
    /// This in the same cases, which stands on no source.
    FreeIfUnknown(String),
}

impl Fallback {
    /// What has become of an answer to which the last call was replied so.
    pub fn or(self, reply: Option<String>) -> StrategyResult {
        let reply = match self {
            Fallback::Nothing | Fallback::IfSilent(_) => reply,
            Fallback::IfUnknown(_) | Fallback::FreeIfUnknown(_) => {
                reply.filter(|reply| !is_no_answer(reply))
            }
        };
        match (reply, self) {
            (Some(text), _) => StrategyResult::Answer(text),
            (None, Fallback::Nothing) => StrategyResult::Nothing,
            (None, Fallback::IfSilent(text) | Fallback::IfUnknown(text)) => {
                StrategyResult::Answer(text)
            }
            (None, Fallback::FreeIfUnknown(text)) => StrategyResult::Free(text),
        }
    }
}

/// What a strategy has done when it has come to its last call.
#[derive(Clone, Debug)]
pub enum BegunAnswer {
    /// All: there is no call left, or no budget for it.
    Done(Box<Draft>),
    /// All but the call.
    Asking(Box<PendingAnswer>),
}

/// An answer that lacks its last call.
#[derive(Clone, Debug)]
pub struct PendingAnswer {
    /// What is to be asked.
    pub prompt: Vec<Message>,
    /// Name of the step that the call is for.
    pub step: &'static str,
    /// What the call may take.
    pub limits: Limits,
    /// The form that the reply must have; `None`: it is free text.
    pub form: Option<AnswerForm>,
    /// By what the reply is kept, if it is.
    pub kept: Option<KeptCall>,
    pub(super) otherwise: Fallback,
    /// About how many tokens the prompt has.
    pub(super) size: u64,
    pub(super) work: AnswerWork,
}

/// What was done for an answer.
#[derive(Clone, Debug)]
pub struct AnswerWork {
    pub(super) strategy: &'static str,
    pub(super) readings: Vec<Reading>,
    pub(super) ledger: BudgetLedger,
}

impl AnswerWork {
    /// What comes of it.
    pub(super) fn outcome(self, text: String, supported: bool) -> Draft {
        let AnswerWork { strategy, readings, ledger } = self;
        Draft::of_model(text, readings, supported, ledger.usage(strategy))
    }

    /// What comes of it, where the answer must have a form: `formed`, or that there is none.
    fn formed(self, formed: Option<FormedAnswer>) -> Draft {
        match formed {
            None => self.written(StrategyResult::Nothing),
            Some(formed) => {
                let AnswerWork { strategy, readings, ledger } = self;
                Draft::in_form(formed, readings, ledger.usage(strategy))
            }
        }
    }

    pub(super) fn written(self, written: StrategyResult) -> Draft {
        match written {
            StrategyResult::Answer(text) => {
                let supported = !is_no_answer(&text);
                self.outcome(text, supported)
            }
            StrategyResult::Free(text) => self.outcome(text, false),
            // The code that runs the strategy has made its last call.
            StrategyResult::Asks(_) | StrategyResult::Nothing => {
                self.outcome(NO_ANSWER.to_owned(), false)
            }
        }
    }
}

impl PendingAnswer {
    /// What was read, in the order of its numbers.
    pub fn readings(&self) -> &[Reading] {
        &self.work.readings
    }

    /// What was read, in the order of its numbers; the call itself is dropped.
    pub fn into_readings(self) -> Vec<Reading> {
        self.work.readings
    }

    /// Whether this one call, with all sources, is all that there is to the answer.
    pub fn is_only_call(&self) -> bool {
        self.work.strategy == super::compact::STRATEGY.name && !self.work.readings.is_empty()
    }

    /// The answer, of what was replied after so long. A call that ran out of the budget's time counts
    /// as far as it was `told`.
    pub fn finish(mut self, reply: Result<ModelReply>, told: &str, took_ms: u64) -> Result<Draft> {
        let is_late = self.limits.timeout_ms.is_some_and(|limit| took_ms >= limit);
        let said = self.work.ledger.note(self.step, reply, self.size, is_late)?;
        let said = said.map_or_else(|| told.to_owned(), |reply| reply.text).trim().to_owned();
        if let Some(form) = &self.form {
            return Ok(self.work.formed(form.read(&said)));
        }
        let written = self.otherwise.or((!said.is_empty()).then_some(said));
        Ok(self.work.written(written))
    }
}
