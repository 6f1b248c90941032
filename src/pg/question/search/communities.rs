//! What communities say, by chunks that the caller sees and that the filter lets pass.

use std::collections::{HashMap, HashSet};

use super::statement::Statements;
use super::{Narrowing, Search, SearchFindings};
use crate::error::Result;
use crate::graph::communities::rank::{CommunityMention, CommunityQuest, RankedCommunity, ranked};
use crate::pg::catalog::derivation::DerivationKind;
use crate::pg::catalog::pipeline::Relation;
use crate::pg::question::derived::{self, MakingOptions};
use crate::pg::question::entity_graph::EntityGraph;
use crate::pg::server::prepared;
use crate::pg::server::sql::{query, render, required};
use crate::retrieve::fusion::Candidate;
use crate::retrieve::{Hit, Passage};

/// How users call communities, and the options that make them.
const WORDS: (&str, MakingOptions) = ("communities", |graph| match graph {
    Some(_) => "{\"communities\": {}}".to_owned(),
    None => "{\"graph\": {\"entities\": \"rules\"}, \"communities\": {}}".to_owned(),
});

/// Most members of a community whose chunks are looked at.
const MOST_MEMBERS: i64 = 200;

/// A community, by the chunks that are read of it.
pub struct CommunityPassages {
    /// How relevant it is for the question; 0 of chunks that are of no community.
    pub score: f64,
    /// Those of its chunks that the question has found, best first, and then others that name most of its members.
    pub passages: Vec<Passage>,
}

/// Where it is looked up.
pub(super) struct CommunityTables {
    pub(super) graph: EntityGraph,
    pub(super) communities: Relation,
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
        let SearchFindings { passages: found, read_filter } =
            self.narrowed(&wide)?.findings(question)?;
        let grouped = self.in_filter(read_filter.as_ref(), |statements| {
            self.searched.check_names(&[&tables.communities, &tables.graph.mentions])?;
            tables.grouped(self, statements, found, quest)
        });
        match grouped? {
            Some(communities) => Ok(communities),
            // Other chunks have taken the place of those that were found.
            None => self.renewed()?.communities(question, quest),
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
        let mut added = self.filled(search, statements, &mut communities, quest)?;
        added.retain(|chunk_id| found.iter().all(|it| it.chunk_id != *chunk_id));
        let added = search.of_chunks(statements, &added)?;
        let added = search.beside(statements, &found, added)?;
        let (mut known, free): (HashMap<i64, Passage>, Vec<Passage>) = {
            let (known, free): (Vec<_>, Vec<_>) =
                found.into_iter().partition(|it| of_some.contains(&it.chunk_id));
            (known.into_iter().map(|it| (it.chunk_id, it)).collect(), free)
        };
        known.extend(added.into_iter().map(|it| (it.chunk_id, it)));
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

    /// The community of which most of `passages` speak, if they do of any, and chunks of it which are not among them.
    pub(super) fn nearest(
        &self,
        search: &Search,
        statements: &Statements<'_>,
        passages: &[Passage],
        quest: CommunityQuest,
    ) -> Result<(Option<i64>, Vec<Passage>)> {
        let mut communities = self.ranked(passages, quest)?;
        communities.truncate(1);
        communities.iter_mut().for_each(|it| it.chunks.clear());
        let known: HashSet<i64> = passages.iter().map(|it| it.chunk_id).collect();
        let wide = CommunityQuest { chunks: quest.chunks + known.len() as u32, ..quest };
        let mut added = self.filled(search, statements, &mut communities, wide)?;
        added.retain(|it| !known.contains(it));
        added.truncate(quest.chunks as usize);
        let community = communities.first().map(|it| it.community);
        Ok((community, search.of_chunks(statements, &added)?))
    }

    /// Those of some entities that are members of a community.
    pub(super) fn members(&self, community: i64, norms: Vec<&str>) -> Result<HashSet<String>> {
        let statement =
            render(query!(communities.those_of), &[("communities", &self.communities.sql)]);
        let found = prepared::rows(&statement, &[community.into(), norms.into()], |row| {
            required(row.get::<String>(1)?)
        })?;
        Ok(found.into_iter().collect())
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
    /// Chunks in the order of their keys that are given.
    pub(super) fn of_chunks(
        &self,
        statements: &Statements<'_>,
        chunks: &[i64],
    ) -> Result<Vec<Passage>> {
        let candidates: Vec<Candidate> =
            chunks.iter().map(|chunk_id| Candidate::by_graph(*chunk_id, 0.0)).collect();
        let hits = self.hits(statements, None, &candidates)?;
        Ok(hits.into_iter().map(|hit| hit.passage).collect())
    }

    /// Chunks that are read beside what is `known`: as long as the options want passages, and nothing of them that stands
    /// there already.
    pub(super) fn beside(
        &self,
        statements: &Statements<'_>,
        known: &[Passage],
        chunks: Vec<Passage>,
    ) -> Result<Vec<Passage>> {
        let is_new = |it: &Passage| !known.iter().any(|known| known.covers(it));
        let chunks: Vec<Passage> = chunks.into_iter().filter(is_new).collect();
        if chunks.is_empty() {
            return Ok(chunks);
        }
        let hit = |passage| Hit { passage, age: None, vector: Vec::new() };
        // What is known comes first, so that its text is left out of the others.
        let all = known.iter().cloned().chain(chunks).map(hit).collect();
        let mut hits = self.expand(statements, all)?;
        hits.retain(|it| is_new(&it.passage));
        if self.finds_leads {
            self.find_leads(statements, &mut hits)?;
        }
        Ok(hits.into_iter().map(|hit| hit.passage).collect())
    }
}
