//! Summaries of what has many of the chunks that a question finds, beside the chunks themselves.

use std::collections::HashMap;

use pgrx::notice;
use pgrx::spi::SpiHeapTupleData;

use super::Search;
use super::filter_sql::FilterSql;
use super::lookup::without_strict_order;
use super::statement::{or_unlike, source_key};
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::Result;
use crate::extract::subject::{WholeSubject, subjects};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::catalog::pipeline::{Pipeline, Relation};
use crate::pg::derivation::tree::changes;
use crate::pg::question::derived::{self, MakingOptions};
use crate::pg::ragd::embed::Embedding;
use crate::pg::ragd::trace;
use crate::pg::server::prepared;
use crate::pg::server::role::may_select;
use crate::pg::server::sql::{query, render, required};
use crate::pg::server::vector::Vector;
use crate::retrieve::{RetrieveOptions, SearchMode};
use crate::source::{ChunkSpan, Leaf, LeafQuote, Summary};
use crate::tree::options::TreeUse;
use crate::tree::whole::asks_for_whole;

/// How users call trees, and the option that makes them.
pub const WORDS: (&str, MakingOptions) = ("tree", |_| "{\"tree\": {}}".to_owned());

/// Summaries that are read for an answer.
const MOST_SUMMARIES: usize = 3;

/// A row of `above_found` of tree.sql: node, summary, similarity and how many documents it covers.
type ChosenSummary = (Vec<u8>, String, Option<f64>, i32);

/// What a question has found.
struct FoundChunks<'a> {
    /// Its chunks, best first.
    chunks: &'a [i64],
    /// Their documents, or those that the question names, by their first chunks.
    documents: &'a [i64],
    /// The root of all documents, where summaries of several may be read.
    corpus: Vec<Vec<u8>>,
}

/// The table of summaries that a search may read; `None` if there is none, or the caller may not read it.
///
/// Fails where the options ask for summaries in so many words and there are none.
pub fn table(pipeline: &Pipeline, options: &RetrieveOptions) -> Result<Option<Relation>> {
    let by_words = options.mode == Some(SearchMode::Lexical);
    let stored = match options.tree {
        TreeUse::Off => None,
        TreeUse::On => Some(derived::required(pipeline, DerivationKind::Tree, WORDS)?),
        TreeUse::Auto => derived::readable(pipeline, DerivationKind::Tree)?,
    };
    Ok(stored.filter(|_| !by_words).map(|it| it.relation))
}

impl Search {
    /// Summaries for `query`, where they are to be read for it, best first: those of what has the most of the chunks that
    /// were `found` for it, best first, by primary key. Where it names rows by their keys they are of these, and where it asks
    /// for all that there is, that of all documents is the first. Each stands on those of its chunks that it quotes; the caller
    /// sees all that it covers.
    pub fn summaries(&self, query: &str, found: &[i64]) -> Result<Vec<Summary>> {
        let Some(tree) = self.tree.as_ref().filter(|_| self.options.tree.suits(query)) else {
            return Ok(Vec::new());
        };
        let look = || {
            trace::step("tree", String::new, || {
                let summaries = self.found_summaries(query, found, tree)?;
                trace::rows(summaries.as_ref().map_or(0, Vec::len));
                Ok(summaries)
            })
        };
        match self.searched.reading(look)? {
            Some(summaries) => Ok(summaries),
            // What was found is of the generation that has taken the place, too: what a search has read is locked to the
            // end of the transaction.
            None => self.renewed()?.summaries(query, found),
        }
    }

    /// Whether summaries of a tree may be read.
    pub fn reads_tree(&self) -> bool {
        self.tree.is_some()
    }

    /// What sums up the row of a chunk that was found, for `query`; `None` where the caller does not see all of the row, or its
    /// tree is not made yet.
    pub fn summary_of_row(&self, query: &str, chunk_id: i64) -> Result<Option<Summary>> {
        let Some(tree) = &self.tree else { return Ok(None) };
        let vector = self.question_vector(query)?;
        self.searched.reading(|| {
            let Some(_locked) = self.searched.lock() else { return Ok(None) };
            if !may_select(tree.oid) {
                return Ok(None);
            }
            let _owners = self.searched.check_owners(&[tree])?;
            let documents = changes::first_chunks_of(self.pipeline(), &[chunk_id])?;
            let roots = changes::roots_of(self.pipeline(), &documents)?;
            let chosen = self.by_hash(tree, &vector, roots)?;
            Ok(self.with_leaves(tree, &vector, chosen, 0)?.pop())
        })
    }

    /// The summaries; `None` where another generation of chunks has taken this one's place.
    fn found_summaries(
        &self,
        query: &str,
        found: &[i64],
        tree: &Relation,
    ) -> Result<Option<Vec<Summary>>> {
        let vector = self.question_vector(query)?;
        let Some(_locked) = self.searched.lock() else { return Ok(None) };
        // Not one that was taken away while a model embedded the question.
        if !may_select(tree.oid) {
            return Ok(Some(Vec::new()));
        }
        let _owners = self.searched.check_owners(&[tree])?;
        let is_for_whole = self.options.tree_beam.is_none() && asks_for_whole(query);
        let named = if is_for_whole { self.named_rows(query, MOST_SUMMARIES)? } else { Vec::new() };
        let documents = match named.as_slice() {
            [] => changes::first_chunks_of(self.pipeline(), found)?,
            named => named.to_vec(),
        };
        self.remark_on_unmade(&documents)?;
        let corpus = match named.is_empty() {
            true => changes::root_of_corpus(self.pipeline())?,
            false => Vec::new(),
        };
        let first = match named.as_slice() {
            [] if is_for_whole && self.is_for_all(query) => corpus.clone(),
            [] => Vec::new(),
            named => changes::roots_of(self.pipeline(), named)?,
        };
        let mut chosen = self.by_hash(tree, &vector, first)?;
        let of_named = if named.is_empty() { 0 } else { chosen.len() };
        let found = FoundChunks { chunks: found, documents: &documents, corpus };
        let others = self.chosen(tree, &vector, found)?.into_iter();
        let is_new = |it: &ChosenSummary| chosen.iter().all(|(node, ..)| *node != it.0);
        let others: Vec<ChosenSummary> = others.filter(is_new).collect();
        chosen.extend(others);
        chosen.truncate(MOST_SUMMARIES);
        self.with_leaves(tree, &vector, chosen, of_named).map(Some)
    }

    /// Whether a question for the whole is about nothing in particular, or names the table.
    fn is_for_all(&self, query: &str) -> bool {
        let tables = self.table_names();
        let is_all = |it: &WholeSubject| it.is_all() || tables.iter().any(|name| it.is_table(name));
        subjects(query).iter().all(is_all)
    }

    /// The vector of `query`. As a rule the search for its chunks has had it made, and the session remembers it.
    fn question_vector(&self, query: &str) -> Result<Vector> {
        let mut embedding = Embedding::with_model(Some(&self.pipeline().model), self.context)?;
        let vector = match embedding.recalled(query) {
            Some(vector) => vector,
            None => {
                let made = embedding.embed(&[query.to_owned()], EmbeddingKind::Query)?.pop();
                made.unwrap_or_default()
            }
        };
        Ok(Vector(vector))
    }

    /// Summaries as answers cite them; the first `of_named` are of rows that the question names by their keys.
    fn with_leaves(
        &self,
        tree: &Relation,
        vector: &Vector,
        chosen: Vec<ChosenSummary>,
        of_named: usize,
    ) -> Result<Vec<Summary>> {
        let mut leaves = self.quoted(tree, vector, &chosen)?;
        let summaries = chosen.into_iter().enumerate().filter_map(|(at, chosen)| {
            let leaves = leaves.remove(&chosen.0)?;
            Some(Summary { is_named: at < of_named, ..summary(chosen, leaves) })
        });
        Ok(summaries.collect())
    }

    /// Says, once in a search, that documents that were found have no summaries yet.
    fn remark_on_unmade(&self, documents: &[i64]) -> Result<()> {
        if !self.has_remarked.get() && changes::are_unmade(self.pipeline(), documents)? {
            self.has_remarked.set(true);
            let name = &self.pipeline().name;
            notice!(
                "trees of pipeline \"{name}\" are still being made, and summaries of documents that were found are missing"
            );
        }
        Ok(())
    }

    fn chosen(
        &self,
        tree: &Relation,
        vector: &Vector,
        found: FoundChunks<'_>,
    ) -> Result<Vec<ChosenSummary>> {
        let FilterSql { values, .. } = &self.filter;
        let most = MOST_SUMMARIES as i64;
        let mut arguments = vec![vector.clone().into(), most.into(), values.clone().into()];
        let template = match self.options.tree_beam {
            None => {
                arguments.push(found.chunks.to_vec().into());
                arguments.push(changes::roots_of(self.pipeline(), found.documents)?.into());
                query!(tree.above_found)
            }
            Some(beam) => {
                arguments.push(i64::from(beam).into());
                query!(tree.nearest_below)
            }
        };
        arguments.push(found.corpus.into());
        let statement = self.tree_statement(template, tree);
        let _order = without_strict_order();
        prepared::rows_planned_for_values(&statement, &arguments, chosen_summary)
    }

    /// Summaries of which the caller sees all that they cover, by the hashes of their nodes, be they found by a search or not.
    fn by_hash(
        &self,
        tree: &Relation,
        vector: &Vector,
        nodes: Vec<Vec<u8>>,
    ) -> Result<Vec<ChosenSummary>> {
        if nodes.is_empty() {
            return Ok(Vec::new());
        }
        let FilterSql { values, .. } = &self.filter;
        let arguments = [vector.clone().into(), nodes.into(), values.clone().into()];
        let statement = self.tree_statement(query!(tree.by_hash), tree);
        prepared::rows(&statement, &arguments, chosen_summary)
    }

    /// The chunks that each of some nodes quotes, the nearest first.
    fn quoted(
        &self,
        tree: &Relation,
        vector: &Vector,
        chosen: &[ChosenSummary],
    ) -> Result<HashMap<Vec<u8>, Vec<Leaf>>> {
        let statement = self.tree_statement(query!(tree.quoted), tree);
        let nodes: Vec<&[u8]> = chosen.iter().map(|(node, ..)| node.as_slice()).collect();
        let FilterSql { values, .. } = &self.filter;
        let arguments = [vector.clone().into(), nodes.into(), values.clone().into()];
        let found = prepared::rows(&statement, &arguments, |row| {
            let span = ChunkSpan {
                pipeline: self.pipeline().name.clone(),
                shard: None,
                source_key: required(row.get(2)?)?,
                chunk_id: required(row.get(3)?)?,
                chunk_no: required(row.get(4)?)?,
                start_char: required(row.get(5)?)?,
                end_char: required(row.get(6)?)?,
            };
            let numbers = required(row.get::<Vec<i64>>(8)?)?.into_iter();
            let (starts, ends): (Vec<i32>, Vec<i32>) =
                (required(row.get(9)?)?, required(row.get(10)?)?);
            let places = starts.into_iter().zip(ends).map(|(start, end)| start as u32..end as u32);
            let quoted = numbers.zip(places).map(|(no, chars)| LeafQuote { no, chars }).collect();
            let content = required(row.get(7)?)?;
            Ok((required(row.get::<Vec<u8>>(1)?)?, Leaf { span, content, quoted }))
        })?;
        let mut leaves: HashMap<Vec<u8>, Vec<Leaf>> = HashMap::new();
        for (node, leaf) in found {
            leaves.entry(node).or_default().push(leaf);
        }
        Ok(leaves)
    }

    fn tree_statement(&self, template: &str, tree: &Relation) -> String {
        let pipeline = self.pipeline();
        let chunks = [
            ("chunk_table", pipeline.chunk_table.sql.as_str()),
            ("view", &pipeline.view.sql),
            ("filter", &self.filter.condition),
        ];
        let (seen, key) = (render(query!(tree.seen), &chunks), source_key(&self.columns.keys));
        let own = [
            ("tree", tree.sql.as_str()),
            ("vector", self.parts.vector()),
            ("source_key", &key),
            ("seen", &seen),
        ];
        render(template, &[chunks.as_slice(), own.as_slice()].concat())
    }
}

/// A row of a statement that chooses summaries.
fn chosen_summary(row: &SpiHeapTupleData<'_>) -> Result<ChosenSummary, pgrx::spi::Error> {
    let (node, content) = (required(row.get(1)?)?, required(row.get(2)?)?);
    Ok((node, content, row.get(3)?.map(or_unlike), required(row.get(4)?)?))
}

/// A summary as an answer cites it.
fn summary((node, content, similarity, documents): ChosenSummary, leaves: Vec<Leaf>) -> Summary {
    // A number of 63 bits, by which two summaries are taken for one as rarely as never.
    let number = node.first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes) & i64::MAX);
    let title = match documents {
        1 => leaves.first().map(|leaf| format!("summary of {}", leaf.span.source_key)),
        _ => Some(format!("summary of {documents} documents")),
    };
    let (documents, is_named) = (documents.unsigned_abs(), false);
    Summary { summary_id: number, title, content, similarity, leaves, documents, is_named }
}
