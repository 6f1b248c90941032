//! What strategies look up in the graph, as steps of a trace.

use crate::answer::strategy::{
    Surroundings, community_calls, related as related_rows, saying_rows,
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
            let communities = if found.len() == 1 { "community" } else { "communities" };
            let of_model = if calls == 1 { "call" } else { "calls" };
            format!("{} {communities}, about {calls} {of_model} of a language model", found.len())
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
