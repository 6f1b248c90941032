//! A thread a model: takes batches from the queue and runs them.
//!
//! The thread ends when the last [`Worker`] handle is dropped, after the batch at hand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::log;
use super::model::{Model, Text};
use super::process;
use super::protocol::Lane;
use super::queue::{Entry, Queue};
use crate::error::{Error, ErrorKind, Result};

/// How long nobody may come before memory is given back; batches leave tens of megabytes of
/// it with the allocator.
const REST: Duration = Duration::from_secs(1);

/// Whether whoever asked still waits for the answer.
pub type IsAlive = Arc<dyn Fn() -> bool + Send + Sync>;

/// A text on its way through the model.
pub struct Job {
    /// Its place in the request.
    pub index: usize,
    /// What the model gets, and what is read of what it gives.
    pub text: Text,
    /// Whether anybody still wants it.
    pub is_alive: IsAlive,
    /// Where the numbers go.
    pub reply: Sender<Done>,
}

/// A text that has been through the model.
pub struct Done {
    /// Its place in the request.
    pub index: usize,
    /// What was read: a vector, vectors of tokens, or a score.
    pub numbers: Result<Vec<f32>>,
}

/// The handle of a model's thread.
pub struct Worker {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

struct State {
    queue: Queue<Job>,
    closed: bool,
}

impl Worker {
    /// Starts a thread for `model`, with batches of up to `max_batch_tokens` padded tokens.
    pub fn start(model: Model, max_batch_tokens: usize) -> Result<Worker> {
        let state = State { queue: Queue::new(max_batch_tokens), closed: false };
        let shared = Arc::new(Shared { state: Mutex::new(state), wake: Condvar::new() });
        let theirs = Arc::clone(&shared);
        thread::Builder::new()
            .name("ragd-model".to_string())
            .spawn(move || theirs.work(model))
            .map_err(|error| {
                let message = format!("cannot start a thread for a model: {error}");
                Error::new(ErrorKind::OutOfResources, message)
            })?;
        Ok(Worker { shared })
    }

    /// Queues texts of request `owner`.
    pub fn push(&self, owner: u64, lane: Lane, jobs: Vec<Job>) {
        let mut state = self.shared.lock();
        for job in jobs {
            state.queue.push(lane, Entry { owner, length: job.text.tokens.len(), payload: job });
        }
        self.shared.wake.notify_one();
    }

    /// Drops the texts of a request that wait.
    pub fn forget(&self, owner: u64) {
        self.shared.lock().queue.forget(owner);
    }

    /// How many texts wait.
    pub fn waiting(&self) -> usize {
        self.shared.lock().queue.len()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, mut model: Model) {
        let mut limit = Some(REST);
        loop {
            limit = match self.wait_for_batch(limit) {
                Turn::Batch(batch) => {
                    run(&mut model, batch);
                    Some(REST)
                }
                Turn::Idle => {
                    process::release_memory();
                    None
                }
                Turn::Closed => return,
            };
        }
    }

    /// Waits for the next batch, for ever or as long as `limit`.
    fn wait_for_batch(&self, limit: Option<Duration>) -> Turn {
        let mut state = self.lock();
        while state.queue.is_empty() {
            if state.closed {
                return Turn::Closed;
            }
            let (woken, timed_out) = self.wait(state, limit);
            state = woken;
            if timed_out && state.queue.is_empty() && !state.closed {
                return Turn::Idle;
            }
        }
        Turn::Batch(state.queue.next_batch(|job| (job.is_alive)()))
    }

    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, State>,
        limit: Option<Duration>,
    ) -> (MutexGuard<'a, State>, bool) {
        match limit {
            None => (self.wake.wait(state).unwrap_or_else(PoisonError::into_inner), false),
            Some(limit) => {
                let woken = self.wake.wait_timeout(state, limit);
                let (state, result) = woken.unwrap_or_else(PoisonError::into_inner);
                (state, result.timed_out())
            }
        }
    }
}

/// What comes next.
enum Turn {
    /// A batch, empty if whoever waited has gone.
    Batch(Vec<Entry<Job>>),
    /// Nobody came for a while.
    Idle,
    /// The model is no longer wanted.
    Closed,
}

/// Runs a batch and sends each text what was read of it, or all of them why there is none.
fn run(model: &mut Model, batch: Vec<Entry<Job>>) {
    if batch.is_empty() {
        return;
    }
    let texts: Vec<&Text> = batch.iter().map(|entry| &entry.payload.text).collect();
    let result = catch_unwind(AssertUnwindSafe(|| model.run(&texts))).unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Internal, "the thread that runs the model panicked"))
    });
    match result {
        Ok(results) => {
            for (entry, numbers) in batch.into_iter().zip(results) {
                reply(entry.payload, Ok(numbers));
            }
        }
        Err(error) => {
            log::line(format!("batch of {} texts failed: {error}", batch.len()));
            for entry in batch {
                reply(entry.payload, Err(error.clone()));
            }
        }
    }
}

/// Whoever has gone meanwhile gets nothing, which is no error.
fn reply(job: Job, numbers: Result<Vec<f32>>) {
    let _ = job.reply.send(Done { index: job.index, numbers });
}
