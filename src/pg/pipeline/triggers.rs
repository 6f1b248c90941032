//! The triggers on a pipeline's source that call `rag.capture`.

use std::cell::Cell;

use pgrx::prelude::*;
use pgrx::trigger_support::called_as_trigger;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::{Pipeline, RefreshMode};
use crate::pg::catalog::view;
use crate::pg::server::sql::{self, query, render};

/// The triggers of every pipeline but one, for each row but for the last.
const TRIGGERS: [(&str, &str); 3] = [
    ("insert", query!(trigger.create_insert)),
    ("delete", query!(trigger.create_delete)),
    TRUNCATE,
];

/// The one whose condition reads columns.
const UPDATE: (&str, &str) = ("update", query!(trigger.create_update));

const TRUNCATE: (&str, &str) = ("truncate", query!(trigger.create_truncate));

/// The one at the end of each statement, with synchronous refresh.
const STATEMENT: (&str, &str) = ("statement", query!(trigger.create_statement));

thread_local! {
    static ARE_BEING_MADE: Cell<bool> = const { Cell::new(false) };
}

/// Until it is dropped, also by an error; holds what was before.
struct BeingMade(bool);

impl BeingMade {
    fn new() -> Self {
        BeingMade(ARE_BEING_MADE.replace(true))
    }
}

impl Drop for BeingMade {
    fn drop(&mut self) {
        ARE_BEING_MADE.set(self.0);
    }
}

/// Whether the ALTER TABLE under way is one of [`create`], and brings no rows.
pub fn are_being_made() -> bool {
    ARE_BEING_MADE.get()
}

/// Makes all triggers of a pipeline on its source.
pub fn create(pipeline: &Pipeline) -> Result<()> {
    let _being_made = BeingMade::new();
    for (event, template) in TRIGGERS {
        create_one(pipeline, event, template, &pipeline.source.sql, &[])?;
    }
    create_for_update(pipeline)?;
    cover_partitions(pipeline)?;
    match pipeline.refresh {
        RefreshMode::Sync => create_for_statement(pipeline),
        RefreshMode::Async | RefreshMode::Manual => Ok(()),
    }
}

/// Makes the one that looks whether a column that is read has changed.
pub fn create_for_update(pipeline: &Pipeline) -> Result<()> {
    let _being_made = BeingMade::new();
    let (event, template) = UPDATE;
    let (old, new) = match view::source_dependencies(pipeline)? {
        Some(columns) => (row_of(&columns, "OLD."), row_of(&columns, "NEW.")),
        // As an argument this is the row itself, with columns that come later; in ROW() it is
        // the columns that are there now.
        None => ("OLD.*".to_owned(), "NEW.*".to_owned()),
    };
    let columns = [("old_row", old.as_str()), ("new_row", new.as_str())];
    create_one(pipeline, event, template, &pipeline.source.sql, &columns)
}

/// Drops the trigger of [`create_for_update`].
pub fn drop_for_update(pipeline: &Pipeline) -> Result<()> {
    drop_one(pipeline, UPDATE.0)
}

fn row_of(names: &[String], prefix: &str) -> String {
    let columns: Vec<String> = names.iter().map(|name| format!("{prefix}{name}")).collect();
    format!("ROW({})", columns.join(", "))
}

/// Has each statement end with the work for what it changed.
pub fn create_for_statement(pipeline: &Pipeline) -> Result<()> {
    let (event, template) = STATEMENT;
    let values = [
        ("trigger", trigger_name(pipeline.id, event)),
        ("source", pipeline.source.sql.clone()),
        ("id", pipeline.id.to_string()),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    sql::execute(&render(template, &values), &[]).map(drop)
}

/// Drops the trigger of [`create_for_statement`].
pub fn drop_for_statement(pipeline: &Pipeline) -> Result<()> {
    drop_one(pipeline, STATEMENT.0)
}

/// Has each partition say when it is truncated: the trigger of its parent does not.
pub fn cover_partitions(pipeline: &Pipeline) -> Result<()> {
    let _being_made = BeingMade::new();
    let (event, template) = TRUNCATE;
    let statement = query!(trigger.partitions_without);
    let arguments = [pipeline.source.oid.into(), trigger_name(pipeline.id, event).into()];
    let uncovered = sql::rows(statement, &arguments, |row| sql::required(row.get::<String>(1)?))?;
    uncovered.iter().try_for_each(|table| create_one(pipeline, event, template, table, &[]))
}

/// Has tables that were partitions, and are no more, say nothing.
pub fn uncover_detached(pipeline: &Pipeline) -> Result<()> {
    let trigger = trigger_name(pipeline.id, TRUNCATE.0);
    let statement = query!(trigger.tables_outside_with);
    let arguments = [pipeline.source.oid.into(), trigger.as_str().into()];
    let tables = sql::rows(statement, &arguments, |row| sql::required(row.get::<String>(1)?))?;
    drop_from(&tables, &trigger)
}

fn create_one(
    pipeline: &Pipeline,
    event: &str,
    template: &str,
    table: &str,
    columns: &[(&str, &str)],
) -> Result<()> {
    let trigger = trigger_name(pipeline.id, event);
    let id = pipeline.id.to_string();
    let mut values = vec![("trigger", trigger.as_str()), ("source", table), ("id", &id)];
    values.extend(columns);
    sql::execute(&render(template, &values), &[])?;
    let always = query!(trigger.enable_always);
    sql::execute(&render(always, &values), &[]).map(drop)
}

fn drop_one(pipeline: &Pipeline, event: &str) -> Result<()> {
    let trigger = trigger_name(pipeline.id, event);
    let statement = query!(trigger.tables_with);
    let tables = sql::rows(statement, &[trigger.as_str().into()], |row| {
        sql::required(row.get::<String>(1)?)
    })?;
    drop_from(&tables, &trigger)
}

fn drop_from(tables: &[String], trigger: &str) -> Result<()> {
    let template = query!(trigger.drop);
    tables.iter().try_for_each(|table| {
        let values = [("trigger", trigger), ("source", table)];
        sql::execute(&render(template, &values), &[]).map(drop)
    })
}

/// Drops those triggers of a pipeline that are there.
pub fn drop_all(pipeline: &Pipeline) -> Result<()> {
    TRIGGERS
        .iter()
        .chain([&UPDATE, &STATEMENT])
        .try_for_each(|(event, _)| drop_one(pipeline, event))
}

fn trigger_name(id: i32, event: &str) -> String {
    format!("rag_{id}_{event}")
}

/// What a trigger function is called with; an error where `function` is called by hand, which
/// pgrx's `pg_trigger` takes for an internal one. What such a function returns, a null pointer that
/// is no NULL, is what triggers return whose result is ignored.
///
/// # Safety
///
/// `fcinfo` is what PostgreSQL calls a function with. What is returned must not outlive the call.
pub unsafe fn called_with<'a>(
    fcinfo: pg_sys::FunctionCallInfo,
    function: &str,
) -> Result<&'a pg_sys::TriggerData> {
    // SAFETY: by this function's contract; in a trigger, its data is the context.
    let data = unsafe {
        called_as_trigger(fcinfo).then(|| &*(*fcinfo).context.cast::<pg_sys::TriggerData>())
    };
    data.ok_or_else(|| {
        let message = format!("trigger function {function} is called by triggers only");
        Error::new(ErrorKind::Unsupported, message)
    })
}
