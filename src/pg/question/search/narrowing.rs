//! A search that is narrower than what the caller asks, and what stands around what it has found.
//!
//! An agent asks so. All that the caller has said still holds: the filter of the options, the pipelines, the rights.

use std::collections::HashSet;

use serde_json::Value;

use super::Search;
use super::filter_sql::FilterSql;
use super::statement::{self, Statements, source_key};
use crate::error::Result;
use crate::graph::paths::EntityPath;
use crate::pg::question::entity_graph::EntityGraph;
use crate::pg::server::prepared;
use crate::pg::server::sql::{self, query, render, required};
use crate::retrieve::fusion::Candidate;
use crate::retrieve::{Hit, Passage, expansion};

/// Chunks before and behind one that is opened.
const REACH: i32 = 5;

/// Hops of a path, most paths, and most chunks that prove them.
const HOPS: usize = 2;
const MOST_PATHS: usize = 10;
pub(super) const MOST_PROOFS: usize = 10;

/// What a search is narrowed to, beside what the caller asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Narrowing {
    /// How many chunks are found; `None`: as many as the caller says.
    pub k: Option<u32>,
    /// Conditions on the metadata that hold beside the filter of the options.
    pub filter: Option<Value>,
    /// The one pipeline, of those that the caller asks, that is searched; `None`: all of them.
    pub pipeline: Option<String>,
}

/// How an entity is connected with others.
#[derive(Clone, Debug, Default)]
pub struct Connections {
    /// The paths, the best first.
    pub paths: Vec<ProvenPath>,
    /// The chunks that name two of them, which stand one after the other.
    pub passages: Vec<Passage>,
}

/// A path between entities.
#[derive(Clone, Debug)]
pub struct ProvenPath {
    /// The names on it.
    pub names: String,
    /// How likely a random walk takes it, from 0 to 1.
    pub score: f64,
    /// The keys of the chunks that name two of them, which stand one after the other.
    pub chunks: Vec<i64>,
}

impl Search {
    /// This search with what it is narrowed to. Fails where the filter names what is not a column.
    pub fn narrowed(&self, narrowing: &Narrowing) -> Result<Search> {
        let mut asked = self.asked.clone();
        let k = narrowing.k.and_then(|k| i32::try_from(k).ok());
        asked.options.k = k.or(asked.options.k);
        // The page is one of the caller's search, and this is another.
        asked.options.retrieve.offset = None;
        let search = Search::new(self.searched.clone(), &asked, self.usual_k)?;
        let search = if self.finds_leads { search.for_answers() } else { search };
        Search { context: self.context, ..search }.with_condition(narrowing.filter.clone())
    }

    /// This search for chunks for which a condition holds, beside the filter of the options.
    pub(super) fn with_condition(mut self, condition: Option<Value>) -> Result<Search> {
        if condition.is_some() {
            let filters = self.options.filter.iter().chain(&condition);
            self.filter = FilterSql::new(filters, &self.columns)?;
        }
        self.condition = condition;
        Ok(self)
    }

    /// A chunk with those around it in its document; `None` where it is not there any more.
    pub fn around(&self, passage: &Passage) -> Result<Option<Passage>> {
        let around = self.as_it_is(|statements| {
            let arguments =
                [vec![passage.chunk_id].into(), REACH.into(), false.into(), false.into()];
            sql::rows(&statements.neighbours(), &arguments, statement::neighbour)
        })?;
        let Some(around) = around.filter(|found| !found.is_empty()) else { return Ok(None) };
        let passage = Passage { lead: None, ..passage.clone() };
        let hit = Hit { passage, age: None, vector: Vec::new() };
        Ok(expansion::expanded(vec![hit], around).pop().map(|hit| hit.passage))
    }

    /// Whether there is a graph that the caller may read.
    pub fn has_graph(&self) -> Result<bool> {
        Ok(EntityGraph::readable(self.pipeline())?.is_some())
    }

    /// How what `text` names is connected with other entities, by chunks that the filter lets pass.
    pub fn connections(&self, text: &str) -> Result<Connections> {
        let found = self.as_it_is(|statements| {
            let graph = EntityGraph::readable(self.pipeline())?;
            graph.map_or(Ok(Connections::default()), |it| self.connected(statements, &it, text))
        });
        Ok(found?.unwrap_or_default())
    }

    /// How what `text` names is connected in a graph.
    pub(super) fn connected(
        &self,
        statements: &Statements<'_>,
        graph: &EntityGraph,
        text: &str,
    ) -> Result<Connections> {
        self.proven(statements, graph.paths(self.pipeline(), text, HOPS, MOST_PATHS)?)
    }

    /// Those of `paths` whose chunks the filter lets pass, and the first of these chunks.
    fn proven(&self, statements: &Statements<'_>, paths: Vec<EntityPath>) -> Result<Connections> {
        let paths = self.passing_paths(statements, paths)?;
        let mut seen = HashSet::new();
        let chunks = paths.iter().flat_map(proofs).filter(|chunk| seen.insert(*chunk));
        let candidates: Vec<Candidate> =
            chunks.take(MOST_PROOFS).map(|chunk| Candidate::by_graph(chunk, 0.0)).collect();
        let hits = self.hits(statements, None, &candidates)?;
        let passages = (1..).zip(hits).map(|(rank, hit)| Passage { rank, ..hit.passage }).collect();
        let proven = |path: &EntityPath| {
            let names: Vec<&str> = path.entities.iter().map(|it| it.name.as_str()).collect();
            ProvenPath { names: names.join(" - "), score: path.score, chunks: proofs(path) }
        };
        Ok(Connections { paths: paths.iter().map(proven).collect(), passages })
    }

    /// Those of some paths whose chunks the filter lets pass.
    fn passing_paths(
        &self,
        statements: &Statements<'_>,
        mut paths: Vec<EntityPath>,
    ) -> Result<Vec<EntityPath>> {
        let passing = self.passing(statements, paths.iter().flat_map(proofs).collect())?;
        paths.retain(|path| proofs(path).iter().all(|chunk| passing.contains(chunk)));
        Ok(paths)
    }

    /// Those of some chunks that the filter lets pass.
    fn passing(&self, statements: &Statements<'_>, chunks: Vec<i64>) -> Result<HashSet<i64>> {
        let filter = statements.filter;
        let view = self.pipeline().view.sql.as_str();
        let statement =
            render(query!(graph.visible), &[("view", view), ("filter", &filter.condition)]);
        let most = chunks.len() as i64;
        let arguments = [chunks.into(), most.into(), filter.values.clone().into()];
        let found = prepared::rows(&statement, &arguments, |row| required(row.get::<i64>(1)?))?;
        Ok(found.into_iter().collect())
    }

    /// Those of some chunks, by their primary keys, that the caller may see and the filter of the options lets pass, each
    /// with the key of the row that it was cut from. Of chunks on shards, and where others have taken the place of all,
    /// there are none.
    pub fn visible(&self, chunks: Vec<i64>) -> Result<HashSet<(i64, String)>> {
        if self.pipeline().has_shards || chunks.is_empty() {
            return Ok(HashSet::new());
        }
        let found = self.as_it_is(|statements| {
            let FilterSql { condition, values, .. } = statements.filter;
            let key = source_key(&self.columns.keys);
            let view = self.pipeline().view.sql.as_str();
            let parts = [("source_key", key.as_str()), ("view", view), ("filter", condition)];
            let most = chunks.len() as i64;
            let arguments = [chunks.into(), most.into(), values.clone().into()];
            prepared::rows(&render(query!(retrieve.visible), &parts), &arguments, |row| {
                Ok((required(row.get(1)?)?, required(row.get(2)?)?))
            })
        });
        Ok(found?.unwrap_or_default().into_iter().collect())
    }

    /// Does `work` with the chunks that this searches; `None` where others have taken their place.
    pub(super) fn as_it_is<T>(
        &self,
        work: impl FnOnce(&Statements<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        self.in_filter(None, work)
    }

    /// Does `work` with the chunks that this searches, of which those alone count that the filter lets pass which was
    /// `read` in the question; `None` where others have taken their place.
    pub(super) fn in_filter<T>(
        &self,
        read: Option<&Value>,
        work: impl FnOnce(&Statements<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let read = self.narrower(read)?;
        let filter = read.as_ref().unwrap_or(&self.filter);
        let Some(_locked) = self.searched.lock() else { return Ok(None) };
        self.searched.reading(|| {
            let _owners = self.searched.check_owners(&self.derived())?;
            work(&Statements::new(self, filter)).map(Some)
        })
    }

    /// The filter with what was `read` in the question; `None` where nothing was.
    pub(super) fn narrower(&self, read: Option<&Value>) -> Result<Option<FilterSql>> {
        let all = |read| self.options.filter.iter().chain(&self.condition).chain([read]);
        read.map(|read| FilterSql::new(all(read), &self.columns)).transpose()
    }
}

/// The chunks that prove the edges of a path.
fn proofs(path: &EntityPath) -> Vec<i64> {
    path.edges.iter().map(|edge| edge.proof.chunk_id).collect()
}
