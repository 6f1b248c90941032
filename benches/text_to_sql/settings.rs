//! What to measure.

use std::path::PathBuf;

use lexopt::prelude::*;
use serde_json::{Map, Value as Json};

/// The command line.
///
/// ```text
/// linking, accuracy, refusals
///                  what is measured; all of them where none is named
/// --set NAME       the questions whose ids begin so, such as basic
/// --questions N    so many of the questions, from all databases alike
/// --tokens N,N     room for definitions of tables
/// --attempts N     queries that the language model writes for a question
/// --options JSON   further options of rag_sql
/// --threads N      threads of the language model; where others use the processors too, one is faster than several
/// --template FILE  the words in which the language model is asked, in place of those that come with pg_rag
/// --log FILE       a line of JSON for each question that the language model was asked
/// ```
pub struct Settings {
    pub parts: Vec<Part>,
    pub set: String,
    pub questions: Option<usize>,
    pub tokens: Vec<u32>,
    pub attempts: u32,
    pub options: Map<String, Json>,
    pub threads: u32,
    pub template: Option<PathBuf>,
    pub log: Option<PathBuf>,
}

/// A part of the benchmark.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Linking,
    Accuracy,
    Refusals,
}

impl Settings {
    pub fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            parts: Vec::new(),
            set: String::new(),
            questions: None,
            tokens: vec![1500, 750, 400],
            attempts: 3,
            options: Map::new(),
            threads: 0,
            template: None,
            log: None,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // Cargo's own word to a benchmark.
                Long("bench") => {}
                Long("set") => settings.set = parser.value()?.string()?,
                Long("questions") => settings.questions = Some(parser.value()?.parse()?),
                Long("tokens") => settings.tokens = parser.value()?.parse_with(numbers)?,
                Long("attempts") => settings.attempts = parser.value()?.parse()?,
                Long("options") => {
                    settings.options =
                        parser.value()?.parse_with(|json| serde_json::from_str(json))?;
                }
                Long("threads") => settings.threads = parser.value()?.parse()?,
                Long("template") => settings.template = Some(parser.value()?.into()),
                Long("log") => settings.log = Some(parser.value()?.into()),
                Value(name) if name == "linking" => settings.parts.push(Part::Linking),
                Value(name) if name == "accuracy" => settings.parts.push(Part::Accuracy),
                Value(name) if name == "refusals" => settings.parts.push(Part::Refusals),
                other => return Err(other.unexpected()),
            }
        }
        Ok(settings)
    }

    /// Whether this part is measured.
    pub fn measures(&self, part: Part) -> bool {
        self.parts.is_empty() || self.parts.contains(&part)
    }
}

fn numbers(list: &str) -> Result<Vec<u32>, std::num::ParseIntError> {
    list.split(',').map(str::parse).collect()
}
