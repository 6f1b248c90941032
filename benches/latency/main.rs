//! # How long does a question take, beside the same by hand?
//!
//! ```text
//! make bench-latency ARGS="[--chunks N] [--embedded N] [--questions N] [--graph | --only-graph] [--dense N]"
//! ```
//!
//! Short passages of the judged sets become a pipeline and, with the same texts and vectors, a table as
//! one keeps it by hand: pgvector's hnsw and a GIN index of words. Hybrid `rag_retrieve` for 10 chunks
//! takes turns with a Python program that embeds the question with onnxruntime, asks pgvector and
//! `ts_rank` for 100 chunks each, fuses them by their ranks and reads the first 10, all in one session
//! that stays open. Two ways of looking words up stand there: any of the question's words, as
//! `rag_retrieve` does, and all of them, which is cheaper and mostly finds nothing.
//!
//! Embedding takes as long on both sides, if the model is given as many threads. So beside the whole
//! time stands what is left of it without: in Python by its own clock, here without the time that
//! `rag_embed` takes for the same question in another session.
//!
//! Vectors of most passages are made of those of the others, or filling the tables would take half an
//! hour: distances between them are those of texts, but what they are the vectors of is not said by
//! their texts. So this says how long something takes and not how good it is. `--embedded` as large as
//! `--chunks` has all of them embedded.
//!
//! Then a hundred questions are looked up by `rag_retrieve_batch` and one by one, none of which the server has seen. With
//! `--graph` the pipeline gets a graph at last, and questions are asked without a walk over it, and with one from 5 and from 20
//! chunks; then `rag_graph` looks for paths of one to four hops, with and without predicates. With `--only-graph` nothing else is
//! asked. Short passages name few entities, so all this is done twice: with what each chunk names, and as if it named what five
//! of them name. `--dense 5` does only the latter.
//!
//! The server runs in a temporary folder (`TMPDIR`) with the PostgreSQL that `PG_RAG_PG_CONFIG` names.
//! The sets are those of `$PG_RAG_DATA` (default `../shared/data`).

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

mod batch;
mod by_hand;
mod paths;
mod settings;
mod tables;
mod texts;
mod walk;

use std::time::Instant;

use postgres::{Client, Statement};

use by_hand::{ByHand, Words};
use cluster::Cluster;
use invocation::{judged_data, settings_or_exit};
use report::{Report, Table, gain};
use settings::{GraphPart, SHARDS, Settings};
use texts::Texts;

/// What went wrong, in the words of whoever noticed.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Questions asked before the clock runs, so that all is loaded and in memory.
const WARM_UP: usize = 30;

fn main() -> Result<()> {
    let settings = settings_or_exit(Settings::parse(100_000), None);
    if settings.shards != SHARDS {
        return Err("one server is asked here: leave --shards to bench-shards".into());
    }
    let Some(folder) = judged_data() else {
        println!("skipped: no judged data; set PG_RAG_DATA");
        return Ok(());
    };
    let buffers = format!("shared_buffers = {}MB", 1024.min(machine::memory() / 8));
    let lines = [buffers.as_str(), "max_wal_size = 8GB", "jit = off", "autovacuum = off"];
    let Some(cluster) = Cluster::start(&lines) else { return Ok(()) };
    let mut report = Report::new(None);
    report.note(&machine::description());
    let texts = Texts::read(&folder, settings.chunks)?;
    fill(&cluster, &texts, &settings, &mut report)?;
    if settings.graph != GraphPart::Alone {
        tables::copy_by_hand(&mut cluster.connect())?;
        let sides = measure(&cluster, &texts.questions, settings.questions)?;
        show(&sides, &mut report);
        batch::measure(&cluster, &texts.questions, &mut report)?;
    }
    match settings.graph {
        GraphPart::Off => Ok(()),
        _ => walk::measure(&cluster, &texts.questions, &settings, &mut report),
    }
}

fn fill(cluster: &Cluster, texts: &Texts, settings: &Settings, report: &mut Report) -> Result<()> {
    let mut client = cluster.connect();
    client.batch_execute("CREATE EXTENSION pg_rag CASCADE")?;
    let started = Instant::now();
    tables::fill(&mut client, &texts.passages, settings.embedded)?;
    let chunks: i64 = client.query_one("SELECT count(*) FROM doc_rag_chunks", &[])?.get(0);
    report.note(&format!(
        "{chunks} chunks, {} of them as they stand in a document, {} embedded, made in {:.0} s",
        texts.natural,
        settings.embedded,
        started.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// What questions took on one side, in milliseconds.
struct Side {
    name: &'static str,
    totals: Vec<f64>,
    /// Without embedding.
    rests: Vec<f64>,
    /// How many chunks it found.
    found: usize,
}

impl Side {
    fn new(name: &'static str) -> Side {
        Side { name, totals: Vec::new(), rests: Vec::new(), found: 0 }
    }

    fn note(&mut self, total: f64, rest: f64, found: usize) {
        self.totals.push(total);
        self.rests.push(rest);
        self.found += found;
    }
}

/// A session that retrieves, and one that embeds and has never seen the question either.
struct Ours {
    retrieves: (Client, Statement),
    embeds: (Client, Statement),
}

impl Ours {
    fn start(cluster: &Cluster) -> Result<Ours> {
        let session = |statement| -> Result<(Client, Statement)> {
            let mut client = cluster.connect();
            let statement = client.prepare(statement)?;
            Ok((client, statement))
        };
        Ok(Ours {
            retrieves: session("SELECT chunk_id, content FROM rag_retrieve($1, k => 10)")?,
            embeds: session("SELECT rag_embed($1)::text")?,
        })
    }

    /// Milliseconds of the whole and of embedding alone, and how many chunks were found.
    fn ask(&mut self, question: &str) -> Result<(f64, f64, usize)> {
        let timed = |(client, statement): &mut (Client, Statement)| -> Result<(f64, usize)> {
            let started = Instant::now();
            let rows = client.query(statement, &[&question])?;
            Ok((started.elapsed().as_secs_f64() * 1000.0, rows.len()))
        };
        let (embed, _) = timed(&mut self.embeds)?;
        let (total, found) = timed(&mut self.retrieves)?;
        Ok((total, embed, found))
    }
}

/// All sides take turns with each question.
fn measure(cluster: &Cluster, questions: &[String], count: usize) -> Result<[Side; 3]> {
    let mut ours = Ours::start(cluster)?;
    let mut theirs = ByHand::start(&cluster.socket())?;
    let mut sides =
        [Side::new("Python, any word"), Side::new("Python, all words"), Side::new("rag_retrieve")];
    for (number, question) in questions.iter().take(WARM_UP + count).enumerate() {
        let any = theirs.ask(question, Words::Or)?;
        let all = theirs.ask(question, Words::And)?;
        let (total, embed, found) = ours.ask(question)?;
        if number >= WARM_UP {
            sides[0].note(any.total, any.total - any.embed, any.ids.len());
            sides[1].note(all.total, all.total - all.embed, all.ids.len());
            sides[2].note(total, total - embed, found);
        }
    }
    Ok(sides)
}

fn show(sides: &[Side], report: &mut Report) {
    let mut table =
        Table::new(["ms", "p50", "", "p95", "", "without embedding p50", "", "p95", "", "found"]);
    let Some(base) = sides.first() else { return };
    for (place, side) in sides.iter().enumerate() {
        let pair = |mine: &[f64], theirs: &[f64], share: f64| {
            let (mine, theirs) = (percentile(mine, share), percentile(theirs, share));
            (format!("{mine:.2}"), gain(Some(theirs), mine, place > 0))
        };
        let (total_p50, total_gain) = pair(&side.totals, &base.totals, 0.5);
        let (total_p95, slow_gain) = pair(&side.totals, &base.totals, 0.95);
        let (rest_p50, rest_gain) = pair(&side.rests, &base.rests, 0.5);
        let (rest_p95, slow_rest_gain) = pair(&side.rests, &base.rests, 0.95);
        table.row([
            side.name.to_owned(),
            total_p50,
            total_gain,
            total_p95,
            slow_gain,
            rest_p50,
            rest_gain,
            rest_p95,
            slow_rest_gain,
            format!("{:.1}", side.found as f64 / side.totals.len().max(1) as f64),
        ]);
    }
    report.table(&table);
    report.note("goal: 5 ms without embedding, p50, and twice as fast as by hand");
}

/// The value below which `share` of the times lie, in milliseconds.
fn percentile(times: &[f64], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(f64::NAN)
}
