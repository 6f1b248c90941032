//! Other wordings of the question.
//!
//! One call asks for all of them. Merged by their best places ([`Merge::Union`]) they find what
//! only one of them names; merged by reciprocal places ([`Merge::Reciprocal`], RAG-Fusion,
//! Rackauckas 2024) what most of them find comes first.

use super::{Lookup, Merge, Result, RewriteTask, Rewriting};
use crate::prompt::list;
use crate::prompt::writer::Writer;

/// The question and its variants.
pub(super) fn rewrite(
    task: &RewriteTask<'_>,
    merge: Merge,
    writer: &mut dyn Writer,
) -> Result<Rewriting> {
    let answer = writer.write(&task.messages()?)?;
    let variants = list::questions(&answer, task.question, task.number());
    if variants.is_empty() {
        return Ok(Rewriting::given_up(task.question, "no other wording"));
    }
    let own = Lookup::question(task.question);
    let lookups = std::iter::once(own).chain(variants.into_iter().map(Lookup::question));
    Ok(Rewriting::of(lookups.collect(), merge))
}
