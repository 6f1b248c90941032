//! The triggers on a pipeline's source that call `rag.capture`.

use std::cell::Cell;

use super::acting::Settings;
use super::catalog::pipeline::{Mode, Pipeline};
use super::catalog::view;
use super::create::drop_if_there;
use super::sql::{self, render};
use crate::error::Result;

/// The triggers of every pipeline, for each row but for the last.
const TRIGGERS: [(&str, &str); 4] = [
    ("insert", include_str!("../../sql/query/create_trigger_insert.sql")),
    ("update", include_str!("../../sql/query/create_trigger_update.sql")),
    ("delete", include_str!("../../sql/query/create_trigger_delete.sql")),
    ("truncate", include_str!("../../sql/query/create_trigger_truncate.sql")),
];

/// The one at the end of each statement, in mode sync.
const STATEMENT: (&str, &str) =
    ("statement", include_str!("../../sql/query/create_trigger_statement.sql"));

thread_local! {
    static ARE_BEING_MADE: Cell<bool> = const { Cell::new(false) };
}

/// Until it is dropped, also by an error.
struct BeingMade;

impl Drop for BeingMade {
    fn drop(&mut self) {
        ARE_BEING_MADE.set(false);
    }
}

/// Whether the ALTER TABLE under way is one of [`create`], and brings no rows.
pub fn are_being_made() -> bool {
    ARE_BEING_MADE.get()
}

/// Makes them all.
pub fn create(pipeline: &Pipeline) -> Result<()> {
    ARE_BEING_MADE.set(true);
    let _end = BeingMade;
    let (old, new) = match view::source_dependencies(pipeline)? {
        Some(columns) => (prefixed(&columns, "OLD."), prefixed(&columns, "NEW.")),
        None => ("OLD.*".to_owned(), "NEW.*".to_owned()),
    };
    for (event, template) in TRIGGERS {
        let trigger = trigger_name(pipeline.id, event);
        let id = pipeline.id.to_string();
        let values = [
            ("trigger", trigger.as_str()),
            ("source", &pipeline.source.sql),
            ("id", &id),
            ("old_columns", &old),
            ("new_columns", &new),
        ];
        sql::execute(&render(template, &values), &[])?;
        let always = include_str!("../../sql/query/enable_trigger_always.sql");
        sql::execute(&render(always, &values), &[])?;
    }
    match pipeline.mode {
        Mode::Sync => create_for_statement(pipeline),
        Mode::Async | Mode::Manual => Ok(()),
    }
}

fn prefixed(names: &[String], prefix: &str) -> String {
    names.iter().map(|name| format!("{prefix}{name}")).collect::<Vec<_>>().join(", ")
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

/// Takes back [`create_for_statement`].
pub fn drop_for_statement(pipeline: &Pipeline) -> Result<()> {
    drop_one(pipeline, STATEMENT.0)
}

fn drop_one(pipeline: &Pipeline, event: &str) -> Result<()> {
    let trigger = trigger_name(pipeline.id, event);
    let template = include_str!("../../sql/query/drop_trigger.sql");
    let values = [("trigger", trigger.as_str()), ("source", &pipeline.source.sql)];
    // No word about one that was never made.
    let mut settings = Settings::new();
    settings.set(c"client_min_messages", c"warning");
    drop_if_there(template, &pipeline.source, &values)
}

/// Drops those that are there.
pub fn drop_all(pipeline: &Pipeline) -> Result<()> {
    TRIGGERS.iter().chain([&STATEMENT]).try_for_each(|(event, _)| drop_one(pipeline, event))
}

fn trigger_name(id: i32, event: &str) -> String {
    format!("rag_{id}_{event}")
}
