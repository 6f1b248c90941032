//! One group of sources after the other: the first is answered from, each further one improves
//! what is there.

use super::compact::answer_from;
use super::desk::note;
use super::{Desk, Strategy, Written};
use crate::context::prompt::is_no_answer;
use crate::context::step::{Material, Numbered};
use crate::error::Result;

/// Sources in a call.
const GROUP: u32 = 3;

/// `refine`.
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

    fn answer(&self, desk: &mut Desk<'_>) -> Result<Written> {
        let sources = desk.found()?;
        let size = desk.options.group_size.unwrap_or(GROUP) as usize;
        let mut groups = sources.chunks(size);
        let mut written = answer_from(desk, groups.next().unwrap_or_default())?;
        for group in groups {
            written = match written {
                Written::Answer(draft) if !is_no_answer(&draft) => improved(desk, draft, group)?,
                // There is nothing to improve.
                before => match answer_from(desk, group)? {
                    Written::Nothing => before,
                    answer => answer,
                },
            };
        }
        Ok(written)
    }
}

/// `draft` with what `group` adds; `draft` itself where nothing better comes.
fn improved(desk: &mut Desk<'_>, draft: String, group: &[Numbered]) -> Result<Written> {
    let notes = [note(&draft)];
    let material = Material { question: desk.question, sources: group, notes: &notes, n: 0 };
    let prompt = desk.prompt("refine", material, &["question", "sources", "notes"])?;
    let better = desk.write("refine", prompt)?.filter(|text| !is_no_answer(text));
    Ok(Written::Answer(better.unwrap_or(draft)))
}
