//! # verify: does the context say what the answer says?
//!
//! ```text
//! (answer, contexts) → claims, each with a verdict and the sentences that speak of it
//! ```
//!
//! No model is asked. An answer that keeps to its context says it in the context's words, or
//! mostly so: what counts is how many words of a claim stand there, how many in the same order,
//! how many are missing. That is blind to a synonym, which it takes for something new, and to a
//! play on words, which it takes for the same. Where that matters, have a language model judge.
//!
//! ```text
//! claim          answer → its sentences, without what makes no claim
//! reading        contexts → windows of sentences, with what is looked up in them
//! vocabulary     each word once, by a number
//! places         word → the windows that have it, or one like it
//! order          how many words stand in the same order?
//! support        (claim, window) → facts → probability that it is said there
//! contradiction  (claim, sentences) → another number, another name, a "not"?
//! judge          the same claims, decided by a language model
//! nli            the same claims, decided by a model of natural language inference
//! removal        what is left of an answer without what is not said there
//! stream         that, sentence by sentence while an answer is written
//! options        what users can say about all of this
//! ```

mod claim;
mod contradiction;
pub mod judge;
pub mod nli;
pub mod options;
mod order;
mod places;
mod reading;
pub mod removal;
pub mod stream;
mod support;
mod vocabulary;

use std::fmt;
use std::ops::Range;

use claim::{Statement, statements};
use contradiction::contradicts;
use reading::{SoughtClaim, VerifiedContexts, WindowSpan};
use support::{SUPPORTED, SupportSignals};

use crate::text::sentence::is_question;
use crate::text::words::Word;

/// Most that a contradicted claim can score.
const CONTRADICTED: f64 = 0.25;

/// What the context says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The context says what the claim says.
    Supported,
    /// The context says what the claim says but for a number, a name or a "not".
    Contradicted,
    /// Something else, or nothing.
    Unsupported,
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Verdict::Supported => "supported",
            Verdict::Contradicted => "contradicted",
            Verdict::Unsupported => "unsupported",
        })
    }
}

/// Something that the answer says.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its sentence, without citations.
    pub text: String,
    /// Where that stands in the answer, with its citations, in bytes.
    pub bytes: Range<usize>,
    /// Whether the context says so.
    pub verdict: Verdict,
    /// Probability that it does, from 0 to 1, if that was as likely as not.
    pub score: f64,
    /// The sentences that come nearest; `None` where none shares a word with it.
    pub evidence: Option<ContextEvidence>,
    /// Indexes of the contexts that it cites, of those that there are.
    pub cited: Vec<usize>,
}

impl Claim {
    /// Whether it is a question, which needs no citation.
    pub fn asks(&self) -> bool {
        is_question(&self.text)
    }
}

/// Sentences of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextEvidence {
    /// Index of the context.
    pub context: usize,
    /// Where they stand in it, in characters from 0.
    pub chars: Range<usize>,
}

/// Checks each claim of `answer` against the contexts that it cites ("[2]" is the second), or,
/// where it cites none of them, against all.
///
/// What claims nothing is left out: a heading, code, a sentence without words. A sentence of
/// more than 400 words counts as several. The time grows with the length of the answer plus that of
/// the contexts, and with how many windows of 400 words each word of the answer stands in;
/// `interrupt` is called every few milliseconds, and may unwind.
pub fn verify(answer: &str, contexts: &[&str], interrupt: &mut dyn FnMut()) -> Vec<Claim> {
    let mut reading = VerifiedContexts::of(contexts, interrupt);
    let is_known = |number: &str| reading.has_number(number);
    let statements = statements(answer, contexts.len(), &is_known, interrupt);
    statements.into_iter().map(|it| check(it, &mut reading, interrupt)).collect()
}

/// How well the context supports the answer as a whole, from 0 to 1: as well as its weakest claim.
/// 1 where there is no claim.
///
/// It is calibrated: of the replies of the test part of BEGIN that score 0.8 about four in five are
/// faithful, if a reply is as likely to be faithful as not. Platt's scaling and beta calibration,
/// fitted to the development part, came out as nearly nothing (a slope of 1.10, an intercept of
/// 0.04) and made the error on the test part larger (0.027 and 0.030 where it is 0.021), so there
/// is none.
pub fn faithfulness<'a>(claims: impl IntoIterator<Item = &'a Claim>) -> f64 {
    claims.into_iter().map(|claim| claim.score).fold(1.0, f64::min)
}

fn check(
    statement: Statement,
    reading: &mut VerifiedContexts,
    interrupt: &mut dyn FnMut(),
) -> Claim {
    let wanted = reading.wanted(&statement);
    let (place, facts) = best_place(&statement, &wanted, reading, interrupt);
    interrupt();
    let run = place.and_then(|place| reading.best_run(&place, &wanted));
    interrupt();
    let is_contradicted = place.zip(run.as_ref()).is_some_and(|(place, run)| {
        let is_new = |word: &Word| reading.lacks(&place, word);
        contradicts(&statement.words, &facts, &reading.words(run), &is_new)
    });
    let support = facts.probability();
    let (verdict, score) = match is_contradicted {
        true => (Verdict::Contradicted, support.min(CONTRADICTED)),
        false if support >= SUPPORTED => (Verdict::Supported, support),
        false => (Verdict::Unsupported, support),
    };
    let evidence = run.map(|run| reading.evidence(&run));
    let Statement { bytes, text, cited, .. } = statement;
    Claim { text, bytes, verdict, score, evidence, cited }
}

/// The window, or the two windows together, that support the claim best; `None` where none has a
/// word of it. A claim may put together what two places say; more than two would find the words
/// of any claim.
fn best_place(
    statement: &Statement,
    wanted: &SoughtClaim,
    reading: &mut VerifiedContexts,
    interrupt: &mut dyn FnMut(),
) -> (Option<WindowSpan>, SupportSignals) {
    let by_words = reading.best_windows(&statement.cited, wanted, LOOKED_AT, interrupt);
    let reading = &*reading;
    let mut facts = |place: WindowSpan| {
        interrupt();
        (place, SupportSignals::gather(statement, wanted, Some(&place), reading))
    };
    let single = by_words.iter().map(|window| facts(WindowSpan::one(*window)));
    let Some((place, alone)) = best(single) else {
        return (None, SupportSignals::gather(statement, wanted, None, reading));
    };
    let others = by_words.iter().filter(|window| !reading.overlap(place.first, **window));
    let together = others.map(|window| facts(WindowSpan::two(place.first, *window)));
    match best(together) {
        Some((pair, both)) if both.log_odds() - TWO_PLACES > alone.log_odds() => (Some(pair), both),
        _ => (Some(place), alone),
    }
}

/// Windows that are compared word by word.
const LOOKED_AT: usize = 4;

/// What it costs, in log odds, to stand in two places.
const TWO_PLACES: f64 = 1.0;

fn best(
    places: impl Iterator<Item = (WindowSpan, SupportSignals)>,
) -> Option<(WindowSpan, SupportSignals)> {
    places.max_by(|(_, a), (_, b)| a.log_odds().total_cmp(&b.log_odds()))
}

#[cfg(test)]
mod tests;
