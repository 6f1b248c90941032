//! Answers in the form of a schema: the last call has it, and no other.

use super::*;

const NONE: &str = r#"{"answer": null, "sources": []}"#;

/// Answers in the way of `name`, as JSON.
fn ask_formed(name: &str, given: Value, documents: &[u32], says: &[&'static str]) -> Done {
    let form = Some(AnswerForm::of(serde_json::Map::new()));
    let tools = Scripted { form, ..scripted(&[(QUESTION, documents)], says) };
    run_with(name, QUESTION, given, tools)
}

/// The JSON of an answer; "" where there is none.
fn json_of(done: &Done) -> &str {
    let json = done.outcome.formed.as_ref().map(|formed| formed.json.as_str());
    assert_eq!(json.is_some(), done.outcome.supported);
    json.unwrap_or_default()
}

/// The calls that ask for the form.
fn formed_calls(done: &Done) -> Vec<usize> {
    let asked = done.tools.asked.iter().enumerate();
    asked.filter(|(_, (.., prompt))| is_formed(prompt)).map(|(call, _)| call).collect()
}

fn is_formed(prompt: &[Message]) -> bool {
    prompt.last().is_some_and(|last| last.content.contains("\"answer\": null"))
}

#[test]
fn one_call_answers_in_the_form() {
    let reply = r#"{"answer": {"corn": "Ghent"}, "sources": [1]}"#;
    let done = ask_formed("compact", json!({}), &[1], &[reply]);
    assert_eq!((json_of(&done), done.text()), (r#"{"corn": "Ghent"}"#, "corn: Ghent. [1]"));
    assert_eq!((done.steps(), formed_calls(&done)), (vec!["answer".to_owned()], vec![0]));
    assert!(done.user(0).contains(&format!("Question: {QUESTION}\n\nReply with a JSON object")));
}

#[test]
fn null_is_no_answer() {
    for reply in [NONE, NO_ANSWER, ""] {
        let done = ask_formed("compact", json!({}), &[1], &[reply]);
        assert_eq!((json_of(&done), done.text()), ("", NO_ANSWER));
    }
    // Nobody is asked where nothing was found.
    assert_eq!(json_of(&ask_formed("compact", json!({}), &[], &[])), "");
}

#[test]
fn free_text_is_put_into_the_form_by_one_more_call() {
    let reply = r#"{"answer": [1], "sources": [1, 2]}"#;
    let check = |name: &str, given: Value, says: &[&'static str], steps: &[&str]| {
        let done = ask_formed(name, given, &[1, 2], says);
        assert_eq!(
            (json_of(&done), done.steps()),
            ("[1]", steps.iter().map(|it| (*it).to_owned()).collect())
        );
        let last = done.tools.asked.len() - 1;
        assert_eq!(formed_calls(&done), [last], "{name}");
        assert!(done.user(last).contains("<<<note 1 MARK>>>"), "{name}");
        assert_eq!(done.user(last).matches("<<<source ").count(), 2, "{name}");
    };
    let one = json!({"group_size": 1});
    check(
        "refine",
        one.clone(),
        &["A [1].", "A [1], b [2].", reply],
        &["answer", "refine", "form"],
    );
    // Where nothing is added, what was there before is put into the form.
    check("refine", one.clone(), &["A [1][2].", NO_ANSWER, reply], &["answer", "refine", "form"]);
    let merged = ["A [1].", "B [2].", "Both [1][2].", reply];
    check("tree_summarize", one, &merged, &["answer+answer", "merge", "form"]);
    let scored = ["A [1][2].\nScore: 90", reply];
    check("map_rerank", json!({"group_size": 2}), &scored, &["answer", "form"]);
}

#[test]
fn what_is_in_free_text_is_not_given_for_json() {
    let budget = json!({"group_size": 1, "budget": {"calls": 2}});
    let done = ask_formed("refine", budget, &[1, 2], &["A [1].", "A [1], b [2]."]);
    assert_eq!((json_of(&done), done.stopped_by()), ("", "calls"));
    let one = json!({"budget": {"calls": 1}});
    let done = ask_formed("map_rerank", one, &[1], &["A [1].\nScore: 9"]);
    assert_eq!((json_of(&done), done.stopped_by()), ("", "calls"));
}

#[test]
fn a_preview_shows_what_is_asked() {
    let preview = |name: &str, given: Value| {
        let form = Some(AnswerForm::of(serde_json::Map::new()));
        let mut tools = Scripted { form, ..scripted(&[(QUESTION, &[1, 2])], &[]) };
        preview(named(Some(name)).unwrap(), QUESTION, &options(given), &mut tools).unwrap()
    };
    assert!(is_formed(&preview("compact", json!({}))));
    assert!(is_formed(&preview("refine", json!({"group_size": 2}))));
    assert!(!is_formed(&preview("refine", json!({"group_size": 1}))));
    assert!(!is_formed(&preview("map_rerank", json!({}))));
}
