//! What was found, with what the graph has around it: the entities, their relations, the paths between them, and their
//! community.

use super::compact::answer_from;
use super::{AnswerStrategy, Desk, Fallback, FinalPrompt, StrategyOptions, StrategyResult};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::graph::communities::rank::CommunityQuest;
use crate::prompt::place;

/// Chunks of the community that are read beside what was found.
const CHUNKS: u32 = 4;

/// `local`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "local",
    description: "answers from what the question finds and what the graph has around it, entities, relations, paths and the community, in one call",
    calls: "1",
    options: &["community_chunks", "community_level"],
    is_for_extractive: true,
    reads_in_groups: false,
    answer,
};

/// How much is read.
pub fn quest(options: &StrategyOptions) -> CommunityQuest {
    CommunityQuest {
        communities: 1,
        chunks: options.community_chunks.unwrap_or(CHUNKS),
        level: options.community_level.unwrap_or(u32::MAX),
    }
}

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let (notes, sources) = desk.surroundings(quest(desk.options))?;
    answer_with_graph(desk, &notes, &sources)
}

/// The answer from sources, with what a graph says of them.
pub fn answer_with_graph(
    desk: &mut Desk<'_>,
    notes: &[String],
    sources: &[Numbered],
) -> Result<StrategyResult> {
    if notes.is_empty() || desk.has_none(sources) {
        return answer_from(desk, sources);
    }
    let material = Material { question: desk.question, sources, notes, ..Material::default() };
    let prompt = desk.prompt(place::ANSWER_IN_GRAPH, material)?;
    Ok(StrategyResult::Asks(FinalPrompt { step: "answer", prompt, otherwise: Fallback::Nothing }))
}
