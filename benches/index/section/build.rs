//! How long does it take to build an index, and how large is it?

use crate::Result;
use crate::bench::{Bench, EF};
use crate::contest::median;
use crate::report::{Table, gain};
use crate::side::Side;
use crate::truth::{Truth, Wanted};
use crate::{search::Place, table};

/// What is measured of a build.
struct Build {
    seconds: f64,
    megabytes: f64,
    recall: f64,
}

pub fn run(bench: &mut Bench) -> Result<()> {
    let truth = bench.truth(&Wanted::first(bench.data.len()))?;
    let builds = bench.each(|bench, side| measure(bench, side, &truth));
    let theirs = builds.iter().find(|(side, _)| side.is_pgvector()).map(|(_, build)| build);
    let recall = format!("recall@10 at ef {EF}");
    let mut table = Table::new(["index", "seconds", "MB", &recall, "faster", "smaller"]);
    for (side, build) in &builds {
        let ours = !side.is_pgvector();
        table.row([
            side.name.clone(),
            format!("{:.1}", build.seconds),
            format!("{:.0}", build.megabytes),
            format!("{:.4}", build.recall),
            gain(theirs.map(|theirs| theirs.seconds), build.seconds, ours),
            gain(theirs.map(|theirs| theirs.megabytes), build.megabytes, ours),
        ]);
    }
    bench.report.table(&table);
    Ok(())
}

fn measure(bench: &mut Bench, side: &Side, truth: &Truth) -> Result<Build> {
    let name = bench.filled(side)?;
    let mut client = bench.server.session()?;
    let mut times = Vec::new();
    for _ in 0..bench.settings.builds {
        let time = table::index(&mut client, side, &name, &[])?;
        println!("  {} built in {:.1} s", side.name, time.as_secs_f64());
        times.push(time);
    }
    bench.has_index(&name);
    let seconds = median(times).unwrap_or_default().as_secs_f64();
    let megabytes = table::index_size(&mut client, &name)? as f64 / 1e6;
    let recall = bench.recall(&Place::new(side, &name), truth)?;
    Ok(Build { seconds, megabytes, recall })
}
