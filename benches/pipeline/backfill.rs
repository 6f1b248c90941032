//! How fast is a table embedded in the background, beside embedding alone?
//!
//! In each round some other documents are embedded twice: by a pipeline, from
//! `rag_create_pipeline` until `rag_wait` returns, and as an array of the texts of its chunks by
//! `rag_embed`, which neither cuts nor stores. Who goes first changes. The vector index is built
//! when the last row is done, and may still be under way when `rag_wait` returns; what it takes is
//! measured by building it once more.

use std::thread;
use std::time::{Duration, Instant};

use postgres::Client;

use crate::report::{Report, Table};
use crate::{Result, Server, Settings, texts};

const CONTENT: &str = "content";

/// The texts that the pipeline will embed.
const CUT: &str = "DROP TABLE IF EXISTS piece;
    CREATE TABLE piece AS
    SELECT array_agg(c.content ORDER BY paper.id, c.chunk_no) AS contents
    FROM paper, rag_chunk(paper.content, '{\"max_tokens\": 256}') AS c";

const ALONE: &str = "SELECT count(*) FROM unnest(rag_embed_batch((SELECT contents FROM piece)))";

/// What the rounds add up to.
#[derive(Default)]
struct Sum {
    rows: i64,
    chunks: i64,
    tokens: i64,
    alone: Duration,
    /// Until `rag_wait` returned.
    filled: Duration,
    /// Until the pipeline had its index.
    live: Duration,
    index: Duration,
}

pub fn run(settings: &Settings, report: &mut Report) -> Result<()> {
    let Some(documents) = texts::documents() else {
        report.note("skipped: no judged data; set PG_RAG_DATA");
        return Ok(());
    };
    let (_server, mut client) = start()?;
    let mut sum = Sum::default();
    let rounds = settings.rounds.unwrap_or(3);
    for (round, slice) in documents.chunks(settings.documents).take(rounds).enumerate() {
        fill(&mut client, slice)?;
        sum.rows += slice.len() as i64;
        for turn in [round % 2, 1 - round % 2] {
            match turn {
                0 => sum.alone += alone(&mut client)?,
                _ => backfill(&mut client, &mut sum)?,
            }
        }
    }
    report.note(&format!(
        "{} documents of scifact in {rounds} rounds, {} chunks, {} tokens.",
        sum.rows, sum.chunks, sum.tokens
    ));
    show(report, &sum);
    Ok(())
}

/// A server with an empty table `paper`, whose model is loaded, and a session.
pub fn start() -> Result<(Server, Client)> {
    let server = Server::start(&["rag.max_workers = 2"])?;
    let mut client = server.session();
    client.batch_execute("CREATE TABLE paper (id integer PRIMARY KEY, content text NOT NULL)")?;
    client.batch_execute("SELECT rag_embed_batch(ARRAY['the model is loaded by this'])")?;
    Ok((server, client))
}

/// Puts these documents, and no others, into the table `paper`, and the texts of their chunks beside it.
pub fn fill(client: &mut Client, documents: &[String]) -> Result<()> {
    client.batch_execute("TRUNCATE paper")?;
    let insert = "INSERT INTO paper SELECT n, content
                  FROM unnest($1::text[]) WITH ORDINALITY AS given (content, n)";
    client.execute(insert, &[&documents])?;
    client.batch_execute("VACUUM (ANALYZE) paper")?;
    client.batch_execute(CUT)?;
    Ok(())
}

fn alone(client: &mut Client) -> Result<Duration> {
    let started = Instant::now();
    client.query_one(ALONE, &[])?;
    Ok(started.elapsed())
}

fn backfill(client: &mut Client, sum: &mut Sum) -> Result<()> {
    let (filled, live) = fill_pipeline(client, r#"{"backfill": "background"}"#)?;
    sum.filled += filled;
    sum.live += live;
    sum.index += build_index(client)?;
    let usage =
        "SELECT chunks_embedded, tokens_embedded FROM rag.stat_pipeline WHERE pipeline = 'paper'";
    let usage = client.query_one(usage, &[])?;
    sum.chunks += usage.get::<_, i64>(0);
    sum.tokens += usage.get::<_, i64>(1);
    client.batch_execute("SELECT rag_drop_pipeline('paper')")?;
    Ok(())
}

/// The times until the rows of `paper` were embedded by a pipeline with these options, and until they were indexed too.
pub fn fill_pipeline(client: &mut Client, options: &str) -> Result<(Duration, Duration)> {
    let create =
        format!("SELECT rag_create_pipeline('paper', '{CONTENT}', options => '{options}')");
    let started = Instant::now();
    client.batch_execute(&create)?;
    client.batch_execute("SELECT rag_wait('paper', timeout => NULL)")?;
    let filled = started.elapsed();
    let is_live = "SELECT state = 'live' FROM rag.pipeline_status WHERE pipeline = 'paper'";
    while !client.query_one(is_live, &[])?.get::<_, bool>(0) {
        thread::sleep(Duration::from_millis(2));
    }
    Ok((filled, started.elapsed()))
}

/// How long the pipeline's vector index takes, built once more and alone.
fn build_index(client: &mut Client) -> Result<Duration> {
    let name = "SELECT i.indexrelid::regclass::text FROM pg_index AS i
        JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam
        WHERE i.indrelid = 'paper_rag_chunks'::regclass AND a.amname = 'rag_hnsw'";
    let name: String = client.query_one(name, &[])?.get(0);
    let started = Instant::now();
    client.batch_execute(&format!("REINDEX INDEX {name}"))?;
    Ok(started.elapsed())
}

fn show(report: &mut Report, sum: &Sum) {
    let alone = sum.alone.as_secs_f64();
    let mut table = Table::new(["", "seconds", "rows/s", "tokens/s", "ratio"]);
    let sides = [
        ("rag_embed alone", sum.alone),
        ("pipeline, until rag_wait returns", sum.filled),
        ("pipeline, until it is indexed", sum.live),
    ];
    for (name, took) in sides {
        let took = took.as_secs_f64();
        let rate = |count: i64| format!("{:.0}", count as f64 / took);
        let rows = format!("{:.1}", sum.rows as f64 / took);
        let ratio = format!("{:.3}", alone / took);
        table.row([name.to_owned(), format!("{took:.2}"), rows, rate(sum.tokens), ratio]);
    }
    report.table(&table);
    let live = sum.live.as_secs_f64();
    report.note(&format!(
        "pipeline over rag_embed: {:.3} (goal: at least 0.9)",
        alone / sum.filled.as_secs_f64()
    ));
    report.note(&format!(
        "the vector index, built once more: {:.0} ms, {:.1} % of the time until it is indexed",
        sum.index.as_secs_f64() * 1e3,
        100.0 * sum.index.as_secs_f64() / live
    ));
}
