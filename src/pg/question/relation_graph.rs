//! What the rows of a pipeline say of two entities, for whoever asks: as the caller, who sees the relations of the chunks
//! that he sees.

use super::derived;
use super::entity_graph::{EntityGraph, span};
use super::search::source_key;
use crate::error::Result;
use crate::graph::paths::relations::{RelationStep, SaidRelation};
use crate::graph::paths::{CoOccurrence, EntityPath, NamedEntity, PathSearch};
use crate::graph::relations::{PredicateChoice, phrases};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::catalog::view::content_columns;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};

/// Relations of an entity that are looked at in each direction.
const MOST_RELATIONS: i64 = 1000;

/// Entities of a question at which paths begin.
const MOST_STARTS: usize = 20;

/// Who says what a column says.
const OF_COLUMNS: &str = "sql";

/// Relations between the entities of a pipeline.
pub struct RelationGraph<'a> {
    pipeline: &'a Pipeline,
    graph: &'a EntityGraph,
    /// The table of what columns say.
    relations: Relation,
}

impl<'a> RelationGraph<'a> {
    /// The relations of a pipeline; an error if it has none, or the caller may not read them.
    pub fn required(pipeline: &'a Pipeline, graph: &'a EntityGraph) -> Result<RelationGraph<'a>> {
        let example =
            "{\"graph\": {\"entities\": \"rules\", \"relations\": {\"COLUMN\": \"PREDICATE\"}}}";
        let words = ("relations", example);
        let relations =
            derived::required(pipeline, DerivationKind::ColumnRelations, words)?.relation;
        Ok(RelationGraph { pipeline, graph, relations })
    }

    /// The best paths, of up to so many hops and so many of them, from what `text` names, over relations of some predicates.
    pub fn paths(
        &self,
        text: &str,
        predicates: &PredicateChoice,
        (hops, most): (usize, usize),
    ) -> Result<Vec<EntityPath>> {
        let keys = content_columns(self.pipeline)?.keys;
        let values = [
            ("view", self.pipeline.view.sql.as_str()),
            ("mentions", &self.graph.mentions.sql),
            ("relations", &self.relations.sql),
            ("source_key", &source_key(&keys)),
        ];
        let statement = render(query!(column_relations.steps), &values);
        let mut search = PathSearch::new(self.starts(text)?);
        for _ in 0..hops {
            let ends = search.ends();
            if ends.is_empty() {
                break;
            }
            let arguments = [ends.into(), predicates.names().into(), MOST_RELATIONS.into()];
            search.follow(prepared::rows(&statement, &arguments, step)?);
        }
        Ok(search.finish(most))
    }

    /// What the text names of all that relations are between.
    fn starts(&self, text: &str) -> Result<Vec<NamedEntity>> {
        let mut starts = self.graph.starts(text);
        for phrase in phrases(text) {
            if !starts.iter().any(|it| it.norm == phrase.norm) {
                starts.push(phrase);
            }
        }
        let norms: Vec<&str> = starts.iter().map(|it| it.norm.as_str()).collect();
        let statement =
            render(query!(column_relations.known), &[("relations", &self.relations.sql)]);
        let known =
            prepared::rows(&statement, &[norms.into()], |row| required(row.get::<String>(1)?))?;
        starts.retain(|it| known.contains(&it.norm));
        starts.truncate(MOST_STARTS);
        Ok(starts)
    }
}

/// A row of `steps` of column_relations.sql.
fn step(row: &pgrx::spi::SpiHeapTupleData<'_>) -> Result<RelationStep, pgrx::spi::Error> {
    Ok(RelationStep {
        from: required(row.get::<i64>(1)?)? as usize - 1,
        from_name: required(row.get(2)?)?,
        to: NamedEntity { norm: required(row.get(3)?)?, name: required(row.get(4)?)? },
        relation: SaidRelation {
            predicate: required(row.get(5)?)?,
            is_inverse: required(row.get(6)?)?,
            method: OF_COLUMNS.to_owned(),
            span: None,
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
