//! How does the time of a query grow with the table?

use crate::bench::Bench;
use crate::contest::Outcome;
use crate::interpolation::{Speed, speed_at};
use crate::report::Table;
use crate::search::Place;
use crate::side::Side;
use crate::truth::Wanted;
use crate::{Result, table};

/// Numbers of rows, as far as there are so many.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// The recall at which times are compared.
const RECALL: f64 = 0.96;

pub fn run(bench: &mut Bench) -> Result<()> {
    let mut result = Table::new(["rows", "index", "recall@10", "ms", "ratio"]);
    for rows in sizes(bench.data.len()) {
        println!("  {rows} rows");
        let truth = bench.truth(&Wanted::first(rows))?;
        let places: Vec<Place> = bench
            .each(|bench, side| indexed(bench, side, rows))
            .into_iter()
            .map(|(_, p)| p)
            .collect();
        let outcomes = bench.contest(&truth).run(&places, &bench.settings.ef);
        add_rows(&mut result, rows, &outcomes);
        for (place, outcome) in places.iter().zip(&outcomes) {
            bench.remark(outcome);
            table::drop(&mut bench.server.session()?, &place.table)?;
        }
    }
    bench.report.table(&result);
    Ok(())
}

/// The sizes to measure; the whole table is one, unless the one before is nearly as large.
fn sizes(all: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = SIZES.into_iter().filter(|size| *size <= all).collect();
    if sizes.last().is_none_or(|last| all * 2 >= last * 3) {
        sizes.push(all);
    }
    sizes
}

fn indexed(bench: &mut Bench, side: &Side, rows: usize) -> Result<Place> {
    let name = format!("growth_{}", side.slug);
    let mut client = bench.server.session()?;
    table::create(&mut client, &name, &bench.data, 0..rows)?;
    table::index(&mut client, side, &name, &[])?;
    Ok(Place::new(side, &name))
}

fn add_rows(result: &mut Table, rows: usize, outcomes: &[Outcome]) {
    let theirs = outcomes.iter().find(|outcome| outcome.side.is_pgvector());
    let theirs = theirs.map_or(Speed::Unreached, |outcome| speed_at(RECALL, &outcome.points));
    for outcome in outcomes.iter().filter(|outcome| !outcome.points.is_empty()) {
        let speed = speed_at(RECALL, &outcome.points);
        let ratio = match outcome.side.is_pgvector() {
            true => String::new(),
            false => speed.ratio(theirs),
        };
        let (rows, name) = (rows.to_string(), outcome.side.name.clone());
        result.row([rows, name, format!("{RECALL:.2}"), speed.milliseconds(), ratio]);
    }
}
