//! The rows of a query that is written for the question.
//!
//! What is found is not looked up in documents but computed from tables: a language model writes a query, it is run under
//! guard, and each row is a source like any other. Where no query can answer the question, there is no answer.

use super::compact::answer_from;
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::error::Result;

/// `sql`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "sql",
    description: "has a query over tables written and run, and answers from its rows instead of documents",
    calls: "2, and 1 for each query that has to be corrected",
    options: &["sql"],
    is_for_extractive: false,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let rows = desk.query()??;
    answer_from(desk, &rows)
}
