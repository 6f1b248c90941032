//! What is done for pipelines when nothing else is to be done: one after the other, and again after
//! a pause where it fails.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::{activity, pipeline};
use crate::pg::server::random;
use crate::pg::server::role::as_superuser;
use crate::pg::server::transaction::{Failure, Outcome, Transactions};
use crate::scheduling::backoff::{Backoff, jittered};

/// What ends a call once another process waits for this one to leave.
pub fn unless_unwanted(is_unwanted: fn() -> bool) -> impl FnMut() -> Result<()> {
    move || match is_unwanted() {
        true => {
            let message =
                "worker is leaving because another session needs exclusive access to the database";
            Err(Error::new(ErrorKind::NotInState, message))
        }
        false => Ok(()),
    }
}

/// Pauses after failures.
const PAUSES: Backoff = Backoff::doubling(Duration::from_secs(1), LONGEST_PAUSE);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// How far the rounds over pipelines are: for which nothing is left to do, and when others are
/// tried again.
#[derive(Default)]
pub struct Scheduler {
    /// By pipeline, how things stood when nothing was left to do.
    done: HashMap<i32, String>,
    /// By pipeline, when to try again and how often that has been so.
    not_before: HashMap<i32, (Instant, u32)>,
}

impl Scheduler {
    /// Has `work` done for the first of `pipelines` for which there is something to do; what it
    /// returns, 0 where there is nothing to do now. Each pipeline comes with a text that changes
    /// when there may be more to do.
    pub fn step(
        &mut self,
        transactions: Transactions,
        pipelines: Vec<(i32, String)>,
        mut work: impl FnMut(i32) -> Outcome<usize>,
    ) -> Outcome<usize> {
        let known: HashSet<i32> = pipelines.iter().map(|(id, _)| *id).collect();
        self.done.retain(|id, _| known.contains(id));
        self.not_before.retain(|id, _| known.contains(id));
        for (id, standing) in pipelines {
            if self.waits(id) || self.done.get(&id) == Some(&standing) {
                continue;
            }
            match work(id) {
                Ok(0) => {
                    self.not_before.remove(&id);
                    self.done.insert(id, standing);
                }
                Ok(count) => {
                    self.not_before.remove(&id);
                    return Ok(count);
                }
                Err(failure) => self.postpone(id, &failure, transactions)?,
            }
        }
        Ok(0)
    }

    /// Forgets for which pipelines there was nothing to do.
    pub fn look_again(&mut self) {
        self.done.clear();
    }

    /// Whether the work for a pipeline has failed and is not to be tried again yet.
    pub fn waits(&self, id: i32) -> bool {
        self.not_before.get(&id).is_some_and(|(time, _)| *time > Instant::now())
    }

    /// How long until something can be tried again that could not be done.
    pub fn pause(&self) -> Option<Duration> {
        let now = Instant::now();
        let times = self.not_before.values().map(|(time, _)| time.saturating_duration_since(now));
        times.min()
    }

    fn postpone(&mut self, id: i32, failure: &Failure, transactions: Transactions) -> Outcome<()> {
        if failure.is_cancel() {
            return Err(failure.clone());
        }
        let count = self.not_before.get(&id).map_or(0, |(_, count)| *count);
        let pause = jittered(PAUSES.pause(count), random::fraction());
        let pause = failure.retry_after.unwrap_or(pause).min(LONGEST_PAUSE);
        self.not_before.insert(id, (Instant::now() + pause, count + 1));
        transactions.run(|| {
            as_superuser(|| match pipeline::hold(id)? {
                Some(_) => activity::note_failure(id, 0, &failure.reason()),
                None => Ok(()),
            })
        })?;
        match transactions {
            Transactions::OfWorker => Ok(()),
            // The caller of a procedure gets the error, and does not wait.
            Transactions::OfProcedure => Err(failure.clone()),
        }
    }
}
