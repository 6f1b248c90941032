//! The pipeline that a search reads, while a new generation of its chunks may take its place.
//!
//! The exchange is another transaction's and may be committed at any moment: after the snapshot of
//! the statement that searches was taken, or while a model embeds the question and no lock is held.
//! The row of `rag.pipeline` that was read then names relations that are gone. The search goes on
//! with the generation that is there now, and sees with a new snapshot what that holds.

use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::server::sql;
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

    /// Locks the view of the chunks; `None` where another generation has taken this one's place.
    pub fn lock(&self) -> Option<LockedView> {
        let Pipeline { view, chunk_table, .. } = &self.pipeline;
        // SAFETY: a lock of a number, given back by the guard; the relation may be gone. Whoever waits for a
        // lock learns what was changed meanwhile, so that the look-ups are right.
        let (locked, is_there) = unsafe {
            pg_sys::LockRelationOid(view.oid, LOCK);
            let is_there = |oid| pg_sys::get_rel_relkind(oid) != 0;
            (LockedView(view.oid), is_there(view.oid) && is_there(chunk_table.oid))
        };
        is_there.then_some(locked)
    }

    /// The generation that has taken this one's place.
    ///
    /// Fails where the pipeline was dropped, and in a transaction whose only snapshot is older.
    pub fn renewed(&self) -> Result<Self> {
        let name = &self.pipeline.name;
        if has_one_snapshot() {
            let message = format!(
                "a new generation of pipeline \"{name}\" took the place of the one that this transaction sees"
            );
            return Err(Error::new(ErrorKind::SerializationFailure, message)
                .hint("Repeat the transaction."));
        }
        let pipeline = sql::with_latest_snapshot(|| pipeline::resolve(Some(name)))?;
        let is_same = |of: fn(&Pipeline) -> pg_sys::Oid| of(&pipeline) == of(&self.pipeline);
        if is_same(|it| it.view.oid) && is_same(|it| it.chunk_table.oid) {
            let message = format!("the chunks of pipeline \"{name}\" are gone");
            return Err(Error::new(ErrorKind::UndefinedObject, message)
                .hint("Drop the pipeline and create it anew."));
        }
        Ok(SearchedPipeline { pipeline, is_named: self.is_named, is_renewed: true })
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
