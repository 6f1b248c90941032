//! What is around a question in the graph, by chunks that the caller sees and that the filter lets pass.

use std::collections::{HashMap, HashSet};

use super::communities::CommunityTables;
use super::narrowing::{MOST_PROOFS, ProvenPath};
use super::statement::Statements;
use super::walk::NamedRow;
use super::{Connections, Search, SearchFindings};
use crate::answer::strategy::{GraphNote, joined, stated};
use crate::error::Result;
use crate::graph::communities::rank::CommunityQuest;
use crate::graph::paths::relations::RelationStep;
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::question::derived;
use crate::pg::question::entity_graph::EntityGraph;
use crate::pg::question::relation_graph::RelationGraph;
use crate::pg::text_to_sql::statement_name;
use crate::retrieve::Passage;
use crate::source::{RelationRow, Source, SourceId};

/// Most relations of what a question names: no more are told.
const MOST_RELATIONS: usize = 20;

/// Most chunks that state some of them. The others of [`MOST_PROOFS`] prove paths.
const MOST_STATING: usize = 5;

/// What is around a question in the graph.
#[derive(Default)]
pub struct EntitySurroundings {
    /// Entities that what was found names, as it writes them, the most frequent first.
    pub entities: Vec<GraphNote>,
    /// What rows and texts say of what the question names, the most telling first.
    pub relations: Vec<GraphNote>,
    /// The rows of which columns say some of that, each with what it says.
    pub said: Vec<(RelationRow, String)>,
    /// How what the question names is connected with others: the names on each path, the best first.
    pub paths: Vec<GraphNote>,
    /// Members of the community of what was found, which that may name as well, the most frequent first.
    pub members: Vec<GraphNote>,
    /// What states the relations and proves the paths, beside what was found.
    pub proofs: Vec<Passage>,
    /// Chunks of the community, beside these.
    pub of_community: Vec<Passage>,
}

impl Search {
    /// What is around `question` in the graph, for which these passages of this pipeline were found.
    ///
    /// Fails where the pipeline has no graph, or the caller may not read it.
    pub fn surroundings(
        &self,
        question: &str,
        quest: CommunityQuest,
        found: &SearchFindings,
    ) -> Result<EntitySurroundings> {
        let graph = EntityGraph::required(self.pipeline())?;
        let communities = derived::readable(self.pipeline(), DerivationKind::Communities)?;
        let communities = communities.map(|it| it.relation);
        let around = self.in_filter(found.read_filter.as_ref(), |statements| {
            let relations = RelationGraph::readable(self.pipeline(), &graph, statements.filter)?;
            let mut read: Vec<_> = communities.iter().chain([&graph.mentions]).collect();
            read.extend(relations.iter().flat_map(RelationGraph::tables));
            self.searched.check_names(&read)?;
            let found = &found.passages;
            let (steps, stating) = self.said_of(statements, relations.as_ref(), question)?;
            let Connections { paths, passages } = self.connected(statements, &graph, question)?;
            let proofs = new_ones(found, stating.into_iter().chain(passages), MOST_PROOFS);
            let first: Vec<Passage> = found.iter().chain(&proofs).cloned().collect();
            let entities = self.named(&graph, &weighted(&first))?;
            let (mut others, mut members) = (Vec::new(), Vec::new());
            if let Some(communities) = communities {
                let tables = CommunityTables { graph: graph.clone(), communities };
                let (community, chunks) = tables.nearest(self, statements, &first, quest)?;
                members = self.members_named(&tables, community, &chunks)?;
                others = chunks;
            }
            let chunks: Vec<Passage> = proofs.iter().chain(&others).cloned().collect();
            let read = self.beside(statements, found, chunks)?;
            let all: Vec<&Passage> = found.iter().chain(&read).collect();
            let places = places(&all, first.iter().chain(&others));
            let table = statement_name(self.pipeline().source.oid);
            let (relations, said) = stated(&steps, &table, &places);
            let (proofs, of_community) = read
                .into_iter()
                .partition(|it| proofs.iter().any(|one| one.chunk_id == it.chunk_id));
            Ok(EntitySurroundings {
                entities: notes(&entities, &places),
                relations,
                said,
                paths: paths.iter().map(|path| path_note(path, &places)).collect(),
                members: notes(&members, &places),
                proofs,
                of_community,
            })
        });
        match around? {
            Some(around) => Ok(around),
            // Other chunks have taken the place of those that were found.
            None => {
                let renewed = self.renewed()?;
                let found = renewed.findings(question)?;
                renewed.surroundings(question, quest, &found)
            }
        }
    }

    /// What `relations` say of what `question` names, and of the chunks whose texts state it the first.
    fn said_of(
        &self,
        statements: &Statements<'_>,
        relations: Option<&RelationGraph<'_>>,
        question: &str,
    ) -> Result<(Vec<RelationStep>, Vec<Passage>)> {
        let Some(relations) = relations else { return Ok((Vec::new(), Vec::new())) };
        let steps = relations.around(question, MOST_RELATIONS)?;
        let mut seen = HashSet::new();
        let stating = steps.iter().filter(|step| step.relation.words.is_some());
        let stating = stating.map(|step| step.proof.chunk_id).filter(|chunk| seen.insert(*chunk));
        let chunks: Vec<i64> = stating.take(MOST_STATING).collect();
        let passages = self.of_chunks(statements, &chunks)?;
        Ok((steps, passages))
    }

    /// What chunks name of the members of a community.
    fn members_named(
        &self,
        tables: &CommunityTables,
        community: Option<i64>,
        chunks: &[Passage],
    ) -> Result<Vec<NamedRow>> {
        let Some(community) = community else { return Ok(Vec::new()) };
        let mut named = self.named(&tables.graph, &weighted(chunks))?;
        let norms = named.iter().map(|(_, norm, ..)| norm.as_str()).collect();
        let members = tables.members(community, norms)?;
        named.retain(|(_, norm, ..)| members.contains(norm));
        Ok(named)
    }
}

/// The first `most` of `others` that are not among those that were `found`, each once.
fn new_ones(found: &[Passage], others: impl Iterator<Item = Passage>, most: usize) -> Vec<Passage> {
    let mut seen: HashSet<i64> = found.iter().map(|it| it.chunk_id).collect();
    others.filter(|it| seen.insert(it.chunk_id)).take(most).collect()
}

/// Chunks as those that a walk begins at.
fn weighted(passages: &[Passage]) -> Vec<(i64, f64)> {
    passages.iter().map(|it| (it.chunk_id, 1.0)).collect()
}

/// By chunk, which of the passages that are `read` has its text.
fn places<'a>(
    read: &[&Passage],
    chunks: impl Iterator<Item = &'a Passage>,
) -> HashMap<i64, SourceId> {
    let place = |chunk: &Passage| {
        let place = read.iter().find(|it| it.covers(chunk))?;
        Some((chunk.chunk_id, Source::Chunk((*place).clone()).id()))
    };
    chunks.filter_map(place).collect()
}

/// What chunks name, as they write it, the most frequent first.
fn notes(named: &[NamedRow], places: &HashMap<i64, SourceId>) -> Vec<GraphNote> {
    let note = |(chunk_id, norm, count, name): &NamedRow| GraphNote {
        key: norm.clone(),
        words: name.clone(),
        weight: f64::from(*count),
        proofs: places.get(chunk_id).map(|place| vec![place.clone()]).into_iter().collect(),
    };
    joined(named.iter().map(note).collect())
}

/// A path, which all of its chunks together prove.
fn path_note(path: &ProvenPath, places: &HashMap<i64, SourceId>) -> GraphNote {
    let proof: Option<Vec<SourceId>> =
        path.chunks.iter().map(|chunk| places.get(chunk).cloned()).collect();
    GraphNote {
        key: path.names.clone(),
        words: path.names.clone(),
        weight: path.score,
        proofs: proof.into_iter().collect(),
    }
}
