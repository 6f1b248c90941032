//! Strategies that show their sources in groups.

use super::*;

#[test]
fn refine_shows_group_after_group() {
    let says = ["Ghent grinds [1].", "Ghent grinds [1], Bruges saws [3].", NO_ANSWER];
    let done = ask("refine", json!({"group_size": 2}), &[5, 6, 7, 8, 9], &says);
    assert_eq!(done.text(), says[1], "the last group had nothing to add");
    assert_eq!(done.steps(), ["answer", "refine", "refine"]);
    assert_eq!(done.user(0), format!("{}\n\n{}", sources(&[(1, 5), (2, 6)]), asks(QUESTION)));
    assert_eq!(
        done.user(1),
        format!(
            "The answer so far:\n\n{}\n\n{}\n\n{}",
            notes(&[says[0]]),
            sources(&[(3, 7), (4, 8)]),
            asks(QUESTION)
        )
    );
    assert!(
        done.system(1).contains("<<<note N MARK>>>")
            && done.system(1).contains("<<<source N MARK>>>")
    );
    assert!(done.user(2).contains(says[1]) && done.user(2).contains("<<<source 5 MARK>>>"));
    assert_eq!(done.outcome.usage["steps"][1], json!({"step": "refine", "calls": 2}));
}

#[test]
fn refine_begins_anew_where_there_is_nothing_to_improve() {
    let says = [NO_ANSWER, "Bruges saws [2]."];
    let done = ask("refine", json!({"group_size": 1}), &[5, 6], &says);
    assert_eq!(done.steps(), ["answer", "answer"]);
    assert_eq!(done.user(1), format!("{}\n\n{}", sources(&[(2, 6)]), asks(QUESTION)));
    assert_eq!(done.text(), says[1]);
}

#[test]
fn refine_keeps_what_it_has_when_the_budget_is_spent() {
    let given = json!({"group_size": 1, "budget": {"calls": 2}});
    let done = ask("refine", given, &[5, 6, 7], &["One [1].", "Two [1][2]."]);
    assert_eq!((done.text(), done.stopped_by()), ("Two [1][2].", "calls"));
}

#[test]
fn a_tree_answers_groups_at_once_and_merges_level_by_level() {
    let says = ["A [1].", "B [3][1].", "C [6].", "A [1]. B [3].", "All [1][3][6]."];
    let done = ask("tree_summarize", json!({"group_size": 2}), &[11, 12, 13, 14, 15, 16], &says);
    assert_eq!(done.text(), "All [1][3][6].");
    assert_eq!(done.steps(), ["answer+answer+answer", "merge", "merge"]);
    assert_eq!(done.user(1), format!("{}\n\n{}", sources(&[(3, 13), (4, 14)]), asks(QUESTION)));
    // The second group never saw source 1.
    assert_eq!(done.user(3), format!("{}\n\n{}", notes(&["A [1].", "B [3]."]), asks(QUESTION)));
    assert!(!done.system(3).contains("<<<source N"), "{}", done.system(3));
    // The third answer had no other to be merged with, and waited.
    assert_eq!(
        done.user(4),
        format!("{}\n\n{}", notes(&["A [1]. B [3].", "C [6]."]), asks(QUESTION))
    );
}

#[test]
fn a_tree_of_few_sources_is_one_call() {
    let done = ask("tree_summarize", json!({}), &[1, 2, 3, 4], &["A [1]."]);
    assert_eq!((done.text(), done.steps()), ("A [1].", vec!["answer".to_owned()]));
}

#[test]
fn a_tree_leaves_out_groups_that_do_not_know() {
    let says = [NO_ANSWER, "B [2].", NO_ANSWER];
    let done = ask("tree_summarize", json!({"group_size": 1}), &[1, 2, 3], &says);
    assert_eq!(done.text(), "B [2].");
    let done = ask("tree_summarize", json!({"group_size": 1}), &[1, 2], &[NO_ANSWER; 2]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
}

#[test]
fn a_tree_that_may_grow_no_more_gives_what_it_has() {
    let given = json!({"group_size": 1, "budget": {"calls": 3}});
    let done = ask("tree_summarize", given, &[1, 2, 3, 4], &["A [1].", "B [2].", "A [1], B [2]."]);
    assert_eq!(done.steps(), ["answer+answer", "merge"]);
    assert_eq!((done.text(), done.stopped_by()), ("A [1], B [2].", "calls"));
    // The time is over when the leaves are there.
    let mut tools = scripted(&[(QUESTION, &[1, 2])], &["A [1].", "B [2]."]);
    tools.takes_ms = 1000;
    let given = json!({"group_size": 1, "budget": {"seconds": 1.0}});
    let done = run_with("tree_summarize", QUESTION, given, tools);
    assert_eq!((done.text(), done.stopped_by()), ("A [1].\n\nB [2].", "seconds"));
    assert_eq!(done.tools.limits[0].timeout_ms, Some(500));
}

#[test]
fn a_tree_without_room_for_groups_is_one_call() {
    let given = json!({"group_size": 1, "budget": {"calls": 1}});
    let done = ask("tree_summarize", given, &[1, 2, 3], &["All [1][3]."]);
    assert_eq!((done.text(), done.stopped_by()), ("All [1][3].", "calls"));
    assert!(done.user(0).contains("<<<source 3 MARK>>>"));
    // All sources do not fit, the first does.
    let mut tools = scripted(&[(QUESTION, &[1, 2, 3])], &["A [1]."]);
    tools.content = Some("x".repeat(2000));
    let given = json!({"group_size": 1, "budget": {"tokens": 1100, "calls": 1}});
    let done = run_with("tree_summarize", QUESTION, given, tools);
    assert_eq!(done.text(), "A [1].");
    assert_eq!(done.user(0).matches("<<<source").count(), 1);
}

#[test]
fn simple_summarize_cuts_each_source() {
    let done = ask("simple_summarize", json!({"source_tokens": 50}), &[1, 2], &["A [1]."]);
    assert_eq!(done.user(0), format!("{}\n\n{}", sources(&[(1, 1), (2, 2)]), asks(QUESTION)));
    let long = "Mills grind corn. ".repeat(50);
    let mut tools = scripted(&[(QUESTION, &[1])], &["A [1]."]);
    tools.content = Some(long.clone());
    let done = run_with("simple_summarize", QUESTION, json!({"source_tokens": 50}), tools);
    assert_eq!(done.user(0).matches("Mills grind corn.").count(), 11, "{}", done.user(0));
    assert_eq!(done.outcome.readings[0].source.content(), long, "cited from all of it");
}

#[test]
fn map_rerank_takes_the_surest() {
    let says = [
        "Ghent [1].\nScore: 40",
        "Bruges [2][1].\nScore: 90",
        "I don't know: the sources do not say.\nScore: 0",
    ];
    let done = ask("map_rerank", json!({}), &[4, 5, 6], &says);
    assert_eq!(done.text(), "Bruges [2].");
    assert_eq!(done.steps(), ["answer+answer+answer"]);
    assert_eq!(done.user(2), format!("{}\n\n{}", sources(&[(3, 6)]), asks(QUESTION)));
    assert!(done.system(0).contains("\"Score: N\""));
    let done = ask("map_rerank", json!({"group_size": 2}), &[4, 5], &["A [1].\nScore: 1"]);
    assert_eq!(done.text(), "A [1].");
    let done = ask("map_rerank", json!({}), &[4], &["Score: 100"]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
}
