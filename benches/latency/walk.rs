//! What a walk over the graph adds to a question.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Instant;

use pg_rag::graph::{EntityMention, ExtractorKind, NamingText};
use postgres::{Client, Row, Statement};

use crate::cluster::Cluster;
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::{Result, WARM_UP, percentile};

/// A search without a walk and one with it.
const OPTIONS: [&str; 2] = [r#"{"retrieve": {"graph": "off"}}"#, r#"{"retrieve": {"graph": {}}}"#];

/// Gives the pipeline a graph, and asks each question without a walk and with one, in turns.
pub fn measure(
    cluster: &Cluster,
    questions: &[String],
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    grow(&mut cluster.connect(), settings.dense, report)?;
    let mut embeds = cluster.connect();
    let mut sides = [Side::start(cluster)?, Side::start(cluster)?];
    for (number, question) in questions.iter().take(WARM_UP + settings.questions).enumerate() {
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

/// Gives the pipeline a graph. The extractor is asked here for what chunks name, as the pipeline would ask it: that reads
/// each row again, which takes minutes for 100,000 and half an hour for a million.
fn grow(client: &mut Client, dense: usize, report: &mut Report) -> Result<()> {
    let alter =
        r#"SELECT rag_alter_pipeline('doc', options => '{"graph": {"entities": "rules"}}')"#;
    client.batch_execute(alter)?;
    // Chunks are there, so nobody need look for them.
    client.batch_execute("SET session_replication_role = replica")?;
    let next = client.prepare(
        "SELECT chunk_id, content FROM doc_rag_chunks WHERE chunk_id > $1 ORDER BY chunk_id LIMIT 5000",
    )?;
    let (mut chunks, mut mentions, mut last) = (0, 0, i64::MIN);
    loop {
        let rows = client.query(&next, &[&last])?;
        let Some(row) = rows.last() else { break };
        last = row.get(0);
        chunks += rows.len();
        mentions += keep_named(client, &rows, dense)?;
    }
    client.batch_execute("RESET session_replication_role")?;
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks")?;
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks_mentions")?;
    let query = "SELECT pg_size_pretty(pg_total_relation_size('doc_rag_chunks_mentions')), pg_size_pretty(pg_total_relation_size('doc_rag_chunks'))";
    let row = client.query_one(query, &[])?;
    let [own, all] = [0, 1].map(|at| row.get::<_, String>(at));
    report.note(&format!(
        "a graph of {mentions} mentions in {chunks} chunks, {own} beside {all} of the chunks"
    ));
    Ok(())
}

/// Keeps what these chunks name, each as if it named what the next ones name, too, `dense` of them together; how many
/// mentions that are.
fn keep_named(client: &mut Client, chunks: &[Row], dense: usize) -> Result<u64> {
    let extractor = ExtractorKind::Rules.extractor();
    let named_in = |chunk: &Row| {
        let text = NamingText { content: chunk.get(1), ..NamingText::default() };
        extractor.mentions(&text, &mut || {})
    };
    let named: Vec<Vec<EntityMention>> = chunks.iter().map(named_in).collect();
    let mut found: Vec<(i64, EntityMention)> = Vec::new();
    for (at, chunk) in chunks.iter().enumerate() {
        let mut known = HashSet::new();
        for near in 0..dense {
            let all = named[(at + near) % chunks.len()].iter();
            let new = all.filter(|mention| known.insert(mention.norm.as_str()));
            // Others' places are none in this chunk.
            let here = |it: &EntityMention| match near {
                0 => it.clone(),
                _ => EntityMention { span: None, ..it.clone() },
            };
            found.extend(new.map(|mention| (chunk.get(0), here(mention))));
        }
    }
    let place = |of: fn(&Range<u32>) -> u32| -> Vec<Option<i32>> {
        found.iter().map(|(_, it)| it.span.as_ref().map(|span| of(span) as i32)).collect()
    };
    let insert = "INSERT INTO doc_rag_chunks_mentions (chunk_id, norm, alias_of, mentions, start_char, end_char)
                  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::integer[], $5::integer[], $6::integer[])";
    let kept = client.execute(
        insert,
        &[
            &found.iter().map(|(chunk_id, _)| *chunk_id).collect::<Vec<_>>(),
            &found.iter().map(|(_, it)| it.norm.as_str()).collect::<Vec<_>>(),
            &found.iter().map(|(_, it)| it.alias_of.as_deref()).collect::<Vec<_>>(),
            &found.iter().map(|(_, it)| it.count as i32).collect::<Vec<_>>(),
            &place(|span| span.start),
            &place(|span| span.end),
        ],
    )?;
    Ok(kept)
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
    report.note("goal: 3 ms added, p50, and 5 ms with a million chunks");
}
