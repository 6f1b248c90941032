//! Which communities does a question ask for?

use std::collections::{BTreeMap, HashMap};

/// How much is looked at of communities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommunityQuest {
    /// Most communities.
    pub communities: u32,
    /// Most chunks of each.
    pub chunks: u32,
    /// The deepest level whose communities are looked at; an entity counts for its community of the deepest one.
    pub level: u32,
}

impl CommunityQuest {
    /// How many chunks a search is to find, so that there may be enough for each community.
    #[must_use]
    pub fn found(&self) -> u32 {
        self.communities.saturating_mul(self.chunks)
    }
}

/// How often a chunk names members of a community.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommunityMention {
    /// Primary key of the chunk.
    pub chunk_id: i64,
    /// The number of the community.
    pub community: i64,
    /// How often the chunk names a member.
    pub mentions: i64,
}

/// A community that chunks speak of.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedCommunity {
    /// The number of the community.
    pub community: i64,
    /// How relevant its chunks are; greater is better.
    pub score: f64,
    /// Those of the chunks that speak of it rather than of another, best first.
    pub chunks: Vec<i64>,
}

/// The communities that `found` speaks of, best first; of like ones that with the lower number. `found` are the chunks
/// that a question has found, best first.
///
/// A chunk speaks of the community whose members it names most, and counts for it by its rank, as in the discounted
/// gain. One that names no member of any counts for none.
#[must_use]
pub fn ranked(found: &[i64], mentions: &[CommunityMention]) -> Vec<RankedCommunity> {
    let mut most: HashMap<i64, CommunityMention> = HashMap::new();
    for one in mentions {
        let known = most.entry(one.chunk_id).or_insert(*one);
        let is_more = one.mentions > known.mentions;
        let is_like = one.mentions == known.mentions;
        if is_more || is_like && one.community < known.community {
            *known = *one;
        }
    }
    let mut communities: BTreeMap<i64, RankedCommunity> = BTreeMap::new();
    for (rank, chunk_id) in found.iter().enumerate() {
        let Some(CommunityMention { community, .. }) = most.get(chunk_id).copied() else {
            continue;
        };
        let none = RankedCommunity { community, score: 0.0, chunks: Vec::new() };
        let one = communities.entry(community).or_insert(none);
        one.score += 1.0 / (rank as f64 + 2.0).log2();
        one.chunks.push(*chunk_id);
    }
    let mut all: Vec<RankedCommunity> = communities.into_values().collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}
