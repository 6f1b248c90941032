use serde_json::json;

use super::*;
use crate::document::Part;

fn part(start: i32, text: &str) -> Part {
    let end = start + i32::try_from(text.chars().count()).unwrap();
    Part { start, end, heading: None, text: text.to_owned() }
}

#[test]
fn a_document_is_told_in_steps() {
    let parts = vec![part(0, "größer als alles"), part(20, "und mehr")];
    let parts = Document { parts, truncated: false };
    assert_eq!(told(&parts, 0, 100), "größer als alles\nund mehr\ntruncated: false");
    let mut start = 0;
    let mut texts = Vec::new();
    loop {
        let text = told(&parts, start, 3);
        let (text, end) = text.rsplit_once('\n').unwrap();
        texts.push(text.replace('\n', ""));
        match end.strip_prefix("truncated: true (go on with start_char ") {
            Some(next) => start = next.trim_end_matches(')').parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(texts.concat(), "größer als allesund mehr");
    assert_eq!(told(&parts, 1000, 10), "\ntruncated: false");
    assert!(told(&parts, i32::MIN, 100).ends_with("und mehr\ntruncated: false"));
    let beginning = Document { parts: vec![part(5, "nine")], truncated: true };
    assert_eq!(told(&beginning, 5, 100), "nine\ntruncated: true (go on with start_char 9)");
}

#[test]
fn an_answer_says_what_it_rests_on() {
    let details = json!({
        "answer": "At nine. [1]", "supported": true, "confidence": 0.9814, "needs_review": false,
        "citations": [
            {"marker": 1, "pipeline": "hours", "source_key": "a/b", "start_char": 0, "quote": "It opens\nat nine."},
            {"marker": 2, "position": 3, "unresolved": true},
        ],
    });
    let expected = "At nine. [1]\nsupported: true\tconfidence: 0.98\tneeds_review: false\n\
                    [1]\trag://hours/a%2Fb\tstart_char 0\tIt opens at nine.\ntruncated: false";
    assert_eq!(answered(&details, 500), expected);
}

#[test]
fn an_answer_that_is_too_long_is_cut_and_what_it_rests_on_stays() {
    let check = |answer: &str, quotes: usize, most: usize, missing: usize| {
        let quote = "words ".repeat(40);
        let citation = |n: usize| json!({"marker": n, "pipeline": "docs", "source_key": "2", "start_char": 0, "quote": quote});
        let citations: Vec<_> = (1..=quotes).map(citation).collect();
        let details = json!({
            "answer": answer, "supported": true, "confidence": 1, "needs_review": false, "citations": citations,
        });
        let text = answered(&details, most);
        let lines: Vec<_> = text.lines().collect();
        assert!(lines[0].starts_with(&answer[..9]), "{text}");
        assert!(lines[1].starts_with("supported: true"), "{text}");
        assert_eq!(lines.len(), quotes + 3, "{text}");
        assert!(text.contains(&format!("[{quotes}]\trag://docs/2\tstart_char 0\t")), "{text}");
        assert!(text.contains(&format!("truncated: true ({missing} left out or cut;")), "{text}");
        let (result, _) = text.rsplit_once('\n').unwrap();
        assert!(super::super::compact::tokens(result) <= most, "{text}");
    };
    let paragraph = "日本語の文".repeat(410);
    check(&paragraph, 1, 2000, 2);
    check(&paragraph, 1, 50, 2);
    check("A few words.", 3, 200, 1);
    check(&format!("{paragraph}\nNext."), 20, 2000, 21);
}

#[test]
fn a_row_is_cited_by_relation_and_key() {
    let check = |citation: Value, expected: &str| {
        let (place, quote) = source(&citation).unwrap();
        assert_eq!(place + &quote, expected);
    };
    check(
        json!({"marker": 1, "relation": "orders", "key": "17", "quote": "status: shipped\ntotal: 49.90"}),
        "[1]\torders\t17\tstatus: shipped total: 49.90",
    );
    check(json!({"marker": 2, "relation": "sacks", "quote": "120"}), "[2]\tsacks\t\t120");
    assert!(source(&json!({"marker": 3, "position": 4, "unresolved": true})).is_none());
}

#[test]
fn a_model_has_no_sql_run_by_a_strategy() {
    for strategy in OF_SQL {
        let refused = check_strategy(Some(strategy), false).unwrap_err();
        assert!(refused.message.contains(strategy) && refused.lines().contains("--sql"));
        assert!(check_strategy(Some(strategy), true).is_ok());
    }
    assert!(check_strategy(Some("compact"), false).is_ok());
    assert!(check_strategy(None, false).is_ok());
}

#[test]
fn arguments_that_do_not_fit_are_named() {
    let arguments = |value: Value| value.as_object().unwrap().clone();
    let unknown = read_arguments::<Search>(arguments(json!({"query": "a", "limit": 3})));
    assert!(unknown.err().unwrap().message.contains("limit"));
    let missing = read_arguments::<Open>(arguments(json!({})));
    assert!(missing.err().unwrap().message.contains("uri"));
    assert_eq!((room(None), room(Some(1)), room(Some(1_000_000))), (2000, 50, 20_000));
}
