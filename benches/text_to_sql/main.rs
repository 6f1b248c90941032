//! # Are questions of people turned into queries that answer them?
//!
//! ```text
//! make bench-text-to-sql [GGUF=/path/model.gguf] ARGS="[linking] [accuracy] [refusals] [--set basic] [--questions N] [--log FILE] ..."
//! ```
//!
//! Over the judged questions of `defog_sql` (11 databases):
//!
//! * linking: for how many questions the prompt has all tables that the query of a person reads, with the words of the
//!   question alone and with the embedding model beside them. No language model is asked: in its place a server on
//!   loopback replies with that query, and PostgreSQL says what it reads.
//! * accuracy, where `GGUF` names a language model: for how many questions the rows are those of a person's query, with
//!   one attempt and with several. It takes hours on a processor; `--set` and `--questions` take fewer of them.
//! * refusals: how many of the questions without an answer are refused.
//!
//! The server runs in a temporary folder (`TMPDIR`) with the PostgreSQL that `PG_RAG_PG_CONFIG` names. The set is
//! `defog_sql` in `$PG_RAG_DATA` (default `../shared/data`). Goals are printed beside what was measured, and missing
//! one fails nothing.

#[path = "../../tests/system/cluster.rs"]
#[allow(dead_code)]
mod cluster;
#[path = "../../tests/support/http_server.rs"]
#[allow(dead_code)]
mod http_server;
#[path = "../support/invocation.rs"]
#[allow(dead_code)]
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

mod accuracy;
mod linking;
mod model;
mod outcome;
mod questions;
mod rows;
mod settings;

use postgres::{Client, NoTls};

use cluster::Cluster;
use invocation::settings_or_exit;
use questions::Questions;
use report::{Report, whole};
use settings::{Part, Settings};

/// What went wrong, in the words of whoever noticed.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() {
    let settings = settings_or_exit(Settings::parse(), None);
    let Some(questions) = Questions::find() else {
        println!("skipped: no judged questions; set PG_RAG_DATA to a folder that has defog_sql");
        return;
    };
    let Some(cluster) = Cluster::start(&["jit = off"]) else { return };
    let mut report = Report::new(None);
    report.note(&machine::description());
    let measured = measure(&cluster, &questions, &settings, &mut report);
    if let Err(error) = measured {
        report.note(&whole(&*error));
    }
}

fn measure(
    cluster: &Cluster,
    questions: &Questions,
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    for name in questions.databases() {
        cluster.connect().batch_execute(&format!("CREATE DATABASE {name}"))?;
        let mut client = session(cluster, name)?;
        client.batch_execute(&questions.script(name)?)?;
        client.batch_execute("CREATE EXTENSION pg_rag CASCADE; ANALYZE")?;
    }
    if settings.measures(Part::Linking) {
        linking::measure(cluster, questions, settings, report)?;
    }
    if settings.measures(Part::Accuracy) || settings.measures(Part::Refusals) {
        accuracy::measure(cluster, questions, settings, report)?;
    }
    Ok(())
}

/// A session in one of the databases, where times are those that the queries of people were written for.
fn session(cluster: &Cluster, database: &str) -> Result<Client> {
    let mut client = cluster.config(database).connect(NoTls)?;
    client.batch_execute("SET timezone = 'UTC'")?;
    Ok(client)
}

/// A part of a whole, as it is printed.
fn share(part: usize, whole: usize) -> String {
    format!("{part} of {whole} ({:.3})", part as f64 / whole.max(1) as f64)
}
