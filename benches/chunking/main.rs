//! # Which way of cutting leaves answers whole?
//!
//! ```text
//! make bench-chunking ARGS="[NAME ...] [--questions N]"
//! ```
//!
//! Five long documents, and questions whose answers are known as places in them. Each way of cutting
//! becomes a pipeline, and each question is asked of all of them: which share of the characters of
//! its answer do the first 5 chunks cover, and how many tokens does a reader get for it?
//!
//! Chunks of about 200 tokens have about 800 characters; beside their figures stands what BM25, as
//! Lucene has it, covers over chunks of 800 and of 1600 characters.
//!
//! The server runs in a temporary folder (`TMPDIR`) with the PostgreSQL that `PG_RAG_PG_CONFIG` names.
//! The documents are those of `$PG_RAG_DATA` (default `../shared/data`). Embedding them takes a
//! minute or two for each way.

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

mod ways;

use std::time::Instant;

use lexopt::prelude::*;
use postgres::Client;

use cluster::Cluster;
use invocation::{judged_data, settings_or_exit};
use report::{Report, Table, whole};
use sets::Set;
use ways::{WAYS, Way};

/// What went wrong, in the words of whoever noticed.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// How many chunks count.
const K: i32 = 5;

fn main() {
    let names: Vec<&str> = WAYS.iter().map(|way| way.name).collect();
    let choices = format!("ways of cutting are {}", names.join(", "));
    let (ways, questions) = settings_or_exit(chosen(), Some(&choices));
    let Some(folder) = judged_data() else {
        println!("skipped: no judged data; set PG_RAG_DATA");
        return;
    };
    let model = sets::model_setting();
    let lines = ["shared_buffers = 256MB", "jit = off", &model];
    let Some(cluster) = Cluster::start(&lines) else { return };
    let mut report = Report::new(None);
    report.note(&machine::description());
    let measured = Set::read(&folder, "chunking_eval", None)
        .and_then(|set| measure(&cluster, &set, &ways, questions, &mut report));
    if let Err(error) = measured {
        report.note(&format!("chunking_eval: {}", whole(&*error)));
    }
}

/// The ways that the command line names, or all, and how many questions.
fn chosen() -> std::result::Result<(Vec<&'static Way>, Option<usize>), lexopt::Error> {
    let (mut ways, mut questions) = (Vec::new(), None);
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            // Cargo's own word to a benchmark.
            Long("bench") => {}
            Long("questions") => questions = Some(parser.value()?.parse()?),
            Value(name) => {
                let way = WAYS.iter().find(|way| name == *way.name);
                ways.push(way.ok_or(Value(name).unexpected())?);
            }
            other => return Err(other.unexpected()),
        }
    }
    if ways.is_empty() {
        ways.extend(WAYS);
    }
    Ok((ways, questions))
}

fn measure(
    cluster: &Cluster,
    set: &Set,
    ways: &[&Way],
    questions: Option<usize>,
    report: &mut Report,
) -> Result<()> {
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE")?;
    client.batch_execute("CREATE TABLE doc (id text PRIMARY KEY, body text)")?;
    for [id, _, body] in &set.documents {
        client.execute("INSERT INTO doc VALUES ($1, $2)", &[id, body])?;
    }
    client.execute("SELECT rag_eval_load('set', $1::text::jsonb)", &[&set.cases.to_string()])?;
    if let Some(most) = questions {
        let rest = "DELETE FROM rag.eval_case WHERE id NOT IN
                        (SELECT id FROM rag.eval_case ORDER BY md5(label) LIMIT $1)";
        client.execute(rest, &[&i64::try_from(most)?])?;
    }
    let mut table =
        Table::new(["", "mode", "covered", "95 %", "precision", "tokens", "chunks", "filled in s"]);
    for way in ways {
        let started = Instant::now();
        fill(&mut client, way)?;
        let filled = started.elapsed().as_secs_f64();
        for mode in ["dense", "lexical", "hybrid"] {
            table.row(row(&mut client, way, mode, filled)?);
        }
    }
    for (name, covered) in [("BM25, 800 characters", 0.853), ("BM25, 1600 characters", 0.913)] {
        let nothing = String::new;
        table.row([
            name.to_owned(),
            nothing(),
            format!("{covered:.3}"),
            nothing(),
            nothing(),
            nothing(),
            nothing(),
            nothing(),
        ]);
    }
    report.table(&table);
    Ok(())
}

fn fill(client: &mut Client, way: &Way) -> Result<()> {
    let create = "SELECT rag_create_pipeline('doc', 'body', $1, chunking => $2::text::jsonb,
                      refresh => 'manual', options => $3::text::jsonb)";
    let Way { name, chunking, options, .. } = way;
    client.execute(create, &[name, chunking, options])?;
    client.batch_execute(&format!("CALL rag_run('{name}')"))?;
    Ok(())
}

fn row(client: &mut Client, way: &Way, mode: &str, filled: f64) -> Result<[String; 8]> {
    let name = way.name;
    let retrieve = format!(r#"{{"retrieve": {{"expand": "{}"}}}}"#, way.expand);
    let configuration = format!(
        r#"{{"it": {{"pipeline": "{name}", "retrieve": {{"mode": "{mode}", "expand": "{}"}}}}}}"#,
        way.expand
    );
    let query = "SELECT metric, value, ci_low, ci_high
                 FROM rag_eval(eval_set => 'set', configurations => $1::text::json, k => ARRAY[$2])
                 WHERE metric LIKE 'span_%'";
    let found = client.query(query, &[&configuration, &K])?;
    let figure = |metric: &str| {
        let row = found.iter().find(|row| row.get::<_, &str>(0) == metric);
        row.map_or((0.0, 0.0, 0.0), |row| (row.get(1), row.get(2), row.get(3)))
    };
    let (covered, low, high): (f64, f64, f64) = figure("span_recall");
    let query = format!(
        "SELECT avg(tokens)::float8 FROM (
             SELECT (SELECT sum(t.token_count) FROM rag_retrieve(c.question, '{name}', $1, $2,
                         options => $3::text::jsonb) r,
                     LATERAL (SELECT * FROM rag_chunk(r.content, '{{\"by\": \"fixed\", \"max_tokens\": 100000}}')) t) AS tokens
             FROM (SELECT * FROM rag.eval_case ORDER BY md5(label) LIMIT 100) c) AS t"
    );
    let tokens: f64 = client.query_one(&query, &[&K, &mode, &retrieve])?.get(0);
    let chunks: i64 =
        client.query_one(&format!("SELECT count(*) FROM {name}_rag_chunks"), &[])?.get(0);
    Ok([
        name.to_owned(),
        mode.to_owned(),
        format!("{covered:.3}"),
        format!("{low:.3} to {high:.3}"),
        format!("{:.3}", figure("span_precision").0),
        format!("{tokens:.0}"),
        chunks.to_string(),
        format!("{filled:.0}"),
    ])
}
