//! How fast do language models write about chunks?
//!
//! A provider on loopback takes 1.5 seconds for each call. Summaries are written of short chunks, with
//! one call after the other and with sixteen at once, for as long as each phase takes, and embedded by
//! the default model beside it. What counts is the chunks a second once all calls are in flight.

use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use crate::http_server::{Reply, Server as Provider};
use crate::report::{Report, Table};
use crate::{Result, Server, Settings};

/// How long a phase takes where nothing else is asked for.
const TIME: Duration = Duration::from_secs(60);

/// How long the provider takes for a call.
const LATENCY: Duration = Duration::from_millis(1500);

const CALLS: [u32; 2] = [1, 16];

/// Chunks for which the hours are told, and the goal for them with the most calls at once.
const CHUNKS: f64 = 100_000.0;
const GOAL: f64 = 3.0;

const SETUP: &str = "
    CREATE TABLE rule (id integer PRIMARY KEY, body text NOT NULL);
    INSERT INTO rule SELECT n, 'Rule ' || n || ': employees of grade ' || n % 7 || ' take the lift on floor ' || n % 31 || '.'
    FROM generate_series(1, 20000) AS n;
    SELECT rag_create_pipeline('rule', 'body', options => '{\"backfill\": \"now\"}');
    SELECT rag_pause('rule');
    SELECT rag_alter_pipeline('rule', options => '{\"represent\": {\"summary\": true, \"questions\": 1, \"llm\": \"writer\"}}');";

const DONE: &str = "SELECT done FROM rag.derivation_status";

pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let time = settings.time.unwrap_or(TIME);
    let server = Server::start(&[])?;
    let provider = Provider::answer(|_| {
        let text = "{\"summary\": \"Who takes which lift.\", \"questions\": [\"Which lift?\"]}";
        Reply::chat(text).delay(LATENCY)
    });
    let mut client = server.session();
    client.batch_execute(&format!(
        "CREATE SERVER writer FOREIGN DATA WRAPPER rag_llm
         OPTIONS (base_url '{}', model 'm', max_concurrency '1'); {SETUP}",
        provider.base_url()
    ))?;
    let mut table =
        Table::new(["calls at once", "chunks a second", "of the calls' own", "hours for 100,000"]);
    let mut rates = Vec::new();
    for calls in CALLS {
        client.batch_execute(&format!(
            "ALTER SERVER writer OPTIONS (SET max_concurrency '{calls}'); SELECT rag_resume('rule');"
        ))?;
        let rate = rate(&mut client, calls, time)?;
        client.batch_execute("SELECT rag_pause('rule')")?;
        let best = f64::from(calls) / LATENCY.as_secs_f64();
        table.row([
            calls.to_string(),
            format!("{rate:.2}"),
            format!("{:.2}", rate / best),
            format!("{:.2}", CHUNKS / rate / 3600.0),
        ]);
        rates.push(rate);
    }
    report.table(&table);
    let [one, many] = [rates[0], rates[rates.len() - 1]];
    let hours = CHUNKS / many / 3600.0;
    report.note(&format!(
        "{:.1} × as fast as one call after the other; goal for 100,000 chunks: under {GOAL} hours, and it is {hours:.2}.",
        many / one
    ));
    Ok(())
}

/// Chunks a second that are done within `time`, from when all calls can be in flight.
fn rate(client: &mut Client, calls: u32, time: Duration) -> Result<f64> {
    let before = done(client)?;
    while done(client)? < before + i64::from(2 * calls) {
        thread::sleep(Duration::from_millis(20));
    }
    let (begun, first) = (Instant::now(), done(client)?);
    thread::sleep(time);
    let last = done(client)?;
    Ok((last - first) as f64 / begun.elapsed().as_secs_f64())
}

fn done(client: &mut Client) -> Result<i64> {
    Ok(client.query_one(DONE, &[])?.get(0))
}
