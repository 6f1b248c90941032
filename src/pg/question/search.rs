//! Retrieval through a pipeline's view: as the caller, so that a row the caller may not see
//! is not found, not counted and not cited.

mod filter_sql;
mod lexical_index;
mod lookup;
mod statement;
mod text;

use std::collections::HashMap;

use pgrx::prelude::*;
use serde_json::Value;

use self::filter_sql::FilterSql;
use self::statement::{StatementParts, Statements};
use super::rewrite::Rewriter;
use super::route::ChosenPipeline;
use crate::chunk::ChunkingMethod;
use crate::error::{Error, Result};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::catalog::stranger;
use crate::pg::catalog::view::{ContentColumns, ViewColumn, content_columns};
use crate::pg::ragd::rerank::Reranker;
use crate::pg::ragd::trace;
use crate::pg::ragd::usage::ForPipeline;
use crate::pg::server::json::Jsonb;
use crate::pg::server::vector::Vector;
use crate::pg::server::{prepared, sql};
use crate::retrieve::fusion::Candidate;
use crate::retrieve::options::Expand;
use crate::retrieve::{Hit, Passage, RetrieveOptions, SearchMode, expansion, rank};
use crate::rewrite::Rewriting;

/// Most chunks one call returns.
const MOST: i32 = 10_000;

/// What is searched, and how.
pub struct Search {
    /// The pipeline that is searched.
    pub pipeline: Pipeline,
    /// Whether the caller named it.
    is_named: bool,
    columns: ContentColumns,
    k: i32,
    mode: SearchMode,
    /// The caller's filter, and as SQL.
    given: Option<Value>,
    filter: FilterSql,
    rewriter: Option<Rewriter>,
    reranker: Option<Reranker>,
    options: RetrieveOptions,
    parts: StatementParts,
    /// Where summaries and questions of the chunks are, if there are any.
    representations: Option<Relation>,
}

impl Search {
    /// Checks the arguments of `rag_retrieve` and its kin.
    pub fn new(
        asked: &ChosenPipeline,
        k: Option<i32>,
        mode: Option<&str>,
        filter: Option<Jsonb>,
        options: RetrieveOptions,
    ) -> Result<Self> {
        let k = k.unwrap_or(5);
        if !(1..=MOST).contains(&k) {
            return Err(Error::invalid(format!("k must be between 1 and {MOST}: {k}"))
                .hint("k is how many chunks are wanted, 5 by default and 6 for an answer."));
        }
        options.check()?;
        let mode = mode.unwrap_or("hybrid").parse()?;
        let pipeline = pipeline::resolve(asked.name.as_deref())?;
        pipeline::check_readable(&pipeline)?;
        check_expand(&pipeline, &options)?;
        let columns = content_columns(&pipeline)?;
        let given = filter.map(|Jsonb(filter)| filter);
        let filter = FilterSql::new(given.iter(), &columns.metadata)?;
        let parts = StatementParts::new(&options, &columns.metadata)?;
        let representations = derivation::of(pipeline.id, DerivationKind::Representations)?;
        let representations = representations.map(|it| it.relation);
        Ok(Search {
            pipeline,
            is_named: asked.is_named,
            columns,
            k,
            mode,
            given,
            filter,
            rewriter: None,
            reranker: None,
            options,
            parts,
            representations,
        })
    }

    /// The search with the question rewritten: by the way `rewrite`, or that of the options. `llm`
    /// writes, unless the options name another.
    pub fn rewritten_by(mut self, rewrite: Option<&str>, llm: Option<&str>) -> Result<Self> {
        let options = &self.options.rewrite;
        let new = |way| Rewriter::new(way, options, llm, &self.columns.metadata);
        self.rewriter = options.way_with(rewrite)?.map(new).transpose()?;
        Ok(self)
    }

    /// The search with the candidates read again by `reranker`: 'late_interaction', 'llm' or the
    /// name of a model. `None`: they are not.
    pub fn reranked_by(mut self, reranker: Option<&str>) -> Result<Self> {
        let named = |name| Reranker::named(name, Some(&self.pipeline.model));
        self.reranker = reranker.map(named).transpose()?;
        Ok(self)
    }

    /// The search with chunks replaced by their parents, if the pipeline chunks hierarchically and
    /// the options ask for no `expand` and no neighbours.
    pub fn with_parents(mut self) -> Self {
        let says_nothing = self.options.expand.is_none() && self.options.neighbours == 0;
        if says_nothing && self.pipeline.chunking.by == ChunkingMethod::Hierarchical {
            self.options.expand = Some(Expand::Parent);
        }
        self
    }

    /// The columns of metadata that each chunk has.
    pub fn metadata(&self) -> &[ViewColumn] {
        &self.columns.metadata
    }

    /// The passages for `query`, best first.
    pub fn run(&self, query: &str) -> Result<Vec<Passage>> {
        let _spending = ForPipeline::new(self.pipeline.id);
        let rewriting = match &self.rewriter {
            Some(rewriter) => rewritten(rewriter, query)?,
            None => Rewriting::none(query),
        };
        let narrowed;
        let filter = match &rewriting.filter {
            Some(read) => {
                let filters = self.given.iter().chain([read]);
                narrowed = FilterSql::new(filters, &self.columns.metadata)?;
                &narrowed
            }
            None => &self.filter,
        };
        let (vector, asked) = self.ask(query, &rewriting)?;
        let statements = Statements::new(self, filter);
        if !self.is_named {
            stranger::check(&self.pipeline)?;
        }
        let mut candidates = self.find(&statements, &asked, &rewriting)?;
        candidates.truncate(self.pool());
        let fetch = || self.hits(&statements, vector, &candidates);
        let hits = trace::found("fetch", String::new, fetch)?;
        let hits = rank::before_rerank(hits, &self.options);
        let hits = match &self.reranker {
            Some(reranker) => {
                let rerank = || {
                    let (hits, remark) = reranker.rerank(query, hits, &self.options)?;
                    remark.into_iter().for_each(|remark| notice!("{remark}"));
                    Ok(hits)
                };
                trace::found("rerank", || reranker.name().to_owned(), rerank)?
            }
            None => hits,
        };
        let hits = rank::after_rerank(hits, &self.options, self.kept());
        let mut hits = self.expand(&statements, hits)?;
        hits.truncate(self.k as usize);
        let numbered = (1..).zip(hits).map(|(rank, hit)| Passage { rank, ..hit.passage });
        Ok(numbered.collect())
    }

    /// How many chunks a side puts forward. One side alone is asked for those that are looked
    /// at and no more.
    fn candidates(&self) -> i64 {
        let wanted = match self.mode {
            SearchMode::Hybrid => i64::from(self.options.candidates),
            SearchMode::Dense | SearchMode::Lexical => self.pool() as i64,
        };
        wanted.max(self.k.into())
    }

    /// How many chunks are kept for the expansion. Several of them may have one parent.
    fn kept(&self) -> usize {
        let of_one_parent = if self.options.expand == Some(Expand::Parent) { 4 } else { 1 };
        self.k as usize * of_one_parent
    }

    /// How many chunks are looked at after the fusion.
    fn pool(&self) -> usize {
        let k = self.kept();
        let read_again = self.reranker.as_ref().map_or(0, |_| self.options.rerank_candidates);
        let chosen_from = if self.options.is_choosy() { self.options.candidates } else { 0 };
        k.max(read_again as usize).max(chosen_from as usize)
    }

    /// The chunks of `candidates`, in their order. One that was deleted meanwhile is not there.
    fn hits(
        &self,
        statements: &Statements,
        vector: Option<Vector>,
        candidates: &[Candidate],
    ) -> Result<Vec<Hit>> {
        let ids: Vec<i64> = candidates.iter().map(|one| one.chunk_id).collect();
        let arguments = [vector.into(), ids.into()];
        let mut hits = prepared::rows(&statements.passages(), &arguments, statement::hit)?;
        let places: HashMap<i64, (usize, &Candidate)> =
            candidates.iter().enumerate().map(|(at, one)| (one.chunk_id, (at, one))).collect();
        hits.retain_mut(|Hit { passage, .. }| match places.get(&passage.chunk_id) {
            Some((_, candidate)) => {
                passage.score = candidate.score;
                passage.dense_rank = candidate.dense_rank;
                passage.lexical_rank = candidate.lexical_rank;
                true
            }
            None => false,
        });
        hits.sort_by_key(|hit| places.get(&hit.passage.chunk_id).map(|(at, _)| *at));
        Ok(hits)
    }

    fn expand(&self, statements: &Statements, hits: Vec<Hit>) -> Result<Vec<Hit>> {
        let reach = self.options.reach() as i32;
        if reach == 0 || hits.is_empty() {
            return Ok(hits);
        }
        trace::found("expand", String::new, || self.expand_some(statements, hits, reach))
    }

    fn expand_some(&self, statements: &Statements, hits: Vec<Hit>, reach: i32) -> Result<Vec<Hit>> {
        let ids: Vec<i64> = hits.iter().map(|hit| hit.passage.chunk_id).collect();
        let is = |expand| self.options.expand == Some(expand);
        let (section, parent) = (is(Expand::Section), is(Expand::Parent));
        let arguments = [ids.into(), reach.into(), section.into(), parent.into()];
        let found = sql::rows(&statements.neighbours(), &arguments, statement::neighbour)?;
        Ok(expansion::expanded(hits, found))
    }
}

/// A step whose rows are the texts that are looked up.
fn rewritten(rewriter: &Rewriter, query: &str) -> Result<Rewriting> {
    trace::step(
        "rewrite",
        || rewriter.way.name().to_owned(),
        || {
            let rewriting = rewriter.rewrite(query)?;
            trace::rows(rewriting.lookups.len());
            trace::words(|| {
                let texts = rewriting.lookups.iter().map(|lookup| lookup.text.as_str());
                texts.collect::<Vec<_>>().join("; ")
            });
            Ok(rewriting)
        },
    )
}

/// An error where parents are asked for that the pipeline's chunks do not have.
fn check_expand(pipeline: &Pipeline, options: &RetrieveOptions) -> Result<()> {
    let by = pipeline.chunking.by;
    if options.expand != Some(Expand::Parent) || by == ChunkingMethod::Hierarchical {
        return Ok(());
    }
    let (name, by) = (&pipeline.name, by.as_str());
    Err(Error::invalid(format!(
        "the chunks of pipeline \"{name}\", which are cut by {by}, have no parents"
    ))
    .hint(format!("SELECT rag_alter_pipeline('{name}', chunking => '{{\"by\": \"hierarchical\"}}') makes chunks that have some.")))
}
