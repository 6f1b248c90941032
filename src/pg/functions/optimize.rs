//! `rag_optimize`.

use pgrx::prelude::*;

use crate::pg::evaluate::{Optimization, OptimizeRequest, Trial};
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;
use crate::pg::server::options;

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_optimize(
    pipeline: Option<&str>,
    eval_set: Option<&str>,
    metric: Option<&str>,
    search_space: Option<&str>,
    configurations: Option<&str>,
    apply: Option<bool>,
    options: Option<Jsonb>,
) -> TableIterator<
    'static,
    (
        name!(configuration, String),
        name!(options, Jsonb),
        name!(is_chosen, bool),
        name!(training, Option<f64>),
        name!(training_n, i32),
        name!(held_out, Option<f64>),
        name!(ci_low, Option<f64>),
        name!(ci_high, Option<f64>),
        name!(held_out_n, i32),
        name!(difference, Option<f64>),
        name!(p_value, Option<f64>),
        name!(latency_ms, f64),
        name!(llm_tokens, f64),
        name!(cost, f64),
    ),
> {
    let options = options::object(options).or_report();
    let (set, apply) = (eval_set, apply.unwrap_or_default());
    let request =
        OptimizeRequest { pipeline, set, metric, search_space, configurations, apply, options };
    let trials = Optimization::new(request).and_then(Optimization::run).or_report();
    TableIterator::new(trials.into_iter().map(row))
}

type TrialRow = (
    String,
    Jsonb,
    bool,
    Option<f64>,
    i32,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    i32,
    Option<f64>,
    Option<f64>,
    f64,
    f64,
    f64,
);

fn row(trial: Trial) -> TrialRow {
    let Trial { name, options, is_chosen, training, held_out, latency, tokens, cost } = trial;
    let contrast = held_out.and_then(|figure| figure.contrast);
    (
        name,
        Jsonb(options),
        is_chosen,
        training.map(|mean| mean.value),
        training.map_or(0, |mean| mean.cases as i32),
        held_out.map(|figure| figure.value),
        held_out.map(|figure| figure.low),
        held_out.map(|figure| figure.high),
        held_out.map_or(0, |figure| figure.cases as i32),
        contrast.map(|it| it.difference),
        contrast.and_then(|it| it.p_value),
        latency,
        tokens,
        cost,
    )
}
