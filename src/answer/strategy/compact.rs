//! All sources in one call.

use super::{Desk, Last, Otherwise, Strategy, Written};
use crate::context::step::Numbered;
use crate::error::Result;

/// The strategy `compact`: all sources, one call.
pub struct Compact;

impl Compact {
    /// The name that users write.
    pub const NAME: &'static str = "compact";
}

impl Strategy for Compact {
    fn name(&self) -> &'static str {
        Compact::NAME
    }

    fn description(&self) -> &'static str {
        "all sources in one call"
    }

    fn calls(&self) -> &'static str {
        "1"
    }

    fn is_for_extractive(&self) -> bool {
        true
    }

    fn answer(&self, desk: &mut Desk<'_>) -> Result<Written> {
        let sources = desk.found()?;
        answer_from(desk, &sources)
    }
}

/// The answer in one call from `sources`; none where there are no sources.
pub fn answer_from(desk: &mut Desk<'_>, sources: &[Numbered]) -> Result<Written> {
    if desk.has_none(sources) {
        return Ok(Written::Nothing);
    }
    let prompt = desk.answer_prompt(desk.question, sources)?;
    Ok(Written::Asks(Last { step: "answer", prompt, otherwise: Otherwise::Nothing }))
}
