//! What becomes of answers when somebody goes away.

use std::io::Read;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use super::breaks::{begin, language_model};
use crate::support::{self, ASKER, READER, Server, number, reader_url, request, send, signal};

const RUNNING: &str = "SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'rag-server' AND wait_event = 'PgSleep'";

/// What is waited for is taken to never come after so long: half of the time after which rag-server's own
/// `statement_timeout` would end a statement.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "it never comes: {what}");
        sleep(Duration::from_millis(50));
    }
}

/// Waits until the database says a number.
pub fn until(sql: &str, expected: i64) {
    wait_for(&format!("{expected} of {sql}"), || number(sql) == expected);
}

/// Waits until so many slow statements of rag-server run.
pub fn until_running(statements: i64) {
    until(RUNNING, statements);
}

#[test]
fn a_statement_ends_with_who_waits_for_it() {
    let _alone = support::alone();
    let Some(server) = Server::start_alone(&[]) else { return };
    let slow =
        |token| json!({"question": "Who is slow?", "pipeline": "slow", "options": {"k": token}});
    let chat = json!({"model": "slow", "messages": [{"role": "user", "content": "Who is slow?"}]});
    let tool =
        json!({"name": "ask", "arguments": {"question": "Who is slow?", "pipeline": "slow"}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool});
    for (path, body) in [("/ask", slow(1)), ("/v1/chat/completions", chat), ("/mcp", call)] {
        let client = send(&server.address, Some(READER), path, Some(&body.to_string()));
        until_running(1);
        drop(client);
        until_running(0);
    }
    assert_eq!(server.get("/v1/models").status, 200);
    // A server that ends takes its statements with it, after it has let them go on for a while.
    let mut client = send(&server.address, Some(READER), "/ask", Some(&slow(2).to_string()));
    until_running(1);
    assert!(server.terminate());
    until_running(0);
    let _ = client.read(&mut [0; 1]);
}

#[test]
fn sessions_that_were_ended_are_made_anew() {
    let _alone = support::alone();
    let Some(server) = Server::start_alone(&["--connections", "2"]) else { return };
    assert_eq!(server.get("/v1/models").status, 200);
    number(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'rag-server' AND state = 'idle' AND usename = 'rag_server_reader'",
    );
    // One request may meet a session whose end is not known yet.
    wait_for("a session made anew", || server.get("/v1/models").status == 200);
}

#[test]
fn a_session_that_is_ended_in_the_middle_is_an_error() {
    let _alone = support::alone();
    let Some(server) = Server::start_alone(&[]) else { return };
    let question = json!({"question": "Who is slow?", "pipeline": "slow"}).to_string();
    let mut client = send(&server.address, Some(READER), "/ask", Some(&question));
    until_running(1);
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'rag-server' AND wait_event = 'PgSleep'";
    assert_eq!(number(end), 1);
    let mut response = String::new();
    client.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 503"), "{response}");
    assert!(response.contains("57P01") && response.contains("can be repeated"), "{response}");
    // One request may meet the session whose end is not known yet.
    wait_for("a session made anew", || server.get("/v1/models").status == 200);
}

/// ragd keeps nothing that would be lost with it: another one answers.
#[test]
fn a_ragd_that_is_killed_is_no_error() {
    let _alone = support::alone();
    let Some(server) = Server::start_alone(&[]) else { return };
    for question in ["When are invoices sent?", "How are invoices paid?"] {
        let killed = number("SELECT pid::bigint FROM rag.daemon_status()");
        signal("KILL", killed);
        let answer = server.post("/ask", &json!({"question": question, "pipeline": "docs"}));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(answer.events().last().unwrap().0, "details", "{answer:?}");
        assert_ne!(number("SELECT pid::bigint FROM rag.daemon_status()"), killed);
    }
}

#[test]
fn without_a_database_it_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("host={} dbname=nothing user=nobody", folder.path().display());
    let server = Server::of(&url, false, &[]);
    for path in ["/healthz", "/v1/models"] {
        let response = request(&server.address, None, path, None);
        assert_eq!(response.status, 503, "{response:?}");
        let error = &response.json()["error"];
        assert_eq!(error["message"], "the database cannot be reached");
        assert!(!response.body.contains("nobody"), "{response:?}");
        assert!(response.head.contains("retry-after: "));
    }
    assert!(server.terminate());
}

#[test]
fn what_it_says_need_not_be_read_by_anybody() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("host={} dbname=nothing user=nobody", folder.path().display());
    let server = Server::unheard(&url);
    // It would say that there is no database, and that it ends.
    assert_eq!(request(&server.address, None, "/v1/models", None).status, 503);
    assert!(server.terminate());
}

#[test]
fn pages_of_other_sites_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("host={} dbname=nothing user=nobody", folder.path().display());
    let server = Server::of(&url, false, &[]);
    let check = |head: &str, status: u16| {
        let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
        let request = format!("GET / HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n");
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{head}: {response}");
        assert!(!response.to_ascii_lowercase().contains("access-control-allow"));
    };
    check("Host: localhost:8080", 200);
    check("Host: localhost:8080\r\nOrigin: http://localhost:8080", 200);
    check("Host: localhost:8080\r\nOrigin: https://evil.example", 403);
    check("Host: localhost:8080\r\nOrigin: https://évil.example", 403);
    check(&format!("Host: {}", server.address), 200);
    check("Host: 127.1.2.3:8080", 200);
    check("Host: 127.0.0.1.evil.example:8080", 403);
    // MCP wants that of its servers, too.
    let call = |origin: &str| {
        let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
        let head = format!("POST /mcp HTTP/1.1\r\nHost: {}\r\nOrigin: {origin}", server.address);
        let kinds = "Content-Type: application/json\r\nAccept: application/json, text/event-stream";
        let body = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}"#;
        let length = body.len();
        let request = format!(
            "{head}\r\n{kinds}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        std::io::Write::write_all(&mut stream, request.as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!(call(&format!("http://{}", server.address)), "200");
    assert_eq!(call("https://evil.example"), "403");
    assert_eq!(call("null"), "403");
    check("Host: evil.example:8080", 403);
}

#[test]
fn a_client_that_does_not_ask_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("host={} dbname=nothing user=nobody", folder.path().display());
    let server = Server::of(&url, false, &[]);
    let mut silent = std::net::TcpStream::connect(&server.address).unwrap();
    silent.set_read_timeout(Some(PATIENCE)).unwrap();
    std::io::Write::write_all(&mut silent, b"GET / HTTP/1.1\r\nHost: loc").unwrap();
    // Whether it is told why or not, its connection is closed.
    let mut response = Vec::new();
    silent.read_to_end(&mut response).unwrap();
    // Clients that keep a connection without asking do not keep the server.
    let _idle = std::net::TcpStream::connect(&server.address).unwrap();
    let began = Instant::now();
    assert!(server.terminate());
    assert!(began.elapsed() < Duration::from_secs(9), "{:?}", began.elapsed());
}

#[test]
fn a_head_without_end_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("host={} dbname=nothing user=nobody", folder.path().display());
    let server = Server::of(&url, false, &[]);
    let asked = |length: usize| {
        let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let more = "x".repeat(length);
        let head = format!("GET / HTTP/1.1\r\nHost: {}\r\nMore: {more}\r\n", server.address);
        // The server may close the connection while it is still being told.
        let _ = std::io::Write::write_all(&mut stream, head.as_bytes());
        let _ = std::io::Write::write_all(&mut stream, b"Connection: close\r\n\r\n");
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        response.starts_with(b"HTTP/1.1 200")
    };
    assert!(asked(30 << 10));
    assert!(!asked(200 << 10));
    assert!(asked(0), "others are answered");
}

#[test]
fn a_role_that_the_server_refuses_is_no_secret_and_no_crash() {
    let Some(url) = reader_url() else { return };
    let url = url.replace("user=rag_server_reader", "user=rag_server_is_not_there");
    let server = Server::of(&url, false, &[]);
    let response = request(&server.address, None, "/v1/models", None);
    assert_eq!(response.status, 503);
    assert!(!response.body.contains("is_not_there"), "{response:?}");
}

#[test]
fn figures_for_prometheus_count_what_was_asked() {
    let Some(server) = Server::start(&[]) else { return };
    assert_eq!(server.get("/v1/models").status, 200);
    support::request(&server.address, None, "/v1/models", None);
    let figures = server.get("/metrics").body;
    for line in [
        "rag_server_request_seconds_count{route=\"/v1/models\",status=\"200\"} 1",
        "rag_server_request_seconds_count{route=\"/v1/models\",status=\"401\"} 1",
        "rag_server_unknown_tokens_total 1",
        "rag_server_connections{state=\"idle\"} 1",
    ] {
        assert!(figures.lines().any(|have| have == line), "{line}\n{figures}");
    }
}

#[test]
fn tokens_are_read_again_when_the_server_is_told_to() {
    let Some(server) = Server::start(&[]) else { return };
    let status = |token: &str| request(&server.address, Some(token), "/v1/models", None).status;
    let (first, second) = ("first-token-0123456789", "second-token-0123456789");
    let entry = |token| json!({"token": token, "role": "rag_server_reader"});
    server.change_tokens(&json!([entry(READER), entry(first)]).to_string());
    wait_for("a new token", || status(first) == 200);
    assert_eq!((status(READER), status(support::STRANGER)), (200, 401));
    // Who asks now has the role of the file.
    let models = request(&server.address, Some(first), "/v1/models", None).json();
    assert_eq!(models["data"][0]["id"], "docs");

    server.change_tokens("[{");
    wait_for("a word about the file", || {
        server.heard().contains("the tokens that were read before still hold")
    });
    assert!(server.heard().contains("tokens.json: not an array of tokens"), "{}", server.heard());
    assert_eq!((status(first), status(second)), (200, 401));

    server.change_tokens(&json!([entry(second)]).to_string());
    wait_for("the next token", || status(second) == 200);
    assert_eq!((status(first), status(READER)), (401, 401));
    assert!(!server.heard().contains("token-0123456789"), "{}", server.heard());
    assert_eq!(request(&server.address, None, "/healthz", None).status, 200);
}

#[test]
fn a_request_outlives_its_token_and_the_connection_it_had_closes_after_it() {
    const SESSIONS: &str = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'rag-server' AND usename = 'rag_server_asker'";
    let _alone = support::alone();
    let Some(server) = Server::start_alone(&[]) else { return };
    let words = [
        (Duration::ZERO, "Invoices are sent "),
        (Duration::from_secs(2), "on the first day of each month [1]."),
    ];
    let _provider = language_model("writer_of_a_removed_token", words);
    let asked = json!({"question": "When are invoices sent?", "pipeline": "docs", "llm": "writer_of_a_removed_token"});
    let mut client = begin(&server, "/ask", &asked);
    let kept = json!([{"token": READER, "role": "rag_server_reader"}]);
    server.change_tokens(&kept.to_string());
    wait_for("a token that is refused", || {
        request(&server.address, Some(ASKER), "/v1/models", None).status == 401
    });
    assert_eq!(server.get("/v1/models").status, 200);
    let mut told = String::new();
    client.read_to_string(&mut told).unwrap();
    assert!(told.contains("event: details"), "{told}");
    until(SESSIONS, 0);
}

#[test]
fn a_statement_ends_with_the_server_though_its_token_is_gone() {
    let _alone = support::alone();
    let Some(server) = Server::start_alone(&[]) else { return };
    let slow = json!({"question": "Who is slow?", "pipeline": "slow"}).to_string();
    let client = send(&server.address, Some(READER), "/ask", Some(&slow));
    until_running(1);
    server.change_tokens(&json!([{"token": ASKER, "role": "rag_server_asker"}]).to_string());
    wait_for("a token that is refused", || server.get("/v1/models").status == 401);
    assert_eq!(number(RUNNING), 1, "a request that has begun goes on");
    // Nobody but the task that cancels it has the connection then.
    drop(client);
    assert!(server.terminate());
    until_running(0);
}

#[test]
fn without_a_file_of_tokens_there_is_none_to_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("host={} dbname=nothing user=nobody", folder.path().display());
    let server = Server::of(&url, false, &[]);
    server.hang_up();
    wait_for("a word about it", || server.heard().contains("there is no token file to read again"));
    assert_eq!(request(&server.address, None, "/", None).status, 200);
    assert!(server.terminate());
}
