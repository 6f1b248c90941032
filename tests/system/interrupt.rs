//! Cancel, statement_timeout and pg_terminate_backend in the middle of slow work: they act at
//! once, and what nobody waits for any more is not done.

use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::{SETUP, count, describe, found, prose};
use super::http_server::{Reply, Server};
use super::provider;

/// How long slow work goes on before it is interrupted.
const BEFORE: Duration = Duration::from_millis(700);

/// The same where the provider is to have been asked by then, which comes after a search.
const BEFORE_ASKED: Duration = Duration::from_secs(5);

/// What an interrupt may take on a machine that does other things too. It is meant to be far
/// below 100 ms, which the printed figures show.
const LIMIT: Duration = Duration::from_secs(5);

/// Seconds of embedding, for any machine.
fn slow_embedding() -> String {
    let texts: Vec<String> = (0..512).map(|seed| format!("'{}'", prose(seed, 30))).collect();
    format!("SELECT rag_embed_batch(ARRAY[{}])", texts.join(","))
}

/// A load that embeds in a trigger.
fn slow_insert() -> String {
    let rows: Vec<String> =
        (0..512).map(|seed| format!("({}, 'x', '{}')", seed + 10, prose(seed, 30))).collect();
    format!("INSERT INTO docs VALUES {}", rows.join(","))
}

#[test]
fn slow_embedding_is_interrupted() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let mut other = cluster.connect();
    other.batch_execute(SETUP).unwrap();
    found(&mut other);
    for (what, statement) in [("rag_embed", slow_embedding()), ("INSERT", slow_insert())] {
        interrupt_each_way(&cluster, what, (&statement, BEFORE), || drained(&cluster));
    }
    assert_eq!(count(&mut other, "SELECT count(*) FROM docs_rag_chunks WHERE source_id >= 10"), 0);
    assert_eq!(count(&mut other, "SELECT count(*) FROM docs"), 3);
}

#[test]
fn slow_call_of_a_provider_is_interrupted() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::chat("too late").delay(Duration::from_secs(60))]);
    let mut other = cluster.connect();
    other.batch_execute(&format!("{SETUP} {}", provider::server("slow", &http))).unwrap();
    found(&mut other);
    let mut gone = 0;
    for (what, statement) in [
        ("rag_generate", "SELECT rag_generate('Hello', 'slow')"),
        ("rag_answer", "SELECT rag_answer('How do I reset a password?', llm => 'slow')"),
    ] {
        interrupt_each_way(&cluster, what, (statement, BEFORE_ASKED), || {
            gone += 1;
            assert!(wait_for(|| http.abandoned() >= gone), "ragd still waits for the provider");
        });
    }
    assert_eq!(http.requests().len(), 6, "a call was made again");
}

/// Interrupts a slow statement after a time by each of the three means. `afterwards` sees to it
/// that the work has stopped.
fn interrupt_each_way(
    cluster: &Cluster,
    what: &str,
    (statement, before): (&str, Duration),
    mut afterwards: impl FnMut(),
) {
    let cancel = cancelled(cluster, statement, before);
    afterwards();
    let timeout = timed_out(cluster, statement, before);
    afterwards();
    let terminate = terminated(cluster, statement, before);
    afterwards();
    println!(
        "{what}: cancel {} ms, statement_timeout {} ms, pg_terminate_backend {} ms",
        cancel.as_millis(),
        timeout.as_millis(),
        terminate.as_millis()
    );
    for (means, took) in [("cancel", cancel), ("timeout", timeout), ("terminate", terminate)] {
        assert!(took < LIMIT, "{what}: {means} took {took:?}");
    }
}

fn cancelled(cluster: &Cluster, statement: &str, before: Duration) -> Duration {
    let mut client = cluster.connect();
    let mut canceller = cluster.canceller(&mut client);
    let canceller = thread::spawn(move || {
        thread::sleep(before);
        canceller.cancel()
    });
    let (error, ended) = run(&mut client, statement);
    assert!(error.starts_with("57014"), "{error}");
    assert_eq!(found(&mut client)[0], "1", "the session's next call");
    ended.saturating_duration_since(canceller.join().unwrap())
}

fn timed_out(cluster: &Cluster, statement: &str, before: Duration) -> Duration {
    let mut client = cluster.connect();
    client.batch_execute(&format!("SET statement_timeout = {}", before.as_millis())).unwrap();
    let due = Instant::now() + before;
    let (error, ended) = run(&mut client, statement);
    assert!(error.starts_with("57014"), "{error}");
    client.batch_execute("SET statement_timeout = 0").unwrap();
    assert_eq!(found(&mut client)[0], "1", "the session's next call");
    ended.saturating_duration_since(due)
}

fn terminated(cluster: &Cluster, statement: &str, before: Duration) -> Duration {
    let (mut client, mut other) = (cluster.connect(), cluster.connect());
    let backend: i32 = client.query_one("SELECT pg_backend_pid()", &[]).unwrap().get(0);
    let terminator = thread::spawn(move || {
        thread::sleep(before);
        let asked = Instant::now();
        other.execute("SELECT pg_terminate_backend($1)", &[&backend]).expect("to terminate");
        asked
    });
    let (error, ended) = run(&mut client, statement);
    // The driver may see the end of the connection before the server's last word.
    assert!(error.starts_with("57P01") || error == "connection closed", "{error}");
    assert_eq!(found(&mut cluster.connect())[0], "1", "another session's next call");
    ended.saturating_duration_since(terminator.join().unwrap())
}

/// Runs a statement that will be interrupted: its error, and when it came.
fn run(client: &mut Client, statement: &str) -> (String, Instant) {
    let error = client.batch_execute(statement).expect_err("an interrupted statement");
    (describe(&error), Instant::now())
}

/// Waits until no text waits in ragd.
fn drained(cluster: &Cluster) {
    let mut client = cluster.connect();
    let empty = wait_for(|| count(&mut client, "SELECT waiting FROM rag.daemon_status()") == 0);
    assert!(empty, "ragd works for nobody");
}
