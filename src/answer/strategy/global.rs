//! The communities of which the question finds chunks are answered from at once, and their answers are merged.
//!
//! The global search of GraphRAG, without summaries that were written before: a community is read by its chunks, as
//! in LazyGraphRAG, and answers cite them. What is answered from each is kept, and not asked for again as long as the
//! question and the chunks are the same.

use std::collections::BTreeSet;

use super::tree_summarize::answer_in_groups;
use super::{AnswerStrategy, Desk, StrategyOptions, StrategyResult};
use crate::context::step::Numbered;
use crate::error::Result;
use crate::graph::communities::rank::CommunityQuest;

/// Communities that are read.
const COMMUNITIES: u32 = 8;

/// Chunks that are read of each.
const CHUNKS: u32 = 6;

/// Answers that are merged in a call.
const GROUP: u32 = 16;

/// `global`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "global",
    description: "answers from each community of entities that the question finds separately, in parallel, then merges the answers",
    calls: "1 per community of up to communities (8), in parallel; then 1 per group of group_size (16) answers",
    options: &["communities", "community_chunks", "community_level", "group_size", "keep_replies"],
    is_for_extractive: true,
    reads_in_groups: true,
    answer,
};

/// How much is read.
pub fn quest(options: &StrategyOptions) -> CommunityQuest {
    CommunityQuest {
        communities: options.communities.unwrap_or(COMMUNITIES),
        chunks: options.community_chunks.unwrap_or(CHUNKS),
        level: options.community_level.unwrap_or(u32::MAX),
    }
}

/// About how many calls are made for so many communities: one each, and those that merge their answers.
#[must_use]
pub fn community_calls(communities: usize, options: &StrategyOptions) -> usize {
    let size = options.group_size.unwrap_or(GROUP).max(2) as usize;
    let (mut calls, mut answers) = (communities, communities);
    while answers > 1 {
        let whole = answers / size + usize::from(answers % size > 1);
        calls += whole;
        answers = answers.div_ceil(size);
    }
    calls
}

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    desk.keep_replies();
    let communities = desk.communities(quest(desk.options))?;
    let mut groups: Vec<Vec<Numbered>> = Vec::with_capacity(communities.len());
    for sources in &communities {
        groups.extend(desk.groups(sources, sources.len().max(1))?);
    }
    let numbers: BTreeSet<usize> = communities.iter().flatten().map(|one| one.number).collect();
    let sources = desk.sources(&numbers);
    let size = desk.options.group_size.unwrap_or(GROUP) as usize;
    answer_in_groups(desk, &sources, &groups, size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_calls_is_known_before() {
        let check = |communities, group_size, expected| {
            let options = StrategyOptions { group_size, ..StrategyOptions::default() };
            assert_eq!(community_calls(communities, &options), expected, "{communities}");
        };
        check(0, None, 0);
        check(1, None, 1);
        check(2, None, 3);
        check(8, None, 9);
        check(8, Some(4), 8 + 2 + 1);
        check(9, Some(4), 9 + 2 + 1);
        check(3, Some(1), 3 + 1 + 1);
    }
}
