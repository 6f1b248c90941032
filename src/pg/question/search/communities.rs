//! What communities say, and what is around a question in the graph: both by chunks that the caller sees, and that the
//! filter lets pass.

use std::collections::{HashMap, HashSet};

use super::statement::Statements;
use super::walk::NamedRow;
use super::{Connections, Narrowing, Search};
use crate::error::Result;
use crate::graph::communities::rank::{CommunityMention, CommunityQuest, RankedCommunity, ranked};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::catalog::pipeline::Relation;
use crate::pg::question::derived;
use crate::pg::question::entity_graph::EntityGraph;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};
use crate::retrieve::Passage;
use crate::retrieve::fusion::Candidate;

/// How users call communities, and the option that makes them.
const WORDS: (&str, &str) =
    ("communities", "{\"graph\": {\"entities\": \"rules\"}, \"communities\": {}}");

/// Most members of a community whose chunks are looked at.
const MOST_MEMBERS: i64 = 200;

/// Most entities that are told of.
const MOST_NAMES: usize = 20;

/// A community, by the chunks that are read of it.
pub struct CommunityPassages {
    /// How relevant it is for the question; 0 of chunks that are of no community.
    pub score: f64,
    /// Those of its chunks that the question has found, best first, and then others that name most of its members.
    pub passages: Vec<Passage>,
}

/// What is around a question in the graph.
#[derive(Default)]
pub struct EntitySurroundings {
    /// Entities that what was found names, as it writes them, the most frequent first.
    pub entities: Vec<String>,
    /// How what the question names is connected with others: the names on each path.
    pub paths: Vec<String>,
    /// Other entities of the community of what was found.
    pub community: Vec<String>,
    /// What was found, what proves the paths, and chunks of the community.
    pub passages: Vec<Passage>,
}

/// Where it is looked up.
struct CommunityTables {
    graph: EntityGraph,
    communities: Relation,
}

impl Search {
    /// The communities of which chunks speak that `question` finds, best first. Where they are fewer than wanted, found
    /// chunks that speak of none are the last of them.
    ///
    /// Fails where the pipeline has no communities, or the caller may not read them.
    pub fn communities(
        &self,
        question: &str,
        quest: CommunityQuest,
    ) -> Result<Vec<CommunityPassages>> {
        let tables = CommunityTables {
            communities: derived::required(self.pipeline(), DerivationKind::Communities, WORDS)?
                .relation,
            graph: EntityGraph::required(self.pipeline())?,
        };
        let wide = Narrowing { k: Some(quest.found()), ..Narrowing::default() };
        let found = self.narrowed(&wide)?.run(question)?;
        let grouped = self.as_it_is(|statements| tables.grouped(self, statements, found, quest));
        match grouped? {
            Some(communities) => Ok(communities),
            // Other chunks have taken the place of those that were found.
            None => self.renewed()?.communities(question, quest),
        }
    }

    /// What is around `question` in the graph.
    ///
    /// Fails where the pipeline has no graph, or the caller may not read it.
    pub fn surroundings(
        &self,
        question: &str,
        quest: CommunityQuest,
    ) -> Result<EntitySurroundings> {
        let graph = EntityGraph::required(self.pipeline())?;
        let communities = derived::readable(self.pipeline(), DerivationKind::Communities)?;
        let found = self.run(question)?;
        let Connections { paths, passages } = self.connections(question)?;
        let around = self.as_it_is(|statements| {
            let mut passages: Vec<Passage> = found.into_iter().chain(passages).collect();
            let mut seen = HashSet::new();
            passages.retain(|it| seen.insert(it.chunk_id));
            let named = self.named(&graph, &weighted(&passages))?;
            let entities = names(&named, &HashSet::new());
            let Some(stored) = &communities else {
                return Ok(EntitySurroundings { entities, passages, ..Default::default() });
            };
            let tables =
                CommunityTables { graph: graph.clone(), communities: stored.relation.clone() };
            let others = tables.nearest(self, statements, &passages, quest)?;
            let named = self.named(&graph, &weighted(&others))?;
            let community = names(&named, &entities.iter().map(String::as_str).collect());
            passages.extend(others);
            Ok(EntitySurroundings { entities, community, passages, paths: Vec::new() })
        });
        match around? {
            Some(around) => Ok(EntitySurroundings { paths, ..around }),
            None => self.renewed()?.surroundings(question, quest),
        }
    }
}

impl CommunityTables {
    /// What was found, by communities, and more of each.
    fn grouped(
        &self,
        search: &Search,
        statements: &Statements<'_>,
        found: Vec<Passage>,
        quest: CommunityQuest,
    ) -> Result<Vec<CommunityPassages>> {
        let chunks = quest.chunks as usize;
        let mut communities = self.ranked(&found, quest)?;
        let of_some: HashSet<i64> =
            communities.iter().flat_map(|it| it.chunks.iter().copied()).collect();
        communities.truncate(quest.communities as usize);
        communities.iter_mut().for_each(|it| it.chunks.truncate(chunks));
        let (mut known, free): (HashMap<i64, Passage>, Vec<Passage>) = {
            let (known, free): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|it| of_some.contains(&it.chunk_id));
            (known.into_iter().map(|it| (it.chunk_id, it)).collect(), free)
        };
        let mut added = self.filled(search, statements, &mut communities, quest)?;
        added.retain(|chunk_id| !known.contains_key(chunk_id));
        known.extend(search.of_chunks(statements, &added)?);
        let passages = |RankedCommunity { score, chunks, .. }: RankedCommunity| {
            let passages = chunks.iter().filter_map(|chunk_id| known.remove(chunk_id)).collect();
            CommunityPassages { score, passages }
        };
        let mut grouped: Vec<CommunityPassages> = communities.into_iter().map(passages).collect();
        grouped.retain(|it| !it.passages.is_empty());
        if grouped.len() < quest.communities as usize && !free.is_empty() {
            let passages = free.into_iter().take(chunks).collect();
            grouped.push(CommunityPassages { score: 0.0, passages });
        }
        Ok(grouped)
    }

    /// Chunks of the community of which most of `passages` speak, which are not among them.
    fn nearest(
        &self,
        search: &Search,
        statements: &Statements<'_>,
        passages: &[Passage],
        quest: CommunityQuest,
    ) -> Result<Vec<Passage>> {
        let mut communities = self.ranked(passages, quest)?;
        communities.truncate(1);
        communities.iter_mut().for_each(|it| it.chunks.clear());
        let known: HashSet<i64> = passages.iter().map(|it| it.chunk_id).collect();
        let wide = CommunityQuest { chunks: quest.chunks + known.len() as u32, ..quest };
        let mut added = self.filled(search, statements, &mut communities, wide)?;
        added.retain(|it| !known.contains(it));
        added.truncate(quest.chunks as usize);
        let mut found: HashMap<i64, Passage> =
            search.of_chunks(statements, &added)?.into_iter().collect();
        Ok(added.iter().filter_map(|chunk_id| found.remove(chunk_id)).collect())
    }

    /// The communities of which `found` speaks, best first.
    fn ranked(&self, found: &[Passage], quest: CommunityQuest) -> Result<Vec<RankedCommunity>> {
        let values = [
            ("communities", self.communities.sql.as_str()),
            ("mentions", &self.graph.mentions.sql),
        ];
        let statement = render(query!(communities.of_chunks), &values);
        let chunks: Vec<i64> = found.iter().map(|it| it.chunk_id).collect();
        let level = i32::try_from(quest.level).unwrap_or(i32::MAX);
        let mentions = prepared::rows(&statement, &[chunks.clone().into(), level.into()], |row| {
            Ok(CommunityMention {
                chunk_id: required(row.get(1)?)?,
                community: required(row.get(2)?)?,
                mentions: required(row.get(3)?)?,
            })
        })?;
        Ok(ranked(&chunks, &mentions))
    }

    /// Adds to communities with fewer chunks than wanted those that name most of their members; which these are.
    fn filled(
        &self,
        search: &Search,
        statements: &Statements<'_>,
        communities: &mut [RankedCommunity],
        quest: CommunityQuest,
    ) -> Result<Vec<i64>> {
        let wanted = quest.chunks as usize;
        let values = [
            ("communities", self.communities.sql.as_str()),
            ("mentions", &self.graph.mentions.sql),
            ("view", &search.pipeline().view.sql),
            ("filter", &statements.filter.condition),
        ];
        let statement = render(query!(communities.chunks), &values);
        let numbers: Vec<i64> = communities.iter().map(|it| it.community).collect();
        // As many again, since some of them are there already.
        let most = 2 * wanted as i64;
        let filter = statements.filter.values.clone();
        let arguments = [numbers.into(), most.into(), filter.into(), MOST_MEMBERS.into()];
        let found = prepared::rows(&statement, &arguments, |row| {
            Ok((required(row.get::<i64>(1)?)? as usize - 1, required(row.get::<i64>(2)?)?))
        })?;
        let mut taken: HashSet<i64> =
            communities.iter().flat_map(|it| it.chunks.iter().copied()).collect();
        let mut added = Vec::new();
        for (place, chunk_id) in found {
            let chunks = &mut communities[place].chunks;
            if chunks.len() < wanted && taken.insert(chunk_id) {
                chunks.push(chunk_id);
                added.push(chunk_id);
            }
        }
        Ok(added)
    }
}

impl Search {
    /// Chunks, by their keys.
    fn of_chunks(
        &self,
        statements: &Statements<'_>,
        chunks: &[i64],
    ) -> Result<Vec<(i64, Passage)>> {
        let candidates: Vec<Candidate> =
            chunks.iter().map(|chunk_id| Candidate::by_graph(*chunk_id, 0.0)).collect();
        let hits = self.hits(statements, None, &candidates)?;
        Ok(hits.into_iter().map(|hit| (hit.passage.chunk_id, hit.passage)).collect())
    }
}

/// Chunks as those that a walk begins at.
fn weighted(passages: &[Passage]) -> Vec<(i64, f64)> {
    passages.iter().map(|it| (it.chunk_id, 1.0)).collect()
}

/// What chunks name, as they write it, the most frequent first; `left_out` is not told of.
fn names(named: &[NamedRow], left_out: &HashSet<&str>) -> Vec<String> {
    let mut counts: HashMap<&str, (i32, usize, &str)> = HashMap::new();
    for (at, (_, norm, count, name)) in named.iter().enumerate() {
        counts.entry(norm.as_str()).or_insert((0, at, name.as_str())).0 += count;
    }
    let mut all: Vec<(i32, usize, &str)> = counts.into_values().collect();
    all.retain(|(_, _, name)| !left_out.contains(name));
    all.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    all.into_iter().take(MOST_NAMES).map(|(_, _, name)| name.to_owned()).collect()
}
