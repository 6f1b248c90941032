//! How long it takes to find the best ten, beside GIN and ts_rank.

use std::io::Write;
use std::time::{Duration, Instant};

use postgres::{Client, Statement};

use crate::Result;
use crate::report::{Report, Table, gain};
use crate::settings::Settings;
use crate::texts::{KINDS, chunk};

/// Longest time for the questions of one kind on one side.
const PATIENCE: Duration = Duration::from_secs(60);

/// The side that the other is compared with, and ours. `@@@` is `@@` by another name, which only
/// GIN answers to.
const SIDES: [(&str, &str); 2] = [
    (
        "GIN + ts_rank",
        "SELECT id FROM chunks WHERE tsv @@@ $1::text::tsquery
         ORDER BY ts_rank(tsv, $1::text::tsquery, 1) DESC LIMIT 10",
    ),
    (
        "rag_bm25",
        "SELECT id FROM chunks WHERE tsv @@ $1::text::tsquery
         ORDER BY tsv <@> rag_bm25_query('chunks_bm25', $1::text::tsquery) LIMIT 10",
    ),
];

/// Measures tables of all sizes.
pub fn measure(client: &mut Client, settings: &Settings, report: &mut Report) -> Result<()> {
    for rows in &settings.rows {
        report.heading(&format!("{rows} chunks"));
        fill(client, *rows)?;
        build(client, report)?;
        ask(client, settings, report)?;
        insert(client, *rows, report)?;
    }
    Ok(())
}

fn fill(client: &mut Client, rows: u64) -> Result<()> {
    client.batch_execute(
        "DROP TABLE IF EXISTS chunks; CREATE TABLE chunks (id bigint, tsv tsvector)",
    )?;
    let mut copy = client.copy_in("COPY chunks FROM STDIN")?;
    for number in 1..=rows {
        writeln!(copy, "{number}\t{}", chunk(number))?;
    }
    copy.finish()?;
    client.batch_execute("VACUUM (ANALYZE) chunks")?;
    Ok(())
}

fn build(client: &mut Client, report: &mut Report) -> Result<()> {
    let mut table = Table::new(["", "build s", "", "MB", ""]);
    let mut first = None;
    for (side, name, method) in
        [(SIDES[0].0, "chunks_gin", "gin"), (SIDES[1].0, "chunks_bm25", "rag_bm25")]
    {
        let started = Instant::now();
        client.batch_execute(&format!("CREATE INDEX {name} ON chunks USING {method} (tsv)"))?;
        let seconds = started.elapsed().as_secs_f64();
        let size: i64 =
            client.query_one("SELECT pg_relation_size($1::text::regclass)", &[&name])?.get(0);
        let megabytes = size as f64 / f64::from(1 << 20);
        let is_ours = first.is_some();
        let (theirs, their_size) = *first.get_or_insert((seconds, megabytes));
        table.row([
            side.to_owned(),
            format!("{seconds:.2}"),
            gain(Some(theirs), seconds, is_ours),
            format!("{megabytes:.1}"),
            gain(Some(their_size), megabytes, is_ours),
        ]);
    }
    client.batch_execute("VACUUM (ANALYZE) chunks")?;
    report.table(&table);
    Ok(())
}

fn ask(client: &mut Client, settings: &Settings, report: &mut Report) -> Result<()> {
    let statements: Vec<Statement> = SIDES
        .iter()
        .map(|(_, text)| client.prepare(text))
        .collect::<std::result::Result<_, _>>()?;
    expect_plans(client)?;
    for kind in &KINDS {
        let mut times: [Vec<f64>; 2] = Default::default();
        let begun = Instant::now();
        for question in kind.questions(settings.queries) {
            if begun.elapsed() > PATIENCE {
                break;
            }
            for (statement, times) in statements.iter().zip(&mut times) {
                // Once to have its pages in memory.
                client.query(statement, &[&question])?;
                let started = Instant::now();
                client.query(statement, &[&question])?;
                times.push(started.elapsed().as_secs_f64() * 1000.0);
            }
        }
        let mut table = Table::new([kind.name, "p50 ms", "", "p99 ms", ""]);
        let percentiles = times.map(|times| (percentile(&times, 0.5), percentile(&times, 0.99)));
        for (place, (name, _)) in SIDES.iter().enumerate() {
            let (middle, slow) = percentiles[place];
            table.row([
                (*name).to_owned(),
                format!("{middle:.3}"),
                gain(Some(percentiles[0].0), middle, place == 1),
                format!("{slow:.3}"),
                gain(Some(percentiles[0].1), slow, place == 1),
            ]);
        }
        report.table(&table);
    }
    Ok(())
}

/// Each side is answered by its own index, or nothing was measured.
fn expect_plans(client: &mut Client) -> Result<()> {
    for ((name, text), index) in SIDES.iter().zip(["chunks_gin", "chunks_bm25"]) {
        let query = text.replace("$1", "'w5000 | w300'");
        let rows = client.query(&format!("EXPLAIN {query}"), &[])?;
        let plan: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        if !plan.iter().any(|line| line.contains(index)) {
            return Err(format!("{name} is not answered by {index}:\n{}", plan.join("\n")).into());
        }
    }
    Ok(())
}

/// Chunks one by one, each index alone.
fn insert(client: &mut Client, rows: u64, report: &mut Report) -> Result<()> {
    const COUNT: u64 = 2000;
    let mut table = Table::new(["inserts one by one", "ms each", ""]);
    let mut first = None;
    for (side, other, name) in
        [(0, "chunks_bm25", "gin (tsv)"), (1, "chunks_gin", "rag_bm25 (tsv)")]
    {
        client.batch_execute(&format!("DROP INDEX IF EXISTS {other}"))?;
        let index = ["chunks_gin", "chunks_bm25"][side];
        client
            .batch_execute(&format!("CREATE INDEX IF NOT EXISTS {index} ON chunks USING {name}"))?;
        let statement = client.prepare("INSERT INTO chunks VALUES ($1, $2::text::tsvector)")?;
        let started = Instant::now();
        for number in rows + 1..=rows + COUNT {
            client.execute(&statement, &[&(number as i64), &chunk(number)])?;
        }
        let each = started.elapsed().as_secs_f64() * 1000.0 / COUNT as f64;
        let theirs = *first.get_or_insert(each);
        table.row([
            SIDES[side].0.to_owned(),
            format!("{each:.3}"),
            gain(Some(theirs), each, side == 1),
        ]);
    }
    report.table(&table);
    Ok(())
}

fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}
