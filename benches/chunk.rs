//! How fast are documents cut, beside the `text-splitter` crate with the same tokenizer?
//!
//! Prints a table; reads documents from `PG_RAG_DATA` and the tokenizer from `PG_RAG_MODEL`.

#[path = "support/invocation.rs"]
#[allow(dead_code)]
mod invocation;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use invocation::data_folder;
use pg_rag::chunk::{
    CHUNKING_METHODS, ChunkingOptions, MethodInfo, Tokenizer, WordMemo, chunk, chunk_remembering,
};
use pg_rag::error::{Error, ErrorKind, Result};
use text_splitter::{ChunkConfig, ChunkSizer, MarkdownSplitter, TextSplitter};

/// Size of a chunk in tokens, special tokens included.
const MAX_TOKENS: u32 = 256;

/// Each measurement is the best of so many; the machine may have other work.
const ROUNDS: usize = 2;

/// The model's own tokenizer.
struct HuggingFace {
    tokenizer: tokenizers::Tokenizer,
    splits_at_white_space: bool,
}

impl HuggingFace {
    fn load(path: PathBuf) -> Option<Self> {
        let mut tokenizer = tokenizers::Tokenizer::from_file(path).ok()?;
        tokenizer.with_truncation(None).ok()?;
        tokenizer.with_padding(None);
        Some(HuggingFace { tokenizer, splits_at_white_space: true })
    }
}

impl Tokenizer for HuggingFace {
    fn token_spans(&self, text: &str) -> Result<Vec<(usize, usize)>> {
        let encoding = self.tokenizer.encode(text, false).map_err(failed)?;
        Ok(encoding.get_offsets().to_vec())
    }

    fn special_tokens(&self) -> usize {
        2
    }

    fn count_tokens(&self, text: &str) -> Result<usize> {
        Ok(self.tokenizer.encode_fast(text, false).map_err(failed)?.len())
    }

    fn splits_at_white_space(&self) -> bool {
        self.splits_at_white_space
    }
}

fn failed(error: tokenizers::Error) -> Error {
    Error::new(ErrorKind::Internal, error.to_string())
}

/// The same tokenizer for `text-splitter`.
struct Sizer<'a>(&'a HuggingFace);

impl ChunkSizer for Sizer<'_> {
    fn size(&self, chunk: &str) -> usize {
        self.0.count_tokens(chunk).map_or(usize::MAX, |count| count + 2)
    }
}

fn main() {
    let Some(mut tokenizer) = HuggingFace::load(model_folder().join("tokenizer.json")) else {
        println!("skipped: no tokenizer.json in {}", model_folder().display());
        return;
    };
    for (name, documents) in [("chunking_eval", chunking_eval()), ("pgdocs14", pgdocs14())] {
        if documents.is_empty() {
            println!("skipped: no {name} in {}", data_folder().display());
            continue;
        }
        compare(name, &documents, &mut tokenizer);
        check_equal(&documents, &mut tokenizer);
        time_long(name, &documents, &mut tokenizer);
    }
}

/// Stops if looking words up gives other chunks than asking the tokenizer about each.
fn check_equal(documents: &[String], tokenizer: &mut HuggingFace) {
    for info in CHUNKING_METHODS {
        let options = options(info, 32);
        for document in documents {
            let [fast, slow] = [true, false].map(|splits_at_white_space| {
                tokenizer.splits_at_white_space = splits_at_white_space;
                chunk(document, &options, tokenizer)
            });
            assert_eq!(fast, slow, "{} differs", info.name);
        }
    }
    println!("the same chunks with words looked up and not, also with an overlap of 32");
}

/// Prints how long one document of 10 MB takes.
fn time_long(name: &str, documents: &[String], tokenizer: &mut HuggingFace) {
    let text = documents.join("\n\n");
    let mut document = String::new();
    while document.len() < 10_000_000 {
        document.push_str(&text);
    }
    for splits_at_white_space in [true, false] {
        tokenizer.splits_at_white_space = splits_at_white_space;
        let start = Instant::now();
        let count = chunk(&document, &ChunkingOptions::default(), tokenizer).map_or(0, |c| c.len());
        let (time, bytes) = (start.elapsed(), document.len());
        println!("{name} as one document of {bytes} bytes: {count} chunks in {time:.2?}");
    }
}

/// Measures all splitters on `documents` and prints their rows.
fn compare(name: &str, documents: &[String], tokenizer: &mut HuggingFace) {
    let bytes: usize = documents.iter().map(String::len).sum();
    println!("\n{name}: {} documents, {bytes} bytes, {MAX_TOKENS} tokens a chunk", documents.len());
    println!("{:<34}{:>8}{:>10}{:>10}", "", "chunks", "MB/s", "ratio");
    let config = || ChunkConfig::new(MAX_TOKENS as usize).with_sizer(Sizer(tokenizer));
    let text = TextSplitter::new(config());
    let plain = measure(documents, |document| text.chunks(document).count());
    print_row("text-splitter TextSplitter", bytes, &plain, &plain);
    let markdown = MarkdownSplitter::new(config());
    let headed = measure(documents, |document| markdown.chunks(document).count());
    print_row("text-splitter MarkdownSplitter", bytes, &headed, &plain);
    let once =
        measure(documents, |document| tokenizer.token_spans(document).map_or(0, |s| s.len()));
    print_row("the tokenizer alone (tokens)", bytes, &once, &plain);
    for splits_at_white_space in [true, false] {
        tokenizer.splits_at_white_space = splits_at_white_space;
        let checked = if splits_at_white_space { "" } else { ", words unknown" };
        for info in CHUNKING_METHODS {
            let options = options(info, 0);
            let ours = measure_ours(documents, &options, tokenizer);
            let theirs = if info.name == "markdown" { &headed } else { &plain };
            print_row(&format!("pg_rag {}{checked}", info.name), bytes, &ours, theirs);
        }
    }
}

fn options(info: &MethodInfo, overlap: u32) -> ChunkingOptions {
    ChunkingOptions {
        by: info.method,
        max_tokens: MAX_TOKENS,
        overlap,
        ..ChunkingOptions::default()
    }
}

/// What a splitter did with all documents.
struct Measured {
    chunks: usize,
    time: Duration,
}

/// The best of some rounds over all documents.
fn measure(documents: &[String], split: impl Fn(&str) -> usize) -> Measured {
    best_of(|| documents.iter().map(|document| split(document)).sum())
}

/// As [`measure`], with a memo that begins each round empty.
fn measure_ours(
    documents: &[String],
    options: &ChunkingOptions,
    tokenizer: &HuggingFace,
) -> Measured {
    best_of(|| {
        let mut memo = WordMemo::default();
        let mut split = |document: &String| {
            chunk_remembering(document, options, tokenizer, &mut memo).map_or(0, |c| c.len())
        };
        documents.iter().map(&mut split).sum()
    })
}

fn best_of(round: impl Fn() -> usize) -> Measured {
    let timed = || {
        let start = Instant::now();
        Measured { chunks: round(), time: start.elapsed() }
    };
    (0..ROUNDS)
        .map(|_| timed())
        .min_by_key(|measured| measured.time)
        .unwrap_or(Measured { chunks: 0, time: Duration::ZERO })
}

fn print_row(name: &str, bytes: usize, measured: &Measured, base: &Measured) {
    let speed = bytes as f64 / 1e6 / measured.time.as_secs_f64();
    let ratio = base.time.as_secs_f64() / measured.time.as_secs_f64();
    println!("{name:<34}{:>8}{speed:>10.2}{ratio:>10.1}", measured.chunks);
}

fn model_folder() -> PathBuf {
    let home = || PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".cache/pg_rag");
    let cache = || std::env::var_os("PG_RAG_CACHE").map_or_else(home, PathBuf::from);
    let default = || cache().join("models/multilingual-e5-small");
    std::env::var_os("PG_RAG_MODEL").map_or_else(default, PathBuf::from)
}

/// Five long documents.
fn chunking_eval() -> Vec<String> {
    let folder = data_folder().join("chunking_eval/corpora");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// Two thousand sections of a manual.
fn pgdocs14() -> Vec<String> {
    let path = data_folder().join("pgdocs14/corpus.jsonl");
    let Ok(lines) = std::fs::read_to_string(path) else { return Vec::new() };
    let text = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        Some(value["text"].as_str()?.to_owned())
    };
    lines.lines().filter_map(text).collect()
}
