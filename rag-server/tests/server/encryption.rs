//! Whether the connection to the database is encrypted, and with whom it is.

use serde_json::json;

use crate::support::relay::{Authority, Relay, Taking};
use crate::support::{self, READER, Server, reader_url, request, send};

/// What is said where the database was reached, which has no connection left.
const REACHED: &str = "the database has no connection left";
const NOT_ENCRYPTED: &str = "the connection to the database cannot be encrypted as it has to be";

/// Asks through a relay; how many connections came through without TLS and with it, and what rag-server said of it.
fn check(taking: Taking, words: &str, counts: (usize, usize), message: &str) -> String {
    let relay = Relay::start(taking);
    let host = if words.contains("host=") { "" } else { "host=localhost" };
    let url = format!("{host} hostaddr=127.0.0.1 port={} user=reader {words}", relay.port);
    let server = Server::of(&url, false, &[]);
    let response = request(&server.address, None, "/v1/models", None);
    assert_eq!(response.status, 503, "{words}: {response:?}");
    assert_eq!(response.json()["error"]["message"], message, "{words}");
    assert_eq!(relay.counts(), counts, "{words}");
    server.said()
}

#[test]
fn a_mode_says_whether_the_connection_is_encrypted() {
    let authority = Authority::new();
    let both = Taking::certified(&authority, "localhost", None);
    check(both.clone(), "sslmode=disable", (1, 0), REACHED);
    check(both.clone(), "sslmode=allow", (1, 0), REACHED);
    check(both.clone(), "", (0, 1), REACHED);
    check(both.clone(), "sslmode=require", (0, 1), REACHED);
    let encrypted = Taking { refuses_plain: true, ..both.clone() };
    check(encrypted.clone(), "sslmode=allow", (0, 1), REACHED);
    let refused = "the database does not accept the role of this token";
    check(encrypted, "sslmode=disable", (0, 0), refused);
    let plain = Taking { refuses_encrypted: true, ..both };
    check(plain.clone(), "sslmode=prefer", (1, 0), REACHED);
    check(plain, "sslmode=require", (0, 0), refused);
    // A server without TLS.
    check(Taking::default(), "sslmode=prefer", (1, 0), REACHED);
    let said = check(Taking::default(), "sslmode=require", (0, 0), NOT_ENCRYPTED);
    assert!(said.contains("server does not support TLS"), "{said}");
}

#[test]
fn a_certificate_is_checked_as_far_as_the_mode_says() {
    let (authority, other) = (Authority::new(), Authority::new());
    let taking = Taking::certified(&authority, "localhost", None);
    let (own, another) = (authority.file(), other.file());
    let words = |mode: &str, root: &str| format!("sslmode={mode} sslrootcert={root}");
    for mode in ["require", "verify-ca", "verify-full"] {
        check(taking.clone(), &words(mode, &own), (0, 1), REACHED);
        let said = check(taking.clone(), &words(mode, &another), (0, 0), NOT_ENCRYPTED);
        assert!(said.contains("sslrootcert does not hold the authority"), "{said}");
    }
    // Below these it is better to be encrypted for anybody than for nobody.
    check(taking.clone(), &words("prefer", &another), (0, 1), REACHED);
    let elsewhere = |mode| format!("host=db.example {}", words(mode, &own));
    check(taking.clone(), &elsewhere("verify-ca"), (0, 1), REACHED);
    let said = check(taking, &elsewhere("verify-full"), (0, 0), NOT_ENCRYPTED);
    assert!(said.contains("must be a subjectAltName of the certificate"), "{said}");
}

#[test]
fn an_authority_that_has_expired_is_said_to_have() {
    let authority = Authority::until(2020);
    let taking = Taking::certified(&authority, "localhost", None);
    let words = format!("sslmode=verify-full sslrootcert={}", authority.file());
    let said = check(taking, &words, (0, 0), NOT_ENCRYPTED);
    assert!(
        said.contains("the authority of sslrootcert") && said.contains("has expired"),
        "{said}"
    );
}

#[test]
fn a_certificate_that_is_revoked_is_not_accepted() {
    let authority = Authority::new();
    let taking = Taking::certified(&authority, "localhost", None);
    let words =
        |list: &str| format!("sslmode=verify-full sslrootcert={} sslcrl={list}", authority.file());
    check(taking.clone(), &words(&authority.list(false, 4096)), (0, 1), REACHED);
    let refused = |words: &str, hint: &str| {
        let said = check(taking.clone(), words, (0, 0), NOT_ENCRYPTED);
        assert!(said.contains(hint), "{said}");
    };
    refused(&words(&authority.list(true, 4096)), "is revoked");
    refused(&words(&authority.list(false, 2020)), "a newer list of the authority");
    let other = Authority::named("other");
    refused(&words(&other.list(false, 4096)), "need a list of each authority");
}

#[test]
fn each_host_is_reached_in_its_own_way() {
    let authority = Authority::new();
    let relay = Relay::start(Taking::certified(&authority, "localhost", None));
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().display();
    let reached = |url: &str| {
        let server = Server::of(url, false, &[]);
        let response = request(&server.address, None, "/v1/models", None);
        (response.json()["error"]["message"].as_str().map(str::to_owned), server.said())
    };
    let words = format!("sslmode=verify-full sslrootcert={} user=reader", authority.file());
    let (message, said) = reached(&format!("host={folder},localhost port={0} {words}", relay.port));
    assert_eq!((message.as_deref(), relay.counts()), (Some(REACHED), (0, 1)), "{said}");
    // That the first host could not be reached is said, too.
    assert!(said.contains("error connecting to server"), "{said}");
}

#[test]
fn a_socket_is_asked_without_tls_beside_a_host_that_needs_it() {
    let Some(url) = reader_url() else { return };
    let _alone = support::alone();
    let config: tokio_postgres::Config = url.parse().unwrap();
    let tokio_postgres::config::Host::Unix(folder) = &config.get_hosts()[0] else { return };
    let url = format!(
        "host=localhost,{} port=1,{} user=rag_server_reader dbname={} sslmode=require",
        folder.display(),
        config.get_ports()[0],
        config.get_dbname().unwrap()
    );
    let server = Server::of(&url, true, &[]);
    let answer =
        server.post("/ask", &json!({"question": "When are invoices sent?", "pipeline": "docs"}));
    assert!(answer.body.contains("first day of each month"), "{answer:?}");
}

#[test]
fn a_server_may_want_a_certificate_too() {
    let (authority, other) = (Authority::new(), Authority::new());
    let taking = Taking::certified(&authority, "localhost", Some(&authority));
    let said = check(taking.clone(), "sslmode=require", (0, 0), NOT_ENCRYPTED);
    assert!(said.contains("does not accept sslcert, or wants one"), "{said}");
    let with = |authority: &Authority| format!("sslmode=require {}", authority.words_for("reader"));
    check(taking.clone(), &with(&other), (0, 0), NOT_ENCRYPTED);
    check(taking, &with(&authority), (0, 1), REACHED);
}

#[test]
fn answers_and_cancels_go_over_tls() {
    let Some(url) = reader_url() else { return };
    let _alone = support::alone();
    let config: tokio_postgres::Config = url.parse().unwrap();
    let tokio_postgres::config::Host::Unix(folder) = &config.get_hosts()[0] else { return };
    let socket = folder.join(format!(".s.PGSQL.{}", config.get_ports()[0]));
    let authority = Authority::new();
    let taking = Taking {
        refuses_plain: true,
        behind: Some(socket),
        ..Taking::certified(&authority, "localhost", None)
    };
    let relay = Relay::start(taking);
    let url = format!(
        "postgresql://rag_server_reader@localhost:{}/{}?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={}",
        relay.port,
        config.get_dbname().unwrap(),
        authority.file()
    );
    let server = Server::of(&url, true, &[]);
    let answer =
        server.post("/ask", &json!({"question": "When are invoices sent?", "pipeline": "docs"}));
    assert!(answer.body.contains("first day of each month"), "{answer:?}");
    let slow = json!({"question": "Who is slow?", "pipeline": "slow"}).to_string();
    let client = send(&server.address, Some(READER), "/ask", Some(&slow));
    super::lives::until_running(1);
    drop(client);
    super::lives::until_running(0);
    assert_eq!(relay.counts().0, 0);
}
