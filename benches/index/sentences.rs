//! Real vectors: the sentences of the judged data sets, and questions about them.
//!
//! ```text
//! $PG_RAG_DATA/**.jsonl → distinct sentences, in an order of no meaning → rag_embed in a
//! private server → $PG_RAG_CACHE/bench/sentences-DIGEST.fvecs
//! ```
//!
//! Embedding takes a quarter of an hour, and goes on where it was interrupted. The order lets
//! a smaller run take the beginning of the same file. The digest is that of the texts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use pg_rag::text::sentence::sentences;
use postgres::Client;
use serde_json::Value;

use crate::cluster::Cluster;
use crate::data::{Dataset, cache, scramble};
use crate::invocation::data_folder;
use crate::settings::Settings;
use crate::vectors::VectorFile;
use crate::{Result, machine};

/// Files with English texts, and the fields that hold them.
const TEXTS: [(&str, &[&str]); 7] = [
    ("scifact/corpus.jsonl", &["title", "text"]),
    ("squad_train_sample/corpus.jsonl", &["text"]),
    ("hotpotqa500/corpus.jsonl", &["text"]),
    ("pgdocs14/corpus.jsonl", &["text"]),
    ("xquad/en/corpus.jsonl", &["text"]),
    ("chunking_eval/documents.jsonl", &["text"]),
    ("faith_begin/faithfulness.jsonl", &["question", "context", "response"]),
];

const QUESTIONS: &str = "squad_train_sample/queries.jsonl";

/// Rows unless some other number is asked for.
const ROWS: usize = 120_000;

/// What is shorter or longer, in bytes, is a heading or a table rather than a sentence.
const LENGTH: std::ops::RangeInclusive<usize> = 20..=400;

/// Texts in one call.
const BATCH: usize = 1_000;

/// Reads the data set, embedding what was not embedded before.
pub fn load(settings: &Settings) -> Result<Option<Dataset>> {
    let Some(folder) = folder() else {
        println!("skipped: no texts; set PG_RAG_DATA, or choose --data clustered");
        return Ok(None);
    };
    let all = distinct_sentences(&folder)?;
    let rows = settings.rows.unwrap_or(ROWS).min(all.len());
    println!("{} distinct sentences, of which {rows} are used", all.len());
    let questions = texts(&folder.join(QUESTIONS), &["text"])?;
    let asked = settings.queries.min(questions.len());
    let Some(stored) = embedded(&all, rows, "passage")? else { return Ok(None) };
    let Some(queries) = embedded(&questions, asked, "query")? else { return Ok(None) };
    let (dimension, values) = stored.read(rows)?;
    let name = format!("sentences-{rows}x{dimension}");
    Ok(Some(Dataset::new(name, dimension, values, queries.read(asked)?.1)))
}

fn folder() -> Option<PathBuf> {
    let folder = data_folder();
    folder.join(QUESTIONS).is_file().then_some(folder)
}

fn distinct_sentences(folder: &Path) -> Result<Vec<String>> {
    let mut found = BTreeSet::new();
    for (file, fields) in TEXTS {
        for text in texts(&folder.join(file), fields)? {
            let cut = sentences(&text).into_iter().map(|range| on_one_line(&text[range]));
            let kept = cut.filter(|sentence| LENGTH.contains(&sentence.len()));
            found.extend(kept.map(|sentence| (hash(&sentence), sentence)));
        }
    }
    Ok(found.into_iter().map(|(_, sentence)| sentence).collect())
}

/// The texts in a file; none where it is missing.
fn texts(path: &Path, fields: &[&str]) -> Result<Vec<String>> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let mut texts = Vec::new();
    for line in fs::read_to_string(path)?.lines() {
        let line: Value = serde_json::from_str(line)?;
        texts.extend(fields.iter().filter_map(|field| line[*field].as_str().map(str::to_owned)));
    }
    Ok(texts)
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The file with the vectors of at least the first `count` texts; `None` where there is no
/// server to make them.
fn embedded(texts: &[String], count: usize, kind: &str) -> Result<Option<VectorFile>> {
    let path = cache()?.join(format!("{kind}-{:016x}.fvecs", digest(texts)));
    let file = VectorFile::new(path);
    if file.len()? < count {
        let Some(cluster) = Cluster::start(&[]) else { return Ok(None) };
        let mut client = cluster.connect();
        client.batch_execute("CREATE EXTENSION pg_rag CASCADE")?;
        embed_rest(&mut client, &texts[..count], kind, &file)?;
    }
    Ok(Some(file))
}

fn embed_rest(client: &mut Client, texts: &[String], kind: &str, file: &VectorFile) -> Result<()> {
    let embed = "SELECT unnest(rag_embed_batch($1::text[], 'all-minilm-l6-v2', $2))::real[]";
    let (first, started) = (file.len()?, Instant::now());
    for (batch, part) in texts[first..].chunks(BATCH).enumerate() {
        let rows = client.query(embed, &[&part, &kind])?;
        let vectors: Vec<Vec<f32>> = rows.iter().map(|row| row.get(0)).collect();
        file.append(&vectors)?;
        let done = batch * BATCH + part.len();
        let left = (texts.len() - first - done) as f64 / done as f64;
        let left = machine::duration(started.elapsed().mul_f64(left));
        println!("  embedded {} of {} ({kind}), {left} left", first + done, texts.len());
    }
    Ok(())
}

/// FNV-1a, with its bits mixed: it orders the sentences.
fn hash(text: &str) -> u64 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    scramble(hash)
}

fn digest(texts: &[String]) -> u64 {
    texts.iter().fold(0, |digest, text| scramble(digest ^ hash(text)))
}
