//! The triggers on a pipeline's source that call `rag.capture`.

use std::cell::Cell;

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use pgrx::trigger_support::called_as_trigger;

use super::comment;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::{Pipeline, RefreshMode};
use crate::pg::catalog::view;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query, render};

/// A trigger of a pipeline.
struct CaptureTrigger {
    /// What it is about, for its name.
    event: &'static str,
    /// The statement that makes it.
    template: &'static str,
    /// `tgtype` of `pg_trigger`: the sum of 1 for each row, and of 4, 8, 16 and 32 for INSERT, DELETE,
    /// UPDATE and TRUNCATE.
    kind: i16,
}

/// The triggers of every pipeline but one, for each row but for the last.
const TRIGGERS: [CaptureTrigger; 3] = [
    CaptureTrigger { event: "insert", template: query!(trigger.create_insert), kind: 5 },
    CaptureTrigger { event: "delete", template: query!(trigger.create_delete), kind: 9 },
    TRUNCATE,
];

/// The one whose condition reads columns.
const UPDATE: CaptureTrigger =
    CaptureTrigger { event: "update", template: query!(trigger.create_update), kind: 17 };

const TRUNCATE: CaptureTrigger =
    CaptureTrigger { event: "truncate", template: query!(trigger.create_truncate), kind: 32 };

/// The one at the end of each statement, with synchronous refresh.
const STATEMENT: CaptureTrigger =
    CaptureTrigger { event: "statement", template: query!(trigger.create_statement), kind: 28 };

/// Longest name of a trigger, in bytes.
const LONGEST_NAME: usize = pg_sys::NAMEDATALEN as usize - 1;

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
    drop_strays(pipeline)?;
    for trigger in &TRIGGERS {
        create_one(pipeline, trigger, &pipeline.source.sql, &[])?;
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
    let (old, new) = match view::source_dependencies(pipeline)? {
        Some(columns) => (row_of(&columns, "OLD."), row_of(&columns, "NEW.")),
        // As an argument this is the row itself, with columns that come later; in ROW() it is
        // the columns that are there now.
        None => ("OLD.*".to_owned(), "NEW.*".to_owned()),
    };
    let columns = [("old_row", old.as_str()), ("new_row", new.as_str())];
    create_one(pipeline, &UPDATE, &pipeline.source.sql, &columns)
}

/// Drops the trigger of [`create_for_update`].
pub fn drop_for_update(pipeline: &Pipeline) -> Result<()> {
    drop_one(pipeline, &UPDATE)
}

fn row_of(names: &[String], prefix: &str) -> String {
    let columns: Vec<String> = names.iter().map(|name| format!("{prefix}{name}")).collect();
    format!("ROW({})", columns.join(", "))
}

/// Has each statement end with the work for what it changed.
pub fn create_for_statement(pipeline: &Pipeline) -> Result<()> {
    let name = quote_identifier(new_name(pipeline, &STATEMENT)?);
    let id = pipeline.id.to_string();
    let values = [("trigger", &*name), ("source", &pipeline.source.sql), ("id", &id)];
    sql::execute(&render(STATEMENT.template, &values), &[]).map(drop)
}

/// Drops the trigger of [`create_for_statement`].
pub fn drop_for_statement(pipeline: &Pipeline) -> Result<()> {
    drop_one(pipeline, &STATEMENT)
}

/// Has each partition say when it is truncated: the trigger of its parent does not.
pub fn cover_partitions(pipeline: &Pipeline) -> Result<()> {
    let _being_made = BeingMade::new();
    let statement = query!(trigger.partitions_without);
    let arguments = [pipeline.source.oid.into(), argument(pipeline).into(), TRUNCATE.kind.into()];
    let uncovered = sql::rows(statement, &arguments, |row| sql::required(row.get::<String>(1)?))?;
    uncovered.iter().try_for_each(|table| create_one(pipeline, &TRUNCATE, table, &[]))
}

/// Has each partition say when it is truncated, by a trigger that has another name than those of a dump which is perhaps
/// just being restored.
pub fn cover_restored_partitions(pipeline: &Pipeline) -> Result<()> {
    let generation = pipeline.generation + 1;
    cover_partitions(&Pipeline { generation, ..pipeline.clone() })
}

/// Has tables that were partitions, and are no more, say nothing.
pub fn uncover_detached(pipeline: &Pipeline) -> Result<()> {
    let statement = query!(trigger.outside);
    let arguments = [pipeline.source.oid.into(), argument(pipeline).into(), TRUNCATE.kind.into()];
    drop_found(statement, &arguments)
}

fn create_one(
    pipeline: &Pipeline,
    trigger: &CaptureTrigger,
    table: &str,
    columns: &[(&str, &str)],
) -> Result<()> {
    let name = quote_identifier(new_name(pipeline, trigger)?);
    let id = pipeline.id.to_string();
    let mut values = vec![("trigger", name.as_str()), ("source", table), ("id", &id)];
    values.extend(columns);
    sql::execute(&render(trigger.template, &values), &[])?;
    let always = query!(trigger.enable_always);
    sql::execute(&render(always, &values), &[]).map(drop)
}

fn drop_one(pipeline: &Pipeline, trigger: &CaptureTrigger) -> Result<()> {
    drop_found(query!(trigger.of), &[argument(pipeline).into(), trigger.kind.into()])
}

/// Drops triggers on the source, and on its partitions, that call `rag.capture` for a pipeline which is not there, or is of
/// another table. They came with a dump of the table alone, and may have the names that are to be given now, or the number
/// of the pipeline.
fn drop_strays(pipeline: &Pipeline) -> Result<()> {
    let arguments = [pipeline.source.oid.into(), argument(pipeline).into()];
    // The caller may not see all pipelines of which triggers are.
    let strays = as_superuser(|| found(query!(trigger.strays), &arguments))?;
    drop_all_of(&strays)?;
    if !strays.is_empty() {
        let names: Vec<&str> = strays.iter().map(|(name, _)| name.as_str()).collect();
        let (source, names) = (&pipeline.source.sql, names.join(", "));
        notice!("triggers of {source} that were of no pipeline of it are dropped: {names}");
    }
    Ok(())
}

/// Drops the triggers that a statement finds, with their tables.
fn drop_found(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<()> {
    drop_all_of(&found(statement, arguments)?)
}

/// The triggers that a statement finds, and their tables, quoted.
fn found(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<Vec<(String, String)>> {
    sql::rows(statement, arguments, |row| {
        Ok((sql::required(row.get::<String>(1)?)?, sql::required(row.get::<String>(2)?)?))
    })
}

fn drop_all_of(found: &[(String, String)]) -> Result<()> {
    found.iter().try_for_each(|(name, table)| {
        let values = [("trigger", name.as_str()), ("source", table.as_str())];
        sql::execute(&render(query!(trigger.drop), &values), &[]).map(drop)
    })
}

/// Drops those triggers of a pipeline that are there.
pub fn drop_all(pipeline: &Pipeline) -> Result<()> {
    TRIGGERS.iter().chain([&UPDATE, &STATEMENT]).try_for_each(|it| drop_one(pipeline, it))
}

/// With what a pipeline's triggers are called, as PostgreSQL shows it. They are known by that and not by
/// their names, which a user may change, and which stay when the pipeline is renamed.
fn argument(pipeline: &Pipeline) -> String {
    format!("{}\\000", pipeline.id)
}

/// A name that no other pipeline's trigger has: `rag_docs_insert`, of a new generation
/// `rag_docs_2_insert`. Triggers fire in the order of their names, which is of no importance here: those
/// for rows come before the one for the statement, and each only notes a key.
fn new_name(pipeline: &Pipeline, trigger: &CaptureTrigger) -> Result<String> {
    let base = comment::name_of(pipeline)?;
    for number in pipeline.generation.. {
        let name = trigger_name(&base, number, trigger.event);
        let arguments =
            [name.as_str().into(), argument(pipeline).into(), pipeline.source.oid.into()];
        if sql::rows(query!(trigger.taken), &arguments, |_| Ok(()))?.is_empty() {
            return Ok(name);
        }
    }
    Err(Error::new(ErrorKind::Internal, "there are no more names for triggers"))
}

/// As much of `pipeline` as fits.
fn trigger_name(pipeline: &str, number: i32, event: &str) -> String {
    let end = match number {
        1 => format!("_{event}"),
        _ => format!("_{number}_{event}"),
    };
    let mut length = pipeline.len().min(LONGEST_NAME - "rag_".len() - end.len());
    while !pipeline.is_char_boundary(length) {
        length -= 1;
    }
    format!("rag_{}{end}", &pipeline[..length])
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

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;

    #[pg_extern]
    fn names_are_those_of_the_pipeline() {
        assert_eq!(trigger_name("docs", 1, "insert"), "rag_docs_insert");
        assert_eq!(trigger_name("docs", 2, "update"), "rag_docs_2_update");
        let long = trigger_name(&"é".repeat(31), 12, "truncate");
        assert_eq!(long, format!("rag_{}_12_truncate", "é".repeat(23)));
        assert!(long.len() <= LONGEST_NAME);
    }
}
