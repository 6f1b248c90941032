//! What a pipeline's chunks name, where a model for token classification reads them.
//!
//! It reads them when they are embedded, in no transaction, and what it has found is kept with the chunks. Chunks that have
//! mentions already are not read again.

use std::collections::HashSet;

use super::chunk_store::{ChunkPlace, SqlStore};
use super::lease_renewal::LeaseWatch;
use crate::error::Result;
use crate::pg::catalog::model;
use crate::pg::catalog::owner::as_owner;
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::derivation::mentions::MentionStore;
use crate::pg::ragd::classify;
use crate::pg::server::error::raise;
use crate::pg::server::role::as_superuser;
use crate::pipeline::{Document, EntityNamer, FoundNames, StoredChunk};
use crate::protocol::{Lane, ModelRef};

/// Has ragd find what chunks name.
pub struct ChunkNamer<'a> {
    /// The pipeline whose chunks these are.
    pub pipeline: &'a Pipeline,
    /// Which queue they wait in.
    pub lane: Lane,
    /// What is looked after meanwhile, and how a transaction is begun; `None`: there is one, of the owner.
    pub watch: Option<LeaseWatch>,
}

impl EntityNamer for ChunkNamer<'_> {
    fn name(&mut self, documents: &[Document], chunks: &mut [StoredChunk]) -> Result<()> {
        let Some((model, named)) = self.look_up(documents)? else { return Ok(()) };
        let is_missing = |chunk: &&mut StoredChunk| {
            !named.contains(&(chunk.document, chunk.chunk_no, chunk.hash))
        };
        let missing: Vec<&mut StoredChunk> = chunks.iter_mut().filter(is_missing).collect();
        let texts: Vec<String> = missing.iter().map(|it| it.chunk.content.clone()).collect();
        let mut watch = || self.watch.as_mut().map_or(Ok(()), LeaseWatch::look);
        let found = classify::names(&model, self.lane, &texts, &mut watch)?;
        for (chunk, names) in missing.into_iter().zip(found) {
            chunk.names = Some(FoundNames { model: model.name.clone(), names });
        }
        Ok(())
    }
}

impl ChunkNamer<'_> {
    /// The model that finds names now, and the chunks of these documents that have mentions; `None` where no model does.
    fn look_up(&self, documents: &[Document]) -> Result<Option<(ModelRef, HashSet<ChunkPlace>)>> {
        let pipeline = self.pipeline;
        let look = || {
            let Some(store) = MentionStore::of(pipeline)? else { return Ok(None) };
            let Some(name) = store.ner_model() else { return Ok(None) };
            let model = model::find_token_classifier(name)?;
            Ok(Some((model, SqlStore::of(pipeline)?.named(documents, &store)?)))
        };
        let Some(LeaseWatch { transactions, .. }) = self.watch else { return look() };
        let look = || as_superuser(|| as_owner(pipeline, look));
        transactions.run(look).or_else(|failure| raise(&failure))
    }
}
