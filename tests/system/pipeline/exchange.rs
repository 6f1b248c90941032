//! A question is answered whole while a new generation of the chunks takes the place of the old one.

use std::sync::Mutex;

use super::super::documents::assert_fails;
use super::super::http_server::{Reply, Server};
use super::super::provider::server;
use super::lifecycle::{fill, is_made};
use super::*;

const RETRIEVE: &str = "SELECT count(*) FROM rag_retrieve('the orchard and the harbour', 'docs')";

/// Has a new generation take the place of the old one.
fn exchange(client: &mut Client, generation: i32, change: &str) {
    run(client, &format!("SELECT rag_alter_pipeline('docs', {change})"));
    let begun = Instant::now();
    while !is_made(client, generation) {
        assert!(begun.elapsed() < Duration::from_secs(300), "{:?}", status(client));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Changes that keep the view of the chunks, and one that replaces it.
const CHANGES: [(i32, &str); 2] =
    [(2, r#"chunking => '{"max_tokens": 32}'"#), (3, "metadata => '{lang,title}'")];

#[test]
fn a_snapshot_is_older_than_the_generation() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    fill(&mut client, 10);
    wait(&mut client, "docs");
    for (generation, change) in CHANGES {
        let mut transaction = cluster.connect();
        run(&mut transaction, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
        run(&mut client, "SELECT pg_advisory_lock(1)");
        let mut waiting = cluster.connect();
        let statement = format!("SELECT pg_advisory_lock(1)::text, ({RETRIEVE})");
        let statement = std::thread::spawn(move || -> i64 {
            let row = waiting.query_one(&statement, &[]);
            row.unwrap_or_else(|error| panic!("{}", describe(&error))).get(1)
        });
        let begun = Instant::now();
        let blocked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
        while count(&mut client, blocked) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(300), "the statement does not wait");
            std::thread::sleep(Duration::from_millis(20));
        }
        exchange(&mut client, generation, change);
        run(&mut client, "SELECT pg_advisory_unlock(1)");
        assert_eq!(statement.join().unwrap(), 5, "{change}");
        assert_fails(&mut transaction, RETRIEVE, &["40001", "\"docs\"", "Repeat the transaction."]);
        run(&mut transaction, "ROLLBACK");
        assert_eq!(count(&mut transaction, RETRIEVE), 5, "{change}");
    }
}

/// Nothing is locked while a model is waited for.
#[test]
fn a_model_takes_longer_than_the_exchange() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    fill(&mut client, 10);
    wait(&mut client, "docs");
    let other = Mutex::new((CHANGES.into_iter(), cluster.connect()));
    let http = Server::answer(move |_| {
        let (changes, client) = &mut *other.lock().unwrap();
        match changes.next() {
            Some((generation, change)) => exchange(client, generation, change),
            None => run(client, "SELECT rag_drop_pipeline('docs')"),
        }
        Reply::chat("1. Where is the harbour?\n2. What grows in the orchard?")
    });
    run(&mut client, &server("writer", &http));
    let question = |text: &str| {
        format!(
            "SELECT count(*) FROM rag_retrieve('{text}', 'docs', rewrite => 'multi_query',
                 options => '{{\"llm\": \"writer\"}}')"
        )
    };
    for (generation, change) in CHANGES {
        assert_eq!(count(&mut client, &question(&format!("orchards {generation}"))), 5, "{change}");
        assert!(is_made(&mut client, generation), "{change} was made while the model wrote");
    }
    let dropped = ["42704", "pipeline \"docs\" does not exist"];
    assert_fails(&mut client, &question("harbours"), &dropped);
}
