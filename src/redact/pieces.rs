//! How are values put back into a text that comes in pieces?

use super::placeholder::Placeholder;
use super::redaction::Redaction;

/// Holds back what may be the beginning of a placeholder until the rest is there: some 20 bytes at most.
pub struct PieceRestorer<'a> {
    redaction: &'a Redaction,
    held: String,
}

impl<'a> PieceRestorer<'a> {
    /// For a reply to what `redaction` has replaced.
    pub(super) fn new(redaction: &'a Redaction) -> PieceRestorer<'a> {
        PieceRestorer { redaction, held: String::new() }
    }

    /// What can be told with the next piece; nothing where it has to wait.
    pub fn push(&mut self, piece: &str) -> String {
        self.held += piece;
        let rest = self.held.split_off(Placeholder::unfinished(&self.held));
        self.redaction.restore(&std::mem::replace(&mut self.held, rest))
    }

    /// What was held back and has not become a placeholder.
    #[must_use]
    pub fn finish(self) -> String {
        self.held
    }
}
