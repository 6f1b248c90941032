//! Which strategy `auto` takes where queries are allowed, and what it costs.

use super::*;

const ROW: &str = "It costs 49.90 [1].";

fn auto(wanted: WantedSources, given: Value, says: &[&'static str]) -> Done {
    let tools = Scripted { wanted, ..scripted(&[(QUESTION, &[1, 2])], says) };
    run_with("auto", QUESTION, given, tools)
}

fn check(done: &Done, strategy: &str, steps: &[&str], read: &[&str]) {
    assert_eq!(done.outcome.usage["strategy"], strategy);
    assert_eq!(done.steps(), steps);
    assert_eq!(done.outcome.usage["calls"], steps.len());
    let labels: Vec<String> = done.outcome.readings.iter().map(|one| one.source.label()).collect();
    assert_eq!(labels, read);
}

#[test]
fn a_question_for_documents_takes_one_call() {
    let done = auto(WantedSources::Documents, json!({}), &["It speaks [1]."]);
    check(&done, "compact", &["answer"], &["1", "2"]);
}

#[test]
fn a_question_for_rows_looks_up_no_document() {
    let done = auto(WantedSources::Rows, json!({}), &["SELECT 1", ROW]);
    check(&done, "sql", &["query", "answer"], &["orders 17"]);
    assert!(done.tools.looked_up.is_empty());
}

#[test]
fn a_question_for_both_has_documents_beside_its_query() {
    let done =
        auto(WantedSources::Both, json!({}), &["SELECT 1", "It speaks [2] and costs 49.90 [1]."]);
    check(&done, "combined", &["query", "answer"], &["orders 17", "1", "2"]);
    assert!(done.user(0).contains("Found: 1, 2."), "{}", done.user(0));
    assert_eq!(done.tools.looked_up, [QUESTION], "documents are looked up once");
}

#[test]
fn documents_answer_where_no_query_does() {
    for (reply, reason) in [("", json!(null)), ("DROP", json!("no query runs"))] {
        let done = auto(WantedSources::Rows, json!({}), &[reply, "It speaks [1]."]);
        check(&done, "compact", &["query", "answer"], &["1", "2"]);
        assert_eq!(done.outcome.usage["reason"], reason);
        let done = auto(WantedSources::Both, json!({}), &[reply, "It speaks [1]."]);
        check(&done, "combined", &["query", "answer"], &["1", "2"]);
        assert_eq!(done.outcome.usage["reason"], reason);
    }
}

#[test]
fn a_small_budget_asks_documents() {
    for wanted in [WantedSources::Rows, WantedSources::Both] {
        let done = auto(wanted, json!({"budget": {"calls": 2}}), &["It speaks [1]."]);
        check(&done, "compact", &["answer"], &["1", "2"]);
    }
}

#[test]
fn a_preview_shows_the_query_that_would_be_asked_for() {
    for (wanted, beside) in
        [(WantedSources::Rows, "Found: ."), (WantedSources::Both, "Found: 1, 2.")]
    {
        let mut tools = Scripted { wanted, ..scripted(&[(QUESTION, &[1, 2])], &[]) };
        let strategy = named(None).unwrap();
        let shown = preview(strategy, QUESTION, &StrategyOptions::default(), &mut tools).unwrap();
        assert!(shown[1].content.starts_with(beside), "{shown:?}");
        assert!(tools.asked.is_empty());
    }
}
