//! Every `max_tokens` tokens, wherever that falls: the baseline that other strategies are
//! compared with, and the one to take for text without structure (identifiers, base64).

use super::Plan;

/// No place is better than another.
pub(super) fn plan(document: &str) -> Plan {
    Plan { whole_words: false, ..Plan::unsectioned(document, Vec::new()) }
}
