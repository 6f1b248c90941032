//! `rag_create_pipeline`, `rag_alter_pipeline`, `rag_drop_pipeline`.

use pgrx::JsonB;
use pgrx::prelude::*;
use serde::Deserialize;

use super::options;
use crate::chunk::{Chunk, ChunkOptions};
use crate::daemon::protocol::{ModelRef, Request, Response};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::acting::{Acting, table_owner};
use crate::pg::alter::Alteration;
use crate::pg::capture::noted;
use crate::pg::catalog::pipeline::{Mode, Pipeline, Stage};
use crate::pg::catalog::{model, pipeline, source::Source};
use crate::pg::error::{OrReport, unexpected};
use crate::pg::{client, content, create, generation, ingest, intake, sql};
use crate::pipeline::Chunker;

/// A source with no more rows and bytes of content than this is embedded by the statement that
/// creates its pipeline, which takes seconds; workers do a larger one.
const FEW_ROWS: i64 = 2000;
const FEW_BYTES: i64 = 256 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    /// Text search configuration of the lexical index.
    config: String,
    /// When the rows that are there are embedded.
    backfill: Backfill,
}

impl Default for Options {
    fn default() -> Self {
        Options { config: "english".to_owned(), backfill: Backfill::Auto }
    }
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Backfill {
    /// Now if they are few.
    Auto,
    /// Before the statement ends.
    Now,
    /// By the workers.
    Background,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Changes {
    /// Text search configuration of the lexical index.
    config: Option<String>,
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_create_pipeline(
    source: Option<pg_sys::Oid>,
    content: Option<&str>,
    name: Option<&str>,
    key: Option<Vec<Option<String>>>,
    metadata: Option<Vec<Option<String>>>,
    strategy: Option<&str>,
    max_tokens: Option<i32>,
    overlap: Option<i32>,
    model: Option<&str>,
    mode: Option<&str>,
    options: Option<JsonB>,
) -> pg_sys::Oid {
    sql::refuse_if_read_only(c"rag_create_pipeline()");
    let chunking = chunking(strategy, max_tokens, overlap).or_report();
    let wish = Wish {
        source: present("source", source).or_report(),
        content: present("content", content).or_report(),
        name,
        key: names("key", key).or_report(),
        metadata: names("metadata", metadata).or_report().unwrap_or_default(),
        model,
        mode: Mode::named(mode.unwrap_or(Mode::ALL[0].name())).or_report(),
        options: options::read(options).or_report(),
        chunking,
    };
    wish.fulfil().or_report()
}

#[pg_extern(sql = false)]
#[allow(clippy::too_many_arguments)]
fn rag_alter_pipeline(
    pipeline: &str,
    name: Option<&str>,
    content: Option<&str>,
    metadata: Option<Vec<Option<String>>>,
    strategy: Option<&str>,
    max_tokens: Option<i32>,
    overlap: Option<i32>,
    model: Option<&str>,
    mode: Option<&str>,
    options: Option<JsonB>,
) {
    sql::refuse_if_read_only(c"rag_alter_pipeline()");
    let metadata = names("metadata", metadata).or_report();
    let mode = mode.map(Mode::named).transpose().or_report();
    let Changes { config } = options::read(options).or_report();
    let wanted =
        Alteration { name, content, metadata, strategy, max_tokens, overlap, model, mode, config };
    pipeline::owned(Some(pipeline)).and_then(|it| wanted.carry_out(&it)).or_report();
}

#[pg_extern(sql = false)]
fn rag_drop_pipeline(name: &str) {
    sql::refuse_if_read_only(c"rag_drop_pipeline()");
    pipeline::owned(Some(name)).and_then(|pipeline| create::undo(&pipeline)).or_report();
}

/// NULL takes the default.
fn chunking(
    strategy: Option<&str>,
    max_tokens: Option<i32>,
    overlap: Option<i32>,
) -> Result<ChunkOptions> {
    ChunkOptions::new(
        strategy.unwrap_or("recursive"),
        max_tokens.unwrap_or(256),
        overlap.unwrap_or(0),
    )
}

fn present<T>(what: &str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| Error::new(ErrorKind::NullNotAllowed, format!("{what} must not be NULL")))
}

/// An argument that is a list of column names.
fn names(argument: &str, names: Option<Vec<Option<String>>>) -> Result<Option<Vec<String>>> {
    let null = || {
        let message = format!("{argument} must not contain NULL");
        Error::new(ErrorKind::NullNotAllowed, message)
    };
    let present = |name: Option<String>| name.ok_or_else(null);
    names.map(|names| names.into_iter().map(present).collect()).transpose()
}

/// The arguments of `rag_create_pipeline`.
struct Wish<'a> {
    source: pg_sys::Oid,
    content: &'a str,
    name: Option<&'a str>,
    key: Option<Vec<String>>,
    metadata: Vec<String>,
    model: Option<&'a str>,
    mode: Mode,
    options: Options,
    chunking: ChunkOptions,
}

impl Wish<'_> {
    fn fulfil(self) -> Result<pg_sys::Oid> {
        let model = model::find(self.model)?;
        check_chunk_size(&self.chunking, &model)?;
        let source = Source::describe(self.source)?;
        let name = self.name.unwrap_or(&source.name).to_owned();
        let plan = create::Plan {
            key: source.key(self.key.as_deref())?,
            content: content::expression(&source, self.content)?,
            metadata: &self.metadata,
            config: &self.options.config,
            mode: self.mode,
            stage: Stage::Filling,
            predecessor: None,
            name,
            source,
            model,
            chunking: self.chunking.clone(),
        };
        let pipeline = plan.carry_out()?;
        // As whoever embeds later does.
        let acting = Acting::as_role(table_owner(pipeline.source.oid));
        if self.fills_now(&pipeline)? {
            ingest::fill(&pipeline)?;
            drop(acting);
            generation::finish(pipeline.id)?;
        } else {
            drop(acting);
            fill_later(&pipeline)?;
        }
        Ok(pipeline.chunk_table.oid)
    }

    fn fills_now(&self, pipeline: &Pipeline) -> Result<bool> {
        match (self.mode, self.options.backfill) {
            (Mode::Sync, _) | (_, Backfill::Now) => Ok(true),
            (Mode::Manual, _) | (_, Backfill::Background) => Ok(false),
            (Mode::Async, Backfill::Auto) => {
                let (rows, bytes) = ingest::content_size(pipeline, FEW_ROWS + 1)?;
                Ok(rows <= FEW_ROWS && bytes <= FEW_BYTES)
            }
        }
    }
}

/// Leaves the rows that are there to the workers, or to `rag_run`.
fn fill_later(pipeline: &Pipeline) -> Result<()> {
    intake::leave(pipeline.id, intake::Kind::All)?;
    let name = pgrx::spi::quote_literal(&pipeline.name);
    if pipeline.mode.has_workers() {
        noted::wake_at_commit();
        notice!(
            "the rows of pipeline {name} are embedded in the background once this is committed; \
             rag.pipeline_status shows how far it is, and rag_wait({name}) waits"
        );
    } else {
        notice!("the rows of pipeline {name} are embedded by CALL rag_run({name})");
    }
    Ok(())
}

/// An error where the model does not read chunks of that size.
pub fn check_chunk_size(chunking: &ChunkOptions, model: &model::Model) -> Result<()> {
    if chunking.max_tokens as i32 <= model.max_tokens {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "chunks of {} tokens are longer than the {} that model \"{}\" reads",
        chunking.max_tokens, model.max_tokens, model.reference.name
    ))
    .hint(format!("Set max_tokens to {} or less, or choose another model.", model.max_tokens)))
}

/// Has ragd cut documents.
pub struct RemoteChunker {
    /// Whose tokenizer measures.
    pub model: ModelRef,
    /// How documents are cut.
    pub options: ChunkOptions,
}

impl Chunker for RemoteChunker {
    fn chunk(&mut self, documents: &[String]) -> Result<Vec<Vec<Chunk>>> {
        let request = Request::Chunk {
            model: self.model.clone(),
            documents: documents.to_vec(),
            options: self.options.clone(),
        };
        match client::call(&request)? {
            Response::Chunks(chunks) if chunks.len() == documents.len() => Ok(chunks),
            other => Err(unexpected(&other)),
        }
    }
}
