//! Source rows become chunks: the store behind [`crate::pipeline::ingest`], and the two
//! occasions, a new pipeline and a changed row.

use std::collections::HashMap;
use std::ffi::CStr;
use std::time::{Duration, Instant};

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::{SpiHeapTupleData, quote_literal};

use super::am;
use super::catalog::view::{Column, ContentColumns, content_columns};
use super::catalog::{model, pipeline::Pipeline};
use super::error::spi_failed;
use super::functions::{Embedding, RemoteChunker};
use super::sql::{self, render};
use super::vector::Vector;
use crate::daemon::protocol::Lane;
use crate::error::Result;
use crate::pipeline::{ChunkStore, ContentHash, Document, Ingested, StoredChunk};

/// Rows read at a time.
const ROWS_A_BATCH: i64 = 64;

/// How often a long fill says how far it is.
const NOTICE_EVERY: Duration = Duration::from_secs(5);

/// Chunks and embeds all rows of a new pipeline's source, and indexes their vectors.
pub fn backfill(pipeline: &Pipeline) -> Result<()> {
    let mut ingestion = Ingestion::of(pipeline)?;
    let documents = ingestion.store.documents_all();
    ingestion.run(&documents)?;
    let values = [
        ("chunk_table", pipeline.chunk_table.sql.as_str()),
        ("opclass_schema", &sql::opclass_schema()?),
        ("name", &index_name(pipeline.chunk_table.oid, c"embedding")),
        ("filters", &filter_columns(&ingestion.store.columns.metadata)),
    ];
    // An index over what is there is built faster, and is better, than one that grows.
    let index = render(include_str!("../../sql/query/create_vector_index.sql"), &values);
    sql::execute(&index, &[])?;
    sql::execute(&render(include_str!("../../sql/query/analyze.sql"), &values[..1]), &[]).map(drop)
}

/// A name, quoted, for a new index over a column of a table, as PostgreSQL would choose it.
fn index_name(table: pg_sys::Oid, column: &CStr) -> String {
    // SAFETY: look-ups by OID, which give names of this memory context; the table exists.
    unsafe {
        let name = pg_sys::ChooseRelationName(
            pg_sys::get_rel_name(table),
            column.as_ptr(),
            c"idx".as_ptr(),
            pg_sys::get_rel_namespace(table),
            false,
        );
        pgrx::spi::quote_identifier(CStr::from_ptr(name).to_string_lossy())
    }
}

/// The metadata columns that the index of the vectors can filter by, as far as it takes them.
fn filter_columns(metadata: &[Column]) -> String {
    let filterable = metadata.iter().filter(|column| am::can_filter_by(column.type_oid));
    filterable.take(am::MOST_FILTERS).map(|column| format!(", {}", column.name)).collect()
}

/// Chunks and embeds the rows that `documents` selects: a query with the columns key (text
/// array) and content.
pub fn refresh(pipeline: &Pipeline, documents: &str) -> Result<()> {
    Ingestion::of(pipeline)?.run(documents)
}

/// The stages of one pipeline.
struct Ingestion<'a> {
    chunker: RemoteChunker,
    embedding: Embedding,
    store: SqlStore<'a>,
}

impl<'a> Ingestion<'a> {
    fn of(pipeline: &'a Pipeline) -> Result<Self> {
        let model = model::find(Some(&pipeline.model))?.reference;
        Ok(Ingestion {
            chunker: RemoteChunker { model, options: pipeline.chunking.clone() },
            embedding: Embedding::with_model(Some(&pipeline.model), Lane::Bulk)?,
            store: SqlStore {
                pipeline,
                columns: content_columns(pipeline)?,
                vector: sql::vector_schema()?,
            },
        })
    }

    fn run(&mut self, documents: &str) -> Result<()> {
        let mut progress = Progress::start(&self.store.pipeline.name);
        sql::connect(|client| {
            let mut cursor = client.try_open_cursor_mut(documents, &[]).map_err(spi_failed)?;
            loop {
                let batch = cursor.fetch(ROWS_A_BATCH).map_err(spi_failed)?;
                let batch = batch.into_iter().map(|row| document(&row));
                let batch: Vec<Document> = batch.collect::<Result<_, _>>().map_err(spi_failed)?;
                if batch.is_empty() {
                    return Ok(());
                }
                let done = crate::pipeline::ingest(
                    &batch,
                    &mut self.chunker,
                    &mut self.embedding,
                    &mut self.store,
                )?;
                progress.advance(batch.len(), done);
            }
        })
    }
}

fn document(row: &SpiHeapTupleData<'_>) -> Result<Document, pgrx::spi::Error> {
    Ok(Document { key: sql::required(row.get::<Vec<String>>(1)?)?, content: row.get(2)? })
}

struct Progress<'a> {
    pipeline: &'a str,
    documents: usize,
    chunks: usize,
    said: Instant,
}

impl<'a> Progress<'a> {
    fn start(pipeline: &'a str) -> Self {
        Progress { pipeline, documents: 0, chunks: 0, said: Instant::now() }
    }

    fn advance(&mut self, documents: usize, done: Ingested) {
        self.documents += documents;
        self.chunks += done.chunks;
        if self.said.elapsed() >= NOTICE_EVERY {
            notice!(
                "pipeline \"{}\": {} rows done, {} chunks",
                self.pipeline,
                self.documents,
                self.chunks
            );
            self.said = Instant::now();
        }
    }
}

/// A pipeline's chunk table.
struct SqlStore<'a> {
    pipeline: &'a Pipeline,
    columns: ContentColumns,
    vector: String,
}

impl SqlStore<'_> {
    fn documents_all(&self) -> String {
        render(
            include_str!("../../sql/query/documents_all.sql"),
            &[
                ("keys", &key_texts(&self.columns.keys)),
                ("content_view", &self.pipeline.content_view.sql),
            ],
        )
    }

    fn render(&self, template: &str, first_key: usize) -> String {
        let keys = &self.columns.keys;
        let metadata = |prefix| {
            self.columns
                .metadata
                .iter()
                .map(|c| format!(", {prefix}{}", c.name))
                .collect::<String>()
        };
        render(
            template,
            &[
                ("chunk_table", &self.pipeline.chunk_table.sql),
                ("content_view", &self.pipeline.content_view.sql),
                ("vector", &self.vector),
                ("model", &quote_literal(&self.pipeline.model)),
                ("generation", &self.pipeline.generation.to_string()),
                ("key_names", &joined(keys, ", ", |key| key.name.clone())),
                ("view_keys", &joined(keys, ", ", |key| format!("v.{}", key.name))),
                ("chunk_match", &key_match(keys, "c")),
                ("view_match", &key_match(keys, "v")),
                ("unnest_keys", &unnest(keys.len(), first_key)),
                ("metadata", &metadata("v.")),
                ("metadata_names", &metadata("")),
            ],
        )
    }

    fn forget(&mut self, documents: &[Document]) -> Result<()> {
        let statement = self.render(include_str!("../../sql/query/chunks_forget.sql"), 1);
        sql::execute(&statement, &key_arrays(documents, self.columns.keys.len())).map(drop)
    }
}

impl ChunkStore for SqlStore<'_> {
    fn known_vectors(&mut self, documents: &[Document]) -> Result<HashMap<ContentHash, Vec<f32>>> {
        let statement = self.render(include_str!("../../sql/query/chunks_known.sql"), 1);
        let keys = key_arrays(documents, self.columns.keys.len());
        let known = sql::rows(&statement, &keys, |row| {
            let hash: Vec<u8> = sql::required(row.get(1)?)?;
            Ok((hash, sql::required(row.get::<Vec<f32>>(2)?)?))
        })?;
        Ok(known.into_iter().filter_map(|(hash, v)| Some((hash.try_into().ok()?, v))).collect())
    }

    fn replace(&mut self, documents: &[Document], chunks: Vec<StoredChunk>) -> Result<()> {
        self.forget(documents)?;
        if chunks.is_empty() {
            return Ok(());
        }
        let statement = self.render(include_str!("../../sql/query/chunks_insert.sql"), 10);
        let integers =
            |value: fn(&StoredChunk) -> i32| chunks.iter().map(value).collect::<Vec<_>>();
        let mut arguments: Vec<DatumWithOid<'_>> = vec![
            integers(|chunk| chunk.document as i32 + 1).into(),
            integers(|chunk| chunk.chunk_no).into(),
            chunks.iter().map(|c| c.chunk.content.as_str()).collect::<Vec<_>>().into(),
            integers(|chunk| chunk.chunk.start_char as i32).into(),
            integers(|chunk| chunk.chunk.end_char as i32).into(),
            chunks.iter().map(|c| c.chunk.heading.as_deref()).collect::<Vec<_>>().into(),
            integers(|chunk| chunk.chunk.token_count as i32).into(),
            chunks.iter().map(|chunk| chunk.hash.as_slice()).collect::<Vec<_>>().into(),
            chunks.iter().map(|chunk| Vector(chunk.vector.clone())).collect::<Vec<_>>().into(),
        ];
        arguments.extend(key_arrays(documents, self.columns.keys.len()));
        sql::execute(&statement, &arguments).map(drop)
    }
}

/// One text array a key column, over the documents.
fn key_arrays<'a>(documents: &[Document], columns: usize) -> Vec<DatumWithOid<'a>> {
    (0..columns)
        .map(|column| {
            let values = documents.iter().map(|document| document.key[column].as_str());
            values.collect::<Vec<_>>().into()
        })
        .collect()
}

fn key_texts(keys: &[Column]) -> String {
    joined(keys, ", ", |key| format!("v.{}::text", key.name))
}

/// Rows of `relation` whose key is that of `d`, where keys are text.
fn key_match(keys: &[Column], relation: &str) -> String {
    joined(keys, " AND ", |Column { name, sql_type, .. }| {
        format!("{relation}.{name} = d.{name}::{sql_type}")
    })
}

fn unnest(columns: usize, first: usize) -> String {
    let parameters: Vec<String> = (first..first + columns)
        .map(|parameter| format!("pg_catalog.unnest(${parameter}::text[])"))
        .collect();
    parameters.join(", ")
}

fn joined(columns: &[Column], separator: &str, form: impl Fn(&Column) -> String) -> String {
    columns.iter().map(form).collect::<Vec<_>>().join(separator)
}
