//! What the rows of a pipeline, and their texts, say of two entities, for whoever asks: as the caller, who sees the relations of the chunks
//! that he sees.

use std::collections::HashSet;

use serde_json::{Value as Json, json};

use super::derived;
use super::entity_graph::{EntityGraph, MOST_STARTS, span};
use super::search::{FilterSql, source_key};
use crate::error::Result;
use crate::graph::asked;
use crate::graph::paths::relations::{RelationStep, SaidRelation};
use crate::graph::paths::{CoOccurrence, EntityPath, NamedEntity, PathSearch};
use crate::graph::relations::foremost::foremost;
use crate::graph::relations::pick::{PickedRelations, RelationMenu};
use crate::graph::relations::{PredicateChoice, phrases};
use crate::pg::catalog::derivation::{self, DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::catalog::view::content_columns;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};

/// Relations of an entity that are looked at in each direction, with each predicate where some are named; of many entities fewer
/// of each, so many in all.
const MOST_RELATIONS: i64 = 1000;
const MOST_RELATIONS_TOGETHER: i64 = 20_000;

/// Chunks of a text that are looked at, of those that the caller sees and the filter lets pass.
const MOST_CHUNKS: i64 = 100;

/// Predicates that are looked at to say which there are, and relations of each that are counted.
const MOST_PREDICATES: i64 = 200;
const MOST_COUNTED: i64 = 200;

/// Entities of chunks that were found for a question.
const MOST_NAMED: i64 = 100;

/// Most hops and most paths where a language model picks relations.
const PICKED_HOPS: usize = 3;
const PICKED_PATHS: usize = 20;

/// The kinds of tables of relations.
const KINDS: [DerivationKind; 2] =
    [DerivationKind::ColumnRelations, DerivationKind::ExtractedRelations];

/// Relations between the entities of a pipeline, as far as chunks say them that a filter lets pass.
pub struct RelationGraph<'a> {
    pipeline: &'a Pipeline,
    graph: &'a EntityGraph,
    filter: &'a FilterSql,
    /// The tables of what columns say, and of what texts do, as far as there are any.
    tables: Vec<StoredDerivation>,
}

impl<'a> RelationGraph<'a> {
    /// The relations of a pipeline; an error if it has none, or the caller may not read them.
    pub fn required(
        pipeline: &'a Pipeline,
        graph: &'a EntityGraph,
        filter: &'a FilterSql,
    ) -> Result<RelationGraph<'a>> {
        let of = |kind| derived::required(pipeline, kind, ("relations", with_relations));
        let mut tables = Vec::new();
        for kind in KINDS {
            if derivation::of(pipeline.id, kind)?.is_some() {
                tables.push(of(kind)?);
            }
        }
        if tables.is_empty() {
            tables.push(of(DerivationKind::ColumnRelations)?);
        }
        Ok(RelationGraph { pipeline, graph, filter, tables })
    }

    /// Those relations of a pipeline that the caller may read; `None` where there are none.
    pub fn readable(
        pipeline: &'a Pipeline,
        graph: &'a EntityGraph,
        filter: &'a FilterSql,
    ) -> Result<Option<RelationGraph<'a>>> {
        let mut tables = Vec::new();
        for kind in KINDS {
            tables.extend(derived::readable(pipeline, kind)?);
        }
        Ok((!tables.is_empty()).then_some(RelationGraph { pipeline, graph, filter, tables }))
    }

    /// The tables of relations that it reads.
    pub fn tables(&self) -> impl Iterator<Item = &Relation> {
        self.tables.iter().map(|it| &it.relation)
    }

    /// Whether there are relations of a pipeline, and the caller may read all of them.
    pub fn is_readable(pipeline: &Pipeline) -> Result<bool> {
        let mut any = false;
        for kind in KINDS {
            if derivation::of(pipeline.id, kind)?.is_some() {
                any = derived::readable(pipeline, kind)?.is_some();
                if !any {
                    return Ok(false);
                }
            }
        }
        Ok(any)
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
        let statements = self.statements(predicates)?;
        let mut search = PathSearch::new(starts, hops);
        loop {
            let ends = search.ends();
            if ends.is_empty() {
                return Ok(search.finish(most));
            }
            search.follow(self.steps(&statements, &ends, predicates)?);
        }
    }

    /// What `statements`, those for these predicates, find from entities, of which there is at least one.
    fn steps(
        &self,
        statements: &[String],
        ends: &[String],
        predicates: &PredicateChoice,
    ) -> Result<Vec<RelationStep>> {
        let named = predicates.names();
        let predicates: Vec<Option<&str>> =
            named.map_or_else(|| vec![None], |it| it.into_iter().map(Some).collect());
        let of_each = (MOST_RELATIONS_TOGETHER / ends.len() as i64).clamp(1, MOST_RELATIONS);
        let mut steps = Vec::new();
        for statement in statements {
            let arguments = [
                ends.to_vec().into(),
                predicates.clone().into(),
                self.filter.values.clone().into(),
                of_each.into(),
                MOST_CHUNKS.into(),
            ];
            steps.extend(prepared::rows(statement, &arguments, step)?);
        }
        Ok(steps)
    }

    /// At most `most` relations of what `question` names, the most telling first.
    pub fn around(&self, question: &str, most: usize) -> Result<Vec<RelationStep>> {
        let starts = self.named_by(question)?;
        if starts.is_empty() {
            return Ok(Vec::new());
        }
        let ends: Vec<String> = starts.iter().map(|it| it.norm.clone()).collect();
        let all = PredicateChoice::All;
        let steps = self.steps(&self.statements(&all)?, &ends, &all)?;
        Ok(foremost(question, &starts, steps, most))
    }

    /// The best paths over what a language model has picked, from what the question names where nothing is known of that.
    pub fn picked(&self, picked: PickedRelations) -> Result<Vec<EntityPath>> {
        let predicates = PredicateChoice::read(picked.predicates)?;
        let mut starts = self.known(picked.entities)?;
        if starts.is_empty() {
            starts = self.known(picked.asked)?;
        }
        self.paths_from(starts, &predicates, (PICKED_HOPS, PICKED_PATHS))
    }

    /// What relations the caller sees that `question` may ask for; of these chunks those that were found for it.
    pub fn menu(&self, question: &str, chunks: &[i64]) -> Result<RelationMenu> {
        let entities = self.starts(question)?;
        let mut menu = RelationMenu { entities, ..RelationMenu::default() };
        for table in &self.tables {
            let (predicates, entities) = (self.predicates(table)?, self.of_chunks(table, chunks)?);
            menu.extend(RelationMenu { predicates, entities });
        }
        Ok(menu)
    }

    /// The predicates of a table, the most frequent first, each with a subject and an object as they are written.
    fn predicates(&self, table: &StoredDerivation) -> Result<Vec<(String, [String; 2])>> {
        let arguments =
            [MOST_PREDICATES.into(), MOST_COUNTED.into(), self.filter.values.clone().into()];
        let statement = self.statement(table, query!(column_relations.menu), &[])?;
        let mut counted = prepared::rows(&statement, &arguments, |row| {
            let example = [required(row.get(2)?)?, required(row.get(3)?)?];
            Ok((required(row.get::<i64>(4)?)?, (required(row.get(1)?)?, example)))
        })?;
        counted.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        Ok(counted.into_iter().map(|(_, predicate)| predicate).collect())
    }

    /// The entities between which the relations of some chunks are.
    fn of_chunks(&self, table: &StoredDerivation, chunks: &[i64]) -> Result<Vec<NamedEntity>> {
        let arguments =
            [chunks.to_vec().into(), MOST_NAMED.into(), self.filter.values.clone().into()];
        let statement = self.statement(table, query!(column_relations.of_chunks), &[])?;
        prepared::rows(&statement, &arguments, |row| {
            Ok(NamedEntity { norm: required(row.get(1)?)?, name: required(row.get(2)?)? })
        })
    }

    /// The statements that go on by a hop over relations of some predicates.
    fn statements(&self, predicates: &PredicateChoice) -> Result<Vec<String>> {
        let of_predicate = match predicates {
            PredicateChoice::All => query!(filter.none),
            PredicateChoice::Named(_) => query!(column_relations.of_predicate),
        };
        let statement = |table: &StoredDerivation| {
            let steps = match table.kind {
                DerivationKind::ExtractedRelations => query!(extracted_relations.steps),
                _ => query!(column_relations.steps),
            };
            self.statement(table, steps, &[("of_predicate", of_predicate)])
        };
        self.tables.iter().map(statement).collect()
    }

    /// A statement over the relations of a table, with the chunks that say them.
    fn statement(
        &self,
        table: &StoredDerivation,
        template: &str,
        values: &[(&str, &str)],
    ) -> Result<String> {
        let source_key = source_key(&content_columns(self.pipeline)?.keys);
        let own = [
            ("view", self.pipeline.view.sql.as_str()),
            ("chunk_table", &self.pipeline.chunk_table.sql),
            ("mentions", &self.graph.mentions.sql),
            ("relations", &table.relation.sql),
            ("source_key", &source_key),
            ("filter", &self.filter.condition),
        ];
        let (seen, names) = match table.kind {
            DerivationKind::ExtractedRelations => {
                (query!(extracted_relations.seen), query!(extracted_relations.names))
            }
            _ => (query!(column_relations.seen), query!(column_relations.names)),
        };
        let (seen, passes) = (render(seen, &own), render(query!(extracted_relations.passes), &own));
        let parts = [("seen", seen.as_str()), ("passes", &passes), ("names", names)];
        Ok(render(template, &[&own[..], &parts[..], values].concat()))
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

    /// What a question names of all that relations are between, but for words such as "who".
    fn named_by(&self, question: &str) -> Result<Vec<NamedEntity>> {
        let (names, phrases) = (self.graph.starts(question), phrases(question));
        let norms: Vec<&str> = names.iter().chain(&phrases).map(|it| it.norm.as_str()).collect();
        let known = self.known_of(&norms)?;
        let mut named = asked::named(question, (names, phrases), |norm| known.contains(norm));
        named.truncate(MOST_STARTS);
        Ok(named)
    }

    /// Those of some entities that relations are between which the caller sees and the filter lets pass, the first of them.
    fn known(&self, mut entities: Vec<NamedEntity>) -> Result<Vec<NamedEntity>> {
        let norms: Vec<&str> = entities.iter().map(|it| it.norm.as_str()).collect();
        let known = self.known_of(&norms)?;
        entities.retain(|it| known.contains(&it.norm));
        entities.truncate(MOST_STARTS);
        Ok(entities)
    }

    /// Which of some normal forms relations are between that the caller sees and the filter lets pass.
    fn known_of(&self, norms: &[&str]) -> Result<HashSet<String>> {
        let mut known = HashSet::new();
        for table in &self.tables {
            let statement = self.statement(table, query!(column_relations.known), &[])?;
            // The second one is not used: the values of a filter are always the third.
            let arguments =
                [norms.to_vec().into(), MOST_NAMED.into(), self.filter.values.clone().into()];
            known.extend(prepared::rows(&statement, &arguments, |row| {
                required(row.get::<String>(1)?)
            })?);
        }
        Ok(known)
    }
}

/// The option `graph` that makes relations, and finds entities as the one that there is.
fn with_relations(graph: Option<&Json>) -> String {
    let rules = json!({"entities": "rules"});
    let kept = graph.unwrap_or(&rules).as_object().into_iter().flatten();
    let kept = kept.filter(|(key, _)| *key != "relations");
    let kept: String = kept.map(|(key, value)| format!("\"{key}\": {value}, ")).collect();
    format!("{{\"graph\": {{{kept}\"relations\": {{\"COLUMN\": \"PREDICATE\"}}}}}}")
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
            words: row.get(18)?,
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
