//! More than a call can read.

use super::*;

/// Words of a source as it is sent, and of a note of two words.
const SOURCE: usize = 13;
const NOTE: usize = 13;

/// A call can read so many words.
fn in_room(name: &str, given: Value, words: usize, mut tools: Scripted) -> Done {
    tools.room = Room { sources: Some(words), all: Some(words) };
    run_with(name, QUESTION, given, tools)
}

/// The sources with the numbers from `first` to `last`, which are those of the documents.
fn range(first: u32, last: u32) -> String {
    sources(&(first..=last).map(|n| (n as usize, n)).collect::<Vec<_>>())
}

#[test]
fn a_tree_shows_every_chunk_though_no_call_can_read_all() {
    let found: Vec<u32> = (1..=40).collect();
    let leaves = ["A [1].", "B [7].", "C [13].", "D [19].", "E [25].", "F [31].", "G [37]."];
    let says = [&leaves[..], &["A-F [1].", "A-G [1][37]."]].concat();
    let tools = scripted(&[(QUESTION, &found)], &says);
    let done = in_room("tree_summarize", json!({"group_size": 20}), 6 * SOURCE, tools);
    assert_eq!(done.text(), "A-G [1][37].");
    assert_eq!(done.tools.read_for, [ReadingCalls::Several]);
    assert_eq!(
        done.steps(),
        ["answer+answer+answer+answer+answer+answer+answer", "merge", "merge"]
    );
    for (call, first) in (1..=40).step_by(6).enumerate() {
        let shown = range(first, (first + 5).min(40));
        assert_eq!(done.user(call), format!("{shown}\n\n{}", asks(QUESTION)));
    }
    // Answers are merged as they fit, too.
    assert_eq!(NOTE, SOURCE);
    assert_eq!(done.user(7), format!("{}\n\n{}", notes(&leaves[..6]), asks(QUESTION)));
    assert_eq!(done.user(8), format!("{}\n\n{}", notes(&["A-F [1].", leaves[6]]), asks(QUESTION)));
    assert_eq!(done.read().len(), 40);
}

#[test]
fn answers_that_are_too_long_to_be_merged_are_cut_at_a_sentence() {
    let long: &'static str = Box::leak("It grinds corn. ".repeat(20).into_boxed_str());
    let tools = scripted(&[(QUESTION, &[1, 2])], &[long, "Bruges [2].", "Both [2]."]);
    let done = in_room("tree_summarize", json!({"group_size": 1}), 60, tools);
    assert_eq!((done.text(), done.steps().len()), ("Both [2].", 2));
    let first = format!("{}[...]", "It grinds corn. ".repeat(11));
    assert_eq!(done.user(2), format!("{}\n\n{}", notes(&[&first, "Bruges [2]."]), asks(QUESTION)));
}

#[test]
fn refine_shows_fewer_chunks_beside_its_draft() {
    let says = ["Ghent [1].", "Bruges [4].", "All [1][4]."];
    let tools = scripted(&[(QUESTION, &[1, 2, 3, 4, 5, 6, 7])], &says);
    let done = in_room("refine", json!({"group_size": 4}), 3 * SOURCE, tools);
    assert_eq!(done.steps(), ["answer", "refine", "refine"]);
    assert_eq!(done.user(0), format!("{}\n\n{}", range(1, 3), asks(QUESTION)));
    for (call, first, draft) in [(1, 4, says[0]), (2, 6, says[1])] {
        let (draft, shown) = (notes(&[draft]), range(first, first + 1));
        let expected = format!("The answer so far:\n\n{draft}\n\n{shown}\n\n{}", asks(QUESTION));
        assert_eq!(done.user(call), expected);
    }
    assert_eq!(done.text(), says[2]);
}

#[test]
fn groups_of_answers_to_be_ranked_are_split() {
    let says = ["Ghent [1].\nScore: 10", "Bruges [3].\nScore: 20"];
    let tools = scripted(&[(QUESTION, &[1, 2, 3])], &says);
    let done = in_room("map_rerank", json!({"group_size": 3}), 2 * SOURCE, tools);
    assert_eq!((done.text(), done.steps()), ("Bruges [3].", vec!["answer+answer".to_owned()]));
    assert_eq!(done.user(0), format!("{}\n\n{}", range(1, 2), asks(QUESTION)));
    assert_eq!(done.user(1), format!("{}\n\n{}", range(3, 3), asks(QUESTION)));
}

#[test]
fn a_chunk_that_is_too_long_for_a_call_is_cut() {
    let says = ["1: 9", "Corn [1].", "support: fully\nuse: 4"];
    let mut tools = scripted(&[(QUESTION, &[1])], &says);
    tools.content = Some("Mills grind corn. ".repeat(50));
    let done = in_room("self_rag", json!({"always_retrieve": true}), 40, tools);
    let cut = |sentences: usize| {
        let shown = format!("{}[...]", "Mills grind corn. ".repeat(sentences));
        format!("<<<source 1 MARK>>>\n{shown}\n<<<end 1 MARK>>>\n\n")
    };
    for call in [0, 1] {
        assert_eq!(done.user(call), format!("{}{}", cut(9), asks(QUESTION)));
    }
    // The answer that is judged takes its share.
    let judged = format!("{}{}\n\n{}", cut(5), notes(&["Corn [1]."]), asks(QUESTION));
    assert_eq!(done.user(2), judged);
    assert_eq!(done.outcome.readings[0].shown.matches("Mills").count(), 50, "cited from all of it");
}

#[test]
fn corrective_shows_the_best_grades_that_fit() {
    let says = ["1: 6\n2: 7", "3: 9\n4: 8", "5: 0", "Flanders [3]."];
    let tools = scripted(&[(QUESTION, &[1, 2, 3, 4, 5])], &says);
    let done = in_room("corrective", json!({}), 2 * SOURCE, tools);
    assert_eq!(done.steps(), ["grade+grade+grade", "answer"]);
    assert_eq!(done.user(1), format!("{}\n\n{}", range(3, 4), asks(QUESTION)));
    assert_eq!(done.user(3), format!("{}\n\n{}", range(3, 4), asks(QUESTION)));
}

#[test]
fn shares_of_chunks_fit_the_window() {
    let mut tools = scripted(&[(QUESTION, &[1, 2, 3, 4])], &["A [1]."]);
    tools.content = Some("Mills grind corn. ".repeat(50));
    let done = in_room("simple_summarize", json!({}), 200, tools);
    let shown = done.user(0).split("Question:").next().unwrap();
    assert!((100..=200).contains(&words(shown)), "{}", words(shown));
    for number in 1..=4 {
        assert!(shown.contains(&format!("<<<source {number} MARK>>>\nMills grind corn.")));
    }
}

#[test]
fn what_several_searches_have_found_is_cut_to_a_call() {
    let says = ["What of Ghent?\nWhat of Bruges?", "It grinds [1].", "It saws [3].", "Both [1]."];
    let mut tools = scripted(&FINDS, &says);
    tools.room = Room { sources: Some(2 * SOURCE), all: Some(80) };
    let done = run_with("decompose_parallel", QUESTION, json!({}), tools);
    let found = [
        "Question: What of Ghent?\nAnswer: It grinds [1].",
        "Question: What of Bruges?\nAnswer: It saws [3].",
    ];
    let shown = sources(&[(1, 2), (2, 1)]);
    assert_eq!(done.user(3), format!("{shown}\n\n{}\n\n{}", notes(&found), asks(QUESTION)));
}

#[test]
fn where_not_a_word_fits_that_is_said() {
    for name in ["tree_summarize", "refine", "map_rerank", "corrective"] {
        let mut tools = scripted(&[(QUESTION, &[1, 2])], &[]);
        tools.room = Room { sources: Some(5), all: Some(5) };
        let given = options(json!({}));
        let error = run(named(Some(name)).unwrap(), QUESTION, &given, &mut tools).unwrap_err();
        assert_eq!(error.message(), "no context fits into 5 tokens", "{name}");
    }
}

#[test]
fn no_call_of_any_strategy_shows_more_than_it_can_read() {
    let long: &'static str = Box::leak("A is b [1]. ".repeat(30).into_boxed_str());
    let found: Vec<u32> = (1..=30).collect();
    for strategy in ALL {
        for (room, said) in
            [(40, "A [1]."), (60, long), (100, "1: 9\n2: 8"), (200, long), (500, "x")]
        {
            let mut tools = scripted(&[(QUESTION, &found), ("A [1].", &[31, 32])], &vec![said; 99]);
            tools.room = Room { sources: Some(room), all: Some(room) };
            // What is read for one call is cut to it before it is on the desk.
            if !strategy.reads_in_groups {
                tools.finds[0].1.truncate(2);
                tools.finds[1].1.truncate(2);
            }
            let given = options(json!({}));
            let outcome = run(strategy, QUESTION, &given, &mut tools).unwrap();
            let name = strategy.name;
            assert!(!outcome.text.is_empty(), "{name} {room}");
            for (_, step, prompt) in &tools.asked {
                let shown = prompt[1].content.split("Question:").next().unwrap();
                // "The answer so far:" and the like are part of the template.
                assert!(words(shown) <= room + 12, "{name} {step} {room}: {shown}");
            }
        }
    }
}
