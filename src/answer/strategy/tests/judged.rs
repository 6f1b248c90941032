//! Strategies that have chunks and answers judged.

use super::*;

#[test]
fn self_rag_takes_the_answer_whose_judgements_weigh_most() {
    let says = [
        "Yes.",
        "1: 9\n2: 8\n3: 0",
        "Ghent [1].",
        "Bruges [2][1].",
        "support: partially\nuse: 3",
        "support: fully\nuse: 5",
    ];
    let done = ask("self_rag", json!({}), &[4, 5, 6], &says);
    assert_eq!(done.steps(), ["retrieve", "grade", "answer+answer", "critique+critique"]);
    assert_eq!(done.text(), "Bruges [2].");
    assert_eq!(done.user(0), asks(QUESTION));
    assert_eq!(
        done.user(1),
        format!("{}\n\n{}", sources(&[(1, 4), (2, 5), (3, 6)]), asks(QUESTION))
    );
    assert_eq!(done.user(3), format!("{}\n\n{}", sources(&[(2, 5)]), asks(QUESTION)));
    assert_eq!(
        done.user(5),
        format!("{}\n\n{}\n\n{}", sources(&[(2, 5)]), notes(&["Bruges [2]."]), asks(QUESTION))
    );
}

#[test]
fn self_rag_gives_nothing_that_its_source_does_not_support() {
    let says = ["1: 9", "Ghent [1].", "support: no\nuse: 5"];
    let done = ask("self_rag", json!({"always_retrieve": true}), &[4], &says);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
    let done = ask("self_rag", json!({"always_retrieve": true}), &[4], &["1: 0"]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
}

#[test]
fn self_rag_looks_nothing_up_for_a_greeting() {
    let tools = scripted(&[], &["no", "Good morning!"]);
    let done = run_with("self_rag", "Good morning", json!({}), tools);
    assert_eq!((done.text(), done.outcome.supported), ("Good morning!", false));
    assert!(done.tools.looked_up.is_empty() && done.read().is_empty());
    assert_eq!(done.user(1), "Good morning");
}

#[test]
fn self_rag_that_may_not_judge_answers_all_the_same() {
    let given = json!({"budget": {"calls": 2}});
    let done = ask("self_rag", given, &[4], &["yes", "Ghent [1]."]);
    assert_eq!((done.text(), done.stopped_by()), ("Ghent [1].", "calls"));
}

#[test]
fn corrective_answers_from_what_is_relevant() {
    let done = ask("corrective", json!({}), &[4, 5, 6], &["1: 2\n2: 8\n3: 4", "Ghent [2]."]);
    assert_eq!(done.steps(), ["grade", "answer"]);
    assert_eq!(
        done.user(0),
        format!("{}\n\n{}", sources(&[(1, 4), (2, 5), (3, 6)]), asks(QUESTION))
    );
    assert_eq!(done.user(1), format!("{}\n\n{}", sources(&[(2, 5)]), asks(QUESTION)));
    assert_eq!((done.text(), done.read().len()), ("Ghent [2].", 3));
}

#[test]
fn corrective_looks_again() {
    let finds: [(&str, &[u32]); 2] = [(QUESTION, &[4, 5]), ("mills of Flanders", &[5, 6])];
    let says = ["1: 0\n2: 4", "mills of Flanders", "3: 9", "Flanders [3]."];
    let done = run_with("corrective", QUESTION, json!({}), scripted(&finds, &says));
    assert_eq!(done.steps(), ["grade", "rewrite", "grade", "answer"]);
    assert_eq!(done.user(1), format!("{}\n\n{}", notes(&[QUESTION]), asks(QUESTION)));
    // What was graded is not graded again; what was ambiguous is kept.
    assert_eq!(done.user(2), format!("{}\n\n{}", sources(&[(3, 6)]), asks(QUESTION)));
    assert_eq!(done.user(3), format!("{}\n\n{}", sources(&[(2, 5), (3, 6)]), asks(QUESTION)));
    assert_eq!(done.text(), "Flanders [3].");
}

#[test]
fn corrective_abstains() {
    let finds: [(&str, &[u32]); 2] = [(QUESTION, &[4]), ("other", &[5])];
    let done =
        run_with("corrective", QUESTION, json!({}), scripted(&finds, &["1: 0", "other", "2: 1"]));
    assert_eq!(done.steps(), ["grade", "rewrite", "grade"]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
    // Nothing was found at all, twice.
    let done = ask("corrective", json!({"rounds": 2}), &[], &["one", "two"]);
    assert_eq!(done.steps(), ["rewrite", "rewrite"]);
    assert_eq!(done.user(1), format!("{}\n\n{}", notes(&[QUESTION, "one"]), asks(QUESTION)));
    assert_eq!(done.text(), NO_ANSWER);
}

#[test]
fn corrective_without_grades_answers_from_what_was_found() {
    let done = ask("corrective", json!({}), &[4], &["They look fine to me.", "Ghent [1]."]);
    assert_eq!((done.text(), done.steps().len()), ("Ghent [1].", 2));
    let given = json!({"budget": {"calls": 1}});
    let done = ask("corrective", given, &[4], &["Ghent [1]."]);
    assert_eq!((done.text(), done.stopped_by()), ("Ghent [1].", "calls"));
}
