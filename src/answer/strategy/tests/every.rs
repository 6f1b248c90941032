//! The simplest strategy, and what holds for every other one.

use super::*;

#[test]
fn compact_asks_once() {
    let done = ask("compact", json!({}), &[7, 9], &[" Both grind [1][2]. "]);
    assert_eq!(done.text(), "Both grind [1][2].");
    assert_eq!(done.steps(), ["answer"]);
    assert_eq!(done.user(0), format!("{}\n\n{}", sources(&[(1, 7), (2, 9)]), asks(QUESTION)));
    assert!(done.system(0).starts_with("You answer a question from numbered sources"));
    assert_eq!(done.read(), ["7", "9"]);
    assert!(done.outcome.supported);
    assert_eq!(
        done.outcome.usage,
        json!({
            "strategy": "compact", "calls": 1, "steps": [{"step": "answer", "calls": 1}],
            "prompt_tokens": 100, "completion_tokens": 10, "finish_reason": "stop", "attempts": 1,
        })
    );
}

#[test]
fn where_nothing_is_found_nobody_is_asked() {
    let sure = json!({"always_retrieve": true});
    for (name, given) in [
        ("auto", json!({})),
        ("compact", json!({})),
        ("refine", json!({})),
        ("tree_summarize", json!({})),
        ("simple_summarize", json!({})),
        ("map_rerank", json!({})),
        ("self_rag", sure),
    ] {
        let done = ask(name, given, &[], &[]);
        assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false), "{name}");
        assert_eq!(done.outcome.usage["calls"], 0, "{name}");
    }
}

#[test]
fn auto_is_compact_unless_there_is_a_reason() {
    let chosen = |done: &Done| done.outcome.usage["strategy"].as_str().unwrap().to_owned();
    let done = ask("auto", json!({}), &[1, 2], &["A [1]."]);
    assert_eq!(chosen(&done), "compact");
    assert_eq!(done.tools.looked_up.len(), 1);
    let many: Vec<u32> = (1..=21).collect();
    let done = ask("auto", json!({"group_size": 20}), &many, &["A [1].", "B [21].", "C [1][21]."]);
    assert_eq!(
        (chosen(&done), done.steps()),
        ("tree_summarize".to_owned(), vec!["answer+answer".to_owned(), "merge".to_owned()])
    );
    assert_eq!(done.tools.looked_up.len(), 1);
    let done = ask("auto", json!({"budget": {"calls": 2}}), &many, &["A [1]."]);
    assert_eq!(chosen(&done), "compact");
    let two = "Who? And when?";
    let tools = scripted(&[(two, &[1])], &["Who was it?", "Eve [1]."]);
    let done = run_with("auto", two, json!({}), tools);
    assert_eq!(chosen(&done), "decompose_parallel");
}

#[test]
fn a_preview_is_the_first_prompt_and_asks_nobody() {
    for strategy in ALL {
        let mut tools = scripted(&[(QUESTION, &[1, 2])], &[]);
        let given = options(json!({}));
        let shown = preview(strategy, QUESTION, &given, &mut tools).unwrap();
        assert!(tools.asked.is_empty());
        let says: Vec<&'static str> = vec![QUESTION; 99];
        let mut tools = scripted(&[(QUESTION, &[1, 2])], &says);
        run(strategy, QUESTION, &given, &mut tools).unwrap();
        assert_eq!(shown, tools.asked[0].2, "{}", strategy.name);
        let mut tools = scripted(&[], &[]);
        assert!(
            !preview(strategy, QUESTION, &given, &mut tools).unwrap().is_empty()
                || strategy.name == "map_rerank"
        );
    }
}

#[test]
fn whatever_a_model_says_the_budget_holds() {
    for strategy in ALL {
        for calls in [1, 2, 3, 5] {
            for said in ["", "no", "yes", "1: 9\n2: 1", "A [1].\nB [7]?", "So the answer is b [1]."]
            {
                let given = options(json!({"budget": {"calls": calls}}));
                let mut tools = scripted(
                    &[(QUESTION, &[1, 2, 3, 4, 5, 6, 7]), ("A [1].", &[8])],
                    &vec![said; 99],
                );
                let outcome = run(strategy, QUESTION, &given, &mut tools).unwrap();
                let name = strategy.name;
                assert!(tools.asked.len() <= calls, "{name} {calls} {said}");
                assert!(!outcome.text.is_empty(), "{name} {calls} {said}");
                assert_eq!(outcome.usage["calls"], tools.asked.len());
            }
        }
    }
}

#[test]
fn what_goes_wrong_is_said_unless_the_time_is_over() {
    let failed = || Error::new(ErrorKind::ProviderFailed, "no");
    let late = || Error::new(ErrorKind::ProviderTimeout, "late");
    let strategy = named(Some("compact")).unwrap();
    for (error, budget, fails) in [
        (failed(), json!({}), true),
        (late(), json!({}), true),
        (failed(), json!({"seconds": 1}), true),
        (late(), json!({"seconds": 1}), false),
        (late(), json!({"seconds": 9}), true),
    ] {
        let mut tools = scripted(&[(QUESTION, &[1])], &[]);
        tools.says.push_back(Err(error));
        tools.takes_ms = 1000;
        let given = options(json!({"budget": budget}));
        let outcome = run(strategy, QUESTION, &given, &mut tools);
        assert_eq!(outcome.is_err(), fails, "{budget}");
        if let Ok(outcome) = outcome {
            assert_eq!((outcome.text.as_str(), outcome.supported), (NO_ANSWER, false));
            assert_eq!(outcome.usage["stopped_by"], "seconds");
        }
    }
}

#[test]
fn strategies_are_known_by_their_names() {
    assert_eq!(named(None).unwrap().name, "auto");
    for (place, strategy) in ALL.iter().enumerate() {
        assert_eq!(named(Some(strategy.name)).unwrap().name, strategy.name);
        assert!(!strategy.description.is_empty() && !strategy.calls.is_empty());
        assert!(ALL[..place].iter().all(|other| other.name != strategy.name));
    }
    let error = named(Some("compct")).err().unwrap();
    assert_eq!(error.message(), "unknown strategy \"compct\"");
    assert!(error.hint_text().unwrap().contains("auto, compact, refine, tree_summarize"));
}
