//! A question is answered whole while a new generation of the chunks takes the place of the old one.

use std::sync::Mutex;

use super::super::cluster::wait_for;
use super::super::documents::assert_fails;
use super::super::http_server::{Reply, Server};
use super::super::provider::server;
use super::lifecycle::{fill, is_made};
use super::*;

const RETRIEVE: &str = "SELECT count(*) FROM rag_retrieve('the orchard and the harbour', 'docs')";

/// Questions to one pipeline, one by one and in a batch, to the one of two that has the nearest chunk, to several, to all that can be read,
/// and one that is answered, each with what it counts: passages, of all that can be read pipelines, answers that
/// were given something to read.
const QUESTIONS: [(&str, i64); 6] = [
    (RETRIEVE, 5),
    (
        "SELECT count(*) FROM rag_retrieve_batch(ARRAY['the orchard', 'the harbour'], 'docs', k => 5)",
        10,
    ),
    ("SELECT count(*) FROM rag_retrieve('the orchard and the harbour', 'auto')", 5),
    ("SELECT count(*) FROM rag_retrieve('the orchard and the harbour', '{docs,notes}')", 5),
    (
        "SELECT count(DISTINCT pipeline) FROM rag_retrieve('the orchard and the harbour', '*', k => 20)",
        2,
    ),
    (
        "SELECT count(*) FROM rag_answer_details('Where is the harbour?', 'docs')
         WHERE jsonb_array_length(context) > 0",
        1,
    ),
];

/// Has a new generation take the place of the old one.
fn exchange(client: &mut Client, generation: i32, change: &str) {
    run(client, &format!("SELECT rag_alter_pipeline('docs', {change})"));
    assert!(wait_for(|| is_made(client, generation)), "{:?}", status(client));
}

/// Changes that keep the view of the chunks, and one that replaces it.
const CHANGES: [(i32, &str); 2] =
    [(2, r#"chunking => '{"max_tokens": 32}'"#), (3, "metadata => '{lang,title}'")];

#[test]
fn a_snapshot_is_older_than_the_generation() {
    let Some((cluster, mut client)) = start(&[]) else { return };
    fill(&mut client, 10);
    run(
        &mut client,
        "CREATE TABLE notes (LIKE docs INCLUDING ALL);
         INSERT INTO notes SELECT * FROM docs;
         SELECT rag_create_pipeline('notes', 'body');",
    );
    wait(&mut client, "docs");
    wait(&mut client, "notes");
    for (generation, change) in CHANGES {
        let mut transaction = cluster.connect();
        run(&mut transaction, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1");
        run(&mut client, "SELECT pg_advisory_lock(1)");
        let waiting = QUESTIONS.map(|(question, found)| {
            let mut client = cluster.connect();
            let statement = format!("SELECT pg_advisory_lock_shared(1)::text, ({question})");
            std::thread::spawn(move || {
                let row = client.query_one(&statement, &[]);
                let row = row.unwrap_or_else(|error| panic!("{question}: {}", describe(&error)));
                assert_eq!(row.get::<_, i64>(1), found, "{question} after {change}");
            })
        });
        let blocked = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
        let wait = || count(&mut client, blocked) == QUESTIONS.len() as i64;
        assert!(wait_for(wait), "the statements do not wait");
        exchange(&mut client, generation, change);
        run(&mut client, "SELECT pg_advisory_unlock(1)");
        waiting.into_iter().for_each(|it| it.join().unwrap());
        for (question, found) in QUESTIONS {
            run(&mut transaction, "SAVEPOINT asked");
            assert_fails(
                &mut transaction,
                question,
                &["40001", "\"docs\"", "Repeat the transaction."],
            );
            run(&mut transaction, "ROLLBACK TO asked");
            assert_eq!(count(&mut client, question), found, "{question} after {change}");
        }
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
        // Each is asked for once, though what is found for it is looked for twice.
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
