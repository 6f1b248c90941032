//! What the rows of a pipeline, and their texts, say of two entities, for whoever asks: as the caller, who sees the relations of the chunks
//! that he sees.

use std::collections::HashSet;

use super::derived;
use super::entity_graph::{EntityGraph, span};
use super::search::source_key;
use crate::error::Result;
use crate::graph::paths::relations::{RelationStep, SaidRelation};
use crate::graph::paths::{CoOccurrence, EntityPath, NamedEntity, PathSearch};
use crate::graph::relations::pick::{PickedRelations, RelationMenu};
use crate::graph::relations::{PredicateChoice, phrases};
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::Pipeline;
use crate::pg::catalog::view::content_columns;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};

/// Relations of an entity that are looked at in each direction.
const MOST_RELATIONS: i64 = 1000;

/// Entities of a question at which paths begin.
const MOST_STARTS: usize = 20;

/// Relations that are counted to say which predicates there are.
const MOST_COUNTED: i64 = 2000;

/// Entities of chunks that were found for a question.
const MOST_NAMED: i64 = 100;

/// Most hops and most paths where a language model picks relations.
const PICKED_HOPS: usize = 3;
const PICKED_PATHS: usize = 20;

/// Relations between the entities of a pipeline.
pub struct RelationGraph<'a> {
    pipeline: &'a Pipeline,
    graph: &'a EntityGraph,
    /// The tables of what columns say, and of what texts do, as far as there are any.
    tables: Vec<StoredDerivation>,
}

impl<'a> RelationGraph<'a> {
    /// The relations of a pipeline; an error if it has none, or the caller may not read them.
    pub fn required(pipeline: &'a Pipeline, graph: &'a EntityGraph) -> Result<RelationGraph<'a>> {
        let example =
            "{\"graph\": {\"entities\": \"rules\", \"relations\": {\"COLUMN\": \"PREDICATE\"}}}";
        let of = |kind| derived::required(pipeline, kind, ("relations", example));
        let mut tables = Vec::new();
        for kind in [DerivationKind::ColumnRelations, DerivationKind::ExtractedRelations] {
            if derivation::of(pipeline.id, kind)?.is_some() {
                tables.push(of(kind)?);
            }
        }
        if tables.is_empty() {
            tables.push(of(DerivationKind::ColumnRelations)?);
        }
        Ok(RelationGraph { pipeline, graph, tables })
    }

    /// The best paths, of up to so many hops and so many of them, from what `text` names, over relations of some predicates.
    pub fn paths(
        &self,
        text: &str,
        predicates: &PredicateChoice,
        bounds: (usize, usize),
    ) -> Result<Vec<EntityPath>> {
        self.paths_from(self.starts(text)?, predicates, bounds)
    }

    /// The best paths from some entities, likewise.
    fn paths_from(
        &self,
        starts: Vec<NamedEntity>,
        predicates: &PredicateChoice,
        (hops, most): (usize, usize),
    ) -> Result<Vec<EntityPath>> {
        let statements = self.statements()?;
        let mut search = PathSearch::new(starts);
        for _ in 0..hops {
            let ends = search.ends();
            if ends.is_empty() {
                break;
            }
            let mut steps = Vec::new();
            for statement in &statements {
                let ends = ends.clone();
                let arguments = [ends.into(), predicates.names().into(), MOST_RELATIONS.into()];
                steps.extend(prepared::rows(statement, &arguments, step)?);
            }
            search.follow(steps);
        }
        Ok(search.finish(most))
    }

    /// The best paths over what a language model has picked.
    pub fn picked(&self, picked: PickedRelations) -> Result<Vec<EntityPath>> {
        let predicates = PredicateChoice::read(picked.predicates)?;
        self.paths_from(self.known(picked.entities)?, &predicates, (PICKED_HOPS, PICKED_PATHS))
    }

    /// What relations the caller sees that `question` may ask for; of these chunks those that were found for it.
    pub fn menu(&self, question: &str, chunks: &[i64]) -> Result<RelationMenu> {
        let named = self.starts(question)?.into_iter().map(|it| it.norm).collect();
        let mut menu = RelationMenu { entities: named, ..RelationMenu::default() };
        for table in &self.tables {
            let relations = [
                ("relations", table.relation.sql.as_str()),
                ("chunk_table", &self.pipeline.chunk_table.sql),
            ];
            let statement = render(query!(column_relations.menu), &relations);
            let mut counted = prepared::rows(&statement, &[MOST_COUNTED.into()], |row| {
                let example = [required(row.get(2)?)?, required(row.get(3)?)?];
                Ok((required(row.get::<i64>(4)?)?, (required(row.get(1)?)?, example)))
            })?;
            counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
            let of_chunks = match table.kind {
                DerivationKind::ExtractedRelations => query!(extracted_relations.of_chunks),
                _ => query!(column_relations.of_chunks),
            };
            let arguments = [chunks.to_vec().into(), MOST_NAMED.into()];
            let entities = prepared::rows(&render(of_chunks, &relations), &arguments, |row| {
                required(row.get::<String>(1)?)
            })?;
            let predicates = counted.into_iter().map(|(_, predicate)| predicate).collect();
            menu.extend(RelationMenu { predicates, entities });
        }
        Ok(menu)
    }

    /// The statements that go on by a hop.
    fn statements(&self) -> Result<Vec<String>> {
        let source_key = source_key(&content_columns(self.pipeline)?.keys);
        let statement = |table: &StoredDerivation| {
            let values = [
                ("view", self.pipeline.view.sql.as_str()),
                ("chunk_table", &self.pipeline.chunk_table.sql),
                ("mentions", &self.graph.mentions.sql),
                ("relations", &table.relation.sql),
                ("source_key", &source_key),
            ];
            match table.kind {
                DerivationKind::ExtractedRelations => {
                    render(query!(extracted_relations.steps), &values)
                }
                _ => render(query!(column_relations.steps), &values),
            }
        };
        Ok(self.tables.iter().map(statement).collect())
    }

    /// What the text names of all that relations are between.
    fn starts(&self, text: &str) -> Result<Vec<NamedEntity>> {
        let mut starts = self.graph.starts(text);
        for phrase in phrases(text) {
            if !starts.iter().any(|it| it.norm == phrase.norm) {
                starts.push(phrase);
            }
        }
        self.known(starts)
    }

    /// Those of some entities that relations are between which the caller sees, the first of them.
    fn known(&self, mut entities: Vec<NamedEntity>) -> Result<Vec<NamedEntity>> {
        let mut known = HashSet::new();
        for table in &self.tables {
            let norms: Vec<&str> = entities.iter().map(|it| it.norm.as_str()).collect();
            let values = [("relations", table.relation.sql.as_str())];
            let statement = render(query!(column_relations.known), &values);
            known.extend(prepared::rows(&statement, &[norms.into()], |row| {
                required(row.get::<String>(1)?)
            })?);
        }
        entities.retain(|it| known.contains(&it.norm));
        entities.truncate(MOST_STARTS);
        Ok(entities)
    }
}

/// A row of `steps` of column_relations.sql or extracted_relations.sql.
fn step(row: &pgrx::spi::SpiHeapTupleData<'_>) -> Result<RelationStep, pgrx::spi::Error> {
    Ok(RelationStep {
        from: required(row.get::<i64>(1)?)? as usize - 1,
        from_name: required(row.get(2)?)?,
        to: NamedEntity { norm: required(row.get(3)?)?, name: required(row.get(4)?)? },
        relation: SaidRelation {
            predicate: required(row.get(5)?)?,
            is_inverse: required(row.get(6)?)?,
            method: required(row.get(15)?)?,
            span: span(row, 16)?,
        },
        chunks: required(row.get(7)?)?,
        proof: CoOccurrence {
            source_key: required(row.get(8)?)?,
            chunk_id: required(row.get(9)?)?,
            chunk_no: required(row.get(10)?)?,
            from: span(row, 11)?,
            to: span(row, 13)?,
        },
    })
}
