//! What to measure.

use lexopt::prelude::*;

/// The command line.
///
/// ```text
/// latency, judged   what is measured; both where none is named
/// --rows N,N,...    chunks in the tables of latency
/// --queries N       questions of each kind
/// ```
pub struct Settings {
    pub latency: bool,
    pub judged: bool,
    pub rows: Vec<u64>,
    pub queries: usize,
}

impl Settings {
    pub fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            latency: false,
            judged: false,
            rows: vec![10_000, 100_000, 1_000_000],
            queries: 100,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // Cargo's own word to a benchmark.
                Long("bench") => {}
                Long("rows") => settings.rows = parser.value()?.parse_with(numbers)?,
                Long("queries") => settings.queries = parser.value()?.parse()?,
                Value(name) if name == "latency" => settings.latency = true,
                Value(name) if name == "judged" => settings.judged = true,
                other => return Err(other.unexpected()),
            }
        }
        if !settings.latency && !settings.judged {
            (settings.latency, settings.judged) = (true, true);
        }
        Ok(settings)
    }
}

fn numbers(list: &str) -> Result<Vec<u64>, std::num::ParseIntError> {
    list.split(',').map(str::parse).collect()
}
