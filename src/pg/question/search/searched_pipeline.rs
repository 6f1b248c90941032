//! The pipeline that a search reads, while a new generation of its chunks may take its place.
//!
//! The exchange is another transaction's and may be committed at any moment: after the snapshot of
//! the statement that searches was taken, or while a model embeds the question and no lock is held.
//! The row of `rag.pipeline` that was read then names relations that are gone. The search goes on
//! with the generation that is there now, and sees with a new snapshot what that holds. In the same way it
//! goes on where the relations, or their schema, have been renamed.

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::catalog::stranger;
use crate::pg::server::function_owners::SuperusersFunctions;
use crate::pg::server::sql::{self, qualified_name};
use crate::pg::server::transaction::has_one_snapshot;

const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

/// A pipeline that is to be searched.
#[derive(Clone)]
pub struct SearchedPipeline {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// Whether the caller named it.
    pub is_named: bool,
    /// Whether it took the place of the one that the snapshot of the statement shows.
    is_renewed: bool,
}

/// A view of chunks, locked against an exchange as long as this lives.
pub struct LockedView(pg_sys::Oid);

impl SearchedPipeline {
    /// The pipeline as the statement sees it.
    pub fn new(pipeline: Pipeline, is_named: bool) -> Self {
        SearchedPipeline { pipeline, is_named, is_renewed: false }
    }

    /// The pipeline with the generation of chunks that is there now, and the lock that keeps it there.
    ///
    /// Fails as [`renewed`](Self::renewed) does.
    pub fn locked(mut self) -> Result<(Self, LockedView)> {
        loop {
            match self.lock() {
                Some(locked) => return Ok((self, locked)),
                None => self = self.renewed()?,
            }
        }
    }

    /// Locks the view of the chunks; `None` where another generation has taken this one's place, or the names that were
    /// read are no longer those of view and chunks.
    pub fn lock(&self) -> Option<LockedView> {
        let view = self.pipeline.view.oid;
        // SAFETY: a lock of a number, given back by the guard; the relation may be gone. A schema is renamed without a
        // lock of what is in it, so what was changed is learnt without having waited, too.
        let locked = unsafe {
            pg_sys::LockRelationOid(view, LOCK);
            pg_sys::AcceptInvalidationMessages();
            LockedView(view)
        };
        // Another relation may have taken the name since it was read.
        let is_named = |it: &Relation| qualified_name(it.oid).is_some_and(|name| name == it.sql);
        self.relations().into_iter().all(is_named).then_some(locked)
    }

    fn relations(&self) -> [&Relation; 2] {
        [&self.pipeline.view, &self.pipeline.chunk_table]
    }

    /// The generation that has taken this one's place, or this one under the names that it has now.
    ///
    /// Fails where the pipeline was dropped, and in a transaction whose only snapshot is older.
    pub fn renewed(&self) -> Result<Self> {
        let name = &self.pipeline.name;
        if has_one_snapshot() {
            let is_there = self.relations().into_iter().all(|it| qualified_name(it.oid).is_some());
            let message = match is_there {
                true => format!(
                    "the relations of pipeline \"{name}\" have other names than this transaction sees"
                ),
                false => format!(
                    "a new generation of pipeline \"{name}\" took the place of the one that this transaction sees"
                ),
            };
            return Err(Error::new(ErrorKind::SerializationFailure, message)
                .hint("Repeat the transaction."));
        }
        let pipeline = sql::with_latest_snapshot(|| pipeline::resolve(Some(name)))?;
        let is_same = |of: fn(&Pipeline) -> &Relation| of(&pipeline) == of(&self.pipeline);
        if is_same(|it| &it.view) && is_same(|it| &it.chunk_table) {
            let message = format!("the chunks of pipeline \"{name}\" are gone");
            return Err(Error::new(ErrorKind::UndefinedObject, message)
                .hint("Drop the pipeline and create it anew."));
        }
        Ok(SearchedPipeline { pipeline, is_named: self.is_named, is_renewed: true })
    }

    /// An error where a search in it, which is locked, may run code of a role that the caller has no reason to trust, unless
    /// the caller has named it. `derived`: the tables beside the chunks that are read. Nothing is read without what is
    /// returned: it refuses what would run nevertheless.
    pub fn check_owners(&self, derived: &[&Relation]) -> Result<Option<SuperusersFunctions>> {
        match self.is_named {
            true => Ok(None),
            false => stranger::check(&self.pipeline, derived),
        }
    }

    /// An error where tables beside the chunks may be others by now than [`check_owners`](Self::check_owners) has looked at.
    pub fn check_names(&self, derived: &[&Relation]) -> Result<()> {
        match self.is_named {
            true => Ok(()),
            false => stranger::check_names(&self.pipeline, derived),
        }
    }

    /// Has `work` see what the pipeline holds.
    pub fn reading<T>(&self, work: impl FnOnce() -> T) -> T {
        match self.is_renewed {
            true => sql::with_latest_snapshot(work),
            false => work(),
        }
    }
}

impl Drop for LockedView {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: it was locked with this mode; after an error the transaction's abort does it.
            unsafe { pg_sys::UnlockRelationOid(self.0, LOCK) };
        }
    }
}
