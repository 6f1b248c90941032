//! Queries over tables that a strategy has written.

use super::{Desk, Preview};
use crate::answer::strategy::WantedSources;
use crate::context::step::Numbered;
use crate::error::Result;
use crate::source::Source;

impl Desk<'_> {
    /// Where the answer is to be looked for.
    pub fn wanted_sources(&mut self) -> Result<WantedSources> {
        self.tools.wanted_sources(self.question)
    }

    /// The rows of a query that is written for the question, as numbered sources. The error inside: none that was written
    /// runs.
    pub fn query(&mut self) -> Result<Result<Vec<Numbered>>> {
        self.queried(&[])
    }

    /// The rows of a query that is written for the question and may join `found`; none where none that was written runs,
    /// which users see in the usage.
    pub fn query_beside(&mut self, found: &[Source]) -> Result<Vec<Numbered>> {
        match self.queried(found)? {
            Ok(rows) => Ok(rows),
            Err(none_runs) => {
                self.contents.ledger.tell("reason", none_runs.message().into());
                Ok(Vec::new())
            }
        }
    }

    fn queried(&mut self, beside: &[Source]) -> Result<Result<Vec<Numbered>>> {
        match self.preview {
            Preview::No => {
                match self.tools.query(self.question, beside, &mut self.contents.ledger)? {
                    Ok(rows) if rows.is_empty() => Ok(Ok(Vec::new())),
                    Ok(rows) => self.read(self.question, rows).map(Ok),
                    Err(none_runs) => Ok(Err(none_runs)),
                }
            }
            Preview::Waiting => {
                self.preview = Preview::Seen(self.tools.query_prompt(self.question, beside)?);
                Ok(Ok(Vec::new()))
            }
            Preview::Seen(_) | Preview::Counting(_) => Ok(Ok(Vec::new())),
        }
    }
}
