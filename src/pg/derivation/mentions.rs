//! Mentions: which entities a pipeline's chunks name.
//!
//! They are made by whoever stores a chunk, in the same transaction, and go with it by a foreign key. A chunk that
//! stays as it is keeps its mentions; one that has none is looked at again with its document, which costs
//! microseconds by rules, so that whatever was missed is made up for. Where a model finds the names, it has read the chunk
//! before. Code in a text names nothing, also where it goes on from the chunk before.

use std::borrow::Cow;
use std::ops::Range;

use pgrx::prelude::*;
use serde_json::Value as Json;

use super::column_relations::changes::with_relations;
use super::communities::refuse_without_graph;
use super::table::{self, TableForm};
use super::{column_relations, extracted_relations};
use crate::error::Result;
use crate::graph::relations::ColumnRelations;
use crate::graph::relations::extract::ExtractChoice;
use crate::graph::walk::most_chunks_of_entity;
use crate::graph::{EntityExtractor, EntityMention, EntityOptions, NamingText};
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::catalog::{locking, model};
use crate::pg::changes::{intake, noted};
use crate::pg::server::prepared;
use crate::pg::server::sql::{self, query, render};
use crate::pipeline::StoredChunk;
use crate::text::code::{code_blocks, without_code};
use crate::text::token_labels::LabelledSpan;

const KIND: DerivationKind = DerivationKind::Mentions;

const FORM: TableForm = TableForm {
    kind: KIND,
    definition: query!(graph.create_table),
    leaves: ("ARRAY[chunk_id]", "chunk_id"),
    comments: query!(graph.comment_table),
};

/// The kinds of which an alteration to `option` drops what there is.
pub fn dropped_by(option: &Json) -> Result<Vec<DerivationKind>> {
    let wanted = EntityOptions::read(option)?;
    let relations = wanted.as_ref().and_then(EntityOptions::column_relations);
    let extract = wanted.as_ref().map(|it| &it.extract);
    let dropped = [
        (KIND, wanted.is_none()),
        (DerivationKind::ColumnRelations, relations.is_none()),
        (
            DerivationKind::ExtractedRelations,
            matches!(extract, None | Some(ExtractChoice::Dropped)),
        ),
    ];
    Ok(dropped.into_iter().filter(|(_, is_dropped)| *is_dropped).map(|(kind, _)| kind).collect())
}

/// Has `option` hold for a pipeline of the caller, and for its successor: an object, or `false` or null for no
/// graph. The chunks that are there get their mentions by whoever embeds changed rows; no text is embedded again.
///
/// Where columns say relations, all rows are read again, also if the option is the one that holds already: the names of
/// rows to which they refer may be others.
pub fn alter(pipeline: &Pipeline, option: &Json) -> Result<()> {
    let wanted = EntityOptions::read(option)?;
    let mut is_begun = false;
    let generations = table::generations(pipeline)?;
    lock_outdated(&generations, wanted.as_ref())?;
    for one in generations {
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
    let (option, relations) = with_names_by_now(pipeline, option, wanted)?;
    if let Some(model) = wanted.and_then(|it| it.ner_model.as_deref()) {
        model::keep_token_classifier(model)?;
    }
    let is_begun = match (derivation::of(pipeline.id, KIND)?, wanted) {
        (None, None) => return Ok(false),
        (Some(current), None) => {
            refuse_without_graph(pipeline)?;
            column_relations::set(pipeline, None)?;
            extracted_relations::set(pipeline, &ExtractChoice::Dropped)?;
            table::forget(pipeline, KIND, current.relation)?;
            return Ok(false);
        }
        (Some(current), Some(wanted)) => {
            let is_other = !wanted.finds_as(&stored_options(&current.options)?);
            if is_other {
                forget_all(&current.relation)?;
            }
            derivation::set(pipeline.id, KIND, &option, &current.relation.sql)?;
            is_other || relations.is_some()
        }
        (None, Some(_)) => {
            create(pipeline, &option)?;
            true
        }
    };
    column_relations::set(pipeline, relations.as_ref())?;
    extracted_relations::set(pipeline, wanted.map_or(&ExtractChoice::Kept, |it| &it.extract))?;
    Ok(is_begun)
}

/// The option, and what it says of columns, with the names that these have by now.
fn with_names_by_now(
    pipeline: &Pipeline,
    option: &Json,
    wanted: Option<&EntityOptions>,
) -> Result<(Json, Option<ColumnRelations>)> {
    match wanted.and_then(EntityOptions::column_relations) {
        None => Ok((option.clone(), None)),
        Some(relations) => {
            let by_now = column_relations::changes::by_now(pipeline, &relations)?;
            let option = with_relations(option, &relations, &by_now);
            Ok((option, Some(by_now)))
        }
    }
}

/// Locks the mentions of these pipelines that were found otherwise than `wanted` says, all of them together, so that none is
/// kept from its readers while the writers of another are waited for. Nobody stores chunks from then on, and who does it after
/// the transaction has locked them before it looks the option up, and sees the one that holds then, so that nothing comes back.
fn lock_outdated(pipelines: &[Pipeline], wanted: Option<&EntityOptions>) -> Result<()> {
    let Some(wanted) = wanted else { return Ok(()) };
    let mut outdated = Vec::new();
    for Pipeline { id, chunk_table, .. } in pipelines {
        let Some(current) = derivation::of(*id, KIND)? else { continue };
        if !wanted.finds_as(&stored_options(&current.options)?) {
            outdated.push((chunk_table, current.relation));
        }
    }
    locking::lock_for_emptying(&outdated)
}

/// Leaves nothing of what was found in a table that [`lock_outdated`] has locked.
fn forget_all(mentions: &Relation) -> Result<()> {
    let values = [("mentions", mentions.sql.as_str())];
    sql::execute(&render(query!(graph.forget_all), &values), &[]).map(drop)
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
    if let Some(StoredDerivation { options, .. }) = derivation::of(old.id, KIND)? {
        let wanted = EntityOptions::read(&options)?;
        let (options, relations) = with_names_by_now(old, &options, wanted.as_ref())?;
        if let Some(relations) = &relations {
            column_relations::create(successor, relations)?;
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
    ner_model: Option<String>,
}

impl MentionStore {
    /// The store of a pipeline; `None` if it has no graph. A graph that has just been committed counts, also where
    /// the transaction sees only what is older.
    pub fn of(pipeline: &Pipeline) -> Result<Option<MentionStore>> {
        let stored = sql::with_latest_snapshot(|| derivation::of(pipeline.id, KIND))?;
        let opened = |StoredDerivation { options, relation, .. }: StoredDerivation| {
            let EntityOptions { entities, ner_model, .. } = stored_options(&options)?;
            Ok(MentionStore { relation, extractor: entities.extractor(), ner_model })
        };
        stored.map(opened).transpose()
    }

    /// The name of the table in SQL.
    pub fn table(&self) -> &str {
        &self.relation.sql
    }

    /// The model that finds what chunks name, where one does.
    pub fn ner_model(&self) -> Option<&str> {
        self.ner_model.as_deref()
    }

    /// The names that the model of this store has found in a chunk, none where it has no model; `None` where the
    /// chunk is still to be read by it, since another one was asked before: then all rows are read again.
    fn found<'a>(&self, chunk: &'a StoredChunk) -> Option<&'a [LabelledSpan]> {
        let Some(model) = &self.ner_model else { return Some(&[]) };
        chunk.names.as_ref().filter(|it| it.model == *model).map(|it| it.names.as_slice())
    }

    /// Adds what chunks name outside of code, each by its key. With them stand the fences of code that are open where they
    /// begin.
    pub fn keep(&self, chunks: &[(i64, &StoredChunk, Option<&str>)]) -> Result<()> {
        let mut rows: Vec<(i64, EntityMention)> = Vec::new();
        for (chunk_id, stored, open) in chunks {
            pgrx::check_for_interrupts!();
            let Some(names) = self.found(stored) else { continue };
            let StoredChunk { chunk, context, .. } = stored;
            let names = outside_code(names, &chunk.content, *open);
            // The places of a model's names are those in the text as it stands.
            let content = match &self.ner_model {
                Some(_) => Cow::Borrowed(chunk.content.as_str()),
                None => without_code(&chunk.content, *open),
            };
            let text = NamingText { context: context.as_deref(), content: &content, names: &names };
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
            rows.iter().map(|(_, it)| it.kind.as_deref()).collect::<Vec<_>>().into(),
        ];
        let insert = render(query!(graph.insert), &[("mentions", self.table())]);
        sql::execute(&insert, &arguments).map(drop)
    }
}

/// Those of the names that a model has found in a text that do not stand in code.
fn outside_code(names: &[LabelledSpan], text: &str, open: Option<&str>) -> Vec<LabelledSpan> {
    if names.is_empty() {
        return Vec::new();
    }
    let code = code_blocks(text, open);
    let is_outside =
        |name: &&LabelledSpan| !code.iter().any(|block| block.contains(&name.place.start));
    names.iter().filter(is_outside).cloned().collect()
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
    stored_options(stored).map(|it| it.entities.extractor())
}

/// Whether a model finds what the chunks of a pipeline name.
pub fn has_model(pipeline: &Pipeline) -> Result<bool> {
    Ok(MentionStore::of(pipeline)?.is_some_and(|store| store.ner_model.is_some()))
}

fn stored_options(stored: &Json) -> Result<EntityOptions> {
    let read = EntityOptions::read(stored).ok().flatten();
    read.ok_or_else(|| derivation::unreadable(KIND, stored))
}
