//! What to measure, on what, and how often.

use std::path::PathBuf;

use lexopt::prelude::*;

use crate::section::{self, Section};

/// The command line.
///
/// ```text
/// --data sentences|clustered  the data set (sentences)
/// --rows N                    how many rows (120,000 sentences, 100,000 generated)
/// --dimension D               of generated vectors (128)
/// --queries N                 how many queries (1,000)
/// --ef N,N,...                values of ef_search (20,40,60,80,120,200,400)
/// --storage S,S,...           storage options of rag_hnsw, each an index of its own
/// --rounds N                  each speed is the median of so many (5)
/// --builds N                  the same for builds (3)
/// --quick                     20,000 rows, 200 queries, 3 rounds, 1 build
/// --markdown FILE             writes the tables to this file too
/// ```
pub struct Settings {
    pub sections: Vec<Section>,
    pub data: Source,
    pub rows: Option<usize>,
    pub dimension: usize,
    pub queries: usize,
    pub ef: Vec<u32>,
    /// Empty: what rag_hnsw does by itself.
    pub storage: Vec<String>,
    pub rounds: usize,
    pub builds: usize,
    pub markdown: Option<PathBuf>,
}

/// Where vectors come from.
#[derive(Clone, Copy, PartialEq)]
pub enum Source {
    /// Embeddings of the sentences of the judged data sets.
    Sentences,
    /// A generator.
    Clustered,
}

impl Settings {
    pub fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings::default();
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // Cargo's own word to a benchmark.
                Long("bench") => {}
                Long("quick") => settings.quicken(),
                Long(name) => {
                    let name = name.to_owned();
                    settings.set(&name, &mut parser)?;
                }
                Value(name) => {
                    let found = section::find(&name.string()?);
                    settings.sections.push(found.ok_or("no such section")?);
                }
                other => return Err(other.unexpected()),
            }
        }
        if settings.sections.is_empty() {
            settings.sections = section::SECTIONS.to_vec();
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, parser: &mut lexopt::Parser) -> Result<(), lexopt::Error> {
        let value = parser.value()?;
        match name {
            "data" => self.data = value.parse_with(Source::parse)?,
            "rows" => self.rows = Some(value.parse()?),
            "dimension" => self.dimension = value.parse()?,
            "queries" => self.queries = value.parse()?,
            "ef" => self.ef = value.parse_with(numbers)?,
            "storage" => self.storage = value.string()?.split(',').map(str::to_owned).collect(),
            "rounds" => self.rounds = value.parse_with(at_least_one)?,
            "builds" => self.builds = value.parse_with(at_least_one)?,
            "markdown" => self.markdown = Some(value.into()),
            _ => return Err(format!("no such option: --{name}").into()),
        }
        Ok(())
    }

    /// For a first look. Options that follow still count.
    fn quicken(&mut self) {
        self.rows = Some(20_000);
        self.queries = 200;
        self.rounds = 3;
        self.builds = 1;
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            sections: Vec::new(),
            data: Source::Sentences,
            rows: None,
            dimension: 128,
            queries: 1_000,
            ef: vec![20, 40, 60, 80, 120, 200, 400],
            storage: Vec::new(),
            rounds: 5,
            builds: 3,
            markdown: None,
        }
    }
}

impl Source {
    fn parse(name: &str) -> Result<Source, String> {
        match name {
            "sentences" => Ok(Source::Sentences),
            "clustered" => Ok(Source::Clustered),
            _ => Err("the data is sentences or clustered".to_owned()),
        }
    }
}

fn numbers(list: &str) -> Result<Vec<u32>, std::num::ParseIntError> {
    list.split(',').map(str::parse).collect()
}

fn at_least_one(number: &str) -> Result<usize, String> {
    let number: usize = number.parse().map_err(|_| "a number is wanted".to_owned())?;
    Ok(number.max(1))
}
