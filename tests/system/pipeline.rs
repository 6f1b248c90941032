//! Pipelines that workers fill in the background: whatever is killed, refused, changed or
//! restored, in the end the chunks are those of the rows.

#[path = "pipeline/capture.rs"]
mod capture;
#[path = "pipeline/chaos.rs"]
mod chaos;
#[path = "pipeline/exchange.rs"]
mod exchange;
#[path = "pipeline/fairness.rs"]
mod fairness;
#[path = "pipeline/isolation.rs"]
mod isolation;
#[path = "pipeline/keys.rs"]
mod keys;
#[path = "pipeline/lifecycle.rs"]
mod lifecycle;
#[path = "pipeline/limits.rs"]
mod limits;
#[path = "pipeline/locks.rs"]
mod locks;
#[path = "pipeline/provider.rs"]
mod provider;
#[path = "pipeline/reliability.rs"]
mod reliability;
#[path = "pipeline/removal.rs"]
mod removal;
#[path = "pipeline/tenants.rs"]
mod tenants;
#[path = "pipeline/workers.rs"]
mod workers;

use std::time::{Duration, Instant};

use postgres::Client;

use super::cluster::Cluster;
use super::documents::{count, describe};

/// A table with a key, a content, a metadata column and one that is nothing to the pipeline.
const TABLE: &str = "
    CREATE EXTENSION IF NOT EXISTS pg_rag CASCADE;
    CREATE TABLE docs (id integer PRIMARY KEY, title text, body text, lang text);";

/// A pipeline over it, of small chunks.
const PIPELINE: &str = "SELECT rag_create_pipeline('docs', 'body', metadata => '{lang}', chunking => '{\"max_tokens\": 64}');";

/// A server with the table and the pipeline.
fn start(settings: &[&str]) -> Option<(Cluster, Client)> {
    let cluster = Cluster::start(settings)?;
    let mut client = cluster.connect();
    run(&mut client, &format!("{TABLE} {PIPELINE}"));
    Some((cluster, client))
}

/// Runs statements that must not fail.
fn run(client: &mut Client, statements: &str) {
    let done = client.batch_execute(statements);
    done.unwrap_or_else(|error| panic!("{statements}: {}", describe(&error)));
}

/// Waits until all that was committed can be found.
fn wait(client: &mut Client, pipeline: &str) {
    let done = client.query_one("SELECT rag_wait($1, '5 minutes')", &[&pipeline]);
    let done: bool = done.unwrap_or_else(|error| panic!("rag_wait: {}", describe(&error))).get(0);
    assert!(done, "{pipeline} is not done after five minutes: {:?}", status(client));
}

/// What somebody would look at who wonders why nothing happens.
fn status(client: &mut Client) -> Vec<String> {
    let query = "SELECT s::text FROM rag.pipeline_status AS s
                 UNION ALL SELECT q::text FROM (TABLE rag.queue LIMIT 20) AS q
                 UNION ALL SELECT i::text FROM (TABLE rag.intake LIMIT 20) AS i";
    client.query(query, &[]).unwrap().iter().map(|row| row.get(0)).collect()
}

/// Process IDs of the workers of the database.
fn workers(client: &mut Client) -> Vec<u32> {
    let query = "SELECT pid FROM pg_stat_activity
                 WHERE backend_type = 'pg_rag worker' AND datname = current_database()";
    let rows = client.query(query, &[]).unwrap();
    rows.iter().map(|row| row.get::<_, i32>(0) as u32).collect()
}

/// Rows that were seen to and chunks that were embedded, of the pipeline `docs`.
fn done(client: &mut Client) -> (i64, i64) {
    let query =
        "SELECT coalesce(sum(rows_done), 0)::bigint, coalesce(sum(chunks_embedded), 0)::bigint
                 FROM rag.activity JOIN rag.pipeline AS p ON p.id = pipeline WHERE p.name = 'docs'";
    let row = client.query_one(query, &[]).unwrap();
    (row.get(0), row.get(1))
}

/// Asserts that the chunks of `docs`, of so many tokens at most, are what cutting the rows gives,
/// with their metadata, and have the vectors of their texts.
fn assert_agree(client: &mut Client, max_tokens: usize) {
    // A row in one chunk that fits needs no second cut: that would take long for many rows.
    let difference = format!(
        "WITH whole AS (
             SELECT d.id FROM docs AS d JOIN docs_rag_chunks AS c ON c.source_id = d.id
             GROUP BY d.id HAVING count(*) = 1 AND min(c.content) = d.body AND min(c.chunk_no) = 0
                 AND min(c.start_char) = 0 AND max(c.token_count) <= {max_tokens}
         ), expected AS (
             SELECT d.id, c.chunk_no, c.content, c.start_char, c.end_char
             FROM docs AS d, rag_chunk(d.body, '{{\"max_tokens\": {max_tokens}}}') AS c
             WHERE d.id NOT IN (TABLE whole)
         ), stored AS (
             SELECT source_id, chunk_no, content, start_char, end_char FROM docs_rag_chunks
             WHERE source_id NOT IN (TABLE whole)
         )
         SELECT 'missing: ' || m::text FROM (TABLE expected EXCEPT ALL TABLE stored) AS m
         UNION ALL
         SELECT 'surplus: ' || s::text FROM (TABLE stored EXCEPT ALL TABLE expected) AS s"
    );
    assert_none(client, &difference);
    assert_none(
        client,
        "SELECT 'metadata: ' || c.source_id FROM docs AS d JOIN docs_rag_chunks AS c ON c.source_id = d.id
         WHERE d.lang IS DISTINCT FROM c.lang",
    );
    assert_none(
        client,
        "SELECT 'vector: ' || c.source_id
         FROM (SELECT * FROM docs_rag_chunks ORDER BY hashint4(source_id), chunk_no LIMIT 100) AS c
         WHERE c.embedding <=> rag_embed(c.content, c.model, 'passage') > 0.02",
    );
}

/// Asserts that a query gives no line.
fn assert_none(client: &mut Client, query: &str) {
    let rows = client.query(query, &[]);
    let rows = rows.unwrap_or_else(|error| panic!("{query}: {}", describe(&error)));
    let lines: Vec<&str> = rows.iter().take(20).map(|row| row.get(0)).collect();
    assert!(lines.is_empty(), "{} lines: {lines:#?}", rows.len());
}

/// How long it takes until a query gives this number; at most five minutes.
fn time_until(client: &mut Client, query: &str, number: i64) -> Duration {
    let begun = Instant::now();
    while count(client, query) != number {
        let is_late = begun.elapsed() > Duration::from_secs(300);
        assert!(!is_late, "{query} is not {number}: {:?}", status(client));
        std::thread::sleep(Duration::from_millis(2));
    }
    begun.elapsed()
}

/// A text of so many paragraphs, each about a chunk of 64 tokens, and none like another.
fn paragraphs(number: usize) -> String {
    let paragraph = |n: usize| super::documents::prose(n, 4).trim_end().to_owned() + "\n\n";
    (0..number).map(paragraph).collect()
}
