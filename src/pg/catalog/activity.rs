//! `rag.activity`: what has been done for pipelines, and what went wrong.

use crate::error::Result;
use crate::pg::server::sql::{self, query};
use crate::pg::server::transaction::Failure;

/// Why a row failed.
#[derive(Clone, Debug)]
pub struct Reason<'a> {
    /// SQLSTATE of the error, five characters.
    pub sqlstate: &'a str,
    /// What the error said.
    pub message: &'a str,
}

impl Failure {
    /// The reason as it is kept.
    pub fn reason(&self) -> Reason<'_> {
        Reason { sqlstate: &self.sqlstate, message: &self.message }
    }
}

/// Keeps the last error of a pipeline, and how many rows were given up.
pub fn note_failure(pipeline: i32, rows: i64, reason: &Reason<'_>) -> Result<()> {
    fail(pipeline, rows, reason, false)
}

/// Keeps the last error of a pipeline, because of which something waits that is made of its chunks in the background.
pub fn note_waiting(pipeline: i32, reason: &Reason<'_>) -> Result<()> {
    fail(pipeline, 0, reason, true)
}

/// Forgets that error once all is made.
pub fn note_recovery(pipeline: i32) -> Result<()> {
    sql::execute(query!(activity.recover), &[pipeline.into()]).map(drop)
}

fn fail(pipeline: i32, rows: i64, reason: &Reason<'_>, holds_derivations: bool) -> Result<()> {
    let Reason { sqlstate, message } = *reason;
    let arguments =
        [pipeline.into(), rows.into(), sqlstate.into(), message.into(), holds_derivations.into()];
    sql::execute(query!(activity.fail), &arguments).map(drop)
}

/// What a batch did.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchWork {
    /// Rows of the source.
    pub rows: usize,
    /// Chunks of those rows.
    pub chunks: usize,
    /// Chunks among these that had to be embedded.
    pub embedded: usize,
    /// Tokens of the chunks that had to be embedded.
    pub tokens: usize,
    /// How long the batch took, in seconds.
    pub seconds: f64,
}

/// Adds to what has been done for a pipeline.
pub fn note_work(pipeline: i32, work: &BatchWork) -> Result<()> {
    let statement = query!(activity.add);
    let count = |number: usize| (number as i64).into();
    let arguments = [
        pipeline.into(),
        count(work.rows),
        count(work.chunks),
        count(work.embedded),
        count(work.tokens),
        work.seconds.into(),
    ];
    sql::execute(statement, &arguments).map(drop)
}
