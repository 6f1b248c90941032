use serde_json::json;

use super::*;
use crate::prompt::template::tests::shipped;
use crate::prompt::writer::Writer;

const QUESTION: &str = "How do the mills of Ghent and Bruges differ?";

/// Says one thing after the other, and keeps what it was asked.
struct Scripted {
    says: Vec<&'static str>,
    asked: Vec<Vec<Message>>,
}

impl Writer for Scripted {
    fn write(&mut self, messages: &[Message]) -> Result<String> {
        self.asked.push(messages.to_vec());
        Ok(self.says.remove(0).to_owned())
    }
}

struct Done {
    rewriting: Rewriting,
    asked: Vec<Vec<Message>>,
}

/// Knows the columns lang and year, and no value of lang but en.
fn check_filter(filter: &Json) -> Result<()> {
    let filter = filter.as_object().ok_or_else(|| Error::invalid("filter is not an object"))?;
    match filter.iter().find(|(name, value)| *name != "year" && **value != json!("en")) {
        None => Ok(()),
        Some((name, _)) => Err(Error::invalid(format!("no {name}")).hint("Use year.")),
    }
}

fn run(way: RewriteMethod, options: Json, says: &[&'static str]) -> Done {
    let options: RewriteOptions = serde_json::from_value(options).unwrap();
    let template = shipped(way.template().unwrap_or("multi_query"));
    let columns =
        [("lang", "text"), ("year", "integer")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    let task = RewriteTask {
        question: QUESTION,
        way,
        options: &options,
        template: &template,
        columns: &columns,
        today: "2024-12-31",
        check: &check_filter,
    };
    let mut writer = Scripted { says: says.to_vec(), asked: Vec::new() };
    let rewriting = rewrite(&task, &mut writer).unwrap();
    assert!(writer.says.is_empty(), "{} calls were not made", writer.says.len());
    Done { rewriting, asked: writer.asked }
}

fn texts(rewriting: &Rewriting) -> Vec<&str> {
    rewriting.lookups.iter().map(|lookup| lookup.text.as_str()).collect()
}

#[test]
fn variants_are_looked_up_beside_the_question() {
    for (way, merge) in
        [(RewriteMethod::MultiQuery, Merge::Union), (RewriteMethod::Fusion, Merge::Reciprocal)]
    {
        let Done { rewriting, asked } = run(way, json!({"n": 2}), &["1. One?\n2. Two?\n3. Three?"]);
        assert_eq!(texts(&rewriting), [QUESTION, "One?", "Two?"]);
        assert_eq!(rewriting.merge, merge);
        assert_eq!(asked.len(), 1);
        assert!(asked[0][0].content.contains("Write 2 other questions"));
        assert_eq!(asked[0][1].content, format!("Question: {QUESTION}"));
    }
}

#[test]
fn a_passage_moves_the_vector_and_not_the_words() {
    let Done { rewriting, asked } = run(RewriteMethod::Hyde, json!({}), &["Mills grind."]);
    assert_eq!(texts(&rewriting), [QUESTION]);
    assert_eq!(rewriting.lookups[0].passages, ["Mills grind."]);
    assert!(
        asked[0][0].content.contains("Write a passage of") && !asked[0][0].content.contains("---")
    );
    let Done { rewriting, asked } = run(RewriteMethod::Hyde, json!({"n": 2}), &["A.\n---\nB."]);
    assert_eq!(rewriting.lookups[0].passages, ["A.", "B."]);
    assert!(asked[0][0].content.contains("Write 2 different passages"));
}

#[test]
fn the_general_question_has_examples() {
    let Done { rewriting, asked } =
        run(RewriteMethod::StepBack, json!({}), &["How do mills differ?"]);
    assert_eq!(texts(&rewriting), [QUESTION, "How do mills differ?"]);
    assert_eq!(rewriting.merge, Merge::Reciprocal);
    let roles: Vec<&str> = asked[0].iter().map(|message| message.role.as_str()).collect();
    assert_eq!(roles.len(), 10);
    assert_eq!(roles[..4], ["system", "user", "assistant", "user"]);
    assert_eq!(asked[0][9].content, format!("Question: {QUESTION}"));
}

#[test]
fn parts_keep_their_shares() {
    let Done { rewriting, .. } = run(
        RewriteMethod::Decompose,
        json!({}),
        &["What of the mill of Ghent?\nWhat of that of Bruges?"],
    );
    assert_eq!(
        texts(&rewriting),
        [QUESTION, "What of the mill of Ghent?", "What of that of Bruges?"]
    );
    assert_eq!(rewriting.merge, Merge::Shares);
    assert_eq!(
        run(RewriteMethod::Decompose, json!({}), &[QUESTION]).rewriting,
        Rewriting::none(QUESTION)
    );
}

#[test]
fn what_is_of_no_use_leaves_the_question_as_it_is() {
    for way in [
        RewriteMethod::MultiQuery,
        RewriteMethod::Fusion,
        RewriteMethod::Hyde,
        RewriteMethod::StepBack,
    ] {
        for nonsense in ["", "\n\n", "```\n```", "?!"] {
            let Done { rewriting, .. } = run(way, json!({}), &[nonsense]);
            assert_eq!(texts(&rewriting), [QUESTION], "{way:?} {nonsense:?}");
            assert!(rewriting.lookups[0].passages.is_empty());
            assert!(rewriting.remark.unwrap().contains("looked up as it is"));
        }
    }
}

#[test]
fn a_filter_is_read() {
    let answer = "```json\n{\"query\": \"mills\", \"filter\": {\"year\": {\"gte\": 2020}}}\n```";
    let Done { rewriting, asked } = run(RewriteMethod::SelfQuery, json!({}), &[answer]);
    assert_eq!(texts(&rewriting), ["mills"]);
    assert_eq!(rewriting.filter, Some(json!({"year": {"gte": 2020}})));
    let system = &asked[0][0].content;
    for part in ["- lang (text)\n- year (integer)\n", "Today is 2024-12-31"] {
        assert!(system.contains(part), "{system}");
    }
    for answer in ["{}", "{\"filter\": {}}", "{\"query\": \" \", \"filter\": null}"] {
        let Done { rewriting, .. } = run(RewriteMethod::SelfQuery, json!({}), &[answer]);
        assert_eq!(rewriting, Rewriting::none(QUESTION), "{answer}");
    }
}

#[test]
fn a_wrong_filter_is_repaired_once() {
    let good = "{\"query\": \"mills\", \"filter\": {\"lang\": \"en\"}}";
    for bad in [
        "{\"query\": \"mills\", \"filter\": {\"colour\": 1}}",
        "{\"query\": \"mills\", \"filter\": [1]}",
        "{\"sql\": \"DROP TABLE docs\"}",
        "I cannot do that.",
        "[1]",
        "",
    ] {
        let Done { rewriting, asked } = run(RewriteMethod::SelfQuery, json!({}), &[bad, good]);
        assert_eq!(rewriting.filter, Some(json!({"lang": "en"})), "{bad}");
        assert_eq!(asked[1].len(), 4);
        assert_eq!((asked[1][2].role.as_str(), asked[1][2].content.as_str()), ("assistant", bad));
        assert!(asked[1][3].content.starts_with("That cannot be used: "));

        let Done { rewriting, .. } = run(RewriteMethod::SelfQuery, json!({}), &[bad, bad]);
        assert_eq!((texts(&rewriting), &rewriting.filter), (vec![QUESTION], &None));
        assert!(rewriting.remark.unwrap().contains("without one"), "{bad}");

        let Done { asked, .. } = run(RewriteMethod::SelfQuery, json!({"max_calls": 1}), &[bad]);
        assert_eq!(asked.len(), 1);
    }
}

#[test]
fn feedback_asks_nobody() {
    let Done { rewriting, asked } = run(RewriteMethod::Prf, json!({}), &[]);
    assert_eq!(texts(&rewriting), [QUESTION]);
    assert!(asked.is_empty());
}

#[test]
fn ways_are_known_by_their_names() {
    for (name, way) in RewriteMethod::ALL {
        assert_eq!(RewriteMethod::named(name).unwrap(), Some(way));
        assert_eq!(way.name(), name);
    }
    let error = RewriteMethod::named("hide").unwrap_err();
    assert_eq!(error.message(), "unknown rewrite \"hide\"");
    assert!(error.hint_text().unwrap().contains("none, multi_query, fusion, hyde"));
}
