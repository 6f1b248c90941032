//! Sub-questions that do not need each other: each finds its sources and is answered at once with
//! the others.

use super::sub_question::{Finding, conclude, split};
use super::{Desk, Strategy, Written};
use crate::error::Result;

/// The strategy `decompose_parallel`: sub-questions answered at once.
pub struct DecomposeParallel;

impl Strategy for DecomposeParallel {
    fn name(&self) -> &'static str {
        "decompose_parallel"
    }

    fn description(&self) -> &'static str {
        "sub-questions, each looked up and answered by itself, at once; then the question"
    }

    fn calls(&self) -> &'static str {
        "2, and 1 for each of at most sub_questions (4), at once"
    }

    fn options(&self) -> &'static [&'static str] {
        &["sub_questions"]
    }

    fn answer(&self, desk: &mut Desk<'_>) -> Result<Written> {
        let mut asked = Vec::new();
        let mut prompts = Vec::new();
        for question in split(desk)? {
            let sources = desk.look_up(&question)?;
            if !sources.is_empty() {
                prompts.push(desk.answer_prompt(&question, &sources)?);
                asked.push((question, sources));
            }
        }
        let replies = desk.prepare_all("sub_answer", prompts)?;
        let findings: Vec<Finding> = asked
            .iter()
            .zip(replies)
            .filter_map(|((question, sources), reply)| Finding::new(question, reply, sources, &[]))
            .collect();
        conclude(desk, &findings)
    }
}
