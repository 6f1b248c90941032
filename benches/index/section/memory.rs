//! What if `maintenance_work_mem` is too small for the graph?

use crate::bench::{Bench, EF};
use crate::report::{Table, gain};
use crate::search::Place;
use crate::side::Side;
use crate::truth::{Truth, Wanted};
use crate::{Result, server, table};

/// Too little for the graph of 100,000 vectors, in megabytes.
const LITTLE: u64 = 64;

/// Seconds and recall of a build.
type Build = (f64, f64);

pub fn run(bench: &mut Bench) -> Result<()> {
    let rows = bench.changed().0;
    bench.report.note(&format!("A table of {rows} rows. Recall is recall@10 at ef {EF}."));
    let truth = bench.truth(&Wanted::first(rows))?;
    let builds = bench.each(|bench, side| measure(bench, side, &truth));
    let theirs = builds.iter().find(|(side, _)| side.is_pgvector());
    let theirs = theirs.map(|(_, [_, little])| little.0);
    let enough = format!("s with {} MB", server::build_memory());
    let little = format!("s with {LITTLE} MB");
    let head = ["index", &enough, "recall", &little, "recall", "slower", "faster than hnsw"];
    let mut table = Table::new(head);
    for (side, [enough, little]) in &builds {
        table.row([
            side.name.clone(),
            format!("{:.1}", enough.0),
            format!("{:.4}", enough.1),
            format!("{:.1}", little.0),
            format!("{:.4}", little.1),
            format!("{:.2} ×", little.0 / enough.0),
            gain(theirs, little.0, !side.is_pgvector()),
        ]);
    }
    bench.report.table(&table);
    Ok(())
}

fn measure(bench: &mut Bench, side: &Side, truth: &Truth) -> Result<[Build; 2]> {
    let name = format!("memory_{}", side.slug);
    let mut client = bench.server.session()?;
    table::create(&mut client, &name, &bench.data, 0..bench.changed().0)?;
    let place = Place::new(side, &name);
    let mut build = |megabytes: u64| -> Result<Build> {
        client.batch_execute(&format!("SET maintenance_work_mem = '{megabytes}MB'"))?;
        let seconds = table::index(&mut client, side, &name, &[])?.as_secs_f64();
        Ok((seconds, bench.recall(&place, truth)?))
    };
    let builds = [build(server::build_memory())?, build(LITTLE)?];
    table::drop(&mut client, &name)?;
    Ok(builds)
}
