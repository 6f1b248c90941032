//! What if the index is four times as large as `shared_buffers`?
//!
//! Of all indexes, each has its turn at a quarter of its own size, and the others are measured
//! with the same buffers: a smaller index may still fit. What falls out of the buffers is most
//! likely in the kernel's cache, so this is about replacing buffers and not about a disk.

use super::show;
use crate::bench::Bench;
use crate::search::Place;
use crate::truth::{Truth, Wanted};
use crate::{Result, table};

/// Values of `ef_search`: enough for a curve.
const EF: [u32; 4] = [40, 80, 120, 200];

/// The server needs a few buffers for itself, in megabytes.
const LEAST: u64 = 4;

pub fn run(bench: &mut Bench) -> Result<()> {
    let truth = bench.truth(&Wanted::first(bench.data.len()))?;
    let places: Vec<Place> =
        bench.each(Bench::indexed).into_iter().map(|(_, place)| place).collect();
    let mut sizes = Vec::new();
    for place in &places {
        let size = table::index_size(&mut bench.server.session()?, &place.table)?;
        let quarter = ((size as u64 / 4) >> 20).max(LEAST);
        sizes.push((quarter, place.side.name.clone()));
    }
    sizes.dedup_by_key(|(megabytes, _)| *megabytes);
    for (megabytes, name) in sizes {
        bench.server.restart_with_buffers(megabytes);
        bench.report.note(&format!("{megabytes} MB, a quarter of {name}."));
        compare(bench, &truth, &places);
    }
    bench.server.restart();
    Ok(())
}

fn compare(bench: &mut Bench, truth: &Truth, places: &[Place]) {
    let outcomes = bench.contest(truth).run(places, &EF);
    show(bench, &outcomes, &[0.96, 0.99]);
}
