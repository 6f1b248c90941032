//! How soon after its commit can a single row be found?
//!
//! Rows are inserted one after the other, each committed by itself; the next comes when the one
//! before has its chunk. The time is that from the commit's return until the row is in the view
//! of the chunks, into which the same session looks every 2 ms. Beside it is the time of `rag_embed` for the same
//! chunks.

use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use crate::figures::quantile;
use crate::report::{Report, Table};
use crate::{Result, Server, Settings, texts};

const LOOK: Duration = Duration::from_millis(2);

/// Longest time to wait for a row.
const PATIENCE: Duration = Duration::from_secs(60);

const SETUP: &str = "
    CREATE TABLE note (id integer PRIMARY KEY, content text NOT NULL);
    SELECT rag_create_pipeline('note', 'content')";

pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let server = Server::start(&[])?;
    let mut client = server.session();
    client.batch_execute(SETUP)?;
    client.batch_execute("SELECT rag_embed('the model is loaded by this')")?;
    let documents = texts::documents();
    let source =
        if documents.is_some() { "documents of scifact" } else { "notes of two sentences" };
    report.note(&format!("{} inserts, one after the other: {source}.", settings.inserts));
    let text = |number: usize| match &documents {
        Some(documents) => documents[number % documents.len()].clone(),
        None => texts::note(number),
    };
    // Nobody is there for the first one: its commit starts the worker.
    let first = insert(&mut client, 0, &text(0))?;
    let (mut found, mut embedded) = (Vec::new(), Vec::new());
    for number in 1..=settings.inserts {
        found.push(insert(&mut client, number, &text(number))?);
        embedded.push(embed(&mut client, number)?);
    }
    let [p50, p95, max] = quantiles(&mut found);
    let alone = quantiles(&mut embedded);
    let mut table = Table::new(["", "p50 ms", "p95 ms", "max ms", "ratio of p50"]);
    let sides = [("rag_embed alone", alone), ("from commit to chunk", [p50, p95, max])];
    for (name, times) in sides {
        let [a, b, c] = times.map(|time| format!("{time:.1}"));
        table.row([name.to_owned(), a, b, c, format!("{:.2} ×", times[0] / alone[0])]);
    }
    report.table(&table);
    report
        .note(&format!("median: {p50:.1} ms, {:.2} of the goal (goal: under 150 ms)", p50 / 150.0));
    report.note(&format!(
        "the first row, which starts the worker: {:.0} ms",
        first.as_secs_f64() * 1e3
    ));
    Ok(())
}

fn quantiles(times: &mut [Duration]) -> [f64; 3] {
    [0.5, 0.95, 1.0].map(|share| quantile(times, share))
}

/// The time that a session takes to embed the chunks of a row: what nobody can be faster than.
fn embed(client: &mut Client, id: usize) -> Result<Duration> {
    let contents = "SELECT array_agg(content) FROM note_rag WHERE source_id = $1";
    let contents: Vec<String> = client.query_one(contents, &[&(id as i32)])?.get(0);
    let started = Instant::now();
    client.query_one("SELECT rag_embed_batch($1::text[])::text", &[&contents])?;
    Ok(started.elapsed())
}

/// The time from the commit of a row until it can be found.
fn insert(client: &mut Client, id: usize, content: &str) -> Result<Duration> {
    let id = id as i32;
    let is_there = client.prepare("SELECT EXISTS (SELECT FROM note_rag WHERE source_id = $1)")?;
    client.execute("INSERT INTO note VALUES ($1, $2)", &[&id, &content])?;
    let committed = Instant::now();
    while !client.query_one(&is_there, &[&id])?.get::<_, bool>(0) {
        if committed.elapsed() > PATIENCE {
            return Err(format!("row {id} has no chunk after {PATIENCE:?}").into());
        }
        thread::sleep(LOOK);
    }
    Ok(committed.elapsed())
}
