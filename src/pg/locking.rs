//! Locks of a pipeline and its relations, for whoever works on it or drops it.
//!
//! A question locks the view, the chunks and then the source; a statement in mode sync locks the
//! source first and the chunks after it; who drops a table locks that first, and the row of the
//! pipeline in the end. Whatever order is chosen here, it is the wrong one for somebody. So nobody is
//! waited for longer than a moment while other locks are held: they are given back, and all of it
//! is tried again.

use std::time::Instant;

use pgrx::prelude::*;

use super::acting::{Settings, as_superuser};
use super::catalog::pipeline::{self, Pipeline, Relation};
use super::error::raise;
use super::sql;
use super::transaction::{Outcome, Transactions, in_subtransaction};
use crate::error::Result;

/// Does `work` in a transaction of its own in which the pipeline stays as it is, and so do its
/// relations. It is given none where the pipeline has been dropped, or another one has taken its place.
pub fn at_work<T>(
    transactions: Transactions,
    id: i32,
    mut work: impl FnMut(Option<&Pipeline>) -> Result<T>,
) -> Outcome<T> {
    loop {
        let outcome = transactions.run(|| {
            as_superuser(|| {
                let Some(pipeline) = pipeline::by_id(id)? else { return work(None) };
                share(&pipeline);
                work(pipeline::hold_now(id)?.as_ref())
            })
        });
        match outcome {
            // Who drops it needs its relations: so it is waited for without them.
            Err(failure) if failure.is_lock_taken() => {
                transactions.run(|| as_superuser(|| pipeline::hold(id)))?;
            }
            outcome => return outcome,
        }
    }
}

/// Waits until nobody drops the relations of a pipeline, and keeps them.
fn share(pipeline: &Pipeline) {
    let Pipeline { source, content_view, chunk_table, .. } = pipeline;
    for relation in [source, content_view, chunk_table] {
        // SAFETY: a lock of a number, held by the transaction; the relation may be gone.
        unsafe {
            pg_sys::LockRelationOid(relation.oid, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        }
    }
}

/// Locks all relations of `pipelines`, each with `others` of its own, their source and its partitions
/// against everybody, until the end of the transaction. Waits as long as `lock_timeout` allows.
pub fn lock_for_drop(pipelines: &[(Pipeline, Vec<Relation>)]) -> Result<()> {
    let mut relations = Vec::new();
    for (pipeline, others) in pipelines {
        let Pipeline { view, content_view, chunk_table, source, .. } = pipeline;
        let own = [view, content_view, chunk_table, source].into_iter().chain(others);
        relations.extend(own.map(|relation| relation.oid));
        let partitions = include_str!("../../sql/query/partition_tree.sql");
        relations.extend(sql::rows(partitions, &[source.oid.into()], |row| {
            sql::required(row.get::<pg_sys::Oid>(1)?)
        })?);
    }
    let begun = Instant::now();
    loop {
        let Err(failure) = in_subtransaction(|| lock_at_once(&relations)) else {
            return Ok(());
        };
        // SAFETY: a setting of this session, in milliseconds; 0 is no limit.
        let limit = unsafe { pg_sys::LockTimeout };
        let is_over = limit > 0 && begun.elapsed().as_millis() >= limit as u128;
        if is_over || !failure.is_lock_taken() {
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
