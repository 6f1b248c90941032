//! Many sessions change one source at once: at the end the chunks are those of the rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use postgres::{Client, Error};

use super::cluster::Cluster;
use super::documents::{SETUP, count, describe, prose};

const SESSIONS: usize = 8;
const TIME: Duration = Duration::from_secs(10);

/// Few keys, so that the sessions meet.
const KEYS: usize = 30;

/// Chunks that no row has, and rows' chunks that are not there.
const DIFFERENCE: &str = "
    WITH expected AS (
        SELECT d.id, c.chunk_no, c.content, c.start_char, c.end_char
        FROM docs d, rag_chunk(d.body, '{\"max_tokens\": 64}') c
    ), stored AS (
        SELECT source_id, chunk_no, content, start_char, end_char FROM docs_rag_chunks
    )
    SELECT 'missing: ' || m::text FROM (TABLE expected EXCEPT TABLE stored) AS m
    UNION ALL
    SELECT 'surplus: ' || s::text FROM (TABLE stored EXCEPT TABLE expected) AS s";

#[test]
fn chunks_and_rows_agree_in_the_end() {
    let Some(cluster) = Cluster::start(&["deadlock_timeout = 100ms"]) else { return };
    let mut client = cluster.connect();
    client
        .batch_execute(&SETUP.replace("'body'", r#"'body', chunking => '{"max_tokens": 64}'"#))
        .unwrap();
    let done = Arc::new(AtomicUsize::new(0));
    let sessions: Vec<_> = (0..SESSIONS)
        .map(|number| {
            let (client, done) = (cluster.connect(), Arc::clone(&done));
            thread::spawn(move || change(client, number, &done))
        })
        .collect();
    let conflicts: usize = sessions.into_iter().map(|session| session.join().unwrap()).sum();
    let changes = done.load(Ordering::SeqCst);
    let rows = count(&mut client, "SELECT count(*) FROM docs");
    println!(
        "{SESSIONS} sessions: {changes} changes, {conflicts} conflicts, {rows} rows in the end"
    );
    assert!(changes > SESSIONS && rows > 0, "the sessions did nothing");
    // Some of what the sessions did for each other is left to workers.
    assert_eq!(count(&mut client, "SELECT rag_wait('docs', '5 minutes')::int::bigint"), 1);
    let differing: Vec<String> =
        client.query(DIFFERENCE, &[]).unwrap().iter().map(|row| row.get(0)).collect();
    assert!(differing.is_empty(), "chunks and rows differ: {differing:#?}");
    let strangers = "SELECT count(*) FROM docs_rag_chunks c
                     WHERE abs(1 - (c.embedding <=> rag_embed(c.content, kind => 'passage')) - 1) > 0.02";
    assert_eq!(count(&mut client, strangers), 0, "a chunk has another text's vector");
}

/// Changes rows until the time is over; the number of deadlocks and serialisation failures.
fn change(mut client: Client, number: usize, done: &AtomicUsize) -> usize {
    let end = Instant::now() + TIME;
    let mut conflicts = 0;
    for turn in (0..).take_while(|_| Instant::now() < end) {
        match change_once(&mut client, number, turn) {
            Ok(()) => {
                done.fetch_add(1, Ordering::SeqCst);
            }
            Err(error) => {
                let why = describe(&error);
                let conflict = ["40P01", "40001"].iter().any(|code| why.starts_with(code));
                assert!(conflict, "{why}");
                conflicts += 1;
            }
        }
    }
    conflicts
}

fn change_once(client: &mut Client, number: usize, turn: usize) -> Result<(), Error> {
    let key = ((number * 31 + turn * 17) % KEYS) as i32;
    let other = ((number * 7 + turn * 29) % KEYS) as i32;
    let body = prose(number * 10_000 + turn, 1 + turn % 9);
    let level = if turn.is_multiple_of(5) { "REPEATABLE READ" } else { "READ COMMITTED" };
    let mut transaction = client.transaction()?;
    transaction.batch_execute(&format!("SET TRANSACTION ISOLATION LEVEL {level}"))?;
    match turn % 6 {
        0 => transaction.execute("DELETE FROM docs WHERE id = $1", &[&key])?,
        1 => transaction.execute("UPDATE docs SET body = $2 WHERE id = $1", &[&key, &body])?,
        2 => transaction.execute("UPDATE docs SET title = $2 WHERE id = $1", &[&key, &body])?,
        3 => transaction.execute(
            "UPDATE docs SET id = $2 WHERE id = $1
             AND NOT EXISTS (SELECT FROM docs WHERE id = $2)",
            &[&key, &(other + 100)],
        )?,
        _ => transaction.execute(
            "INSERT INTO docs VALUES ($1, 't', $2), ($3, 't', $2 || ' Twice.')
             ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body",
            &[&key, &body, &(other + KEYS as i32)],
        )?,
    };
    match turn % 7 {
        0 => transaction.rollback(),
        _ => transaction.commit(),
    }
}
