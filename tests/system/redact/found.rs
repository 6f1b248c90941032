//! What token classifiers find.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;

use super::super::agent;
use super::super::documents::assert_fails;
use super::super::token_classifier;
use super::*;

/// As [`start`], with a server that has names found by a model, too; `None` where the model cannot be made.
fn start_with_model(http: &Server) -> Option<(Cluster, Client)> {
    let (cluster, mut client) = start(http)?;
    let folder = cluster.folder().join("names");
    let words = [("mira", "B-PER"), ("lark", "I-PER"), ("oslo", "B-LOC")];
    if !token_classifier::make(&folder, &["O", "B-PER", "I-PER", "B-LOC"], &words) {
        return None;
    }
    cluster.give(&folder);
    client.execute("SELECT rag_add_model('names', $1)", &[&folder.to_str()]).unwrap();
    client
        .batch_execute(
            "ALTER SERVER writer OPTIONS (ADD redact_model 'names');
             INSERT INTO letters VALUES (3, 'the invoices of mira lark go to oslo on the third day of each month.')",
        )
        .unwrap();
    Some((cluster, client))
}

#[test]
fn what_a_model_finds_stays_here_and_comes_back() {
    let http = Server::answer(|_| Reply::chat("They go to [LOCATION_1], says [PERSON_1] [1]."));
    let Some((_cluster, mut client)) = start_with_model(&http) else { return };
    assert_eq!(
        text(&mut client, "SELECT rag_redact('is mira lark in oslo? see a@b.de', 'names')"),
        "is [PERSON_1] in [LOCATION_1]? see [EMAIL_1]"
    );
    client.batch_execute("SET rag.trace = 'full'").unwrap();
    let ask =
        "SELECT rag_answer('where do the invoices of mira lark go?', k => 1, llm => 'writer')";
    let told = text(&mut client, ask);
    assert!(told.contains("oslo") && told.contains("mira lark"), "{told}");
    for request in http.requests() {
        let sent = request.text();
        assert!(!sent.contains("mira") && !sent.contains("oslo"), "{sent}");
        assert!(sent.contains("[PERSON_1]"), "{sent}");
    }
    let kept = text(&mut client, "SELECT to_jsonb(t)::text FROM rag.trace_log AS t");
    assert!(
        kept.contains("[PERSON_1]") && !kept.contains("mira") && !kept.contains("oslo"),
        "{kept}"
    );
}

#[test]
fn what_a_model_finds_for_one_server_is_kept_from_another() {
    let http = Server::answer(|_| Reply::chat("They go to [LOCATION_1], says [PERSON_1] [1]."));
    let Some((_cluster, mut client)) = start_with_model(&http) else { return };
    client.batch_execute(&server("answerer", &http)).unwrap();
    client.batch_execute("ALTER SERVER answerer OPTIONS (ADD redact 'pii')").unwrap();
    let id = text(&mut client, "SELECT rag_conversation()::text");
    let ask = |client: &mut Client, question: &str, options: &str| {
        let ask = format!(
            "SELECT rag_answer('{question}', 'letters', k => 1, llm => 'answerer', options => '{{
                \"retrieve\": {{\"rewrite\": {{\"by\": \"multi_query\", \"llm\": \"writer\"}}}}{options}}}')"
        );
        text(client, &ask)
    };
    let question = "where do the invoices of mira lark go?";
    // The model reads the question alone, and what the other server reads no model has read.
    let told = ask(&mut client, question, "");
    assert!(told.contains("mira lark"), "{told}");
    let sent = |number: usize| http.requests()[number].text().to_owned();
    assert_eq!(http.requests().len(), 2);
    assert!(sent(1).contains("the invoices of [PERSON_1] go to oslo"), "{}", sent(1));
    // The session remembers the other wordings, and with them what was found.
    ask(&mut client, question, "");
    assert_eq!(http.requests().len(), 3);
    assert!(sent(2).contains("the invoices of [PERSON_1] go to oslo"), "{}", sent(2));
    // So does a conversation.
    let options = format!(", \"answer\": {{\"conversation\": \"{id}\"}}");
    ask(&mut client, question, &options);
    let kept = text(&mut client, "SELECT withheld::text FROM rag.conversation_turn");
    assert_eq!(kept, r#"{"mira lark": "person"}"#);
    ask(&mut client, "and on which day?", &options);
    for request in http.requests() {
        assert!(!request.text().contains("mira"), "{}", request.text());
    }
    assert!(http.requests().len() > 5, "the question was made to stand alone");
}

#[test]
fn a_remembered_reply_knows_what_a_model_has_found() {
    let http = Server::answer(|_| Reply::chat("It is [PERSON_1]."));
    let Some((_cluster, mut client)) = start_with_model(&http) else { return };
    client.batch_execute("SET rag.cache = 'exact'").unwrap();
    for calls in [1, 1] {
        let id = text(&mut client, "SELECT rag_conversation()::text");
        let ask = format!(
            "SELECT rag_answer('where do the invoices of mira lark go?', 'letters', k => 1, llm => 'writer',
                               options => '{{\"answer\": {{\"conversation\": \"{id}\"}}}}')"
        );
        text(&mut client, &ask);
        assert_eq!(http.requests().len(), calls);
        let kept = "SELECT withheld::text FROM rag.conversation_turn ORDER BY id DESC LIMIT 1";
        assert!(text(&mut client, kept).contains("mira lark"));
    }
}

/// Adds a server that has no names found by a model.
fn add_answerer(client: &mut Client, http: &Server, options: &str) {
    client.batch_execute(&server("answerer", http)).unwrap();
    let change = format!("ALTER SERVER answerer OPTIONS (ADD redact 'pii'{options})");
    client.batch_execute(&change).unwrap();
}

#[test]
fn a_conversation_knows_what_a_model_has_found_for_a_reply_that_broke_off() {
    let begun = "They go to [LOCATION_1], says [PERSON_1] [1]. ";
    let long = Duration::from_secs(100);
    let http = Server::play([
        Reply::chat_stream([(Duration::ZERO, begun), (long, "Nobody waits for this.")]),
        Reply::chat("They go to [LOCATION_1] on the third day [1]."),
    ]);
    let Some((_cluster, mut client)) = start_with_model(&http) else { return };
    add_answerer(&mut client, &http, "");
    let id = text(&mut client, "SELECT rag_conversation()::text");
    // What there was when the time was over is the answer.
    let ask = format!(
        "SELECT string_agg(rag_answer_stream, '') FROM rag_answer_stream(
             'where do the invoices of mira lark go?', 'letters', k => 1, llm => 'writer',
             options => '{{\"answer\": {{\"conversation\": \"{id}\", \"budget\": {{\"seconds\": 15}}}}}}')"
    );
    let told = text(&mut client, &ask);
    assert!(told.starts_with("They go to oslo, says mira lark [1]."), "{told}");
    assert!(told.contains(r#""stopped_by":"seconds""#), "{told}");
    let kept = text(&mut client, "SELECT withheld::text FROM rag.conversation_turn");
    assert_eq!(kept, r#"{"oslo": "location", "mira lark": "person"}"#);
    // Nobody else would know the names.
    let ask = format!(
        "SELECT rag_answer('and on which day?', 'letters', k => 1, llm => 'answerer',
                           options => '{{\"answer\": {{\"conversation\": \"{id}\"}}}}')"
    );
    text(&mut client, &ask);
    for request in http.requests() {
        let sent = request.text();
        assert!(!sent.contains("mira") && !sent.contains("oslo"), "{sent}");
    }
    assert_eq!(http.requests().len(), 3, "the question was made to stand alone");
}

/// Two texts that have no word in common, and who owns the mill.
const OWNERS: &str = "
    CREATE TABLE places (id integer PRIMARY KEY, body text, year integer);
    INSERT INTO places VALUES
        (1, 'The library opens at nine.', 1900),
        (2, 'mira lark from oslo owns one mill.', 1780);
    SELECT rag_create_pipeline('places', 'body', metadata => ARRAY['year'], refresh => 'sync');
    CREATE FUNCTION owner_of(place text) RETURNS text STABLE LANGUAGE sql AS $$SELECT 'mira lark'$$;
    SELECT rag_add_tool('owner_of', 'owner_of(text)', 'who owns a place');";

/// Ranks one passage, and fails where it reads of the mill.
fn ranked(request: &Request) -> Reply {
    match request.text().contains("mill") {
        true => Reply::json(500, "{}"),
        false => Reply::json(200, r#"{"results": [{"index": 0, "relevance_score": 0.5}]}"#),
    }
}

#[test]
fn what_a_model_finds_for_a_reranker_that_fails_is_kept_from_later_calls() {
    let ranks = Server::answer(ranked);
    let first = agent::search("Whose mill?");
    let others = [agent::call("owner_of", json!({"place": "mill"})), agent::says("At nine [1].")];
    let script = [&[first][..], &others[..], &others[..]].concat();
    let http = Server::play(script);
    let Some((_cluster, mut client)) = start_with_model(&http) else { return };
    add_answerer(&mut client, &http, ", ADD tools 'json'");
    client
        .batch_execute(&format!(
            "{OWNERS}
             CREATE SERVER ranks FOREIGN DATA WRAPPER rag_llm OPTIONS (api 'cohere', base_url '{}/v2',
                 max_retries '0', redact 'pii', redact_model 'names');
             CREATE USER MAPPING FOR PUBLIC SERVER ranks OPTIONS (api_key 'sk-of-ranks');
             SELECT rag_add_model('far', server => 'ranks', model => 'rerank-v3.5', task => 'rerank');",
            ranks.url()
        ))
        .unwrap();
    let ask = |client: &mut Client, retrieve: &str| {
        let ask = format!(
            "SELECT rag_answer('Which library opens at nine?', 'places', k => 1, strategy => 'agent',
                               llm => 'answerer', options => '{{\"retrieve\": {retrieve}}}')"
        );
        text(client, &ask)
    };
    ask(&mut client, r#"{"mode": "lexical", "rerank": "far"}"#);
    // Of the two searches the second one has failed, and the agent went on.
    let read: Vec<String> = ranks.requests().iter().map(|it| it.text().to_owned()).collect();
    assert_eq!(read.len(), 2, "{read:?}");
    assert!(read[1].contains("[PERSON_1] from [LOCATION_1] owns one mill."), "{}", read[1]);
    let sent = |number: usize| http.requests()[number].text().to_owned();
    assert_eq!(http.requests().len(), 3);
    assert!(sent(1).contains("failed for now"), "{}", sent(1));
    assert!(sent(2).contains("[PERSON_1]") && !sent(2).contains("mira"), "{}", sent(2));
    // Nothing else would have known the name.
    ask(&mut client, r#"{"mode": "lexical"}"#);
    assert_eq!(http.requests().len(), 5);
    assert!(sent(4).contains("mira lark"), "{}", sent(4));
}

/// As [`start`], with a server that has names found by a trained model; `None`, with a word, where there is none.
fn start_with_trained_model(http: &Server) -> Option<(Cluster, Client)> {
    let model = std::env::var_os("PG_RAG_TEST_PII").map(PathBuf::from);
    let Some(model) = model.filter(|path| path.is_dir()) else {
        println!("skipped: no model that finds personal data; make test gets one");
        return None;
    };
    let (cluster, mut client) = start(http)?;
    let folder = cluster.folder().join("rampart");
    fs::create_dir(&folder).unwrap();
    for (file, name) in [
        ("config.json", "config.json"),
        ("tokenizer.json", "tokenizer.json"),
        ("onnx/model_q4.onnx", "model_q4.onnx"),
    ] {
        fs::copy(model.join(file), folder.join(name)).unwrap();
    }
    cluster.give(&folder);
    let add = "SELECT * FROM rag_add_model('rampart', $1, file => 'model_q4.onnx')";
    client.execute(add, &[&folder.to_str()]).unwrap();
    client
        .batch_execute(
            "ALTER SERVER writer OPTIONS (ADD redact_model 'rampart');
             INSERT INTO letters VALUES (3, 'The rent of Olivia Turner is paid by Daniel Kim on the third day of each month.')",
        )
        .unwrap();
    Some((cluster, client))
}

/// Says who pays for whom, as the prompt calls them.
fn payer(request: &Request) -> Reply {
    let text = request.text();
    let between = |before: &str, after: &str| -> String {
        let rest = text.split(before).nth(1).unwrap_or_default();
        rest.split(after).next().unwrap_or_default().to_owned()
    };
    let [tenant, payer] =
        [between("The rent of ", " is paid by "), between(" is paid by ", " on the third day")];
    Reply::chat(&format!("{payer} pays for {tenant} [1]."))
}

#[test]
fn names_that_a_trained_model_finds_stay_here_and_come_back() {
    let http = Server::answer(payer);
    let Some((_cluster, mut client)) = start_with_trained_model(&http) else { return };
    assert_eq!(
        text(&mut client, "SELECT rag_redact('Who pays the rent of Olivia Turner?', 'rampart')"),
        "Who pays the rent of [PERSON_1] [PERSON_2]?"
    );
    let ask = "SELECT rag_answer('Who pays the rent of Olivia Turner?', k => 1, llm => 'writer')";
    assert_eq!(text(&mut client, ask), "Daniel Kim pays for Olivia Turner [1].");
    assert!(!http.requests().is_empty());
    for request in http.requests() {
        let sent = request.text();
        for name in ["Olivia", "Turner", "Daniel", "Kim"] {
            assert!(!sent.contains(name), "{name} was sent: {sent}");
        }
        assert!(
            sent.contains("[PERSON_1] [PERSON_2] is paid by [PERSON_3] [PERSON_4] on"),
            "{sent}"
        );
    }
}

#[test]
fn a_commit_asks_no_model() {
    let long = Duration::from_secs(100);
    let http = Server::play([Reply::chat_stream([(Duration::ZERO, "One "), (long, "two")])]);
    let Some((_cluster, mut client)) = start_with_model(&http) else { return };
    client
        .batch_execute(
            "SET rag.trace = 'full';
             BEGIN;
             DECLARE told CURSOR FOR SELECT rag_answer_stream(
                 'where do the invoices of mira lark go?', k => 1, llm => 'writer');",
        )
        .unwrap();
    assert_eq!(text(&mut client, "FETCH 1 FROM told"), "One");
    client.batch_execute("COMMIT").unwrap();
    // The trace is there, and no words are: nobody has said which of them are personal data.
    let kept = "SELECT concat_ws(' ', count(*), count(question), count(answer), count(citations)) FROM rag.trace_log";
    assert_eq!(text(&mut client, kept), "1 0 0 0");
    let kept = text(&mut client, "SELECT to_jsonb(t)::text FROM rag.trace_log AS t");
    assert!(!kept.contains("mira") && !kept.contains("oslo"), "{kept}");
}

#[test]
fn without_its_model_nothing_is_sent() {
    let http = Server::answer(|_| Reply::chat("no"));
    let Some((cluster, mut client)) = start_with_model(&http) else { return };
    let ask = "SELECT rag_generate('who is mira lark?', 'writer')";
    // The option holds the name of a model that may go.
    client.batch_execute("SELECT rag_drop_model('names')").unwrap();
    assert_fails(&mut client, ask, &["42704", "token classifier \"names\" does not exist"]);
    let folder = cluster.folder().join("names");
    client.execute("SELECT rag_add_model('names', $1)", &[&folder.to_str()]).unwrap();
    text(&mut client, ask);
    let sent = http.requests().len();
    client
        .batch_execute("ALTER SERVER writer OPTIONS (SET redact_model 'multilingual-e5-small')")
        .unwrap();
    assert_fails(&mut client, ask, &["42809", "is an embedding model and finds no names"]);
    assert_fails(
        &mut client,
        "ALTER SERVER writer OPTIONS (DROP redact)",
        &["22023", "redact_model is for servers with redact 'pii'"],
    );
    assert_eq!(http.requests().len(), sent);
}

#[test]
fn what_the_model_does_not_read_in_time_is_not_sent() {
    let http = Server::answer(|_| Reply::chat("no"));
    let Some((_cluster, mut client)) = start_with_model(&http) else { return };
    // No machine reads half a million words in a millisecond.
    client.batch_execute("ALTER SERVER writer OPTIONS (SET timeout '0.001')").unwrap();
    let ask = "SELECT rag_generate(repeat('mira lark ', 250000), 'writer')";
    assert_fails(
        &mut client,
        ask,
        &[
            "nothing was sent to provider \"writer\"",
            "within 0.001 s",
            "a smaller token classifier",
        ],
    );
    assert!(http.requests().is_empty());
}
