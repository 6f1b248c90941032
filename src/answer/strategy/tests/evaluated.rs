//! An agent whose answer is judged by a second call.

use serde_json::json;

use super::agent::{all, says, search, step, work_with};
use super::*;

fn judges(complete: bool, missing: &str) -> &'static str {
    json!({"reason": "r", "complete": complete, "missing": missing}).to_string().leak()
}

fn work(given: Value, says: &[&'static str]) -> Done {
    work_with(all(), given, says, |_| ())
}

#[test]
fn an_answer_that_lacks_something_goes_back_once() {
    let script = [
        says("Ghent grinds [1]."),
        judges(false, "what Bruges does"),
        search("What of Bruges?"),
        says("Ghent grinds [1], Bruges saws [2]."),
    ];
    let done = work(json!({"evaluate": true}), &script);
    assert_eq!(done.text(), "Ghent grinds [1], Bruges saws [2].");
    assert_eq!(done.steps(), ["agent", "evaluate", "agent", "agent"]);
    assert_eq!(
        done.outcome.usage["evaluation"],
        json!({"complete": false, "missing": "what Bruges does"})
    );
    assert_eq!(done.outcomes()[1], "the evaluator misses: what Bruges does");
    assert_eq!(done.tools.acting.announced, ["answer", "evaluate", "search", "answer"]);
    assert!(done.user(1).contains(&notes(&["Ghent grinds [1]."])), "{}", done.user(1));
    assert!(done.user(1).starts_with(&sources(&[(1, 1)])), "{}", done.user(1));
    let told = "Step 2: answer \"Ghent grinds [1].\": the evaluator misses: what Bruges does";
    assert!(done.user(2).contains(told), "{}", done.user(2));
    assert!(done.user(2).contains("one: 4\n"), "the draft was a step: {}", done.user(2));
}

#[test]
fn a_complete_answer_stays() {
    for (judgement, complete) in [
        (judges(true, ""), json!(true)),
        (judges(true, "x"), json!(true)),
        (judges(false, ""), json!(false)),
        ("Good.", json!(null)),
    ] {
        let done = work(json!({"evaluate": true}), &[says("A [1]."), judgement]);
        assert_eq!((done.text(), done.steps().len()), ("A [1].", 2), "{judgement}");
        let expected = json!({"complete": complete, "missing": null});
        assert_eq!(done.outcome.usage["evaluation"], expected, "{judgement}");
    }
    for given in [json!({}), json!({"evaluate": false})] {
        let done = work(given, &[says("A [1].")]);
        assert_eq!(done.steps(), ["agent"]);
        assert!(done.outcome.usage.get("evaluation").is_none());
    }
    // That there is no answer is not judged.
    let done = work(json!({"evaluate": true}), &[says(NO_ANSWER)]);
    assert_eq!(done.steps(), ["agent"]);
}

#[test]
fn an_answer_stays_where_a_second_opinion_fails() {
    let work = |kind: ErrorKind| {
        let mut tools = scripted(&FINDS, &[says("A [1].")]);
        tools.says.push_back(Err(Error::new(kind, "it does not work")));
        let agent = named(Some("agent")).unwrap();
        run(agent, QUESTION, &options(json!({"evaluate": true})), &mut tools)
    };
    for kind in [
        ErrorKind::ProviderRefused,
        ErrorKind::ProviderFailed,
        ErrorKind::ProviderTimeout,
        ErrorKind::ProviderBusy,
        ErrorKind::RoleBudgetSpent,
    ] {
        let answer = work(kind).unwrap();
        assert_eq!((answer.text.as_str(), answer.supported), ("A [1].", true), "{kind:?}");
        assert!(answer.usage.get("evaluation").is_none(), "{kind:?}");
        assert_eq!(answer.usage["calls"], 2, "{kind:?}");
    }
    assert_eq!(work(ErrorKind::Internal).unwrap_err().kind(), ErrorKind::Internal);
}

#[test]
fn a_draft_is_better_than_no_answer() {
    let done =
        work(json!({"evaluate": true}), &[says("A [1]."), judges(false, "b"), says(NO_ANSWER)]);
    assert_eq!((done.text(), done.outcome.supported), ("A [1].", true));
    // One that stands on what was computed is no less of a draft.
    let sum = || step(json!({"do": "calculate", "expression": "2 + 2"}));
    let given = json!({"evaluate": true, "max_steps": 3});
    let script = [sum(), says("It is 4."), judges(false, "b"), NO_ANSWER];
    let done = run_with("agent", QUESTION, given, scripted(&[], &script));
    assert_eq!((done.text(), done.outcome.supported), ("It is 4.", false));
    let given = json!({"evaluate": true, "max_steps": 2});
    let done = work(given, &[says("A [1]."), judges(false, "b"), NO_ANSWER]);
    assert_eq!((done.text(), done.steps().len()), ("A [1].", 3));
    // With no budget for a judgement beside the answer, there is none.
    let done = work(json!({"evaluate": true, "budget": {"calls": 2}}), &[says("A [1].")]);
    assert_eq!((done.text(), done.steps()), ("A [1].", vec!["agent".to_owned()]));
    let given = json!({"evaluate": true, "budget": {"calls": 3}});
    let done = work(given, &[says("A [1]."), judges(false, "b"), "A [1] and B."]);
    assert_eq!((done.text(), done.outcome.usage["calls"].clone()), ("A [1] and B.", json!(3)));
}
