//! The readable text of an HTML page, which its reader writes as Markdown.
//!
//! Reading a page is the business of `parse`, in a process of its own; a caller that wants HTML cut
//! has it read first. What comes here is the text, and spans refer to it.

use super::{CutPlan, markdown};

/// The plan of the text, as of Markdown.
pub(super) fn plan(text: &str) -> CutPlan {
    markdown::plan(text)
}
