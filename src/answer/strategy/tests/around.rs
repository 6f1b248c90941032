//! Strategies that read what a graph has around a question.

use std::collections::HashMap;

use super::*;
use crate::graph::paths::relations::{RelationStep, SaidRelation};
use crate::graph::paths::{CoOccurrence, EntityPath, NamedEntity, PathEdge};
use crate::source::SourceId;

/// A path of one edge, which row 1 of `mill` says.
pub fn path(from: &str, predicate: &str, to: &str) -> PathOfRows {
    let entity = |name: &str| NamedEntity { norm: name.to_lowercase(), name: name.to_owned() };
    let (predicate, method) = (predicate.to_owned(), "sql".to_owned());
    let relation = SaidRelation { predicate, is_inverse: false, method, span: None, words: None };
    let proof =
        CoOccurrence { source_key: "1".to_owned(), chunk_id: 1, chunk_no: 0, from: None, to: None };
    let edges = vec![PathEdge { chunks: 1, proof, relation: Some(relation) }];
    let path = EntityPath { score: 1.0, entities: vec![entity(from), entity(to)], edges };
    PathOfRows { relation: "mill".to_owned(), path }
}

#[test]
fn relations_are_picked_and_their_rows_are_cited() {
    let picks = r#"{"entities": ["Ghent"], "predicates": ["p2"]}"#;
    let done = ask("graph", json!({}), &[1, 2], &[picks, "They trade [1]."]);
    assert_eq!((done.text(), done.outcome.supported), ("They trade [1].", true));
    assert_eq!(done.steps(), ["pick", "answer"]);
    let told = [
        "Predicates: p1 (as in: ghent p1 bruges); p2 (as in: ghent p2 bruges)",
        "Some of the entities: ghent",
    ];
    assert_eq!(done.user(0), format!("{}\n\n{}", notes(&told), asks(QUESTION)));
    assert!(done.user(1).contains("mill\nGhent p2 Bruges"), "{}", done.user(1));
    assert!(done.user(1).contains("Paths: Ghent p2 Bruges"), "{}", done.user(1));
    assert_eq!(done.read(), ["mill 1"]);
    // Without relations there is nothing to pick, and without a call for it all of them are followed.
    let done = ask("graph", json!({}), &[], &[]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
    let done = ask("graph", json!({"budget": {"calls": 1}}), &[1], &["They trade [1]."]);
    assert_eq!((done.text(), done.steps()), ("They trade [1].", vec!["answer".to_owned()]));
}

#[test]
fn a_row_says_each_of_its_relations_once() {
    let paths = [
        path("Ghent", "mills", "Rye"),
        path("Ghent", "mills", "Rye"),
        path("Bruges", "buys", "Rye"),
    ];
    let around = related(&paths);
    assert_eq!(around.sources.len(), 1);
    assert_eq!(around.sources[0].content(), "Ghent mills Rye\nBruges buys Rye");
    let read = around.sources.iter().map(Source::id).collect();
    assert_eq!(around.told(&read), ["Paths: Ghent mills Rye; Bruges buys Rye"]);
    assert!(around.told(&Default::default()).is_empty());
}

#[test]
fn what_a_language_model_has_read_is_cited_by_the_words_of_the_text() {
    let mut of_text = path("Ghent", "founded", "Rye");
    let relation = of_text.path.edges[0].relation.as_mut().unwrap();
    relation.words = Some("Ghent sold its mill at Rye".to_owned());
    let around = related(&[of_text, path("Bruges", "buys", "Rye")]);
    assert_eq!(around.sources[0].content(), "Ghent sold its mill at Rye\nBruges buys Rye");
    let read = around.sources.iter().map(Source::id).collect();
    assert_eq!(around.told(&read), ["Paths: Ghent founded Rye; Bruges buys Rye"]);
}

/// What is said of Ghent: of columns where there are no `words`, else of the text of the chunk with this key.
fn of_ghent(predicate: &str, to: &str, chunk_id: i64, words: Option<&str>) -> RelationStep {
    let name = to.trim_start_matches('<').to_owned();
    RelationStep {
        from: 0,
        from_name: "Ghent".to_owned(),
        to: NamedEntity { norm: name.to_lowercase(), name },
        relation: SaidRelation {
            predicate: predicate.to_owned(),
            is_inverse: to.starts_with('<'),
            method: if words.is_some() { "llm" } else { "sql" }.to_owned(),
            span: None,
            words: words.map(str::to_owned),
        },
        chunks: 1,
        proof: CoOccurrence {
            source_key: chunk_id.to_string(),
            chunk_id,
            chunk_no: 0,
            from: None,
            to: None,
        },
    }
}

#[test]
fn relations_are_told_as_far_as_their_rows_and_chunks_are_read() {
    let steps = [
        of_ghent("mills", "Rye", 1, None),
        of_ghent("founded", "Rye", 2, Some("Ghent, which began the mill of Rye")),
        of_ghent("owns", "<Bruges", 1, None),
        of_ghent("sold", "Wheat", 3, Some("Ghent sold its wheat")),
        of_ghent("mills", "Rye", 4, Some("Ghent mills rye")),
    ];
    let chunk = Source::Chunk(passage(2, 1));
    let places = HashMap::from([(2, chunk.id())]);
    let (notes, said) = stated(&steps, "mill", &places);
    let sources = saying_rows(said);
    let contents: Vec<&str> = sources.iter().map(Source::content).collect();
    assert_eq!(contents, ["Ghent mills Rye\nBruges owns Ghent"]);
    assert_eq!(sources[0].label(), "mill 1");
    let around = Surroundings { lists: vec![("R", notes)], sources: Vec::new() };
    let told = |read: &[SourceId]| around.told(&read.iter().cloned().collect());
    let rows = "R: Ghent — mills → Rye; ";
    let all = format!("{rows}Ghent — founded → Rye; Bruges — owns → Ghent");
    assert_eq!(told(&[sources[0].id(), chunk.id()]), [all]);
    assert_eq!(told(&[sources[0].id()]), [format!("{rows}Bruges — owns → Ghent")]);
    // What a text says is read in the text, and nowhere else.
    assert_eq!(told(&[chunk.id()]), ["R: Ghent — founded → Rye"]);
    assert!(told(&[]).is_empty());
    assert!(stated(&[], "mill", &places).0.is_empty());
}

#[test]
fn communities_are_answered_from_at_once_and_their_answers_merged() {
    let says = ["A [1].", NO_ANSWER, "C [3][1].", "All [1][3]."];
    let done = ask("global", json!({}), &[7, 8, 9], &says);
    assert_eq!((done.text(), done.outcome.supported), ("All [1][3].", true));
    assert_eq!(done.steps(), ["answer+answer+answer", "merge"]);
    assert_eq!(done.user(1), format!("{}\n\n{}", sources(&[(2, 8)]), asks(QUESTION)));
    // The third community never showed source 1.
    assert_eq!(done.user(3), format!("{}\n\n{}", notes(&["A [1].", "C [3]."]), asks(QUESTION)));
    assert_eq!(done.tools.read_for, [ReadingCalls::Several; 3]);
    assert_eq!(done.outcome.usage["strategy"], "global");
}

#[test]
fn the_budget_says_how_many_communities_are_asked_about() {
    let done =
        ask("global", json!({"communities": 2}), &[1, 2, 3], &["A [1].", "B [2].", "AB [1]."]);
    assert_eq!((done.text(), done.read().len()), ("AB [1].", 2));
    let given = json!({"budget": {"calls": 3}});
    let done = ask("global", given, &[1, 2, 3, 4], &["A [1].", "B [2].", "AB [1][2]."]);
    assert_eq!((done.text(), done.stopped_by()), ("AB [1][2].", "calls"));
    assert_eq!(done.steps(), ["answer+answer", "merge"]);
    // One call has room for what it can show.
    let done = ask("global", json!({"budget": {"calls": 1}}), &[1, 2], &["AB [1][2]."]);
    assert_eq!((done.text(), done.steps()), ("AB [1][2].", vec!["answer".to_owned()]));
}

#[test]
fn one_community_is_one_call_and_none_is_no_answer() {
    let done = ask("global", json!({}), &[5], &["A [1]."]);
    assert_eq!((done.text(), done.steps()), ("A [1].", vec!["answer".to_owned()]));
    let done = ask("global", json!({}), &[], &[]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
    let done = ask("global", json!({}), &[5, 6], &[NO_ANSWER; 2]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
}

#[test]
fn answers_of_communities_are_merged_in_groups() {
    let says = ["A [1].", "B [2].", "C [3].", "AB [1].", "ABC [1][3]."];
    let done = ask("global", json!({"group_size": 2}), &[1, 2, 3], &says);
    assert_eq!(done.text(), "ABC [1][3].");
    assert_eq!(done.steps(), ["answer+answer+answer", "merge", "merge"]);
    assert_eq!(done.tools.asked.len(), community_calls(3, &options(json!({"group_size": 2}))));
}

#[test]
fn what_the_graph_says_stands_beside_the_sources() {
    let done = ask("local", json!({}), &[3, 4], &["Both grind [1][2]."]);
    assert_eq!((done.text(), done.steps()), ("Both grind [1][2].", vec!["answer".to_owned()]));
    let (sources, notes) = (sources(&[(1, 3), (2, 4)]), notes(&["Entities: 3; 4"]));
    assert_eq!(done.user(0), format!("{sources}\n\n{notes}\n\n{}", asks(QUESTION)));
    assert!(done.system(0).contains("same community"), "{}", done.system(0));
    assert_eq!(done.tools.read_for, [ReadingCalls::One]);
    let done = ask("local", json!({}), &[], &[]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
}

#[test]
fn a_graph_says_nothing_that_is_not_read() {
    let id = |document: u32| Source::Chunk(passage(document, 1)).id();
    let note = |key: &str, weight: f64, proofs: Vec<Vec<u32>>| {
        let ids = |proof: Vec<u32>| proof.into_iter().map(id).collect();
        let proofs = proofs.into_iter().map(ids).collect();
        GraphNote { key: key.to_owned(), words: key.to_uppercase(), weight, proofs }
    };
    let entities = joined(vec![
        note("a", 1.0, vec![vec![1]]),
        note("b", 2.0, vec![vec![2]]),
        note("a", 3.0, vec![vec![3]]),
    ]);
    let path = vec![note("a - b", 0.5, vec![vec![1, 2]])];
    let around = Surroundings { lists: vec![("E", entities), ("P", path)], sources: Vec::new() };
    let told = |read: &[u32]| around.told(&read.iter().copied().map(id).collect());
    assert_eq!(told(&[1, 2]), ["E: A; B", "P: A - B"]);
    assert_eq!(told(&[2]), ["E: B"]);
    assert_eq!(told(&[3]), ["E: A"]);
    assert!(told(&[]).is_empty());
    let many = (0..50).map(|at| note(&format!("{at:02}"), 1.0, vec![vec![1]])).collect();
    let around = Surroundings { lists: vec![("E", many)], sources: Vec::new() };
    assert_eq!(around.told(&[id(1)].into())[0].split("; ").count(), 20);
}

#[test]
fn the_first_prompt_is_that_of_the_first_community() {
    let mut tools = scripted(&[(QUESTION, &[5, 6])], &[]);
    let prompt = |name: &str, tools: &mut Scripted| {
        let strategy = named(Some(name)).unwrap();
        preview(strategy, QUESTION, &StrategyOptions::default(), tools).unwrap()
    };
    let first = prompt("global", &mut tools);
    assert_eq!(first[1].content, format!("{}\n\n{}", sources(&[(1, 5)]), asks(QUESTION)));
    let first = prompt("local", &mut tools);
    assert!(first[1].content.contains("Entities: 5"), "{}", first[1].content);
}
