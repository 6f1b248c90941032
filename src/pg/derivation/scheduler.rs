//! Whose turn it is among derivations: not those for which nothing is left to do, nor, for a pause,
//! those that have failed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::pg::catalog::derivation::{DerivationKind, DueDerivation};
use crate::pg::catalog::{activity, pipeline};
use crate::pg::server::random;
use crate::pg::server::role::as_superuser;
use crate::pg::server::transaction::{Failure, Outcome, Transactions};
use crate::scheduling::backoff::{Backoff, jittered};

/// Pauses after failures.
const PAUSES: Backoff = Backoff::doubling(Duration::from_secs(1), LONGEST_PAUSE);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A derivation, by its pipeline.
pub type DerivationKey = (i32, DerivationKind);

/// For which derivations nothing is left to do, and when others are tried again.
#[derive(Default)]
pub struct Scheduler {
    /// How things stood when nothing was left to do.
    done: HashMap<DerivationKey, String>,
    /// When to try again, and how often that has been so.
    not_before: HashMap<DerivationKey, (Instant, u32)>,
}

impl Scheduler {
    /// Forgets derivations that are not due.
    pub fn keep_only(&mut self, due: &[DueDerivation]) {
        let is_due = |key: &DerivationKey| due.iter().any(|it| (it.pipeline, it.kind) == *key);
        self.done.retain(|key, _| is_due(key));
        self.not_before.retain(|key, _| is_due(key));
    }

    /// Whether nothing was left to do for a derivation, and nothing has changed since.
    pub fn is_done(&self, key: DerivationKey, standing: &str) -> bool {
        self.done.get(&key).is_some_and(|done| done == standing)
    }

    /// Nothing is left to do for a derivation as things stand. Where something `was_made`, there may be
    /// more to do for those that are made from it.
    pub fn finish(&mut self, key: DerivationKey, standing: String, was_made: bool) {
        self.not_before.remove(&key);
        if was_made {
            self.done.retain(|(pipeline, kind), _| *pipeline != key.0 || *kind <= key.1);
        }
        self.done.insert(key, standing);
    }

    /// Something has been done for a derivation.
    pub fn succeeded(&mut self, key: DerivationKey) {
        self.not_before.remove(&key);
    }

    /// Whether the work for a derivation has failed and is not to be tried again yet.
    pub fn waits(&self, key: DerivationKey) -> bool {
        self.not_before.get(&key).is_some_and(|(time, _)| *time > Instant::now())
    }

    /// How long until something can be tried again that could not be done.
    pub fn pause(&self) -> Option<Duration> {
        let now = Instant::now();
        let times = self.not_before.values().map(|(time, _)| time.saturating_duration_since(now));
        times.min()
    }

    /// Has a derivation that has failed wait, and keeps the failure.
    pub fn postpone(
        &mut self,
        key: DerivationKey,
        failure: &Failure,
        transactions: Transactions,
    ) -> Outcome<()> {
        if failure.is_cancel() {
            return Err(failure.clone());
        }
        let count = self.not_before.get(&key).map_or(0, |(_, count)| *count);
        let pause = jittered(PAUSES.pause(count), random::fraction());
        let pause = failure.retry_after.unwrap_or(pause).min(LONGEST_PAUSE);
        self.not_before.insert(key, (Instant::now() + pause, count + 1));
        transactions.run(|| as_superuser(|| note_waiting(key.0, failure)))?;
        match transactions {
            Transactions::OfWorker => Ok(()),
            // The caller of a procedure gets the error, and does not wait.
            Transactions::OfProcedure => Err(failure.clone()),
        }
    }
}

/// Keeps the failure for which a derivation of a pipeline waits that is there.
fn note_waiting(pipeline: i32, failure: &Failure) -> Result<()> {
    match pipeline::hold(pipeline)? {
        Some(_) => activity::note_waiting(pipeline, &failure.reason()),
        None => Ok(()),
    }
}

/// Keeps the failure of a pipeline that is there.
pub fn note_failure(pipeline: i32, failure: &Failure) -> Result<()> {
    match pipeline::hold(pipeline)? {
        Some(_) => activity::note_failure(pipeline, 0, &failure.reason()),
        None => Ok(()),
    }
}
