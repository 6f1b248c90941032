//! `rag_optimize`: the options that do best on some questions of a set, and how well they do on the others.

use pgrx::prelude::*;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::candidate::CandidateConfiguration;
use super::examiner::Examiner;
use super::options::{ContextMeasure, EvalOptions};
use super::trials::{Half, TrialRecord, Trials};
use super::{ProgressNotice, out_of_range};
use crate::error::{Error, ErrorKind, Result};
use crate::eval::configuration::Configuration;
use crate::eval::halving::{self, MeanScore};
use crate::eval::holdout::{self, HoldoutSplit};
use crate::eval::measure::{EvalMetric, Measure, Scores};
use crate::eval::search_budget::SearchBudget;
use crate::eval::search_space;
use crate::eval::summary::{self, Figure};
use crate::options;
use crate::pg::catalog::evaluation::{self, Case};
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::catalog::question_defaults;
use crate::pg::question::defaults;
use crate::pg::server::sql;
use crate::request::WrittenOptions;
use crate::rewrite::route::AUTO;

/// The k of a metric that needs one, where none is said.
const USUAL_K: u32 = 10;

/// The configuration that all others are compared with: what holds now.
const BASELINE: usize = 0;

/// In which order configurations are asked, and which of them.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum SearchMethod {
    /// Few questions for all of them, and more for those that do well.
    #[default]
    Halving,
    /// All questions for all of them.
    Grid,
}

/// The options that `rag_optimize` has beside those of `rag_eval`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct OptimizeOptions {
    /// How the best one is looked for.
    method: SearchMethod,
    /// Of so many configurations one goes on.
    eta: u32,
    /// Share of the questions by which it is chosen.
    training: f64,
    /// What all of it may take.
    budget: SearchBudget,
}

impl Default for OptimizeOptions {
    fn default() -> Self {
        let (method, budget) = (SearchMethod::Halving, SearchBudget::default());
        OptimizeOptions { method, eta: 2, training: 0.5, budget }
    }
}

impl OptimizeOptions {
    fn check(&self) -> Result<()> {
        if !(2..=100).contains(&self.eta) {
            return Err(out_of_range("eta", "between 2 and 100", self.eta));
        }
        if !(self.training > 0.0 && self.training < 1.0) {
            return Err(out_of_range("training", "above 0 and below 1", self.training));
        }
        self.budget.check()
    }
}

/// The arguments of `rag_optimize`.
pub struct OptimizeRequest<'a> {
    /// Where configurations search that name no pipeline, and whose defaults are changed.
    pub pipeline: Option<&'a str>,
    /// Name of the set of judged questions.
    pub set: Option<&'a str>,
    /// What is to be as great as can be.
    pub metric: Option<&'a str>,
    /// Values of options, as JSON.
    pub search_space: Option<&'a str>,
    /// Configurations with a name, as JSON.
    pub configurations: Option<&'a str>,
    /// Whether the best options become the defaults of the pipeline.
    pub apply: bool,
    /// All other options, as JSON.
    pub options: Value,
}

/// What is to be found out.
pub struct Optimization {
    cases: Vec<Case>,
    split: HoldoutSplit,
    measure: Measure,
    ks: Vec<u32>,
    configurations: Vec<Configuration>,
    pipeline: Option<String>,
    apply: bool,
    options: EvalOptions,
    own: OptimizeOptions,
}

/// How a configuration has done.
pub struct Trial {
    /// Its name.
    pub name: String,
    /// Its options, and its pipeline if it names one.
    pub options: Value,
    /// Whether it is the best one.
    pub is_chosen: bool,
    /// Its mean on the training questions that it was asked.
    pub training: Option<MeanScore>,
    /// Its figure on the held-out questions, compared with that of the defaults.
    pub held_out: Option<Figure>,
    /// Mean milliseconds of a question.
    pub latency: f64,
    /// Mean tokens of language models a question.
    pub tokens: f64,
    /// Mean cost of a question.
    pub cost: f64,
}

impl Optimization {
    /// Checks the arguments of `rag_optimize`, before anything is asked.
    pub fn new(request: OptimizeRequest<'_>) -> Result<Optimization> {
        if request.apply {
            sql::refuse_if_read_only(c"rag_optimize() with apply");
        }
        let wanted = wanted(request.metric)?;
        let (own, mut options) = read(request.options, wanted.metric)?;
        let measure = measure(wanted, &mut options)?;
        let configurations =
            search_space::candidates(request.configurations, request.search_space)?;
        let cases = evaluation::cases(&evaluation::resolve(request.set)?)?;
        let questions: Vec<&str> = cases.iter().map(|case| case.question.as_str()).collect();
        let split = holdout::split(&questions, own.training, options.seed)?;
        let ks = vec![measure.k.unwrap_or(USUAL_K)];
        let (pipeline, apply) = (request.pipeline.map(str::to_owned), request.apply);
        let all = Optimization {
            cases,
            split,
            measure,
            ks,
            configurations,
            pipeline,
            apply,
            options,
            own,
        };
        all.check_applicable()?;
        Ok(all)
    }

    /// An error where what is chosen could not become the defaults of the pipeline.
    fn check_applicable(&self) -> Result<()> {
        if !self.apply {
            return Ok(());
        }
        if self.pipeline.as_deref() == Some(AUTO) {
            return Err(Error::invalid("apply needs a pipeline, and not \"auto\"")
                .hint("Name the pipeline whose defaults are to be changed."));
        }
        let pipeline = pipeline::owned(self.pipeline.as_deref())?;
        self.configurations.iter().try_for_each(|configuration| {
            applied(configuration, &pipeline).map(drop).map_err(|error| {
                error.detail(format!("In the configuration \"{}\".", configuration.name))
            })
        })
    }

    /// Asks the questions; how each configuration has done, the best of those first that were asked most
    /// questions. Where that is wanted, the options of the chosen one become defaults of the pipeline.
    pub fn run(self) -> Result<Vec<Trial>> {
        let contenders = self.configurations.iter().map(|configuration| {
            check_for_interrupts!();
            CandidateConfiguration::new(configuration, self.pipeline.as_deref(), &self.ks)
        });
        let contenders = contenders.collect::<Result<Vec<_>>>()?;
        let examiner = Examiner::new(&self.options)?;
        let goal = (self.measure, self.own.budget);
        let mut trials = Trials::new(examiner, contenders, &self.cases, goal);
        let finalists = self.train(&mut trials)?;
        let chosen = self.choose(&finalists, &trials)?;
        self.hold_out(&mut trials, &finalists)?;
        trials.warn();
        let figures = self.held_out(&finalists, &trials);
        if self.apply {
            self.apply(chosen, figure_of(&figures, &finalists, chosen))?;
        }
        Ok(self.rows(&trials, &figures, &finalists, chosen))
    }

    /// Asks training questions; the configurations that are left, the baseline first. They have all been asked the
    /// same questions, at most for that share of the budget that is for training.
    fn train(&self, trials: &mut Trials<'_>) -> Result<Vec<usize>> {
        let training = &self.split.training;
        let mut left: Vec<usize> = (BASELINE + 1..self.configurations.len()).collect();
        let rungs = match self.own.method {
            SearchMethod::Halving => {
                halving::rungs(left.len(), training.len(), self.own.eta as usize)
            }
            SearchMethod::Grid => halving::grid(left.len(), training.len()),
        };
        trials.warm_up(training[0])?;
        let mut asked = 0;
        for (place, rung) in (1..).zip(&rungs) {
            let mean = |it: usize| self.mean(trials.record(it)).map(|mean| mean.value);
            left = halving::best(&left, mean, rung.configurations);
            let which = with_baseline(&left);
            let (all, count) = (rungs.len(), which.len());
            let what = format!("rag_optimize, rung {place} of {all}, {count} configurations");
            let cases = (Half::Training, &training[asked..rung.cases]);
            if !trials.ask(&which, cases, self.own.training, ProgressNotice::new(what))? {
                let done = trials.record(BASELINE).scores(Half::Training).len();
                let all = training.len();
                notice!(
                    "rag_optimize: the budget for training is used up after {done} of {all} questions"
                );
                break;
            }
            asked = rung.cases;
        }
        Ok(with_baseline(&left))
    }

    fn mean(&self, record: &TrialRecord) -> Option<MeanScore> {
        halving::mean_score(record.scores(Half::Training), self.measure)
    }

    /// The one with the greatest mean; of equal ones the one that costs least, and then the first.
    fn choose(&self, finalists: &[usize], trials: &Trials<'_>) -> Result<usize> {
        let known = finalists.iter().filter_map(|configuration| {
            let record = trials.record(*configuration);
            Some((*configuration, self.mean(record)?.value, record))
        });
        let best = known.reduce(|best, other| {
            let order = best.1.total_cmp(&other.1).reverse();
            let order = order.then(best.2.cost().total_cmp(&other.2.cost()));
            let order = order.then(best.2.tokens().total_cmp(&other.2.tokens()));
            if order.is_le() { best } else { other }
        });
        best.map(|(configuration, ..)| configuration).ok_or_else(|| {
            if trials.record(BASELINE).scores(Half::Training).is_empty() {
                let message =
                    "the budget is used up before a question was asked under each configuration";
                return Error::new(ErrorKind::BudgetExceeded, message)
                    .hint("Try fewer configurations, or give the option budget more.");
            }
            let label = self.measure.label();
            Error::invalid(format!("\"{label}\" is defined for none of the training questions"))
                .hint("It may need judgements of another kind, or expected answers.")
        })
    }

    /// Asks the held-out questions.
    fn hold_out(&self, trials: &mut Trials<'_>, finalists: &[usize]) -> Result<()> {
        let held_out = &self.split.held_out;
        let count = finalists.len();
        let what = format!("rag_optimize, held-out questions, {count} configurations");
        let cases = (Half::HeldOut, held_out.as_slice());
        if !trials.ask(finalists, cases, 1.0, ProgressNotice::new(what))? {
            let done = trials.record(BASELINE).scores(Half::HeldOut).len();
            let all = held_out.len();
            notice!("rag_optimize: the budget is used up after {done} of {all} held-out questions");
        }
        Ok(())
    }

    /// The figures of the finalists on the held-out questions.
    fn held_out(&self, finalists: &[usize], trials: &Trials<'_>) -> Vec<Figure> {
        let of =
            |configuration: &usize| trials.record(*configuration).scores(Half::HeldOut).to_vec();
        let scores: Vec<Vec<Scores>> = finalists.iter().map(of).collect();
        summary::figures(&scores, self.options.summary(), &mut || {
            check_for_interrupts!();
        })
    }

    /// Makes the options of the chosen configuration defaults of the pipeline, over those that it has, if
    /// they are better on the held-out questions, too.
    fn apply(&self, chosen: usize, held_out: Option<&Figure>) -> Result<()> {
        let configuration = &self.configurations[chosen];
        let name = &configuration.name;
        if chosen == BASELINE {
            notice!("rag_optimize: nothing is better than the defaults, which stay");
            return Ok(());
        }
        let difference = held_out.and_then(|figure| figure.contrast).map(|it| it.difference);
        if difference.is_none_or(|difference| difference <= 0.0) {
            warning!(
                "rag_optimize: configuration \"{name}\" is not better than the defaults on held-out questions, so they stay"
            );
            return Ok(());
        }
        let pipeline = pipeline::owned_and_held(self.pipeline.as_deref())?;
        let options = sql::with_latest_snapshot(|| applied(configuration, &pipeline))?;
        question_defaults::store(pipeline.id, options)?;
        let pipeline = &pipeline.name;
        notice!(
            "rag_optimize: pipeline \"{pipeline}\" has the defaults of configuration \"{name}\" now"
        );
        Ok(())
    }

    fn rows(
        &self,
        trials: &Trials<'_>,
        figures: &[Figure],
        finalists: &[usize],
        chosen: usize,
    ) -> Vec<Trial> {
        let row = |(number, configuration): (usize, &Configuration)| {
            let record = trials.record(number);
            Trial {
                name: configuration.name.clone(),
                options: written(configuration),
                is_chosen: number == chosen,
                training: self.mean(record),
                held_out: figure_of(figures, finalists, number).copied(),
                latency: record.latency(),
                tokens: record.tokens(),
                cost: record.cost(),
            }
        };
        let asked = |number: usize| trials.record(number).scores(Half::Training).len();
        let mut rows: Vec<(usize, Trial)> =
            self.configurations.iter().enumerate().map(|it| (asked(it.0), row(it))).collect();
        let mean = |trial: &Trial| trial.training.map_or(f64::NEG_INFINITY, |mean| mean.value);
        rows.sort_by(|(asked, a), (more, b)| {
            let by_mean = mean(b).total_cmp(&mean(a));
            more.cmp(asked).then(by_mean).then(b.is_chosen.cmp(&a.is_chosen))
        });
        rows.into_iter().map(|(_, trial)| trial).collect()
    }
}

/// The options of `rag_optimize` itself, and those that it shares with `rag_eval`, so that `metric` is measured.
fn read(options: Value, metric: EvalMetric) -> Result<(OptimizeOptions, EvalOptions)> {
    let keys = options::keys::<OptimizeOptions>();
    let mut shared = match options {
        Value::Object(members) => members,
        _ => Map::new(),
    };
    let own: Map<String, Value> =
        keys.iter().filter_map(|key| Some(((*key).to_owned(), shared.remove(*key)?))).collect();
    let own: OptimizeOptions = options::read("", Value::Object(own), &[])?;
    own.check()?;
    let decided = [
        ("keep", "What is returned is all there is. rag_eval keeps runs."),
        ("answers", "Questions are answered where the metric is one of answers."),
        ("context", "The context is measured where the metric is one of the context."),
    ];
    let is_said = |key: &str| shared.get(key).is_some_and(|it| !it.is_null());
    if let Some((key, why)) = decided.into_iter().find(|(key, _)| is_said(key)) {
        return Err(Error::invalid(format!("rag_optimize has no option \"{key}\"")).hint(why));
    }
    if is_said("judge") && !metric.is_of_answers() {
        let message = format!("option \"judge\" is of no use for metric \"{}\"", metric.name());
        return Err(Error::invalid(message).hint("It judges answers. Choose a metric of answers."));
    }
    shared.insert("answers".to_owned(), Value::Bool(metric.is_of_answers()));
    let mut read = EvalOptions::read(&Value::Object(shared), keys)?;
    read.keep = false;
    read.context = match metric {
        EvalMetric::ContextSimilarity | EvalMetric::AnswerSimilarity => ContextMeasure::Similarity,
        EvalMetric::ContextRelevance => ContextMeasure::Llm,
        _ => ContextMeasure::None,
    };
    Ok((own, read))
}

/// What is to be as great as can be, without its k where none is said.
fn wanted(metric: Option<&str>) -> Result<Measure> {
    let wanted = metric.map_or(Ok(Measure::of(EvalMetric::Ndcg)), Measure::named)?;
    if wanted.metric.is_cost() {
        let message = format!("metric \"{}\" cannot be optimized", wanted.metric.name());
        return Err(Error::invalid(message).hint(
            "Less of it is better. Choose by a metric of quality: latency, tokens and cost stand beside it.",
        ));
    }
    Ok(wanted)
}

/// What is measured: `wanted` with its k, by which the options say how much the context is.
fn measure(wanted: Measure, options: &mut EvalOptions) -> Result<Measure> {
    let Measure { metric, k } = wanted;
    if options.context != ContextMeasure::None {
        options.context_k = k.unwrap_or(options.context_k);
        options.check_context_k()?;
        return Ok(Measure::at(metric, options.context_k));
    }
    Ok(match metric.has_k() {
        true => Measure::at(metric, k.unwrap_or(USUAL_K)),
        false => wanted,
    })
}

/// The defaults that `pipeline` would have, with the options of a configuration over those that it has now.
fn applied(configuration: &Configuration, pipeline: &Pipeline) -> Result<WrittenOptions> {
    if configuration.pipeline.is_some() {
        let message =
            "apply changes the defaults of one pipeline, and a configuration names its own";
        return Err(Error::invalid(message).hint(
            "Leave \"pipeline\" out of the configurations, or compare pipelines without apply.",
        ));
    }
    if configuration.is_default() {
        return Ok(WrittenOptions::default());
    }
    let options = configuration.options.over(&question_defaults::of(pipeline)?);
    let options = question_defaults::read(options.into_json())?;
    defaults::check(pipeline, &options)?;
    Ok(options)
}

/// The baseline, and after it these configurations.
fn with_baseline(others: &[usize]) -> Vec<usize> {
    [BASELINE].into_iter().chain(others.iter().copied()).collect()
}

/// The figure of the configuration with this number, if it is among the finalists.
fn figure_of<'a>(figures: &'a [Figure], finalists: &[usize], number: usize) -> Option<&'a Figure> {
    let place = finalists.iter().position(|finalist| *finalist == number)?;
    figures.iter().find(|figure| figure.configuration == place)
}

/// A configuration as it could be given.
fn written(configuration: &Configuration) -> Value {
    let mut options = configuration.options.clone().into_json();
    if let (Value::Object(members), Some(pipeline)) = (&mut options, &configuration.pipeline) {
        members.insert("pipeline".to_owned(), Value::String(pipeline.clone()));
    }
    options
}
