//! Summaries and questions of chunks, made by a language model: an HTTP server on loopback.

use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{assert_fails, count};
use super::http_server::{Reply, Request, Server};
use super::provider::server;

const SETUP: &str = "
    CREATE EXTENSION pg_rag CASCADE;
    CREATE TABLE rules (id integer PRIMARY KEY, body text);
    INSERT INTO rules VALUES
        (1, 'Section 7 b. Employees of grade 3 take the lift on the left.'),
        (2, 'Section 9. The canteen serves soup from noon.');";

/// Describes the passage that a request holds.
fn describe(request: &Request) -> Reply {
    let text = request.text();
    assert!(text.contains("<<<source 1 "), "{text}");
    Reply::chat(if text.contains("lift on the left") {
        "{\"summary\": \"Who may use which elevator.\", \"questions\": [\"Where do interns park their bicycles?\", \"Which elevator?\"]}"
    } else if text.contains("soup") {
        "I would rather not."
    } else {
        "{\"questions\": [\"What is new?\"]}"
    })
}

fn wait(client: &mut Client, query: &str, expected: i64) {
    let end = Instant::now() + Duration::from_secs(300);
    while count(client, query) != expected {
        assert!(Instant::now() < end, "{query} is {} and not {expected}", count(client, query));
        thread::sleep(Duration::from_millis(50));
    }
}

const DESCRIBED: &str = "SELECT count(DISTINCT content_hash) FROM rules_rag_chunks_representations";

fn best(client: &mut Client, question: &str) -> String {
    let query = "SELECT source_key FROM rag_retrieve($1, k => 1, mode => 'dense')";
    client.query_one(query, &[&question]).unwrap().get(0)
}

#[test]
fn a_chunk_is_found_by_the_questions_that_it_answers() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(describe);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute(
        "SELECT rag_create_pipeline('rules', 'body', options => '{\"represent\": {\"summary\": true, \"questions\": 1, \"llm\": \"writer\"}}')",
    ).unwrap();
    wait(&mut client, DESCRIBED, 2);
    let texts = "SELECT string_agg(concat_ws(' ', kind, no, content), '; ' ORDER BY kind, no) FROM rules_rag_chunks_representations";
    let found: String = client.query_one(texts, &[]).unwrap().get(0);
    assert_eq!(
        found,
        "none 1; question 1 Where do interns park their bicycles?; summary 1 Who may use which elevator."
    );
    let row = client.query_one("SELECT source_key, content FROM rag_retrieve('Where do interns park their bicycles?', k => 1, mode => 'dense')", &[]).unwrap();
    assert_eq!(row.get::<_, &str>(0), "1");
    assert!(row.get::<_, &str>(1).starts_with("Section 7 b."), "the chunk itself is returned");
    assert_eq!(http.requests().len(), 2);

    // A text that comes back costs nothing, a new one a call.
    client.batch_execute("DELETE FROM rules WHERE id = 2; INSERT INTO rules VALUES (3, 'Section 9. The canteen serves soup from noon.'), (4, 'A new rule.')").unwrap();
    wait(&mut client, DESCRIBED, 3);
    assert_eq!(http.requests().len(), 3);
    assert_eq!(best(&mut client, "What is new?"), "4");

    // Who may not see a row does not find it by what was made of it.
    client.batch_execute(
        "CREATE ROLE guest; GRANT SELECT ON rules, rules_rag, rules_rag_chunks, rules_rag_chunks_representations TO guest;
         ALTER TABLE rules ENABLE ROW LEVEL SECURITY; CREATE POLICY later_ones ON rules USING (id > 1); SET ROLE guest;",
    ).unwrap();
    assert_ne!(best(&mut client, "Where do interns park their bicycles?"), "1");
    assert_eq!(count(&mut client, DESCRIBED), 2);
    client.batch_execute("RESET ROLE").unwrap();

    // Another template describes anew; without the option the table goes.
    client
        .batch_execute("SELECT rag_template_set('represent', '{{ frame }} {{ chunk }}')")
        .unwrap();
    client.batch_execute("INSERT INTO rules VALUES (5, 'A newer rule.')").unwrap();
    wait(
        &mut client,
        "SELECT count(DISTINCT content_hash) FROM rules_rag_chunks_representations WHERE template = 'represent@1'",
        4,
    );
    client
        .batch_execute("SELECT rag_alter_pipeline('rules', options => '{\"represent\": false}')")
        .unwrap();
    assert_eq!(
        count(&mut client, "SELECT count(*) FROM pg_class WHERE relname LIKE '%representations'"),
        0
    );
    assert_eq!(best(&mut client, "canteen soup"), "3");
}

#[test]
fn descriptions_follow_their_pipeline() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::answer(describe);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute("SELECT rag_create_pipeline('rules', 'body', mode => 'manual', options => '{\"backfill\": \"now\"}')").unwrap();
    client.batch_execute("SELECT rag_alter_pipeline('rules', options => '{\"represent\": {\"questions\": 2, \"llm\": \"writer\"}}')").unwrap();
    client.batch_execute("CALL rag_run('rules')").unwrap();
    assert_eq!(count(&mut client, DESCRIBED), 2);
    // A new generation has a table of its own, and the old one goes with its chunks.
    client.batch_execute("SELECT rag_alter_pipeline('rules', max_tokens => 64)").unwrap();
    client.batch_execute("CALL rag_run('rules')").unwrap();
    let tables =
        "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE '%representations'";
    assert_eq!(count(&mut client, tables), 1);
    assert_eq!(best(&mut client, "Where do interns park their bicycles?"), "1");
    client.batch_execute("SELECT rag_drop_pipeline('rules')").unwrap();
    assert_eq!(count(&mut client, tables), 0);
}

#[test]
fn a_language_model_that_is_away_keeps_nobody_waiting() {
    let Some(cluster) = Cluster::start(&[]) else { return };
    let http = Server::play([Reply::json(500, "{}")]);
    let mut client = cluster.connect();
    client.batch_execute(&format!("{SETUP} {}", server("writer", &http))).unwrap();
    client.batch_execute("ALTER SERVER writer OPTIONS (SET max_retries '0')").unwrap();
    client.batch_execute(
        "SELECT rag_create_pipeline('rules', 'body', options => '{\"represent\": {\"summary\": true, \"llm\": \"writer\"}}');
         INSERT INTO rules VALUES (3, 'Dogs stay outside.');",
    ).unwrap();
    assert!(
        client.query_one("SELECT rag_wait('rules', '5 minutes')", &[]).unwrap().get::<_, bool>(0)
    );
    assert_eq!(best(&mut client, "May I bring my dog?"), "3");
    wait(&mut client, "SELECT count(*) FROM rag.activity WHERE last_error ~ '500'", 1);
    assert_eq!(count(&mut client, DESCRIBED), 0);

    for (statement, parts) in [
        (
            "SELECT rag_alter_pipeline('rules', options => '{\"represent\": {}}')",
            ["22023", "neither a summary nor questions"],
        ),
        (
            "SELECT rag_alter_pipeline('rules', options => '{\"represent\": {\"summary\": true}}')",
            ["0A000", "needs a language model"],
        ),
        (
            "SELECT rag_alter_pipeline('rules', options => '{\"represent\": {\"summary\": true, \"llm\": \"nowhere\"}}')",
            ["42704", "nowhere"],
        ),
        ("SELECT rag_alter_pipeline('rules', mode => 'sync')", ["22023", "mode sync"]),
    ] {
        assert_fails(&mut client, statement, &parts);
    }
}
