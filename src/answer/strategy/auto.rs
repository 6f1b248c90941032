//! The strategy that suits the question and what was found.
//!
//! Nearly always one call is best: it is the cheapest, and a model that sees all sources at once
//! can weigh them. So the rule only looks for what one call cannot do well.
//!
//! 1. A budget of less than three calls, or own knowledge: `compact`.
//! 2. A question for figures of tables, where the caller has allowed queries over some: `sql`, or `combined` where it also
//!    asks what documents say ([`StrategyHost::wanted_sources`](super::StrategyHost::wanted_sources)). Where a query has no
//!    rows, the documents are asked all the same.
//! 3. Several questions in one, that is, two question marks or more: `decompose_parallel`, so that
//!    each finds its own sources.
//! 4. More than [`MANY`] sources, or sources of more than [`LONG`] tokens (estimated):
//!    `tree_summarize`, so that none is lost in the middle, or left out.
//! 5. Everything else: `compact`.

use super::budget::estimate;
use super::{
    AnswerStrategy, Desk, StrategyResult, WantedSources, combined, compact, decompose_parallel,
    sql, tree_summarize,
};
use crate::error::Result;
use crate::source::Source;

/// Most sources for one call.
const MANY: usize = 20;

/// Most tokens of sources for one call.
const LONG: u64 = 12_000;

/// Fewest calls with which anything but one is tried.
const FEWEST_CALLS: u32 = 3;

/// `auto`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "auto",
    description: "chooses sql or combined for figures of tables that options allow, decompose_parallel for several \
        questions in one, tree_summarize for very many sources, and compact otherwise",
    calls: "as many as the strategy it chooses",
    options: &["group_size", "sub_questions", "sql"],
    is_for_extractive: true,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let strategy = choose(desk)?;
    desk.hand_over(strategy);
    if strategy.name == sql::STRATEGY.name {
        return rows_or_documents(desk);
    }
    (strategy.answer)(desk)
}

/// The answer from the rows of a query, or from documents where it has none.
fn rows_or_documents(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let rows = desk.query_beside(&[])?;
    if desk.has_none(&rows) {
        desk.hand_over(&compact::STRATEGY);
        return (compact::STRATEGY.answer)(desk);
    }
    compact::answer_from(desk, &rows)
}

fn choose(desk: &mut Desk<'_>) -> Result<&'static AnswerStrategy> {
    // Own knowledge would lose its mark from call to call.
    if desk.calls_allowed() < FEWEST_CALLS || desk.has_own_knowledge() {
        return Ok(&compact::STRATEGY);
    }
    match desk.wanted_sources()? {
        WantedSources::Documents => {}
        WantedSources::Rows => return Ok(&sql::STRATEGY),
        WantedSources::Both => return Ok(&combined::STRATEGY),
    }
    if asks_several(desk.question) {
        return Ok(&decompose_parallel::STRATEGY);
    }
    match is_much(desk.candidates()?) {
        true => Ok(&tree_summarize::STRATEGY),
        false => Ok(&compact::STRATEGY),
    }
}

fn is_much(found: &[Source]) -> bool {
    let tokens: u64 = found.iter().map(|source| estimate(source.content())).sum();
    found.len() > MANY || tokens > LONG
}

/// Whether there are two question marks with words before each.
fn asks_several(question: &str) -> bool {
    let parts = question.split_inclusive(['?', '\u{ff1f}', '\u{61f}']);
    let asked = parts.filter(|part| {
        part.ends_with(['?', '\u{ff1f}', '\u{61f}']) && part.chars().any(char::is_alphanumeric)
    });
    asked.count() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_questions_have_several_marks() {
        for question in ["Who? When was it?", "誰ですか？いつですか？", "A (really?) b?"]
        {
            assert!(asks_several(question), "{question}");
        }
        for question in ["", "Who??", "Who?! ", "Who and when?", "? ? ?"] {
            assert!(!asks_several(question), "{question}");
        }
    }
}
