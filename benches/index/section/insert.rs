//! What does it cost to insert one row, in a transaction of its own?
//!
//! The table has its index already. A checkpoint comes before, so that the first change of
//! each page puts a whole page into the WAL, as it does after each checkpoint of a server at
//! work. The same inserts into a table without an index show what the index adds.

use std::time::{Duration, Instant};

use postgres::Client;

use crate::Result;
use crate::bench::{Bench, EF};
use crate::contest::median;
use crate::data::{Dataset, bucket};
use crate::report::{Table, gain};
use crate::search::Place;
use crate::side::Side;
use crate::table::{self, Vector};
use crate::truth::{Truth, Wanted};

/// What an insert takes.
pub(super) struct Insert {
    pub(super) mean: f64,
    median: f64,
    wal: f64,
}

pub fn run(bench: &mut Bench) -> Result<()> {
    let (rows, inserted) = bench.changed();
    bench.report.note(&format!("{inserted} inserts into a table of {rows} rows."));
    let truth = bench.truth(&Wanted::first(rows + inserted))?;
    let inserts = bench.each(|bench, side| with_index(bench, side, &truth));
    let alone = without_index(bench)?;
    let theirs = inserts.iter().find(|(side, _)| side.is_pgvector()).map(|(_, (insert, _))| insert);
    let recall = format!("recall@10 at ef {EF}");
    let head = ["index", "mean ms", "median ms", "WAL bytes", &recall, "faster", "less WAL"];
    let mut table = Table::new(head);
    let [mean, median, wal] = alone.cells();
    table.row(["none".to_owned(), mean, median, wal, String::new(), String::new(), String::new()]);
    for (side, (insert, recall)) in &inserts {
        let ours = !side.is_pgvector();
        let [mean, median, wal] = insert.cells();
        let faster = gain(theirs.map(|theirs| theirs.mean), insert.mean, ours);
        let less = gain(theirs.map(|theirs| theirs.wal), insert.wal, ours);
        table.row([side.name.clone(), mean, median, wal, format!("{recall:.4}"), faster, less]);
    }
    bench.report.table(&table);
    Ok(())
}

fn with_index(bench: &mut Bench, side: &Side, truth: &Truth) -> Result<(Insert, f64)> {
    let name = format!("insert_{}", side.slug);
    let mut client = bench.server.session()?;
    table::create(&mut client, &name, &bench.data, 0..bench.changed().0)?;
    table::index(&mut client, side, &name, &[])?;
    let insert = insert(&mut client, &name, &bench.data, bench.changed())?;
    let recall = bench.recall(&Place::new(side, &name), truth)?;
    table::drop(&mut client, &name)?;
    Ok((insert, recall))
}

fn without_index(bench: &Bench) -> Result<Insert> {
    let mut client = bench.server.session()?;
    table::create(&mut client, "insert_alone", &bench.data, 0..bench.changed().0)?;
    let insert = insert(&mut client, "insert_alone", &bench.data, bench.changed())?;
    table::drop(&mut client, "insert_alone")?;
    Ok(insert)
}

/// Inserts `count` rows after the first `rows`.
pub(super) fn insert(
    client: &mut Client,
    table: &str,
    data: &Dataset,
    (rows, count): (usize, usize),
) -> Result<Insert> {
    let insert = client.prepare(&format!("INSERT INTO {table} VALUES ($1, $2, $3, $4)"))?;
    client.batch_execute("CHECKPOINT")?;
    let before: String = client.query_one("SELECT pg_current_wal_insert_lsn()::text", &[])?.get(0);
    let mut times = Vec::new();
    for id in rows..rows + count {
        let vector = Vector(data.row(id));
        let started = Instant::now();
        client.execute(&insert, &[&(id as i32), &bucket(id), &data.likeness[id], &vector])?;
        times.push(started.elapsed());
    }
    let wal = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), $1::text::pg_lsn)::float8";
    let wal: f64 = client.query_one(wal, &[&before])?.get(0);
    Ok(Insert::of(times, wal))
}

impl Insert {
    fn of(times: Vec<Duration>, wal: f64) -> Insert {
        let count = times.len().max(1) as f64;
        let mean = times.iter().sum::<Duration>().as_secs_f64() * 1e3 / count;
        let median = median(times).unwrap_or_default().as_secs_f64() * 1e3;
        Insert { mean, median, wal: wal / count }
    }

    fn cells(&self) -> [String; 3] {
        let (mean, median) = (format!("{:.3}", self.mean), format!("{:.3}", self.median));
        [mean, median, format!("{:.0}", self.wal)]
    }
}
