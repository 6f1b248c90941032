//! What has become of the questions.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::Result;
use crate::questions::Judged;
use crate::rows::FoundRows;

/// Rows that a log has of what was expected and found.
const LOGGED_ROWS: usize = 5;

/// What comes of a question.
pub struct Asked {
    /// The rows; `None` where there is no query.
    pub rows: Option<FoundRows>,
    pub sql: Option<String>,
    /// What the model says of it, or the error.
    pub reason: Option<String>,
    /// All queries; null where the question ended with an error.
    pub attempts: Value,
    pub usage: Value,
    pub seconds: f64,
}

/// How a question ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// With the rows of a person's query, by the first query of the model.
    RightAtOnce,
    /// With these rows, by a query that was corrected.
    RightLater,
    /// With other rows.
    Wrong,
    Refused,
    Failed,
}

/// How questions ended.
#[derive(Default)]
pub struct Endings {
    counts: HashMap<Ending, usize>,
    /// Right ones with more columns than were asked for.
    pub wider: usize,
    seconds: f64,
}

/// A file with a line for each question, and a word of each on the terminal.
pub struct Log {
    file: Option<File>,
}

impl Asked {
    pub fn failed(error: &postgres::Error, seconds: f64) -> Asked {
        let said = error.as_db_error().map_or_else(
            || error.to_string(),
            |it| format!("{}: {}", it.message(), it.detail().unwrap_or_default()),
        );
        let (attempts, usage) = (Value::Null, Value::Null);
        Asked { rows: None, sql: None, reason: Some(said), attempts, usage, seconds }
    }

    /// `expected` are the rows of each query that counts as right.
    pub fn ending(&self, expected: &[FoundRows]) -> Ending {
        let queries = self.attempts.as_array().map_or(0, Vec::len);
        match &self.rows {
            Some(rows) if !expected.iter().any(|it| rows.hold(it)) => Ending::Wrong,
            Some(_) if queries == 1 => Ending::RightAtOnce,
            Some(_) => Ending::RightLater,
            None if self.attempts.is_null() => Ending::Failed,
            None => Ending::Refused,
        }
    }

    /// Whether the rows are right and have more columns than were asked for.
    pub fn is_wider_than(&self, expected: &[FoundRows]) -> bool {
        let Some(rows) = &self.rows else { return false };
        let mut right = expected.iter().filter(|it| rows.hold(it)).peekable();
        right.peek().is_some() && right.all(|it| rows.is_wider_than(it))
    }
}

impl Endings {
    pub fn count(&mut self, ending: Ending, is_wider: bool, seconds: f64) {
        self.wider += usize::from(is_wider);
        *self.counts.entry(ending).or_insert(0) += 1;
        self.seconds += seconds;
    }

    pub fn of(&self, ending: Ending) -> usize {
        self.counts.get(&ending).copied().unwrap_or(0)
    }

    pub fn right(&self) -> usize {
        self.of(Ending::RightAtOnce) + self.of(Ending::RightLater)
    }

    pub fn asked(&self) -> usize {
        self.counts.values().sum()
    }

    /// Of one question.
    pub fn seconds(&self) -> f64 {
        self.seconds / self.asked().max(1) as f64
    }

    pub fn with(&self, other: &Endings) -> Endings {
        let (wider, seconds) = (self.wider + other.wider, self.seconds + other.seconds);
        let mut both = Endings { counts: self.counts.clone(), wider, seconds };
        for (ending, count) in &other.counts {
            *both.counts.entry(*ending).or_insert(0) += count;
        }
        both
    }
}

impl Log {
    pub fn new(path: Option<&Path>) -> Result<Log> {
        Ok(Log { file: path.map(File::create).transpose()? })
    }

    pub fn add(
        &mut self,
        judged: &Judged,
        asked: &Asked,
        ending: Ending,
        expected: &[FoundRows],
    ) -> Result<()> {
        println!("  {} {} {ending:?} {:.1} s", judged.id, judged.database, asked.seconds);
        let Some(file) = &mut self.file else { return Ok(()) };
        let line = json!({
            "id": judged.id,
            "database": judged.database,
            "question": judged.question,
            "ending": format!("{ending:?}"),
            "sql": asked.sql,
            "reason": asked.reason,
            "attempts": asked.attempts,
            "usage": asked.usage,
            "seconds": asked.seconds,
            "rows": asked.rows.as_ref().map(|it| it.first(LOGGED_ROWS)),
            "row_count": asked.rows.as_ref().map(FoundRows::len),
            "expected": expected.first().map(|it| it.first(LOGGED_ROWS)),
            "expected_count": expected.first().map(FoundRows::len),
            "queries_of_people": judged.queries().iter().filter_map(|it| it.first()).collect::<Vec<_>>(),
        });
        Ok(writeln!(file, "{line}")?)
    }
}
