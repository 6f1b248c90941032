//! # What does an asynchronous pipeline cost, and how soon are its chunks there?
//!
//! ```text
//! make bench-pipeline ARGS="[SECTION ...] [--rows N] [--rounds N] [--documents N] [--inserts N]"
//! ```
//!
//! Sections, each with its table (all of them where none is named):
//!
//! * `capture`   a large INSERT without trigger, with a trigger that does nothing, with a pipeline
//! * `backfill`  a table of documents embedded in the background, beside `rag_embed` alone
//! * `graph`     the same with a graph and without
//! * `trickle`   single inserts: milliseconds from the commit to the chunk
//! * `memory`    what a worker at work grows by; `PG_RAG_BENCH_SECONDS` (60) says how long
//! * `derivation` summaries by a language model, one call after the other and sixteen at once;
//!   `PG_RAG_BENCH_SECONDS` (60) says how long each takes
//! * `fairness`  questions and fresh rows of one role while another one fills a pipeline, embeds, or
//!   has hostile documents read; `PG_RAG_BENCH_SECONDS` (20) says how long each phase takes, and
//!   there are eight (`make bench-fairness`)
//!
//! What is compared takes turns in the same server in one run, so that whatever else the machine
//! does falls on all sides. Goals are printed beside what was measured, and missing one fails
//! nothing.
//!
//! Each section has a private server of its own, in a temporary folder (`TMPDIR`), with the
//! PostgreSQL that `PG_RAG_PG_CONFIG` names. It runs without fsync, so that the tables show the
//! work and not the disk. The documents are those of the set scifact in `$PG_RAG_DATA` (default
//! `../shared/data`).

mod settings;

#[path = "../../tests/system/cluster.rs"]
#[allow(dead_code)]
mod cluster;
#[path = "../embed/data.rs"]
#[allow(dead_code)]
mod data;
#[path = "../../tests/support/documents.rs"]
#[allow(dead_code)]
mod documents;
#[path = "../../tests/support/http_server.rs"]
mod http_server;
#[path = "../support/invocation.rs"]
mod invocation;
#[path = "../index/machine.rs"]
#[allow(dead_code)]
mod machine;
#[path = "../../tests/system/process.rs"]
#[allow(dead_code)]
mod process;
#[path = "../index/report.rs"]
#[allow(dead_code)]
mod report;

mod figures;
mod server;
mod texts;

mod backfill;
mod capture;
mod derivation;
mod fairness;
mod graph;
mod memory;
mod trickle;

use invocation::settings_or_exit;
use report::{Report, whole};
use server::Server;
use settings::Settings;

/// What went wrong, in the words of whoever noticed.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Something that is measured.
struct Section {
    name: &'static str,
    title: &'static str,
    run: fn(&Settings, &mut Report) -> Result<()>,
}

const SECTIONS: [Section; 7] = [
    Section { name: "capture", title: "Capture: what an INSERT pays", run: capture::run },
    Section { name: "backfill", title: "Backfill: documents a second", run: backfill::run },
    Section { name: "graph", title: "Graph: documents a second with a graph", run: graph::run },
    Section { name: "trickle", title: "Trickle: from commit to chunk", run: trickle::run },
    Section {
        name: "derivation",
        title: "Derivation: what language models write",
        run: derivation::run,
    },
    Section { name: "memory", title: "Memory: what a worker grows by", run: memory::run },
    Section {
        name: "fairness",
        title: "Fairness: what one role's work costs another",
        run: fairness::run,
    },
];

fn main() {
    let names: Vec<&str> = SECTIONS.iter().map(|section| section.name).collect();
    let choices = format!("sections are {}", names.join(", "));
    let settings = settings_or_exit(Settings::parse(&names), Some(&choices));
    let mut report = Report::new(None);
    match server::description() {
        Ok(Some(lines)) => lines.iter().for_each(|line| report.note(line)),
        Ok(None) => return,
        Err(error) => {
            eprintln!("{}", whole(&*error));
            std::process::exit(1);
        }
    }
    for section in SECTIONS.iter().filter(|it| settings.sections.iter().any(|name| name == it.name))
    {
        report.heading(section.title);
        // One that fails does not end the others.
        if let Err(error) = (section.run)(&settings, &mut report) {
            report.note(&format!("{}: {}", section.name, whole(&*error)));
        }
    }
}
