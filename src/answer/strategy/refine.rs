//! One group of sources after the other: the first is answered from, each further one improves
//! what is there.

use super::compact::answer_from;
use super::desk::note;
use super::{AnswerStrategy, Desk, Fallback, FinalPrompt, StrategyResult};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::is_no_answer;
use crate::prompt::place;

/// Sources in a call.
const GROUP: u32 = 3;

/// `refine`.
pub static STRATEGY: AnswerStrategy = AnswerStrategy {
    name: "refine",
    description: "answers from the first group of sources, then improves the answer with one \
        group after another",
    calls: "1 per group of group_size (3) sources",
    options: &["group_size"],
    is_for_extractive: false,
    reads_in_groups: true,
    answer,
};

fn answer(desk: &mut Desk<'_>) -> Result<StrategyResult> {
    let sources = desk.found()?;
    let size = desk.options.group_size.unwrap_or(GROUP) as usize;
    if sources.is_empty() {
        return answer_from(desk, &[]);
    }
    // How many a group has depends on the draft beside it. Here it is seen that there is one.
    desk.groups(&sources, size)?;
    let mut rest = sources.as_slice();
    let mut written = StrategyResult::Nothing;
    while !rest.is_empty() {
        written = desk.finished(written)?;
        let draft = match &written {
            StrategyResult::Answer(draft) if !is_no_answer(draft) => Some(draft.clone()),
            _ => None,
        };
        let notes: Vec<String> = draft.iter().map(|draft| note(draft)).collect();
        let (group, number) = desk.next_group(rest, size, &notes)?;
        rest = &rest[number..];
        written = match draft {
            _ if group.is_empty() => written,
            Some(draft) => improved(desk, draft, &notes, &group)?,
            None => begun(desk, written, &group)?,
        };
    }
    Ok(written)
}

/// An answer from `group`; what there was `before`, which is nothing to improve, where none comes.
fn begun(
    desk: &mut Desk<'_>,
    before: StrategyResult,
    group: &[Numbered],
) -> Result<StrategyResult> {
    Ok(match (answer_from(desk, group)?, before) {
        (StrategyResult::Asks(last), StrategyResult::Answer(before)) => {
            StrategyResult::Asks(FinalPrompt { otherwise: Fallback::IfSilent(before), ..last })
        }
        (StrategyResult::Nothing, before) => before,
        (written, _) => written,
    })
}

/// `draft` with what `group` adds; `draft` itself where nothing better comes.
fn improved(
    desk: &mut Desk<'_>,
    draft: String,
    notes: &[String],
    group: &[Numbered],
) -> Result<StrategyResult> {
    let material =
        Material { question: desk.question, sources: group, notes, ..Material::default() };
    let prompt = desk.prompt(place::REFINE, material)?;
    Ok(StrategyResult::Asks(FinalPrompt {
        step: "refine",
        prompt,
        otherwise: Fallback::IfUnknown(draft),
    }))
}
