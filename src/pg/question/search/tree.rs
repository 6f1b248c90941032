//! Summaries of what has many of the chunks that a question finds, beside the chunks themselves.

use std::collections::HashMap;

use pgrx::notice;

use super::Search;
use super::filter_sql::FilterSql;
use super::lookup::without_strict_order;
use super::statement::source_key;
use crate::embed::{Embedder, EmbeddingKind};
use crate::error::Result;
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
use crate::source::{ChunkSpan, Leaf, Summary};
use crate::tree::options::TreeUse;

/// How users call trees, and the option that makes them.
pub const WORDS: (&str, MakingOptions) = ("tree", |_| "{\"tree\": {}}".to_owned());

/// Summaries that are read for an answer.
const MOST_SUMMARIES: i64 = 3;

/// A row of `above_found` of tree.sql: node, summary, similarity and how many documents it covers.
type ChosenSummary = (Vec<u8>, String, f64, i32);

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
    /// were `found` for it, best first, by primary key. Each stands on those of its chunks that it quotes; the caller sees
    /// all that it covers.
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

    /// The summaries; `None` where another generation of chunks has taken this one's place.
    fn found_summaries(
        &self,
        query: &str,
        found: &[i64],
        tree: &Relation,
    ) -> Result<Option<Vec<Summary>>> {
        let mut embedding = Embedding::with_model(Some(&self.pipeline().model), self.context)?;
        let vector = embedding.embed(&[query.to_owned()], EmbeddingKind::Query)?.pop();
        let Some(_locked) = self.searched.lock() else { return Ok(None) };
        // Not one that was taken away while a model embedded the question.
        if !may_select(tree.oid) {
            return Ok(Some(Vec::new()));
        }
        let _owners = self.searched.check_owners(&[tree])?;
        self.remark_on_unmade(found)?;
        let vector = Vector(vector.unwrap_or_default());
        let chosen = self.chosen(tree, &vector, found)?;
        let mut leaves = self.quoted(tree, &vector, &chosen)?;
        let summaries = chosen.into_iter().filter_map(|chosen| {
            let leaves = leaves.remove(&chosen.0)?;
            Some(summary(chosen, leaves))
        });
        Ok(Some(summaries.collect()))
    }

    /// Says, once in a search, that documents that were found have no summaries yet.
    fn remark_on_unmade(&self, found: &[i64]) -> Result<()> {
        if !self.has_remarked.get() && changes::are_unmade(self.pipeline(), found)? {
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
        found: &[i64],
    ) -> Result<Vec<ChosenSummary>> {
        let FilterSql { values, .. } = &self.filter;
        let mut arguments =
            vec![vector.clone().into(), MOST_SUMMARIES.into(), values.clone().into()];
        let template = match self.options.tree_beam {
            None => {
                arguments.push(found.to_vec().into());
                arguments.push(changes::roots_of(self.pipeline(), found)?.into());
                query!(tree.above_found)
            }
            Some(beam) => {
                arguments.push(i64::from(beam).into());
                query!(tree.nearest_below)
            }
        };
        arguments.push(changes::root_of_corpus(self.pipeline())?.into());
        let statement = self.tree_statement(template, tree);
        let _order = without_strict_order();
        prepared::rows_planned_for_values(&statement, &arguments, |row| {
            let (node, content) = (required(row.get(1)?)?, required(row.get(2)?)?);
            Ok((node, content, required(row.get(3)?)?, required(row.get(4)?)?))
        })
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
            Ok((required(row.get::<Vec<u8>>(1)?)?, Leaf { span, content: required(row.get(7)?)? }))
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

/// A summary as an answer cites it.
fn summary((node, content, similarity, documents): ChosenSummary, leaves: Vec<Leaf>) -> Summary {
    // A number of 63 bits, by which two summaries are taken for one as rarely as never.
    let number = node.first_chunk().map_or(0, |bytes| i64::from_be_bytes(*bytes) & i64::MAX);
    let title = match documents {
        1 => leaves.first().map(|leaf| format!("summary of {}", leaf.span.source_key)),
        _ => Some(format!("summary of {documents} documents")),
    };
    Summary { summary_id: number, title, content, similarity: Some(similarity), leaves }
}
