//! Many calls of a language model in flight, about chunks, in the background: an HTTP server on loopback.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

use postgres::Client;

use super::cluster::{Cluster, wait_for};
use super::documents::count;
use super::http_server::{Reply, Request, Server};
use super::provider::server;

/// So long a test waits for something that has to come.
const LONG: Duration = Duration::from_secs(120);

/// Calls at once.
pub const CALLS: usize = 4;

const RULES: i64 = 40;

/// A language model that says when it has been asked, and answers when it may.
#[derive(Default)]
pub struct Writer {
    in_flight: AtomicUsize,
    most: AtomicUsize,
    /// Whether calls are held back.
    is_closed: Mutex<bool>,
    opened: Condvar,
}

impl Writer {
    pub fn serve(self: &Arc<Writer>) -> Server {
        let writer = Arc::clone(self);
        Server::answer(move |_| {
            writer
                .most
                .fetch_max(writer.in_flight.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let closed = writer.is_closed.lock().unwrap();
            drop(writer.opened.wait_timeout_while(closed, LONG, |is_closed| *is_closed).unwrap());
            writer.in_flight.fetch_sub(1, Ordering::SeqCst);
            Reply::chat("{\"summary\": \"Who may do what.\"}")
        })
    }

    pub fn close(&self) {
        *self.is_closed.lock().unwrap() = true;
    }

    pub fn open(&self) {
        *self.is_closed.lock().unwrap() = false;
        self.opened.notify_all();
    }

    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::SeqCst)
    }
}

/// A pipeline over rules, whose summaries `http` writes.
fn setup(client: &mut Client, http: &Server, refresh: &str) {
    client
        .batch_execute(&format!(
            "CREATE EXTENSION pg_rag CASCADE;
             CREATE TABLE rules (id integer PRIMARY KEY, body text);
             INSERT INTO rules SELECT n, 'Rule ' || n || ' of the house.' FROM generate_series(1, {RULES}) AS n;
             {}
             ALTER SERVER writer OPTIONS (ADD max_concurrency '{CALLS}');
             SELECT rag_create_pipeline('rules', 'body', refresh => '{refresh}',
                 options => '{{\"backfill\": \"now\", \"represent\": {{\"summary\": true, \"llm\": \"writer\"}}}}');",
            server("writer", http)
        ))
        .unwrap();
}

const DESCRIBED: &str = "SELECT count(DISTINCT content_hash) FROM rules_rag_chunks_representations WHERE embedding IS NOT NULL";

const STATUS: &str =
    "SELECT concat_ws(' ', kind, llm, state, missing, done, empty) FROM rag.derivation_status";

fn text(client: &mut Client, query: &str) -> String {
    client.query_one(query, &[]).unwrap_or_else(|error| panic!("{query}: {error:?}")).get(0)
}

/// How often each rule was asked about.
fn asked(requests: &[Request]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for request in requests {
        let text = request.text();
        let at = text.find("Rule ").expect("a rule");
        let rule = text[at..].split(" of the house").next().expect("its number");
        *counts.entry(rule.to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn as_many_calls_are_in_flight_as_the_provider_allows_and_none_is_made_twice() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let writer = Arc::new(Writer::default());
    let http = writer.serve();
    let mut client = cluster.connect();
    setup(&mut client, &http, "async");
    // A worker is at work on it, and two sessions beside it.
    let others: Vec<_> = (0..2)
        .map(|_| {
            let mut other = cluster.connect();
            thread::spawn(move || {
                other.batch_execute("CALL rag_run('rules')").map_err(|it| format!("{it:?}"))
            })
        })
        .collect();
    // Each answer makes room for one more call, so calls that are held back pile up.
    assert!(wait_for(|| http.requests().len() > 2 * CALLS));
    writer.close();
    assert!(wait_for(|| writer.in_flight() == CALLS || http.requests().len() as i64 == RULES));
    writer.open();
    for other in others {
        other.join().expect("a session's thread").unwrap();
    }
    assert!(wait_for(|| count(&mut client, DESCRIBED) == RULES));
    assert!(wait_for(|| text(&mut client, STATUS) == "representations writer live 0 40 0"));
    let asked = asked(&http.requests());
    assert_eq!(asked.len() as i64, RULES);
    assert!(asked.values().all(|times| *times == 1), "{asked:?}");
    let most = writer.most.load(Ordering::SeqCst);
    assert!((2..=CALLS).contains(&most), "{most} calls at once");
    assert_eq!(
        text(
            &mut client,
            "SELECT string_agg(missing_derivations::text, ' ') FROM rag.pipeline_status"
        ),
        "0"
    );
}

#[test]
fn rows_that_change_are_embedded_while_a_language_model_writes() {
    let Some(cluster) = Cluster::start(&["rag.max_workers = 1"]) else { return };
    let writer = Arc::new(Writer::default());
    let http = writer.serve();
    let mut client = cluster.connect();
    writer.close();
    setup(&mut client, &http, "async");
    assert!(wait_for(|| writer.in_flight() == 1), "it begins with one call");
    client.batch_execute("INSERT INTO rules VALUES (1000, 'Dogs stay outside.')").unwrap();
    let wait = "SELECT rag_wait('rules', '2 minutes')";
    assert!(client.query_one(wait, &[]).unwrap().get::<_, bool>(0));
    let best = "SELECT source_key FROM rag_retrieve('May I bring my dog?', 'rules', k => 1)";
    assert_eq!(text(&mut client, best), "1000");
    assert_eq!(writer.in_flight(), 1, "it is still writing");
    writer.open();
    assert!(wait_for(|| count(&mut client, DESCRIBED) == RULES + 1));
}

#[test]
fn what_was_asked_for_before_a_pause_is_kept() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let writer = Arc::new(Writer::default());
    let http = writer.serve();
    let mut client = cluster.connect();
    setup(&mut client, &http, "async");
    assert!(wait_for(|| http.requests().len() > 2 * CALLS));
    writer.close();
    assert!(wait_for(|| writer.in_flight() == CALLS));
    client.batch_execute("SELECT rag_pause('rules')").unwrap();
    writer.open();
    let kept = "SELECT done FROM rag.derivation_status";
    assert!(wait_for(|| count(&mut client, kept) == http.requests().len() as i64));
    assert!(text(&mut client, STATUS).starts_with("representations writer paused "));
    assert!((http.requests().len() as i64) < RULES, "nothing is asked any more");
    client.batch_execute("SELECT rag_resume('rules')").unwrap();
    assert!(wait_for(|| count(&mut client, DESCRIBED) == RULES));
    let asked = asked(&http.requests());
    assert!(asked.values().all(|times| *times == 1), "{asked:?}");
}

#[test]
fn a_crash_costs_no_more_than_the_calls_in_flight() {
    let Some(mut cluster) = Cluster::start(&[]) else { return };
    let writer = Arc::new(Writer::default());
    let http = writer.serve();
    let mut client = cluster.connect();
    setup(&mut client, &http, "async");
    let kept = "SELECT done FROM rag.derivation_status";
    assert!(wait_for(|| count(&mut client, kept) > 10));
    writer.close();
    assert!(wait_for(|| writer.in_flight() == CALLS));
    cluster.kill();
    writer.open();
    cluster.boot();
    let mut client = cluster.connect();
    client.batch_execute("INSERT INTO rules VALUES (1000, 'Rule 1000 of the house.')").unwrap();
    assert!(wait_for(|| count(&mut client, DESCRIBED) == RULES + 1));
    let asked = asked(&http.requests());
    let again = asked.values().filter(|times| **times > 1).count();
    assert!((1..=CALLS).contains(&again), "{again} are paid for twice: {asked:?}");
    assert!(asked.values().all(|times| *times <= 2), "{asked:?}");
}
