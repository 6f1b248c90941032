//! Sub-questions that do not need each other: each finds its sources and is answered at once with
//! the others.

use super::sub_question::{Finding, conclude, split};
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::error::Result;

/// `decompose_parallel`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "decompose_parallel",
    description: "looks up sub-questions and answers them independently, in parallel, then \
        answers the question",
    calls: "2, plus 1 for each of up to sub_questions (4) sub-questions, in parallel",
    options: &["sub_questions"],
    is_for_extractive: false,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
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
