//! The judged questions and their databases.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::Result;
use crate::invocation::data_folder;
use crate::settings::Settings;

/// Most columns among which a query leaves the choice: of each all choices are tried.
const MOST_CHOICES: usize = 6;

/// The set.
pub struct Questions {
    folder: PathBuf,
    /// Those with queries of people.
    pub judged: Vec<Judged>,
    /// Those that the tables cannot answer.
    pub unanswerable: Vec<Judged>,
}

/// A question, and queries that answer it; none where there can be none.
pub struct Judged {
    pub id: String,
    pub database: String,
    pub question: String,
    /// What is to be known besides.
    pub instructions: String,
    /// As people have written them, with `{a, b}` for any choice of columns.
    gold: Vec<String>,
}

impl Questions {
    /// Those in the folder of data, if they are there.
    pub fn find() -> Option<Questions> {
        let folder = data_folder().join("defog_sql");
        let all = |name: &str| Some(lines(&folder.join(name))?.iter().map(judged).collect());
        let (judged, unanswerable) = (all("questions.jsonl")?, all("unanswerable.jsonl")?);
        Some(Questions { folder, judged, unanswerable })
    }

    /// The names of all databases.
    pub fn databases(&self) -> BTreeSet<&str> {
        self.judged.iter().chain(&self.unanswerable).map(|it| it.database.as_str()).collect()
    }

    /// The statements that make a database.
    pub fn script(&self, database: &str) -> Result<String> {
        let path = self.folder.join(format!("databases/{database}.sql"));
        fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()).into())
    }

    /// The judged questions of the set that is wanted, from all databases alike, with their numbers in it.
    pub fn some(&self, settings: &Settings) -> Vec<(usize, &Judged)> {
        let is_wanted = |it: &&Judged| it.id.starts_with(&settings.set);
        chosen(self.judged.iter().filter(is_wanted), settings)
    }

    /// As many of those that the tables cannot answer, with their numbers.
    pub fn without_answer(&self, settings: &Settings) -> Vec<(usize, &Judged)> {
        chosen(self.unanswerable.iter(), settings)
    }
}

fn chosen<'a>(
    all: impl Iterator<Item = &'a Judged>,
    settings: &Settings,
) -> Vec<(usize, &'a Judged)> {
    let all: Vec<(usize, &Judged)> = all.enumerate().collect();
    let step = all.len().div_ceil(settings.questions.unwrap_or(usize::MAX).max(1)).max(1);
    all.into_iter().step_by(step).collect()
}

impl Judged {
    /// All queries that count as right, with each choice of columns; the first of each with all of them.
    pub fn queries(&self) -> Vec<Vec<String>> {
        self.gold.iter().map(|query| choices(query)).collect()
    }
}

fn judged(line: &Value) -> Judged {
    let gold = line["gold"].as_array().into_iter().flatten();
    Judged {
        id: text(line, "id"),
        database: text(line, "database"),
        question: text(line, "question"),
        instructions: text(line, "instructions"),
        gold: gold.filter_map(Value::as_str).map(bare).collect(),
    }
}

fn bare(query: &str) -> String {
    query.trim_end_matches([';', ' ', '\n']).to_owned()
}

/// A query with each choice of the columns in its first braces; `{}` repeats what was chosen.
fn choices(query: &str) -> Vec<String> {
    let Some((before, rest)) = query.split_once('{') else { return vec![query.to_owned()] };
    let Some((list, after)) = rest.split_once('}') else { return vec![query.to_owned()] };
    let columns: Vec<&str> = list.split(',').map(str::trim).collect();
    let count = if columns.len() > MOST_CHOICES { 1 } else { (1 << columns.len()) - 1 };
    let all = (1_u32 << columns.len().min(31)) - 1;
    let chosen = (0..count).map(|left_out| {
        let kept = |at: &usize| (all - left_out) >> at & 1 == 1;
        let kept = (0..columns.len()).filter(kept).map(|at| columns[at]);
        let chosen = kept.collect::<Vec<_>>().join(", ");
        format!("{before}{chosen}{}", after.replace("{}", &chosen))
    });
    chosen.flat_map(|query| choices(&query)).collect()
}

fn text(line: &Value, name: &str) -> String {
    line[name].as_str().unwrap_or_default().to_owned()
}

fn lines(path: &Path) -> Option<Vec<Value>> {
    let text = fs::read_to_string(path).ok()?;
    text.lines().map(|line| serde_json::from_str(line).ok()).collect()
}
