//! `rag.queue`: what is to be embedded, which process has it in hand, and what came of it.
//!
//! To be used as the superuser. A row is leased, not locked, while a model works on it; so no
//! transaction is open meanwhile, and a worker that dies loses nothing but time. Code that locks
//! several rows does so in the order of their keys.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use pgrx::prelude::*;

use crate::error::{ErrorKind, Result};
use crate::pg::catalog::activity::{Reason, note_failure};
use crate::pg::catalog::pipeline;
use crate::pg::changes::intake::{self, ChangeKind};
use crate::pg::changes::keys::{KnownKey, SourceKey};
use crate::pg::server::error::sqlstate_text;
use crate::pg::server::role::LocalSettings;
use crate::pg::server::sql::query;
use crate::pg::server::{random, sql, time_limit};

/// What is said of rows without a key.
const NO_KEY: &str = "a column of the key is NULL, and a pipeline knows rows by it";

/// Rows of `rag.intake` that are taken at once.
const MOST_DRAINED: i64 = 100;

/// Seconds that a batch is leased for at least; one that takes longer has its lease renewed, but not
/// while code of a user runs.
const LEASE_SECONDS: f64 = 60.0;
/// Seconds of a lease after which it is renewed.
pub const RENEW_AFTER: f64 = LEASE_SECONDS / 3.0;

/// What sessions have left, of one pipeline.
#[derive(Default)]
pub struct DrainedChanges {
    /// Keys of changed rows.
    pub keys: Vec<SourceKey>,
    /// When a session asked for all rows.
    pub all_asked_at: Option<TimestampWithTimeZone>,
    /// Whether rows have come, it is not known which.
    pub has_missing: bool,
    /// Whether rows have gone, it is not known which.
    pub has_gone: bool,
    /// Whether rows without a key have come, changed or gone.
    pub has_keyless: bool,
    queued_at: Option<TimestampWithTimeZone>,
}

/// A pipeline, but for `others`, about which sessions have left something, if it can be seen to now.
pub fn changed(only: Option<i32>, others: &[i32]) -> Result<Option<i32>> {
    let statement = query!(queue.changed);
    let arguments = [only.into(), others.to_vec().into()];
    let found = sql::changed_rows(statement, &arguments, |row| sql::required(row.get(1)?))?;
    Ok(found.into_iter().next())
}

/// Whether another process has in hand what sessions have left about a pipeline or its successor;
/// asked where [`changed`] finds nothing.
pub fn is_changed_elsewhere(pipeline: i32) -> Result<bool> {
    let statement = query!(queue.changed_elsewhere);
    let found = sql::rows(statement, &[pipeline.into()], |row| sql::required(row.get(1)?))?;
    Ok(found.contains(&true))
}

/// Takes what sessions have left about a pipeline, a part of it at a time.
pub fn drain(pipeline: i32) -> Result<DrainedChanges> {
    let statement = query!(queue.drain);
    let rows = sql::changed_rows(statement, &[pipeline.into(), MOST_DRAINED.into()], |row| {
        Ok((
            sql::required(row.get::<String>(1)?)?,
            sql::required(row.get::<Vec<String>>(2)?)?,
            sql::required(row.get::<TimestampWithTimeZone>(3)?)?,
        ))
    })?;
    let mut changes = DrainedChanges::default();
    for (kind, keys, queued_at) in rows {
        changes.queued_at = changes.queued_at.into_iter().chain([queued_at]).min();
        match ChangeKind::from_name(&kind) {
            Some(ChangeKind::All) => changes.all_asked_at = Some(queued_at),
            Some(ChangeKind::Missing) => changes.has_missing = true,
            Some(ChangeKind::Gone) => changes.has_gone = true,
            Some(ChangeKind::Keyless) => changes.has_keyless = true,
            // How many columns a key has is known to the code that adds them.
            Some(ChangeKind::Keys) | None => changes.keys.push(keys),
        }
    }
    Ok(changes)
}

/// How it is known that rows are to be embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOrigin {
    /// Triggers noted that they have changed.
    Changed,
    /// All were looked through. They go behind those that have changed.
    AmongAll,
}

/// Adds rows, or notes that they have changed again. `parts` are lists of key columns, row after
/// row, of `columns` each.
pub fn add(
    pipeline: i32,
    columns: usize,
    parts: &[SourceKey],
    changes: &DrainedChanges,
    found: ChangeOrigin,
) -> Result<()> {
    let parts: Vec<&str> = parts.iter().flatten().map(String::as_str).collect();
    let statement = query!(queue.add);
    let is_fill = found == ChangeOrigin::AmongAll;
    let (columns, queued_at) = (columns as i64, changes.queued_at);
    let arguments =
        [pipeline.into(), parts.into(), columns.into(), queued_at.into(), is_fill.into()];
    by_index(|| sql::execute(statement, &arguments)).map(drop)
}

/// Has `rag.dead_letter` list the rows without a key, `keys` of `columns` each, and no others without one.
pub fn list_keyless(pipeline: i32, columns: usize, keys: &[KnownKey]) -> Result<()> {
    let parts: Vec<Option<&str>> = keys.iter().flatten().map(Option::as_deref).collect();
    let sqlstate = sqlstate_text(ErrorKind::NullNotAllowed);
    let reason = Reason { sqlstate: &sqlstate, message: NO_KEY };
    let arguments = [
        pipeline.into(),
        parts.into(),
        (columns as i64).into(),
        reason.sqlstate.into(),
        reason.message.into(),
    ];
    match sql::execute(query!(queue.list_keyless), &arguments)? {
        0 => Ok(()),
        new => note_failure(pipeline, new as i64, &reason),
    }
}

/// A row that this worker has in hand.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// The key of the row.
    pub key: SourceKey,
    /// The change of it that is seen to.
    pub change: i64,
    /// How often it has failed.
    pub attempts: i32,
    /// The number of the lease under which it is in hand.
    pub lease: i64,
    /// Whether it was found when all rows were looked through.
    pub is_fill: bool,
    /// In whose hand it was, if that process has gone.
    before: Option<i64>,
}

impl Claimed {
    /// Whether a process has gone that had this row in hand, and no other one.
    pub fn was_left_alone(&self) -> bool {
        self.before.is_some_and(|lease| lease & 1 == 1)
    }
}

/// Something to do of a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workable {
    /// ID of the pipeline.
    pub pipeline: i32,
    /// The OID of its source's owner.
    pub owner: u32,
    /// Whether it is new, and not what has failed before.
    pub is_new: bool,
}

/// Pipelines with something to do; only `pipeline` if it is given.
pub fn workable(pipeline: Option<i32>) -> Result<Vec<Workable>> {
    let statement = query!(queue.workable);
    by_index(|| {
        sql::rows(statement, &[pipeline.into()], |row| {
            let owner: pg_sys::Oid = sql::required(row.get(2)?)?;
            Ok(Workable {
                pipeline: sql::required(row.get(1)?)?,
                owner: owner.to_u32(),
                is_new: sql::required(row.get(3)?)?,
            })
        })
    })
}

/// What is workable of pipelines of which no other process has rows in hand.
pub fn workable_apart(pipeline: Option<i32>) -> Result<Vec<Workable>> {
    let statement = query!(queue.in_hand);
    let process = i64::from(std::process::id());
    let others: HashSet<i32> =
        by_index(|| sql::rows(statement, &[process.into()], |row| sql::required(row.get(1)?)))?
            .into_iter()
            .collect();
    Ok(workable(pipeline)?.into_iter().filter(|it| !others.contains(&it.pipeline)).collect())
}

/// Seconds until something can be done that can't be done now.
pub fn next_time() -> Result<Option<f64>> {
    let statement = query!(queue.next_time);
    Ok(sql::rows(statement, &[], |row| row.get(1))?.into_iter().next().flatten())
}

/// A new lease, an even number. It begins with the process ID, so that others see when its holder has
/// gone.
pub fn new_lease() -> Result<i64> {
    Ok(i64::from(std::process::id()) << 32 | random::number()? & 0xffff_fffe)
}

/// How long a lease is.
fn lease_seconds() -> f64 {
    LEASE_SECONDS.max(time_limit::longest().as_secs_f64() + LEASE_SECONDS / 2.0)
}

/// Which rows of a pipeline are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimFilter {
    /// New ones, those that have changed first.
    New,
    /// New ones that were found when all rows were looked through.
    Fill,
    /// Rows that have failed before.
    Failed,
}

/// Takes up to `most` rows in hand, or one that was in the hand of a process that has gone.
pub fn claim(pipeline: i32, most: i64, lease: i64, wanted: ClaimFilter) -> Result<Vec<Claimed>> {
    let statement = query!(queue.claim);
    let arguments = [
        pipeline.into(),
        most.into(),
        lease.into(),
        lease_seconds().into(),
        (wanted == ClaimFilter::Failed).into(),
        (wanted == ClaimFilter::Fill).into(),
    ];
    by_index(|| {
        sql::changed_rows(statement, &arguments, |row| {
            Ok(Claimed {
                key: sql::required(row.get(1)?)?,
                change: sql::required(row.get(2)?)?,
                attempts: sql::required(row.get(3)?)?,
                lease: sql::required(row.get(4)?)?,
                is_fill: sql::required(row.get(5)?)?,
                before: row.get(6)?,
            })
        })
    })
}

/// The keys that are still in hand, locked until the end of the transaction, each with its last change that is queued.
pub fn owned(pipeline: i32, lease: i64) -> Result<HashMap<SourceKey, i64>> {
    let statement = query!(queue.owned);
    let keys = by_index(|| {
        sql::changed_rows(statement, &[pipeline.into(), lease.into()], |row| {
            let key = sql::required(row.get::<SourceKey>(1)?)?;
            Ok((key, sql::required(row.get::<i64>(2)?)?))
        })
    })?;
    Ok(keys.into_iter().collect())
}

/// Keys, of `columns` columns each, of rows whose changes have been committed and are not queued yet.
pub fn noted(pipeline: i32, columns: usize) -> Result<HashSet<SourceKey>> {
    let statement = query!(queue.noted);
    let lists: Vec<Vec<String>> =
        sql::rows(statement, &[pipeline.into()], |row| sql::required(row.get(1)?))?;
    Ok(lists.iter().flat_map(|keys| keys.chunks(columns)).map(<[String]>::to_vec).collect())
}

/// Keeps what is in hand for longer.
pub fn renew(pipeline: i32, lease: i64) -> Result<()> {
    let statement = query!(queue.renew);
    let arguments = [pipeline.into(), lease.into(), lease_seconds().into()];
    by_index(|| sql::execute(statement, &arguments)).map(drop)
}

/// These are done; those that have changed meanwhile stay in the queue.
pub fn done(pipeline: i32, lease: i64, rows: &[&Claimed]) -> Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let parts: Vec<&str> = rows.iter().flat_map(|row| &row.key).map(String::as_str).collect();
    let changes: Vec<i64> = rows.iter().map(|row| row.change).collect();
    let statement = query!(queue.done);
    let columns = first.key.len() as i64;
    let arguments = [pipeline.into(), lease.into(), parts.into(), columns.into(), changes.into()];
    by_index(|| sql::execute(statement, &arguments)).map(drop)
}

/// Gives back what is in hand, through no fault of the rows.
pub fn release(pipeline: i32, lease: i64) -> Result<()> {
    let statement = query!(queue.release);
    by_index(|| sql::execute(statement, &[pipeline.into(), lease.into()])).map(drop)
}

/// Gives back what is in hand, to be tried row by row: some of it fails, it is not known which.
pub fn set_apart(pipeline: i32, lease: i64, reason: &Reason<'_>) -> Result<()> {
    // First the pipeline, then its queue.
    if pipeline::hold(pipeline)?.is_none() {
        return Ok(());
    }
    let statement = query!(queue.set_apart);
    by_index(|| sql::execute(statement, &[pipeline.into(), lease.into()]))?;
    note_failure(pipeline, 0, reason)
}

/// Leaves a pipeline alone for so long.
pub fn postpone(pipeline: i32, pause: Duration) -> Result<()> {
    let statement = query!(queue.postpone);
    sql::execute(statement, &[pipeline.into(), pause.as_secs_f64().into()]).map(drop)
}

/// A row has failed: it is tried again after `pause`, or, if `None`, given up. What it has changed into
/// meanwhile is tried at once.
pub fn fail(
    pipeline: i32,
    lease: i64,
    row: &Claimed,
    reason: &Reason<'_>,
    pause: Option<Duration>,
) -> Result<()> {
    let key = row.key.clone();
    let mut arguments = vec![
        pipeline.into(),
        key.into(),
        lease.into(),
        reason.sqlstate.into(),
        reason.message.into(),
        row.change.into(),
    ];
    let statement = match pause {
        Some(_) => query!(queue.fail),
        None => query!(queue.bury),
    };
    arguments.extend(pause.map(|pause| pause.as_secs_f64().into()));
    // Locked, so that it does not change from here on.
    owned(pipeline, lease)?;
    let touched = sql::execute(statement, &arguments)?;
    note_failure(pipeline, i64::from(pause.is_none() && touched > 0), reason)
}

/// The queue grows and shrinks faster than its statistics do; its indexes always serve.
fn by_index<R>(work: impl FnOnce() -> R) -> R {
    let mut settings = LocalSettings::new();
    settings.set(c"enable_seqscan", c"off");
    work()
}

/// Whether something that changed before `time` can't be found yet.
pub fn is_pending(pipeline: i32, time: TimestampWithTimeZone) -> Result<bool> {
    let statement = query!(queue.pending);
    let found = sql::rows(statement, &[pipeline.into(), time.into()], |row| {
        sql::required(row.get::<bool>(1)?)
    })?;
    Ok(found.contains(&true))
}

/// Whether workers have rows of a pipeline to see to, or in hand.
pub fn has_any(pipeline: i32) -> Result<bool> {
    let statement = query!(queue.any);
    let read = || sql::rows(statement, &[pipeline.into()], |row| sql::required(row.get(1)?));
    let found: Vec<bool> = sql::with_latest_snapshot(|| by_index(read))?;
    Ok(found.contains(&true))
}

/// Queues rows again that were given up, and has those that wait for another attempt wait no more;
/// how many. All of the pipeline's, or the one with this key.
pub fn retry(pipeline: i32, key: Option<SourceKey>) -> Result<i64> {
    // Before those that were given up, as workers do.
    let lock = query!(queue.lock_failed);
    sql::execute(lock, &[pipeline.into(), key.clone().into()])?;
    let statement = query!(queue.retry);
    let found = sql::changed_rows(statement, &[pipeline.into(), key.into()], |row| {
        Ok((sql::required(row.get::<i64>(1)?)?, sql::required(row.get::<bool>(2)?)?))
    })?;
    let (count, has_keyless) = found.into_iter().next().unwrap_or_default();
    if has_keyless {
        intake::leave(pipeline, ChangeKind::Keyless)?;
    }
    Ok(count)
}
