//! Replies that are kept, and calls that are not made for it.

use super::*;

/// Tools that remember what `before` has kept, find `documents` and say `says`.
fn after(before: Done, documents: &[u32], says: &[&'static str]) -> Scripted {
    Scripted { kept: before.tools.kept, ..scripted(&[(QUESTION, documents)], says) }
}

fn global(given: Value, tools: Scripted) -> Done {
    run_with("global", QUESTION, given, tools)
}

/// An answer from three communities, of a document each.
fn first() -> Done {
    let says = ["A [1].", NO_ANSWER, "C [3].", "All [1][3]."];
    ask("global", json!({}), &[7, 8, 9], &says)
}

#[test]
fn a_question_that_was_asked_before_costs_nothing() {
    let again = global(json!({}), after(first(), &[7, 8, 9], &[]));
    assert_eq!((again.text(), again.outcome.supported), ("All [1][3].", true));
    assert_eq!((&again.outcome.usage["calls"], again.read()), (&json!(0), first().read()));
    // So where one call was all.
    let one = ask("global", json!({}), &[5], &["A [1]."]);
    assert_eq!(global(json!({}), after(one, &[5], &[])).text(), "A [1].");
    // An answer that was not is not one later.
    let none = ask("global", json!({}), &[5, 6], &[NO_ANSWER; 2]);
    let again = global(json!({}), after(none, &[5, 6], &[]));
    assert_eq!((again.text(), again.outcome.supported), (NO_ANSWER, false));
}

#[test]
fn only_what_is_new_is_asked_about() {
    let tools = after(first(), &[7, 6, 9], &["B [2].", "All [1][2][3]."]);
    let done = global(json!({}), tools);
    assert_eq!(
        (done.text(), done.steps()),
        ("All [1][2][3].", vec!["answer".into(), "merge".into()])
    );
    assert_eq!(done.user(0), format!("{}\n\n{}", sources(&[(2, 6)]), asks(QUESTION)));
    let told = notes(&["A [1].", "B [2].", "C [3]."]);
    assert_eq!(done.user(1), format!("{told}\n\n{}", asks(QUESTION)));
    // What is kept takes nothing of the budget.
    let tools = after(first(), &[7, 6, 9, 8], &["B [2].", "All [1][2]."]);
    let done = global(json!({"budget": {"calls": 2}}), tools);
    assert_eq!((done.text(), done.stopped_by()), ("All [1][2].", ""));
    // Another question is.
    let other = "What of Ghent?";
    let says = ["A [1].", "C [2].", "AC [1][2]."];
    let tools = Scripted { kept: first().tools.kept, ..scripted(&[(other, &[7, 9])], &says) };
    assert_eq!(run_with("global", other, json!({}), tools).text(), "AC [1][2].");
}

#[test]
fn a_reply_cites_by_the_numbers_that_its_sources_have_now() {
    let done = global(json!({}), after(first(), &[9, 8, 7], &["All [1][3]."]));
    assert_eq!(done.steps(), ["merge"]);
    assert_eq!(done.user(0), format!("{}\n\n{}", notes(&["C [1].", "A [3]."]), asks(QUESTION)));
    assert_eq!(done.read(), ["9", "8", "7"]);
}

#[test]
fn a_reply_is_kept_by_its_chunks_in_any_order() {
    let sources = |documents: &[u32]| -> Vec<Source> {
        documents.iter().map(|document| Source::Chunk(passage(*document, 1))).collect()
    };
    let call = |found: &[Source]| KeptCall::new(Vec::new(), vec![4, 2], found.iter());
    let mut found = sources(&[8, 7]);
    let known = call(&found).unwrap();
    assert_eq!((known.pipeline.as_str(), known.chunks.as_slice()), ("docs", &[7, 8][..]));
    assert_eq!(known.numbered, [8, 7]);
    assert_eq!(known.as_kept("A [2]. B [4][3]."), "A [2]. B [1].");
    assert_eq!(known.as_told("A [2]. B [1]."), "A [2]. B [4].");
    // Of what stands around a chunk, too.
    found[0] = Source::Chunk(Passage { parts: Box::new([3, 9]), ..passage(8, 1) });
    assert_eq!(call(&found).unwrap().chunks, [3, 7, 8, 9]);
    // Of other sources nobody would notice that they are gone.
    found[0] = Source::Chunk(Passage { pipeline: "other".to_owned(), ..passage(8, 1) });
    assert_eq!(call(&found), None);
    found[0] = Source::Chunk(Passage { shard: Some("srv.docs".into()), ..passage(8, 1) });
    assert_eq!(call(&found), None);
    assert_eq!((call(&one_of_each()), call(&[])), (None, None));
}

#[test]
fn nothing_is_kept_where_the_options_or_examples_say_so() {
    let given = || json!({"keep_replies": false});
    let says = ["A [1].", "B [2].", "AB [1][2]."];
    let off = global(given(), scripted(&[(QUESTION, &[7, 8])], &says));
    assert!(off.tools.kept.is_empty());
    // Nor is what was kept before looked up.
    let on = ask("global", json!({}), &[7, 8], &says);
    assert_eq!(on.tools.kept.len(), 3);
    assert_eq!(global(given(), after(on, &[7, 8], &says)).steps().len(), 2);
    let examples = vec!["Question: Q?\nAnswer: A.".to_owned()];
    let tools = Scripted { examples, ..scripted(&[(QUESTION, &[7, 8])], &says) };
    assert!(global(json!({}), tools).tools.kept.is_empty());
    let done = ask("tree_summarize", json!({"group_size": 1}), &[7, 8], &says);
    assert!(done.tools.kept.is_empty());
}

#[test]
fn a_dry_run_counts_the_calls_that_are_left() {
    let check = |documents: &[u32], expected: usize| {
        let mut tools = after(first(), documents, &[]);
        let kept = tools.kept.len();
        let strategy = named(Some("global")).unwrap();
        let none = StrategyOptions::default();
        assert_eq!(calls_left(strategy, QUESTION, &none, &mut tools).unwrap(), expected);
        assert_eq!((tools.asked.len(), tools.kept.len()), (0, kept), "{documents:?}");
    };
    check(&[7, 8, 9], 0);
    check(&[7, 6, 9], 2);
    check(&[9, 8, 7], 1);
    check(&[5, 6], 3);
    check(&[5], 1);
    check(&[7], 0);
}

#[test]
fn a_merge_is_kept_whose_answer_is_put_into_a_form() {
    let formed = |before: Done, says: &[&'static str]| {
        let form = Some(AnswerForm::of(serde_json::Map::new()));
        global(json!({}), Scripted { form, ..after(before, &[7, 8], says) })
    };
    let none = ask("global", json!({}), &[], &[]);
    let first = formed(none, &["A [1].", "B [2].", "AB [1][2].", "{}"]);
    assert_eq!(first.steps(), ["answer+answer", "merge", "form"]);
    assert_eq!(first.tools.kept.len(), 3);
    assert_eq!(formed(first, &["{}"]).steps(), ["form"]);
}
