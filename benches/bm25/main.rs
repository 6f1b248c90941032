//! # How fast and how good is rag_bm25?
//!
//! ```text
//! make bench-bm25 ARGS="[latency] [judged] [--rows N,N,...] [--queries N]"
//! ```
//!
//! * `latency`: the best ten of 10,000, 100,000 and 1,000,000 synthetic chunks, beside GIN and `ts_rank`
//!   over the same table in the same session, taking turns; time to build, size, time to insert
//! * `judged`: nDCG@10 on judged sets, beside BM25 as Lucene has it
//!
//! Both where none is named. The server runs in a temporary folder (`TMPDIR`) with the PostgreSQL that
//! `PG_RAG_PG_CONFIG` names. The sets are those of `$PG_RAG_DATA` (default `../shared/data`).

#[path = "../../tests/system/cluster.rs"]
#[allow(dead_code)]
mod cluster;
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
#[path = "../retrieve/sets.rs"]
#[allow(dead_code)]
mod sets;

mod judged;
mod latency;
mod settings;
mod texts;

use cluster::Cluster;
use invocation::settings_or_exit;
use report::Report;
use settings::Settings;

/// What went wrong, in the words of whoever noticed.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Result<()> {
    let settings = settings_or_exit(Settings::parse(), Some("sections are latency and judged"));
    let buffers = format!("shared_buffers = {}MB", 1024.min(machine::memory() / 8));
    let lines = [
        buffers.as_str(),
        "max_wal_size = 8GB",
        "jit = off",
        "maintenance_work_mem = 256MB",
        "max_parallel_workers_per_gather = 0",
        "autovacuum = off",
    ];
    let Some(cluster) = Cluster::start(&lines) else { return Ok(()) };
    let mut report = Report::new(None);
    report.note(&machine::description());
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE")?;
    if settings.judged {
        judged::measure(&mut client, &mut report)?;
    }
    if settings.latency {
        latency::measure(&mut client, &settings, &mut report)?;
    }
    Ok(())
}
