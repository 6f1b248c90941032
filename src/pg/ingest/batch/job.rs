//! Rows in hand: read, cut and embedded, and stored.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::error::Result;
use crate::pg::catalog::activity::{self, BatchWork};
use crate::pg::catalog::locking::{self, Chunks};
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::{self, Pipeline, RefreshMode};
use crate::pg::changes::keys::SourceKey;
use crate::pg::derivation::context_lines::KnownLines;
use crate::pg::ingest::chunk_store::SqlStore;
use crate::pg::ingest::fill::IngestTools;
use crate::pg::ingest::lease_renewal::{KeptVectors, LeaseRenewingEmbedder, LeaseWatch};
use crate::pg::ingest::queue::{self, ClaimFilter, Claimed};
use crate::pg::server::role::as_superuser;
use crate::pg::server::transaction::{Failure, Outcome, Transactions, caught};
use crate::pg::server::{guc, random};
use crate::pipeline::{
    ChunkStore, Document, EntityNamer, LineStore, Stages, StoredChunk, Vectors, prepare,
};
use crate::protocol::Lane;
use crate::scheduling::backoff::{Backoff, jittered};
use crate::scheduling::bisection::{self, Cause};
use crate::scheduling::pacing::Pace;

/// Pauses between attempts at a row.
const PAUSES: Backoff = Backoff::by(4, Duration::from_secs(1), Duration::from_secs(3600));

/// The rows of a pipeline that are in hand, and what is needed to embed them.
pub struct Batch {
    pipeline: Pipeline,
    lease: i64,
    rows: Vec<Claimed>,
    tools: IngestTools,
}

impl Batch {
    /// Takes up to `most` rows in hand.
    pub fn claim(
        pipeline: i32,
        lease: i64,
        most: usize,
        wanted: ClaimFilter,
    ) -> Result<Option<Batch>> {
        as_superuser(|| {
            let mut rows = queue::claim(pipeline, most as i64, lease, wanted)?;
            if rows.is_empty() && wanted == ClaimFilter::Fill {
                rows = queue::claim(pipeline, most as i64, lease, ClaimFilter::New)?;
            }
            let Some(pipeline) = pipeline::by_id(pipeline)? else { return Ok(None) };
            // Changed, and fewer than could be taken, or one of those of which one is taken.
            let is_fresh = wanted != ClaimFilter::Failed && rows.iter().all(|row| !row.is_fill);
            let is_soon_done = rows.len() < most.max(2);
            let lane = if is_fresh && is_soon_done { Lane::Fresh } else { Lane::Bulk };
            let tools = as_owner(&pipeline, || IngestTools::of(&pipeline, lane))?;
            let lease = rows.first().map(|row| row.lease);
            Ok(lease.map(|lease| Batch { pipeline, lease, rows, tools }))
        })
    }

    /// Whether a provider embeds the batch.
    pub fn is_remote(&self) -> bool {
        self.tools.embedding.is_remote()
    }
}

/// A batch under way.
pub struct BatchJob {
    transactions: Transactions,
    is_unwanted: fn() -> bool,
    batch: Batch,
    /// What a provider has embedded, until all of the batch is.
    kept: KeptVectors,
    /// Vectors of texts that were embedded, but could not be stored yet.
    embedded: Vectors,
    /// How fast it goes.
    pub pace: Pace,
    /// How many rows are left in hand, since all were too long to be done together.
    pub left: usize,
}

impl BatchJob {
    /// The job of a batch of which nothing is done yet.
    pub fn new(
        transactions: Transactions,
        is_unwanted: fn() -> bool,
        batch: Batch,
        pace: Pace,
    ) -> BatchJob {
        let kept = KeptVectors::of(batch.pipeline.id, batch.tools.embedding.name());
        let embedded = Vectors::new();
        BatchJob { transactions, is_unwanted, batch, kept, embedded, pace, left: 0 }
    }

    /// How many rows the batch has.
    pub fn rows(&self) -> usize {
        self.batch.rows.len()
    }

    /// The number of the lease under which the rows are in hand.
    pub fn lease(&self) -> i64 {
        self.batch.lease
    }

    /// Whether a process has gone that had its row in hand, and no other one.
    pub fn was_left_alone(&self) -> bool {
        self.batch.rows[0].was_left_alone()
    }

    /// Keeps what has been paid for until it is tried again.
    pub fn put_back(self) {
        self.kept.put_back();
    }

    fn embed_and_store(&mut self, places: &[usize]) -> Outcome<()> {
        let begun = Instant::now();
        let (mut documents, mut known) = self.transactions.run(|| self.load(places))?;
        let bytes: usize = documents.iter().map(Document::bytes).sum();
        self.pace.read(documents.len(), bytes);
        documents.truncate(self.within(&documents));
        let (places, left) = places.split_at(documents.len());
        let bytes: usize = documents.iter().map(Document::bytes).sum();
        known.extend(self.embedded.iter().map(|(hash, vector)| (*hash, vector.clone())));
        let Batch { pipeline, lease, tools, .. } = &mut self.batch;
        let watch = LeaseWatch {
            transactions: self.transactions,
            pipeline: pipeline.id,
            lease: *lease,
            renewed: begun,
            is_unwanted: self.is_unwanted,
        };
        let mut namer = tools.namer(pipeline, Some(watch));
        let mut embedder =
            LeaseRenewingEmbedder { inner: &mut tools.embedding, kept: &mut self.kept, watch };
        let mut lines = KnownLines::of(pipeline, Some(self.transactions));
        let mut stages = Stages {
            reader: &mut tools.reader,
            chunker: &mut tools.chunker,
            embedder: &mut embedder,
            contextual: tools.contextual,
            lines: lines.as_mut().map(|it| it as &mut dyn LineStore),
            late: tools.late,
            namer: namer.as_mut().map(|it| it as &mut dyn EntityNamer),
        };
        let prepared = caught(|| prepare(&documents, known, &mut stages))?;
        // What had vectors already takes no time.
        let share = prepared.embedded as f64 / prepared.chunks.len().max(1) as f64;
        self.pace.took((bytes as f64 * share) as usize, begun.elapsed());
        let work = BatchWork {
            rows: places.len(),
            chunks: prepared.chunks.len(),
            embedded: prepared.embedded,
            tokens: prepared.tokens,
            seconds: begun.elapsed().as_secs_f64(),
        };
        let stored = self.store(places, &documents, &prepared.chunks, &work);
        match stored {
            Ok(outdated) => self.left += left.len() + outdated,
            Err(_) => {
                let vectors = prepared.chunks.into_iter().map(|chunk| (chunk.hash, chunk.vector));
                self.embedded.extend(vectors);
            }
        }
        stored.map(drop)
    }

    /// How many of the documents are done together, one at least; the others are left.
    fn within(&self, documents: &[Document]) -> usize {
        let mut left = self.pace.most_bytes();
        let fitting = documents.iter().take_while(|document| {
            let fits = document.bytes() <= left;
            left = left.saturating_sub(document.bytes());
            fits
        });
        fitting.count().max(1).min(documents.len())
    }

    /// The documents in these places, and the vectors that their chunks have now.
    fn load(&self, places: &[usize]) -> Result<(Vec<Document>, Vectors)> {
        let Batch { pipeline, rows, .. } = &self.batch;
        let keys: Vec<SourceKey> = places.iter().map(|at| rows[*at].key.clone()).collect();
        as_superuser(|| {
            as_owner(pipeline, || {
                let mut store = SqlStore::of(pipeline)?;
                let documents = store.documents(&keys)?;
                let known = store.known_vectors(&documents)?;
                Ok((documents, known))
            })
        })
    }

    /// Stores what the documents have become; how many are left in hand since that is outdated.
    fn store(
        &self,
        places: &[usize],
        documents: &[Document],
        chunks: &[StoredChunk],
        work: &BatchWork,
    ) -> Outcome<usize> {
        let Batch { pipeline, lease, rows, .. } = &self.batch;
        let rows: Vec<&Claimed> = places.iter().map(|at| &rows[*at]).collect();
        locking::at_work(self.transactions, pipeline.id, Chunks::Written, |pipeline| {
            let Some(pipeline) = pipeline else { return Ok(0) };
            // Rows whose lease has run out belong to another process now.
            let owned = queue::owned(pipeline.id, *lease)?;
            let owned: Vec<(&Claimed, i64)> =
                rows.iter().filter_map(|row| Some((*row, *owned.get(&row.key)?))).collect();
            let done = match pipeline.refresh {
                RefreshMode::Sync => not_outdated(pipeline, &owned)?,
                RefreshMode::Async | RefreshMode::Manual => {
                    owned.iter().map(|(row, _)| *row).collect()
                }
            };
            let keys = done.iter().map(|row| &row.key).collect();
            let (documents, chunks) = only(&keys, documents, chunks);
            as_owner(pipeline, || SqlStore::of(pipeline)?.replace(&documents, &chunks))?;
            queue::done(pipeline.id, *lease, &done)?;
            activity::note_work(
                pipeline.id,
                &BatchWork { rows: done.len(), chunks: chunks.len(), ..*work },
            )?;
            Ok(owned.len() - done.len())
        })
    }

    /// Notes that a row has failed.
    pub fn fail(&self, place: usize, failure: &Failure) -> Outcome<()> {
        let Batch { pipeline, lease, rows, .. } = &self.batch;
        let row = &rows[place];
        let is_last = row.attempts + 1 >= guc::max_attempts();
        let pause = PAUSES.pause(u32::try_from(row.attempts).unwrap_or_default());
        let pause = (!is_last).then(|| jittered(pause, random::fraction()));
        let reason = failure.reason();
        self.transactions.run(|| {
            as_superuser(|| match pipeline::hold(pipeline.id)? {
                Some(_) => queue::fail(pipeline.id, *lease, row, &reason, pause),
                None => Ok(()),
            })
        })
    }
}

impl bisection::DivisibleBatch for BatchJob {
    type Failure = Failure;

    fn attempt(&mut self, places: &[usize]) -> Outcome<()> {
        self.embed_and_store(places)
    }

    fn note_failure(&mut self, place: usize, failure: &Failure) -> Outcome<()> {
        self.fail(place, failure)
    }

    fn cause(failure: &Failure) -> Cause {
        failure.cause
    }
}

/// The rows in hand, each with its last change that is queued, that no statement has changed since they were claimed. With
/// synchronous refresh it has stored their chunks itself, and these are newer.
fn not_outdated<'a>(pipeline: &Pipeline, owned: &[(&'a Claimed, i64)]) -> Result<Vec<&'a Claimed>> {
    let keys: Vec<SourceKey> = owned.iter().map(|(row, _)| row.key.clone()).collect();
    // A statement that has stored chunks, and is not committed, is waited for here; one that comes later waits for this
    // transaction.
    as_owner(pipeline, || SqlStore::of(pipeline)?.lock(&keys))?;
    let changed = queue::noted(pipeline.id, pipeline.key_columns)?;
    let is_last =
        |(row, change): &&(&Claimed, i64)| row.change == *change && !changed.contains(&row.key);
    Ok(owned.iter().filter(is_last).map(|(row, _)| *row).collect())
}

/// The documents among `documents` with these keys, and their chunks.
fn only(
    keys: &HashSet<&SourceKey>,
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
