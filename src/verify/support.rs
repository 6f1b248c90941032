//! # support: how much of a claim is said here?
//!
//! ```text
//! (claim, place) → facts → probability
//! ```
//!
//! The weights are those of a logistic regression over the development part of the BEGIN benchmark
//! (Dziri et al., "Evaluating Attribution in Dialogue Systems: The BEGIN Benchmark", TACL 2022),
//! with as many supported answers as others. How many of the words are shared says nothing beside how
//! many are missing, so it is not asked. An answer there counts by its weakest sentence.
//! `cargo bench --bench verify` measures them on the test part.

use super::claim::Statement;
use super::reading::{SoughtClaim, VerifiedContexts, WindowSpan};

/// Probability from which a claim counts as supported.
pub(super) const SUPPORTED: f64 = 0.5;

/// Most that a claim with a number of its own can have.
const NEW_NUMBER: f64 = 0.4;

/// Words by which a text speaks of its writer or reader.
const SPEAKERS: &[&str] = &[
    "i", "i'm", "i've", "i'd", "i'll", "im", "ive", "me", "mine", "my", "myself", "our", "ours",
    "we", "we're", "we've", "you", "you're", "you've", "your", "yours",
];

/// Words that turn a sentence into its contrary.
const NEGATIONS: &[&str] = &[
    "cannot", "neither", "never", "no", "nobody", "none", "nor", "not", "nothing", "nowhere",
    "without",
];

/// What is known of a claim at a place.
pub(super) struct SupportSignals {
    /// Part of its neighbouring words that are neighbours there.
    pub pairs: f64,
    /// Part of its words that stand there in the same order.
    pub in_order: f64,
    /// How many of its words don't, but for function words.
    pub missing: f64,
    /// Whether it speaks of its writer or reader, and the context does not.
    pub speaks_of_itself: bool,
    /// Whether the claim is a question.
    pub asks: bool,
    /// Whether it negates, and the context does not.
    pub negates: bool,
    /// Whether it holds a number that does not stand there. That the data has too few of to give a
    /// weight, but what else is right then does not matter.
    pub has_new_number: bool,
}

impl SupportSignals {
    /// Gathers the facts of a claim and a place.
    pub fn gather(
        statement: &Statement,
        wanted: &SoughtClaim,
        place: Option<&WindowSpan>,
        reading: &VerifiedContexts,
    ) -> SupportSignals {
        let credit = |at| place.map_or(0.0, |place| reading.credit(place, wanted, at).into());
        let credits: Vec<f64> = (0..statement.words.len()).map(credit).collect();
        let shared: f64 = wanted.content.iter().map(|at| credits[*at]).sum();
        let count = wanted.content.len() as f64;
        let neighbours: Vec<(u32, u32)> =
            wanted.stems.windows(2).map(|pair| (pair[0], pair[1])).collect();
        let is_kept = |pair: &(u32, u32)| place.is_some_and(|place| reading.has_pair(place, *pair));
        let kept = neighbours.iter().filter(|pair| is_kept(pair)).count();
        let in_order = place.map_or(0, |place| reading.in_order(place, wanted));
        let new = |known: &dyn Fn(&str) -> bool| {
            let mut words = statement.words.iter().zip(&credits);
            words.any(|(word, credit)| known(&word.folded) && *credit < 1.0)
        };
        let mut numbers = statement.words.iter().zip(&credits).filter(|(word, _)| word.is_number);
        SupportSignals {
            pairs: match neighbours.len() {
                0 => shared / count,
                pairs => kept as f64 / pairs as f64,
            },
            in_order: in_order as f64 / wanted.stems.len() as f64,
            missing: count - shared,
            speaks_of_itself: new(&|word| SPEAKERS.binary_search(&word).is_ok()),
            asks: statement.is_question,
            negates: new(&is_negation),
            has_new_number: numbers.any(|(_, credit)| *credit == 0.0),
        }
    }

    /// Log odds that the place says what the claim says.
    pub fn log_odds(&self) -> f64 {
        1.9 + 1.6 * self.pairs + 1.1 * self.in_order
            - 2.5 * self.missing.ln_1p()
            - 1.8 * f64::from(self.speaks_of_itself)
            - 2.8 * f64::from(self.asks)
            - 1.3 * f64::from(self.negates)
    }

    /// Probability that the place says what the claim says; a claim with a new number gets no more
    /// than `NEW_NUMBER`.
    pub fn probability(&self) -> f64 {
        let probability = 1.0 / (1.0 + (-self.log_odds()).exp());
        if self.has_new_number { probability.min(NEW_NUMBER) } else { probability }
    }
}

/// Whether `word`, in lower case, turns a sentence into its contrary.
pub(super) fn is_negation(word: &str) -> bool {
    NEGATIONS.binary_search(&word).is_ok() || word.ends_with("n't") || word.ends_with("n\u{2019}t")
}
