//! Mentions: which entities a pipeline's chunks name.
//!
//! They are made by whoever stores a chunk, in the same transaction, and go with it by a foreign key. A chunk that
//! stays as it is keeps its mentions; one that has none is looked at again with its document, which costs
//! microseconds, so that whatever was missed is made up for.

use std::ops::Range;

use pgrx::prelude::*;
use serde_json::{Value as Json, json};

use super::communities::refuse_without_graph;
use super::table::{self, TableForm};
use super::{column_relations, extracted_relations};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::relations::extract::ExtractChoice;
use crate::graph::walk::most_chunks_of_entity;
use crate::graph::{EntityExtractor, EntityMention, EntityOptions, NamingText};
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::changes::{intake, noted};
use crate::pg::server::prepared;
use crate::pg::server::sql::{self, query, render};
use crate::pipeline::StoredChunk;

const KIND: DerivationKind = DerivationKind::Mentions;

const FORM: TableForm = TableForm {
    label: c"mentions",
    definition: query!(graph.create_table),
    leaves: ("ARRAY[chunk_id]", "chunk_id"),
    comments: query!(graph.comment_table),
};

/// Has `option` hold for a pipeline of the caller, and for its successor: an object, or `false` or null for no
/// graph. The chunks that are there get their mentions by whoever embeds changed rows; no text is embedded again.
///
/// Where columns say relations, all rows are read again, also if the option is the one that holds already: the names of
/// rows to which they refer may be others.
pub fn alter(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let wanted = EntityOptions::read(option)?;
    let mut is_begun = false;
    for one in [pipeline.clone()].into_iter().chain(pipeline::successor(pipeline.id)?) {
        if set(&one, option, wanted.as_ref())? {
            intake::leave(one.id, intake::ChangeKind::All)?;
            is_begun = true;
        }
    }
    if is_begun {
        noted::wake_at_commit();
        say_what_follows(pipeline);
    }
    Ok(())
}

/// Has `option` hold for one pipeline; whether its rows are to be read again.
fn set(pipeline: &Pipeline, option: &Json, wanted: Option<&EntityOptions>) -> Result<bool> {
    let relations = wanted.and_then(EntityOptions::column_relations);
    let is_begun = match (derivation::of(pipeline.id, KIND)?, wanted) {
        (None, None) => return Ok(false),
        (Some(current), None) => {
            refuse_without_graph(pipeline)?;
            column_relations::set(pipeline, None)?;
            extracted_relations::set(pipeline, &ExtractChoice::Dropped)?;
            table::forget(pipeline, KIND, current.relation)?;
            return Ok(false);
        }
        (Some(current), Some(_)) => {
            derivation::set(pipeline.id, KIND, option, &current.relation.sql)?;
            relations.is_some()
        }
        (None, Some(_)) => {
            create(pipeline, option)?;
            true
        }
    };
    column_relations::set(pipeline, relations.as_ref())?;
    extracted_relations::set(pipeline, wanted.map_or(&ExtractChoice::Kept, |it| &it.extract))?;
    Ok(is_begun)
}

fn say_what_follows(pipeline: &Pipeline) {
    let name = pgrx::spi::quote_literal(&pipeline.name);
    match pipeline.refresh.has_workers() {
        true => notice!(
            "the entities of pipeline {name} are found in the background once this is committed; rag_wait({name}) waits"
        ),
        false => notice!("the entities of pipeline {name} are found by CALL rag_run({name})"),
    }
}

/// Has a new pipeline, which has no chunks yet, keep what `option` says, if that is anything.
pub fn create_if_wanted(pipeline: &Pipeline, option: &Json) -> Result<()> {
    set(pipeline, option, EntityOptions::read(option)?.as_ref()).map(drop)
}

/// Gives a successor what the pipeline has whose place it is to take.
pub fn inherit(successor: &Pipeline, old: &Pipeline) -> Result<()> {
    if let Some(StoredDerivation { mut options, .. }) = derivation::of(old.id, KIND)? {
        let relations = EntityOptions::read(&options)?.and_then(|it| it.column_relations());
        if let Some(relations) = &relations {
            let by_now = column_relations::by_now(old, relations)?;
            // What is the same stays as it was written.
            if by_now != *relations {
                options["relations"] = json!(by_now.relations);
                options["names"] = json!(by_now.names);
            }
            column_relations::create(successor, &by_now)?;
        }
        create(successor, &options)?;
    }
    extracted_relations::inherit(successor, old)
}

fn create(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let table = table::create(pipeline, &FORM, &[])?;
    sql::execute(&render(query!(graph.create_indexes), &[("table", &table)]), &[])?;
    derivation::set(pipeline.id, KIND, option, &table)
}

/// Keeps what a pipeline's chunks name. To be used as the owner of the chunks.
pub struct MentionStore {
    relation: Relation,
    extractor: &'static dyn EntityExtractor,
}

impl MentionStore {
    /// The store of a pipeline; `None` if it has no graph. A graph that has just been committed counts, also where
    /// the transaction sees only what is older.
    pub fn of(pipeline: &Pipeline) -> Result<Option<MentionStore>> {
        let stored = sql::with_latest_snapshot(|| derivation::of(pipeline.id, KIND))?;
        let opened = |StoredDerivation { options, relation, .. }: StoredDerivation| {
            let extractor = extractor(&options)?;
            Ok(MentionStore { relation, extractor })
        };
        stored.map(opened).transpose()
    }

    /// The name of the table in SQL.
    pub fn table(&self) -> &str {
        &self.relation.sql
    }

    /// Adds what chunks name, each by its key.
    pub fn keep(&self, chunks: &[(i64, &StoredChunk)]) -> Result<()> {
        let mut rows: Vec<(i64, EntityMention)> = Vec::new();
        for (chunk_id, StoredChunk { chunk, context, .. }) in chunks {
            pgrx::check_for_interrupts!();
            let text = NamingText { context: context.as_deref(), content: &chunk.content };
            let found = self.extractor.mentions(&text, &mut look_around);
            rows.extend(found.into_iter().map(|mention| (*chunk_id, mention)));
        }
        match rows.is_empty() {
            true => Ok(()),
            false => self.insert(&rows),
        }
    }

    fn insert(&self, rows: &[(i64, EntityMention)]) -> Result<()> {
        let place = |of: fn(&Range<u32>) -> u32| -> Vec<Option<i32>> {
            rows.iter().map(|(_, it)| it.span.as_ref().map(|span| of(span) as i32)).collect()
        };
        let arguments = [
            rows.iter().map(|(chunk_id, _)| *chunk_id).collect::<Vec<_>>().into(),
            rows.iter().map(|(_, it)| it.norm.as_str()).collect::<Vec<_>>().into(),
            rows.iter().map(|(_, it)| it.alias_of.as_deref()).collect::<Vec<_>>().into(),
            rows.iter().map(|(_, it)| it.count as i32).collect::<Vec<_>>().into(),
            place(|span| span.start).into(),
            place(|span| span.end).into(),
        ];
        let insert = render(query!(graph.insert), &[("mentions", self.table())]);
        sql::execute(&insert, &arguments).map(drop)
    }
}

/// How many chunks may name an entity over which chunks are tied, by what the statistics say of the chunk table.
pub fn most_chunks(pipeline: &Pipeline) -> Result<usize> {
    let arguments = [pipeline.chunk_table.oid.into()];
    let found = prepared::rows(query!(graph.chunk_estimate), &arguments, |row| {
        sql::required(row.get::<f64>(1)?)
    })?;
    Ok(most_chunks_of_entity(found.first().copied().unwrap_or_default()))
}

/// Ends the statement if that is wanted.
pub fn look_around() {
    pgrx::check_for_interrupts!();
}

/// The extractor that the options of a stored graph name.
pub fn extractor(stored: &Json) -> Result<&'static dyn EntityExtractor> {
    let wanted = EntityOptions::read(stored).ok().flatten();
    wanted.map(|it| it.entities.extractor()).ok_or_else(|| {
        let message = format!("options of mentions cannot be read: {stored}");
        Error::new(ErrorKind::DataCorrupted, message)
    })
}
