//! The sections. Each measures one thing and writes its tables.

mod buffers;
mod build;
mod curve;
mod filter;
mod growth;
mod hybrid;
mod insert;
mod large;
mod memory;
mod product;
mod vacuum;

use crate::Result;
use crate::bench::Bench;
use crate::contest::Outcome;
use crate::interpolation::speed_at;
use crate::report::Table;

/// A section.
#[derive(Clone, Copy)]
pub struct Section {
    /// On the command line.
    pub name: &'static str,
    /// In the report.
    pub title: &'static str,
    pub run: fn(&mut Bench) -> Result<()>,
}

/// Those that are run where none is named, in their order.
pub const SECTIONS: [Section; 10] = [
    Section { name: "build", title: "Build", run: build::run },
    Section { name: "curve", title: "Recall and speed", run: curve::run },
    Section { name: "filter", title: "Filters, iterative scan", run: filter::run },
    Section { name: "column", title: "Filters, the column in the index", run: filter::run_column },
    Section { name: "insert", title: "Single inserts", run: insert::run },
    Section { name: "vacuum", title: "VACUUM of a tenth", run: vacuum::run },
    Section { name: "memory", title: "Build with too little memory", run: memory::run },
    Section { name: "buffers", title: "An index four times its cache", run: buffers::run },
    Section { name: "growth", title: "Growth", run: growth::run },
    Section { name: "product", title: "Inner products of unequal lengths", run: product::run },
];

/// What takes so long that it is to be named.
const ONLY_NAMED: [Section; 2] = [
    Section { name: "large", title: "Many millions of rows", run: large::run },
    Section { name: "hybrid", title: "By vector and by words", run: hybrid::run },
];

fn all() -> impl Iterator<Item = Section> {
    SECTIONS.into_iter().chain(ONLY_NAMED)
}

/// The section of this name.
pub fn find(name: &str) -> Option<Section> {
    all().find(|section| section.name == name)
}

/// What can be chosen.
pub fn names() -> Vec<&'static str> {
    all().map(|section| section.name).collect()
}

/// The outcome of a contest as two tables: what was measured, and speeds at equal recall.
fn show(bench: &mut Bench, outcomes: &[Outcome], recalls: &[f64]) {
    let mut measured = Table::new(["index", "ef_search", "recall@10", "queries/s", "ms"]);
    for outcome in outcomes {
        bench.remark(outcome);
        for point in &outcome.points {
            let (recall, speed) = (format!("{:.4}", point.recall), format!("{:.0}", point.speed));
            let time = format!("{:.3}", 1e3 / point.speed);
            let name = outcome.side.name.clone();
            measured.row([name, point.ef.to_string(), recall, speed, time]);
        }
    }
    bench.report.table(&measured);
    bench.report.table(&at_equal_recall(outcomes, recalls));
}

/// Each index beside the first, which is pgvector's.
fn at_equal_recall(outcomes: &[Outcome], recalls: &[f64]) -> Table {
    let mut table = Table::new(["at recall", "recall@10", "hnsw queries/s", "queries/s", "ratio"]);
    let Some(theirs) = outcomes.iter().find(|outcome| outcome.side.is_pgvector()) else {
        return table;
    };
    for ours in outcomes.iter().filter(|outcome| !outcome.side.is_pgvector()) {
        if ours.points.is_empty() {
            continue;
        }
        for recall in recalls {
            let (our, their) = (speed_at(*recall, &ours.points), speed_at(*recall, &theirs.points));
            let (name, recall) = (ours.side.name.clone(), format!("{recall:.2}"));
            table.row([name, recall, their.text(), our.text(), our.ratio(their)]);
        }
    }
    table
}
