//! `rag_eval`: each question is asked under each configuration, through the same [`Search`] as
//! `rag_retrieve`, and what is found is scored by [`crate::eval`]. Where answers are wanted, each is
//! made as `rag_answer` makes it.
//!
//! The configurations take turns at each question, a different one first each time, so that
//! whatever else the machine does falls on all of them. None of them profits from another's
//! embedding of the question: what the session remembers of embeddings is forgotten before each
//! search.

mod alert;
mod answer;
mod candidate;
mod context;
mod examiner;
mod optimize;
mod options;
pub mod read;
mod trials;

use std::time::Instant;

use pgrx::prelude::*;
use serde_json::{Value, json};

pub use optimize::{Optimization, OptimizeRequest, Trial};
pub use options::EvalOptions;

use self::candidate::{CandidateConfiguration, Searched};
use self::examiner::Examiner;
use super::catalog::evaluation::{self, Case, EvalRun, in_case};
use super::server::sql;
use crate::error::{Error, Result};
use crate::eval::configuration::{self, Configuration};
use crate::eval::measure::Scores;
use crate::eval::summary::{self, Figure};

/// How many seconds pass between two words about the progress.
const SECONDS_BETWEEN_NOTICES: f64 = 5.0;

/// What is to be evaluated.
pub struct Evaluation {
    set: String,
    cases: Vec<Case>,
    ks: Vec<u32>,
    configurations: Vec<Configuration>,
    /// Configurations and options as they were given.
    given: (String, Value),
    options: EvalOptions,
    pipeline: Option<String>,
}

/// Figures and the names of their configurations.
pub struct EvalReport {
    /// Figures, in the order of the configurations.
    pub figures: Vec<Figure>,
    /// Names of the configurations.
    pub names: Vec<String>,
}

/// The arguments of `rag_eval`.
pub struct EvalRequest<'a> {
    /// Where configurations search that name no pipeline.
    pub pipeline: Option<&'a str>,
    /// Name of the set of judged questions.
    pub set: Option<&'a str>,
    /// Over how many results scores are computed.
    pub ks: Option<Vec<Option<i32>>>,
    /// What is compared, as JSON.
    pub configurations: Option<String>,
    /// All other options, as JSON.
    pub options: Value,
}

impl Evaluation {
    /// Checks the arguments of `rag_eval`.
    pub fn new(request: EvalRequest<'_>) -> Result<Evaluation> {
        let options = EvalOptions::read(&request.options, &[])?;
        let ks = options::ks(request.ks)?;
        let given = request.configurations.unwrap_or_else(|| "{\"default\": {}}".to_owned());
        let configurations = configuration::parse(&given)?;
        if options.keep {
            sql::refuse_if_read_only(c"rag_eval()");
        }
        let set = evaluation::resolve(request.set)?;
        let cases = evaluation::cases(&set)?;
        let pipeline = request.pipeline.map(str::to_owned);
        let given = (given, request.options);
        Ok(Evaluation { set, cases, ks, configurations, given, options, pipeline })
    }

    /// Asks all questions, and keeps the run unless the options say otherwise. A run that is kept says which
    /// floors of its set it breaks.
    pub fn run(self) -> Result<EvalReport> {
        let started = Instant::now();
        let contenders =
            self.configurations.iter().map(|configuration| self.contender(configuration));
        let mut contenders = contenders.collect::<Result<Vec<_>>>()?;
        let (scores, results) = self.ask(&mut contenders)?;
        let mut interrupt = || {
            check_for_interrupts!();
        };
        let figures = summary::figures(&scores, self.options.summary(), &mut interrupt);
        if self.options.keep {
            let metrics = metrics(&figures, &contenders);
            let run = self.keep(metrics, results, started)?;
            alert::of_run(&self.set, run, &self.configurations[0].name, &figures)?;
        }
        let names = self.configurations.into_iter().map(|it| it.name).collect();
        Ok(EvalReport { figures, names })
    }

    fn contender<'a>(
        &'a self,
        configuration: &'a Configuration,
    ) -> Result<CandidateConfiguration<'a>> {
        CandidateConfiguration::new(configuration, self.pipeline.as_deref(), &self.ks)
    }

    /// The scores by configuration and case, and rows of `rag.eval_result`.
    fn ask(
        &self,
        contenders: &mut [CandidateConfiguration<'_>],
    ) -> Result<(Vec<Vec<Scores>>, Vec<Value>)> {
        let examiner = Examiner::new(&self.options)?;
        // The first search of a session loads a model, plans statements and reads pages.
        if let Some(case) = self.cases.first() {
            for contender in contenders.iter_mut() {
                contender.search(case).map_err(|error| in_case(error, case))?;
            }
        }
        let mut scores = vec![vec![Scores::new(); self.cases.len()]; contenders.len()];
        let mut results = Vec::new();
        let mut progress = ProgressNotice::new("rag_eval".to_owned());
        for (at, case) in self.cases.iter().enumerate() {
            let mut contexts = examiner.contexts(case);
            for turn in 0..contenders.len() {
                check_for_interrupts!();
                let turn = (at + turn) % contenders.len();
                let contender = &mut contenders[turn];
                let searched = examiner.ask(contender, case, &mut contexts)?;
                if self.options.keep {
                    results.push(result(contender, case, &searched));
                }
                scores[turn][at] = searched.scores;
            }
            progress.say(at + 1, self.cases.len());
        }
        examiner.warn();
        Ok((scores, results))
    }

    fn keep(&self, metrics: Vec<Value>, results: Vec<Value>, started: Instant) -> Result<i64> {
        let (configurations, options) = &self.given;
        evaluation::keep(EvalRun {
            set: &self.set,
            cases: self.cases.len(),
            ks: &self.ks,
            configurations,
            options: options.clone(),
            seconds: started.elapsed().as_secs_f64(),
            metrics,
            results,
        })
    }
}

/// The figures as rows of `rag.eval_metric`.
fn metrics(figures: &[Figure], contenders: &[CandidateConfiguration<'_>]) -> Vec<Value> {
    let row = |(place, figure): (usize, &Figure)| {
        let contender = &contenders[figure.configuration];
        json!({
            "configuration": contender.configuration.name,
            "pipeline": contender.pipeline(),
            "place": place,
            "metric": figure.measure.metric.name(),
            "k": figure.measure.k,
            "value": figure.value,
            "ci_low": figure.low,
            "ci_high": figure.high,
            "n": figure.cases,
            "difference": figure.contrast.map(|it| it.difference),
            "p_value": figure.contrast.and_then(|it| it.p_value),
        })
    };
    (1..).zip(figures).map(row).collect()
}

/// A row of `rag.eval_result`.
fn result(contender: &CandidateConfiguration<'_>, case: &Case, searched: &Searched) -> Value {
    // Six digits say all that there is to say, and are half as long.
    let rounded = |value: f64| (value * 1e6).round() / 1e6;
    let scores: serde_json::Map<String, Value> = searched
        .scores
        .iter()
        .map(|(measure, value)| (measure.label(), json!(rounded(*value))))
        .collect();
    let found = searched.passages.iter().map(|passage| {
        json!({
            "source_key": passage.source_key,
            "chunk_no": passage.chunk_no,
            "chunk_id": passage.chunk_id,
        })
    });
    json!({
        "configuration": contender.configuration.name,
        "case_id": case.id,
        "pipeline": contender.pipeline(),
        "latency_ms": rounded(searched.milliseconds),
        "scores": scores,
        "found": found.collect::<Vec<_>>(),
        "answer": searched.answer,
    })
}

/// Says now and then how far it is.
struct ProgressNotice {
    what: String,
    started: Instant,
    said: Instant,
}

impl ProgressNotice {
    /// Of `what`, which begins now.
    fn new(what: String) -> ProgressNotice {
        let started = Instant::now();
        ProgressNotice { what, started, said: started }
    }

    fn say(&mut self, done: usize, all: usize) {
        if self.said.elapsed().as_secs_f64() < SECONDS_BETWEEN_NOTICES || done == all {
            return;
        }
        self.said = Instant::now();
        let left = self.started.elapsed().as_secs_f64() * (all - done) as f64 / done as f64;
        notice!("{}: {done} of {all} questions, about {left:.0} s left", self.what);
    }
}

/// An error about an option.
fn out_of_range(option: &str, range: &str, value: impl std::fmt::Display) -> Error {
    Error::invalid(format!("{option} must be {range}: {value}"))
}
