//! What token classifiers find.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

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
