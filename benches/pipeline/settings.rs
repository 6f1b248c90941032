//! What to measure, and how much of it.

use std::time::Duration;

use lexopt::prelude::*;

/// The command line.
///
/// ```text
/// --rows N       rows of an INSERT of the section capture (100,000)
/// --rounds N     rounds of the sections capture (5), backfill (3) and graph (4)
/// --documents N  documents of a round of the sections backfill and graph (200)
/// --inserts N    inserts of the section trickle (200)
/// ```
pub struct Settings {
    pub sections: Vec<String>,
    pub rows: i32,
    pub rounds: Option<usize>,
    pub documents: usize,
    pub inserts: usize,
    /// How long the section memory goes on, and each phase of the section fairness.
    pub time: Option<Duration>,
}

impl Settings {
    pub fn parse(names: &[&str]) -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            sections: Vec::new(),
            rows: 100_000,
            rounds: None,
            documents: 200,
            inserts: 200,
            time: time()?,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // Cargo's own word to a benchmark.
                Long("bench") => {}
                Long("rows") => settings.rows = parser.value()?.parse()?,
                Long("rounds") => settings.rounds = Some(parser.value()?.parse()?),
                Long("documents") => settings.documents = parser.value()?.parse()?,
                Long("inserts") => settings.inserts = parser.value()?.parse()?,
                Value(name) if names.contains(&&*name.to_string_lossy()) => {
                    settings.sections.push(name.string()?);
                }
                other => return Err(other.unexpected()),
            }
        }
        if settings.sections.is_empty() {
            settings.sections = names.iter().map(|name| name.to_string()).collect();
        }
        let sizes = [settings.documents, settings.inserts, settings.rounds.unwrap_or(1)];
        if settings.rows < 1 || sizes.contains(&0) {
            return Err("numbers must be positive".into());
        }
        Ok(settings)
    }
}

/// `PG_RAG_BENCH_SECONDS`, where it is set.
fn time() -> Result<Option<Duration>, lexopt::Error> {
    let Some(value) = std::env::var_os("PG_RAG_BENCH_SECONDS") else { return Ok(None) };
    let seconds: u64 = value.parse()?;
    match seconds {
        0..10 => Err("PG_RAG_BENCH_SECONDS must be at least 10".into()),
        _ => Ok(Some(Duration::from_secs(seconds))),
    }
}
