//! Retrieval through a pipeline's view: as the caller, so that a row the caller may not see
//! is not found, not counted and not cited.

mod filter_sql;
mod statement;

use pgrx::JsonB;

use self::filter_sql::FilterSql;
use self::statement::Statements;
use super::catalog::pipeline::{self, Pipeline};
use super::catalog::view::{ContentColumns, content_columns};
use super::functions::Embedding;
use super::rerank::Reranker;
use super::sql;
use super::vector::Vector;
use crate::daemon::protocol::Lane;
use crate::embed::{Embedder, Kind};
use crate::error::{Error, Result};
use crate::retrieve::fusion::{Candidate, Found, fuse};
use crate::retrieve::{Hit, Mode, Passage, RetrieveOptions, expansion, rank};

/// Most chunks one call returns.
const MOST: i32 = 10_000;

/// What is searched, and how.
pub struct Search {
    /// Where.
    pub pipeline: Pipeline,
    columns: ContentColumns,
    k: i32,
    mode: Mode,
    filter: FilterSql,
    reranker: Option<Reranker>,
    options: RetrieveOptions,
}

impl Search {
    /// Checks the arguments of `rag_retrieve` and its kin.
    pub fn new(
        pipeline: Option<&str>,
        k: Option<i32>,
        mode: Option<&str>,
        filter: Option<JsonB>,
        options: RetrieveOptions,
    ) -> Result<Self> {
        let k = k.unwrap_or(5);
        if !(1..=MOST).contains(&k) {
            return Err(Error::invalid(format!("k must be between 1 and {MOST}: {k}")));
        }
        options.check()?;
        let mode = mode.unwrap_or("hybrid").parse()?;
        let pipeline = pipeline::resolve(pipeline)?;
        let columns = content_columns(&pipeline)?;
        let filter = FilterSql::new(filter, &columns.metadata)?;
        let search = Search { pipeline, columns, k, mode, filter, reranker: None, options };
        search.statements()?;
        Ok(search)
    }

    /// The same with the candidates read again by `reranker`: 'late_interaction', 'llm' or the
    /// name of a model.
    pub fn reranked_by(mut self, reranker: Option<&str>) -> Result<Self> {
        let named = |name| Reranker::named(name, Some(&self.pipeline.model));
        self.reranker = reranker.map(named).transpose()?;
        Ok(self)
    }

    /// The passages for `query`, best first.
    pub fn run(&self, query: &str) -> Result<Vec<Passage>> {
        let asked = self.ask(query)?;
        let statements = self.statements()?;
        let (dense, lexical) = self.sides(&statements, &asked)?;
        let mut candidates = fuse(&dense, &lexical, &self.options);
        candidates.truncate(self.pool());
        let hits = self.hits(&statements, &asked, &candidates)?;
        let hits = rank::before_rerank(hits, &self.options);
        let hits = match &self.reranker {
            Some(reranker) => reranker.rerank(query, hits, &self.options)?,
            None => hits,
        };
        let hits = rank::after_rerank(hits, &self.options, self.k as usize);
        let hits = self.expand(&statements, hits)?;
        let numbered = (1..).zip(hits).map(|(rank, hit)| Passage { rank, ..hit.passage });
        Ok(numbered.collect())
    }

    fn ask(&self, query: &str) -> Result<Asked> {
        let words = match self.mode {
            Mode::Dense => None,
            Mode::Lexical | Mode::Hybrid => self.words(query)?,
        };
        let vector = match self.mode {
            Mode::Lexical => None,
            Mode::Dense | Mode::Hybrid => Some(self.embed(query)?),
        };
        Ok(Asked { vector, words })
    }

    fn embed(&self, query: &str) -> Result<Vector> {
        let mut embedding = Embedding::with_model(Some(&self.pipeline.model), Lane::Query)?;
        let mut vectors = embedding.embed(&[query.to_owned()], Kind::Query)?;
        Ok(Vector(vectors.swap_remove(0)))
    }

    /// The query's words as a tsquery; `None` where it has none.
    fn words(&self, query: &str) -> Result<Option<String>> {
        let statement = include_str!("../../sql/query/tsquery.sql");
        let found =
            sql::rows(statement, &[self.pipeline.config.as_str().into(), query.into()], |row| {
                row.get::<String>(1)
            })?;
        Ok(found.into_iter().next().flatten())
    }

    /// What each side puts forward. Without a single word to look for, the vectors do alone.
    fn sides(&self, statements: &Statements, asked: &Asked) -> Result<(Vec<Found>, Vec<Found>)> {
        let arguments = [
            asked.vector.clone().into(),
            asked.words.clone().into(),
            self.filter.values.clone().into(),
            self.candidates().into(),
        ];
        let side = |is_asked: bool, statement: &str| match is_asked {
            true => sql::rows(statement, &arguments, |row| {
                let chunk_id = sql::required(row.get(1)?)?;
                Ok(Found { chunk_id, similarity: row.get(2)?, lexical: row.get(3)? })
            }),
            false => Ok(Vec::new()),
        };
        let dense = side(asked.vector.is_some(), &statements.dense()?)?;
        Ok((dense, side(asked.words.is_some(), &statements.lexical()?)?))
    }

    /// How many chunks a side puts forward. One side alone is asked for those that are looked
    /// at and no more.
    fn candidates(&self) -> i64 {
        let wanted = match self.mode {
            Mode::Hybrid => i64::from(self.options.candidates),
            Mode::Dense | Mode::Lexical => self.pool() as i64,
        };
        wanted.max(self.k.into())
    }

    /// How many chunks are looked at after the fusion.
    fn pool(&self) -> usize {
        let k = self.k as usize;
        let read_again = self.reranker.as_ref().map_or(0, |_| self.options.rerank_candidates);
        let chosen_from = if self.options.is_choosy() { self.options.candidates } else { 0 };
        k.max(read_again as usize).max(chosen_from as usize)
    }

    /// The chunks of `candidates`, in their order. One that was deleted meanwhile is not there.
    fn hits(
        &self,
        statements: &Statements,
        asked: &Asked,
        candidates: &[Candidate],
    ) -> Result<Vec<Hit>> {
        let ids: Vec<i64> = candidates.iter().map(|one| one.chunk_id).collect();
        let arguments = [asked.vector.clone().into(), ids.into()];
        let mut hits = sql::rows(&statements.passages()?, &arguments, statement::hit)?;
        let places: std::collections::HashMap<i64, &Candidate> =
            candidates.iter().map(|one| (one.chunk_id, one)).collect();
        hits.retain_mut(|Hit { passage, .. }| match places.get(&passage.chunk_id) {
            Some(candidate) => {
                passage.score = candidate.score;
                passage.dense_rank = candidate.dense_rank;
                passage.lexical_rank = candidate.lexical_rank;
                true
            }
            None => false,
        });
        hits.sort_by(|Hit { passage: a, .. }, Hit { passage: b, .. }| {
            b.score.total_cmp(&a.score).then(a.chunk_id.cmp(&b.chunk_id))
        });
        Ok(hits)
    }

    fn expand(&self, statements: &Statements, hits: Vec<Hit>) -> Result<Vec<Hit>> {
        let reach = self.options.reach() as i32;
        if reach == 0 || hits.is_empty() {
            return Ok(hits);
        }
        let ids: Vec<i64> = hits.iter().map(|hit| hit.passage.chunk_id).collect();
        let arguments = [ids.into(), reach.into(), self.options.expand.is_some().into()];
        let found = sql::rows(&statements.neighbours(), &arguments, statement::neighbour)?;
        Ok(expansion::expanded(hits, found))
    }

    fn statements(&self) -> Result<Statements<'_>> {
        Statements::new(self)
    }
}

/// A question as the two sides want it.
struct Asked {
    vector: Option<Vector>,
    words: Option<String>,
}
