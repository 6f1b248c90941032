//! What strategies look up in the graph, as steps of a trace.

use super::Session;
use crate::answer::strategy::{
    Surroundings, calls_left, community_calls, related as related_rows, saying_rows,
};
use crate::error::Result;
use crate::graph::communities::rank::CommunityQuest;
use crate::graph::relations::pick::PickedRelations;
use crate::pg::question::answer::Writing;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::question::search::EntitySurroundings;
use crate::pg::ragd::trace;
use crate::retrieve::Passage;
use crate::source::Source;

/// Most entities that a step of a trace names.
const MOST_SHOWN: usize = 20;

/// The sources of each of the communities of which chunks speak that `question` finds, best first. The trace says about how
/// many calls of a language model they are worth; of a dry run, how many are left.
pub fn communities(
    question: &str,
    quest: CommunityQuest,
    search: &FederatedSearch,
    writing: &Writing,
) -> Result<Vec<Vec<Source>>> {
    trace::step("communities", String::new, || {
        let found = search.communities(question, quest)?;
        let chunks = found.iter().map(|it| it.passages.len()).sum::<usize>();
        trace::rows(chunks);
        let sources = found.into_iter().map(|it| it.passages.into_iter().map(Source::Chunk));
        let sources: Vec<Vec<Source>> = sources.map(Iterator::collect).collect();
        let count = sources.len();
        let is_dry_run = writing.llm.is_extractive() && trace::counts_calls() && count > 0;
        let calls = match is_dry_run {
            true => left(question, &sources, search, writing)?,
            false => community_calls(count, &writing.strategy_options),
        };
        trace::remark(|| {
            let communities = if count == 1 { "community" } else { "communities" };
            let of_model = if calls == 1 { "call" } else { "calls" };
            format!("{count} {communities}, about {calls} {of_model} of a language model")
        });
        Ok(sources)
    })
}

/// How many calls of a language model are left to be made for these communities.
fn left(
    question: &str,
    communities: &[Vec<Source>],
    search: &FederatedSearch,
    writing: &Writing,
) -> Result<usize> {
    let mut tools = Session::looking_at(communities.to_vec(), search, writing);
    let (strategy, options) = (writing.strategy, &writing.strategy_options);
    // What is read for that is no step of the answer.
    let count = || calls_left(strategy, question, options, &mut tools);
    Ok(trace::recorded(true, count)?.0)
}

/// What is around `question` in the graph.
pub fn surroundings(
    question: &str,
    quest: CommunityQuest,
    search: &FederatedSearch,
) -> Result<Surroundings> {
    trace::step("communities", String::new, || {
        let (mut passages, around) = search.surroundings(question, quest)?;
        let EntitySurroundings { entities, relations, said, paths, members, proofs, of_community } =
            around;
        let found = passages.len();
        passages.extend(proofs.into_iter().chain(of_community));
        (1..).zip(&mut passages).for_each(|(rank, passage)| passage.rank = rank);
        let beside = passages.split_off(found);
        let chunks = |them: Vec<Passage>| them.into_iter().map(Source::Chunk);
        // What rows say of what the question names is short, and goes before chunks that are only near it.
        let near = saying_rows(said).into_iter().chain(chunks(beside));
        let sources: Vec<Source> = chunks(passages).chain(near).collect();
        trace::rows(sources.len());
        trace::words(|| {
            let names: Vec<&str> =
                entities.iter().take(MOST_SHOWN).map(|it| it.words.as_str()).collect();
            names.join("; ")
        });
        let lists = [
            ("Entities that the sources name", entities),
            ("Relations of what the question names", relations),
            ("Entities that are named together", paths),
            ("Other entities of the same community", members),
        ];
        Ok(Surroundings { lists: lists.into(), sources })
    })
}

/// What is said on the paths over the relations that were picked.
pub fn related(picked: &PickedRelations, search: &FederatedSearch) -> Result<Surroundings> {
    trace::step("graph", String::new, || {
        let paths = search.related(picked)?;
        trace::rows(paths.len());
        trace::words(|| {
            let entities: Vec<&str> = picked.entities.iter().map(|it| it.name.as_str()).collect();
            format!("{}; {}", entities.join(", "), picked.predicates.join(", "))
        });
        Ok(related_rows(&paths))
    })
}
