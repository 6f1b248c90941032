//! Each strategy with a language model that says what a script wants, and what it was asked.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::*;
use crate::context::Reading;
use crate::context::budget::Room;
use crate::context::prompt::{NO_ANSWER, Source};
use crate::context::template::Template;
use crate::context::template::tests::shipped;
use crate::context::tokens::Counter;
use crate::context::tokens::tests::words;
use crate::retrieve::Passage;

const QUESTION: &str = "How do the mills of Ghent and Bruges differ?";

/// Finds what is written down for a query, says one thing after the other, and keeps what it was
/// asked.
struct Scripted {
    /// Queries and the documents that they find.
    finds: Vec<(&'static str, Vec<u32>)>,
    /// What stands in all documents, if they do not speak for themselves.
    content: Option<String>,
    says: VecDeque<Result<&'static str>>,
    looked_up: Vec<String>,
    /// Step and prompt of each call; calls that were made at once share a number.
    asked: Vec<(usize, &'static str, Vec<Message>)>,
    limits: Vec<Limits>,
    batches: usize,
    now_ms: u64,
    /// How long a batch of calls takes.
    takes_ms: u64,
    /// Tokens that each call says it has read and written.
    tokens: (u64, u64),
    /// Words that a call can read.
    room: Room,
    /// For how many calls each reading was.
    read_for: Vec<Calls>,
}

/// The text of a document.
fn content(document: u32) -> String {
    format!("Document {document} speaks.")
}

fn passage(document: u32, rank: usize) -> Passage {
    Passage {
        rank: rank as i32,
        score: 1.0,
        source_key: document.to_string(),
        chunk_id: i64::from(document),
        chunk_no: 0,
        content: content(document),
        start_char: 0,
        end_char: 20,
        heading: None,
        metadata: json!({}),
        similarity: None,
        dense_rank: None,
        lexical_rank: None,
        rerank_score: None,
    }
}

impl Tools for Scripted {
    fn retrieve(&mut self, query: &str) -> Result<Vec<Passage>> {
        self.looked_up.push(query.to_owned());
        let found = self.finds.iter().find(|(known, _)| *known == query);
        let documents = found.map(|(_, documents)| documents.clone()).unwrap_or_default();
        let passages = (1..).zip(documents).map(|(rank, document)| {
            let found = passage(document, rank);
            Passage { content: self.content.clone().unwrap_or(found.content), ..found }
        });
        Ok(passages.collect())
    }

    fn read(
        &mut self,
        _question: &str,
        passages: Vec<Passage>,
        calls: Calls,
    ) -> Result<Vec<Reading>> {
        self.read_for.push(calls);
        Ok(passages.into_iter().map(Reading::whole).collect())
    }

    fn room(&mut self, _question: &str) -> Result<Room> {
        Ok(self.room)
    }

    fn source(&self, reading: &Reading) -> Source {
        Source { content: reading.shown.clone(), ..Source::default() }
    }

    fn generate_all(
        &mut self,
        step: &'static str,
        prompts: Vec<Vec<Message>>,
        limits: Limits,
    ) -> Result<Vec<Result<Reply>>> {
        self.batches += 1;
        self.limits.push(limits);
        self.now_ms += self.takes_ms;
        let replies = prompts.into_iter().map(|prompt| {
            self.asked.push((self.batches, step, prompt));
            let text = self.says.pop_front().expect("a call that the script does not know")?;
            Ok(Reply {
                text: text.to_owned(),
                finish_reason: "stop".to_owned(),
                prompt_tokens: Some(self.tokens.0),
                completion_tokens: Some(self.tokens.1),
                attempts: 1,
            })
        });
        Ok(replies.collect())
    }

    fn answer_template(&mut self) -> Result<Template> {
        Ok(shipped("standard"))
    }

    fn template(&mut self, name: &str) -> Result<Template> {
        Ok(shipped(name))
    }

    fn nonce(&mut self) -> Result<String> {
        Ok("MARK".to_owned())
    }

    fn elapsed_ms(&self) -> u64 {
        self.now_ms
    }
}

impl Counter for Scripted {
    fn count(&mut self, texts: &[String]) -> Result<Vec<usize>> {
        Ok(texts.iter().map(|text| words(text)).collect())
    }
}

/// What came of it.
struct Done {
    outcome: Outcome,
    tools: Scripted,
}

fn scripted(finds: &[(&'static str, &[u32])], says: &[&'static str]) -> Scripted {
    Scripted {
        finds: finds.iter().map(|(query, found)| (*query, found.to_vec())).collect(),
        content: None,
        says: says.iter().map(|text| Ok(*text)).collect(),
        looked_up: Vec::new(),
        asked: Vec::new(),
        limits: Vec::new(),
        batches: 0,
        now_ms: 0,
        takes_ms: 0,
        tokens: (100, 10),
        room: Room::default(),
        read_for: Vec::new(),
    }
}

/// Answers `question`, with all calls.
fn run(
    strategy: &dyn Strategy,
    question: &str,
    options: &StrategyOptions,
    tools: &mut dyn Tools,
) -> Result<Outcome> {
    let pending = match begin(strategy, question, options, tools)? {
        Begun::Done(outcome) => return Ok(outcome),
        Begun::Asking(pending) => pending,
    };
    let begun = tools.elapsed_ms();
    let prompts = vec![pending.prompt.clone()];
    let mut replies = tools.generate_all(pending.step, prompts, pending.limits)?;
    let reply = replies.pop().expect("a reply");
    pending.finish(reply, "", tools.elapsed_ms() - begun)
}

fn options(options: Value) -> StrategyOptions {
    serde_json::from_value(options).unwrap()
}

fn run_with(name: &str, question: &str, given: Value, mut tools: Scripted) -> Done {
    let strategy = named(Some(name)).unwrap();
    let given = options(given);
    given.check(strategy).unwrap();
    let outcome = run(strategy, question, &given, &mut tools).unwrap();
    assert!(tools.says.is_empty(), "{} calls were not made", tools.says.len());
    Done { outcome, tools }
}

/// `documents` are found for [`QUESTION`].
fn ask(name: &str, given: Value, documents: &[u32], says: &[&'static str]) -> Done {
    run_with(name, QUESTION, given, scripted(&[(QUESTION, documents)], says))
}

impl Done {
    fn text(&self) -> &str {
        &self.outcome.text
    }

    /// Steps of the calls, those made at once joined by +.
    fn steps(&self) -> Vec<String> {
        let mut steps: Vec<(usize, String)> = Vec::new();
        for (batch, step, _) in &self.tools.asked {
            match steps.last_mut() {
                Some((last, joined)) if last == batch => *joined += &format!("+{step}"),
                _ => steps.push((*batch, (*step).to_owned())),
            }
        }
        steps.into_iter().map(|(_, step)| step).collect()
    }

    fn system(&self, call: usize) -> &str {
        &self.tools.asked[call].2[0].content
    }

    fn user(&self, call: usize) -> &str {
        let messages = &self.tools.asked[call].2;
        assert_eq!(messages.len(), 2);
        assert_eq!((messages[0].role.as_str(), messages[1].role.as_str()), ("system", "user"));
        &messages[1].content
    }

    /// Keys of what was read, in the order of the numbers.
    fn read(&self) -> Vec<&str> {
        self.outcome.readings.iter().map(|one| one.passage.source_key.as_str()).collect()
    }

    fn stopped_by(&self) -> &str {
        self.outcome.usage["stopped_by"].as_str().unwrap_or("")
    }
}

/// Sources as a prompt shows them: number and document.
fn sources(numbered: &[(usize, u32)]) -> String {
    let one = |(number, document): &(usize, u32)| {
        format!("<<<source {number} MARK>>>\n{}\n<<<end {number} MARK>>>", content(*document))
    };
    numbered.iter().map(one).collect::<Vec<_>>().join("\n\n")
}

fn notes(texts: &[&str]) -> String {
    let one = |(number, text): (usize, &&str)| {
        format!("<<<note {number} MARK>>>\n{text}\n<<<end note {number} MARK>>>")
    };
    (1..).zip(texts).map(one).collect::<Vec<_>>().join("\n\n")
}

fn asks(question: &str) -> String {
    format!("Question: {question}")
}

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
fn refine_shows_group_after_group() {
    let says = ["Ghent grinds [1].", "Ghent grinds [1], Bruges saws [3].", NO_ANSWER];
    let done = ask("refine", json!({"group_size": 2}), &[5, 6, 7, 8, 9], &says);
    assert_eq!(done.text(), says[1], "the last group had nothing to add");
    assert_eq!(done.steps(), ["answer", "refine", "refine"]);
    assert_eq!(done.user(0), format!("{}\n\n{}", sources(&[(1, 5), (2, 6)]), asks(QUESTION)));
    assert_eq!(
        done.user(1),
        format!(
            "The answer so far:\n\n{}\n\n{}\n\n{}",
            notes(&[says[0]]),
            sources(&[(3, 7), (4, 8)]),
            asks(QUESTION)
        )
    );
    assert!(
        done.system(1).contains("<<<note N MARK>>>")
            && done.system(1).contains("<<<source N MARK>>>")
    );
    assert!(done.user(2).contains(says[1]) && done.user(2).contains("<<<source 5 MARK>>>"));
    assert_eq!(done.outcome.usage["steps"][1], json!({"step": "refine", "calls": 2}));
}

#[test]
fn refine_begins_anew_where_there_is_nothing_to_improve() {
    let says = [NO_ANSWER, "Bruges saws [2]."];
    let done = ask("refine", json!({"group_size": 1}), &[5, 6], &says);
    assert_eq!(done.steps(), ["answer", "answer"]);
    assert_eq!(done.user(1), format!("{}\n\n{}", sources(&[(2, 6)]), asks(QUESTION)));
    assert_eq!(done.text(), says[1]);
}

#[test]
fn refine_keeps_what_it_has_when_the_budget_is_spent() {
    let given = json!({"group_size": 1, "budget": {"calls": 2}});
    let done = ask("refine", given, &[5, 6, 7], &["One [1].", "Two [1][2]."]);
    assert_eq!((done.text(), done.stopped_by()), ("Two [1][2].", "calls"));
}

#[test]
fn a_tree_answers_groups_at_once_and_merges_level_by_level() {
    let says = ["A [1].", "B [3][1].", "C [6].", "A [1]. B [3].", "All [1][3][6]."];
    let done = ask("tree_summarize", json!({"group_size": 2}), &[11, 12, 13, 14, 15, 16], &says);
    assert_eq!(done.text(), "All [1][3][6].");
    assert_eq!(done.steps(), ["answer+answer+answer", "merge", "merge"]);
    assert_eq!(done.user(1), format!("{}\n\n{}", sources(&[(3, 13), (4, 14)]), asks(QUESTION)));
    // The second group never saw source 1.
    assert_eq!(done.user(3), format!("{}\n\n{}", notes(&["A [1].", "B [3]."]), asks(QUESTION)));
    assert!(!done.system(3).contains("<<<source N"), "{}", done.system(3));
    // The third answer had nobody to be merged with, and waited.
    assert_eq!(
        done.user(4),
        format!("{}\n\n{}", notes(&["A [1]. B [3].", "C [6]."]), asks(QUESTION))
    );
}

#[test]
fn a_tree_of_few_sources_is_one_call() {
    let done = ask("tree_summarize", json!({}), &[1, 2, 3, 4], &["A [1]."]);
    assert_eq!((done.text(), done.steps()), ("A [1].", vec!["answer".to_owned()]));
}

#[test]
fn a_tree_leaves_out_groups_that_do_not_know() {
    let says = [NO_ANSWER, "B [2].", NO_ANSWER];
    let done = ask("tree_summarize", json!({"group_size": 1}), &[1, 2, 3], &says);
    assert_eq!(done.text(), "B [2].");
    let done = ask("tree_summarize", json!({"group_size": 1}), &[1, 2], &[NO_ANSWER; 2]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
}

#[test]
fn a_tree_that_may_grow_no_more_gives_what_it_has() {
    let given = json!({"group_size": 1, "budget": {"calls": 3}});
    let done = ask("tree_summarize", given, &[1, 2, 3, 4], &["A [1].", "B [2].", "A [1], B [2]."]);
    assert_eq!(done.steps(), ["answer+answer", "merge"]);
    assert_eq!((done.text(), done.stopped_by()), ("A [1], B [2].", "calls"));
    // The time is over when the leaves are there.
    let mut tools = scripted(&[(QUESTION, &[1, 2])], &["A [1].", "B [2]."]);
    tools.takes_ms = 1000;
    let given = json!({"group_size": 1, "budget": {"seconds": 1.0}});
    let done = run_with("tree_summarize", QUESTION, given, tools);
    assert_eq!((done.text(), done.stopped_by()), ("A [1].\n\nB [2].", "seconds"));
    assert_eq!(done.tools.limits[0].timeout_ms, Some(500));
}

#[test]
fn a_tree_without_room_for_groups_is_one_call() {
    let given = json!({"group_size": 1, "budget": {"calls": 1}});
    let done = ask("tree_summarize", given, &[1, 2, 3], &["All [1][3]."]);
    assert_eq!((done.text(), done.stopped_by()), ("All [1][3].", "calls"));
    assert!(done.user(0).contains("<<<source 3 MARK>>>"));
    // All sources do not fit, the first does.
    let mut tools = scripted(&[(QUESTION, &[1, 2, 3])], &["A [1]."]);
    tools.content = Some("x".repeat(2000));
    let given = json!({"group_size": 1, "budget": {"tokens": 1100, "calls": 1}});
    let done = run_with("tree_summarize", QUESTION, given, tools);
    assert_eq!(done.text(), "A [1].");
    assert_eq!(done.user(0).matches("<<<source").count(), 1);
}

#[test]
fn simple_summarize_cuts_each_source() {
    let done = ask("simple_summarize", json!({"source_tokens": 50}), &[1, 2], &["A [1]."]);
    assert_eq!(done.user(0), format!("{}\n\n{}", sources(&[(1, 1), (2, 2)]), asks(QUESTION)));
    let long = "Mills grind corn. ".repeat(50);
    let mut tools = scripted(&[(QUESTION, &[1])], &["A [1]."]);
    tools.content = Some(long.clone());
    let done = run_with("simple_summarize", QUESTION, json!({"source_tokens": 50}), tools);
    assert_eq!(done.user(0).matches("Mills grind corn.").count(), 11, "{}", done.user(0));
    assert_eq!(done.outcome.readings[0].passage.content, long, "cited from all of it");
}

#[test]
fn map_rerank_takes_the_surest() {
    let says = [
        "Ghent [1].\nScore: 40",
        "Bruges [2][1].\nScore: 90",
        "I don't know: the sources do not say.\nScore: 0",
    ];
    let done = ask("map_rerank", json!({}), &[4, 5, 6], &says);
    assert_eq!(done.text(), "Bruges [2].");
    assert_eq!(done.steps(), ["answer+answer+answer"]);
    assert_eq!(done.user(2), format!("{}\n\n{}", sources(&[(3, 6)]), asks(QUESTION)));
    assert!(done.system(0).contains("\"Score: N\""));
    let done = ask("map_rerank", json!({"group_size": 2}), &[4, 5], &["A [1].\nScore: 1"]);
    assert_eq!(done.text(), "A [1].");
    let done = ask("map_rerank", json!({}), &[4], &["Score: 100"]);
    assert_eq!((done.text(), done.outcome.supported), (NO_ANSWER, false));
}

const FINDS: [(&str, &[u32]); 3] =
    [(QUESTION, &[1]), ("What of Ghent?", &[2, 1]), ("What of Bruges?", &[3, 2])];

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
        assert_eq!(shown, tools.asked[0].2, "{}", strategy.name());
        let mut tools = scripted(&[], &[]);
        assert!(
            !preview(strategy, QUESTION, &given, &mut tools).unwrap().is_empty()
                || strategy.name() == "map_rerank"
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
                let name = strategy.name();
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
    assert_eq!(named(None).unwrap().name(), "auto");
    for (place, strategy) in ALL.iter().enumerate() {
        assert_eq!(named(Some(strategy.name())).unwrap().name(), strategy.name());
        assert!(!strategy.description().is_empty() && !strategy.calls().is_empty());
        assert!(ALL[..place].iter().all(|other| other.name() != strategy.name()));
    }
    let error = named(Some("compct")).err().unwrap();
    assert_eq!(error.message(), "unknown strategy \"compct\"");
    assert!(error.hint_text().unwrap().contains("auto, compact, refine, tree_summarize"));
}

// More than a call can read.

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
    assert_eq!(done.tools.read_for, [Calls::Several]);
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
            if !strategy.reads_in_groups() {
                tools.finds[0].1.truncate(2);
                tools.finds[1].1.truncate(2);
            }
            let given = options(json!({}));
            let outcome = run(strategy, QUESTION, &given, &mut tools).unwrap();
            let name = strategy.name();
            assert!(!outcome.text.is_empty(), "{name} {room}");
            for (_, step, prompt) in &tools.asked {
                let shown = prompt[1].content.split("Question:").next().unwrap();
                // "The answer so far:" and the like are part of the template.
                assert!(words(shown) <= room + 12, "{name} {step} {room}: {shown}");
            }
        }
    }
}

// The call that makes the answer.

fn begun(name: &str, given: Value, tools: &mut Scripted) -> Begun {
    begin(named(Some(name)).unwrap(), QUESTION, &options(given), tools).unwrap()
}

#[test]
fn the_call_that_makes_the_answer_is_left_to_the_caller() {
    let many = [QUESTION; 99];
    for (name, calls, step) in [
        ("compact", 0, "answer"),
        ("simple_summarize", 0, "answer"),
        ("refine", 1, "refine"),
        ("tree_summarize", 2, "merge"),
        ("decompose_sequential", 1, "answer"),
        ("decompose_parallel", 1, "answer"),
        ("ircot", 2, "answer"),
        ("corrective", 1, "answer"),
    ] {
        let mut tools = scripted(&[(QUESTION, &[1, 2, 3, 4, 5])], &many);
        let Begun::Asking(pending) = begun(name, json!({}), &mut tools) else { panic!("{name}") };
        assert_eq!((tools.asked.len(), pending.step), (calls, step), "{name}");
        assert_eq!(pending.is_only_call(), name == "compact");
        let reply = Reply { text: " Last [1]. ".to_owned(), ..Reply::default() };
        let outcome = pending.finish(Ok(reply), "", 0).unwrap();
        assert_eq!(
            (outcome.text.as_str(), &outcome.usage["calls"]),
            ("Last [1].", &json!(calls + 1))
        );
    }
    for name in ["map_rerank", "self_rag"] {
        let mut tools = scripted(&[(QUESTION, &[1])], &many);
        assert!(matches!(begun(name, json!({}), &mut tools), Begun::Done(_)), "{name}");
    }
}

#[test]
fn an_answer_that_time_cuts_short_is_what_was_told() {
    for (told, expected) in [("Half of ", "Half of"), (" ", NO_ANSWER)] {
        let mut tools = scripted(&[(QUESTION, &[1])], &[]);
        let given = json!({"budget": {"seconds": 1}});
        let Begun::Asking(pending) = begun("compact", given, &mut tools) else { panic!() };
        assert_eq!(pending.limits.timeout_ms, Some(1000));
        let late = || Err(Error::new(ErrorKind::ProviderTimeout, "late"));
        assert!(pending.clone().finish(late(), told, 999).is_err());
        let outcome = pending.finish(late(), told, 1000).unwrap();
        assert_eq!(
            (outcome.text.as_str(), &outcome.usage["stopped_by"]),
            (expected, &json!("seconds"))
        );
    }
}

#[test]
fn auto_looks_up_and_reads_once() {
    let many: Vec<u32> = (1..=21).collect();
    for (found, reading) in [(&many[..2], Calls::One), (&many[..], Calls::Several)] {
        let mut tools = scripted(&[(QUESTION, found)], &["A [1]."; 9]);
        let Begun::Asking(pending) = begun("auto", json!({}), &mut tools) else { panic!() };
        assert_eq!((tools.looked_up.len(), &tools.read_for), (1, &vec![reading]));
        assert_eq!(pending.is_only_call(), reading == Calls::One);
    }
}
