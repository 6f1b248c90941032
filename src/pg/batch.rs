//! The work of a pipeline, batch by batch: what workers do, and `rag_run`.
//!
//! ```text
//! take what sessions left → lease rows of the queue, read them │ cut, embed │ store, give back
//!                     a transaction                            │    none    │  a transaction
//! ```
//!
//! What is of pg_rag is read and written as the superuser, what is of the user as the owner of
//! the source: its types, views and expressions may run code of that owner.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::acting::{as_owner, as_superuser};
use super::capture::keys::Key;
use super::catalog::pipeline::{self, Pipeline};
use super::chunk_store::SqlStore;
use super::ingest::Tools;
use super::locking::{self, Chunks};
use super::queue::{self, Claimed, Work};
use super::renewing::{Kept, Renewing};
use super::represent::Describer;
use super::rounds::Rounds;
use super::situate::{KnownLines, Situater};
use super::transaction::{Failure, Outcome, Transactions, caught};
use super::usage::ForPipeline;
use super::{drain, generation, guc, random};
use crate::error::Result;
use crate::pipeline::{ChunkStore, Document, LineStore, Stages, StoredChunk, Vectors, prepare};

/// About so many bytes of text are embedded between two transactions.
const BYTES_A_BATCH: usize = 128 << 10;
/// Rows of a pipeline's first batch, whose size nobody knows, and of any.
const FIRST_ROWS: i64 = 16;
const MOST_ROWS: i64 = 256;
/// Seconds before the second attempt at a row; each one waits longer.
const FIRST_PAUSE: f64 = 1.0;
const LONGEST_PAUSE: f64 = 3600.0;
/// The longest pause where a model or provider can't be reached.
const LONGEST_OUTAGE_PAUSE: f64 = 60.0;
/// After so many, an error of a provider is taken for one about the row.
const OUTAGES_IN_A_ROW: u32 = 5;
/// A provider that has answered within this time answers.
const RECENTLY: Duration = Duration::from_secs(60);
/// The pause before an index is tried again that could not be built.
const PAUSE_FOR_INDEX: Duration = Duration::from_secs(60);
/// The same, where others are at work on the pipeline.
const PAUSE_FOR_OTHERS: Duration = Duration::from_millis(50);
/// The same, where others held a lock.
const PAUSE_FOR_LOCKS: Duration = Duration::from_secs(1);

/// What a step came to.
#[derive(Clone, Debug)]
pub enum Step {
    /// There may be more to do.
    Worked(usize),
    /// There is nothing to do now.
    Idle,
    /// Something is left to do that could not be done now.
    Later(Duration),
    /// Something is out of order that may be in order again soon.
    Passing(Failure),
}

/// Does the work of pipelines, step by step.
pub struct Runner {
    transactions: Transactions,
    /// Whether somebody waits for this process to leave.
    is_unwanted: fn() -> bool,
    /// The only pipeline, or all that workers see to.
    only: Option<i32>,
    last: i32,
    /// About the bytes of a row, by pipeline.
    row_bytes: HashMap<i32, usize>,
    /// When new rows were last done, by pipeline.
    answered: HashMap<i32, Instant>,
    /// How often in a row something was out of order, by pipeline.
    outages: HashMap<i32, u32>,
    finish_not_before: HashMap<i32, Instant>,
    /// Who has language models write about chunks when there is nothing else to do.
    writers: Option<(Situater, Describer)>,
    /// Which pipelines it sees to.
    workable: fn(Option<i32>) -> Result<Vec<(i32, bool)>>,
}

impl Runner {
    /// For all pipelines, or one of them.
    pub fn new(transactions: Transactions, only: Option<i32>, is_unwanted: fn() -> bool) -> Runner {
        Runner {
            transactions,
            is_unwanted,
            only,
            last: 0,
            row_bytes: HashMap::new(),
            answered: HashMap::new(),
            outages: HashMap::new(),
            finish_not_before: HashMap::new(),
            writers: Some((Situater::default(), Describer::default())),
            workable: queue::workable,
        }
    }

    /// The same, but that others have language models write.
    pub fn without_writers(self) -> Runner {
        Runner { writers: None, ..self }
    }

    /// The same, but of those pipelines that nobody else is at work on.
    pub fn apart(self) -> Runner {
        Runner { workable: queue::workable_apart, ..self.without_writers() }
    }

    /// Does some of what there is to do.
    pub fn step(&mut self) -> Outcome<Step> {
        let changed = self.transactions.run(|| as_superuser(|| queue::changed(self.only)))?;
        if let Some(pipeline) = changed
            && let Err(failure) = drain::drain(self.transactions, pipeline)
        {
            return self.outage(pipeline, None, failure);
        }
        // Asked first: what others have drained by then is seen in the queue.
        let is_elsewhere = changed.is_none() && self.is_changed_elsewhere()?;
        if self.finish_filling()? {
            return Ok(Step::Worked(0));
        }
        let workable = self.transactions.run(|| as_superuser(|| (self.workable)(self.only)))?;
        match self.choose(&workable) {
            Some((pipeline, is_new)) => self.batch(pipeline, is_new),
            None if changed.is_some() => Ok(Step::Worked(0)),
            None if is_elsewhere => Ok(Step::Later(PAUSE_FOR_OTHERS)),
            None => self.write(),
        }
    }

    /// A worker leaves to others what they have in hand; who sees to one pipeline only waits for it.
    fn is_changed_elsewhere(&self) -> Outcome<bool> {
        let Some(only) = self.only else { return Ok(false) };
        self.transactions.run(|| as_superuser(|| queue::is_changed_elsewhere(only)))
    }

    /// There is nothing to embed: what language models say of chunks can be had. First in which
    /// connection they stand, since what is made of them is kept by their text in it.
    fn write(&mut self) -> Outcome<Step> {
        let (transactions, only, is_unwanted) = (self.transactions, self.only, self.is_unwanted);
        let Some((situater, describer)) = &mut self.writers else { return Ok(self.idle()) };
        let situated = situater.step(transactions, only, is_unwanted)?;
        if situated > 0 {
            describer.rounds.look_again();
            return Ok(Step::Worked(situated));
        }
        let waits = |id| situater.rounds.waits(id);
        let described = describer.step(transactions, only, is_unwanted, waits)?;
        Ok(if described > 0 { Step::Worked(described) } else { self.idle() })
    }

    /// New work before what has failed, and the pipelines in turns.
    fn choose(&mut self, workable: &[(i32, bool)]) -> Option<(i32, bool)> {
        let (_, is_new) = *workable.first()?;
        let same = || workable.iter().filter(|(_, other)| *other == is_new);
        let chosen = same().find(|(id, _)| *id > self.last).or_else(|| same().next())?;
        self.last = chosen.0;
        Some(*chosen)
    }

    fn batch(&mut self, pipeline: i32, is_new: bool) -> Outcome<Step> {
        let lease = queue::new_lease()?;
        let most = match self.row_bytes.get(&pipeline) {
            _ if !is_new => 1,
            Some(bytes) => ((BYTES_A_BATCH / bytes.max(&1)) as i64).clamp(1, MOST_ROWS),
            None => FIRST_ROWS,
        };
        let claimed = self.transactions.run(|| Batch::claim(pipeline, lease, most, is_new));
        let batch = match claimed {
            Ok(Some(batch)) => batch,
            Ok(None) => return Ok(Step::Worked(0)),
            // The claim is undone with the transaction.
            Err(failure) => return self.outage(pipeline, None, failure),
        };
        let outages = self.outages.get(&pipeline).copied().unwrap_or_default();
        // A row that failed while others did not long ago is not tried again for the others' sake.
        let answered = self.answered.get(&pipeline).is_some_and(|time| time.elapsed() < RECENTLY);
        let doubts_provider = outages < OUTAGES_IN_A_ROW && (is_new || !answered);
        let kept = Kept::of(pipeline, batch.tools.embedding.name());
        let mut job = Job {
            transactions: self.transactions,
            is_unwanted: self.is_unwanted,
            batch,
            kept,
            embedded: Vectors::new(),
            row_bytes: None,
            doubts_provider,
        };
        if job.batch.rows[0].was_left_alone() {
            return job.fail(0, &Failure::of_ended_worker()).map(|()| Step::Worked(1));
        }
        let (lease, rows) = (job.batch.lease, (0..job.batch.rows.len()).collect::<Vec<usize>>());
        let passing = job.run(&rows)?;
        if let Some(bytes) = job.row_bytes {
            self.row_bytes.insert(pipeline, bytes);
        }
        match passing {
            None => {
                self.outages.remove(&pipeline);
                if is_new {
                    self.answered.insert(pipeline, Instant::now());
                }
                Ok(Step::Worked(rows.len()))
            }
            Some(failure) if failure.is_over_time => {
                let apart = || queue::set_apart(pipeline, lease, &failure.reason());
                self.transactions.run(|| as_superuser(apart)).map(|()| Step::Worked(rows.len()))
            }
            Some(failure) => {
                job.kept.put_back();
                self.outage(pipeline, Some(lease), failure)
            }
        }
    }

    /// Something is out of order and it isn't a row: the whole pipeline waits, and rows in hand go
    /// back.
    fn outage(&mut self, pipeline: i32, lease: Option<i64>, failure: Failure) -> Outcome<Step> {
        let seconds = self.outage_seconds(pipeline, &failure);
        let reason = failure.reason();
        self.transactions.run(|| {
            as_superuser(|| {
                if pipeline::hold(pipeline)?.is_none() {
                    return Ok(());
                }
                // First the pipeline, then its queue.
                if !failure.is_cancel() {
                    queue::postpone(pipeline, seconds)?;
                    queue::note_failure(pipeline, 0, &reason)?;
                }
                match lease {
                    Some(lease) => queue::release(pipeline, lease),
                    None => Ok(()),
                }
            })
        })?;
        Ok(Step::Passing(failure))
    }

    fn outage_seconds(&mut self, pipeline: i32, failure: &Failure) -> f64 {
        if failure.is_lock_taken() || failure.is_deadlock() {
            return with_jitter(PAUSE_FOR_LOCKS.as_secs_f64());
        }
        let count = self.outages.entry(pipeline).or_default();
        *count += 1;
        failure.retry_after.unwrap_or_else(|| {
            let doubled = 0.5 * 2f64.powi((*count).min(10) as i32);
            with_jitter(doubled.min(LONGEST_OUTAGE_PAUSE))
        })
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
                self.transactions.run(|| as_superuser(|| queue::note_failure(id, 0, &reason)))?;
                if matches!(self.transactions, Transactions::OfProcedure) {
                    return Err(failure);
                }
                if failure.is_passing { PAUSE_FOR_LOCKS } else { PAUSE_FOR_INDEX }
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
    fn idle(&self) -> Step {
        let soonest = self.finish_not_before.values().min();
        let finish = soonest.map(|time| time.saturating_duration_since(Instant::now()));
        let rounds = self.writers.iter().flat_map(|(it, other)| [&it.rounds, &other.rounds]);
        finish
            .into_iter()
            .chain(rounds.filter_map(Rounds::pause))
            .min()
            .map_or(Step::Idle, Step::Later)
    }
}

fn with_jitter(seconds: f64) -> f64 {
    seconds * (0.75 + 0.5 * random::fraction())
}

/// Rows in hand.
struct Batch {
    pipeline: Pipeline,
    lease: i64,
    rows: Vec<Claimed>,
    tools: Tools,
}

impl Batch {
    fn claim(pipeline: i32, lease: i64, most: i64, is_new: bool) -> Result<Option<Batch>> {
        as_superuser(|| {
            let rows = queue::claim(pipeline, most, lease, is_new)?;
            let Some(pipeline) = pipeline::by_id(pipeline)? else { return Ok(None) };
            let tools = as_owner(&pipeline, || Tools::of(&pipeline))?;
            let lease = rows.first().map(|row| row.lease);
            Ok(lease.map(|lease| Batch { pipeline, lease, rows, tools }))
        })
    }
}

/// A batch under way.
struct Job {
    transactions: Transactions,
    is_unwanted: fn() -> bool,
    batch: Batch,
    /// What a provider has embedded, until all of the batch is.
    kept: Kept,
    /// Vectors of texts that were embedded, but could not be stored yet.
    embedded: Vectors,
    /// About the bytes of a row.
    row_bytes: Option<usize>,
    /// Whether an error of a provider is taken for its own, and not for one about a row.
    doubts_provider: bool,
}

impl Job {
    /// Embeds and stores the rows in these places of the batch. A row that can't be embedded is
    /// found by halves and noted; the others are not its concern. Returns what is out of order
    /// where it is not a row: then nothing is noted.
    fn run(&mut self, places: &[usize]) -> Outcome<Option<Failure>> {
        let failure = match self.embed_and_store(places) {
            Ok(()) => return Ok(None),
            Err(failure) if failure.is_passing => return Ok(Some(failure)),
            // Not by halves, each of which would take that long: others wait.
            Err(failure) if failure.is_over_time => {
                if let [place] = places {
                    self.fail(*place, &failure)?;
                }
                return Ok(Some(failure));
            }
            Err(failure) => failure,
        };
        if failure.is_of_provider && self.doubts_provider {
            let (Some(first), Some(last)) = (places.first(), places.last()) else {
                return Ok(None);
            };
            // If it answers for one of these, there is something about another row.
            let answers = places.len() > 1
                && (self.embed_and_store(&[*first]).is_ok()
                    || self.embed_and_store(&[*last]).is_ok());
            if !answers {
                return Ok(Some(failure));
            }
            self.doubts_provider = false;
        }
        if let [place] = places {
            self.fail(*place, &failure)?;
            return Ok(None);
        }
        let (first, second) = places.split_at(places.len() / 2);
        match self.run(first)? {
            None => self.run(second),
            passing => Ok(passing),
        }
    }

    fn embed_and_store(&mut self, places: &[usize]) -> Outcome<()> {
        let begun = Instant::now();
        let (documents, mut known) = self.transactions.run(|| self.load(places))?;
        let bytes: usize = documents.iter().map(Document::bytes).sum();
        self.row_bytes.get_or_insert(bytes.div_ceil(documents.len().max(1)));
        known.extend(self.embedded.iter().map(|(hash, vector)| (*hash, vector.clone())));
        let Batch { pipeline, lease, tools, .. } = &mut self.batch;
        let _spending = ForPipeline::new(pipeline.id);
        let mut embedder = Renewing {
            inner: &mut tools.embedding,
            kept: &mut self.kept,
            transactions: self.transactions,
            pipeline: pipeline.id,
            lease: *lease,
            renewed: begun,
            is_unwanted: self.is_unwanted,
        };
        let mut lines = KnownLines::of(pipeline, Some(self.transactions));
        let mut stages = Stages {
            reader: &mut tools.reader,
            chunker: &mut tools.chunker,
            embedder: &mut embedder,
            contextual: tools.contextual,
            lines: lines.as_mut().map(|it| it as &mut dyn LineStore),
            late: tools.late,
        };
        let prepared = caught(|| prepare(&documents, known, &mut stages))?;
        let work = Work {
            rows: places.len(),
            chunks: prepared.chunks.len(),
            embedded: prepared.embedded,
            tokens: prepared.tokens,
            seconds: begun.elapsed().as_secs_f64(),
        };
        let stored = self.store(places, &documents, &prepared.chunks, &work);
        if stored.is_err() {
            let vectors = prepared.chunks.into_iter().map(|chunk| (chunk.hash, chunk.vector));
            self.embedded.extend(vectors);
        }
        stored
    }

    /// The documents in these places, and the vectors that their chunks have now.
    fn load(&self, places: &[usize]) -> Result<(Vec<Document>, Vectors)> {
        let Batch { pipeline, rows, .. } = &self.batch;
        let keys: Vec<Key> = places.iter().map(|at| rows[*at].key.clone()).collect();
        as_superuser(|| {
            as_owner(pipeline, || {
                let mut store = SqlStore::of(pipeline)?;
                let documents = store.documents(&keys)?;
                let known = store.known_vectors(&documents)?;
                Ok((documents, known))
            })
        })
    }

    fn store(
        &self,
        places: &[usize],
        documents: &[Document],
        chunks: &[StoredChunk],
        work: &Work,
    ) -> Outcome<()> {
        let Batch { pipeline, lease, rows, .. } = &self.batch;
        locking::at_work(self.transactions, pipeline.id, Chunks::Written, |pipeline| {
            let Some(pipeline) = pipeline else { return Ok(()) };
            // Whose lease has run out is somebody else's now.
            let owned = queue::owned(pipeline.id, *lease)?;
            let (documents, chunks) = only(&owned, documents, chunks);
            as_owner(pipeline, || SqlStore::of(pipeline)?.replace(&documents, &chunks))?;
            let done: Vec<&Claimed> =
                places.iter().map(|at| &rows[*at]).filter(|row| owned.contains(&row.key)).collect();
            queue::done(pipeline.id, *lease, &done)?;
            queue::note_work(pipeline.id, &Work { rows: done.len(), chunks: chunks.len(), ..*work })
        })
    }

    fn fail(&self, place: usize, failure: &Failure) -> Outcome<()> {
        let Batch { pipeline, lease, rows, .. } = &self.batch;
        let row = &rows[place];
        let is_last = row.attempts + 1 >= guc::max_attempts();
        let pause = with_jitter((FIRST_PAUSE * 4f64.powi(row.attempts)).min(LONGEST_PAUSE));
        let seconds = (!is_last).then_some(pause);
        let reason = failure.reason();
        self.transactions.run(|| {
            as_superuser(|| match pipeline::hold(pipeline.id)? {
                Some(_) => queue::fail(pipeline.id, *lease, row, &reason, seconds),
                None => Ok(()),
            })
        })
    }
}

/// The documents among `documents` with these keys, and their chunks.
fn only(
    keys: &HashSet<Key>,
    documents: &[Document],
    chunks: &[StoredChunk],
) -> (Vec<Document>, Vec<StoredChunk>) {
    let mut kept = Vec::new();
    let places: Vec<Option<usize>> = documents
        .iter()
        .map(|document| {
            keys.contains(&document.key).then(|| {
                kept.push(document.clone());
                kept.len() - 1
            })
        })
        .collect();
    let chunks = chunks.iter().filter_map(|chunk| {
        Some(StoredChunk { document: places[chunk.document]?, ..chunk.clone() })
    });
    let chunks = chunks.collect();
    (kept, chunks)
}
