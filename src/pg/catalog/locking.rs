//! Locks of a pipeline and its relations, for code that works on it or drops it.
//!
//! A question locks the view, the chunks and then the source; a statement with synchronous refresh locks the
//! source first and the chunks after it; DROP TABLE locks the table first, and the row of the
//! pipeline in the end. Whatever order is chosen here, it is the wrong one for one of them. So no
//! other session is waited for longer than a moment while other locks are held: they are given
//! back, and all of it is tried again.

use std::time::{Duration, Instant};

use pgrx::prelude::*;

use super::pipeline::{self, Pipeline, Relation};
use crate::error::Result;
use crate::pg::server::error::raise;
use crate::pg::server::role::{LocalSettings, as_superuser};
use crate::pg::server::sql::{self, query};
use crate::pg::server::transaction::{Outcome, Transactions, in_subtransaction};

/// Between two attempts to lock all that is dropped.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);
/// Between two looks whether the statement is cancelled.
const LOOK_AROUND: Duration = Duration::from_millis(20);

/// What another session has locked.
enum LockTaken {
    /// The relation, and the lock on it that is wanted.
    Relation(pg_sys::Oid, pg_sys::LOCKMODE),
    Row,
}

/// What is done with the chunks.
#[derive(Clone, Copy)]
pub enum Chunks {
    /// The chunks may be read.
    Read,
    /// The chunks are written.
    Written,
}

/// Does `work` in a transaction of its own in which the pipeline stays as it is, and so do its
/// relations. `work` gets `None` where the pipeline has been dropped, or another one has taken its
/// place.
///
/// A session that drops the pipeline is waited for without any lock. In a worker that is an error
/// that passes where it takes long.
pub fn at_work<T>(
    transactions: Transactions,
    id: i32,
    chunks: Chunks,
    mut work: impl FnMut(Option<&Pipeline>) -> Result<T>,
) -> Outcome<T> {
    loop {
        let outcome = transactions.run(|| {
            as_superuser(|| {
                let Some(pipeline) = pipeline::by_id(id)? else { return work(None).map(Ok) };
                if let Some(taken) = share(&pipeline, chunks) {
                    return Ok(Err(taken));
                }
                if pipeline::hold_now(id)? {
                    return work(Some(&pipeline)).map(Ok);
                }
                match pipeline::by_id(id)? {
                    Some(_) => Ok(Err(LockTaken::Row)),
                    None => work(None).map(Ok),
                }
            })
        })?;
        let taken = match outcome {
            Ok(done) => return Ok(done),
            Err(taken) => taken,
        };
        transactions.run(|| match taken {
            LockTaken::Relation(relation, mode) => {
                // SAFETY: a lock of a number, held until the end of this transaction.
                unsafe { pg_sys::LockRelationOid(relation, mode) };
                Ok(())
            }
            LockTaken::Row => as_superuser(|| pipeline::hold(id).map(drop)),
        })?;
    }
}

/// Locks the relations of a pipeline so that they can't be dropped, in the order in which DROP
/// TABLE does; or gives one that another session has locked.
fn share(pipeline: &Pipeline, chunks: Chunks) -> Option<LockTaken> {
    let Pipeline { source, content_view, chunk_table, .. } = pipeline;
    let read = lock_of(Chunks::Read);
    [(source, read), (content_view, read), (chunk_table, lock_of(chunks))]
        .into_iter()
        // SAFETY: a lock of a number, held by the transaction; the relation may be gone.
        .find(|(relation, mode)| !unsafe {
            pg_sys::ConditionalLockRelationOid(relation.oid, *mode)
        })
        .map(|(relation, mode)| LockTaken::Relation(relation.oid, mode))
}

fn lock_of(chunks: Chunks) -> pg_sys::LOCKMODE {
    match chunks {
        Chunks::Read => pg_sys::AccessShareLock as pg_sys::LOCKMODE,
        Chunks::Written => pg_sys::RowExclusiveLock as pg_sys::LOCKMODE,
    }
}

/// Locks all relations of `pipelines`, each with `others` of its own, their source and its
/// partitions against all other sessions, until the end of the transaction. Waits as long as
/// `lock_timeout` allows.
pub fn lock_for_drop(pipelines: &[(Pipeline, Vec<Relation>)]) -> Result<()> {
    let mut relations = Vec::new();
    for (pipeline, others) in pipelines {
        let Pipeline { view, content_view, chunk_table, source, .. } = pipeline;
        let own = [view, content_view, chunk_table, source].into_iter().chain(others);
        relations.extend(own.map(|relation| relation.oid));
        let partitions = query!(relation.partition_tree);
        relations.extend(sql::rows(partitions, &[source.oid.into()], |row| {
            sql::required(row.get::<pg_sys::Oid>(1)?)
        })?);
    }
    let mode = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;
    let wanted: Vec<_> = relations.into_iter().map(|relation| (relation, mode)).collect();
    lock_patiently(&wanted)
}

/// Locks chunks against all that would write to them, and the table beside each that is to be emptied, to which who writes to
/// the chunks writes, too, against all other sessions, until the end of the transaction. The sources and the chunks can be
/// read meanwhile. Waits as long as `lock_timeout` allows, for all of them together.
pub fn lock_for_emptying(emptied: &[(&Relation, Relation)]) -> Result<()> {
    let writers = pg_sys::ShareRowExclusiveLock as pg_sys::LOCKMODE;
    let all = pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE;
    let both =
        |(chunks, emptied): &(&Relation, Relation)| [(chunks.oid, writers), (emptied.oid, all)];
    lock_patiently(&emptied.iter().flat_map(both).collect::<Vec<_>>())
}

/// Locks `chunks` against all that would write to them, until the end of the transaction. They can be read meanwhile. Waits
/// as long as `lock_timeout` allows.
pub fn lock_against_writers(chunks: &Relation) -> Result<()> {
    lock_patiently(&[(chunks.oid, pg_sys::ShareRowExclusiveLock as pg_sys::LOCKMODE)])
}

/// Locks relations, and gives them all back for a moment as long as another session has one of them.
fn lock_patiently(wanted: &[(pg_sys::Oid, pg_sys::LOCKMODE)]) -> Result<()> {
    let (begun, mut pause) = (Instant::now(), FIRST_PAUSE);
    loop {
        let Err(failure) = in_subtransaction(|| lock_at_once(wanted)) else {
            return Ok(());
        };
        // SAFETY: a setting of this session, in milliseconds; 0 is no limit.
        let limit = unsafe { pg_sys::LockTimeout };
        let is_over = limit > 0 && begun.elapsed().as_millis() >= limit as u128;
        if is_over || !(failure.is_lock_taken() || failure.is_deadlock()) {
            raise(&failure);
        }
        // Sessions that were behind this one come first.
        wait(pause);
        pause = (2 * pause).min(LONGEST_PAUSE);
    }
}

/// Locks relations as COMMENT does, until the end of the transaction, if others leave them soon; whether
/// that is so.
pub fn lock_for_comments(relations: &[pg_sys::Oid]) -> Result<bool> {
    let mode = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;
    let wanted: Vec<_> = relations.iter().map(|relation| (*relation, mode)).collect();
    match in_subtransaction(|| lock_at_once(&wanted)) {
        Ok(()) => Ok(true),
        Err(failure) if failure.is_lock_taken() || failure.is_deadlock() => Ok(false),
        Err(failure) => raise(&failure),
    }
}

/// Locks a source and its partitions for readers, as far as that needs no waiting; whether that was
/// all of them.
pub fn read_at_once(source: pg_sys::Oid) -> Result<bool> {
    let partitions = query!(relation.partition_tree);
    let relations =
        sql::rows(partitions, &[source.into()], |row| sql::required(row.get::<pg_sys::Oid>(1)?))?;
    let mode = lock_of(Chunks::Read);
    // SAFETY: locks of numbers, held by the transaction; a relation may be gone.
    let locks =
        |relation: &pg_sys::Oid| unsafe { pg_sys::ConditionalLockRelationOid(*relation, mode) };
    Ok(relations.iter().all(locks))
}

fn wait(time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        pgrx::check_for_interrupts!();
        std::thread::sleep(LOOK_AROUND.min(end.saturating_duration_since(Instant::now())));
    }
}

fn lock_at_once(wanted: &[(pg_sys::Oid, pg_sys::LOCKMODE)]) -> Result<()> {
    let mut settings = LocalSettings::new();
    settings.set(c"lock_timeout", c"200ms");
    // Before others look for deadlocks; and then PostgreSQL ends an autovacuum that is in the way.
    settings.set_as_superuser(c"deadlock_timeout", c"100ms");
    for (relation, mode) in wanted {
        // SAFETY: a lock of a number, held by the transaction; the relation may be gone.
        unsafe { pg_sys::LockRelationOid(*relation, *mode) };
    }
    Ok(())
}
