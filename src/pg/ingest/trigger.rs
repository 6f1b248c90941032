//! `rag.capture`, the trigger function of source tables: which rows have changed?
//!
//! Row triggers note the key of each changed row in memory ([`noted`]). At commit the keys
//! become rows of `rag.intake`, in the same transaction, and a worker is woken. So a change
//! costs its transaction one key's text, is never lost, and is never seen where the
//! transaction rolls back. Pipelines with synchronous refresh have statement triggers too, which do at once
//! what a worker would do later.
//!
//! Row triggers and not transition tables: those keep a copy of each whole row, and don't exist
//! for what logical replication applies or is written into a partition directly.
//!
//! It runs as the role that changes the table. An application role needs no right on the pipeline:
//! what is read and written for it is fixed, and is done as the owner.
//!
//! Where a constraint was dropped, a row may have no key. Nothing could find such a row again, so the statement that
//! writes it fails; but logical replication would stop there, so what it applies is skipped and listed in
//! `rag.dead_letter` (`drain.rs`).

use std::cell::Cell;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;

use super::{fill, queue};
use crate::error::{Error, Result};
use crate::pg::catalog::locking;
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::changes::keys::{self, KeyReader};
use crate::pg::changes::noted;
use crate::pg::pipeline::triggers;
use crate::pg::server::error::OrReport;
use crate::pg::server::role::as_superuser;
use crate::pg::server::transaction::{applies_changes, has_one_snapshot};
use crate::scheduling::changed_keys::KeyBuffer;

#[pg_extern(sql = false)]
fn rag_capture(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: what PostgreSQL calls a function with.
    unsafe { triggers::called_with(fcinfo, "rag.capture") }.and_then(capture).or_report();
}

fn capture(data: &pg_sys::TriggerData) -> Result<()> {
    let id = trigger_argument(data)?;
    let event = data.tg_event;
    let has = |flag| event & pg_sys::TRIGGER_EVENT_OPMASK == flag;
    if event & pg_sys::TRIGGER_EVENT_ROW == 0 {
        return match has(pg_sys::TRIGGER_EVENT_TRUNCATE) {
            true => truncated(data, id),
            false => ingest_noted(data, id),
        };
    }
    // SAFETY: the trigger's caller holds a lock on its table.
    let table = unsafe { &*data.tg_relation };
    let reader = keys::reader(table.rd_id, id)?;
    if !reader.is_known {
        if has_one_snapshot() && !reader.is_stray {
            noted::unknown(id);
        }
        return Ok(());
    }
    let (mut old, mut new) = KEYS.take();
    // SAFETY: the tuples are of that table.
    let had_key = unsafe { reader.read(data.tg_trigtuple, table.rd_att, &mut old) };
    if has(pg_sys::TRIGGER_EVENT_UPDATE) {
        // SAFETY: as above.
        if !unsafe { reader.read(data.tg_newtuple, table.rd_att, &mut new) } {
            // SAFETY: as above.
            unsafe { refuse_or_skip(&reader, id, table, data.tg_newtuple) }?;
        } else if !had_key || old.key() != new.key() {
            noted::key(id, new.key(), reader.wakes);
        }
    } else if !had_key && has(pg_sys::TRIGGER_EVENT_INSERT) {
        // SAFETY: as above.
        unsafe { refuse_or_skip(&reader, id, table, data.tg_trigtuple) }?;
    }
    if had_key {
        noted::key(id, old.key(), reader.wakes);
    } else {
        // The row is listed, and perhaps has a key now, or has gone.
        noted::keyless(id, reader.wakes);
    }
    KEYS.set((old, new));
    Ok(())
}

/// The error for a row without a key that is written. Where a session applies what was written elsewhere, the row is
/// skipped, with a warning for the first one of a transaction.
///
/// # Safety
///
/// As for [`KeyReader::read`]; `table` is open.
unsafe fn refuse_or_skip(
    reader: &KeyReader,
    id: i32,
    table: &pg_sys::RelationData,
    row: pg_sys::HeapTuple,
) -> Result<()> {
    let is_skipped = applies_changes();
    if is_skipped && !noted::keyless(id, reader.wakes) {
        return Ok(());
    }
    // SAFETY: by this function's contract.
    let error = unsafe { reader.no_key(table.rd_id, row, table.rd_att) };
    if !is_skipped {
        return Err(error);
    }
    let code = PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED;
    ErrorReport::new(code, error.message().to_owned(), "pg_rag")
        .set_detail(
            "Such rows are not searched. An error would stop the replication of all others.",
        )
        .set_hint(
            "Give them keys where they come from. rag.dead_letter says whether there are any.",
        )
        .report(PgLogLevel::WARNING);
    Ok(())
}

thread_local! {
    /// Room for the keys of a row, before and after the change.
    static KEYS: Cell<(KeyBuffer, KeyBuffer)> =
        const { Cell::new((KeyBuffer::new(), KeyBuffer::new())) };
}

fn trigger_argument(data: &pg_sys::TriggerData) -> Result<i32> {
    // SAFETY: a trigger has tgnargs arguments, which are C strings.
    let argument = unsafe {
        let trigger = &*data.tg_trigger;
        (trigger.tgnargs > 0).then(|| std::ffi::CStr::from_ptr(*trigger.tgargs))
    };
    argument.and_then(|id| id.to_str().ok()?.parse().ok()).ok_or_else(|| {
        Error::invalid("trigger function rag.capture wants the ID of a pipeline")
            .hint("rag_create_pipeline makes these triggers.")
    })
}

fn truncated(data: &pg_sys::TriggerData, id: i32) -> Result<()> {
    let Some(pipeline) = as_superuser(|| pipeline::by_id(id))? else {
        if has_one_snapshot() {
            noted::gone(id, true);
        }
        return Ok(());
    };
    // One that was a partition holds nothing of the pipeline any more.
    if !keys::belongs(table_of(data), &pipeline)? {
        return Ok(());
    }
    // Two sessions that each hold a partition would wait for each other's: then workers do it. Until
    // then the view of chunks shows none of rows that are gone.
    let forgets = pipeline.refresh == pipeline::RefreshMode::Sync
        && as_superuser(|| locking::read_at_once(pipeline.source.oid))?;
    if forgets {
        as_owner(&pipeline, || fill::forget_gone(&pipeline))?;
    }
    // Of chunks that came after the snapshot nothing is seen here.
    if !forgets || has_one_snapshot() {
        noted::gone(id, pipeline.refresh.has_workers());
    }
    Ok(())
}

/// Embeds the rows that the statement changed: the end of a statement with synchronous refresh.
fn ingest_noted(data: &pg_sys::TriggerData, id: i32) -> Result<()> {
    if !noted::has_keys(id) {
        return Ok(());
    }
    // A trigger of another table's pipeline leaves that one's keys alone.
    let Some(pipeline) = find(data, id)? else { return Ok(()) };
    // A worker that has read such a row before may yet store what it was. And an older snapshot may show
    // the row that had the key before, which has been deleted since.
    let others_are_at_work = has_one_snapshot() || as_superuser(|| queue::has_any(id))?;
    let keys = noted::take(id, others_are_at_work);
    as_owner(&pipeline, || fill::refresh(&pipeline, &keys))
}

/// The pipeline, if it is one of this table or of one that this table is a partition of.
fn find(data: &pg_sys::TriggerData, id: i32) -> Result<Option<Pipeline>> {
    keys::pipeline_of(table_of(data), id)
}

fn table_of(data: &pg_sys::TriggerData) -> pg_sys::Oid {
    // SAFETY: the table of a trigger that fires is open.
    unsafe { (*data.tg_relation).rd_id }
}
