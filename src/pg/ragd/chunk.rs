//! Documents cut by ragd.

use pgrx::prelude::*;

use super::client;
use crate::chunk::context::CONTEXT_TOKENS;
use crate::chunk::semantic::Distances;
use crate::chunk::{Chunk, ChunkingMethod, ChunkingOptions};
use crate::contextual::LINE_TOKENS;
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::Result;
use crate::pg::catalog::model;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::server::error::unexpected;
use crate::pipeline::Chunker;
use crate::protocol::{ModelRef, Request, Response};
use crate::text::sentence::sentences_interruptibly;

/// Sentences whose vectors are in memory at a time.
const SENTENCES: usize = 1024;

/// Has ragd cut documents.
pub struct RemoteChunker {
    /// The model whose tokenizer measures.
    pub model: ModelRef,
    /// How documents are cut.
    pub options: ChunkingOptions,
}

impl Chunker for RemoteChunker {
    fn chunk(
        &mut self,
        documents: &[String],
        embedder: &mut dyn Embedder,
    ) -> Result<Vec<Vec<Chunk>>> {
        let mut measured = |document: &String| distances(document, embedder);
        let distances = match self.options.by {
            ChunkingMethod::Semantic => {
                documents.iter().map(&mut measured).collect::<Result<_>>()?
            }
            _ => Vec::new(),
        };
        let request = Request::Chunk {
            model: self.model.clone(),
            documents: documents.to_vec(),
            options: self.options.clone(),
            distances,
        };
        match client::call(&request)? {
            Response::Chunks(chunks) if chunks.len() == documents.len() => Ok(chunks),
            other => Err(unexpected(&other)),
        }
    }
}

/// How little neighbouring sentences of a document have to do with each other. The model may be
/// in ragd or behind a provider, so its vectors come here as those of chunks do.
fn distances(document: &str, embedder: &mut dyn Embedder) -> Result<Vec<f32>> {
    let mut distances = Distances::default();
    let interrupt = &mut || {
        check_for_interrupts!();
    };
    for some in sentences_interruptibly(document, interrupt).chunks(SENTENCES) {
        let texts: Vec<String> = some.iter().map(|range| document[range.clone()].into()).collect();
        for vector in embedder.embed(&texts, EmbeddingKind::Passage)? {
            distances.push(vector);
        }
    }
    Ok(distances.finish())
}

/// How a pipeline's documents are cut: so that a chunk and its context together are not longer than
/// its model reads.
pub fn fitted(pipeline: &Pipeline, model: &model::RegisteredModel) -> ChunkingOptions {
    let room = u32::try_from(model.max_tokens).unwrap_or(u32::MAX);
    let taken = match (pipeline.contextual, pipeline.situated) {
        (false, _) => return pipeline.chunking.clone(),
        (true, false) => CONTEXT_TOKENS,
        (true, true) => CONTEXT_TOKENS + LINE_TOKENS,
    };
    pipeline.chunking.limited_to(room.saturating_sub(taken))
}
