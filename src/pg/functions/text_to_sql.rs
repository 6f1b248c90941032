//! `rag_sql`, `rag_sql_example`, `rag_sql_example_delete`.

use pgrx::prelude::*;

use crate::pg::guarded_sql;
use crate::pg::question::request::required_question;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::{Jsonb, JsonbText};
use crate::pg::server::options::{self, present};
use crate::pg::server::sql;
use crate::pg::text_to_sql::{SqlAnswer, SqlQuestion, answer, examples, statement_name};
use crate::text_to_sql::options::SqlOptions;

type SqlRow = (
    Option<String>,
    Option<JsonbText>,
    Option<i32>,
    Option<bool>,
    Option<String>,
    Jsonb,
    Vec<String>,
    Jsonb,
);

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_sql(
    question: Option<&str>,
    relations: Option<Vec<Option<pg_sys::Oid>>>,
    llm: Option<&str>,
    options: Option<Jsonb>,
) -> TableIterator<
    'static,
    (
        name!(sql, Option<String>),
        name!(rows, Option<JsonbText>),
        name!(row_count, Option<i32>),
        name!(truncated, Option<bool>),
        name!(reason, Option<String>),
        name!(attempts, Jsonb),
        name!(tables, Vec<String>),
        name!(usage, Jsonb),
    ),
> {
    let question = required_question(question).or_report();
    let options = options::read(options).and_then(SqlOptions::checked).or_report();
    let asked = SqlQuestion { question, relations, llm, options };
    TableIterator::once(row(answer(asked).or_report()))
}

fn row(answer: SqlAnswer) -> SqlRow {
    let SqlAnswer { sql, rows, reason, attempts, usage } = answer;
    let truncated = rows.as_ref().map(|found| found.is_truncated);
    let count = rows.as_ref().map(|found| i32::try_from(found.rows.len()).unwrap_or(i32::MAX));
    let relations = rows.as_ref().map(|found| found.relations.as_slice()).unwrap_or_default();
    let tables = relations.iter().map(|relation| statement_name(*relation)).collect();
    let rows = rows.map(|found| JsonbText(format!("[{}]", found.rows.join(", "))));
    (sql, rows, count, truncated, reason, Jsonb(attempts), tables, Jsonb(usage))
}

#[pg_extern(sql = false)]
fn rag_sql_example(
    question: Option<&str>,
    sql: Option<&str>,
    note: Option<&str>,
    options: Option<Jsonb>,
) -> i64 {
    sql::refuse_if_read_only(c"rag_sql_example()");
    let question = present("question", question).or_report();
    let statement = present("sql", sql).or_report();
    let guard = options::object(options).and_then(guarded_sql::options).or_report();
    examples::keep(question, statement, note, &guard).or_report()
}

#[pg_extern(sql = false)]
fn rag_sql_example_delete(id: i64) -> bool {
    sql::refuse_if_read_only(c"rag_sql_example_delete()");
    examples::delete(id).or_report()
}
