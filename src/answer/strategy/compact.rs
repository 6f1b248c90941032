//! All sources in one call.

use super::{AnswerStrategy, Desk, Fallback, FinalPrompt, StrategyResult};
use crate::context::step::Numbered;
use crate::error::Result;

/// `compact`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "compact",
    description: "answers from all sources in one call",
    calls: "1",
    options: &[],
    is_for_extractive: true,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let sources = desk.found()?;
    answer_from(desk, &sources)
}

/// The answer in one call from `sources`; none where there are no sources.
pub fn answer_from(desk: &mut Desk<'_>, sources: &[Numbered]) -> Result<StrategyResult> {
    if desk.has_none(sources) {
        return Ok(StrategyResult::Nothing);
    }
    let prompt = desk.answer_prompt(desk.question, sources)?;
    Ok(StrategyResult::Asks(FinalPrompt { step: "answer", prompt, otherwise: Fallback::Nothing }))
}
