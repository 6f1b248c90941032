//! # gain: may what is unread add to what answers already?
//!
//! ```text
//! (pieces that the reader is sure of, a further one) → whether its passage is worth reading
//! ```
//!
//! Reading is what an answer costs, and for most questions one passage says it all. But a question may need several: it asks
//! for two things, or what it asks for is a list, or two passages contradict each other.

use super::candidates::{Candidates, UnitCandidate};
use super::choice::ADDED_CREDIT;

/// The candidates of which a reader is sure that they answer.
pub(super) struct SureCandidates<'a> {
    candidates: &'a Candidates<'a>,
    /// Their indexes.
    sure: Vec<usize>,
}

impl<'a> SureCandidates<'a> {
    /// None of `candidates`, before any is read.
    pub fn none_of(candidates: &'a Candidates<'a>) -> SureCandidates<'a> {
        SureCandidates { candidates, sure: Vec::new() }
    }

    /// Adds one, by its index.
    pub fn add(&mut self, index: usize) {
        self.sure.push(index);
    }

    /// Whether the candidate at `index`, if it is read, may make the answer better than these do alone.
    pub fn may_gain_by(&self, index: usize) -> bool {
        let candidate = &self.candidates.all[index];
        let is_quotable = !candidate.unit.is_code() && candidate.announcement.is_none();
        self.sure.is_empty()
            || self.asks_again()
            || self.lacks_a_term()
            || (is_quotable
                && !self.is_repeated(candidate)
                && (self.is_completed_by(candidate) || self.is_matched_by(candidate)))
    }

    /// Whether the question asks in several places, as "when … and who …": each may be answered in words that it does not have.
    fn asks_again(&self) -> bool {
        let runs = self.candidates.question.asks.chunk_by(|one, next| one == next);
        runs.filter(|run| run[0]).count() > 1
    }

    /// Whether the question has a word that no passage of theirs holds: what it stands for may be said elsewhere
    /// in other words.
    fn lacks_a_term(&self) -> bool {
        let passages = || self.all().map(|it| &self.candidates.passage_credits[it.passage]);
        let is_held = |term: usize| passages().any(|credits| credits[term] > 0.0);
        !(0..self.candidates.question.terms.len()).all(is_held)
    }

    /// Whether it holds a word of the question that these lack, by the measure of [`choice`](super::choice).
    fn is_completed_by(&self, candidate: &UnitCandidate) -> bool {
        let held = |term: usize| self.all().map(|it| it.credits[term]).fold(0.0, f32::max);
        let mut credits = candidate.credits.iter().enumerate();
        credits.any(|(term, credit)| *credit >= held(term) + ADDED_CREDIT)
    }

    /// Whether it holds all words of the question that one of these holds, and so may say as much in answer to it.
    fn is_matched_by(&self, candidate: &UnitCandidate) -> bool {
        let holds_all_of = |sure: &UnitCandidate| {
            let mut both = candidate.credits.iter().zip(&sure.credits);
            both.all(|(credit, of_sure)| credit + ADDED_CREDIT > *of_sure)
        };
        self.all().any(holds_all_of)
    }

    /// Whether it says what one of these says, as where chunks overlap.
    fn is_repeated(&self, candidate: &UnitCandidate) -> bool {
        self.all().any(|it| it.reading == candidate.reading)
    }

    fn all(&self) -> impl Iterator<Item = &UnitCandidate> {
        self.sure.iter().map(|index| &self.candidates.all[*index])
    }
}
