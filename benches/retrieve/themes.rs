//! Questions for the whole of a chapter: how much of it is read with summaries of trees and without, at equal tokens.
//!
//! The set is made of the manual of PostgreSQL by section: the sections whose keys begin alike are a chapter, and each
//! chapter is a row. Of each three questions are asked: for an overview of what its title says, for its main points and for a
//! summary. What an answer is to cover are the sections of the chapter to which the index of the manual points, which its authors judged worth
//! finding. One is covered where something of it is read: a chunk, or a sentence that a summary quotes.
//!
//! How summaries are chosen was tuned on every second chapter, and is judged on the others.

use std::collections::{BTreeMap, HashSet};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::time::Instant;

use postgres::Client;
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::report::{Report, Table};
use crate::sets::Set;
use crate::{Result, fresh};

/// Sections of a chapter that is asked about: fewer are no chapter, more are a book of reference.
const SECTIONS: RangeInclusive<usize> = 5..=45;

/// Fewest sections of it that are to be covered.
const FEWEST_JUDGED: usize = 3;

/// What is asked of a chapter, with X in the place of its title.
const QUESTIONS: [&str; 3] =
    ["Give an overview of X.", "What are the main points of X?", "Summarize X."];

/// Tokens that are read for a question.
const BUDGETS: [i32; 3] = [250, 500, 1000];

/// A row of the table.
struct Chapter {
    key: String,
    title: String,
    body: String,
    /// The characters of the sections that are to be covered.
    judged: Vec<Range<i64>>,
}

/// What is compared; the first is what the others are compared with.
const WAYS: [(&str, &str); 3] = [
    ("chunks alone", r#"{"tree": "off"}"#),
    ("with summaries", r#"{"tree": "on"}"#),
    ("tree_beam 2", r#"{"tree": "on", "tree_beam": 2}"#),
];

/// What was read for the questions of some chapters in one way, a number each.
struct Reading {
    /// The share of the chapter's judged sections that is covered.
    covered: Vec<f64>,
    /// The share of what was read that is of the chapter.
    own: Vec<f64>,
}

/// Makes the set and prints what is covered of it.
pub fn measure(cluster: &Cluster, folder: &Path, report: &mut Report) -> Result<()> {
    let set = Set::read(folder, "pgdocs14", None)?;
    let chapters = chapters(&set);
    let mut client = fresh(cluster)?;
    fill(&mut client, &chapters, report)?;
    let asked: Vec<&Chapter> =
        chapters.iter().filter(|it| it.judged.len() >= FEWEST_JUDGED).collect();
    let judged: usize = asked.iter().map(|it| it.judged.len()).sum();
    report.note(&format!("{} chapters, {judged} sections that are to be covered", asked.len()));
    let [alone, with, beam] = WAYS.map(|(name, _)| name);
    let mut covered = Table::new(["questions", "tokens read", alone, with, beam]);
    let mut own = Table::new(["questions", "tokens read", alone, with, beam]);
    for (half, first) in [("tuned", 0), ("kept", 1)] {
        let chapters: Vec<&Chapter> = asked.iter().copied().skip(first).step_by(2).collect();
        let questions = format!("{half}, {}", chapters.len() * QUESTIONS.len());
        for tokens in BUDGETS {
            let [first, second, third] = readings(&mut client, &chapters, tokens)?;
            let row = |cells: [String; 3]| {
                let [one, two, three] = cells;
                [questions.clone(), tokens.to_string(), one, two, three]
            };
            let [two, three] = [&second, &third].map(|it| beside(&it.covered, &first.covered));
            covered.row(row([format!("{:.3}", mean(&first.covered)), two, three]));
            own.row(row([&first, &second, &third].map(|it| format!("{:.3}", mean(&it.own)))));
        }
    }
    report.note(
        "mean share of the sections that is covered, and for how many questions it is more and less than with chunks alone",
    );
    report.table(&covered);
    report.note("mean share of what is read that is of the chapter");
    report.table(&own);
    Ok(())
}

/// What is read for the questions of some chapters in each way.
fn readings(client: &mut Client, chapters: &[&Chapter], tokens: i32) -> Result<[Reading; 3]> {
    let mut reading = |retrieve: &str| -> Result<Reading> {
        let retrieve: Value = serde_json::from_str(retrieve)?;
        let options = json!({"retrieve": retrieve, "context": {"tokens": tokens}});
        let asked = chapters.iter().flat_map(|it| QUESTIONS.map(|words| (*it, words)));
        let read = asked.map(|(chapter, words)| read(client, chapter, words, &options));
        let (covered, own) = read.collect::<Result<Vec<(f64, f64)>>>()?.into_iter().unzip();
        Ok(Reading { covered, own })
    };
    let [alone, with, beam] = WAYS.map(|(_, retrieve)| reading(retrieve));
    Ok([alone?, with?, beam?])
}

/// The mean of some shares, and how many are greater and less than those of the same questions.
fn beside(shares: &[f64], first: &[f64]) -> String {
    let count = |is: fn(&f64, &f64) -> bool| {
        shares.iter().zip(first).filter(|(share, first)| is(share, first)).count()
    };
    format!("{:.3} ({}, {})", mean(shares), count(f64::gt), count(f64::lt))
}

/// The chapters of a manual, a row each, in the order of their keys.
fn chapters(set: &Set) -> Vec<Chapter> {
    let judged: HashSet<&str> = set.cases["qrels"]
        .as_object()
        .into_iter()
        .flat_map(|qrels| qrels.values())
        .filter_map(Value::as_object)
        .flat_map(|documents| documents.keys().map(String::as_str))
        .collect();
    let mut groups: BTreeMap<&str, Vec<&[String; 3]>> = BTreeMap::new();
    for document in &set.documents {
        let key = document[0].split('-').next().unwrap_or_default();
        groups.entry(key).or_default().push(document);
    }
    let groups = groups.into_iter().filter(|(_, sections)| SECTIONS.contains(&sections.len()));
    groups.map(|(key, sections)| chapter(key, &sections, &judged)).collect()
}

fn chapter(key: &str, sections: &[&[String; 3]], judged: &HashSet<&str>) -> Chapter {
    let title = sections.first().map_or("", |section| &section[1]).to_owned();
    let mut made = Chapter { key: key.to_owned(), title, body: String::new(), judged: Vec::new() };
    for [id, title, text] in sections {
        let start = made.body.chars().count() as i64;
        made.body += &format!("# {title}\n\n{text}\n\n");
        if judged.contains(id.as_str()) {
            made.judged.push(start..made.body.chars().count() as i64);
        }
    }
    made
}

fn fill(client: &mut Client, chapters: &[Chapter], report: &mut Report) -> Result<()> {
    client.batch_execute("CREATE TABLE doc (id text PRIMARY KEY, body text)")?;
    for Chapter { key, body, .. } in chapters {
        client.execute("INSERT INTO doc VALUES ($1, $2)", &[key, body])?;
    }
    let create = "SELECT rag_create_pipeline('doc', 'body', refresh => 'manual', chunking => '{\"by\": \"markdown\", \"max_tokens\": 200, \"overlap\": 0}',
                                             options => '{\"config\": \"english\", \"backfill\": \"background\"}')";
    let started = Instant::now();
    client.batch_execute(create)?;
    client.batch_execute("CALL rag_run('doc')")?;
    let embedded = started.elapsed().as_secs_f64();
    let started = Instant::now();
    client.batch_execute("SELECT rag_alter_pipeline('doc', options => '{\"tree\": {}}')")?;
    client.batch_execute("CALL rag_run('doc')")?;
    let grown = started.elapsed().as_secs_f64();
    client.batch_execute("VACUUM (ANALYZE) doc_rag_chunks, doc_rag_chunks_tree")?;
    let query =
        "SELECT (SELECT count(*) FROM doc_rag_chunks), (SELECT count(*) FROM doc_rag_chunks_tree)";
    let row = client.query_one(query, &[])?;
    let (chunks, summaries): (i64, i64) = (row.get(0), row.get(1));
    report.note(&format!(
        "{} chapters, {chunks} chunks made in {embedded:.0} s, {summaries} summaries in {grown:.0} s, no call of a language model",
        chapters.len()
    ));
    Ok(())
}

/// Which share of a chapter's judged sections is covered by what is read, and which share of that is of the chapter.
fn read(
    client: &mut Client,
    chapter: &Chapter,
    words: &str,
    options: &Value,
) -> Result<(f64, f64)> {
    let question = words.replace('X', &chapter.title);
    let query = "SELECT context::text FROM rag_answer_details($1, 'doc', k => 50, options => $2::text::jsonb)";
    let row = client.query_one(query, &[&question, &options.to_string()])?;
    let context: Value = serde_json::from_str(row.get(0))?;
    let sources = context.as_array().into_iter().flatten();
    let places: Vec<(bool, i64, i64)> = sources
        .flat_map(|source| match source["leaves"].as_array() {
            Some(leaves) => leaves.iter().collect::<Vec<_>>(),
            None => vec![source],
        })
        .map(|place| {
            let number = |key: &str| place[key].as_i64().unwrap_or_default();
            let is_own = place["source_key"].as_str() == Some(&chapter.key);
            (is_own, number("start_char"), number("end_char"))
        })
        .collect();
    let is_covered = |section: &&Range<i64>| {
        let meets = |(is_own, start, end): &(bool, i64, i64)| {
            *is_own && *start < section.end && section.start < *end
        };
        places.iter().any(meets)
    };
    let covered = chapter.judged.iter().filter(is_covered).count() as f64;
    let own = places.iter().filter(|(is_own, ..)| *is_own).count() as f64;
    Ok((covered / chapter.judged.len() as f64, own / places.len().max(1) as f64))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
