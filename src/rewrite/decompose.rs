//! One question after the other (least-to-most prompting, Zhou et al., ICLR 2023).
//!
//! A question about two things finds passages about either, and the thing with more passages
//! wins. Its parts are looked up each by itself and keep their shares of what is returned.
//! They are looked up at once: a later one does not know what an earlier one has found.

use super::{Lookup, Merge, Result, RewriteTask, Rewriting};
use crate::prompt::list;
use crate::prompt::writer::Writer;

/// The question and its parts.
pub(super) fn rewrite(task: &RewriteTask<'_>, writer: &mut dyn Writer) -> Result<Rewriting> {
    let answer = writer.write(&task.messages()?)?;
    let parts = list::questions(&answer, task.question, task.number());
    if parts.is_empty() {
        // A simple question comes back as it is, which is nothing to speak of.
        return Ok(Rewriting::none(task.question));
    }
    let own = Lookup::question(task.question);
    let lookups = std::iter::once(own).chain(parts.into_iter().map(Lookup::question));
    Ok(Rewriting::of(lookups.collect(), Merge::Shares))
}
