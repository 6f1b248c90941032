//! At which places is a language model asked, and which variables must a template use there?
//!
//! Everybody's questions are asked in the newest version of a template that comes with pg_rag. So a version that cannot be
//! used in its place is refused where it is written, by what the place itself needs. A template of another name has no
//! place that is known beforehand.

/// A place where a language model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PromptPlace {
    /// The templates for it that come with pg_rag, the usual one first.
    pub templates: &'static [&'static str],
    /// The variables that a template must use there.
    pub needed: &'static [&'static str],
}

impl PromptPlace {
    const fn new(
        templates: &'static [&'static str],
        needed: &'static [&'static str],
    ) -> PromptPlace {
        PromptPlace { templates, needed }
    }

    /// The template that is used where none is named.
    #[must_use]
    pub fn usual(&self) -> &'static str {
        self.templates[0]
    }
}

/// A question is answered from sources, in one call.
pub const ANSWER: PromptPlace =
    PromptPlace::new(&["standard", "concise", "defensive", "verifiable"], &["question", "sources"]);

/// It is answered after other calls, from what they have written, too.
pub const ANSWER_WITH_NOTES: PromptPlace =
    PromptPlace::new(&["answer_with_notes"], &["question", "sources", "notes"]);

/// It is answered from what the graph says as well.
pub const ANSWER_IN_GRAPH: PromptPlace =
    PromptPlace::new(&["answer_in_graph"], &["question", "sources", "notes"]);

/// An agent decides on its next step.
pub const AGENT: PromptPlace =
    PromptPlace::new(&["agent"], &["question", "sources", "notes", "actions", "n"]);

/// The answer of an agent is judged.
pub const EVALUATE: PromptPlace =
    PromptPlace::new(&["evaluate"], &["question", "sources", "notes"]);

/// A draft is compared with its sources.
pub const CRITIQUE: PromptPlace =
    PromptPlace::new(&["critique"], &["question", "sources", "notes"]);

/// A question is divided into several.
pub const DECOMPOSE: PromptPlace = PromptPlace::new(&["decompose"], &["question", "n"]);

/// Some of the sources are answered from, and the answer is graded.
pub const MAP_RERANK: PromptPlace = PromptPlace::new(&["map_rerank"], &["question", "sources"]);

/// Several answers become one.
pub const MERGE_ANSWERS: PromptPlace = PromptPlace::new(&["merge_answers"], &["question", "notes"]);

/// Does the question need sources?
pub const NEEDS_SOURCES: PromptPlace = PromptPlace::new(&["needs_sources"], &["question"]);

/// A question that needs none is answered.
pub const WITHOUT_SOURCES: PromptPlace = PromptPlace::new(&["without_sources"], &["question"]);

/// The next thought on the way to an answer.
pub const NEXT_THOUGHT: PromptPlace =
    PromptPlace::new(&["next_thought"], &["question", "sources", "notes"]);

/// An answer is improved by further sources.
pub const REFINE: PromptPlace = PromptPlace::new(&["refine"], &["question", "sources", "notes"]);

/// What is looked for where too little was found.
pub const SEARCH_AGAIN: PromptPlace = PromptPlace::new(&["search_again"], &["question", "notes"]);

/// Relations of the graph are chosen.
pub const PICK_RELATIONS: PromptPlace =
    PromptPlace::new(&["pick_relations"], &["question", "notes"]);

/// Sources are graded.
pub const JUDGE: PromptPlace = PromptPlace::new(&["judge"], &["question", "sources"]);

/// The claims of an answer are compared with sources.
pub const VERIFY_CLAIMS: PromptPlace = PromptPlace::new(&["verify_claims"], &["sources", "claims"]);

/// A question of a conversation is written so that it stands alone.
pub const CONDENSE: PromptPlace = PromptPlace::new(&["condense"], &["question", "history"]);

/// A question is rewritten for the search.
pub const REWRITE: PromptPlace =
    PromptPlace::new(&["multi_query", "hyde", "step_back", "self_query"], &["question"]);

/// A pipeline is chosen.
pub const ROUTE: PromptPlace = PromptPlace::new(&["route"], &["question", "pipelines"]);

/// Sources are summed up for a question.
pub const SUMMARIZE_CONTEXT: PromptPlace =
    PromptPlace::new(&["summarize_context", "overview_context"], &["question", "sources"]);

/// Neighbouring passages are summed up.
pub const SUMMARIZE_PASSAGES: PromptPlace = PromptPlace::new(&["summarize_passages"], &["sources"]);

/// It is said where in its document a chunk stands.
pub const SITUATE: PromptPlace = PromptPlace::new(&["situate"], &["document", "chunk"]);

/// A summary and questions are written that stand for a chunk.
pub const REPRESENT: PromptPlace = PromptPlace::new(&["represent"], &["chunk"]);

/// Relations are found in a chunk.
pub const EXTRACT: PromptPlace = PromptPlace::new(&["extract"], &["chunk"]);

/// A query is written, after it was asked whether there is one.
pub const SQL: PromptPlace = PromptPlace::new(&["sql", "sql_screen"], &["question", "tables"]);

/// All places.
pub const ALL: [PromptPlace; 26] = [
    ANSWER,
    ANSWER_WITH_NOTES,
    ANSWER_IN_GRAPH,
    AGENT,
    EVALUATE,
    CRITIQUE,
    DECOMPOSE,
    MAP_RERANK,
    MERGE_ANSWERS,
    NEEDS_SOURCES,
    WITHOUT_SOURCES,
    NEXT_THOUGHT,
    REFINE,
    SEARCH_AGAIN,
    PICK_RELATIONS,
    JUDGE,
    VERIFY_CLAIMS,
    CONDENSE,
    REWRITE,
    ROUTE,
    SUMMARIZE_CONTEXT,
    SUMMARIZE_PASSAGES,
    SITUATE,
    REPRESENT,
    EXTRACT,
    SQL,
];

/// The variables that the template `name` must use; none where it is none that comes with pg_rag.
#[must_use]
pub fn needed(name: &str) -> &'static [&'static str] {
    ALL.iter().find(|place| place.templates.contains(&name)).map_or(&[], |place| place.needed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::prompt::template::VARIABLES;

    #[test]
    fn a_template_has_one_place_which_needs_something_that_there_is() {
        let templates: Vec<&str> = ALL.iter().flat_map(|place| place.templates).copied().collect();
        assert_eq!(templates.iter().collect::<BTreeSet<_>>().len(), templates.len());
        for place in ALL {
            let is_known = |name: &&str| VARIABLES.iter().any(|(variable, _)| variable == name);
            assert!(!place.needed.is_empty() && place.needed.iter().all(is_known), "{place:?}");
            assert_eq!(needed(place.usual()), place.needed);
        }
        assert!(needed("mine").is_empty());
    }
}
