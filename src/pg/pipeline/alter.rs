//! `rag_alter_pipeline`: what is changed in place, and what needs a new generation of chunks.

use pgrx::prelude::*;
use serde_json::{Map, Value};

use super::define::{check_chunk_size, check_late, check_title};
use super::{comment, config, content, create, metadata, schema, triggers};
use crate::contextual::{Contextual, ContextualOptions};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::{self, Pipeline, RefreshMode};
use crate::pg::catalog::source::SourceTable;
use crate::pg::catalog::{description, model, view};
use crate::pg::changes::{intake, noted};
use crate::pg::derivation::{communities, context_lines, mentions, representations, tree};

/// What is to be different; `None` stays as it is.
#[derive(Default)]
pub struct PipelineAlteration<'a> {
    /// What users call it.
    pub name: Option<&'a str>,
    /// A column or an expression.
    pub content: Option<&'a str>,
    /// What stands beside each chunk: columns, or expressions with their names.
    pub metadata: Option<Vec<String>>,
    /// How documents are cut, as far as that is to be different.
    pub chunking: Map<String, Value>,
    /// Name of the embedding model.
    pub model: Option<&'a str>,
    /// What embeds changed rows: workers, the statement that changes them, or `rag_run`.
    pub refresh: Option<RefreshMode>,
    /// Name of the text search configuration, or `auto`.
    pub config: Option<String>,
    /// What is embedded with each chunk.
    pub context: ContextChange,
}

/// What is to be embedded with each chunk.
#[derive(Default)]
pub struct ContextChange {
    /// Title and headings, and what a language model says, or not.
    pub contextual: Option<Contextual>,
    /// What a row is called: a column or an expression.
    pub title: Option<String>,
}

/// The error where something is to be made of chunks that are on other servers.
pub fn chunks_are_elsewhere(pipeline: &Pipeline) -> Error {
    let message = format!("the chunks of pipeline \"{}\" are on other servers", pipeline.name);
    Error::new(ErrorKind::Unsupported, message)
        .hint("Alter the pipelines there, one after the other. Here its name, shards, defaults and description can be changed.")
}

impl ContextChange {
    /// What the options `contextual` and `title` say.
    pub fn read(contextual: Option<&Value>, title: Option<String>) -> Result<ContextChange> {
        let contextual = contextual.map(Contextual::read).transpose()?;
        Ok(ContextChange { contextual, title })
    }
}

impl PipelineAlteration<'_> {
    /// Changes `pipeline` as the options say.
    pub fn carry_out(self, pipeline: &Pipeline) -> Result<()> {
        let mut pipeline = pipeline.clone();
        self.check_has_chunks(&pipeline)?;
        self.change_in_place(&mut pipeline)?;
        match self.needs_new_chunks() {
            true => self.begin_generation(&pipeline, SourceTable::describe(pipeline.source.oid)?),
            false => Ok(()),
        }
    }

    /// An error where something of the chunks is to be different that are on other servers.
    fn check_has_chunks(&self, pipeline: &Pipeline) -> Result<()> {
        match pipeline.has_shards && (self.needs_new_chunks() || self.refresh.is_some()) {
            true => Err(chunks_are_elsewhere(pipeline)),
            false => Ok(()),
        }
    }

    fn change_in_place(&self, pipeline: &mut Pipeline) -> Result<()> {
        if self.name.is_none() && self.refresh.is_none() {
            return Ok(());
        }
        let (before, name_before) = (pipeline.refresh, pipeline.name.clone());
        if let Some(name) = self.name.filter(|name| *name != pipeline.name) {
            create::check_name(name)?;
            pipeline.name = name.to_owned();
        }
        pipeline.refresh = self.refresh.unwrap_or(before);
        pipeline::alter(pipeline.id, &pipeline.name, pipeline.refresh)?;
        comment::rename(pipeline, &name_before)?;
        if (before == RefreshMode::Sync) != (pipeline.refresh == RefreshMode::Sync) {
            match pipeline.refresh {
                RefreshMode::Sync => triggers::create_for_statement(pipeline)?,
                RefreshMode::Async | RefreshMode::Manual => triggers::drop_for_statement(pipeline)?,
            }
        }
        // Sessions know whether a pipeline has workers.
        // SAFETY: the source exists, it has just been described.
        unsafe { pg_sys::CacheInvalidateRelcacheByRelid(pipeline.source.oid) };
        if pipeline.refresh.has_workers() {
            noted::wake_at_commit();
        }
        Ok(())
    }

    /// Whether a new generation of chunks is begun.
    pub fn needs_new_chunks(&self) -> bool {
        self.content.is_some()
            || self.metadata.is_some()
            || !self.chunking.is_empty()
            || self.model.is_some()
            || self.config.is_some()
            || self.context.contextual.is_some()
            || self.context.title.is_some()
    }

    /// What a row is called from now on.
    fn title(
        &self,
        contextual: bool,
        pipeline: &Pipeline,
        source: &SourceTable,
    ) -> Result<Option<content::Expression>> {
        check_title(contextual, self.context.title.as_deref())?;
        match &self.context.title {
            Some(title) => content::text_expression(source, "title", title).map(Some),
            None if contextual => content::current_title(pipeline, source),
            None => Ok(None),
        }
    }

    /// Whether title and headings are embedded with each chunk from now on, and which language
    /// model says more.
    fn contextual(
        &self,
        pipeline: &Pipeline,
        late: bool,
    ) -> Result<(bool, Option<ContextualOptions>)> {
        let current = context_lines::of(pipeline.id)?;
        let (contextual, wanted) = match &self.context.contextual {
            None => (pipeline.contextual, current),
            Some(Contextual::No) => (false, None),
            Some(Contextual::Headings) => (true, None),
            Some(Contextual::Situated(wanted)) => (true, Some(wanted.clone())),
        };
        let complete =
            |wanted: ContextualOptions| context_lines::complete(&wanted, pipeline.refresh, late);
        Ok((contextual, wanted.map(complete).transpose()?))
    }

    fn begin_generation(&self, pipeline: &Pipeline, source: SourceTable) -> Result<()> {
        if let Some(unfinished) = pipeline::successor(pipeline.id)? {
            create::undo(unfinished.id)?;
        }
        let model = model::find_and_keep(Some(self.model.unwrap_or(&pipeline.model)))?;
        let chunking = pipeline.chunking.changed(self.chunking.clone())?;
        check_chunk_size(&chunking, &model)?;
        check_late(chunking.late, &model)?;
        let (contextual, situated) = self.contextual(pipeline, chunking.late)?;
        let content = match self.content {
            Some(content) => content::expression(&source, content)?,
            None => content::current(pipeline, &source)?,
        };
        let title = self.title(contextual, pipeline, &source)?;
        let config = match &self.config {
            Some(config) => config::resolved(config, &source, &content)?,
            None => pipeline.config.clone(),
        };
        let metadata = match &self.metadata {
            Some(written) => metadata::chosen(&source, written)?,
            None => metadata::current(pipeline, &source)?,
        };
        let plan = create::PipelinePlan {
            name: pipeline.name.clone(),
            schema: schema::of_successor(pipeline, &source)?,
            key: view::source_key_names(pipeline),
            content,
            contextual,
            situated,
            title,
            metadata,
            config: &config,
            // A statement does not embed for what is not searched yet.
            refresh: if pipeline.refresh == RefreshMode::Sync {
                RefreshMode::Async
            } else {
                pipeline.refresh
            },
            stage: pipeline::PipelineStage::Filling,
            predecessor: Some(pipeline),
            model,
            chunking,
            source,
        };
        let successor = plan.carry_out()?;
        description::inherit(successor.id, pipeline.id)?;
        representations::inherit(&successor, pipeline)?;
        mentions::inherit(&successor, pipeline)?;
        tree::option::inherit(&successor, pipeline)?;
        communities::inherit(&successor, pipeline)?;
        pipeline::set_paused(pipeline.id, pipeline.is_paused)?;
        intake::leave(successor.id, intake::ChangeKind::All)?;
        noted::wake_at_commit();
        let name = &pipeline.name;
        notice!(
            "pipeline \"{name}\" answers from its old chunks until generation {} is made",
            successor.generation
        );
        Ok(())
    }
}
