//! `rag_eval`, `rag_eval_load`, `rag_eval_delete`, `rag_eval_purge`, `rag_eval_give` and `rag_eval_floors`.
//!
//! A value of the type json is its text, so that is what `configurations` arrives as: read by serde
//! into a value, it would lose the order of its members.

use std::ffi::CStr;

use pgrx::datum::Interval;
use pgrx::prelude::*;

use crate::eval::floor;
use crate::eval::summary::Figure;
use crate::pg::catalog::{eval_floor, evaluation};
use crate::pg::evaluate::{EvalReport, EvalRequest, Evaluation, read};
use crate::pg::server::error::OrReport;
use crate::pg::server::interval;
use crate::pg::server::json::{ExactJsonb, Jsonb};
use crate::pg::server::options::present;
use crate::pg::server::sql;

type EvalRow = (String, String, Option<i32>, f64, f64, f64, i32, Option<f64>, Option<f64>);

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_eval(
    pipeline: Option<&str>,
    eval_set: Option<&str>,
    k: Option<Vec<Option<i32>>>,
    configurations: Option<String>,
    options: Option<Jsonb>,
) -> TableIterator<
    'static,
    (
        name!(configuration, String),
        name!(metric, String),
        name!(k, Option<i32>),
        name!(value, f64),
        name!(ci_low, f64),
        name!(ci_high, f64),
        name!(n, i32),
        name!(difference, Option<f64>),
        name!(p_value, Option<f64>),
    ),
> {
    let options = crate::pg::server::options::object(options).or_report();
    let request = EvalRequest { pipeline, set: eval_set, ks: k, configurations, options };
    let outcome = Evaluation::new(request).and_then(Evaluation::run).or_report();
    TableIterator::new(rows(outcome))
}

fn rows(EvalReport { figures, names }: EvalReport) -> impl Iterator<Item = EvalRow> {
    figures.into_iter().map(move |figure| row(&figure, &names))
}

fn row(figure: &Figure, names: &[String]) -> EvalRow {
    let Figure { configuration, measure, value, low, high, cases, contrast } = figure;
    (
        names[*configuration].clone(),
        measure.metric.name().to_owned(),
        measure.k.map(|k| k as i32),
        *value,
        *low,
        *high,
        *cases as i32,
        contrast.map(|it| it.difference),
        contrast.and_then(|it| it.p_value),
    )
}

#[pg_extern(sql = false)]
fn rag_eval_load(eval_set: Option<&str>, data: Option<ExactJsonb>) -> i32 {
    let data = data.map(|json| json.0);
    read::from_json(eval_set, data.as_ref()).or_report() as i32
}

#[pg_extern(sql = false)]
fn rag_eval_load_file(eval_set: Option<&str>, path: Option<&str>, split: Option<&str>) -> i32 {
    read::from_path(eval_set, path, split).or_report() as i32
}

#[pg_extern(sql = false)]
fn rag_eval_delete(eval_set: Option<&str>, label: Option<&str>, if_exists: Option<bool>) -> i64 {
    sql::refuse_if_read_only(c"rag_eval_delete()");
    let set = present("eval_set", eval_set).or_report();
    match if_exists.unwrap_or_default() && !evaluation::exists(set).or_report() {
        true => {
            notice!("evaluation set \"{set}\" does not exist, skipping");
            0
        }
        false => evaluation::delete(set, label).or_report(),
    }
}

#[pg_extern(sql = false)]
fn rag_eval_purge(older_than: Option<Interval>, eval_set: Option<&str>) -> i64 {
    sql::refuse_if_read_only(c"rag_eval_purge()");
    let older_than = present("older_than", older_than).and_then(interval::age);
    older_than.and_then(|age| evaluation::purge(age, eval_set)).or_report()
}

#[pg_extern(sql = false)]
fn rag_eval_give(eval_set: Option<&str>, owner: Option<&CStr>) -> String {
    sql::refuse_if_read_only(c"rag_eval_give()");
    let set = present("eval_set", eval_set).or_report();
    let owner = present("owner", owner).or_report().to_string_lossy();
    evaluation::give(set, &owner).or_report();
    set.to_owned()
}

#[pg_extern(sql = false)]
fn rag_eval_floors(eval_set: Option<&str>, floors: Option<Jsonb>, channel: Option<&str>) -> i32 {
    sql::refuse_if_read_only(c"rag_eval_floors()");
    let set = present("eval_set", eval_set).or_report();
    let given = present("floors", floors).or_report();
    let floors = floor::parse(&given.0).or_report();
    eval_floor::store(set, &floors, channel).or_report();
    floors.len() as i32
}
