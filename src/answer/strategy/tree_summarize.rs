//! Groups of sources are answered from at once, and their answers are merged, group by group,
//! until one is left.

use std::collections::BTreeSet;

use super::cited::only;
use super::compact::answer_from;
use super::desk::note;
use super::{Desk, Strategy, Written};
use crate::context::prompt::{Message, is_no_answer};
use crate::context::step::{Material, Numbered};
use crate::error::Result;

/// Sources, or answers, in a call.
const GROUP: u32 = 4;

/// `tree_summarize`.
pub struct TreeSummarize;

impl Strategy for TreeSummarize {
    fn name(&self) -> &'static str {
        "tree_summarize"
    }

    fn description(&self) -> &'static str {
        "groups of sources at once, and their answers merged until one is left"
    }

    fn calls(&self) -> &'static str {
        "1 for each group of group_size (4) sources, at once; then 1 for each group of answers"
    }

    fn options(&self) -> &'static [&'static str] {
        &["group_size"]
    }

    fn answer(&self, desk: &mut Desk<'_>) -> Result<Written> {
        let sources = desk.found()?;
        let size = desk.options.group_size.unwrap_or(GROUP) as usize;
        if sources.len() <= size {
            return answer_from(desk, &sources);
        }
        match leaves(desk, &sources, size)? {
            // Groups of one would never become fewer.
            Some(leaves) => merge(desk, leaves, size.max(2)),
            None => in_one_call(desk, &sources, size),
        }
    }
}

/// What each group answers; those that have no answer are left out. `None` where the budget has
/// no room for groups.
fn leaves(desk: &mut Desk<'_>, sources: &[Numbered], size: usize) -> Result<Option<Vec<String>>> {
    let groups: Vec<&[Numbered]> = sources.chunks(size).collect();
    let prompts = groups.iter().map(|group| desk.answer_prompt(desk.question, group));
    let prompts = prompts.collect::<Result<Vec<_>>>()?;
    let replies = desk.prepare_parts("answer", prompts)?;
    if replies.iter().all(Option::is_none) {
        return Ok(None);
    }
    let answers = replies.into_iter().zip(groups).filter_map(|(reply, group)| {
        let known: BTreeSet<usize> = group.iter().map(|one| one.number).collect();
        reply.filter(|text| !is_no_answer(text)).map(|text| only(&text, &known))
    });
    Ok(Some(answers.collect()))
}

/// The answer from all sources, or from the first where that is too much.
fn in_one_call(desk: &mut Desk<'_>, sources: &[Numbered], size: usize) -> Result<Written> {
    match answer_from(desk, sources)? {
        Written::Nothing => answer_from(desk, &sources[..size]),
        written => Ok(written),
    }
}

fn merge(desk: &mut Desk<'_>, mut answers: Vec<String>, size: usize) -> Result<Written> {
    while answers.len() > size {
        let groups: Vec<Vec<String>> = answers.chunks(size).map(<[String]>::to_vec).collect();
        let prompts = groups.iter().filter(|group| group.len() > 1);
        let prompts = prompts.map(|group| prompt(desk, group)).collect::<Result<Vec<_>>>()?;
        let mut replies = desk.prepare_parts("merge", prompts)?.into_iter();
        if replies.as_slice().iter().all(Option::is_none) {
            break;
        }
        answers = groups.into_iter().map(|group| one_of(group, &mut replies)).collect();
    }
    if answers.len() < 2 {
        return Ok(Written::from_reply(answers.pop()));
    }
    let prompt = prompt(desk, &answers)?;
    let merged = desk.write("merge", prompt)?.filter(|text| !is_no_answer(text));
    Ok(Written::Answer(merged.unwrap_or_else(|| answers.join("\n\n"))))
}

/// What became of a group: its merged answer, or all of them where there is none.
fn one_of(mut group: Vec<String>, replies: &mut impl Iterator<Item = Option<String>>) -> String {
    if let (1, Some(only)) = (group.len(), group.first_mut()) {
        return std::mem::take(only);
    }
    let merged = replies.next().flatten().filter(|text| !is_no_answer(text));
    merged.unwrap_or_else(|| group.join("\n\n"))
}

fn prompt(desk: &mut Desk<'_>, answers: &[String]) -> Result<Vec<Message>> {
    let notes: Vec<String> = answers.iter().map(|answer| note(answer)).collect();
    let material = Material { question: desk.question, notes: &notes, ..Material::default() };
    desk.prompt("merge_answers", material, &["question", "notes"])
}
