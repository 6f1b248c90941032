//! `rag_chunk`.

use pgrx::prelude::*;

use crate::chunk::{Chunk, ChunkingOptions};
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::Result;
use crate::pg::catalog::model;
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::chunk::RemoteChunker;
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::parse::RemoteParser;
use crate::pg::server::error::OrReport;
use crate::pg::server::json::Jsonb;
use crate::pg::server::options::chunking_keys;
use crate::pipeline::{Chunker, Content, Document, texts};

type ChunkRow = (i32, String, i32, i32, i32, Option<String>, Option<i32>, Option<i32>);

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_chunk(
    document: Option<String>,
    chunking: Option<Jsonb>,
) -> TableIterator<
    'static,
    (
        name!(chunk_no, i32),
        name!(content, String),
        name!(start_char, i32),
        name!(end_char, i32),
        name!(token_count, i32),
        name!(heading, Option<String>),
        name!(parent_start, Option<i32>),
        name!(parent_end, Option<i32>),
    ),
> {
    let given = chunking_keys(chunking).or_report();
    let (chunking, model) = ChunkingOptions::for_document(given).or_report();
    let chunks = document.map(|document| chunks_of(document, chunking, model.as_deref()));
    let chunks = chunks.transpose().or_report().unwrap_or_default();
    TableIterator::new(chunks.into_iter().enumerate().map(row))
}

fn chunks_of(
    document: String,
    options: ChunkingOptions,
    model: Option<&str>,
) -> Result<Vec<Chunk>> {
    let content = match options.reads_html(&document) {
        true => Content::Html(document),
        false => Content::Text(document),
    };
    let document = Document { key: Vec::new(), title: None, content: Some(content) };
    let texts = texts(&[document], &mut RemoteParser::default())?;
    let reference = model::find(model)?.reference;
    let mut chunker = RemoteChunker { model: reference, options };
    Ok(chunker.chunk(&texts, &mut LazyEmbedder { model })?.pop().unwrap_or_default())
}

/// Looks for the model when there is something to embed: a role that may not use it may count its
/// tokens.
struct LazyEmbedder<'a> {
    model: Option<&'a str>,
}

impl Embedder for LazyEmbedder<'_> {
    fn embed(&mut self, texts: &[String], kind: EmbeddingKind) -> Result<Vec<Vec<f32>>> {
        Embedding::with_model(self.model, CallContext::bulk())?.embed(texts, kind)
    }
}

fn row((number, chunk): (usize, Chunk)) -> ChunkRow {
    (
        number as i32,
        chunk.content,
        chunk.start_char as i32,
        chunk.end_char as i32,
        chunk.token_count as i32,
        chunk.heading,
        chunk.parent.map(|(start, _)| start as i32),
        chunk.parent.map(|(_, end)| end as i32),
    )
}
