//! Documents, and the rows of a query that may join what was found.
//!
//! "Which customers complained about delivery, and what did they spend?" has its first half in documents and its second in
//! tables. The documents are looked up first; the query that is written then has them as a relation with the key of their
//! table, so their rows decide what is summed up. The answer reads and cites both. Where no query can be written or run,
//! the documents are what it stands on.

use super::compact::answer_from;
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::error::Result;

/// `combined`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "combined",
    description: "finds documents, has a query over tables written that can join them, and answers from both",
    calls: "2, and 1 for each query that has to be corrected",
    options: &["sql"],
    is_for_extractive: false,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let found = desk.candidates()?.to_vec();
    // Rows come first: they are few and short, and must not be what a full prompt leaves out.
    let mut sources = desk.query_beside(&found)?;
    sources.extend(desk.found()?);
    answer_from(desk, &sources)
}
