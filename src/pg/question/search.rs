//! Retrieval through a pipeline's view: as the caller, so that a row the caller may not see
//! is not found, not counted and not cited.

mod communities;
mod filter_sql;
mod lexical_index;
mod lookup;
mod named_rows;
mod narrowing;
mod relations;
mod searched_pipeline;
mod section;
mod shards;
mod shown_key;
mod sought;
mod statement;
mod surroundings;
mod text;
pub mod tree;
mod walk;

use std::cell::Cell;
use std::collections::HashMap;

use pgrx::prelude::*;
use serde_json::Value;

pub use self::communities::CommunityPassages;
pub use self::filter_sql::FilterSql;
pub use self::narrowing::{Connections, Narrowing};
pub use self::searched_pipeline::SearchedPipeline;
pub use self::section::SectionPassages;
use self::shards::SearchedShards;
pub use self::shards::{database_number, own_candidates, own_statistics};
pub use self::sought::{ModelVector, SoughtQuestion};
pub use self::statement::source_key;
use self::statement::{StatementParts, Statements};
pub use self::surroundings::EntitySurroundings;
use self::walk::EntityWalk;
use super::options::AskedOptions;
use super::rewrite::Rewriter;
use crate::chunk::ChunkingMethod;
use crate::embed::calibration::RetrievalWeights;
use crate::error::{Error, Result};
use crate::pg::catalog::derivation::{self, DerivationKind};
use crate::pg::catalog::model;
use crate::pg::catalog::pipeline::{self, Pipeline, Relation};
use crate::pg::catalog::view::{ContentColumns, ViewColumn, content_columns};
use crate::pg::ragd::calibration::{retrieval_weights, retrieval_weights_or_usual};
use crate::pg::ragd::call_context::CallContext;
use crate::pg::ragd::rerank::Reranker;
use crate::pg::ragd::trace;
use crate::pg::server::vector::Vector;
use crate::pg::server::{prepared, sql};
use crate::rerank::{LATE_INTERACTION, LLM, READER};
use crate::retrieve::fusion::Candidate;
use crate::retrieve::options::Expand;
use crate::retrieve::{Hit, Passage, RetrieveOptions, SearchMode, expansion, lead, rank};
use crate::rewrite::Rewriting;

/// What is searched, and how.
pub struct Search {
    /// The pipeline that is searched.
    searched: SearchedPipeline,
    /// How models are called for it.
    pub context: CallContext,
    /// What the search was made of.
    asked: AskedOptions,
    usual_k: i32,
    columns: ContentColumns,
    k: i32,
    mode: SearchMode,
    filter: FilterSql,
    rewriter: Option<Rewriter>,
    reranker: Option<Reranker>,
    options: RetrieveOptions,
    /// What was fitted to the model, as far as a question has needed it.
    fitted: Cell<RetrievalWeights>,
    parts: StatementParts,
    /// Whether what a passage goes on with is looked up, too.
    finds_leads: bool,
    /// Where summaries and questions of the chunks are, if there are any.
    representations: Option<Relation>,
    /// How it goes over the graph, if it does.
    walk: Option<EntityWalk>,
    /// Where summaries of many chunks are, if it may read any.
    tree: Option<Relation>,
    /// Whether it has said that summaries are still being made.
    has_remarked: Cell<bool>,
    /// What holds beside the filter of the options.
    condition: Option<Value>,
    /// Where the chunks are, if they are not here.
    shards: SearchedShards,
}

/// What a search has found.
pub struct SearchFindings {
    /// The passages, best first.
    pub passages: Vec<Passage>,
    /// The filter that was read in the question and holds beside that of the options, if there is one.
    pub read_filter: Option<Value>,
}

impl Search {
    /// Looks up what `asked` says of a search for `usual_k` chunks, unless it says how many.
    pub fn new(searched: SearchedPipeline, asked: &AskedOptions, usual_k: i32) -> Result<Self> {
        // While it is looked up what the view has. A model that embeds the question is waited for without a lock.
        let (searched, _locked) = searched.locked()?;
        searched.clone().reading(|| Search::of(searched, asked, usual_k))
    }

    fn of(searched: SearchedPipeline, asked: &AskedOptions, usual_k: i32) -> Result<Self> {
        let pipeline = &searched.pipeline;
        let options = asked.options.retrieve.clone();
        pipeline::check_readable(pipeline)?;
        asked.named(&["retrieve.expand"], check_expand(pipeline, &options))?;
        let columns = content_columns(pipeline)?;
        let filter = FilterSql::new(options.filter.iter(), &columns);
        let filter = asked.named(&["retrieve.filter"], filter)?;
        let parts = StatementParts::new(&options, &columns.metadata);
        let parts = asked.named(&["retrieve.recency"], parts)?;
        let llm = asked.options.llm.as_deref();
        let rewriter = |way| Rewriter::new(way, &options.rewrite, llm, &columns.metadata);
        let rewriter = options.rewrite.way.map(rewriter).transpose();
        let rewriter = asked.named(&["retrieve.rewrite", "llm"], rewriter)?;
        let rewriter = rewriter.map(|it| it.withholding(&asked.withheld));
        let reranker = |name| Reranker::named(name, Some(&pipeline.model), llm);
        let reranker = options.reranker().map(reranker).transpose();
        let paths: &[&str] = match options.reranker() {
            Some(LLM) => &["retrieve.rerank", "llm"],
            _ => &["retrieve.rerank"],
        };
        let reranker = asked.named(paths, reranker)?;
        let reranker = reranker.map(|it| it.withholding(&asked.withheld));
        let walk = asked.named(&["retrieve.graph"], EntityWalk::of(pipeline, &options))?;
        let tree = asked.named(&["retrieve.tree"], tree::table(pipeline, &options))?;
        let k = asked.options.k.unwrap_or(usual_k);
        let page = options.check_page(k.unsigned_abs());
        asked.named(&["retrieve.candidates", "k"], page)?;
        let representations = derivation::of(pipeline.id, DerivationKind::Representations)?;
        let representations = representations.map(|it| it.relation);
        Ok(Search {
            context: CallContext::query().for_pipeline(pipeline.id),
            finds_leads: false,
            columns,
            k,
            mode: options.mode.unwrap_or(SearchMode::Hybrid),
            filter,
            rewriter,
            reranker,
            options,
            fitted: Cell::default(),
            parts,
            representations,
            walk,
            tree,
            has_remarked: Cell::new(false),
            condition: None,
            shards: SearchedShards::of(pipeline)?,
            asked: asked.clone(),
            usual_k,
            searched,
        })
    }

    /// The search for passages that are read: each with what it goes on with, and chunks replaced by their
    /// parents, if the pipeline chunks hierarchically and the options ask for no `expand` and no neighbours.
    pub fn for_answers(mut self) -> Self {
        self.finds_leads = true;
        let says_nothing = self.options.expand.is_none() && self.options.neighbours == 0;
        if says_nothing && self.pipeline().chunking.by == ChunkingMethod::Hierarchical {
            self.options.expand = Some(Expand::Parent);
        }
        self
    }

    /// The pipeline that is searched.
    pub fn pipeline(&self) -> &Pipeline {
        &self.searched.pipeline
    }

    /// The tables beside the chunks that every search reads.
    fn derived(&self) -> Vec<&Relation> {
        let mentions = self.walk.as_ref().map(EntityWalk::mentions);
        self.representations.iter().chain(mentions).chain(&self.tree).collect()
    }

    /// The columns of metadata that each chunk has.
    pub fn metadata(&self) -> &[ViewColumn] {
        &self.columns.metadata
    }

    /// The passages for `query`, best first.
    pub fn run(&self, query: &str) -> Result<Vec<Passage>> {
        Ok(self.findings(query)?.passages)
    }

    /// The passages for `query`, best first, and what was read in it of which chunks are wanted.
    pub fn findings(&self, query: &str) -> Result<SearchFindings> {
        self.findings_of(&SoughtQuestion::asked(query))
    }

    /// The passages for `question`, best first, and what was read in it of which chunks are wanted.
    pub fn findings_of(&self, question: &SoughtQuestion<'_>) -> Result<SearchFindings> {
        match self.searched.reading(|| self.found(question))? {
            Some(found) => Ok(found),
            // What a model wrote of the question is remembered.
            None => self.renewed()?.findings_of(question),
        }
    }

    /// The search of the generation of chunks that has taken the place of the one this searches.
    fn renewed(&self) -> Result<Self> {
        let renewed = Search::new(self.searched.renewed()?, &self.asked, self.usual_k)?;
        let renewed = if self.finds_leads { renewed.for_answers() } else { renewed };
        Search { context: self.context, ..renewed }.with_condition(self.condition.clone())
    }

    /// The passages for `question`, best first; `None` where another generation of chunks has taken this one's
    /// place.
    fn found(&self, question: &SoughtQuestion<'_>) -> Result<Option<SearchFindings>> {
        let query = question.text;
        let rewriting = match &self.rewriter {
            Some(rewriter) => rewritten(rewriter, query, &self.context)?,
            None => Rewriting::none(query),
        };
        let narrower = self.narrower(rewriting.filter.as_ref())?;
        let filter = narrower.as_ref().unwrap_or(&self.filter);
        let (vector, asked) = self.ask(question, &rewriting)?;
        self.fit(question)?;
        let Some(_locked) = self.searched.lock() else { return Ok(None) };
        let _owners = self.searched.check_owners(&self.derived())?;
        let found = |statements: &Statements<'_>| {
            let candidates = self.find(statements, &asked, &rewriting)?;
            self.ranked(question, statements, vector.clone(), candidates)
        };
        let passages = self.asking(filter, found)?;
        Ok(Some(SearchFindings { passages, read_filter: rewriting.filter }))
    }

    /// Looks up what was fitted to the model of the pipeline, where the fusion goes by it.
    fn fit(&self, question: &SoughtQuestion<'_>) -> Result<()> {
        if self.options.is_left_to_model() {
            let model = model::find(Some(&self.pipeline().model))?;
            if model.remote.is_none() {
                // A vector of the caller's is looked up without the model.
                self.fitted.set(match question.vector {
                    Some(_) => retrieval_weights_or_usual(&model.reference),
                    None => retrieval_weights(&model.reference)?,
                });
            }
        }
        Ok(())
    }

    /// The options, with what was fitted to the model of the pipeline.
    fn fitted_options(&self) -> RetrieveOptions {
        RetrieveOptions { fitted: self.fitted.get(), ..self.options.clone() }
    }

    /// Whether the words of the candidates are looked at, and not only counted.
    fn looks_closer(&self) -> bool {
        self.mode == SearchMode::Hybrid && self.fitted_options().looks_closer()
    }

    /// The best of what was found for `question`, as passages.
    fn ranked(
        &self,
        question: &SoughtQuestion<'_>,
        statements: &Statements<'_>,
        vector: Option<Vector>,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Passage>> {
        let query = question.text;
        let mut walked = self.walked(query, statements, candidates)?;
        walked.candidates.truncate(self.pool());
        let fetch = || self.hits(statements, vector, &walked.candidates);
        let mut hits = trace::found("fetch", String::new, fetch)?;
        walked.tell(&mut hits);
        let hits = rank::before_rerank(hits, &self.options);
        let hits = match &self.reranker {
            Some(reranker) => {
                let rerank = || {
                    let (hits, remark) =
                        reranker.rerank(query, hits, &self.options, &self.context)?;
                    remark.into_iter().for_each(|remark| notice!("{remark}"));
                    Ok(hits)
                };
                trace::found("rerank", || reranker.name().to_owned(), rerank)?
            }
            None => hits,
        };
        let look_up = || {
            pgrx::check_for_interrupts!();
        };
        let hits = rank::after_rerank(hits, &self.options, self.kept(), &look_up);
        let hits = self.expand(statements, hits)?;
        self.page(statements, hits, question.passed_over(self.options.passed_over()))
    }

    /// Of all `hits`, best first, those that are wanted behind the first `passed_over`, with their places.
    fn page(
        &self,
        statements: &Statements,
        mut hits: Vec<Hit>,
        passed_over: usize,
    ) -> Result<Vec<Passage>> {
        hits.truncate(passed_over + self.k());
        hits.drain(..passed_over.min(hits.len()));
        if self.finds_leads {
            self.find_leads(statements, &mut hits)?;
        }
        let first = passed_over as i32 + 1;
        let numbered = (first..).zip(hits).map(|(rank, hit)| Passage { rank, ..hit.passage });
        Ok(numbered.collect())
    }

    /// Whether it looks vectors up, and not words alone.
    pub fn embeds(&self) -> bool {
        self.mode != SearchMode::Lexical
    }

    /// How many chunks are returned at most.
    pub fn k(&self) -> usize {
        self.k as usize
    }

    /// What the scale of the reranker's scores depends on, if there is a reranker: its name, and for late
    /// interaction and readers the model that they take.
    pub fn reranker_scale(&self) -> Option<(&str, &str)> {
        let name = self.options.reranker()?;
        let of_pipeline = [LATE_INTERACTION, READER].contains(&name);
        Some((name, if of_pipeline { &self.pipeline().model } else { "" }))
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

    /// How many chunks are kept for the expansion. Several of them may have one parent. Where there are pages, all are
    /// kept: what one takes in of the chunks around it must be missing on each page.
    fn kept(&self) -> usize {
        if self.options.offset.is_some() && self.options.reach() > 0 {
            return self.options.candidates as usize;
        }
        let of_one_parent = if self.options.expand == Some(Expand::Parent) { 4 } else { 1 };
        (self.options.passed_over() + self.k()) * of_one_parent
    }

    /// How many chunks are looked at after the fusion: as many for one page as for another, or what is a share of all
    /// of them would put the same chunk in two places.
    fn pool(&self) -> usize {
        let RetrieveOptions { candidates, rerank_candidates, offset, .. } = &self.options;
        let read_again = self.reranker.as_ref().map_or(0, |_| *rerank_candidates);
        let looks_at_all = self.options.is_choosy() || offset.is_some();
        let chosen_from = if looks_at_all { *candidates } else { 0 };
        self.kept().max(read_again as usize).max(chosen_from as usize)
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
                passage.pipeline.clone_from(&self.pipeline().name);
                passage.shard = self.shards.name_of(passage.chunk_id);
                passage.score = candidate.score;
                passage.lexical = candidate.lexical.filter(|_| statements.is_indexed());
                passage.dense_rank = candidate.dense_rank;
                passage.lexical_rank = candidate.lexical_rank;
                true
            }
            None => false,
        });
        hits.sort_by_key(|hit| places.get(&hit.passage.chunk_id).map(|(at, _)| *at));
        Ok(hits)
    }

    /// Looks up what stands before those of `hits` that begin in the middle of a table, of a list or of
    /// code.
    fn find_leads(&self, statements: &Statements, hits: &mut [Hit]) -> Result<()> {
        let lacks = |hit: &&mut Hit| {
            hit.passage.chunk_no > 0 && lead::lacks_beginning(&hit.passage.content)
        };
        let lacking: Vec<&mut Hit> = hits.iter_mut().filter(lacks).collect();
        if lacking.is_empty() {
            return Ok(());
        }
        let ids: Vec<i64> = lacking.iter().map(|hit| hit.passage.chunk_id).collect();
        let arguments = [ids.into(), lead::REACH.into(), false.into(), false.into()];
        let found = sql::rows(&statements.neighbours(), &arguments, statement::neighbour)?;
        for hit in lacking {
            let Passage { chunk_id, chunk_no, .. } = hit.passage;
            let before = found.iter().filter(|it| it.hit == chunk_id && it.chunk_no <= chunk_no);
            let whole = expansion::expanded(vec![hit.clone()], before.cloned().collect());
            let content = &hit.passage.content;
            let before =
                whole.first().and_then(|it| it.passage.content.strip_suffix(content.as_str()));
            let lead = before.and_then(|before| lead::lead(before, content));
            if let (Some(_), Some(whole)) = (&lead, whole.first()) {
                let parts = hit.passage.parts.iter().chain(whole.passage.parts.iter());
                hit.passage.parts = parts.copied().collect();
            }
            hit.passage.lead = lead.map(String::into_boxed_str);
        }
        Ok(())
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
fn rewritten(rewriter: &Rewriter, query: &str, context: &CallContext) -> Result<Rewriting> {
    trace::step(
        "rewrite",
        || rewriter.way.name().to_owned(),
        || {
            let rewriting = rewriter.rewrite(query, context)?;
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
