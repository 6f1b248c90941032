//! Source rows become chunks within one statement: a new pipeline over a small table, and what
//! a statement changed with synchronous refresh. Everything else is done in batches by [`super::batch`].

use std::time::{Duration, Instant};

use pgrx::prelude::*;

use super::chunk_namer::ChunkNamer;
use super::chunk_store::SqlStore;
use super::lease_renewal::LeaseWatch;
use crate::chunk::ChunkingMethod;
use crate::error::{Error, ErrorKind, Result};
use crate::parse::ParseOptions;
use crate::pg::catalog::activity::BatchWork;
use crate::pg::catalog::model;
use crate::pg::catalog::pipeline::{Pipeline, RefreshMode};
use crate::pg::catalog::relation::index_vectors;
use crate::pg::catalog::view::ViewColumn;
use crate::pg::changes::keys::SourceKey;
use crate::pg::derivation::context_lines::KnownLines;
use crate::pg::derivation::mentions;
use crate::pg::index::hnsw;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::chunk::{RemoteChunker, fitted};
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::parse::RemoteParser;
use crate::pg::server::error::spi_failed;
use crate::pg::server::sql::{self, query, render};
use crate::pg::server::time_limit;
use crate::pipeline::{ChunkStore, EntityNamer, LineStore, Stages};
use crate::protocol::Lane;

/// Rows read at a time.
const ROWS_A_BATCH: usize = 64;

/// How often a long fill says how far it is.
const NOTICE_EVERY: Duration = Duration::from_secs(5);

/// Chunks and embeds all rows of a new pipeline's source; what that was.
pub fn fill(pipeline: &Pipeline) -> Result<BatchWork> {
    let begun = Instant::now();
    let mut ingestion = Ingestion::of(pipeline, Lane::Bulk)?;
    let query = ingestion.store.all_keys();
    let mut progress = FillProgress::start(&pipeline.name);
    sql::connect(&query, |client| {
        let mut cursor = client.try_open_cursor_mut(&query, &[]).map_err(spi_failed)?;
        loop {
            let rows = cursor.fetch(ROWS_A_BATCH as i64).map_err(spi_failed)?;
            let keys = rows.into_iter().map(|row| sql::required(row.get::<SourceKey>(1)?));
            let keys: Vec<SourceKey> = keys.collect::<Result<_, _>>().map_err(spi_failed)?;
            if keys.is_empty() {
                return Ok::<_, Error>(());
            }
            let done = ingestion.run(&keys, &mut progress);
            done.map_err(|error| without_document(error, pipeline))?;
        }
    })?;
    Ok(BatchWork { seconds: begun.elapsed().as_secs_f64(), ..ingestion.work })
}

/// Says how the other rows of a new pipeline get in where the document of one cannot be read.
fn without_document(error: Error, pipeline: &Pipeline) -> Error {
    let is_document =
        matches!(error.kind(), ErrorKind::DocumentUnreadable | ErrorKind::DocumentLimit);
    if !is_document || pipeline.refresh != RefreshMode::Async {
        return error;
    }
    let way = "With options => '{\"backfill\": \"background\"}' workers embed the rows, and one that cannot be read stays in rag.dead_letter.";
    let hint = error.hint_text().map_or(way.to_owned(), |known| format!("{known} {way}"));
    error.hint(hint)
}

/// Rows of a source and bytes of their content; no more than `most` rows are looked at.
pub fn content_size(pipeline: &Pipeline, most: i64) -> Result<(i64, i64)> {
    let values = [("content_view", pipeline.content_view.sql.as_str())];
    let statement = render(query!(generation.content_size), &values);
    let found = sql::rows(&statement, &[most.into()], |row| {
        Ok((sql::required(row.get(1)?)?, sql::required(row.get(2)?)?))
    })?;
    Ok(found.into_iter().next().unwrap_or_default())
}

/// Chunks and embeds the rows with these keys, or forgets those that are gone.
pub fn refresh(pipeline: &Pipeline, keys: &[SourceKey]) -> Result<()> {
    let lane = if keys.len() <= ROWS_A_BATCH { Lane::Fresh } else { Lane::Bulk };
    let mut ingestion = Ingestion::of(pipeline, lane)?;
    let mut progress = FillProgress::start(&pipeline.name);
    keys.chunks(ROWS_A_BATCH).try_for_each(|keys| ingestion.run(keys, &mut progress))
}

/// Drops the chunks of rows that are in the source no more; how many.
pub fn forget_gone(pipeline: &Pipeline) -> Result<usize> {
    SqlStore::of(pipeline)?.forget_gone()
}

/// Indexes the vectors of a pipeline that has been filled: an index over what is there is built
/// faster, and is better, than one that grows.
pub fn build_index(pipeline: &Pipeline) -> Result<()> {
    let metadata = SqlStore::of(pipeline)?.columns.metadata;
    index_vectors(&pipeline.chunk_table, &filter_columns(&metadata))?;
    let values = [("chunk_table", pipeline.chunk_table.sql.as_str())];
    let analyze = render(query!(generation.analyze), &values);
    // It computes the expressions of indexes that the owner may have made.
    let tables = [pipeline.chunk_table.oid];
    time_limit::limited_by_rows(&tables, || sql::execute(&analyze, &[])).map(drop)
}

/// The metadata columns that the index of the vectors can filter by, as far as it takes them.
fn filter_columns(metadata: &[ViewColumn]) -> String {
    let filterable = metadata.iter().filter(|column| hnsw::can_filter_by(column.type_oid));
    filterable.take(hnsw::MOST_FILTERS).map(|column| format!(", {}", column.name)).collect()
}

/// What reads, cuts and embeds the documents of a pipeline.
pub struct IngestTools {
    /// Reads the text of files.
    pub reader: RemoteParser,
    /// Cuts documents into chunks.
    pub chunker: RemoteChunker,
    /// Embeds the chunks.
    pub embedding: Embedding,
    /// Whether it embeds title and headings with each chunk.
    pub contextual: bool,
    /// Whether it embeds a document as a whole and cuts it afterwards.
    pub late: bool,
    /// The line in which chunks wait for a model that finds what they name, where one is to.
    naming: Option<Lane>,
}

impl IngestTools {
    /// The tools of `pipeline`; what they embed waits in `lane`.
    pub fn of(pipeline: &Pipeline, lane: Lane) -> Result<Self> {
        let context = CallContext::in_lane(lane).for_pipeline(pipeline.id);
        let model = model::find(Some(&pipeline.model))?;
        let options = fitted(pipeline, &model);
        let keeps_pages = options.base() == ChunkingMethod::Page;
        Ok(IngestTools {
            reader: RemoteParser { mime: None, options: ParseOptions::default(), keeps_pages },
            chunker: RemoteChunker { model: model.reference, options },
            embedding: Embedding::with_model(Some(&pipeline.model), context)?,
            contextual: pipeline.contextual,
            late: pipeline.chunking.late,
            naming: mentions::has_model(pipeline)?.then_some(lane),
        })
    }

    /// What finds out what the chunks of `pipeline` name, where a model does; `watch` as [`ChunkNamer::watch`].
    pub fn namer<'a>(
        &self,
        pipeline: &'a Pipeline,
        watch: Option<LeaseWatch>,
    ) -> Option<ChunkNamer<'a>> {
        self.naming.map(|lane| ChunkNamer { pipeline, lane, watch })
    }
}

struct Ingestion<'a> {
    pipeline: &'a Pipeline,
    /// Nothing is needed of a model to forget rows that are gone.
    tools: Option<IngestTools>,
    lane: Lane,
    store: SqlStore<'a>,
    /// What has been done.
    work: BatchWork,
}

impl<'a> Ingestion<'a> {
    fn of(pipeline: &'a Pipeline, lane: Lane) -> Result<Self> {
        let (store, work) = (SqlStore::of(pipeline)?, BatchWork::default());
        Ok(Ingestion { pipeline, tools: None, lane, store, work })
    }

    fn run(&mut self, keys: &[SourceKey], progress: &mut FillProgress<'_>) -> Result<()> {
        let documents = self.store.documents(keys)?;
        self.work.rows += documents.len();
        if documents.iter().all(|document| document.bytes() == 0) {
            self.store.replace(&documents, &[])?;
            progress.advance(documents.len(), 0);
            return Ok(());
        }
        let tools = match self.tools.take() {
            Some(tools) => tools,
            None => IngestTools::of(self.pipeline, self.lane)?,
        };
        let tools = self.tools.insert(tools);
        let mut namer = tools.namer(self.pipeline, None);
        let namer = namer.as_mut().map(|it| it as &mut dyn EntityNamer);
        let IngestTools { reader, chunker, embedding, contextual, late, .. } = tools;
        let (contextual, late) = (*contextual, *late);
        let mut lines = KnownLines::of(self.pipeline, None);
        let lines = lines.as_mut().map(|it| it as &mut dyn LineStore);
        let embedder = embedding;
        let mut stages = Stages { reader, chunker, embedder, contextual, lines, late, namer };
        let done = crate::pipeline::ingest(&documents, &mut stages, &mut self.store)?;
        self.work.chunks += done.chunks.len();
        self.work.embedded += done.embedded;
        self.work.tokens += done.tokens;
        progress.advance(documents.len(), done.chunks.len());
        Ok(())
    }
}

/// Says from time to time how far a long statement is.
pub struct FillProgress<'a> {
    pipeline: &'a str,
    documents: usize,
    chunks: usize,
    said: Instant,
}

impl<'a> FillProgress<'a> {
    /// Nothing is done yet.
    pub fn start(pipeline: &'a str) -> Self {
        FillProgress { pipeline, documents: 0, chunks: 0, said: Instant::now() }
    }

    /// Adds to what is done: so many documents and chunks. Who does not know of chunks says 0, and they are not mentioned.
    pub fn advance(&mut self, documents: usize, chunks: usize) {
        self.documents += documents;
        self.chunks += chunks;
        if self.said.elapsed() >= NOTICE_EVERY {
            let FillProgress { pipeline, documents, chunks, .. } = self;
            match chunks {
                0 => notice!("pipeline \"{pipeline}\": {documents} rows done"),
                _ => notice!("pipeline \"{pipeline}\": {documents} rows done, {chunks} chunks"),
            }
            self.said = Instant::now();
        }
    }
}
