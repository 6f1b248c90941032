//! What does an index of many millions of rows take?
//!
//! ```text
//! make bench-index ARGS="large --data clustered --rows 10000000 --storage sq8,binary --queries 300"
//! ```
//!
//! Ours alone: pgvector's would be built for most of a day. So it runs only where it is named.

use std::time::Instant;

use super::insert::{Insert, insert};
use crate::Result;
use crate::bench::{Bench, INSERTED};
use crate::contest::Outcome;
use crate::interpolation::speed_at;
use crate::report::Table;
use crate::search::Place;
use crate::side::Side;
use crate::table;
use crate::truth::{Truth, Wanted};

/// Recalls at which speeds are given.
const RECALLS: [f64; 2] = [0.95, 0.99];

/// What an index has shown.
struct LargeIndex {
    build_minutes: f64,
    megabytes: f64,
    before: Outcome,
    insert: Insert,
    vacuum_seconds: f64,
    after: Outcome,
}

/// Whether a row is deleted: each hundredth.
fn is_deleted(id: usize) -> bool {
    id % 100 == 3
}

pub fn run(bench: &mut Bench) -> Result<()> {
    let first = bench.data.len() - INSERTED.min(bench.data.len() / 10);
    bench.report.note(&format!("A table of {first} rows."));
    let before = bench.truth(&Wanted::first(first))?;
    let left = Wanted::first(bench.data.len()).but("99-hundredths", |id| !is_deleted(id));
    let after = bench.truth(&left)?;
    let measured = bench.each(|bench, side| match side.is_pgvector() {
        true => Ok(None),
        false => measure(bench, side, first, (&before, &after)).map(Some),
    });
    let mut table = Table::new([
        "index",
        "build min",
        "MB",
        "queries/s at 0.95",
        "at 0.99",
        "insert ms",
        "VACUUM of 1 %, s",
        "at 0.95 after it",
    ]);
    for (side, index) in measured.iter().filter_map(|(side, it)| Some((side, it.as_ref()?))) {
        table.row(index.cells(&side.name));
    }
    bench.report.table(&table);
    Ok(())
}

fn measure(
    bench: &mut Bench,
    side: &Side,
    first: usize,
    (before, after): (&Truth, &Truth),
) -> Result<LargeIndex> {
    let name = format!("large_{}", side.slug);
    let mut client = bench.server.session()?;
    table::create(&mut client, &name, &bench.data, 0..first)?;
    let build = table::index(&mut client, side, &name, &[])?;
    let megabytes = table::index_size(&mut client, &name)? as f64 / 1e6;
    println!("  {} built in {:.0} s, {megabytes:.0} MB", side.name, build.as_secs_f64());
    let before = speeds(bench, side, &name, before)?;
    let inserted = (first, bench.data.len() - first);
    let insert = insert(&mut client, &name, &bench.data, inserted)?;
    client.batch_execute(&format!("DELETE FROM {name} WHERE id % 100 = 3; CHECKPOINT"))?;
    let started = Instant::now();
    client.batch_execute(&format!("VACUUM (INDEX_CLEANUP on) {name}"))?;
    let vacuum_seconds = started.elapsed().as_secs_f64();
    println!("  {} vacuumed in {vacuum_seconds:.0} s", side.name);
    let after = speeds(bench, side, &name, after)?;
    table::drop(&mut client, &name)?;
    let build_minutes = build.as_secs_f64() / 60.0;
    Ok(LargeIndex { build_minutes, megabytes, before, insert, vacuum_seconds, after })
}

fn speeds(bench: &Bench, side: &Side, name: &str, truth: &Truth) -> Result<Outcome> {
    let outcomes = bench.contest(truth).run(&[Place::new(side, name)], &bench.settings.ef);
    let outcome = outcomes.into_iter().next().ok_or("no outcome")?;
    match outcome.trouble {
        Some(trouble) => Err(trouble.into()),
        None => Ok(outcome),
    }
}

impl LargeIndex {
    fn cells(&self, name: &str) -> [String; 8] {
        let [near, nearest] = RECALLS.map(|recall| speed_at(recall, &self.before.points).text());
        let after = speed_at(RECALLS[0], &self.after.points).text();
        [
            name.to_owned(),
            format!("{:.1}", self.build_minutes),
            format!("{:.0}", self.megabytes),
            near,
            nearest,
            format!("{:.2}", self.insert.mean),
            format!("{:.0}", self.vacuum_seconds),
            after,
        ]
    }
}
