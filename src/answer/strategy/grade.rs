//! How relevant are the sources? A language model grades them, in the words of the template of
//! rerank => 'llm'.

use std::collections::HashMap;

use super::Desk;
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::PromptSource;
use crate::prompt::place;
use crate::rerank::judge;

/// Characters of a source that are graded.
const LONGEST: usize = 2000;

/// The best grade.
const BEST: f32 = 10.0;

/// Grades from 0 to 10 by number. Sources that were not graded, for want of budget or because
/// nothing of the reply could be read, have none.
pub fn grades(desk: &mut Desk<'_>, sources: &[Numbered]) -> Result<HashMap<usize, f32>> {
    let sources: Vec<Numbered> = sources.iter().map(shortened).collect();
    let parts = desk.groups(&sources, judge::PASSAGES_A_CALL)?;
    let mut prompts = Vec::with_capacity(parts.len());
    for part in &parts {
        let material = Material { question: desk.question, sources: part, ..Material::default() };
        prompts.push(desk.prompt(place::JUDGE, material)?);
    }
    let replies = desk.prepare_all("grade", prompts)?;
    let graded = parts.into_iter().zip(replies).flat_map(|(part, reply)| {
        let last = part.iter().map(|one| one.number).max().unwrap_or_default();
        let scores = reply.and_then(|reply| judge::scores(&reply, last)).unwrap_or_default();
        let grade = move |one: &Numbered| {
            Some((one.number, scores.get(one.number.checked_sub(1)?)? * BEST))
        };
        part.iter().filter_map(grade).collect::<Vec<_>>()
    });
    Ok(graded.collect())
}

fn shortened(one: &Numbered) -> Numbered {
    let content = one.source.content.chars().take(LONGEST).collect();
    let source = PromptSource { content, repeats: false, ..one.source.clone() };
    Numbered { number: one.number, source }
}
