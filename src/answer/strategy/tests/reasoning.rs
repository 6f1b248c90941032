//! Strategies that ask for parts, or for one step of reasoning after the other.

use super::*;

#[test]
fn least_to_most_hands_each_answer_on() {
    let says = [
        "What of Ghent?\nWhat of Bruges?",
        "It grinds [1][9].",
        "It saws [2], Ghent grinds [1].",
        "They differ [1][2].",
    ];
    let done = run_with("decompose_sequential", QUESTION, json!({}), scripted(&FINDS, &says));
    assert_eq!(done.text(), "They differ [1][2].");
    assert_eq!(done.steps(), ["decompose", "sub_answer", "sub_answer", "answer"]);
    assert_eq!(done.tools.looked_up, ["What of Ghent?", "What of Bruges?", QUESTION]);
    // The page is one of the question's.
    assert_eq!(done.tools.followed_up, ["What of Ghent?", "What of Bruges?"]);
    // Numbers are given as sources are met, and kept.
    assert_eq!(done.read(), ["2", "1", "3"]);
    assert!(done.system(0).contains("at most 4"));
    assert_eq!(
        done.user(1),
        format!("{}\n\n{}", sources(&[(1, 2), (2, 1)]), asks("What of Ghent?"))
    );
    let first = "Question: What of Ghent?\nAnswer: It grinds [1].";
    assert_eq!(
        done.user(2),
        format!(
            "{}\n\n{}\n\n{}",
            sources(&[(3, 3), (1, 2)]),
            notes(&[first]),
            asks("What of Bruges?")
        )
    );
    // The second had not seen source 2, whose number it cites.
    let second = "Question: What of Bruges?\nAnswer: It saws, Ghent grinds [1].";
    assert_eq!(
        done.user(3),
        format!(
            "{}\n\n{}\n\n{}",
            sources(&[(1, 2), (2, 1)]),
            notes(&[first, second]),
            asks(QUESTION)
        )
    );
}

#[test]
fn parts_are_asked_at_once() {
    let says = [
        "What of Ghent?\nWhat of Bruges?",
        "It grinds [1].",
        "It saws [3].",
        "They differ [1][3].",
    ];
    let given = json!({"sub_questions": 2});
    let done = run_with("decompose_parallel", QUESTION, given, scripted(&FINDS, &says));
    assert_eq!(done.steps(), ["decompose", "sub_answer+sub_answer", "answer"]);
    assert_eq!(
        done.user(2),
        format!("{}\n\n{}", sources(&[(3, 3), (1, 2)]), asks("What of Bruges?"))
    );
    assert_eq!(
        done.user(3),
        format!(
            "{}\n\n{}\n\n{}",
            sources(&[(1, 2), (2, 1), (3, 3)]),
            notes(&[
                "Question: What of Ghent?\nAnswer: It grinds [1].",
                "Question: What of Bruges?\nAnswer: It saws [3].",
            ]),
            asks(QUESTION)
        )
    );
    assert_eq!(done.text(), "They differ [1][3].");
}

#[test]
fn a_simple_question_is_asked_as_it_is() {
    for name in ["decompose_sequential", "decompose_parallel"] {
        let done = ask(name, json!({}), &[1], &[QUESTION, "A [1]."]);
        assert_eq!(done.steps(), ["decompose", "answer"], "{name}");
        assert_eq!(done.user(1), format!("{}\n\n{}", sources(&[(1, 1)]), asks(QUESTION)));
        let done = ask(name, json!({"budget": {"calls": 1}}), &[1], &["A [1]."]);
        assert_eq!((done.text(), done.stopped_by()), ("A [1].", "calls"), "{name}");
    }
}

#[test]
fn without_room_for_the_question_its_parts_are_the_answer() {
    let mut tools =
        scripted(&FINDS, &["What of Ghent?\nWhat of Bruges?", "It grinds [1].", "It saws [3]."]);
    tools.tokens = (500, 20);
    let given = json!({"budget": {"tokens": 1700}});
    let done = run_with("decompose_parallel", QUESTION, given, tools);
    assert_eq!((done.text(), done.stopped_by()), ("It grinds [1].\n\nIt saws [3].", "tokens"));
}

#[test]
fn what_prepares_an_answer_leaves_room_for_its_examples() {
    let steps = |examples: Vec<String>, says: &[&'static str]| {
        let mut tools = scripted(&FINDS, says);
        tools.examples = examples;
        let given = json!({"budget": {"tokens": 4000}});
        run_with("decompose_sequential", QUESTION, given, tools).steps()
    };
    let says = [QUESTION, "It grinds [1]."];
    assert_eq!(steps(Vec::new(), &says), ["decompose", "answer"]);
    let example = "Question: What of Bruges?\nAnswer: It saws. ".to_owned();
    assert_eq!(steps(vec![example.clone()], &says), ["decompose", "answer"]);
    assert!(steps(vec![example.repeat(400)], &[]).is_empty());
}

#[test]
fn reasoning_is_looked_up_sentence_by_sentence() {
    let says = [
        "The mill of Ghent grinds corn [1]. It is old.",
        "The mill of Bruges saws wood.",
        "So the answer is corn and wood [1][3].",
        "Corn [1] and wood [3].",
    ];
    let finds: [(&str, &[u32]); 3] = [
        (QUESTION, &[1]),
        ("The mill of Ghent grinds corn [1].", &[2, 1]),
        ("The mill of Bruges saws wood.", &[3]),
    ];
    let done = run_with("ircot", QUESTION, json!({}), scripted(&finds, &says));
    assert_eq!(done.steps(), ["reason", "reason", "reason", "answer"]);
    assert_eq!(done.tools.looked_up.len(), 3);
    assert_eq!(done.user(0), format!("{}\n\n{}", sources(&[(1, 1)]), asks(QUESTION)));
    let thoughts = ["The mill of Ghent grinds corn [1].", "The mill of Bruges saws wood.", says[2]];
    for (call, known) in [(1, 2), (2, 3), (3, 3)] {
        let numbered: Vec<(usize, u32)> = (1..=known).map(|n| (n, n as u32)).collect();
        assert_eq!(
            done.user(call),
            format!("{}\n\n{}\n\n{}", sources(&numbered), notes(&thoughts[..call]), asks(QUESTION))
        );
    }
    assert!(done.system(2).contains("So the answer is"));
    assert!(
        done.system(3).starts_with("You answer a question from numbered sources and from notes")
    );
    assert_eq!(done.text(), "Corn [1] and wood [3].");
}

#[test]
fn reasoning_ends() {
    // With the rounds, with a sentence that was said before, with the budget.
    let done = ask("ircot", json!({"rounds": 1}), &[1], &["A is b.", "B [1]."]);
    assert_eq!(done.steps(), ["reason", "answer"]);
    let done = ask("ircot", json!({}), &[1], &["A is b.", "A is b.", "B [1]."]);
    assert_eq!(done.steps(), ["reason", "reason", "answer"]);
    let done = ask("ircot", json!({"budget": {"calls": 2}}), &[1], &["A is b.", "B [1]."]);
    assert_eq!((done.text(), done.stopped_by()), ("B [1].", "calls"));
    let done = ask("ircot", json!({"rounds": 1}), &[], &["A is b."]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
}
