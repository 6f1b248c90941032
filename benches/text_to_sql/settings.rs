//! What to measure.

use lexopt::prelude::*;

/// The command line.
///
/// ```text
/// --questions N    so many of the questions, from all databases alike
/// --tokens N,N     room for definitions of tables
/// --attempts N     queries that the language model writes for a question
/// ```
pub struct Settings {
    pub questions: Option<usize>,
    pub tokens: Vec<u32>,
    pub attempts: u32,
}

impl Settings {
    pub fn parse() -> Result<Settings, lexopt::Error> {
        let mut settings = Settings { questions: None, tokens: vec![1500, 750, 400], attempts: 3 };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // Cargo's own word to a benchmark.
                Long("bench") => {}
                Long("questions") => settings.questions = Some(parser.value()?.parse()?),
                Long("tokens") => settings.tokens = parser.value()?.parse_with(numbers)?,
                Long("attempts") => settings.attempts = parser.value()?.parse()?,
                other => return Err(other.unexpected()),
            }
        }
        Ok(settings)
    }
}

fn numbers(list: &str) -> Result<Vec<u32>, std::num::ParseIntError> {
    list.split(',').map(str::parse).collect()
}
