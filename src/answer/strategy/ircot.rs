//! Retrieval interleaved with reasoning (IRCoT; Trivedi et al., ACL 2023, arXiv 2212.10509): a
//! model writes the next sentence of its reasoning, that sentence is looked up, and so on, until
//! it says what the answer is. Then the question is answered from all that was found.
//!
//! As in the paper only the first sentence of a reply counts, reasoning ends with "answer is", and
//! at most 15 sources are kept. Unlike there no examples are shown, and the model that answers in
//! the end is shown the reasoning.

use std::collections::BTreeSet;

use super::cited::only;
use super::compact::answer_from;
use super::desk::note;
use super::{AnswerStrategy, Desk, Fallback, FinalPrompt, StrategyResult};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::is_no_answer;
use crate::prompt::place;
use crate::text::sentence::sentences;

/// Most sentences of reasoning.
const ROUNDS: u32 = 4;

/// Most sources that are kept.
const SOURCES: usize = 15;

/// Longest sentence that is looked up, in characters.
const LONGEST: usize = 500;

/// `ircot`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "ircot",
    description: "writes a sentence of reasoning and looks it up, repeatedly; then answers from \
        everything found",
    calls: "1, plus 1 for each of up to rounds (4) sentences",
    options: &["rounds"],
    is_for_extractive: false,
    reads_in_groups: false,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let mut sources = desk.found()?;
    let mut thoughts: Vec<String> = Vec::new();
    for _ in 0..desk.options.rounds.unwrap_or(ROUNDS) {
        let Some(thought) = think(desk, &sources, &thoughts)? else { break };
        let is_last = concludes(&thought);
        if !is_last {
            let found = desk.look_up(&thought)?;
            add(&mut sources, found);
        }
        thoughts.push(thought);
        if is_last {
            break;
        }
    }
    if thoughts.is_empty() || sources.is_empty() {
        return answer_from(desk, &sources);
    }
    let material = Material {
        question: desk.question,
        sources: &sources,
        notes: &thoughts,
        ..Material::default()
    };
    let prompt = desk.prompt(place::ANSWER_WITH_NOTES, material)?;
    Ok(StrategyResult::Asks(FinalPrompt { step: "answer", prompt, otherwise: Fallback::Nothing }))
}

/// The next sentence; `None` where there is none, or it was said before.
fn think(desk: &mut Desk<'_>, sources: &[Numbered], thoughts: &[String]) -> Result<Option<String>> {
    let material =
        Material { question: desk.question, sources, notes: thoughts, ..Material::default() };
    let prompt = desk.prompt(place::NEXT_THOUGHT, material)?;
    let known: BTreeSet<usize> = sources.iter().map(|one| one.number).collect();
    let reply = desk.prepare("reason", prompt)?.filter(|text| !is_no_answer(text));
    let first = reply.and_then(|text| {
        let range = sentences(&text).into_iter().next()?;
        Some(only(&text[range], &known).chars().take(LONGEST).collect::<String>())
    });
    Ok(first.map(|text| note(&text)).filter(|text| !thoughts.contains(text)))
}

fn concludes(thought: &str) -> bool {
    thought.to_lowercase().contains("answer is")
}

fn add(sources: &mut Vec<Numbered>, found: Vec<Numbered>) {
    for one in found {
        if sources.len() < SOURCES && sources.iter().all(|known| known.number != one.number) {
            sources.push(one);
        }
    }
}
