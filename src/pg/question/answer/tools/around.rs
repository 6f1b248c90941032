//! What strategies look up in the graph, as steps of a trace.

use crate::answer::strategy::{Surroundings, community_calls};
use crate::error::Result;
use crate::graph::communities::rank::CommunityQuest;
use crate::pg::question::answer::Writing;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::question::search::EntitySurroundings;
use crate::pg::ragd::trace;
use crate::source::Source;

/// The sources of each of the communities of which chunks speak that `question` finds, best first. The trace says about how
/// many calls of a language model they are worth.
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
        trace::remark(|| {
            let calls = community_calls(found.len(), &writing.strategy_options);
            format!("{} communities, about {calls} calls of a language model", found.len())
        });
        let sources = found.into_iter().map(|it| it.passages.into_iter().map(Source::Chunk));
        Ok(sources.map(Iterator::collect).collect())
    })
}

/// What is around `question` in the graph.
pub fn surroundings(
    question: &str,
    quest: CommunityQuest,
    search: &FederatedSearch,
) -> Result<Surroundings> {
    trace::step("communities", String::new, || {
        let EntitySurroundings { entities, paths, community, passages } =
            search.surroundings(question, quest)?;
        trace::rows(passages.len());
        trace::words(|| entities.join("; "));
        let lists = [
            ("Entities that the sources name", entities),
            ("Entities that are named together", paths),
            ("Other entities of the same community", community),
        ];
        let told = lists.into_iter().filter(|(_, names)| !names.is_empty());
        let notes = told.map(|(what, names)| format!("{what}: {}", names.join("; "))).collect();
        Ok(Surroundings { notes, sources: passages.into_iter().map(Source::Chunk).collect() })
    })
}
