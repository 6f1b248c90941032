//! `rag_create_pipeline`, `rag_drop_pipeline`.

use pgrx::JsonB;
use pgrx::prelude::*;
use serde::Deserialize;

use super::options;
use crate::chunk::{Chunk, ChunkOptions};
use crate::daemon::protocol::{ModelRef, Request, Response};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::{model, pipeline, source::Source};
use crate::pg::error::{OrReport, unexpected};
use crate::pg::{client, create, ingest, sql};
use crate::pipeline::Chunker;

/// The one mode there is: chunks are there when the statement that changed the row ends.
const MODE: &str = "sync";

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Options {
    /// Text search configuration of the lexical index.
    config: String,
}

impl Default for Options {
    fn default() -> Self {
        Options { config: "english".to_owned() }
    }
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
        mode: mode.unwrap_or(MODE),
        options: options::read(options).or_report(),
        chunking,
    };
    wish.fulfil().or_report()
}

#[pg_extern(sql = false)]
fn rag_drop_pipeline(name: &str) {
    sql::refuse_if_read_only(c"rag_drop_pipeline()");
    pipeline::resolve(Some(name)).and_then(|pipeline| create::undo(&pipeline)).or_report();
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
    mode: &'a str,
    options: Options,
    chunking: ChunkOptions,
}

impl Wish<'_> {
    fn fulfil(self) -> Result<pg_sys::Oid> {
        if self.mode != MODE {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("unknown pipeline mode \"{}\"", self.mode),
            )
            .hint("Known modes: sync."));
        }
        let model = model::find(self.model)?;
        check_chunk_size(&self.chunking, &model)?;
        let source = Source::describe(self.source)?;
        let name = self.name.unwrap_or(&source.name).to_owned();
        let plan = create::Plan {
            key: source.key(self.key.as_deref())?,
            content: self.content,
            metadata: &self.metadata,
            config: &self.options.config,
            mode: self.mode,
            name,
            source,
            model,
            chunking: self.chunking,
        };
        let pipeline = plan.carry_out()?;
        ingest::backfill(&pipeline)?;
        Ok(pipeline.chunk_table.oid)
    }
}

fn check_chunk_size(chunking: &ChunkOptions, model: &model::Model) -> Result<()> {
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
