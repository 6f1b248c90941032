//! What does a pipeline cost the statement that inserts rows?
//!
//! Three equal tables get the same rows, each in one INSERT ... SELECT that commits by itself:
//! one without a trigger, one with a row trigger that does nothing, one with a pipeline. The
//! pipeline is refreshed manually, so that no worker runs beside what is measured; what the
//! transaction does is the same as with asynchronous refresh. The tables are made anew in each round, and
//! who goes first changes.

use std::time::{Duration, Instant};

use postgres::Client;

use crate::figures::median;
use crate::report::{Report, Table};
use crate::{Result, Server, Settings};

/// Who gets the rows.
const SIDES: [Side; 3] = [
    Side { name: "no trigger", table: "plain", setup: "", end: "" },
    Side {
        name: "minimal trigger",
        table: "minimal",
        setup: "CREATE TRIGGER nothing AFTER INSERT ON minimal
                FOR EACH ROW EXECUTE FUNCTION nothing()",
        end: "",
    },
    Side {
        name: "pipeline",
        table: "captured",
        setup: "SELECT rag_create_pipeline('captured', $$title || E'\\n' || body$$, refresh => 'manual')",
        end: "SELECT rag_drop_pipeline('captured')",
    },
];

struct Side {
    name: &'static str,
    table: &'static str,
    setup: &'static str,
    end: &'static str,
}

pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let rounds = settings.rounds.unwrap_or(5);
    let server = Server::start(&["autovacuum = off", "checkpoint_timeout = 1h"])?;
    let mut client = server.session();
    let bytes = prepare(&mut client, settings.rows)?;
    report.note(&format!(
        "{} rows of {bytes:.0} bytes in one INSERT, median of {rounds} rounds.",
        settings.rows
    ));
    let mut times = SIDES.map(|_| Vec::new());
    for round in 0..rounds {
        for turn in 0..SIDES.len() {
            let at = (round + turn) % SIDES.len();
            times[at].push(insert(&mut client, &SIDES[at])?);
        }
    }
    let a_row =
        |times: &mut Vec<Duration>| median(times).as_secs_f64() * 1e6 / f64::from(settings.rows);
    let best = times.each_ref().map(|times| {
        times.iter().min().map_or(0.0, |time| time.as_secs_f64() * 1e6 / f64::from(settings.rows))
    });
    let medians = times.each_mut().map(a_row);
    show(report, medians, best);
    Ok(())
}

/// The rows to insert; gives how large one is.
fn prepare(client: &mut Client, rows: i32) -> Result<f64> {
    client.batch_execute(
        "CREATE TABLE sample (id integer PRIMARY KEY, title text, body text);
         CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
    )?;
    let fill = "INSERT INTO sample
        SELECT n, 'Report ' || n,
               (SELECT string_agg(md5((n * 31 + part)::text), ' ') FROM generate_series(1, 29) AS part)
        FROM generate_series(1, $1::integer) AS n";
    client.execute(fill, &[&rows])?;
    client.batch_execute("VACUUM (FREEZE, ANALYZE) sample")?;
    let bytes = "SELECT avg(pg_column_size(sample))::float8 FROM sample";
    Ok(client.query_one(bytes, &[])?.get(0))
}

fn insert(client: &mut Client, side: &Side) -> Result<Duration> {
    let Side { table, setup, end, .. } = side;
    client.batch_execute(&format!(
        "CREATE TABLE {table} (id integer PRIMARY KEY, title text, body text)"
    ))?;
    client.batch_execute(setup)?;
    client.batch_execute("CHECKPOINT")?;
    let started = Instant::now();
    client.batch_execute(&format!("INSERT INTO {table} SELECT * FROM sample"))?;
    let took = started.elapsed();
    client.batch_execute(end)?;
    client.batch_execute(&format!("DROP TABLE {table}"))?;
    Ok(took)
}

fn show(report: &mut Report, medians: [f64; 3], best: [f64; 3]) {
    let [plain, minimal, captured] = medians;
    let mut table =
        Table::new(["table", "us a row", "best", "over none", "ratio", "over minimal, us"]);
    for ((side, median), best) in SIDES.iter().zip(medians).zip(best) {
        let cells = match side.table {
            "plain" => [String::new(), String::new(), String::new()],
            _ => [
                format!("{:.1} %", 100.0 * (median / plain - 1.0)),
                format!("{:.2} ×", median / plain),
                format!("{:+.2}", median - minimal),
            ],
        };
        let [over, ratio, minimal] = cells;
        let name = side.name.to_owned();
        table.row([name, format!("{median:.2}"), format!("{best:.2}"), over, ratio, minimal]);
    }
    report.table(&table);
    report.note(&format!(
        "pipeline over none: {:.1} % (goal: under 15 %); over the minimal trigger: {:.2} us (goal: under 2 us)",
        100.0 * (captured / plain - 1.0),
        captured - minimal
    ));
}
