//! # How does `rag_hnsw` compare with pgvector's `hnsw`?
//!
//! ```text
//! make bench-index ARGS="[SECTION ...] [OPTION ...]"
//! ```
//!
//! Both indexes stand on the same rows in the same server, in one run, and take turns.
//! Sections, each with its tables (all of them but `large` and `hybrid` where none is named):
//!
//! * `build`    seconds and megabytes
//! * `curve`    recall against queries a second, with one session and with two
//! * `filter`   the same with a WHERE that keeps 10 % and 1 % of the rows
//! * `column`   the same for 50 % to 0.1 % of the rows, with the filter's column in the index, and for those most and
//!   least like the queries
//! * `insert`   single rows, each in a transaction of its own: milliseconds and bytes of WAL
//! * `vacuum`   a tenth deleted: seconds, and recall before and after
//! * `memory`   a build with too little `maintenance_work_mem`
//! * `buffers`  `shared_buffers` at a quarter of the index
//! * `growth`   milliseconds a query at 10,000, 100,000 and a million rows
//! * `product`  recall of inner products of generated vectors of unequal lengths
//! * `large`    ours alone, for as many rows as `--rows` says: build, size, queries, inserts, VACUUM
//! * `hybrid`   ours alone, milliseconds of a question by vector and by words at once
//!
//! What can be chosen is in `settings.rs`. Recall stands beside every figure of speed: it is
//! the share of the ten nearest rows that was found, against an exact search in this program.
//!
//! The server is private, in a temporary folder (`TMPDIR`), with the PostgreSQL that
//! `PG_RAG_PG_CONFIG` names. It runs without fsync, so that the tables show the indexes' work
//! and not the disk's. Vectors of sentences and exact results are kept below
//! `$PG_RAG_CACHE/bench`.
//!
//! What an index cannot do yet does not end the run: the server's message stands below the
//! table, in which the other index is still shown.

mod settings;

mod clustered;
mod data;
mod sentences;
mod truth;
mod vectors;

#[path = "../../tests/system/cluster.rs"]
#[allow(dead_code)]
mod cluster;
#[path = "../support/invocation.rs"]
#[allow(dead_code)]
mod invocation;
mod machine;
#[path = "../../tests/system/process.rs"]
#[allow(dead_code)]
mod process;
mod server;
mod side;
mod table;
#[path = "../bm25/texts.rs"]
mod texts;

mod contest;
mod interpolation;
mod report;
mod search;

mod bench;
mod section;

use bench::Bench;
use invocation::settings_or_exit;
use report::whole;
use settings::Settings;

/// What went wrong, in the words of whoever noticed.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() {
    let choices = format!("sections are {}", section::names().join(", "));
    let settings = settings_or_exit(Settings::parse(), Some(&choices));
    match Bench::prepare(settings) {
        Ok(Some(mut bench)) => run(&mut bench),
        Ok(None) => {}
        Err(error) => {
            eprintln!("{}", whole(&*error));
            std::process::exit(1);
        }
    }
}

/// Runs the sections that were asked for. One that fails does not end the others.
fn run(bench: &mut Bench) {
    for section in bench.settings.sections.clone() {
        bench.report.heading(section.title);
        if let Err(error) = (section.run)(bench) {
            bench.report.note(&format!("{}: {}", section.name, whole(&*error)));
        }
        bench.report.save();
    }
}
