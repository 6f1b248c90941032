//! The judged sets: passages, queries, and which passages answer which query.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::invocation::judged_data;

/// Where the sets are.
pub struct Data {
    folder: PathBuf,
}

/// One set.
pub struct Set {
    pub name: &'static str,
    /// Passages, the title before the text.
    pub passages: Vec<(String, String)>,
    /// Queries with judgements.
    pub queries: Vec<(String, String)>,
    /// The relevance of passages by query.
    pub judged: HashMap<String, HashMap<String, f64>>,
}

impl Data {
    /// The folder, if it is there.
    pub fn find() -> Option<Data> {
        judged_data().map(|folder| Data { folder })
    }

    /// Reads a set.
    pub fn read(&self, name: &'static str) -> Set {
        let folder = self.folder.join(name);
        let judged = judgements(&folder.join("qrels.tsv"));
        let mut queries = texts(&folder.join("queries.jsonl"));
        queries.retain(|(id, _)| judged.contains_key(id));
        Set { name, passages: texts(&folder.join("corpus.jsonl")), queries, judged }
    }
}

fn texts(path: &Path) -> Vec<(String, String)> {
    let lines = fs::read_to_string(path).unwrap();
    lines.lines().map(|line| text(&serde_json::from_str(line).unwrap())).collect()
}

fn text(line: &Value) -> (String, String) {
    let text = line["text"].as_str().unwrap();
    let text = match line["title"].as_str() {
        Some(title) if !title.is_empty() => format!("{title}. {text}"),
        _ => text.to_string(),
    };
    (line["id"].as_str().unwrap().to_string(), text)
}

fn judgements(path: &Path) -> HashMap<String, HashMap<String, f64>> {
    let mut judged: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for line in fs::read_to_string(path).unwrap().lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let score = fields[2].parse().unwrap();
        judged.entry(fields[0].to_string()).or_default().insert(fields[1].to_string(), score);
    }
    judged
}
