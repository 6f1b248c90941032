//! What sessions left in `rag.intake` becomes rows of the queue.

use super::chunk_store::SqlStore;
use super::queue::ChangeOrigin;
use super::{fill, queue};
use crate::error::Result;
use crate::pg::catalog::locking::{self, Chunks};
use crate::pg::catalog::owner::{as_owner, as_owner_of_all};
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::changes::keys::SourceKey;
use crate::pg::server::error::spi_failed;
use crate::pg::server::sql;
use crate::pg::server::transaction::{Outcome, Transactions};

/// Keys read at a time where rows have to be looked for.
const KEYS_AT_A_TIME: i64 = 1000;

/// Rows without a key that are looked at to list what there is of their keys.
const MOST_KEYLESS: i64 = 1000;

/// Turns what sessions left about a pipeline into rows of the queue.
pub fn drain(transactions: Transactions, id: i32) -> Outcome<()> {
    locking::at_work(transactions, id, Chunks::Read, |pipeline| {
        let changes = queue::drain(id)?;
        // Of one that is gone nothing is left to do.
        let Some(pipeline) = pipeline else { return Ok(()) };
        if !changes.keys.is_empty() {
            queue::add(id, pipeline.key_columns, &changes.keys, &changes, ChangeOrigin::Changed)?;
        }
        if let Some(time) = changes.all_asked_at {
            pipeline::set_fill_from(id, time)?;
        }
        let is_about_any = changes.has_missing || changes.all_asked_at.is_some();
        if changes.has_gone || is_about_any {
            as_owner_of_all(pipeline, || fill::forget_gone(pipeline))?;
        }
        if changes.has_gone || is_about_any || changes.has_keyless {
            list_keyless(pipeline)?;
        }
        if changes.all_asked_at.is_some() {
            add_found(pipeline, &changes, |store| store.all_keys())?;
        } else if changes.has_missing {
            add_found(pipeline, &changes, |store| store.missing_keys())?;
        }
        Ok(())
    })
}

/// Lists the rows without a key among those that were given up, and takes off those that have gone, or have one now.
fn list_keyless(pipeline: &Pipeline) -> Result<()> {
    let find = || SqlStore::of(pipeline)?.keyless(MOST_KEYLESS);
    let found = as_owner_of_all(pipeline, find)?;
    queue::list_keyless(pipeline.id, pipeline.key_columns, &found)
}

/// Queues the rows that `query` finds. They are read as the owner, the queue is not the owner's.
fn add_found(
    pipeline: &Pipeline,
    changes: &queue::DrainedChanges,
    query: impl Fn(&SqlStore<'_>) -> String,
) -> Result<()> {
    let query = as_owner(pipeline, || SqlStore::of(pipeline).map(|store| query(&store)))?;
    sql::connect(&query, |client| {
        let mut cursor =
            as_owner(pipeline, || client.try_open_cursor_mut(&query, &[]).map_err(spi_failed))?;
        loop {
            let keys = as_owner_of_all(pipeline, || {
                let rows = cursor.fetch(KEYS_AT_A_TIME).map_err(spi_failed)?;
                let keys = rows.into_iter().map(|row| sql::required(row.get::<SourceKey>(1)?));
                keys.collect::<Result<Vec<SourceKey>, _>>().map_err(spi_failed)
            })?;
            if keys.is_empty() {
                return Ok(());
            }
            queue::add(pipeline.id, pipeline.key_columns, &keys, changes, ChangeOrigin::AmongAll)?;
        }
    })
}
