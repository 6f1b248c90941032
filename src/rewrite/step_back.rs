//! The question behind the question (step-back prompting, Zheng et al., ICLR 2024).
//!
//! The details of a question lead past the passage that states the rule. So the more general
//! question is looked up beside it, and both findings are merged.

use super::{Lookup, Merge, Result, RewriteTask, Rewriting};
use crate::prompt::list;
use crate::prompt::writer::Writer;

/// The question and the more general one.
pub(super) fn rewrite(task: &RewriteTask<'_>, writer: &mut dyn Writer) -> Result<Rewriting> {
    let answer = writer.write(&task.messages()?)?;
    let Some(general) = list::questions(&answer, task.question, 1).pop() else {
        return Ok(Rewriting::given_up(task.question, "no more general question"));
    };
    let lookups = vec![Lookup::question(task.question), Lookup::question(general)];
    Ok(Rewriting::of(lookups, Merge::Reciprocal))
}
