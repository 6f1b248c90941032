//! Self-RAG (Asai et al., ICLR 2024, arXiv 2310.11511): does the question need sources? Is each
//! of them relevant? Is the answer from it supported by it? How useful is the answer?
//!
//! The paper trains a model that writes these judgements as tokens of its own; here any model is
//! asked for them. As in the paper each source is answered from by itself, and the answer is taken
//! whose judgements weigh most: relevance and support count 1, usefulness 0.5. Unlike there an
//! answer that its source does not support is never given.

use std::collections::{BTreeSet, HashMap};

use super::cited::only;
use super::desk::note;
use super::grade::grades;
use super::{AnswerStrategy, Desk, StrategyResult};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::is_no_answer;
use crate::prompt::place;

/// Grade from which a source is relevant.
const RELEVANT: f32 = 5.0;

/// `self_rag`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "self_rag",
    description: "judges whether sources are needed, which are relevant and whether each draft is \
        supported; returns the best supported answer",
    calls: "2, plus 2 per relevant source, in parallel",
    options: &["min_grade", "always_retrieve"],
    is_for_extractive: false,
    reads_in_groups: true,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let is_settled = desk.options.always_retrieve.unwrap_or_default();
    if !is_settled && needs_none(desk)? {
        return without_sources(desk);
    }
    let found = desk.found()?;
    let grades = grades(desk, &found)?;
    let least = desk.options.min_grade.unwrap_or(RELEVANT);
    let is_relevant = |one: &Numbered| grades.get(&one.number).is_none_or(|grade| *grade >= least);
    let relevant: Vec<Numbered> = found.into_iter().filter(is_relevant).collect();
    let drafts = drafts(desk, relevant)?;
    best(desk, drafts, &grades)
}

/// Whether the model says so. Where the budget has no room for the question, sources are needed.
fn needs_none(desk: &mut Desk<'_>) -> Result<bool> {
    let material = Material { question: desk.question, ..Material::default() };
    let prompt = desk.prompt(place::NEEDS_SOURCES, material)?;
    let reply = desk.prepare("retrieve", prompt)?.unwrap_or_default().to_lowercase();
    let word = reply.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    Ok(word == Some("no"))
}

fn without_sources(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let material = Material { question: desk.question, ..Material::default() };
    let prompt = desk.prompt(place::WITHOUT_SOURCES, material)?;
    Ok(desk.write("answer", prompt)?.map_or(StrategyResult::Nothing, StrategyResult::Free))
}

/// An answer from one source.
struct SourceDraft {
    source: Numbered,
    text: String,
}

fn drafts(desk: &mut Desk<'_>, sources: Vec<Numbered>) -> Result<Vec<SourceDraft>> {
    let prompts =
        sources.iter().map(|one| desk.answer_prompt(desk.question, std::slice::from_ref(one)));
    let prompts = prompts.collect::<Result<Vec<_>>>()?;
    let replies = desk.write_all("answer", prompts)?;
    let drafts = sources.into_iter().zip(replies).filter_map(|(source, reply)| {
        let text = reply.filter(|text| !is_no_answer(text))?;
        let text = only(&text, &BTreeSet::from([source.number]));
        Some(SourceDraft { source, text })
    });
    Ok(drafts.collect())
}

/// The draft whose judgements weigh most. One that was not judged, for want of budget, counts as
/// partly supported.
fn best(
    desk: &mut Desk<'_>,
    drafts: Vec<SourceDraft>,
    grades: &HashMap<usize, f32>,
) -> Result<StrategyResult> {
    let mut prompts = Vec::with_capacity(drafts.len());
    for draft in &drafts {
        let sources = std::slice::from_ref(&draft.source);
        let notes = [note(&draft.text)];
        let material =
            Material { question: desk.question, sources, notes: &notes, ..Material::default() };
        prompts.push(desk.prompt(place::CRITIQUE, material)?);
    }
    let replies = desk.write_all("critique", prompts)?;
    let mut best: Option<(f32, String)> = None;
    for (draft, reply) in drafts.into_iter().zip(replies) {
        let judgement = reply.as_deref().map_or(Judgement::UNKNOWN, Judgement::read);
        let relevance = grades.get(&draft.source.number).map_or(0.5, |grade| grade / 10.0);
        let Some(weight) = judgement.weight(relevance) else { continue };
        if best.as_ref().is_none_or(|(known, _)| weight > *known) {
            best = Some((weight, draft.text));
        }
    }
    Ok(best.map_or(StrategyResult::Nothing, |(_, text)| StrategyResult::Answer(text)))
}

/// What a model says of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Judgement {
    /// 0: the source does not support it; 0.5: in part; 1: fully.
    support: f32,
    /// How useful the answer is, from 1 to 5.
    use_of: f32,
}

impl Judgement {
    const UNKNOWN: Judgement = Judgement { support: 0.5, use_of: 3.0 };

    /// Reads lines like "support: fully" and "use: 4", or an object with these members.
    fn read(reply: &str) -> Judgement {
        let mut read = Judgement::UNKNOWN;
        for line in reply.to_lowercase().split(['\n', ',', ';']) {
            let mut words = line.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
            let (Some(name), Some(value)) = (words.next(), words.next()) else { continue };
            match (name, value) {
                (
                    "support" | "supported",
                    "no" | "not" | "none" | "false" | "contradictory" | "contradicted" | "0",
                ) => {
                    read.support = 0.0;
                }
                ("support" | "supported", "partially" | "partly" | "part") => read.support = 0.5,
                ("support" | "supported", "fully" | "full" | "yes" | "true") => read.support = 1.0,
                ("use" | "useful" | "usefulness", number) => {
                    let number: f32 = number.parse().unwrap_or(read.use_of);
                    read.use_of = number.clamp(1.0, 5.0);
                }
                _ => {}
            }
        }
        read
    }

    /// `None` where the source does not support the answer. Usefulness counts from -0.5 to 0.5.
    fn weight(self, relevance: f32) -> Option<f32> {
        (self.support > 0.0).then(|| relevance + self.support + 0.5 * (self.use_of - 3.0) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn judgements_are_read_as_models_write_them() {
        let check = |reply: &str, support: f32, use_of: f32| {
            assert_eq!(Judgement::read(reply), Judgement { support, use_of }, "{reply}");
        };
        check("support: fully\nuse: 4", 1.0, 4.0);
        check("**Supported:** Partially\n**Useful:** 2/5", 0.5, 2.0);
        check("{\"support\": \"no\", \"use\": 5}", 0.0, 5.0);
        check("- support: no support\n- use: 99", 0.0, 5.0);
        check("I cannot judge that.", 0.5, 3.0);
        check("", 0.5, 3.0);
    }

    #[test]
    fn what_is_not_supported_has_no_weight() {
        assert_eq!(Judgement { support: 0.0, use_of: 5.0 }.weight(1.0), None);
        assert_eq!(Judgement { support: 1.0, use_of: 5.0 }.weight(1.0), Some(2.5));
        assert_eq!(Judgement { support: 0.5, use_of: 1.0 }.weight(0.5), Some(0.5));
    }
}
