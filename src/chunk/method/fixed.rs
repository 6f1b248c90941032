//! Every `max_tokens` tokens, wherever that falls: the baseline that other methods are
//! compared with, and the one to take for text without structure (identifiers, base64).

use super::CutPlan;

/// No place is better than another.
pub(super) fn plan(document: &str) -> CutPlan {
    CutPlan { whole_words: false, ..CutPlan::unsectioned(document, Vec::new()) }
}
