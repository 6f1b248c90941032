//! The threads of a model: they take batches from the queue and run them.
//!
//! One runs all that waits, on all processors. Another one runs something beside it, so that no
//! question waits for what no user waits for:
//!
//! * short queries, while the first one has a batch of other texts;
//! * bulk, while there are questions: on all processors but one, which leaves that one to the questions and
//!   to the sessions that ask them. The first thread leaves bulk alone then.
//!
//! ONNX Runtime lets two threads run one session, but the crate that calls it does not trust all of it with
//! that, so each has its own. The second one is made when there is a use for it for the first time.
//!
//! The threads end when the last [`ModelWorker`] handle is dropped, after the batch at hand.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::heartbeat::Heartbeat;
use super::model::{ModelInMemory, ModelRows, ModelText};
use super::queue::{Queue, QueueEntry, TextBatch};
use super::{log, process};
use crate::error::{Error, ErrorKind, Result};
use crate::protocol::Lane;

/// How long no text may come before memory is given back; batches leave tens of megabytes of it
/// with the allocator.
const REST: Duration = Duration::from_secs(1);

/// How long after a query others are expected.
const ASKED: Duration = Duration::from_millis(250);

/// Whether the client that asked still waits for the answer.
pub type IsAlive = Arc<dyn Fn() -> bool + Send + Sync>;

/// The session that asks.
#[derive(Clone)]
pub struct Client {
    /// The role on whose behalf it asks.
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
pub struct ModelJob {
    /// Its place in the request.
    pub index: usize,
    /// What the model gets, and what is read of what it gives.
    pub text: ModelText,
    /// The client that wants it.
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

/// How a [`ModelWorker`] gets its model once more.
pub struct Beside {
    /// Loads the model.
    pub load: Box<dyn FnOnce() -> Result<ModelInMemory> + Send>,
    /// The most padded tokens of a batch of bulk in it.
    pub max_batch_tokens: usize,
}

/// The handle of a model's threads.
pub struct ModelWorker {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<WorkerState>,
    /// There is something to do for the thread that runs all that waits,
    wake: Condvar,
    /// or for the one that runs something beside it.
    wake_beside: Condvar,
    heartbeat: Heartbeat,
}

struct WorkerState {
    queue: Queue<ModelJob>,
    /// What kind of batch the first thread has in the model.
    running: Running,
    /// Whether the second thread is there.
    is_two: bool,
    /// When a query last came.
    asked: Option<Instant>,
    closed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Running {
    Nothing,
    ShortQueries,
    Bulk,
    Other,
}

impl WorkerState {
    /// How much longer the first thread leaves bulk to the second one.
    fn leaves_bulk(&self) -> Option<Duration> {
        let asked = self.asked.filter(|_| self.is_two && !self.closed)?;
        ASKED.checked_sub(asked.elapsed())
    }

    /// What the second thread is to do now.
    fn beside(&self) -> Option<Lane> {
        let is_held_up = matches!(self.running, Running::Bulk | Running::Other);
        if is_held_up && self.queue.has_short() {
            Some(Lane::Query)
        } else if self.running != Running::Bulk && self.queue.has_bulk() {
            self.leaves_bulk().map(|_| Lane::Bulk)
        } else {
            None
        }
    }
}

impl ModelWorker {
    /// Starts a thread for `model`, with batches of up to `max_batch_tokens` padded tokens, which
    /// are reported to `heartbeat`, and one that runs something beside them, if there is a way to.
    pub fn start(
        model: ModelInMemory,
        beside: Option<Beside>,
        max_batch_tokens: usize,
        heartbeat: Heartbeat,
    ) -> Result<ModelWorker> {
        let state = WorkerState {
            queue: Queue::new(max_batch_tokens),
            running: Running::Nothing,
            is_two: false,
            asked: None,
            closed: false,
        };
        let (state, wake, wake_beside) = (Mutex::new(state), Condvar::new(), Condvar::new());
        let shared = Arc::new(Shared { state, wake, wake_beside, heartbeat });
        // From now on, the threads that there are end with it.
        let worker = ModelWorker { shared: Arc::clone(&shared) };
        let theirs = Arc::clone(&shared);
        start_thread("ragd-model", move || theirs.work(model))?;
        if let Some(beside) = beside {
            start_thread("ragd-beside", move || shared.work_beside(beside))?;
        }
        Ok(worker)
    }

    /// Queues texts of request `owner`.
    pub fn push(&self, owner: u64, lane: Lane, jobs: Vec<ModelJob>) {
        let mut state = self.shared.lock();
        for job in jobs {
            let (role, length) = (job.client.role, job.text.tokens.len());
            state.queue.push(lane, QueueEntry { owner, role, length, payload: job });
        }
        if lane == Lane::Query {
            state.asked = Some(Instant::now());
        }
        self.shared.wake.notify_one();
        self.shared.wake_beside.notify_one();
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

impl Drop for ModelWorker {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_one();
        self.shared.wake_beside.notify_one();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, WorkerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self, mut model: ModelInMemory) {
        let mut limit = Some(REST);
        loop {
            limit = match self.wait_for_batch(limit) {
                WorkerTurn::Batch(batch) => {
                    self.run(&mut model, batch);
                    self.lock().running = Running::Nothing;
                    self.wake_beside.notify_one();
                    Some(REST)
                }
                WorkerTurn::Idle => {
                    process::release_memory();
                    None
                }
                WorkerTurn::Closed => return,
            };
        }
    }

    /// Waits for the next batch, for ever or as long as `limit`.
    fn wait_for_batch(&self, limit: Option<Duration>) -> WorkerTurn {
        let mut state = self.lock();
        loop {
            let leaves_bulk = state.leaves_bulk();
            if state.queue.has_some(leaves_bulk.is_none()) {
                let is_alive = |job: &ModelJob| job.client.is_alive();
                let batch = state.queue.next_batch(leaves_bulk.is_none(), is_alive);
                state.running = match () {
                    () if batch.is_of_short_queries() => Running::ShortQueries,
                    () if batch.is_bulk() => Running::Bulk,
                    () => Running::Other,
                };
                self.wake_beside.notify_one();
                return WorkerTurn::Batch(batch);
            }
            if state.closed {
                return WorkerTurn::Closed;
            }
            // What is left to the other thread now is not left to it for ever.
            let is_empty = state.queue.is_empty();
            let limit = if is_empty { limit } else { leaves_bulk };
            let (woken, timed_out) = self.wait(state, limit);
            state = woken;
            if timed_out && is_empty && state.queue.is_empty() && !state.closed {
                return WorkerTurn::Idle;
            }
        }
    }

    /// Runs something beside the other thread's batches.
    fn work_beside(&self, beside: Beside) {
        if self.wait_for_beside().is_none() {
            return;
        }
        // A client that waits now waits for the other thread.
        let mut model = match (beside.load)() {
            Ok(model) => model,
            Err(error) => return log::line(format!("questions wait for batches: {error}")),
        };
        self.lock().is_two = true;
        while let Some((mut state, lane)) = self.wait_for_beside() {
            let (queue, is_alive) = (&mut state.queue, |job: &ModelJob| job.client.is_alive());
            let batch = match lane {
                Lane::Query => queue.next_short_batch(is_alive),
                Lane::Fresh | Lane::Bulk => {
                    queue.next_bulk_batch(beside.max_batch_tokens, is_alive)
                }
            };
            drop(state);
            self.run(&mut model, batch);
        }
    }

    /// Waits until there is something to do beside the other thread's batch: of which lane. `None` if the
    /// model is no longer wanted.
    fn wait_for_beside(&self) -> Option<(MutexGuard<'_, WorkerState>, Lane)> {
        let mut state = self.lock();
        while !state.closed {
            if let Some(lane) = state.beside() {
                return Some((state, lane));
            }
            state = self.wake_beside.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        None
    }

    /// Runs a batch and sends each text what was read of it, or all of them why there is none.
    fn run(&self, model: &mut ModelInMemory, batch: TextBatch<ModelJob>) {
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

    fn compute(
        &self,
        model: &mut ModelInMemory,
        entries: &[QueueEntry<ModelJob>],
    ) -> Result<Vec<Vec<f32>>> {
        if entries.is_empty() {
            return Ok(Vec::new());
        }
        let texts: Vec<&ModelText> = entries.iter().map(|entry| &entry.payload.text).collect();
        let _under_way = self.heartbeat.begin_batch(model.name(), ModelRows::of(&texts).tokens());
        catch_unwind(AssertUnwindSafe(|| model.run(&texts))).unwrap_or_else(|_| {
            Err(Error::new(ErrorKind::Internal, "the thread that runs the model panicked"))
        })
    }

    fn wait<'a>(
        &'a self,
        state: MutexGuard<'a, WorkerState>,
        limit: Option<Duration>,
    ) -> (MutexGuard<'a, WorkerState>, bool) {
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

/// What a thread does next.
enum WorkerTurn {
    /// A batch, empty if the client that waited has gone.
    Batch(TextBatch<ModelJob>),
    /// No text came for a while.
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

/// A client that has gone meanwhile gets nothing, which is no error.
fn reply(job: ModelJob, numbers: Result<Vec<f32>>) {
    let _ = job.reply.send(Done { index: job.index, numbers });
}
