//! Whole sentences, as many as fit.

use super::Plan;
use crate::text::sentence::sentences;

/// Sentences are the only units; one that is too long is cut between words.
pub(super) fn plan(document: &str) -> Plan {
    let starts = sentences(document).into_iter().map(|range| range.start).collect();
    Plan::unsectioned(document, vec![starts])
}
