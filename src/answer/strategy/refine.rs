//! One group of sources after the other: the first is answered from, each further one improves
//! what is there.

use super::compact::answer_from;
use super::desk::note;
use super::{Desk, Last, Otherwise, Strategy, Written};
use crate::context::step::{Material, Numbered};
use crate::error::Result;
use crate::prompt::messages::is_no_answer;

/// Sources in a call.
const GROUP: u32 = 3;

/// The strategy `refine`: group after group, each improves the answer.
pub struct Refine;

impl Strategy for Refine {
    fn name(&self) -> &'static str {
        "refine"
    }

    fn description(&self) -> &'static str {
        "an answer from the first sources, improved with the next ones, group after group"
    }

    fn calls(&self) -> &'static str {
        "1 for each group of group_size (3) sources"
    }

    fn options(&self) -> &'static [&'static str] {
        &["group_size"]
    }

    fn reads_in_groups(&self) -> bool {
        true
    }

    fn answer(&self, desk: &mut Desk<'_>) -> Result<Written> {
        let sources = desk.found()?;
        let size = desk.options.group_size.unwrap_or(GROUP) as usize;
        if sources.is_empty() {
            return answer_from(desk, &[]);
        }
        // How many a group has depends on the draft beside it. Here it is seen that there is one.
        desk.groups(&sources, size)?;
        let mut rest = sources.as_slice();
        let mut written = Written::Nothing;
        while !rest.is_empty() {
            written = desk.finished(written)?;
            let draft = match &written {
                Written::Answer(draft) if !is_no_answer(draft) => Some(draft.clone()),
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
}

/// An answer from `group`; what there was `before`, which is nothing to improve, where none comes.
fn begun(desk: &mut Desk<'_>, before: Written, group: &[Numbered]) -> Result<Written> {
    Ok(match (answer_from(desk, group)?, before) {
        (Written::Asks(last), Written::Answer(before)) => {
            Written::Asks(Last { otherwise: Otherwise::IfSilent(before), ..last })
        }
        (Written::Nothing, before) => before,
        (written, _) => written,
    })
}

/// `draft` with what `group` adds; `draft` itself where nothing better comes.
fn improved(
    desk: &mut Desk<'_>,
    draft: String,
    notes: &[String],
    group: &[Numbered],
) -> Result<Written> {
    let material = Material { question: desk.question, sources: group, notes, n: 0 };
    let prompt = desk.prompt("refine", material, &["question", "sources", "notes"])?;
    Ok(Written::Asks(Last { step: "refine", prompt, otherwise: Otherwise::IfUnknown(draft) }))
}
