//! Groups of sources are answered from at once, and their answers are merged, group by group,
//! until one is left.

use std::collections::BTreeSet;

use super::cited::only;
use super::compact::answer_from;
use super::desk::{KeptPrompt, note};
use super::{AnswerStrategy, Desk, Fallback, FinalPrompt, StrategyResult};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::is_no_answer;
use crate::prompt::place;

/// Sources, or answers, in a call.
const GROUP: u32 = 4;

/// `tree_summarize`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "tree_summarize",
    description: "answers from groups of sources in parallel, then merges the answers until one \
        is left",
    calls: "1 per group of group_size (4) sources, in parallel; then 1 per group of answers",
    options: &["group_size"],
    is_for_extractive: false,
    reads_in_groups: true,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let sources = desk.found()?;
    let size = desk.options.group_size.unwrap_or(GROUP) as usize;
    let groups = desk.groups(&sources, size)?;
    answer_in_groups(desk, &sources, &groups, size)
}

/// The answer from groups of `sources`: from each at once, and then `size` answers at a time are merged.
pub fn answer_in_groups(
    desk: &mut Desk<'_>,
    sources: &[Numbered],
    groups: &[Vec<Numbered>],
    size: usize,
) -> Result<StrategyResult> {
    if let [] | [_] = groups {
        let group = groups.first().map_or(&[][..], Vec::as_slice);
        let (written, call) = (answer_from(desk, group)?, desk.kept_answer(group)?);
        return desk.once(written, call);
    }
    match leaves(desk, groups)? {
        // Groups of one would never become fewer.
        Some(leaves) => merge(desk, leaves, size.max(2)),
        None => in_one_call(desk, sources, &groups[0]),
    }
}

/// What each group answers; those that have no answer are left out. `None` where the budget has
/// no room for groups.
fn leaves(desk: &mut Desk<'_>, groups: &[Vec<Numbered>]) -> Result<Option<Vec<String>>> {
    let parts = groups.iter().map(|group| desk.part(group)).collect::<Result<Vec<_>>>()?;
    let replies = desk.prepare_parts("answer", parts)?;
    if replies.iter().all(Option::is_none) {
        return Ok(None);
    }
    let answers = replies.into_iter().zip(groups).filter_map(|(reply, group)| {
        let known: BTreeSet<usize> = group.iter().map(|one| one.number).collect();
        reply.filter(|text| !is_no_answer(text)).map(|text| only(&text, &known))
    });
    Ok(Some(answers.collect()))
}

/// The answer from all sources, as many as a call can show, or from the first group where that is too
/// much for the budget.
fn in_one_call(
    desk: &mut Desk<'_>,
    sources: &[Numbered],
    first: &[Numbered],
) -> Result<StrategyResult> {
    match answer_from(desk, sources)? {
        StrategyResult::Asks(last) if !desk.can_ask(&last.prompt) => answer_from(desk, first),
        written => Ok(written),
    }
}

fn merge(desk: &mut Desk<'_>, mut answers: Vec<String>, size: usize) -> Result<StrategyResult> {
    let mut groups = desk.note_groups(&answers, size)?;
    while groups.len() > 1 {
        let parts = groups.iter().filter(|group| group.len() > 1);
        let parts = parts.map(|group| prompt(desk, group)).collect::<Result<Vec<_>>>()?;
        let mut replies = desk.prepare_parts("merge", parts)?.into_iter();
        if replies.as_slice().iter().all(Option::is_none) {
            break;
        }
        answers = groups.into_iter().map(|group| one_of(group, &mut replies)).collect();
        groups = desk.note_groups(&answers, size)?;
    }
    match answers.as_slice() {
        [] => Ok(StrategyResult::Nothing),
        [only] => Ok(StrategyResult::Answer(only.clone())),
        _ => {
            let otherwise = Fallback::IfUnknown(answers.join("\n\n"));
            let (prompt, call) = prompt(desk, &answers)?;
            desk.once(StrategyResult::Asks(FinalPrompt { step: "merge", prompt, otherwise }), call)
        }
    }
}

/// What became of a group: its merged answer, or all of them where there is none.
fn one_of(mut group: Vec<String>, replies: &mut impl Iterator<Item = Option<String>>) -> String {
    if let (1, Some(only)) = (group.len(), group.first_mut()) {
        return std::mem::take(only);
    }
    let merged = replies.next().flatten().filter(|text| !is_no_answer(text));
    merged.unwrap_or_else(|| group.join("\n\n"))
}

fn prompt(desk: &mut Desk<'_>, answers: &[String]) -> Result<KeptPrompt> {
    let notes: Vec<String> = answers.iter().map(|answer| note(answer)).collect();
    let material = Material { question: desk.question, notes: &notes, ..Material::default() };
    let prompt = desk.prompt(place::MERGE_ANSWERS, material)?;
    let call = desk.kept_merge(&prompt);
    Ok((prompt, call))
}
