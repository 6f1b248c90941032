//! Least to most (Zhou et al., ICLR 2023, arXiv 2205.10625): sub-questions one after the other,
//! each answered with the answers to those before it.

use super::sub_question::{Finding, conclude, split};
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::context::step::Material;
use crate::error::Result;
use crate::prompt::place;

/// `decompose_sequential`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "decompose_sequential",
    description: "looks up and answers sub-questions one by one, each with the answers to the \
        previous ones, then answers the question",
    calls: "2, plus 1 for each of up to sub_questions (4) sub-questions",
    options: &["sub_questions"],
    is_for_extractive: false,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let mut findings: Vec<Finding> = Vec::new();
    for question in split(desk)? {
        let sources = desk.look_up(&question)?;
        let notes: Vec<String> = findings.iter().map(Finding::note).collect();
        if sources.is_empty() && notes.is_empty() {
            continue;
        }
        let prompt = match notes.is_empty() {
            true => desk.answer_prompt(&question, &sources)?,
            false => {
                let material = Material {
                    question: &question,
                    sources: &sources,
                    notes: &notes,
                    ..Material::default()
                };
                desk.prompt(place::ANSWER_WITH_NOTES, material)?
            }
        };
        let reply = desk.prepare("sub_answer", prompt)?;
        findings.extend(Finding::new(&question, reply, &sources, &findings));
    }
    conclude(desk, &findings)
}
