//! The threads of a model: they take batches from the queue and run them.
//!
//! One runs all that waits, on all processors. While it has a batch of other texts than short queries,
//! another one runs those beside it: who asks waits for nobody's long texts. ONNX Runtime lets two threads
//! run one session, but the crate that calls it does not trust all of it with that, so each has its own. The
//! second one is made when there is something to do for it for the first time.
//!
//! The threads end when the last [`Worker`] handle is dropped, after the batch at hand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::heartbeat::Heartbeat;
use super::log;
use super::model::{Model, Rows, Text};
use super::process;
use super::protocol::Lane;
use super::queue::{Batch, Entry, Queue};
use crate::error::{Error, ErrorKind, Result};

/// How long nobody may come before memory is given back; batches leave tens of megabytes of
/// it with the allocator.
const REST: Duration = Duration::from_secs(1);

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

/// Loads the model that a [`Worker`] has once more, with one thread for its runs.
pub type LoadAgain = Box<dyn FnOnce() -> Result<Model> + Send>;

/// The handle of a model's threads.
pub struct Worker {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// There is something to do for the thread that runs all that waits,
    wake: Condvar,
    /// or for the one that runs short queries beside it.
    wake_express: Condvar,
    heartbeat: Heartbeat,
}

struct State {
    queue: Queue<Job>,
    /// Whether a batch is in the model for which no short query is to wait.
    is_held_up: bool,
    closed: bool,
}

impl Worker {
    /// Starts a thread for `model`, with batches of up to `max_batch_tokens` padded tokens, which are told
    /// to `heartbeat`. With `again`, short queries are run beside them.
    pub fn start(
        model: Model,
        again: Option<LoadAgain>,
        max_batch_tokens: usize,
        heartbeat: Heartbeat,
    ) -> Result<Worker> {
        let queue = Queue::new(max_batch_tokens);
        let state = Mutex::new(State { queue, is_held_up: false, closed: false });
        let (wake, wake_express) = (Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { state, wake, wake_express, heartbeat });
        // From here on, the threads that there are end with it.
        let worker = Worker { shared: Arc::clone(&shared) };
        let theirs = Arc::clone(&shared);
        start_thread("ragd-model", move || theirs.work(model))?;
        if let Some(again) = again {
            start_thread("ragd-express", move || shared.work_beside(again))?;
        }
        Ok(worker)
    }

    /// Queues texts of request `owner`.
    pub fn push(&self, owner: u64, lane: Lane, jobs: Vec<Job>) {
        let mut state = self.shared.lock();
        for job in jobs {
            let (role, length) = (job.client.role, job.text.tokens.len());
            state.queue.push(lane, Entry { owner, role, length, payload: job });
        }
        self.shared.wake.notify_one();
        if state.is_held_up {
            self.shared.wake_express.notify_one();
        }
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
        self.shared.wake_express.notify_one();
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
                    self.lock().is_held_up = false;
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

    /// Runs short queries while the other thread has a batch of other texts.
    fn work_beside(&self, load_again: LoadAgain) {
        if self.wait_for_short_query().is_none() {
            return;
        }
        // Whoever waits now waits for the other thread.
        let mut model = match load_again() {
            Ok(model) => model,
            Err(error) => return log::line(format!("questions wait for batches: {error}")),
        };
        while let Some(mut state) = self.wait_for_short_query() {
            let batch = state.queue.next_short_batch(|job| job.client.is_alive());
            drop(state);
            self.run(&mut model, batch);
        }
    }

    /// Waits until a short query would wait for other texts; `None` if the model is no longer wanted.
    fn wait_for_short_query(&self) -> Option<MutexGuard<'_, State>> {
        let mut state = self.lock();
        while !(state.is_held_up && state.queue.has_short()) {
            if state.closed {
                return None;
            }
            state = self.wake_express.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Some(state)
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
        state.is_held_up = !batch.is_of_short_queries();
        if state.is_held_up && state.queue.has_short() {
            self.wake_express.notify_one();
        }
        Turn::Batch(batch)
    }

    /// Runs a batch and sends each text what was read of it, or all of them why there is none.
    fn run(&self, model: &mut Model, batch: Batch<Job>) {
        match self.compute(model, &batch.entries) {
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

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let started = thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map(drop).map_err(|error| {
        let message = format!("cannot start a thread for a model: {error}");
        Error::new(ErrorKind::OutOfResources, message)
    })
}

/// Whoever has gone meanwhile gets nothing, which is no error.
fn reply(job: Job, numbers: Result<Vec<f32>>) {
    let _ = job.reply.send(Done { index: job.index, numbers });
}
