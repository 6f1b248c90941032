//! A thread a model: takes batches from the queue and runs them.
//!
//! The thread ends when the last [`Worker`] handle is dropped, after the batch at hand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::heartbeat::Heartbeat;
use super::log;
use super::model::{Model, Rows, Text};
use super::preemption::Preemption;
use super::process;
use super::protocol::Lane;
use super::queue::{Batch, Entry, Queue, Standing};
use crate::error::{Error, ErrorKind, Result};

/// How long nobody may come before memory is given back; batches leave tens of megabytes of
/// it with the allocator.
const REST: Duration = Duration::from_secs(1);

/// Tokens of a batch from which on it tells how long tokens take.
const TELLING: u32 = 128;

/// Whether whoever asked still waits for the answer.
pub type IsAlive = Arc<dyn Fn() -> bool + Send + Sync>;

/// Who asks.
#[derive(Clone)]
pub struct Client {
    /// The role for whom it is.
    pub role: u32,
    /// Whether the session is still there.
    pub is_alive: IsAlive,
}

impl Client {
    /// Whether it still waits for the answer.
    pub fn is_alive(&self) -> bool {
        (self.is_alive)()
    }
}

/// A text on its way through the model.
pub struct Job {
    /// Its place in the request.
    pub index: usize,
    /// What the model gets, and what is read of what it gives.
    pub text: Text,
    /// Who wants it.
    pub client: Client,
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
    heartbeat: Heartbeat,
    preemption: Preemption,
}

struct State {
    queue: Queue<Job>,
    /// The batch that is in the model.
    running: Option<Running>,
    /// What a token of a batch takes, on an average of late.
    time_a_token: Duration,
    /// Whether it was told to give way.
    is_preempted: bool,
    closed: bool,
}

/// A batch in the model.
struct Running {
    standing: Standing,
    begun: Instant,
}

impl Running {
    /// Whether most of it is still to be computed; what has been computed would be lost.
    fn is_young(&self, time_a_token: Duration) -> bool {
        let expected = time_a_token.saturating_mul(self.standing.tokens() as u32);
        self.begun.elapsed() < expected / 2
    }
}

impl Worker {
    /// Starts a thread for `model`, with batches of up to `max_batch_tokens` padded tokens, which
    /// are told to `heartbeat`.
    pub fn start(model: Model, max_batch_tokens: usize, heartbeat: Heartbeat) -> Result<Worker> {
        let queue = Queue::new(max_batch_tokens);
        let state = State {
            queue,
            running: None,
            time_a_token: Duration::ZERO,
            is_preempted: false,
            closed: false,
        };
        let (state, wake) = (Mutex::new(state), Condvar::new());
        let shared = Arc::new(Shared { state, wake, heartbeat, preemption: model.preemption() });
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

    /// Queues texts of request `owner`. What is in the model may have to give way.
    pub fn push(&self, owner: u64, lane: Lane, jobs: Vec<Job>) {
        let mut state = self.shared.lock();
        for job in jobs {
            let (role, length) = (job.client.role, job.text.tokens.len());
            let time = state.time_a_token;
            let queue = &state.queue;
            let gives_way = |it: &Running| {
                queue.preempts(&it.standing, lane, role, length) && it.is_young(time)
            };
            if !state.is_preempted && state.running.as_ref().is_some_and(gives_way) {
                state.is_preempted = true;
                self.shared.preemption.set();
            }
            state.queue.push(lane, Entry { owner, role, length, preemptions: 0, payload: job });
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

impl State {
    /// A batch has been computed.
    fn note_time(&mut self, batch: &Running) {
        let tokens = batch.standing.tokens() as u32;
        // A short one takes longer than its tokens do.
        if tokens >= TELLING {
            let time = batch.begun.elapsed() / tokens;
            self.time_a_token = match self.time_a_token {
                Duration::ZERO => time,
                before => (before * 3 + time) / 4,
            };
        }
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
                    self.run(&mut model, batch);
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
        let batch = state.queue.next_batch(|job| job.client.is_alive());
        state.running = Some(Running { standing: batch.standing(), begun: Instant::now() });
        Turn::Batch(batch)
    }

    /// Runs a batch and sends each text what was read of it, or all of them why there is none. A batch
    /// that has given way goes back to the queue.
    fn run(&self, model: &mut Model, batch: Batch<Job>) {
        let result = self.compute(model, &batch.entries);
        let mut state = self.lock();
        let running = state.running.take();
        if let (Some(running), Ok(_)) = (running, &result) {
            state.note_time(&running);
        }
        // From here on nobody preempts the batch.
        let result = match (std::mem::take(&mut state.is_preempted), result) {
            (true, Err(_)) => match model.clear_preemption() {
                Ok(()) => return state.queue.put_back(batch),
                Err(error) => Err(error),
            },
            (true, Ok(results)) => model.clear_preemption().map(|()| results),
            (false, result) => result,
        };
        drop(state);
        match result {
            Ok(results) => {
                for (entry, numbers) in batch.entries.into_iter().zip(results) {
                    reply(entry.payload, Ok(numbers));
                }
            }
            Err(error) => {
                log::line(format!("batch of {} texts failed: {error}", batch.entries.len()));
                for entry in batch.entries {
                    reply(entry.payload, Err(error.clone()));
                }
            }
        }
    }

    fn compute(&self, model: &mut Model, entries: &[Entry<Job>]) -> Result<Vec<Vec<f32>>> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let texts: Vec<&Text> = entries.iter().map(|entry| &entry.payload.text).collect();
        let _under_way = self.heartbeat.begin_batch(model.name(), Rows::of(&texts).tokens());
        catch_unwind(AssertUnwindSafe(|| model.run(&texts))).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Internal, "the thread that runs the model panicked"))
        })
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
    Batch(Batch<Job>),
    /// Nobody came for a while.
    Idle,
    /// The model is no longer wanted.
    Closed,
}

/// Whoever has gone meanwhile gets nothing, which is no error.
fn reply(job: Job, numbers: Result<Vec<f32>>) {
    let _ = job.reply.send(Done { index: job.index, numbers });
}
