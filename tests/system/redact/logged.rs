//! What the server's log has of calls that fail, take too long or repeat what they were sent: no personal data.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::documents::describe;
use super::*;

/// All that is said to clients is written to the log, too. Of a failed statement PostgreSQL writes the text and not its
/// parameters.
const LOGS_ALL: [&str; 2] = ["log_min_messages = debug1", "log_error_verbosity = verbose"];

const ASK: &str = "SELECT rag_answer($1, k => 1, llm => $2)";

const QUESTION: &str = "Where do the invoices of Frau Schmidt go?";

/// How a provider ends a call, after which its server is called.
const ENDS: [&str; 7] = ["refuses", "fails", "misfits", "babbles", "breaks", "sleeps", "repeats"];

/// Ends of [`ENDS`] of which an error repeats what the provider says.
const REPEATED: [&str; 4] = ["refuses", "fails", "misfits", "babbles"];

/// The question, as a request has it.
fn question(request: &Request) -> String {
    let body: Value = serde_json::from_str(request.text()).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let last = messages.last().unwrap()["content"].as_str().unwrap();
    last.rsplit("Question: ").next().unwrap().trim().to_owned()
}

/// A reply that says the question again, if it ends so that something is said.
fn ended(end: &str, request: &Request) -> Reply {
    let said = question(request);
    let error = json!({"error": {"message": said}}).to_string();
    match end {
        "refuses" => Reply::json(400, &error),
        "fails" => Reply::json(500, &error),
        "misfits" => Reply::json(200, &json!({"echo": said}).to_string()),
        "babbles" => Reply::json(200, &said),
        "breaks" => Reply::chat(&said).close_after(150),
        "sleeps" => Reply::chat(&said).delay(Duration::from_secs(100)),
        _ => Reply::chat(&said),
    }
}

/// A server that is called once for each call and has personal data taken out of what it reads.
fn add_server(client: &mut Client, name: &str, http: &Server) {
    client.batch_execute(&server(name, http)).unwrap();
    let options = "SET max_retries '0', ADD redact 'pii'";
    client.batch_execute(&format!("ALTER SERVER {name} OPTIONS ({options})")).unwrap();
}

fn assert_impersonal(text: &str, what: &str) {
    for value in PERSONAL {
        assert!(!text.contains(value), "{what} has {value}: {text}");
    }
}

/// What the log has when all processes that write to it have ended.
fn whole_log(mut cluster: Cluster, client: Client) -> String {
    drop(client);
    cluster.stop("INT");
    cluster.log()
}

#[test]
fn the_log_has_no_personal_data_however_a_call_ends() {
    let Some(cluster) = Cluster::start(&LOGS_ALL) else { return };
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} SET rag.trace = 'full'")).unwrap();
    for end in ENDS {
        let http = Server::answer(move |request| ended(end, request));
        add_server(&mut client, end, &http);
        if end == "sleeps" {
            client.batch_execute("ALTER SERVER sleeps OPTIONS (SET timeout '1')").unwrap();
        }
        match client.query_one(ASK, &[&QUESTION, &end]) {
            Ok(row) => {
                let answer: String = row.get(0);
                assert!(end == "repeats" && answer.contains("Frau Schmidt"), "{end}: {answer}");
            }
            Err(error) => {
                let said = describe(&error);
                println!("{end}: {said}");
                assert!(end != "repeats" && said.starts_with('3'), "{end}: {said}");
                assert_impersonal(&said, end);
                let repeats = said.contains("invoices of Frau [PERSON_");
                assert!(repeats || !REPEATED.contains(&end), "{end}: {said}");
            }
        }
        assert_eq!(http.requests().len(), 1, "{end}");
        check_silent(&http);
    }
    let traces = "SELECT coalesce(string_agg(to_jsonb(t)::text, ' '), '') FROM rag.trace_log AS t";
    let traces = text(&mut client, traces);
    assert!(traces.contains("Frau [PERSON_"), "{traces}");
    assert_impersonal(&traces, "a trace");
    let log = whole_log(cluster, client);
    assert_impersonal(&log, "the log");
    assert!(log.matches("invoices of Frau [PERSON_").count() >= REPEATED.len(), "{log}");
}

#[test]
fn the_log_has_no_personal_data_of_texts_that_are_embedded_or_ranked() {
    let Some(cluster) = Cluster::start(&LOGS_ALL) else { return };
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    let http = Server::answer(|request| {
        let said = json!({"error": {"message": request.text()}}).to_string();
        Reply::json(400, &said)
    });
    add_server(&mut client, "far", &http);
    client
        .batch_execute(&format!(
            "SELECT rag_add_model('embeds', server => 'far', dimension => 8);
             CREATE SERVER near FOREIGN DATA WRAPPER rag_llm
                 OPTIONS (api 'cohere', base_url '{}/v2', max_retries '0', redact 'pii');
             CREATE USER MAPPING FOR PUBLIC SERVER near OPTIONS (api_key 'sk-of-near');
             SELECT rag_add_model('ranks', server => 'near', model => 'rerank-v3.5', task => 'rerank')",
            http.url()
        ))
        .unwrap();
    let asked = "Who writes to anna@example.com?";
    for call in [
        "SELECT rag_embed($1, 'embeds')::text",
        "SELECT rag_rerank($1, ARRAY[$1, $1], 'ranks')::text",
        "SELECT source_key FROM rag_retrieve($1, rerank => 'ranks')",
    ] {
        let before = http.requests().len();
        let error = client.query(call, &[&asked]).unwrap_err();
        let said = describe(&error);
        println!("{said}");
        assert_impersonal(&said, call);
        assert!(said.contains("[EMAIL_1]"), "{call}: {said}");
        assert!(http.requests().len() > before, "{call}");
    }
    check_silent(&http);
    let log = whole_log(cluster, client);
    assert_impersonal(&log, "the log");
    assert!(log.matches("[EMAIL_1]").count() >= 3, "{log}");
}

/// Says something else than what it is asked for, with the names of members that are placeholders where a form is wanted.
fn beside_the_point(request: &Request) -> Reply {
    Reply::chat(match request.text().contains("json_schema") {
        true => r#"{"[PERSON_1]": true}"#,
        false => "I would rather not speak of Frau [PERSON_1].",
    })
}

#[test]
fn the_log_has_no_words_of_a_reply_that_is_beside_the_point() {
    let Some(cluster) = Cluster::start(&LOGS_ALL) else { return };
    let http = Server::answer(beside_the_point);
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    add_server(&mut client, "writer", &http);
    client.batch_execute("SET rag.llm = 'writer'").unwrap();
    for call in [
        "SELECT rag_rerank($1, ARRAY['ink', 'paper'], 'llm')::text",
        r#"SELECT rag_generate($1, options => '{"schema": {"type": "object", "additionalProperties": false}}')"#,
    ] {
        let said = describe(&client.query(call, &[&QUESTION]).unwrap_err());
        assert!(said.starts_with("38000"), "{call}: {said}");
        assert_impersonal(&said, call);
    }
    // A search goes on, and says so.
    let found = "SELECT count(*) FROM rag_retrieve($1, rerank => 'llm')";
    let found: i64 = client.query_one(found, &[&QUESTION]).unwrap().get(0);
    assert_eq!(found, 2);
    assert_eq!(http.requests().len(), 4, "what has the wrong form is asked for once more");
    let log = whole_log(cluster, client);
    assert!(log.contains("keep the order of the search"), "{log}");
    assert_impersonal(&log, "the log");
}

/// Why texts are to be passed as parameters: what PostgreSQL itself writes is nobody's to redact.
#[test]
fn a_literal_of_a_failed_statement_is_in_the_log_and_a_parameter_is_not() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(|_| Reply::json(500, "{}"));
    let mut client = cluster.connect();
    client.batch_execute(SETUP).unwrap();
    add_server(&mut client, "fails", &http);
    let said = describe(&client.query_one(ASK, &[&QUESTION, &"fails"]).unwrap_err());
    assert_impersonal(&said, "the error");
    let literal =
        "SELECT rag_answer('Where do the invoices of Bob Miller go?', k => 1, llm => 'fails')";
    let said = describe(&client.batch_execute(literal).unwrap_err());
    assert_impersonal(&said, "the error");
    let log = whole_log(cluster, client);
    assert!(log.contains(literal), "{log}");
    assert!(log.contains(ASK) && !log.contains("Schmidt"), "{log}");
}
