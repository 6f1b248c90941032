//! Chunks, summaries and rows beside each other.

use super::*;
use crate::answer::citation::citations;

#[test]
fn sources_of_all_kinds_are_numbered_once() {
    let others = one_of_each();
    let says =
        ["What of Ghent?\nWhat of Bruges?", "It opens at ten [4].", "It costs 49.90 [5].", "Both."];
    let tools = Scripted { others: others.to_vec(), ..scripted(&FINDS, &says) };
    let done = run_with("decompose_sequential", QUESTION, json!({}), tools);
    let labels: Vec<String> = done.outcome.readings.iter().map(|one| one.source.label()).collect();
    assert_eq!(labels, ["2", "1", "7", "Opening hours", "orders 17", "3"]);
    for call in [1, 2] {
        let prompt = done.user(call);
        for part in ["4 MARK>>>\nHeading: Opening hours\n", "5 MARK>>>\nHeading: orders\nstatus:"] {
            assert!(prompt.contains(part), "{prompt}");
        }
    }
    let read: Vec<&Source> = done.outcome.readings.iter().map(|one| &one.source).collect();
    let cited = citations("The tower opens at ten [4]. 49.90 in total [5].", &read, &mut || {});
    let quotes: Vec<&str> = cited.citations.iter().map(|one| one.quote.as_str()).collect();
    assert_eq!(quotes, ["The tower opens at ten.", "status: shipped\ntotal: 49.90"]);
}

#[test]
fn rows_of_a_query_are_the_sources_of_its_answer() {
    let tools = scripted(&[(QUESTION, &[1])], &["SELECT 1", "It costs 49.90 [1]."]);
    let done = run_with("sql", QUESTION, json!({}), tools);
    assert_eq!(done.text(), "It costs 49.90 [1].");
    assert_eq!(done.steps(), ["query", "answer"]);
    assert!(done.tools.looked_up.is_empty(), "no document is looked up");
    let labels: Vec<String> = done.outcome.readings.iter().map(|one| one.source.label()).collect();
    assert_eq!(labels, ["orders 17"]);
    assert_eq!(done.outcome.usage["calls"], 2);
}

#[test]
fn without_a_call_for_the_answer_no_query_is_written() {
    let tools = scripted(&[(QUESTION, &[1])], &[]);
    let done = run_with("sql", QUESTION, json!({"budget": {"calls": 1}}), tools);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
    assert_eq!(done.outcome.usage["stopped_by"], "calls");
}
