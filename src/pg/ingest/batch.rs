//! The work of a pipeline, batch by batch: what workers do, and `rag_run`.
//!
//! ```text
//! take what sessions left → lease rows of the queue, read them │ cut, embed │ store, give back
//!                     a transaction                            │    none    │  a transaction
//! ```
//!
//! What is of pg_rag is read and written as the superuser, what is of the user as the owner of
//! the source: its types, views and expressions may run code of that owner.

mod job;
mod turns;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use self::job::{Batch, BatchJob};
use self::turns::Turns;
use super::queue::{self, ClaimFilter, Workable};
use super::{drain, generation};
use crate::error::Result;
use crate::pg::catalog::{activity, pipeline};
use crate::pg::derivation::runner::{DerivationRunner, DerivationStep};
use crate::pg::server::random;
use crate::pg::server::role::as_superuser;
use crate::pg::server::transaction::{Failure, Outcome, Transactions};
use crate::scheduling::backoff::jittered;
use crate::scheduling::bisection::{self, Cause};
use crate::scheduling::outages::Outages;

/// A provider that has answered within this time answers.
const RECENTLY: Duration = Duration::from_secs(60);
/// The pause before an index is tried again that could not be built.
const PAUSE_FOR_INDEX: Duration = Duration::from_secs(60);
/// The pause before a pipeline is tried again that other processes are at work on.
const PAUSE_FOR_OTHERS: Duration = Duration::from_millis(50);
/// The pause, on average, before a pipeline is tried again of which another session held a lock.
const PAUSE_FOR_LOCKS: Duration = Duration::from_secs(1);
/// For so long, what sessions have left is taken before something else is done; then at most once
/// more for each pipeline.
const DRAIN_TIME: Duration = Duration::from_millis(50);

/// What a step came to.
#[derive(Clone, Debug)]
pub enum RunnerStep {
    /// There may be more to do.
    Worked {
        /// Rows, or whatever was done.
        rows: usize,
        /// Whether there were more rows than are taken at a time.
        is_full: bool,
    },
    /// There is nothing to do now.
    Idle,
    /// Something is left to do that could not be done now.
    Later(Duration),
    /// Something is out of order that may be in order again soon.
    Passing(Failure),
}

impl RunnerStep {
    fn worked(rows: usize) -> RunnerStep {
        RunnerStep::Worked { rows, is_full: false }
    }
}

/// Does the work of pipelines, step by step.
pub struct Runner {
    transactions: Transactions,
    /// Whether another process waits for this one to leave.
    is_unwanted: fn() -> bool,
    /// The only pipeline, or all that workers see to.
    only: Option<i32>,
    turns: Turns,
    /// When new rows were last done, by pipeline.
    answered: HashMap<i32, Instant>,
    outages: Outages,
    finish_not_before: HashMap<i32, Instant>,
    /// What has language models write about chunks when there is nothing else to do.
    derivations: Option<DerivationRunner>,
    /// Which pipelines it sees to.
    workable: fn(Option<i32>) -> Result<Vec<Workable>>,
}

impl Runner {
    /// For all pipelines, or one of them.
    pub fn new(transactions: Transactions, only: Option<i32>, is_unwanted: fn() -> bool) -> Runner {
        Runner {
            transactions,
            is_unwanted,
            only,
            turns: Turns::default(),
            answered: HashMap::new(),
            outages: Outages::default(),
            finish_not_before: HashMap::new(),
            derivations: Some(DerivationRunner::default()),
            workable: queue::workable,
        }
    }

    /// The runner without what is derived from chunks: another worker sees to that.
    pub fn without_derivations(self) -> Runner {
        Runner { derivations: None, ..self }
    }

    /// The runner as [`Runner::without_derivations`] makes it, which also leaves alone the
    /// pipelines that another process has rows of in hand.
    pub fn apart(self) -> Runner {
        Runner { workable: queue::workable_apart, ..self.without_derivations() }
    }

    /// Does some of what there is to do.
    pub fn step(&mut self) -> Outcome<RunnerStep> {
        let (begun, mut drained) = (Instant::now(), Vec::new());
        let is_elsewhere = loop {
            // What takes long for one pipeline does not keep the others out.
            let others = if begun.elapsed() < DRAIN_TIME { &[][..] } else { &drained };
            let (changed, is_elsewhere) =
                self.transactions.run(|| as_superuser(|| self.changed(others)))?;
            let Some(pipeline) = changed else { break is_elsewhere };
            if let Err(failure) = drain::drain(self.transactions, pipeline) {
                return self.outage(pipeline, None, failure);
            }
            drained.push(pipeline);
        };
        if self.finish_filling()? {
            return Ok(RunnerStep::worked(0));
        }
        let workable = self.transactions.run(|| as_superuser(|| (self.workable)(self.only)))?;
        match self.turns.next(&workable) {
            Some(turn) => {
                let begun = Instant::now();
                let step = self.batch(turn);
                self.turns.charge(turn, begun);
                step
            }
            None if !drained.is_empty() => Ok(RunnerStep::worked(0)),
            None if is_elsewhere => Ok(RunnerStep::Later(PAUSE_FOR_OTHERS)),
            None => self.derive(),
        }
    }

    /// A pipeline, but for `others`, about which sessions have left something, and whether another
    /// process has such in hand: a worker leaves it to that one, a runner of one pipeline only
    /// waits for it. To be asked before the queue is looked at, where all is that they have drained
    /// by then.
    fn changed(&self, others: &[i32]) -> Result<(Option<i32>, bool)> {
        let changed = queue::changed(self.only, others)?;
        let is_elsewhere = match (changed, self.only) {
            (None, Some(only)) => queue::is_changed_elsewhere(only)?,
            _ => false,
        };
        Ok((changed, is_elsewhere))
    }

    /// There is nothing to embed: language models can be asked about the chunks.
    fn derive(&mut self) -> Outcome<RunnerStep> {
        let Some(derivations) = &mut self.derivations else { return Ok(self.idle()) };
        Ok(match derivations.step(self.transactions, self.only, self.is_unwanted)? {
            DerivationStep::Worked(count) => RunnerStep::worked(count),
            DerivationStep::Elsewhere(pause) => RunnerStep::Later(pause),
            DerivationStep::Idle => self.idle(),
        })
    }

    fn batch(&mut self, turn: Workable) -> Outcome<RunnerStep> {
        let Workable { pipeline, is_new, .. } = turn;
        let lease = queue::new_lease()?;
        let most = if is_new { self.turns.rows(pipeline) } else { 1 };
        let wanted = match is_new {
            false => ClaimFilter::Failed,
            true if self.turns.is_for_fill(pipeline) => ClaimFilter::Fill,
            true => ClaimFilter::New,
        };
        let claimed = self.transactions.run(|| Batch::claim(pipeline, lease, most, wanted));
        let batch = match claimed {
            Ok(Some(batch)) => batch,
            Ok(None) => return Ok(RunnerStep::worked(0)),
            // The claim is undone with the transaction.
            Err(failure) => return self.outage(pipeline, None, failure),
        };
        let answered = self.answered.get(&pipeline).is_some_and(|time| time.elapsed() < RECENTLY);
        let mut doubts_provider = self.outages.doubts_provider(pipeline, is_new, answered);
        let pace = self.turns.pace(pipeline, batch.is_remote());
        let mut job = BatchJob::new(self.transactions, self.is_unwanted, batch, pace);
        if job.was_left_alone() {
            return job.fail(0, &Failure::of_ended_worker()).map(|()| RunnerStep::worked(1));
        }
        let (lease, rows) = (job.lease(), job.rows());
        let places: Vec<usize> = (0..rows).collect();
        let passing = bisection::run(&mut job, &places, &mut doubts_provider)?;
        self.turns.keep_pace(pipeline, job.pace);
        match passing {
            None => {
                self.outages.end(pipeline);
                if is_new {
                    self.answered.insert(pipeline, Instant::now());
                }
                if job.left > 0 {
                    self.transactions.run(|| as_superuser(|| queue::release(pipeline, lease)))?;
                }
                Ok(RunnerStep::Worked {
                    rows: rows.saturating_sub(job.left),
                    is_full: is_new && rows == most,
                })
            }
            Some(failure) if failure.cause == Cause::OverTime => {
                let apart = || queue::set_apart(pipeline, lease, &failure.reason());
                self.transactions.run(|| as_superuser(apart)).map(|()| RunnerStep::worked(rows))
            }
            Some(failure) => {
                job.put_back();
                self.outage(pipeline, Some(lease), failure)
            }
        }
    }

    /// Something is out of order and it isn't a row: the whole pipeline waits, and rows in hand go
    /// back.
    fn outage(
        &mut self,
        pipeline: i32,
        lease: Option<i64>,
        failure: Failure,
    ) -> Outcome<RunnerStep> {
        let pause = self.pause(pipeline, &failure);
        let reason = failure.reason();
        self.transactions.run(|| {
            as_superuser(|| {
                if pipeline::hold(pipeline)?.is_none() {
                    return Ok(());
                }
                // First the pipeline, then its queue.
                if !failure.is_cancel() {
                    queue::postpone(pipeline, pause)?;
                    activity::note_failure(pipeline, 0, &reason)?;
                }
                match lease {
                    Some(lease) => queue::release(pipeline, lease),
                    None => Ok(()),
                }
            })
        })?;
        Ok(RunnerStep::Passing(failure))
    }

    fn pause(&mut self, pipeline: i32, failure: &Failure) -> Duration {
        if failure.is_lock_taken() || failure.is_deadlock() {
            return jittered(PAUSE_FOR_LOCKS, random::fraction());
        }
        self.outages.begin(pipeline, failure.retry_after, random::fraction())
    }

    /// A pipeline whose rows have all been seen gets its index, or takes the place of another;
    /// whether that happened.
    fn finish_filling(&mut self) -> Outcome<bool> {
        let only = self.only;
        let filled = self.transactions.run(|| as_superuser(|| pipeline::filled(only)))?;
        self.finish_not_before.retain(|id, _| filled.contains(id));
        let now = Instant::now();
        let due = |id: &&i32| self.finish_not_before.get(id).is_none_or(|time| *time <= now);
        let Some(id) = filled.iter().find(due).copied() else { return Ok(false) };
        let pause = match self.transactions.run(|| as_superuser(|| generation::finish(id))) {
            Ok(true) => return self.follow(id).map(|()| true),
            Ok(false) => PAUSE_FOR_OTHERS,
            Err(failure) => {
                let reason = failure.reason();
                self.transactions
                    .run(|| as_superuser(|| activity::note_failure(id, 0, &reason)))?;
                if matches!(self.transactions, Transactions::OfProcedure) {
                    return Err(failure);
                }
                // Without room on the disk, most of a build is done before it fails.
                match failure.cause == Cause::Passing && !failure.is_of_system() {
                    true => PAUSE_FOR_LOCKS,
                    false => PAUSE_FOR_INDEX,
                }
            }
        };
        self.finish_not_before.insert(id, now + pause);
        Ok(false)
    }

    /// Goes on with `successor` where it has just taken the place of the only pipeline.
    fn follow(&mut self, successor: i32) -> Outcome<()> {
        let Some(only) = self.only else { return Ok(()) };
        let is_there = self.transactions.run(|| as_superuser(|| pipeline::by_id(only)))?.is_some();
        self.only = Some(if is_there { only } else { successor });
        Ok(())
    }

    /// Nothing is to be done now; perhaps soon.
    fn idle(&self) -> RunnerStep {
        let soonest = self.finish_not_before.values().min();
        let finish = soonest.map(|time| time.saturating_duration_since(Instant::now()));
        let derivations = self.derivations.as_ref().and_then(DerivationRunner::pause);
        let soonest = finish.into_iter().chain(derivations).min();
        soonest.map_or(RunnerStep::Idle, RunnerStep::Later)
    }
}
