//! `rag.capture`, the trigger function of source tables.
//!
//! It runs for whoever changes the table and works as the table's owner, as index
//! maintenance does: an application role needs no right on the chunks, and what the owner
//! may not do, nobody can have done for him. Names are looked up in pg_catalog only.

use pgrx::heap_tuple::PgHeapTuple;
use pgrx::prelude::*;
use pgrx::{AllocatedByPostgres, PgTrigger};

use super::catalog::pipeline::{self, Pipeline};
use super::catalog::source::check_row_security;
use super::catalog::view::{self, Column, ContentColumns};
use super::error::OrReport;
use super::ingest;
use super::sql::{self, render};
use crate::error::{self, Error, ErrorKind};

#[pg_trigger(sql = false)]
fn rag_capture<'a>(
    trigger: &'a PgTrigger<'a>,
) -> Result<Option<PgHeapTuple<'a, AllocatedByPostgres>>, std::convert::Infallible> {
    capture(trigger).or_report();
    Ok(None)
}

fn capture(trigger: &PgTrigger<'_>) -> error::Result<()> {
    let source = trigger_source(trigger)?;
    let id = trigger_argument(trigger)?;
    let owner = table_owner(source);
    let _acting = Acting::as_role(owner);
    let Some(pipeline) = pipeline::by_id(id)? else { return Ok(()) };
    if pipeline.source.oid != source {
        return Err(Error::new(
            ErrorKind::WrongObjectType,
            format!("pipeline \"{}\" does not belong to this table", pipeline.name),
        ));
    }
    Change { pipeline: &pipeline, columns: view::content_columns(&pipeline)? }.apply(trigger)
}

fn trigger_source(trigger: &PgTrigger<'_>) -> error::Result<pg_sys::Oid> {
    trigger.relid().map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
}

fn trigger_argument(trigger: &PgTrigger<'_>) -> error::Result<i32> {
    let arguments = trigger.extra_args().unwrap_or_default();
    arguments.first().and_then(|id| id.parse().ok()).ok_or_else(|| {
        Error::invalid("trigger function rag.capture wants the ID of a pipeline")
            .hint("rag_create_pipeline makes these triggers.")
    })
}

/// A statement's change of a source table.
struct Change<'a> {
    pipeline: &'a Pipeline,
    columns: ContentColumns,
}

impl Change<'_> {
    fn apply(&self, trigger: &PgTrigger<'_>) -> error::Result<()> {
        let event = trigger.event();
        if event.fired_by_truncate() {
            return self.forget_all();
        }
        check_row_security(self.pipeline.source.oid)?;
        let _tables = sql::TransitionTables::of(trigger.trigger_data());
        if event.fired_by_insert() {
            return ingest::refresh(self.pipeline, &self.documents_new());
        }
        self.forget_gone()?;
        match event.fired_by_update() {
            true => ingest::refresh(self.pipeline, &self.documents_changed()?),
            false => Ok(()),
        }
    }

    fn forget_all(&self) -> error::Result<()> {
        let statement = render(
            include_str!("../../sql/query/chunks_forget_all.sql"),
            &[("chunk_table", &self.pipeline.chunk_table.sql)],
        );
        sql::execute(&statement, &[]).map(drop)
    }

    fn forget_gone(&self) -> error::Result<()> {
        let source_keys = view::source_keys(self.pipeline);
        let pairs = || self.columns.keys.iter().zip(&source_keys);
        let chunk_match = pairs().map(|(key, _)| format!("c.{0} = gone.{0}", key.name));
        let source_match = pairs().map(|(key, source)| format!("s.{source} = gone.{}", key.name));
        let statement = render(
            include_str!("../../sql/query/chunks_forget_gone.sql"),
            &[
                ("chunk_table", &self.pipeline.chunk_table.sql),
                ("source", &self.pipeline.source.sql),
                ("old_keys", &prefixed(&source_keys, "o.")),
                ("key_names", &self.key_names("")),
                ("chunk_match", &chunk_match.collect::<Vec<_>>().join(" AND ")),
                ("source_match", &source_match.collect::<Vec<_>>().join(" AND ")),
            ],
        );
        sql::execute(&statement, &[]).map(drop)
    }

    fn documents_new(&self) -> String {
        render(
            include_str!("../../sql/query/documents_new.sql"),
            &[
                ("keys", &self.key_texts()),
                ("content_view", &self.pipeline.content_view.sql),
                ("view_keys", &self.key_names("v.")),
                ("new_keys", &prefixed(&view::source_keys(self.pipeline), "n.")),
            ],
        )
    }

    fn documents_changed(&self) -> error::Result<String> {
        let source_keys = view::source_keys(self.pipeline);
        let key_match = source_keys.iter().map(|key| format!("n.{key} = o.{key}"));
        let (old, new) = match view::source_dependencies(self.pipeline)? {
            Some(columns) => (prefixed(&columns, "o."), prefixed(&columns, "n.")),
            None => ("o.*".to_owned(), "n.*".to_owned()),
        };
        Ok(render(
            include_str!("../../sql/query/documents_changed.sql"),
            &[
                ("keys", &self.key_texts()),
                ("content_view", &self.pipeline.content_view.sql),
                ("view_keys", &self.key_names("v.")),
                ("new_keys", &prefixed(&source_keys, "n.")),
                ("key_match", &key_match.collect::<Vec<_>>().join(" AND ")),
                ("old_columns", &old),
                ("new_columns", &new),
            ],
        ))
    }

    fn key_names(&self, prefix: &str) -> String {
        let name = |Column { name, .. }: &Column| format!("{prefix}{name}");
        self.columns.keys.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    fn key_texts(&self) -> String {
        let text = |Column { name, .. }: &Column| format!("v.{name}::text");
        self.columns.keys.iter().map(text).collect::<Vec<_>>().join(", ")
    }
}

fn prefixed(names: &[String], prefix: &str) -> String {
    names.iter().map(|name| format!("{prefix}{name}")).collect::<Vec<_>>().join(", ")
}

fn table_owner(table: pg_sys::Oid) -> pg_sys::Oid {
    let relation = unsafe {
        // SAFETY: the trigger's caller holds a lock on its table.
        pgrx::PgRelation::with_lock(table, pg_sys::NoLock as pg_sys::LOCKMODE)
    };
    // SAFETY: rd_rel of an open relation is valid.
    unsafe { (*relation.rd_rel).relowner }
}

/// While it lives, the session acts as another role, with pg_catalog as its search path.
struct Acting {
    role: pg_sys::Oid,
    context: i32,
    settings: i32,
}

impl Acting {
    fn as_role(role: pg_sys::Oid) -> Self {
        let mut before = Acting { role: pg_sys::InvalidOid, context: 0, settings: 0 };
        // SAFETY: what index maintenance and REFRESH MATERIALIZED VIEW do; undone in Drop, or
        // by the transaction's abort.
        unsafe {
            pg_sys::GetUserIdAndSecContext(&mut before.role, &mut before.context);
            let restricted = (pg_sys::SECURITY_LOCAL_USERID_CHANGE
                | pg_sys::SECURITY_RESTRICTED_OPERATION) as i32;
            pg_sys::SetUserIdAndSecContext(role, before.context | restricted);
            before.settings = pg_sys::NewGUCNestLevel();
            pg_sys::set_config_option(
                c"search_path".as_ptr(),
                c"pg_catalog, pg_temp".as_ptr(),
                pg_sys::GucContext::PGC_USERSET,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_SAVE,
                true,
                0,
                false,
            );
        }
        before
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        // While an error unwinds, the abort of the (sub)transaction puts both back.
        if !std::thread::panicking() {
            // SAFETY: the values as_role took.
            unsafe {
                pg_sys::AtEOXact_GUC(false, self.settings);
                pg_sys::SetUserIdAndSecContext(self.role, self.context);
            }
        }
    }
}
