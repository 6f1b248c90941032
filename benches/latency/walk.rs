//! What a walk over the graph adds to a question, from few chunks and from more.

use std::collections::HashSet;
use std::ops::Range;
use std::time::Instant;

use pg_rag::graph::{EntityMention, ExtractorKind, NamingText};
use postgres::{Client, Row, Statement};

use crate::cluster::Cluster;
use crate::report::{Report, Table};
use crate::settings::Settings;
use crate::{Result, WARM_UP, paths, percentile};

/// How many passages a chunk is taken to consist of where nobody says so.
const DENSITIES: [usize; 2] = [1, 5];

/// What is asked, by the options of a question: the first is what the others are compared with.
const SIDES: [(&str, &str); 3] = [
    ("without a walk", r#"{"retrieve": {"graph": "off"}}"#),
    ("from 5 chunks, as usual", r#"{"retrieve": {"graph": {}}}"#),
    ("from 20 chunks", r#"{"retrieve": {"graph": {"chunks": 20}}}"#),
];

/// Gives the pipeline a graph, asks each question without a walk and with one, in turns, and looks for paths.
pub fn measure(
    cluster: &Cluster,
    questions: &[String],
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    let mut client = cluster.connect();
    paths::create_graph(&mut client)?;
    let densities = settings.dense.map_or_else(|| DENSITIES.to_vec(), |dense| vec![dense]);
    for dense in densities {
        grow(&mut client, dense, report)?;
        ask(cluster, questions, settings, report)?;
        paths::measure(&mut client, questions, report)?;
    }
    report.note("goal: 3 ms added by a walk, p50, and 5 ms with a million chunks");
    Ok(())
}

/// Asks each question in all ways, in turns.
fn ask(
    cluster: &Cluster,
    questions: &[String],
    settings: &Settings,
    report: &mut Report,
) -> Result<()> {
    let mut embeds = cluster.connect();
    let mut sides = [Side::start(cluster)?, Side::start(cluster)?, Side::start(cluster)?];
    for (number, question) in questions.iter().take(WARM_UP + settings.questions).enumerate() {
        // From then on ragd knows its vector, whoever asks.
        embeds.query("SELECT rag_embed($1)", &[question])?;
        for turn in 0..sides.len() {
            let place = (number + turn) % sides.len();
            let took = sides[place].ask(question, SIDES[place].1)?;
            if number >= WARM_UP {
                sides[place].times.push(took);
            }
        }
    }
    show(&sides, report);
    Ok(())
}

/// Puts what chunks name into the graph, in the place of what is there. The extractor is asked here for it, as the pipeline would
/// ask it: that reads each row again, which takes minutes for 100,000 and half an hour for a million.
fn grow(client: &mut Client, dense: usize, report: &mut Report) -> Result<()> {
    client.batch_execute("TRUNCATE doc_rag_chunks_mentions")?;
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
        "a graph of {mentions} mentions in {chunks} chunks, each of which names what {dense} of them name, {own} beside {all} of the chunks"
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

fn show(sides: &[Side; 3], report: &mut Report) {
    let mut table = Table::new(["ms, the vector known", "p50", "p95", "added p50", "added p95"]);
    for ((name, _), side) in SIDES.iter().zip(sides) {
        let pairs = side.times.iter().zip(&sides[0].times);
        let added: Vec<f64> = pairs.map(|(with, without)| with - without).collect();
        let shown =
            |times: &[f64]| [0.5, 0.95].map(|share| format!("{:.2}", percentile(times, share)));
        let ([p50, p95], [added_p50, added_p95]) = (shown(&side.times), shown(&added));
        table.row([(*name).to_owned(), p50, p95, added_p50, added_p95]);
    }
    report.table(&table);
}
