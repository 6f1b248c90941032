//! Whole sentences, as many as fit.

use super::CutPlan;
use crate::text::sentence::sentences;

/// Sentences are the only units; one that is too long is cut between words.
pub(super) fn plan(document: &str) -> CutPlan {
    let starts = sentences(document).into_iter().map(|range| range.start).collect();
    CutPlan::unsectioned(document, vec![starts])
}
