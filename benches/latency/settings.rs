//! What to measure; of `shards`, too.

use lexopt::prelude::*;

/// How many shards there are where nobody says so.
pub const SHARDS: usize = 4;

/// The command line.
///
/// ```text
/// --chunks N     chunks in a table
/// --embedded N   so many of all by the model, 20000; the others' vectors are made of these
/// --questions N  how many are asked, 300
/// --graph        what a walk over a graph adds, at last
/// --only-graph   and nothing else
/// --dense N      each chunk of the graph names what so many passages name, as a longer one would; both 1 and 5
/// --shards N     how many shards there are, 4
/// ```
pub struct Settings {
    pub chunks: usize,
    pub embedded: usize,
    pub questions: usize,
    pub graph: GraphPart,
    /// `None`: once as they are, and once as if they were longer.
    pub dense: Option<usize>,
    pub shards: usize,
}

/// Whether it is measured what a walk over a graph adds.
#[derive(Clone, Copy, PartialEq)]
pub enum GraphPart {
    Off,
    Last,
    Alone,
}

impl Settings {
    /// Reads the command line; `chunks` are as many as there are where it names no number.
    pub fn parse(chunks: usize) -> Result<Settings, lexopt::Error> {
        let mut settings = Settings {
            chunks,
            embedded: 20_000,
            questions: 300,
            graph: GraphPart::Off,
            dense: None,
            shards: SHARDS,
        };
        let mut parser = lexopt::Parser::from_env();
        while let Some(argument) = parser.next()? {
            match argument {
                // Cargo's own word to a benchmark.
                Long("bench") => {}
                Long("chunks") => settings.chunks = parser.value()?.parse()?,
                Long("embedded") => settings.embedded = parser.value()?.parse()?,
                Long("graph") => settings.graph = GraphPart::Last,
                Long("only-graph") => settings.graph = GraphPart::Alone,
                Long("dense") => settings.dense = Some(parser.value()?.parse()?),
                Long("shards") => settings.shards = parser.value()?.parse()?,
                Long("questions") => settings.questions = parser.value()?.parse()?,
                other => return Err(other.unexpected()),
            }
        }
        settings.embedded = settings.embedded.clamp(1, settings.chunks.max(1));
        Ok(settings)
    }
}
