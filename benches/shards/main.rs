//! # What does a pipeline over shards cost, and does it find the same?
//!
//! ```text
//! make bench-shards ARGS="[--shards N] [--chunks N] [--embedded N] [--questions N]"   50000 chunks in each of 4 shards
//! ```
//!
//! The abstracts of scifact and other short passages become a pipeline of one database, and with the same texts and
//! vectors a part each of others, which another one searches as shards. Hybrid and dense questions of
//! scifact go to the one, to all shards, and to each shard by itself, in turns. Recall is the share of the ten nearest
//! by an exact search that the ten of the mode `dense` have, and nDCG is that of the ten of a hybrid question by
//! scifact's judgements.
//!
//! Most vectors are made of those of other texts, as in the benchmark `latency`. All databases are on this
//! machine, so with fewer processors than shards these wait for each other as they would not on servers of their own.
//!
//! The server runs in a temporary folder (`TMPDIR`) with the PostgreSQL that `PG_RAG_PG_CONFIG` names, which must
//! have postgres_fdw. The sets are those of `$PG_RAG_DATA` (default `../shared/data`).

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
#[path = "../latency/settings.rs"]
mod settings;
#[path = "../latency/tables.rs"]
#[allow(dead_code)]
mod tables;
#[path = "../latency/texts.rs"]
#[allow(dead_code)]
mod texts;

use std::collections::{HashMap, HashSet};
use std::io::{Read, Write};
use std::time::Instant;

use postgres::{Client, Statement};

use cluster::Cluster;
use invocation::{judged_data, settings_or_exit};
use report::{Report, Table};
use sets::Set;
use settings::{GraphPart, Settings};
use texts::Texts;

/// What went wrong, in the words of whoever noticed.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Questions asked before the clock runs, so that all is loaded and in memory.
const WARM_UP: usize = 20;

/// The columns of a chunk table that are not computed.
const COLUMNS: &str = "source_id, chunk_no, content, start_char, end_char, token_count, content_hash, model, embedding";

/// A question, and the rows that are relevant to it.
struct Judged {
    text: String,
    relevant: HashSet<String>,
}

fn main() -> Result<()> {
    let settings = settings_or_exit(Settings::parse(50_000), None);
    if settings.graph != GraphPart::Off || settings.dense.is_some() || settings.shards == 0 {
        return Err(
            "a pipeline over shards has some, and no graph: leave --graph and --dense to bench-latency"
                .into(),
        );
    }
    let Some(folder) = judged_data() else {
        println!("skipped: no judged data; set PG_RAG_DATA");
        return Ok(());
    };
    let buffers = format!("shared_buffers = {}MB", 1024.min(machine::memory() / 8));
    let lines = [buffers.as_str(), "max_wal_size = 8GB", "jit = off", "autovacuum = off"];
    let Some(cluster) = Cluster::start(&lines) else { return Ok(()) };
    let available = "SELECT count(*) FROM pg_available_extensions WHERE name = 'postgres_fdw'";
    if cluster.connect().query_one(available, &[])?.get::<_, i64>(0) == 0 {
        println!("skipped: this PostgreSQL has no postgres_fdw");
        return Ok(());
    }
    let mut report = Report::new(None);
    report.note(&machine::description());
    let set = Set::read(&folder, "scifact", None)?;
    let mut passages: Vec<String> =
        set.documents.iter().map(|[_, title, text]| format!("{title}. {text}")).collect();
    let judged = judged(&set, settings.questions);
    let whole = (settings.chunks * settings.shards).max(passages.len());
    passages.extend(Texts::read(&folder, whole - passages.len())?.passages);
    let started = Instant::now();
    fill(&cluster, &passages, settings.embedded.max(set.documents.len()), settings.shards)?;
    report.note(&format!(
        "{} rows, {} of them judged, made in {:.0} s",
        passages.len(),
        set.documents.len(),
        started.elapsed().as_secs_f64()
    ));
    let sides = measure(&cluster, &judged, settings.shards)?;
    show(&sides, &mut report);
    Ok(())
}

/// The first questions, with what is relevant by the numbers of rows.
fn judged(set: &Set, count: usize) -> Vec<Judged> {
    let numbers = (1..).zip(&set.documents).map(|(id, [key, ..])| (key.as_str(), id.to_string()));
    let numbers: HashMap<&str, String> = numbers.collect();
    let queries = set.cases["queries"].as_array().into_iter().flatten();
    let judged = queries.filter_map(|query| {
        let qrels = set.cases["qrels"][query["id"].as_str()?].as_object()?;
        let relevant = qrels.keys().filter_map(|key| numbers.get(key.as_str()).cloned());
        Some(Judged { text: query["text"].as_str()?.to_owned(), relevant: relevant.collect() })
    });
    judged.filter(|it| !it.relevant.is_empty()).take(WARM_UP + count).collect()
}

/// All rows in the database `one`, a part of them each in `shard0`, `shard1` and so on, and the pipeline over these in
/// `postgres`.
fn fill(cluster: &Cluster, passages: &[String], embedded: usize, shards: usize) -> Result<()> {
    let mut client = cluster.connect();
    client.batch_execute("CREATE DATABASE one")?;
    let mut one = cluster.connect_to("one");
    one.batch_execute("CREATE EXTENSION pg_rag CASCADE")?;
    tables::fill(&mut one, passages, embedded)?;
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE; CREATE EXTENSION postgres_fdw")?;
    for shard in 0..shards {
        client.batch_execute(&format!("CREATE DATABASE shard{shard}"))?;
        let part = format!("% {shards} = {shard}");
        copy(&mut one, &mut cluster.connect_to(&format!("shard{shard}")), &part)?;
        client.batch_execute(&format!(
            "CREATE SERVER shard{shard} FOREIGN DATA WRAPPER postgres_fdw
                 OPTIONS (host '{}', dbname 'shard{shard}', extensions 'vector, pg_rag');
             CREATE USER MAPPING FOR postgres SERVER shard{shard} OPTIONS (user 'postgres')",
            cluster.socket()
        ))?;
    }
    let names: Vec<String> = (0..shards).map(|shard| format!("shard{shard}.doc")).collect();
    let create = "SELECT rag_create_pipeline(name => 'doc', shards => $1)";
    client.query_one(create, &[&names])?;
    Ok(())
}

/// Copies the rows and chunks of a shard, for whose key `part` holds.
fn copy(one: &mut Client, shard: &mut Client, part: &str) -> Result<()> {
    shard.batch_execute(
        "CREATE EXTENSION pg_rag CASCADE;
         CREATE TABLE doc (id integer PRIMARY KEY, body text NOT NULL);
         SELECT rag_create_pipeline('doc', 'body', refresh => 'manual', options => '{\"backfill\": \"background\"}')",
    )?;
    shard.batch_execute("CALL rag_run('doc')")?;
    let indexes = tables::drop_indexes(shard)?;
    for (from, to) in [
        (format!("SELECT * FROM doc WHERE id {part}"), "doc".to_owned()),
        (
            format!("SELECT {COLUMNS} FROM doc_rag_chunks WHERE source_id {part}"),
            format!("doc_rag_chunks ({COLUMNS})"),
        ),
    ] {
        let mut text = Vec::new();
        one.copy_out(&format!("COPY ({from}) TO STDOUT"))?.read_to_end(&mut text)?;
        let mut writer = shard.copy_in(&format!("COPY {to} FROM STDIN"))?;
        writer.write_all(&text)?;
        writer.finish()?;
    }
    for definition in indexes {
        shard.batch_execute(&definition)?;
    }
    shard.batch_execute("VACUUM (ANALYZE) doc")?;
    shard.batch_execute("VACUUM (ANALYZE) doc_rag_chunks")?;
    Ok(())
}

/// Who is asked, and what came of it.
struct Side {
    name: String,
    client: Client,
    hybrid: Statement,
    dense: Statement,
    /// Milliseconds of hybrid questions, without embedding: the session has just embedded the question.
    times: Vec<f64>,
    recalls: Vec<f64>,
    ndcgs: Vec<f64>,
}

impl Side {
    fn start(cluster: &Cluster, name: &str, database: &str) -> Result<Side> {
        let mut client = cluster.connect_to(database);
        let retrieve = |mode: &str| {
            format!("SELECT source_key FROM rag_retrieve($1, k => 10, mode => '{mode}')")
        };
        let (hybrid, dense) =
            (client.prepare(&retrieve("hybrid"))?, client.prepare(&retrieve("dense"))?);
        let (times, recalls, ndcgs) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Side { name: name.to_owned(), client, hybrid, dense, times, recalls, ndcgs })
    }

    fn ask(&mut self, judged: &Judged, exact: &[String], is_counted: bool) -> Result<()> {
        let nearest = keys(&mut self.client, &self.dense, &judged.text)?;
        let started = Instant::now();
        let best = keys(&mut self.client, &self.hybrid, &judged.text)?;
        let took = started.elapsed().as_secs_f64() * 1e3;
        if is_counted {
            self.times.push(took);
            let hits = nearest.iter().filter(|key| exact.contains(key)).count();
            self.recalls.push(hits as f64 / exact.len().max(1) as f64);
            self.ndcgs.push(ndcg(&best, &judged.relevant));
        }
        Ok(())
    }
}

fn keys(client: &mut Client, statement: &Statement, question: &str) -> Result<Vec<String>> {
    Ok(client.query(statement, &[&question])?.iter().map(|row| row.get(0)).collect())
}

/// nDCG of rows that are relevant or not; the second chunk of a row counts nothing.
fn ndcg(found: &[String], relevant: &HashSet<String>) -> f64 {
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let mut seen = HashSet::new();
    let found = found.iter().enumerate();
    let gains = found.filter(|(_, key)| relevant.contains(*key) && seen.insert((*key).clone()));
    let gained: f64 = gains.map(|(place, _)| gain(place)).sum();
    let ideal: f64 = (0..relevant.len().min(10)).map(gain).sum();
    gained / ideal
}

/// All sides take turns with each question.
fn measure(cluster: &Cluster, judged: &[Judged], shards: usize) -> Result<Vec<Side>> {
    let mut exact = Side::start(cluster, "exact", "one")?;
    exact.client.batch_execute("SET enable_indexscan = off")?;
    let mut sides = vec![
        Side::start(cluster, "one server", "one")?,
        Side::start(cluster, &format!("{shards} shards"), "postgres")?,
    ];
    for shard in 0..shards {
        let name = format!("shard{shard}");
        sides.push(Side::start(cluster, &name, &name)?);
    }
    for (number, question) in judged.iter().enumerate() {
        let nearest = keys(&mut exact.client, &exact.dense, &question.text)?;
        for side in &mut sides {
            side.ask(question, &nearest, number >= WARM_UP)?;
        }
    }
    Ok(sides)
}

fn show(sides: &[Side], report: &mut Report) {
    let mut table = Table::new(["", "p50 ms", "p95 ms", "recall@10, dense", "nDCG@10, hybrid"]);
    for (place, side) in sides.iter().enumerate() {
        // Of a shard by itself only the time means something.
        let of_all = |values: &[f64]| match place < 2 {
            true => format!("{:.3}", mean(values)),
            false => String::new(),
        };
        table.row([
            side.name.clone(),
            format!("{:.2}", percentile(&side.times, 0.5)),
            format!("{:.2}", percentile(&side.times, 0.95)),
            of_all(&side.recalls),
            of_all(&side.ndcgs),
        ]);
    }
    report.table(&table);
    let slowest = sides[2..].iter().map(|side| percentile(&side.times, 0.5)).fold(0.0, f64::max);
    report.note(&format!(
        "goal: recall and nDCG of one server, and p50 at most {:.2} ms: 1.5 times the slowest shard, and 5 ms",
        1.5 * slowest + 5.0
    ));
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}
