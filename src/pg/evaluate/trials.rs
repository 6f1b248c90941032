//! Configurations that are tried on the questions of a set, within a budget.

use std::time::Instant;

use pgrx::prelude::*;

use super::ProgressNotice;
use super::candidate::{CandidateConfiguration, Searched};
use super::examiner::Examiner;
use crate::error::Result;
use crate::eval::measure::{EvalMetric, Measure, Scores};
use crate::eval::search_budget::{SearchBudget, SearchExpense};
use crate::pg::catalog::evaluation::{Case, in_case};
use crate::pg::ragd::usage::{self, Usage};

/// The halves of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// By which a configuration is chosen.
    Training,
    /// By which the choice is judged.
    HeldOut,
}

/// What is known of a configuration so far.
#[derive(Default)]
pub struct TrialRecord {
    training: Vec<Scores>,
    held_out: Vec<Scores>,
    /// Milliseconds of all its questions.
    milliseconds: f64,
    used: Usage,
}

impl TrialRecord {
    /// The scores of the questions of a half, in the order in which they were asked: of each the measure by
    /// which is chosen, if it is defined.
    pub fn scores(&self, half: Half) -> &[Scores] {
        match half {
            Half::Training => &self.training,
            Half::HeldOut => &self.held_out,
        }
    }

    /// Questions that were asked.
    fn asked(&self) -> f64 {
        (self.training.len() + self.held_out.len()).max(1) as f64
    }

    /// Mean milliseconds of a question, answered where answers are measured.
    pub fn latency(&self) -> f64 {
        self.milliseconds / self.asked()
    }

    /// Mean tokens that a language model reads and writes for a question.
    pub fn tokens(&self) -> f64 {
        self.used.llm_tokens as f64 / self.asked()
    }

    /// Mean cost of a question, as far as prices are known.
    pub fn cost(&self) -> f64 {
        self.used.cost / self.asked()
    }

    fn add(&mut self, half: Half, asked: AskedCase) {
        self.milliseconds += asked.milliseconds;
        self.used = self.used.plus(&asked.used);
        match half {
            Half::Training => self.training.push(asked.scores),
            Half::HeldOut => self.held_out.push(asked.scores),
        }
    }
}

/// What is kept of a question under a configuration: of many questions the rest would be much.
struct AskedCase {
    scores: Scores,
    milliseconds: f64,
    used: Usage,
}

impl AskedCase {
    /// The score of `measure`, if it is defined, and what the question has taken.
    fn of(searched: &Searched, measure: Measure) -> AskedCase {
        let is_measured = |(it, _): &&(Measure, f64)| *it == measure;
        let scores = searched.scores.iter().filter(is_measured).copied().collect();
        AskedCase { scores, milliseconds: latency(&searched.scores), used: searched.used }
    }
}

/// Milliseconds of the answer, where there is one, or else of the search.
fn latency(scores: &Scores) -> f64 {
    let of = |metric| scores.iter().find(|(it, _)| *it == Measure::of(metric)).map(|it| it.1);
    of(EvalMetric::AnswerLatency).or_else(|| of(EvalMetric::LatencyMean)).unwrap_or_default()
}

/// All configurations with what is known of them.
pub struct Trials<'a> {
    examiner: Examiner<'a>,
    contenders: Vec<CandidateConfiguration<'a>>,
    cases: &'a [Case],
    measure: Measure,
    records: Vec<TrialRecord>,
    budget: SearchBudget,
    started: Instant,
    before: Usage,
}

impl<'a> Trials<'a> {
    /// Trials by `measure`, of which nothing is asked so far, and nothing of the budget is used.
    pub fn new(
        examiner: Examiner<'a>,
        contenders: Vec<CandidateConfiguration<'a>>,
        cases: &'a [Case],
        (measure, budget): (Measure, SearchBudget),
    ) -> Trials<'a> {
        let records = contenders.iter().map(|_| TrialRecord::default()).collect();
        let (started, before) = (Instant::now(), usage::total());
        Trials { examiner, contenders, cases, measure, records, budget, started, before }
    }

    /// What is known of the configuration with this number.
    pub fn record(&self, configuration: usize) -> &TrialRecord {
        &self.records[configuration]
    }

    /// Has the session load models and plan statements, which is no configuration's fault.
    pub fn warm_up(&mut self, case: usize) -> Result<()> {
        let case = &self.cases[case];
        self.contenders[0].search(case).map(drop).map_err(|error| in_case(error, case))
    }

    /// Asks the questions `cases` of a half under the configurations `which`, which take turns. Whether all
    /// were asked; else the share `limit` of the budget is used up, and of a question that not all
    /// configurations have been asked nothing is kept.
    pub fn ask(
        &mut self,
        which: &[usize],
        (half, cases): (Half, &[usize]),
        limit: f64,
        mut progress: ProgressNotice,
    ) -> Result<bool> {
        for (at, number) in cases.iter().enumerate() {
            let case = &self.cases[*number];
            let mut contexts = self.examiner.contexts(case);
            let mut row = Vec::with_capacity(which.len());
            for turn in 0..which.len() {
                check_for_interrupts!();
                if self.budget.used(&expense(self.started, &self.before)) >= limit {
                    return Ok(false);
                }
                let configuration = which[(at + turn) % which.len()];
                let contender = &mut self.contenders[configuration];
                let searched = self.examiner.ask(contender, case, &mut contexts)?;
                row.push((configuration, AskedCase::of(&searched, self.measure)));
            }
            for (configuration, asked) in row {
                self.records[configuration].add(half, asked);
            }
            progress.say(at + 1, cases.len());
        }
        Ok(true)
    }

    /// Warnings if replies of language models could not be read.
    pub fn warn(&self) {
        self.examiner.warn();
    }
}

/// What has been taken since then, by judges too.
fn expense(started: Instant, before: &Usage) -> SearchExpense {
    let Usage { llm_calls, llm_tokens, cost, .. } = usage::total().since(before);
    let seconds = started.elapsed().as_secs_f64();
    SearchExpense { calls: llm_calls, tokens: llm_tokens, seconds, cost }
}
