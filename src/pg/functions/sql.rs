//! `rag_sql_check` and `rag_sql_run`.

use std::time::Duration;

use pgrx::datum::Interval;
use pgrx::prelude::*;

use crate::guarded_sql::Problem;
use crate::pg::guarded_sql::{self, GuardedRequest, check_or_report, run_or_report};
use crate::pg::server::error::OrReport;
use crate::pg::server::interval;
use crate::pg::server::json::{Jsonb, JsonbText};
use crate::pg::server::options;

/// What is meant by an argument that is NULL.
const MAX_ROWS: i32 = 200;
const TIMEOUT: Duration = Duration::from_secs(5);
const MAX_COST: f64 = 1e6;

type CheckRow = (
    bool,
    Option<&'static str>,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<i32>,
    Option<String>,
);

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_sql_check(
    sql: Option<&str>,
    options: Option<Jsonb>,
) -> TableIterator<
    'static,
    (
        name!(ok, bool),
        name!(problem, Option<&'static str>),
        name!(node, Option<String>),
        name!(detail, Option<String>),
        name!(hint, Option<String>),
        name!(position, Option<i32>),
        name!(sqlstate, Option<String>),
    ),
> {
    let options = options::object(options).and_then(guarded_sql::options).or_report();
    let problems = check_or_report(sql, &options);
    let none = problems.is_empty().then_some((true, None, None, None, None, None, None));
    TableIterator::new(problems.into_iter().map(row).chain(none))
}

fn row(problem: Problem) -> CheckRow {
    let node = (!problem.node.is_empty()).then_some(problem.node);
    (
        false,
        Some(problem.kind.word()),
        node,
        Some(problem.detail),
        problem.hint,
        problem.position,
        problem.sqlstate,
    )
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_sql_run(
    sql: Option<&str>,
    max_rows: Option<i32>,
    timeout: Option<Interval>,
    max_cost: Option<f64>,
    options: Option<Jsonb>,
) -> TableIterator<'static, (name!(row_no, i32), name!(data, JsonbText), name!(truncated, bool))> {
    let (max_rows, max_cost) = (max_rows.unwrap_or(MAX_ROWS), max_cost.unwrap_or(MAX_COST));
    let timeout = timeout.map_or(Ok(TIMEOUT), |it| interval::timeout(&it)).or_report();
    let options = options::object(options).and_then(guarded_sql::options).or_report();
    let (options, wants_keys) = (&options, false);
    let with = None;
    let request = GuardedRequest { sql, max_rows, timeout, max_cost, options, wants_keys, with };
    let found = run_or_report(request);
    let truncated = found.is_truncated;
    let rows = found.rows.into_iter().map(JsonbText);
    TableIterator::new((1..).zip(rows).map(move |(number, data)| (number, data, truncated)))
}
