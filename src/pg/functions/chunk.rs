//! `rag_chunk`.

use pgrx::JsonB;
use pgrx::prelude::*;
use serde::Deserialize;

use super::options;
use crate::chunk::{Chunk, ChunkOptions};
use crate::daemon::protocol::{Request, Response};
use crate::error::Result;
use crate::pg::catalog::model;
use crate::pg::client;
use crate::pg::error::{OrReport, unexpected};

type Row = (i32, String, i32, i32, i32, Option<String>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Options {
    /// Whose tokenizer measures; the default is `rag.embedding_model`.
    model: Option<String>,
}

#[pg_extern(sql = false)]
#[allow(clippy::type_complexity)]
fn rag_chunk(
    document: String,
    strategy: &str,
    max_tokens: i32,
    overlap: i32,
    options: Option<JsonB>,
) -> TableIterator<
    'static,
    (
        name!(chunk_no, i32),
        name!(content, String),
        name!(start_char, i32),
        name!(end_char, i32),
        name!(token_count, i32),
        name!(heading, Option<String>),
    ),
> {
    let options: Options = options::read(options).or_report();
    let chunking = ChunkOptions::new(strategy, max_tokens, overlap).or_report();
    let chunks = chunks_of(document, chunking, options.model.as_deref()).or_report();
    TableIterator::new(chunks.into_iter().enumerate().map(row))
}

fn chunks_of(document: String, options: ChunkOptions, model: Option<&str>) -> Result<Vec<Chunk>> {
    let model = model::find(model)?.reference;
    let request = Request::Chunk { model, documents: vec![document], options };
    match client::call(&request)? {
        Response::Chunks(mut documents) => Ok(documents.pop().unwrap_or_default()),
        other => Err(unexpected(&other)),
    }
}

fn row((number, chunk): (usize, Chunk)) -> Row {
    (
        number as i32,
        chunk.content,
        chunk.start_char as i32,
        chunk.end_char as i32,
        chunk.token_count as i32,
        chunk.heading,
    )
}
