//! `rag_explain`, `rag_feedback`, `rag_trace_purge`, `rag_trace_delete`.

use pgrx::datum::Interval;
use pgrx::prelude::*;
use pgrx::{AnyNumeric, Uuid};

use crate::pg::question::request::QuestionRequest;
use crate::pg::question::trace_log;
use crate::pg::ragd::trace::TraceStep;
use crate::pg::server::error::OrReport;
use crate::pg::server::interval;
use crate::pg::server::json::ExactJsonb;
use crate::pg::server::options::present;
use crate::pg::server::sql;
use crate::request::QuestionArguments;

type ExplainRow = (i32, &'static str, String, Option<i64>, f64, i64, Option<AnyNumeric>);

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
fn rag_explain(
    question: Option<&str>,
    pipeline: Option<&str>,
    strategy: Option<&str>,
    k: Option<i32>,
    mode: Option<&str>,
    filter: Option<ExactJsonb>,
    llm: Option<&str>,
    options: Option<ExactJsonb>,
) -> TableIterator<
    'static,
    (
        name!(step, i32),
        name!(stage, &'static str),
        name!(detail, String),
        name!(rows, Option<i64>),
        name!(ms, f64),
        name!(tokens, i64),
        name!(cost, Option<AnyNumeric>),
    ),
> {
    let filter = filter.map(|ExactJsonb(filter)| filter);
    let arguments =
        QuestionArguments { k, mode, filter, llm, strategy, ..QuestionArguments::default() };
    let request = QuestionRequest { pipeline, arguments, options, conditions: None };
    let steps = request.traced_answer(question, true).or_report().steps;
    TableIterator::new((1..).zip(steps).map(row))
}

fn row((number, step): (i32, TraceStep)) -> ExplainRow {
    let (ms, tokens) = ((step.ms * 1e3).round() / 1e3, step.usage.tokens() as i64);
    let detail = step.said();
    (
        number,
        step.stage,
        detail,
        step.rows.map(|rows| rows as i64),
        ms,
        tokens,
        money(step.usage.cost),
    )
}

/// An amount, to a millionth of what prices are in; nothing is `None`, since a price may be unknown.
pub fn money(cost: f64) -> Option<AnyNumeric> {
    let is_some = cost > 0.0;
    is_some.then(|| format!("{cost:.9}")).and_then(|text| AnyNumeric::try_from(text.as_str()).ok())
}

#[pg_extern(sql = false)]
fn rag_feedback(trace_id: Option<Uuid>, score: Option<f32>, comment: Option<&str>) -> Uuid {
    sql::refuse_if_read_only(c"rag_feedback()");
    let trace_id = present("trace_id", trace_id).or_report();
    let score = present("score", score).or_report();
    trace_log::give_feedback(trace_id, score, comment).or_report();
    trace_id
}

#[pg_extern(sql = false)]
fn rag_trace_purge(older_than: Interval) -> i64 {
    sql::refuse_if_read_only(c"rag_trace_purge()");
    interval::age(older_than).and_then(trace_log::purge).or_report()
}

#[pg_extern(sql = false)]
fn rag_trace_delete(trace_id: Uuid) -> bool {
    sql::refuse_if_read_only(c"rag_trace_delete()");
    trace_log::delete(trace_id).or_report()
}
