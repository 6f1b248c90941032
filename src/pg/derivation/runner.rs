//! The derivations of all pipelines, a step of each at a time.

use std::collections::HashSet;
use std::time::Duration;

use super::run::{BegunRun, DerivationRun, RunStep};
use super::scheduler::{DerivationKey, Scheduler};
use crate::pg::catalog::activity;
use crate::pg::catalog::derivation::{self, DueDerivation};
use crate::pg::ragd::client;
use crate::pg::server::role::as_superuser;
use crate::pg::server::transaction::{Failure, Outcome, Transactions};

/// Most derivations that are under way in one process.
const MOST_RUNS: usize = 4;

/// How long replies are waited for before other work is looked for.
const WAIT: Duration = Duration::from_millis(500);

/// The pause before a derivation is looked at again that another process is at work on.
const PAUSE_FOR_OTHERS: Duration = Duration::from_millis(500);

/// What a step came to.
pub enum DerivationStep {
    /// So many items or texts were done; there may be more to do.
    Worked(usize),
    /// Another process is at work on what is left.
    Elsewhere(Duration),
    /// There is nothing to do now.
    Idle,
}

/// Sees to derivations, step by step.
#[derive(Default)]
pub struct DerivationRunner {
    rounds: Scheduler,
    runs: Vec<DerivationRun>,
}

impl DerivationRunner {
    /// Does some of what there is to do for the pipelines that workers see to, or for `only`. Where that
    /// is to wait for language models, it waits for a while, and not once this process is woken.
    pub fn step(
        &mut self,
        transactions: Transactions,
        only: Option<i32>,
        is_unwanted: fn() -> bool,
    ) -> Outcome<DerivationStep> {
        let due = transactions.run(|| as_superuser(|| derivation::due(only)))?;
        self.rounds.keep_only(&due);
        self.drain(transactions, &due);
        let (mut done, mut is_elsewhere) = (None::<usize>, false);
        // What is made from what an earlier derivation has made waits for it.
        let mut unfinished = HashSet::new();
        for it in due {
            let advance = match unfinished.contains(&it.pipeline) {
                _ if self.rounds.waits(key(&it)) => Ok(Advance::Waiting),
                true => self.take_replies(transactions, key(&it)),
                false => self.advance(transactions, &it, is_unwanted),
            };
            match advance {
                Ok(Advance::Worked(count)) => {
                    done = Some(done.unwrap_or(0) + count);
                    unfinished.insert(it.pipeline);
                }
                Ok(Advance::Waiting) => drop(unfinished.insert(it.pipeline)),
                Ok(Advance::Elsewhere) => {
                    is_elsewhere = true;
                    unfinished.insert(it.pipeline);
                }
                Ok(Advance::Done) => {}
                Err(failure) => {
                    unfinished.insert(it.pipeline);
                    self.fail(transactions, key(&it), &failure)?;
                }
            }
        }
        Ok(match done {
            Some(count) => DerivationStep::Worked(count),
            None if self.wait_for_replies() => DerivationStep::Worked(0),
            None if is_elsewhere => DerivationStep::Elsewhere(PAUSE_FOR_OTHERS),
            None => DerivationStep::Idle,
        })
    }

    /// How long until something can be tried again that could not be done.
    pub fn pause(&self) -> Option<Duration> {
        self.rounds.pause()
    }

    fn advance(
        &mut self,
        transactions: Transactions,
        due: &DueDerivation,
        is_unwanted: fn() -> bool,
    ) -> Outcome<Advance> {
        let at = match self.runs.iter().position(|run| run.key() == key(due)) {
            Some(at) => at,
            None if self.rounds.is_done(key(due), &due.standing) => return Ok(Advance::Done),
            None if self.runs.len() >= MOST_RUNS => return Ok(Advance::Waiting),
            None => match DerivationRun::begin(transactions, key(due))? {
                BegunRun::Run(run) => {
                    self.runs.push(*run);
                    self.runs.len() - 1
                }
                BegunRun::Elsewhere => return Ok(Advance::Elsewhere),
                BegunRun::Gone => return Ok(Advance::Done),
            },
        };
        match self.runs[at].step(transactions, is_unwanted)? {
            RunStep::Worked(count) => {
                self.rounds.succeeded(key(due));
                Ok(Advance::Worked(count))
            }
            RunStep::Waiting => Ok(Advance::Waiting),
            RunStep::Done(was_made) => {
                self.runs.swap_remove(at);
                transactions.run(|| as_superuser(|| activity::note_recovery(due.pipeline)))?;
                self.rounds.finish(key(due), due.standing.clone(), was_made);
                Ok(Advance::Done)
            }
        }
    }

    /// Keeps what has been asked for, of a derivation that waits for another one.
    fn take_replies(&mut self, transactions: Transactions, key: DerivationKey) -> Outcome<Advance> {
        if let Some(run) = self.runs.iter_mut().find(|run| run.key() == key) {
            run.drain(transactions)?;
        }
        Ok(Advance::Waiting)
    }

    /// Ends the runs that are not due any more, because their pipeline is paused or gone, as soon as
    /// what they have asked for is there.
    fn drain(&mut self, transactions: Transactions, due: &[DueDerivation]) {
        self.runs.retain_mut(|run| {
            let is_due = due.iter().any(|it| key(it) == run.key());
            is_due || run.drain(transactions).unwrap_or_else(|_| run.owes())
        });
    }

    /// A derivation has failed: it waits. What it has paid for and could not keep it keeps later.
    fn fail(
        &mut self,
        transactions: Transactions,
        key: DerivationKey,
        failure: &Failure,
    ) -> Outcome<()> {
        self.runs.retain(|run| run.key() != key || run.owes());
        self.rounds.postpone(key, failure, transactions)
    }

    /// Waits until a reply has come, for a while; `false` where none is waited for.
    fn wait_for_replies(&self) -> bool {
        let runs = self.runs.iter().filter(|run| !self.rounds.waits(run.key()));
        let replies: Vec<_> = runs.flat_map(DerivationRun::replies).collect();
        if !replies.is_empty() {
            client::wait_for_any(&replies, WAIT);
        }
        !replies.is_empty()
    }
}

fn key(due: &DueDerivation) -> DerivationKey {
    (due.pipeline, due.kind)
}

/// What came of the next step of a derivation.
enum Advance {
    Worked(usize),
    Waiting,
    Elsewhere,
    Done,
}
