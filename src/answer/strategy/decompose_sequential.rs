//! Least to most (Zhou et al., ICLR 2023, arXiv 2205.10625): sub-questions one after the other,
//! each answered with the answers to those before it.

use super::sub_question::{Finding, conclude, split};
use super::{Desk, Strategy, Written};
use crate::context::step::Material;
use crate::error::Result;

/// The strategy `decompose_sequential`: sub-questions answered one after the other.
pub struct DecomposeSequential;

impl Strategy for DecomposeSequential {
    fn name(&self) -> &'static str {
        "decompose_sequential"
    }

    fn description(&self) -> &'static str {
        "sub-questions one after the other, each with the answers to those before it; then the question"
    }

    fn calls(&self) -> &'static str {
        "2, and 1 for each of at most sub_questions (4)"
    }

    fn options(&self) -> &'static [&'static str] {
        &["sub_questions"]
    }

    fn answer(&self, desk: &mut Desk<'_>) -> Result<Written> {
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
                    let material =
                        Material { question: &question, sources: &sources, notes: &notes, n: 0 };
                    desk.prompt("answer_with_notes", material, &["question", "sources", "notes"])?
                }
            };
            let reply = desk.prepare("sub_answer", prompt)?;
            findings.extend(Finding::new(&question, reply, &sources, &findings));
        }
        conclude(desk, &findings)
    }
}
