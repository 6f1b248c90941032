//! How long does VACUUM take after a tenth of the rows was deleted, and is the index as good
//! as before?

use std::time::Instant;

use crate::Result;
use crate::bench::{Bench, EF};
use crate::report::{Table, gain};
use crate::search::Place;
use crate::side::Side;
use crate::table;
use crate::truth::{Truth, Wanted};

/// What is measured of it.
struct Vacuum {
    build: f64,
    seconds: f64,
    before: f64,
    after: f64,
    megabytes: f64,
}

/// Whether a row is deleted: each tenth.
fn is_deleted(id: usize) -> bool {
    id % 10 == 3
}

pub fn run(bench: &mut Bench) -> Result<()> {
    let rows = bench.changed().0;
    bench.report.note(&format!("A table of {rows} rows. Recall is recall@10 at ef {EF}."));
    let all = bench.truth(&Wanted::first(rows))?;
    let left = bench.truth(&Wanted::first(rows).but("nine-tenths", |id| !is_deleted(id)))?;
    let vacuums = bench.each(|bench, side| measure(bench, side, &all, &left));
    let theirs = vacuums.iter().find(|(side, _)| side.is_pgvector());
    let theirs = theirs.map(|(_, vacuum)| vacuum.seconds);
    let mut table = Table::new([
        "index",
        "build s",
        "VACUUM s",
        "of a build",
        "recall before",
        "recall after",
        "MB after",
        "faster",
    ]);
    for (side, vacuum) in &vacuums {
        table.row(vacuum.cells(&side.name, gain(theirs, vacuum.seconds, !side.is_pgvector())));
    }
    bench.report.table(&table);
    Ok(())
}

fn measure(bench: &mut Bench, side: &Side, all: &Truth, left: &Truth) -> Result<Vacuum> {
    let name = format!("vacuum_{}", side.slug);
    let mut client = bench.server.session()?;
    table::create(&mut client, &name, &bench.data, 0..bench.changed().0)?;
    let build = table::index(&mut client, side, &name, &[])?.as_secs_f64();
    let place = Place::new(side, &name);
    let before = bench.recall(&place, all)?;
    client.batch_execute(&format!("DELETE FROM {name} WHERE id % 10 = 3"))?;
    client.batch_execute("CHECKPOINT")?;
    let started = Instant::now();
    client.batch_execute(&format!("VACUUM (INDEX_CLEANUP on) {name}"))?;
    let seconds = started.elapsed().as_secs_f64();
    let after = bench.recall(&place, left)?;
    let megabytes = table::index_size(&mut client, &name)? as f64 / 1e6;
    table::drop(&mut client, &name)?;
    Ok(Vacuum { build, seconds, before, after, megabytes })
}

impl Vacuum {
    fn cells(&self, name: &str, faster: String) -> [String; 8] {
        [
            name.to_owned(),
            format!("{:.1}", self.build),
            format!("{:.2}", self.seconds),
            format!("{:.2}", self.seconds / self.build),
            format!("{:.4}", self.before),
            format!("{:.4}", self.after),
            format!("{:.0}", self.megabytes),
            faster,
        ]
    }
}
