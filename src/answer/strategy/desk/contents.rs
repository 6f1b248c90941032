//! What is on a desk: it outlives the tools of one call.

use std::collections::HashMap;

use super::{Desk, Preview, calls_of};
use crate::answer::strategy::AnswerStrategy;
use crate::answer::strategy::budget::BudgetLedger;
use crate::answer::strategy::kept::KeptCall;
use crate::answer::strategy::options::StrategyOptions;
use crate::answer::strategy::tools::{ReadingCalls, StrategyHost};
use crate::context::Reading;
use crate::context::step::Numbered;
use crate::source::{Source, SourceId};

/// What is on a desk.
pub struct DeskContents {
    pub(super) ledger: BudgetLedger,
    /// What was read, and as it was shown first; number n stands at n - 1.
    pub(super) readings: Vec<Reading>,
    pub(super) shown: Vec<Numbered>,
    /// The numbers by what was read.
    pub(super) numbers: HashMap<SourceId, usize>,
    /// What was found for the question itself, and has not been read yet.
    pub(super) candidates: Option<Vec<Source>>,
    /// What was found for the question itself, once it has been read.
    pub(super) found: Option<Vec<Numbered>>,
    /// How often something was read.
    pub(super) times_read: usize,
    /// Whether replies are kept, and by what that to the last call is.
    pub(super) keeps: bool,
    pub(super) last_kept: Option<KeptCall>,
    /// Which strategy works here in the end, and for how many calls that reads.
    pub(super) strategy: &'static str,
    pub(super) calls: ReadingCalls,
}

impl DeskContents {
    /// An empty desk for `strategy`.
    pub(super) fn new(strategy: &AnswerStrategy, options: &StrategyOptions) -> DeskContents {
        DeskContents {
            ledger: BudgetLedger::new(options.budget),
            readings: Vec::new(),
            shown: Vec::new(),
            numbers: HashMap::new(),
            candidates: None,
            found: None,
            times_read: 0,
            keeps: false,
            last_kept: None,
            strategy: strategy.name,
            calls: calls_of(strategy),
        }
    }

    /// The desk with the tools of the same answer, for the same question and options.
    pub fn resume<'a>(
        self,
        question: &'a str,
        options: &'a StrategyOptions,
        tools: &'a mut dyn StrategyHost,
    ) -> Desk<'a> {
        Desk { question, options, tools, contents: self, preview: Preview::No }
    }
}

impl Desk<'_> {
    /// What is on the desk, to be worked on later.
    pub fn pause(self) -> DeskContents {
        self.contents
    }
}
