//! Locks of all relations of a pipeline, for whoever drops them.
//!
//! A question locks the view, the chunks and then the source; a statement in mode sync locks the
//! source first and the chunks after it; a worker locks the content view, then the source. Whatever
//! order is chosen here, it is the wrong one for somebody. So nobody is waited for longer than a
//! moment while other locks are held: they are given back, and all of it is tried again.

use std::time::Instant;

use pgrx::prelude::*;

use super::acting::Settings;
use super::catalog::pipeline::{Pipeline, Relation};
use super::error::{code_text, raise};
use super::sql;
use super::transaction::in_subtransaction;
use crate::error::Result;

/// Locks the relations of `pipeline`, its source, the source's partitions and `others` against
/// everybody, until the end of the transaction. Waits as long as `lock_timeout` allows.
pub fn lock_for_drop(pipeline: &Pipeline, others: &[Relation]) -> Result<()> {
    let Pipeline { view, content_view, chunk_table, source, .. } = pipeline;
    let relations = [view, content_view, chunk_table, source].into_iter().chain(others);
    let mut relations: Vec<pg_sys::Oid> = relations.map(|relation| relation.oid).collect();
    let partitions = include_str!("../../sql/query/partition_tree.sql");
    relations.extend(sql::rows(partitions, &[source.oid.into()], |row| {
        sql::required(row.get::<pg_sys::Oid>(1)?)
    })?);
    let begun = Instant::now();
    loop {
        let Err(failure) = in_subtransaction(|| lock_at_once(&relations)) else {
            return Ok(());
        };
        // SAFETY: a setting of this session, in milliseconds; 0 is no limit.
        let limit = unsafe { pg_sys::LockTimeout };
        let is_over = limit > 0 && begun.elapsed().as_millis() >= limit as u128;
        if is_over
            || failure.sqlstate != code_text(PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE as i32)
        {
            raise(&failure);
        }
        pgrx::check_for_interrupts!();
    }
}

fn lock_at_once(relations: &[pg_sys::Oid]) -> Result<()> {
    let mut settings = Settings::new();
    // Before anybody is found to be in a deadlock.
    settings.set(c"lock_timeout", c"200ms");
    let mode = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;
    for relation in relations {
        // SAFETY: a lock of a number, held by the transaction; the relation may be gone.
        unsafe { pg_sys::LockRelationOid(*relation, mode) };
    }
    Ok(())
}
