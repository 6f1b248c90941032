//! What becomes of an answer in whose middle something breaks, that is much too long, or that nobody reads.

use std::io::Read;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::lives::{until, wait_for};
use crate::support::http_server::{Reply, Server as Provider};
use crate::support::relay::{Authority, Relay, Taking};
use crate::support::{self, ASKER, Server, execute, number, request, send, signal, socket};

const QUESTION: &str = "When are invoices sent?";

/// Sessions of rag-server that have something to do, also those that wait for it in the middle of a transaction.
const BUSY: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'rag-server' AND state <> 'idle'";

/// Much longer than any test waits.
const NEVER: Duration = Duration::from_secs(600);

/// A language model called `name` that says these pieces, each after its wait.
pub fn language_model<'a>(
    name: &str,
    pieces: impl IntoIterator<Item = (Duration, &'a str)>,
) -> Provider {
    let provider = Provider::play([Reply::chat_stream(pieces)]);
    execute(&format!(
        "CREATE SERVER {name} FOREIGN DATA WRAPPER rag_llm
             OPTIONS (api 'openai', base_url '{}', model 'm', timeout '600', max_retries '0');
         CREATE USER MAPPING FOR PUBLIC SERVER {name} OPTIONS (api_key 'sk-0123456789abcdef');
         GRANT USAGE ON FOREIGN SERVER {name} TO rag_server_asker",
        provider.base_url()
    ));
    provider
}

/// One that says some words at once, and nothing more while a test waits.
fn stalling(name: &str) -> Provider {
    language_model(name, [(Duration::ZERO, "Invoices are sent "), (NEVER, "late.")])
}

/// The question as the two paths that tell an answer take it.
fn questions(llm: &str) -> [(&'static str, Value); 2] {
    let messages = json!([{"role": "user", "content": QUESTION}]);
    [
        ("/ask", json!({"question": QUESTION, "pipeline": "docs", "llm": llm})),
        (
            "/v1/chat/completions",
            json!({"model": "docs", "messages": messages, "stream": true, "llm": llm}),
        ),
    ]
}

/// Asks, and reads until the first words are there.
pub fn begin(server: &Server, path: &str, body: &Value) -> TcpStream {
    let mut client = send(&server.address, Some(ASKER), path, Some(&body.to_string()));
    let (mut read, mut part) = (Vec::<u8>::new(), [0; 4096]);
    while !String::from_utf8_lossy(&read).contains("Invoices are sent") {
        let length = client.read(&mut part).unwrap();
        assert!(length > 0, "it ends before: {}", String::from_utf8_lossy(&read));
        read.extend_from_slice(&part[..length]);
    }
    client
}

/// What is still told.
fn rest(mut client: TcpStream) -> String {
    let mut read = Vec::new();
    client.read_to_end(&mut read).unwrap();
    String::from_utf8_lossy(&read).into_owned()
}

/// Whether the server answers, with all of its connections to the database at hand.
fn is_well(server: &Server) {
    let question = json!({"question": QUESTION, "pipeline": "docs"});
    let answer = server.post_as(ASKER, "/ask", &question);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.events().last().unwrap().0, "details", "{answer:?}");
    wait_for("connections that nobody uses", || {
        let figures = request(&server.address, Some(ASKER), "/metrics", None).body;
        figures.contains("rag_server_connections{state=\"used\"} 0\n")
    });
}

#[test]
fn a_connection_that_is_cut_is_an_error_and_leaves_no_statement_behind() {
    let Some((socket, database)) = socket() else { return };
    let _alone = support::alone();
    let relay = Relay::start(Taking { behind: Some(socket), ..Taking::default() });
    let url = format!(
        "host=127.0.0.1 port={} dbname={database} user=rag_server_asker sslmode=disable",
        relay.port
    );
    let server = Server::of(&url, true, &[]);
    let provider = stalling("writer_behind_a_cut");
    for (cuts, (path, body)) in (1..).zip(questions("writer_behind_a_cut")) {
        let client = begin(&server, path, &body);
        relay.cut();
        let told = rest(client);
        assert!(told.contains("the connection to the database was lost"), "{path}: {told}");
        assert!(told.contains("\"code\":\"database_unavailable\""), "{path}: {told}");
        assert_eq!(told.contains("event: error"), path == "/ask", "{told}");
        // The database does not see by itself that nobody is there any more, as long as it has nothing to send.
        until(BUSY, 0);
        wait_for("a call that is given up", || provider.abandoned() == cuts);
        is_well(&server);
    }
}

#[test]
fn a_statement_is_cancelled_though_the_database_cannot_be_reached_at_first() {
    let Some((socket, database)) = socket() else { return };
    let _alone = support::alone();
    let authority = Authority::new();
    let taking = Taking::certified(&authority, "localhost", None);
    let relay = Relay::start(Taking { behind: Some(socket), ..taking });
    let url = format!(
        "host=localhost hostaddr=127.0.0.1 port={} dbname={database} user=rag_server_asker sslmode=require",
        relay.port
    );
    let server = Server::of(&url, true, &[]);
    let provider = stalling("writer_behind_a_long_cut");
    let [(path, body), _] = questions("writer_behind_a_long_cut");
    let client = begin(&server, path, &body);
    // More than one cancel comes to nothing before one arrives.
    relay.cut_and_leave_unanswered(3);
    let told = rest(client);
    assert!(told.contains("the connection to the database was lost"), "{told}");
    until(BUSY, 0);
    assert_eq!(relay.unanswered(), 0);
    wait_for("a call that is given up", || provider.abandoned() == 1);
    is_well(&server);
}

#[test]
fn a_ragd_that_is_killed_in_the_middle_of_an_answer_is_an_error() {
    let _alone = support::alone();
    let Some(server) = Server::start_alone(&[]) else { return };
    let _provider = stalling("writer_of_a_killed_ragd");
    for (path, body) in questions("writer_of_a_killed_ragd") {
        let client = begin(&server, path, &body);
        let killed = number("SELECT pid::bigint FROM rag.daemon_status()");
        signal("KILL", killed);
        let told = rest(client);
        assert!(told.contains("ragd went away"), "{path}: {told}");
        assert!(told.contains("\"sqlstate\":\"08006\""), "{path}: {told}");
        until(BUSY, 0);
        is_well(&server);
        assert_ne!(number("SELECT pid::bigint FROM rag.daemon_status()"), killed);
    }
}

#[test]
fn a_question_of_ten_megabytes_ends_in_bounded_memory() {
    let Some(server) = Server::start(&["--max-request", "16384", "--timeout", "10"]) else {
        return;
    };
    let question = format!("{QUESTION} ").repeat((10 << 20) / (QUESTION.len() + 1));
    let ask = json!({"question": question, "pipeline": "docs"});
    let search = json!({"query": question, "pipeline": "docs"});
    let mut answered = 0;
    for (path, body) in [("/ask", &ask), ("/search", &search), ("/ask", &ask), ("/search", &search)]
    {
        let response = server.post(path, body);
        assert!(
            ![401, 403, 404, 413, 429].contains(&response.status),
            "{path}: {}",
            response.status
        );
        answered += usize::from(response.status != 500);
        match (response.status, path) {
            (200, "/ask") => {
                let events = response.events();
                assert!(["details", "error"].contains(&events.last().unwrap().0.as_str()));
            }
            (200, _) => assert!(response.json()["passages"].is_array()),
            (status, _) => {
                let body = response.json();
                let message = body["error"]["message"].as_str().unwrap();
                assert!((1..1000).contains(&message.len()), "{path}: {status}, {message:.1000}");
            }
        }
    }
    assert!(answered > 0, "none of these questions can be dealt with");
    assert_eq!(server.get("/v1/models").status, 200);
    // A hundred times the question: each of the requests may have a few copies of it, and what is freed need not go back.
    let most = server.most_memory();
    assert!(most < 1024, "{most} MB");
}

#[test]
fn a_reader_that_does_not_read_is_told_so_and_keeps_no_session() {
    let _alone = support::alone();
    let Some(server) = Server::start_alone(&["--reader-timeout", "1"]) else { return };
    // 40 MB: more than sockets hold, and the 1,024 pieces of at most 16 KB that the server does.
    let piece = "word ".repeat(3300);
    let provider = language_model("tireless_writer", vec![(Duration::ZERO, piece.as_str()); 2500]);
    let question = json!({"question": QUESTION, "pipeline": "docs", "llm": "tireless_writer"});
    let client = send(&server.address, Some(ASKER), "/ask", Some(&question.to_string()));
    wait_for("a question", || provider.requests().len() == 1);
    // The session is free before anything was read.
    until(BUSY, 0);
    let told = rest(client);
    let end = told.rfind("event: ").map_or("", |at| &told[at..]);
    assert!(end.starts_with("event: error"), "{end}");
    assert!(end.contains("it was not read: the database has waited 1 s"), "{end}");
    is_well(&server);
}
