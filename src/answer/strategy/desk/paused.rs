//! A desk that nobody works at for a while: what is on it, without the tools.

use std::collections::HashMap;

use super::{Desk, Preview};
use crate::answer::strategy::budget::BudgetLedger;
use crate::answer::strategy::options::StrategyOptions;
use crate::answer::strategy::tools::{ReadingCalls, StrategyHost};
use crate::context::Reading;
use crate::context::step::Numbered;
use crate::source::{Source, SourceId};

/// What is on a desk.
pub struct PausedDesk {
    ledger: BudgetLedger,
    readings: Vec<Reading>,
    shown: Vec<Numbered>,
    numbers: HashMap<SourceId, usize>,
    candidates: Option<Vec<Source>>,
    found: Option<Vec<Numbered>>,
    times_read: usize,
    strategy: &'static str,
    calls: ReadingCalls,
}

impl Desk<'_> {
    /// What is on the desk, to be worked on later.
    pub fn pause(self) -> PausedDesk {
        PausedDesk {
            ledger: self.ledger,
            readings: self.readings,
            shown: self.shown,
            numbers: self.numbers,
            candidates: self.candidates,
            found: self.found,
            times_read: self.times_read,
            strategy: self.strategy,
            calls: self.calls,
        }
    }
}

impl PausedDesk {
    /// The desk with the tools of the same answer, for the same question and options.
    pub fn resume<'a>(
        self,
        question: &'a str,
        options: &'a StrategyOptions,
        tools: &'a mut dyn StrategyHost,
    ) -> Desk<'a> {
        Desk {
            question,
            options,
            tools,
            ledger: self.ledger,
            readings: self.readings,
            shown: self.shown,
            numbers: self.numbers,
            candidates: self.candidates,
            found: self.found,
            times_read: self.times_read,
            strategy: self.strategy,
            calls: self.calls,
            preview: Preview::No,
        }
    }
}
