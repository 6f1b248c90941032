//! # What does ragd cost over plain ONNX Runtime, and what does batching gain?
//!
//! ```text
//! cargo bench --bench embed -- [PART ...] [--passages N] [--rounds N] [--seconds N] [--file FILE]
//! ```
//!
//! Parts, each a table (all of them where none is named):
//!
//! * `bulk`     passages through ragd's socket against plain ONNX Runtime, tokens a second
//! * `query`    one short query at a time, the same two
//! * `clients`  1, 8 and 32 clients at once: queries a second, latency, memory
//! * `budget`   how large should a batch be? Throughput of a load, latency of a query beside it
//! * `rerank`   50 passages for a question by late interaction, against plain ONNX Runtime over
//!   the same pairs
//! * `quality`  fp32 against int8: tokens a second and nDCG@10 by exact search
//!
//! Both sides use the same model file, tokenizer and number of threads in the same run, and
//! take turns, so that whatever else the machine does falls on both. The model is
//! `$PG_RAG_MODEL` (default `~/.cache/pg_rag/models/multilingual-e5-small`), the data
//! `$PG_RAG_DATA` (default `../shared/data`).

mod data;
#[path = "../support/invocation.rs"]
mod invocation;
mod measure;
mod parts;
mod plain;
#[path = "../../tests/support/ragd.rs"]
#[allow(dead_code)]
mod ragd;
mod rerank;

use data::Data;
use invocation::settings_or_exit;
use lexopt::prelude::*;
use ragd::Installed;

/// What to measure, and how long.
pub struct Settings {
    parts: Vec<String>,
    /// Passages of the parts `bulk` and `budget`.
    pub passages: usize,
    /// Turns each side takes.
    pub rounds: usize,
    /// How long each number of clients is measured.
    pub seconds: u64,
    /// The ONNX file, where a part uses one.
    pub file: String,
}

const PARTS: [&str; 6] = ["bulk", "query", "clients", "budget", "rerank", "quality"];

fn main() {
    let choices = format!("parts are {}", PARTS.join(", "));
    let settings = settings_or_exit(Settings::parse(), Some(&choices));
    let Some(installed) = Installed::to_measure() else { return };
    let Some(data) = Data::find() else {
        println!("skipped: no judged data; set PG_RAG_DATA");
        return;
    };
    println!("model {}, {} threads", settings.file, ragd::THREADS);
    for part in &settings.parts {
        match part.as_str() {
            "bulk" => parts::bulk(&installed, &data, &settings),
            "query" => parts::query(&installed, &data, &settings),
            "clients" => parts::clients(&installed, &data, &settings),
            "budget" => parts::budget(&installed, &data, &settings),
            "rerank" => rerank::rerank(&installed, &data, &settings),
            _ => parts::quality(&installed, &data),
        }
    }
}

impl Settings {
    fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            parts: Vec::new(),
            passages: 4000,
            rounds: 4,
            seconds: 10,
            file: "onnx/model.onnx".to_string(),
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // Cargo's own word to a benchmark.
                Long("bench") => {}
                Long("passages") => settings.passages = parser.value()?.parse()?,
                Long("rounds") => settings.rounds = parser.value()?.parse()?,
                Long("seconds") => settings.seconds = parser.value()?.parse()?,
                Long("file") => settings.file = parser.value()?.string()?,
                Value(part) if PARTS.contains(&&*part.to_string_lossy()) => {
                    settings.parts.push(part.string()?);
                }
                other => return Err(other.unexpected()),
            }
        }
        if settings.parts.is_empty() {
            settings.parts = PARTS.map(String::from).to_vec();
        }
        Ok(settings)
    }
}
