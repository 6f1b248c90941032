//! The judged sets.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Result;

/// Names of the sets, which are their folders.
pub const NAMES: [&str; 10] = [
    "scifact",
    "squad_train_sample",
    "hotpotqa500",
    "pgdocs14",
    "chunking_eval",
    "xquad/en",
    "xquad/de",
    "xquad/zh",
    "xquad/ar",
    "xquad/ru",
];

/// A set, as rag_eval_load takes it.
pub struct Set {
    pub name: String,
    /// Key, title and text of each document.
    pub documents: Vec<[String; 3]>,
    /// The questions and what is relevant to them.
    pub cases: Value,
    /// What of a document is searched.
    pub content: &'static str,
    /// The text search configuration of its language.
    pub config: &'static str,
    /// Whether spans are judged.
    pub is_of_spans: bool,
}

/// The line of a server's configuration that names the model to measure: the one of whose name the folder
/// `$PG_RAG_MODEL` is, by default the default one.
pub fn model_setting() -> String {
    let name = own_model().map_or_else(|| "multilingual-e5-small".to_owned(), |(name, _)| name);
    format!("rag.embedding_model = '{name}'")
}

/// The name and the path of the folder `$PG_RAG_MODEL`; `None` where it is not set.
pub fn own_model() -> Option<(String, String)> {
    let folder = std::env::var_os("PG_RAG_MODEL").map(PathBuf::from)?;
    let name = folder.file_name()?.to_string_lossy().into_owned();
    Some((name, folder.to_string_lossy().into_owned()))
}

impl Set {
    /// Reads a set.
    pub fn read(folder: &Path, name: &str, split: Option<&str>) -> Result<Set> {
        let of_set = folder.join(name);
        let is_of_spans = of_set.join("questions.jsonl").is_file();
        let (documents, cases) = match is_of_spans {
            true => ("documents.jsonl", Value::Array(lines(&of_set.join("questions.jsonl"))?)),
            false => ("corpus.jsonl", judged(&of_set, split)?),
        };
        let documents = lines(&of_set.join(documents))?.iter().map(document).collect();
        // Offsets of spans count from the beginning of the text.
        let content = match is_of_spans {
            true => "body",
            false => "concat_ws('. ', nullif(title, ''), body)",
        };
        let config = match name {
            "xquad/de" => "german",
            "xquad/ar" => "arabic",
            "xquad/ru" => "russian",
            "xquad/zh" => "simple",
            _ => "english",
        };
        Ok(Set { name: name.to_owned(), documents, cases, content, config, is_of_spans })
    }
}

fn judged(folder: &Path, split: Option<&str>) -> Result<Value> {
    let suffix = split.map(|name| format!("_{name}")).unwrap_or_default();
    let queries = lines(&folder.join(format!("queries{suffix}.jsonl")))?;
    let table = read(&folder.join(format!("qrels{suffix}.tsv")))?;
    let mut qrels = json!({});
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [query, document, score] = fields[..] else {
            return Err(format!("not a judgement: {line}").into());
        };
        qrels[query][document] = json!(score.parse::<f64>()?);
    }
    Ok(json!({"queries": queries, "qrels": qrels}))
}

fn document(line: &Value) -> [String; 3] {
    ["id", "title", "text"].map(|name| line[name].as_str().unwrap_or_default().to_owned())
}

fn lines(path: &Path) -> Result<Vec<Value>> {
    read(path)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}
