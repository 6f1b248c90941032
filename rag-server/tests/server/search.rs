//! What clients of `/search` find.

use serde_json::{Value, json};

use super::lives::until_running;
use crate::support::{self, READER, STRANGER, Server, request};

const QUESTION: &str = "When are invoices sent?";

/// Looks in the pipeline `docs`, with more members than its name.
fn search(more: Value) -> Value {
    let mut body = json!({"pipeline": "docs"});
    body.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
    body
}

/// The keys of the rows that an entry of the results is of.
fn keys(found: &Value) -> Vec<&str> {
    let passages = found["passages"].as_array().unwrap_or_else(|| panic!("no passages: {found}"));
    passages.iter().map(|passage| passage["source_key"].as_str().unwrap()).collect()
}

#[test]
fn passages_are_found_without_an_answer() {
    let Some(server) = Server::start(&[]) else { return };
    let response = server.post("/search", &search(json!({"query": QUESTION, "k": 1})));
    assert_eq!(response.status, 200, "{response:?}");
    let found = response.json();
    let text = "Invoices are sent on the first day of each month. They can be paid by card.";
    let best = &found["passages"][0];
    assert_eq!((keys(&found), &best["content"]), (vec!["2"], &json!(text)));
    assert_eq!((&best["rank"], &best["pipeline"]), (&json!(1), &json!("docs")));
    assert_eq!((&best["start_char"], &best["end_char"]), (&json!(0), &json!(text.len())));
    assert_eq!(best["metadata"], json!({"lang": "en"}));
    assert!(best["score"].as_f64().is_some_and(|score| score > 0.0), "{best}");
    assert!(best.get("heading").is_some(), "{best}");
    assert_eq!(found["truncated"], false);
    let figures = server.get("/metrics").body;
    assert!(figures.contains("route=\"/search\",status=\"200\""), "{figures}");
}

#[test]
fn a_search_finds_what_the_role_of_the_token_may_read() {
    let Some(server) = Server::start(&[]) else { return };
    let safe = search(json!({"query": "With which number does the safe open?", "k": 10}));
    let response = server.post("/search", &safe);
    let found = response.json();
    let mut keys = keys(&found);
    keys.sort_unstable();
    assert_eq!(keys, ["1", "2"]);
    assert!(!response.body.contains("4711"), "{}", response.body);
    let strange = server.post_as(STRANGER, "/search", &safe);
    assert!(matches!(strange.status, 403 | 404), "{strange:?}");
    assert!(strange.json()["error"]["sqlstate"].is_string());
    for token in [None, Some("wrong-token-0123456789")] {
        let refused = request(&server.address, token, "/search", Some(&safe.to_string()));
        assert_eq!(refused.status, 401, "{refused:?}");
    }
}

#[test]
fn several_queries_have_their_passages_in_their_order() {
    let Some(server) = Server::start(&[]) else { return };
    let queries = [QUESTION, "How do I reset a password?"];
    let found = server.post("/search", &search(json!({"queries": queries, "k": 1}))).json();
    let results = found["results"].as_array().unwrap();
    assert_eq!(results.iter().map(keys).collect::<Vec<_>>(), [["2"], ["1"]]);
    assert!(results.iter().all(|found| found["truncated"] == false), "{found}");
    assert!(results[1]["passages"][0].get("question_no").is_none(), "{found}");
    // One of them alone has the same passages, but for the last digits of their scores.
    let alone = server.post("/search", &search(json!({"query": queries[1], "k": 1}))).json();
    let members = |found: &Value| -> Vec<String> {
        found["passages"][0].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(members(&alone), members(&results[1]));
    let (one, of_both) = (&alone["passages"][0], &results[1]["passages"][0]);
    for member in ["rank", "source_key", "content", "start_char", "end_char"] {
        assert_eq!(one[member], of_both[member], "{member}");
    }
}

#[test]
fn pages_follow_each_other() {
    let Some(server) = Server::start(&[]) else { return };
    let page = |offset: u32| {
        let page = search(json!({"query": QUESTION, "k": 1, "offset": offset}));
        server.post("/search", &page).json()
    };
    let (first, second, third) = (page(0), page(1), page(2));
    assert_eq!((keys(&first), keys(&second), keys(&third)), (vec!["2"], vec!["1"], vec![]));
    assert_eq!(second["passages"][0]["rank"], 2);
}

#[test]
fn what_does_not_fit_is_left_out_and_said() {
    let Some(server) = Server::start(&[]) else { return };
    let found = |more: Value| server.post("/search", &search(more)).json();
    let whole = found(json!({"query": QUESTION}));
    assert_eq!((keys(&whole), &whole["truncated"]), (vec!["2", "1"], &json!(false)));
    let cut = found(json!({"query": QUESTION, "max_bytes": 1}));
    assert_eq!((keys(&cut), &cut["truncated"]), (vec!["2"], &json!(true)));
    let each = found(json!({"queries": [QUESTION, QUESTION], "max_bytes": 2}));
    let each = each["results"].as_array().unwrap();
    assert!(
        each.iter().all(|found| keys(found) == ["2"] && found["truncated"] == true),
        "{each:?}"
    );
}

#[test]
fn what_is_wrong_with_a_search_is_said() {
    let Some(server) = Server::start(&[]) else { return };
    let check = |more: Value, status: u16, words: &str| {
        let response = server.post_as(READER, "/search", &search(more));
        assert_eq!(response.status, status, "{response:?}");
        let error = &response.json()["error"];
        assert!(error["message"].as_str().unwrap().contains(words), "{response:?}");
    };
    check(json!({"query": "a", "filter": {"nothing": 1}}), 404, "nothing");
    check(json!({"query": "a", "filter": "lang"}), 400, "filter");
    check(json!({"query": "a", "k": 10_001}), 400, "k must be between 1 and 10000, not 10001");
    check(json!({"query": "a", "k": 0}), 400, "not 0");
    check(json!({"query": "a", "offset": -1}), 400, "offset");
    check(json!({"query": "a", "mode": "psychic"}), 400, "psychic");
    check(json!({"query": "a", "pipeline": "none"}), 404, "none");
    check(json!({"query": ""}), 400, "");
    check(json!({"queries": [QUESTION, ""]}), 400, "");
    check(json!({"queries": []}), 400, "between 1 and 100 entries");
    check(json!({"queries": ["a", "b"], "k": 5001}), 400, "at most 10000, not 5001 times 2");
    check(json!({}), 400, "either query or queries");
    check(json!({"query": "a", "max_bytes": 11 << 20}), 400, "max_bytes must be between");
    check(json!({"query": "a", "question": "b"}), 400, "question");
    assert_eq!(server.get("/search").status, 405);
}

#[test]
fn a_search_that_takes_too_long_is_cancelled() {
    let _alone = support::alone();
    // Only rag-server itself has a limit then.
    let limits = ["--timeout", "2", "--setting", "statement_timeout=0"];
    let Some(server) = Server::start_alone(&limits) else { return };
    let slow = json!({"query": "Who is slow?", "pipeline": "slow"});
    let response = server.post("/search", &slow);
    assert_eq!(response.status, 504, "{response:?}");
    let error = &response.json()["error"];
    assert_eq!((&error["code"], &error["sqlstate"]), (&json!("timeout"), &Value::Null));
    assert_eq!(error["message"], "the search took longer than 2 s");
    until_running(0);
}
