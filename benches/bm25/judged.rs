//! How good the ranking is: nDCG@10 over judged questions, beside BM25 of other programs.
//!
//! These are bm25s with Lucene's formula over title and text, with Porter's stems, which differ a
//! little from PostgreSQL's (Snowball's English), and for Chinese the same formula in Python over pairs of
//! characters, as Lucene's CJKAnalyzer makes them.

use std::collections::HashMap;

use postgres::Client;
use serde_json::Value;

use crate::Result;
use crate::invocation::judged_data;
use crate::report::{Report, Table};
use crate::sets::Set;

/// Sets, and what Lucene's BM25 reaches with k1 0.9 and b 0.4.
const SETS: [(&str, f64); 5] = [
    ("scifact", 0.671),
    ("squad_train_sample", 0.882),
    ("hotpotqa500", 0.782),
    ("pgdocs14", 0.708),
    ("xquad/zh", 0.967),
];

/// k1 and b that are tried.
const PARAMETERS: [(f64, f64); 2] = [(0.9, 0.4), (1.2, 0.75)];

/// Prints a row for each set.
pub fn measure(client: &mut Client, report: &mut Report) -> Result<()> {
    report.heading("nDCG@10 on judged sets");
    let Some(folder) = judged_data() else {
        report.note("skipped: no judged data; set PG_RAG_DATA");
        return Ok(());
    };
    let mut table =
        Table::new(["", "Lucene, 0.9 and 0.4", "rag_bm25, 0.9 and 0.4", "1.2 and 0.75", "ts_rank"]);
    for (name, theirs) in SETS {
        let set = match Set::read(&folder, name, None) {
            Ok(set) => set,
            Err(error) => {
                report.note(&format!("{name} skipped: {error}"));
                continue;
            }
        };
        fill(client, &set)?;
        let [first, second] = PARAMETERS.map(|parameters| by_index(client, &set, parameters));
        let plain = ndcg(client, &set, PLAIN)?;
        table.row([
            name.to_owned(),
            format!("{theirs:.3}"),
            format!("{:.4}", first?),
            format!("{:.4}", second?),
            format!("{plain:.4}"),
        ]);
    }
    report.table(&table);
    Ok(())
}

/// $1: the question as a tsquery.
const RANKED: &str = "SELECT id FROM judged WHERE tsv @@ $1::text::tsquery
    ORDER BY tsv <@> rag_bm25_query('judged_tsv', $1::text::tsquery) LIMIT 10";
const PLAIN: &str = "SELECT id FROM judged WHERE tsv @@ $1::text::tsquery
    ORDER BY ts_rank(tsv, $1::text::tsquery, 1) DESC LIMIT 10";
/// $1: a text search configuration, $2: a question. Its words, joined by OR; NULL where it has none.
const WORDS: &str = "SELECT nullif(rag_question_to_tsquery($1::text::regconfig, $2)::text, '')";

fn fill(client: &mut Client, set: &Set) -> Result<()> {
    client.batch_execute(
        "DROP TABLE IF EXISTS judged; CREATE TABLE judged (id text, tsv tsvector)",
    )?;
    for part in set.documents.chunks(1000) {
        let column = |at: usize| part.iter().map(|it| it[at].as_str()).collect::<Vec<_>>();
        client.execute(
            "INSERT INTO judged SELECT d.id, rag_to_tsvector($4::text::regconfig, d.title || ' ' || d.body)
             FROM unnest($1::text[], $2::text[], $3::text[]) AS d (id, title, body)",
            &[&column(0), &column(1), &column(2), &set.config],
        )?;
    }
    client.batch_execute("CREATE INDEX judged_tsv ON judged USING rag_bm25 (tsv)")?;
    client.batch_execute("VACUUM ANALYZE judged")?;
    Ok(())
}

fn by_index(client: &mut Client, set: &Set, (k1, b): (f64, f64)) -> Result<f64> {
    client.batch_execute(&format!(
        "SET rag.bm25_k1 = {k1}; SET rag.bm25_b = {b}; SET enable_seqscan = off"
    ))?;
    let mean = ndcg(client, set, RANKED);
    client.batch_execute("RESET ALL")?;
    mean
}

/// The mean over all questions.
fn ndcg(client: &mut Client, set: &Set, statement: &str) -> Result<f64> {
    let (words, statement) = (client.prepare(WORDS)?, client.prepare(statement)?);
    let judgements = &set.cases["qrels"];
    let questions = set.cases["queries"].as_array().ok_or("no questions")?;
    let (mut sum, mut count) = (0.0, 0);
    for question in questions {
        let (Some(id), Some(text)) = (question["id"].as_str(), question["text"].as_str()) else {
            return Err("a question without id or text".into());
        };
        let relevant = grades(&judgements[id]);
        if relevant.is_empty() {
            continue;
        }
        count += 1;
        let asked: Option<String> = client.query_one(&words, &[&set.config, &text])?.get(0);
        let Some(asked) = asked else { continue };
        let rows = client.query(&statement, &[&asked])?;
        let found: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        sum += score(&found, &relevant);
    }
    Ok(sum / f64::from(count.max(1)))
}

fn grades(judged: &Value) -> HashMap<String, f64> {
    let pairs = judged.as_object().into_iter().flatten();
    let grades = pairs.filter_map(|(id, grade)| Some((id.clone(), grade.as_f64()?)));
    grades.filter(|(_, grade)| *grade > 0.0).collect()
}

fn score(found: &[String], relevant: &HashMap<String, f64>) -> f64 {
    let discounted = |(place, grade): (usize, f64)| grade / (place as f64 + 2.0).log2();
    let grades = found.iter().map(|id| relevant.get(id).copied().unwrap_or(0.0));
    let mut best: Vec<f64> = relevant.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal: f64 = best.into_iter().take(10).enumerate().map(discounted).sum();
    grades.enumerate().map(discounted).sum::<f64>() / ideal
}
