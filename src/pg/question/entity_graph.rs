//! The graph of a pipeline's entities, for whoever asks: as the caller, who sees the mentions of the chunks that
//! he sees.

use std::collections::HashSet;

use super::derived::{self, MakingOptions};
use super::search::{FilterSql, SearchedPipeline, source_key};
use crate::error::{Error, Result};
use crate::graph::paths::{
    CoOccurrence, EntityPath, FoundStep, MOST_CHUNKS, MOST_HOPS, MOST_PATHS, NameSpan, NamedEntity,
    PathSearch,
};
use crate::graph::relations::{PredicateChoice, phrases, possible};
use crate::graph::{EntityExtractor, asked};
use crate::pg::catalog::derivation::{DerivationKind, StoredDerivation};
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::catalog::view::content_columns;
use crate::pg::derivation::mentions::{extractor, look_around};
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};

use super::relation_graph::RelationGraph;
use super::request::required_question;
use super::route;

/// Entities of a chunk that are gone on to, those that it names most.
pub const ENTITIES_A_CHUNK: i64 = 20;

/// Entities of a question at which paths begin.
pub const MOST_STARTS: usize = 20;

/// Hops where nothing says how many.
const HOPS: i32 = 2;

/// Paths where nothing says how many.
const PATHS: i32 = 10;

/// How users call a graph, and the option that makes one.
const WORDS: (&str, MakingOptions) =
    ("graph", |_| "{\"graph\": {\"entities\": \"rules\"}}".to_owned());

/// What a pipeline's chunks name.
#[derive(Clone)]
pub struct EntityGraph {
    /// The table of mentions.
    pub mentions: Relation,
    /// What finds entities in questions as it does in chunks.
    pub extractor: &'static dyn EntityExtractor,
}

impl EntityGraph {
    /// The graph of a pipeline; `None` if it has none, or the caller may not read it.
    pub fn readable(pipeline: &Pipeline) -> Result<Option<EntityGraph>> {
        derived::readable(pipeline, DerivationKind::Mentions)?.map(EntityGraph::of).transpose()
    }

    /// The graph of a pipeline; an error if it has none, or the caller may not read it.
    pub fn required(pipeline: &Pipeline) -> Result<EntityGraph> {
        EntityGraph::of(derived::required(pipeline, DerivationKind::Mentions, WORDS)?)
    }

    fn of(stored: StoredDerivation) -> Result<EntityGraph> {
        let extractor = extractor(&stored.options)?;
        Ok(EntityGraph { mentions: stored.relation, extractor })
    }
}

/// Which paths are looked for, as the caller says it.
pub struct PathQuest<'a> {
    /// An entity, or a question that names some.
    pub text: Option<&'a str>,
    /// The name of the pipeline.
    pub pipeline: Option<&'a str>,
    /// Most hops of a path.
    pub hops: Option<i32>,
    /// How many paths are wanted.
    pub most: Option<i32>,
    /// Over relations of which predicates they go; `None`: over chunks that name both.
    pub predicates: Option<PredicateChoice>,
}

/// The paths from what a text names, the best first.
pub fn paths(quest: PathQuest<'_>) -> Result<Vec<EntityPath>> {
    let text = required_question(quest.text)?;
    let hops = within("hops", quest.hops.unwrap_or(HOPS), MOST_HOPS)?;
    let most = within("k", quest.most.unwrap_or(PATHS), MOST_PATHS)?;
    route::refuse_several(quest.pipeline, "rag_graph")?;
    let is_named = quest.pipeline.is_some();
    let searched = SearchedPipeline::new(pipeline::resolve(quest.pipeline)?, is_named);
    let (searched, _locked) = searched.locked()?;
    searched.reading(|| {
        let pipeline = &searched.pipeline;
        pipeline::check_readable(pipeline)?;
        let graph = EntityGraph::required(pipeline)?;
        let all = FilterSql::new(std::iter::empty(), &content_columns(pipeline)?)?;
        let relations = match &quest.predicates {
            Some(_) => Some(RelationGraph::required(pipeline, &graph, &all)?),
            None => None,
        };
        let mut read = vec![&graph.mentions];
        read.extend(relations.iter().flat_map(RelationGraph::tables));
        let _owners = searched.check_owners(&read)?;
        match relations.zip(quest.predicates.as_ref()) {
            Some((relations, predicates)) => relations.paths(text, predicates, (hops, most)),
            None => graph.paths(pipeline, text, hops, most),
        }
    })
}

fn within(argument: &str, value: i32, most: i32) -> Result<usize> {
    match (1..=most).contains(&value) {
        true => Ok(value as usize),
        false => {
            let message = format!("{argument} must be between 1 and {most}, not {value}");
            Err(Error::invalid(message))
        }
    }
}

impl EntityGraph {
    /// The best `most` paths of up to `hops` hops from what `text` names.
    pub fn paths(
        &self,
        pipeline: &Pipeline,
        text: &str,
        hops: usize,
        most: usize,
    ) -> Result<Vec<EntityPath>> {
        let keys = content_columns(pipeline)?.keys;
        let values = [
            ("view", pipeline.view.sql.as_str()),
            ("mentions", &self.mentions.sql),
            ("source_key", &source_key(&keys)),
        ];
        let statement = render(query!(graph.steps), &values);
        let mut search = PathSearch::new(self.named_by(pipeline, text)?, hops);
        loop {
            let ends = search.ends();
            if ends.is_empty() {
                return Ok(search.finish(most));
            }
            // One more shows that there are too many.
            let chunks = MOST_CHUNKS as i64 + 1;
            let arguments = [ends.into(), chunks.into(), ENTITIES_A_CHUNK.into()];
            search.advance(prepared::rows(&statement, &arguments, step)?);
        }
    }

    /// What a text names that chunks name which the caller sees, the first entities of it.
    fn named_by(&self, pipeline: &Pipeline, text: &str) -> Result<Vec<NamedEntity>> {
        let (starts, phrases) = (self.starts(text), phrases(text));
        let norms: Vec<&str> = starts.iter().chain(&phrases).map(|it| it.norm.as_str()).collect();
        let values = [("view", pipeline.view.sql.as_str()), ("mentions", &self.mentions.sql)];
        let statement = render(query!(graph.known), &values);
        let known =
            prepared::rows(&statement, &[norms.into()], |row| required(row.get::<String>(1)?))?;
        let known: HashSet<String> = known.into_iter().collect();
        let mut named = asked::named(text, (starts, phrases), |norm| known.contains(norm));
        named.truncate(MOST_STARTS);
        Ok(named)
    }

    /// The text as an entity, and what it names if it is a question.
    pub fn starts(&self, text: &str) -> Vec<NamedEntity> {
        let asked = self.extractor.asked(text, &mut look_around);
        let asked = asked.into_iter().map(|(norm, name)| NamedEntity { norm, name });
        let mut starts = possible(text);
        for entity in asked {
            if !starts.iter().any(|it| it.norm == entity.norm) {
                starts.push(entity);
            }
        }
        starts
    }
}

/// A row of `steps` of graph.sql.
fn step(row: &pgrx::spi::SpiHeapTupleData<'_>) -> Result<FoundStep, pgrx::spi::Error> {
    Ok(FoundStep {
        from: required(row.get::<i64>(1)?)? as usize - 1,
        from_name: required(row.get(2)?)?,
        to: NamedEntity { norm: required(row.get(3)?)?, name: required(row.get(4)?)? },
        count: required(row.get(5)?)?,
        proof: CoOccurrence {
            source_key: required(row.get(6)?)?,
            chunk_id: required(row.get(7)?)?,
            chunk_no: required(row.get(8)?)?,
            from: span(row, 9)?,
            to: span(row, 11)?,
        },
    })
}

/// The place in a document of which the first character is the column `start` of a row, and the next column one past the
/// last.
pub fn span(
    row: &pgrx::spi::SpiHeapTupleData<'_>,
    start: usize,
) -> Result<NameSpan, pgrx::spi::Error> {
    Ok(row.get::<i32>(start)?.zip(row.get::<i32>(start + 1)?))
}
