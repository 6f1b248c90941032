//! Questions for the whole: how much of it is read with summaries of trees, with communities and with what a graph has around the
//! question, beside chunks alone and at equal tokens.
//!
//! [`chapters`] asks for one long document, and [`articles`] for what several short ones say. What an answer is to cover is
//! covered where something of it is read: a chunk, or a sentence that a summary or a digest quotes.

mod articles;
mod chapters;
mod ways;

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

use pg_rag::eval::significance::p_value;
use postgres::Client;

use crate::cluster::Cluster;
use crate::report::{Report, Table, whole};
use crate::{Result, fresh};
use ways::{PlaceRead, WAYS, Way};

/// What is asked, with X in the place of a title.
const QUESTIONS: [&str; 3] =
    ["Give an overview of X.", "What are the main points of X?", "Summarize X."];

/// Tosses of the paired randomization test, and their seed.
const TOSSES: u32 = 9_999;
const SEED: u64 = 1;

/// Rows, and questions for the whole of some of them.
pub struct ThemeSet {
    title: &'static str,
    /// Keys and texts.
    rows: Vec<(String, String)>,
    /// The pipeline's option `tree`.
    tree: &'static str,
    /// What is asked for, in parts that are judged apart.
    parts: Vec<(&'static str, Vec<Theme>)>,
    /// Tokens that are read for a question.
    budgets: &'static [i32],
}

/// Something that is asked for as a whole.
pub struct Theme {
    questions: Vec<String>,
    /// What is to be covered: the key of a row, and the characters there.
    judged: Vec<(String, Range<i64>)>,
}

impl Theme {
    /// The share of what is to be covered of which something is read.
    fn covered(&self, read: &[PlaceRead]) -> f64 {
        let meets = |(key, chars): &&(String, Range<i64>)| {
            let is_met = |it: &PlaceRead| {
                it.key == *key && it.chars.start < chars.end && chars.start < it.chars.end
            };
            read.iter().any(is_met)
        };
        self.judged.iter().filter(meets).count() as f64 / self.judged.len().max(1) as f64
    }

    /// The share of what is read that is of its rows.
    fn own(&self, read: &[PlaceRead]) -> f64 {
        let rows: HashSet<&str> = self.judged.iter().map(|(key, _)| key.as_str()).collect();
        let own = read.iter().filter(|it| rows.contains(it.key.as_str())).count();
        own as f64 / read.len().max(1) as f64
    }
}

/// What was read for some themes in one way.
#[derive(Default)]
struct ThemeReading {
    /// Of each theme, the share that is covered for each of its questions.
    covered: Vec<Vec<f64>>,
    /// Of each question, the share of what was read that is of the theme.
    own: Vec<f64>,
    /// How long each question took, in milliseconds.
    took: Vec<f64>,
}

/// Makes the sets and prints what is covered of them; of each part the first `most` themes, if that is given.
pub fn measure(cluster: &Cluster, folder: &Path, most: Option<usize>, report: &mut Report) {
    for set in [chapters::set(folder), articles::set(folder)] {
        // One that fails does not end the other.
        let measured = set.and_then(|mut set| {
            let most = most.unwrap_or(usize::MAX);
            set.parts.iter_mut().for_each(|(_, themes)| themes.truncate(most));
            compare(cluster, &set, report)
        });
        if let Err(error) = measured {
            report.note(&format!("themes: {}", whole(&*error)));
        }
    }
}

fn compare(cluster: &Cluster, set: &ThemeSet, report: &mut Report) -> Result<()> {
    report.heading(set.title);
    let mut client = fresh(cluster)?;
    fill(&mut client, set, report)?;
    let all = || set.parts.iter().flat_map(|(_, themes)| themes);
    let judged: usize = all().map(|it| it.judged.len()).sum();
    report.note(&format!("{} are asked for, with {judged} places to cover", all().count()));
    // No way is to wait for the vector of a question.
    for question in all().flat_map(|it| &it.questions) {
        client.query("SELECT rag_embed($1)", &[question])?;
    }
    let mut table =
        Table::new(["questions", "tokens", "way", "covered", "more", "less", "p", "own", "p50 ms"]);
    for (part, themes) in &set.parts {
        let questions: usize = themes.iter().map(|it| it.questions.len()).sum();
        for tokens in set.budgets {
            let readings = WAYS.iter().map(|way| reading(&mut client, way, themes, *tokens));
            let readings = readings.collect::<Result<Vec<ThemeReading>>>()?;
            for (way, it) in WAYS.iter().zip(&readings) {
                let [covered, more, less, p] = beside(&it.covered, &readings[0].covered);
                table.row([
                    format!("{part}, {questions}"),
                    tokens.to_string(),
                    way.name.to_owned(),
                    covered,
                    more,
                    less,
                    p,
                    format!("{:.3}", mean(&it.own)),
                    format!("{:.1}", median(&it.took)),
                ]);
            }
        }
    }
    report.table(&table);
    report.note(&format!(
        "mean share that is covered; for how many questions it is more and less than with {}, and p of that, where the questions of a theme count as one; mean share of what is read that is of what is asked for",
        WAYS[0].name
    ));
    Ok(())
}

fn fill(client: &mut Client, set: &ThemeSet, report: &mut Report) -> Result<()> {
    client.batch_execute("CREATE TABLE doc (id text PRIMARY KEY, body text)")?;
    for (key, body) in &set.rows {
        client.execute("INSERT INTO doc VALUES ($1, $2)", &[key, body])?;
    }
    let mut timed = |statement: &str| -> Result<f64> {
        let started = Instant::now();
        client.batch_execute(statement)?;
        client.batch_execute("CALL rag_run('doc')")?;
        Ok(started.elapsed().as_secs_f64())
    };
    let embedded = timed(
        "SELECT rag_create_pipeline('doc', 'body', refresh => 'manual', chunking => '{\"by\": \"markdown\", \"max_tokens\": 200, \"overlap\": 0}',
                                    options => '{\"config\": \"english\", \"backfill\": \"background\"}')",
    )?;
    let mut altered =
        |options: &str| timed(&format!("SELECT rag_alter_pipeline('doc', options => '{options}')"));
    let tied = altered(r#"{"graph": {"entities": "rules"}}"#)? + altered(r#"{"communities": {}}"#)?;
    let grown = altered(&format!("{{\"tree\": {}}}", set.tree))?;
    for table in ["", "_tree", "_mentions", "_communities"] {
        client.batch_execute(&format!("VACUUM (ANALYZE) doc_rag_chunks{table}"))?;
    }
    let query =
        "SELECT (SELECT count(*) FROM doc_rag_chunks), (SELECT count(*) FROM doc_rag_chunks_tree),
                        (SELECT count(DISTINCT community) FROM doc_rag_chunks_communities)";
    let row = client.query_one(query, &[])?;
    let [chunks, summaries, communities] = [0, 1, 2].map(|at| row.get::<_, i64>(at));
    report.note(&format!(
        "{} rows; {chunks} chunks made in {embedded:.0} s, {summaries} summaries in {grown:.0} s, {communities} communities in {tied:.0} s, no call of a language model",
        set.rows.len()
    ));
    Ok(())
}

/// What is read for the questions of some themes in one way.
fn reading(client: &mut Client, way: &Way, themes: &[Theme], tokens: i32) -> Result<ThemeReading> {
    let mut reading = ThemeReading::default();
    for theme in themes {
        let mut covered = Vec::with_capacity(theme.questions.len());
        for question in &theme.questions {
            let started = Instant::now();
            let read = way.read(client, question, tokens)?;
            reading.took.push(started.elapsed().as_secs_f64() * 1000.0);
            covered.push(theme.covered(&read));
            reading.own.push(theme.own(&read));
        }
        reading.covered.push(covered);
    }
    Ok(reading)
}

/// The mean of some shares; how many are greater and less than those of the first way for the same questions, and how likely the
/// difference is by chance, nothing for the first way itself.
fn beside(shares: &[Vec<f64>], first: &[Vec<f64>]) -> [String; 4] {
    let covered = format!("{:.3}", mean(&shares.concat()));
    if std::ptr::eq(shares, first) {
        return [covered, String::new(), String::new(), String::new()];
    }
    let count = |is: fn(&f64, &f64) -> bool| {
        let (shares, first) = (shares.concat(), first.concat());
        shares.iter().zip(&first).filter(|(share, first)| is(share, first)).count().to_string()
    };
    // The questions of a theme differ in a few words: as cases of their own they would make every difference look sure.
    let differences: Vec<f64> =
        shares.iter().zip(first).map(|(share, first)| mean(share) - mean(first)).collect();
    let p = p_value(&differences, TOSSES, SEED, &mut || {});
    [covered, count(f64::gt), count(f64::lt), format!("{p:.4}")]
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}
