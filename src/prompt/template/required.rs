//! Which variables a template must use that comes with pg_rag.
//!
//! Everybody's questions are asked in the newest version of such a name, so that a version of it that cannot be used is
//! refused where it is written. A template of another name has no place that is known beforehand.

/// The names that come with pg_rag, and the variables that each must use in its place.
pub const SHIPPED: [(&str, &[&str]); 34] = [
    ("agent", &["question", "sources", "notes", "actions", "n"]),
    ("answer_in_graph", &["question", "sources", "notes"]),
    ("answer_with_notes", &["question", "sources", "notes"]),
    ("concise", &["question", "sources"]),
    ("condense", &["question", "history"]),
    ("critique", &["question", "sources", "notes"]),
    ("decompose", &["question", "n"]),
    ("defensive", &["question", "sources"]),
    ("evaluate", &["question", "sources", "notes"]),
    ("extract", &["chunk"]),
    ("hyde", &["question"]),
    ("judge", &["question", "sources"]),
    ("map_rerank", &["question", "sources"]),
    ("merge_answers", &["question", "notes"]),
    ("multi_query", &["question"]),
    ("needs_sources", &["question"]),
    ("next_thought", &["question", "sources", "notes"]),
    ("overview_context", &["question", "sources"]),
    ("pick_relations", &["question", "notes"]),
    ("refine", &["question", "sources", "notes"]),
    ("represent", &["chunk"]),
    ("route", &["question", "pipelines"]),
    ("search_again", &["question", "notes"]),
    ("self_query", &["question"]),
    ("situate", &["document", "chunk"]),
    ("sql", &["question", "tables"]),
    ("sql_screen", &["question", "tables"]),
    ("standard", &["question", "sources"]),
    ("step_back", &["question"]),
    ("summarize_context", &["question", "sources"]),
    ("summarize_passages", &["sources"]),
    ("verifiable", &["question", "sources"]),
    ("verify_claims", &["sources", "claims"]),
    ("without_sources", &["question"]),
];

/// The variables that the template `name` must use; none where it is none that comes with pg_rag.
pub fn needed(name: &str) -> &'static [&'static str] {
    SHIPPED.iter().find(|(shipped, _)| *shipped == name).map_or(&[], |(_, needed)| needed)
}
