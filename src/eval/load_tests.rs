//! Tests of `load.rs`.

use super::*;

fn case(label: &str, question: &str, answers: &[&str], relevant: Value) -> NewCase {
    let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
    let (label, question) = (label.to_owned(), question.to_owned());
    NewCase { label, question, answers, relevant, filter: None }
}

#[test]
fn cases_under_all_their_names() {
    let data = json!([
        {"question": "why?", "relevant": ["1"]},
        {"id": 7, "text": "who?", "answer": "me", "relevant": [{"source_key": "1", "grade": 2}]},
        {"_id": "x", "query": "what?", "answers": ["this", "", "that"], "kind": "silver"},
    ]);
    let expected = vec![
        case("why?", "why?", &[], json!(["1"])),
        case("7", "who?", &["me"], json!([{"source_key": "1", "grade": 2}])),
        case("x", "what?", &["this", "that"], json!([])),
    ];
    assert_eq!(from_json(&data, &mut || {}).unwrap(), Loaded { cases: expected, unjudged: 0 });
}

#[test]
fn a_filter_is_kept() {
    let data = json!([{"text": "why?", "relevant": ["1"], "filter": {"lang": "en"}}]);
    assert_eq!(from_json(&data, &mut || {}).unwrap().cases[0].filter, Some(json!({"lang": "en"})));
}

#[test]
fn queries_and_judgements_as_beir_keeps_them() {
    let data = json!({
        "queries": {"q1": "why?", "q2": "who?"},
        "qrels": {"q1": {"d1": 1}},
    });
    let items = json!([{"source_key": "d1", "grade": 1.0}]);
    let expected = Loaded { cases: vec![case("q1", "why?", &[], items.clone())], unjudged: 1 };
    assert_eq!(from_json(&data, &mut || {}).unwrap(), expected);
    let lines = "{\"_id\": \"q1\", \"text\": \"why?\"}\n\n{\"_id\": \"q2\", \"text\": \"who?\"}\n";
    let judged = qrels::parse("query-id\tcorpus-id\tscore\nq1\td1\t1\n").unwrap();
    assert_eq!(from_lines(lines, Some(&judged), &mut || {}).unwrap(), expected);
}

#[test]
fn references_are_spans() {
    let line = r#"{"id": "c1", "text": "why?", "corpus_id": "doc",
        "references": [{"content": "as", "start_index": 3, "end_index": 5, "exact": true}]}"#;
    let items = json!([{"source_key": "doc", "start_char": 3, "end_char": 5}]);
    let loaded = from_lines(&line.replace('\n', " "), None, &mut || {}).unwrap();
    assert_eq!(loaded.cases, [case("c1", "why?", &[], items)]);
}

#[test]
fn what_is_wrong_is_named() {
    let check = |data: Value, message: &str, detail: &str| {
        let error = from_json(&data, &mut || {}).unwrap_err();
        assert!(error.message().contains(message), "{data}: {error}");
        assert!(error.detail_text().unwrap_or_default().contains(detail), "{data}: {error:?}");
    };
    check(json!("x"), "neither an array of cases", "");
    check(json!([{"text": "a", "relevant": ["1"]}, 3]), "not a JSON object", "Case 2");
    check(json!([{"relevant": ["1"]}]), "no question", "Case 1");
    check(json!([{"text": " ", "relevant": ["1"]}]), "no question", "Case 1");
    check(json!([{"text": "a"}]), "neither what is relevant", "Case 1");
    check(json!([{"text": ["a"], "relevant": ["1"]}]), "question is not a text", "Case 1");
    check(json!([{"text": "a", "relevant": [null]}]), "not a source key", "Case 1");
    check(
        json!([{"text": "a", "references": [{"start_index": 1}]}]),
        "references is not",
        "Case 1",
    );
    check(json!([{"text": "a", "relevant": ["1"], "filter": 1}]), "filter is not", "Case 1");
    check(json!({"queries": 1, "qrels": {}}), "queries is neither", "");
    check(json!({"queries": {}}), "qrels is not", "");
    let error =
        from_lines("{\"text\": \"a\", \"answer\": \"b\"}\n{", None, &mut || {}).unwrap_err();
    assert!(error.message().contains("line 2 of the questions"), "{error}");
}
