//! What a walk over the graph adds to a question.

use std::time::Instant;

use postgres::{Client, Statement};

use crate::cluster::Cluster;
use crate::report::{Report, Table};
use crate::{Result, WARM_UP, percentile};

/// A search without a walk and one with it.
const OPTIONS: [&str; 2] = [r#"{"retrieve": {"graph": "off"}}"#, r#"{"retrieve": {"graph": {}}}"#];

/// Gives the pipeline a graph, and asks each question without a walk and with one, in turns.
pub fn measure(
    cluster: &Cluster,
    questions: &[String],
    count: usize,
    report: &mut Report,
) -> Result<()> {
    grow(&mut cluster.connect(), report)?;
    let mut embeds = cluster.connect();
    let mut sides = [Side::start(cluster)?, Side::start(cluster)?];
    for (number, question) in questions.iter().take(WARM_UP + count).enumerate() {
        // From then on ragd knows its vector, whoever asks.
        embeds.query("SELECT rag_embed($1)", &[question])?;
        for place in [number % 2, 1 - number % 2] {
            let took = sides[place].ask(question, OPTIONS[place])?;
            if number >= WARM_UP {
                sides[place].times.push(took);
            }
        }
    }
    show(&sides, report);
    Ok(())
}

fn grow(client: &mut Client, report: &mut Report) -> Result<()> {
    // What was inserted since the pipeline was made is chunked first, which is no part of making a graph.
    client.batch_execute("CALL rag_run('doc')")?;
    let started = Instant::now();
    let alter =
        r#"SELECT rag_alter_pipeline('doc', options => '{"graph": {"entities": "rules"}}')"#;
    client.batch_execute(alter)?;
    client.batch_execute("CALL rag_run('doc')")?;
    let grown = started.elapsed().as_secs_f64();
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks")?;
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks_mentions")?;
    let query =
        "SELECT (SELECT count(*) FROM doc_rag_chunks), count(*) FROM doc_rag_chunks_mentions";
    let row = client.query_one(query, &[])?;
    let [chunks, mentions] = [0, 1].map(|at| row.get::<_, i64>(at));
    report
        .note(&format!("a graph of {mentions} mentions in {chunks} chunks, made in {grown:.0} s"));
    Ok(())
}

/// A session that asks in one way, and how long each question took, in milliseconds.
struct Side {
    client: Client,
    statement: Statement,
    times: Vec<f64>,
}

impl Side {
    fn start(cluster: &Cluster) -> Result<Side> {
        let mut client = cluster.connect();
        let query =
            "SELECT chunk_id, content FROM rag_retrieve($1, k => 10, options => $2::text::jsonb)";
        let statement = client.prepare(query)?;
        Ok(Side { client, statement, times: Vec::new() })
    }

    fn ask(&mut self, question: &str, options: &str) -> Result<f64> {
        let started = Instant::now();
        self.client.query(&self.statement, &[&question, &options])?;
        Ok(started.elapsed().as_secs_f64() * 1000.0)
    }
}

fn show([without, with]: &[Side; 2], report: &mut Report) {
    let mut table = Table::new(["ms, the vector known", "p50", "p95"]);
    let added: Vec<f64> = with.times.iter().zip(&without.times).map(|(a, b)| a - b).collect();
    let rows =
        [("without a walk", &without.times), ("with a walk", &with.times), ("added", &added)];
    for (name, times) in rows {
        let [p50, p95] = [0.5, 0.95].map(|share| format!("{:.2}", percentile(times, share)));
        table.row([name.to_owned(), p50, p95]);
    }
    report.table(&table);
    report.note("goal: 3 ms added, p50");
}
