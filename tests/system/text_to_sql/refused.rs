//! Questions that the tables cannot answer.

use serde_json::json;

use super::super::http_server::Reply;
use super::{ask, messages, query, start};

#[test]
fn a_model_may_be_asked_first_whether_there_is_a_query() {
    let says = |answerable: bool| Reply::chat(&json!({"answerable": answerable}).to_string());
    let script = [says(false), says(true), query("SELECT count(*) AS orders FROM orders")];
    let Some((_cluster, http, mut client)) = start(script) else { return };
    let answer = ask(&mut client, "What is the meaning of life?", "NULL", r#"{"screen": true}"#);
    assert_eq!((answer.sql, answer.rows, answer.attempts.len()), (None, None, 0));
    assert_eq!(answer.reason.as_deref(), Some("The tables do not hold what is asked for."));
    assert_eq!(answer.usage["steps"], json!([{"step": "screen", "calls": 1}]));
    let answer = ask(&mut client, "How many orders?", "NULL", r#"{"screen": true}"#);
    assert_eq!(answer.rows, Some(json!([{"orders": 3}])));
    assert_eq!((answer.attempts.len(), &answer.usage["calls"]), (1, &json!(2)));
    let [_, screen, asked] = &http.requests()[..] else { panic!("there are three calls") };
    let (screen, asked) = (messages(screen), messages(asked));
    assert!(screen[0].1.starts_with("You decide whether"), "{screen:?}");
    let tables = |prompt: &[(String, String)]| {
        prompt[1].1.split_once("Question: ").unwrap().0.trim_end().to_owned()
    };
    assert_eq!(tables(&screen), tables(&asked), "a model reads the same tables");
    assert!(screen[1].1.ends_with("Question: How many orders?"), "{screen:?}");
}

#[test]
fn a_question_that_the_tables_cannot_answer_is_refused() {
    let refusal = json!({"reason": "There is no weather.", "answerable": false, "sql": ""});
    let Some((_cluster, http, mut client)) = start([Reply::chat(&refusal.to_string())]) else {
        return;
    };
    let answer = ask(&mut client, "Will it rain?", "NULL", "{}");
    assert_eq!((answer.sql, answer.rows), (None, None));
    assert_eq!(answer.reason.as_deref(), Some("There is no weather."));
    assert!(answer.attempts.is_empty() && answer.tables.is_empty());
    assert_eq!(http.requests().len(), 1);
}

#[test]
fn words_of_the_model_are_no_rows() {
    let script = [query("SELECT 'Paris' AS capital"), query("TABLE tenants")];
    let Some((_cluster, http, mut client)) = start(script) else { return };
    let answer = ask(&mut client, "What is the capital of France?", "NULL", "{}");
    assert_eq!((answer.sql, answer.rows), (None, None));
    assert_eq!(answer.reason.as_deref(), Some("The query that was written reads no table."));
    assert_eq!((answer.attempts.len(), http.requests().len()), (1, 1));
}
