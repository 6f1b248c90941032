//! A server with the option `redact`: what leaves the database, what comes back, and what is kept of it.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use postgres::Client;

use super::cluster::Cluster;
use super::documents::assert_fails;
use super::http_server::{Reply, Request, Server};
use super::provider::server;
use super::token_classifier;

const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE letters (id integer PRIMARY KEY, body text);
    INSERT INTO letters VALUES
        (1, 'Name: Anna Schmidt. Her invoices go to anna@example.com on the first day of each month.'),
        (2, 'Name: Bob Miller. His invoices go to bob@example.com on the last day of each month.');
    SELECT rag_create_pipeline('letters', 'body', refresh => 'sync');";

const PERSONAL: [&str; 6] =
    ["Anna Schmidt", "Schmidt", "anna@example.com", "Bob Miller", "Miller", "bob@example.com"];

fn start(http: &Server) -> Option<(Cluster, Client)> {
    let cluster = Cluster::start(&[])?;
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", http))).unwrap();
    client.batch_execute("ALTER SERVER writer OPTIONS (ADD redact 'pii')").unwrap();
    Some((cluster, client))
}

fn text(client: &mut Client, statement: &str) -> String {
    client.query_one(statement, &[]).unwrap().get(0)
}

fn check_silent(http: &Server) {
    for request in http.requests() {
        for value in PERSONAL {
            assert!(!request.text().contains(value), "{value} was sent: {}", request.text());
        }
    }
}

#[test]
fn answers_are_about_the_texts_as_they_were() {
    let http =
        Server::answer(|_| Reply::chat("They go to [EMAIL_1] on the first day of each month [1]."));
    let Some((_cluster, mut client)) = start(&http) else { return };
    let ask = "SELECT answer || citations::text FROM rag_answer_details('Where do the invoices of Anna Schmidt go?', k => 1, llm => 'writer')";
    let told = text(&mut client, ask);
    assert!(
        told.starts_with("They go to anna@example.com on the first day of each month [1]."),
        "{told}"
    );
    assert!(
        told.contains("Her invoices go to anna@example.com"),
        "the citation is of the row: {told}"
    );
    let streamed = text(
        &mut client,
        "SELECT string_agg(rag_answer_stream, '') FROM rag_answer_stream('Where do the invoices of Anna Schmidt go?', k => 1, llm => 'writer')",
    );
    assert!(streamed.contains("anna@example.com") && !streamed.contains("EMAIL_"), "{streamed}");
    check_silent(&http);
    assert!(http.requests().len() > 1);
}

#[test]
fn a_trace_holds_placeholders() {
    let http =
        Server::answer(|_| Reply::chat("They go to [EMAIL_1] on the first day of each month [1]."));
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute("SET rag.trace = 'full'").unwrap();
    let ask =
        "SELECT rag_answer('Where do the invoices of Frau Schmidt go?', k => 1, llm => 'writer')";
    assert!(text(&mut client, ask).contains("anna@example.com"));
    let kept = text(&mut client, "SELECT to_jsonb(t)::text FROM rag.trace_log AS t");
    assert!(kept.contains("[EMAIL_1]") && kept.contains("Frau [PERSON_1]"), "{kept}");
    assert!(PERSONAL.iter().all(|value| !kept.contains(value)), "{kept}");
    // The built-in answerer sends nothing, and its trace says what was asked.
    client.batch_execute("DELETE FROM rag.trace_log").unwrap();
    text(
        &mut client,
        "SELECT rag_answer('Where do the invoices of Frau Schmidt go?', llm => 'extractive')",
    );
    let kept = text(&mut client, "SELECT question FROM rag.trace_log");
    assert_eq!(kept, "Where do the invoices of Frau Schmidt go?");
}

#[test]
fn a_trace_follows_the_options_that_were_used() {
    let http =
        Server::answer(|_| Reply::chat("They go to [EMAIL_1] on the first day of each month [1]."));
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute("SET rag.trace = 'full'").unwrap();
    client
        .batch_execute(
            "BEGIN;
             DECLARE told CURSOR FOR SELECT * FROM rag_answer_stream(
                 'Where do the invoices of Frau Schmidt go?', k => 1, llm => 'writer');
             FETCH 1 FROM told;
             ALTER SERVER writer OPTIONS (DROP redact);
             FETCH ALL FROM told;
             COMMIT;",
        )
        .unwrap();
    let kept = text(&mut client, "SELECT to_jsonb(t)::text FROM rag.trace_log AS t");
    assert!(kept.contains("Frau [PERSON_1]"), "{kept}");
    assert!(PERSONAL.iter().all(|value| !kept.contains(value)), "{kept}");
}

#[test]
fn a_remembered_reply_is_that_of_the_same_person() {
    let http = Server::answer(|_| Reply::chat("Write to [EMAIL_1]."));
    let Some((cluster, mut client)) = start(&http) else { return };
    client
        .batch_execute("CREATE ROLE other LOGIN; GRANT USAGE ON FOREIGN SERVER writer TO other")
        .unwrap();
    let ask = |client: &mut Client, address: &str| {
        text(client, &format!("SELECT rag_generate('Is {address} right?', 'writer')"))
    };
    client.batch_execute("SET rag.cache = 'exact'").unwrap();
    // What both send is the same, letter by letter; what they get back is their own.
    for (address, calls) in
        [("anna@example.com", 1), ("anna@example.com", 1), ("bob@example.com", 2)]
    {
        assert_eq!(ask(&mut client, address), format!("Write to {address}."));
        assert_eq!(http.requests().len(), calls, "{address}");
    }
    let mut other = cluster.connect();
    other.batch_execute("SET ROLE other; SET rag.cache = 'exact'").unwrap();
    assert_eq!(ask(&mut other, "anna@example.com"), "Write to anna@example.com.");
    assert_eq!(http.requests().len(), 3, "another role's replies are not given again");
    check_silent(&http);
    // Without the option the same words are another question.
    client.batch_execute("ALTER SERVER writer OPTIONS (DROP redact)").unwrap();
    assert_eq!(ask(&mut client, "anna@example.com"), "Write to [EMAIL_1].");
    assert_eq!(http.requests().len(), 4);
}

/// A contract of which one row says who has signed it, with a title by which the name is known as one.
const CONTRACT: &str = "
    CREATE TABLE contract (id integer PRIMARY KEY, body text);
    INSERT INTO contract VALUES
        (1, 'The contract of the mill was signed by Mrs. Anna Schmidt.'),
        (2, 'The contract of the mill has forty pages.'),
        (3, 'The contract of the mill ends in May.');
    SELECT rag_create_pipeline('contract', 'body', refresh => 'sync');";

/// Says who has signed, without the title, to whoever may know it; and writes the question of a conversation.
fn signer(request: &Request) -> Reply {
    let text = request.text();
    Reply::chat(if text.contains("Answer: The contract") {
        "When does the contract of [PERSON_1] end?"
    } else if text.contains("signed by") {
        "The contract was signed by [PERSON_1] [1]."
    } else {
        "It ends in May [1]."
    })
}

#[test]
fn what_is_made_of_a_reply_is_sent_without_its_names() {
    let http = Server::answer(signer);
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute(CONTRACT).unwrap();
    for strategy in ["refine", "tree_summarize"] {
        let before = http.requests().len();
        let ask = format!(
            "SELECT rag_answer('Who signed the contract of the mill?', 'contract', k => 3, llm => 'writer',
                               strategy => '{strategy}', options => '{{\"answer\": {{\"group_size\": 1}}}}')"
        );
        assert!(text(&mut client, &ask).contains("signed by Anna Schmidt"), "{strategy}");
        let requests = http.requests();
        let is_note = |it: &&Request| it.text().contains("The contract was signed by [PERSON_1]");
        assert!(requests[before..].iter().any(|it| is_note(&it)), "{strategy} sends a note");
    }
    check_silent(&http);
}

#[test]
fn a_conversation_goes_on_without_the_names_of_its_turns() {
    let http = Server::answer(signer);
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute(CONTRACT).unwrap();
    let id = text(&mut client, "SELECT rag_conversation()::text");
    for question in ["Who signed the contract of the mill?", "And when does it end?"] {
        let ask = format!(
            "SELECT rag_answer('{question}', 'contract', k => 3, llm => 'writer',
                               options => '{{\"answer\": {{\"conversation\": \"{id}\"}}}}')"
        );
        text(&mut client, &ask);
    }
    let turns = "SELECT string_agg(standalone || ' ' || coalesce(withheld::text, ''), '; ' ORDER BY id) FROM rag.conversation_turn";
    let withheld = r#"{"Schmidt": "person", "Anna Schmidt": "person"}"#;
    assert_eq!(
        text(&mut client, turns),
        format!(
            "Who signed the contract of the mill? {withheld}; When does the contract of Anna Schmidt end? {withheld}"
        )
    );
    assert_eq!(http.requests().len(), 3);
    assert!(http.requests()[1].text().contains("Answer: The contract was signed by [PERSON_1]"));
    check_silent(&http);
}

/// Deeds that name who has signed, and no title by which the name would be known as one.
const DEEDS: &str = r#"
    CREATE TABLE deed (id integer PRIMARY KEY, body text);
    INSERT INTO deed VALUES
        (1, 'The deed of the mill was signed by Schmidt.'),
        (2, 'The library opens at nine.');
    SELECT rag_create_pipeline('deed', 'body', refresh => 'sync',
                               options => '{"description": "what Mrs. Anna Schmidt has signed"}');"#;

#[test]
fn what_chooses_a_pipeline_announces_names_of_the_answer() {
    let http = Server::play([Reply::chat("deed"), Reply::chat("It was signed by [PERSON_1] [1].")]);
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute(DEEDS).unwrap();
    let ask =
        "SELECT rag_answer('Who signed the deed of the mill?', 'auto', k => 1, llm => 'writer',
                                 options => '{\"retrieve\": {\"route\": \"llm\"}}')";
    let told = text(&mut client, ask);
    assert!(told.contains("signed by Schmidt"), "{told}");
    let sent = |number: usize| http.requests()[number].text().to_owned();
    assert!(sent(0).contains("deed: what Mrs. [PERSON_1] has signed"), "{}", sent(0));
    assert!(sent(1).contains("was signed by [PERSON_1]."), "{}", sent(1));
    // The session remembers the choice, and with it the names.
    text(&mut client, ask);
    assert_eq!(http.requests().len(), 3);
    assert!(sent(2).contains("was signed by [PERSON_1]."), "{}", sent(2));
    check_silent(&http);
    // Nothing else would have known the name.
    text(&mut client, &ask.replace("'auto'", "'deed'"));
    assert!(sent(3).contains("was signed by Schmidt."), "{}", sent(3));
}

#[test]
fn what_ranks_passages_announces_names_of_the_answer() {
    let http =
        Server::play([Reply::chat("1: 10"), Reply::chat("It was signed by [PERSON_1] [1].")]);
    let Some((_cluster, mut client)) = start(&http) else { return };
    client.batch_execute(DEEDS).unwrap();
    client.batch_execute("INSERT INTO deed VALUES (3, 'Mrs. Anna Schmidt has a dog.')").unwrap();
    let ask =
        "SELECT rag_answer('Who signed the deed of the mill?', 'deed', k => 1, llm => 'writer',
                                 options => '{\"retrieve\": {\"rerank\": \"llm\"}}')";
    let told = text(&mut client, ask);
    assert!(told.contains("signed by Schmidt"), "{told}");
    let sent: Vec<String> = http.requests().iter().map(|it| it.text().to_owned()).collect();
    assert_eq!(sent.len(), 2);
    assert!(sent[0].contains("Mrs. [PERSON_"), "{}", sent[0]);
    assert!(sent[1].contains("was signed by [PERSON_1]."), "{}", sent[1]);
    assert!(!sent[1].contains("Mrs. "), "the answer is made of one chunk: {}", sent[1]);
    check_silent(&http);
}

#[test]
fn entities_to_be_picked_are_personal_data() {
    let http = Server::answer(|request| {
        Reply::chat(if request.text().contains("Predicates: ") {
            r#"{"entities": ["Mrs. [PERSON_1]"], "predicates": ["managed_by"]}"#
        } else {
            "[PERSON_1] manages it [1]."
        })
    });
    let Some((_cluster, mut client)) = start(&http) else { return };
    client
        .batch_execute(
            r#"CREATE TABLE deal (id integer PRIMARY KEY, body text, owner text, phone text, manager text);
               INSERT INTO deal VALUES (1, 'The deal is about wheat.', 'anna@example.com', '+49 30 1234567', 'Mrs. Anna Schmidt');
               SELECT rag_create_pipeline('deal', 'body', metadata => ARRAY['owner', 'phone', 'manager'], refresh => 'sync',
                   options => '{"graph": {"entities": "rules", "relations":
                       {"owner": "owned_by", "phone": "has_phone", "manager": "managed_by"}}}')"#,
        )
        .unwrap();
    let ask =
        "SELECT rag_answer('Who manages the deal?', 'deal', strategy => 'graph', llm => 'writer')";
    assert_eq!(text(&mut client, ask), "Anna Schmidt manages it [1].");
    let menu = http.requests()[0].text().to_owned();
    for told in ["has_phone [PHONE_1]", "managed_by Mrs. [PERSON_1]", "owned_by [EMAIL_1]"] {
        assert!(menu.contains(told), "{told} is not in {menu}");
    }
    for request in http.requests() {
        let sent = request.text().to_lowercase();
        assert!(!sent.contains("anna") && !sent.contains("1234567"), "{sent}");
    }
}

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
