//! # contradiction: does the evidence say otherwise?
//!
//! ```text
//! (claim, evidence) → another number, another name, or a "not" on one side
//! ```
//!
//! The two are laid side by side by the words that they share. Where in the same gap the one has
//! a number and the other another, they are at odds; so with names. That is only looked for where
//! nearly all else is the same: two sentences about different things contradict each other in
//! nothing.

use std::borrow::Cow;
use std::collections::HashMap;

use super::support::{SupportSignals, is_negation};
use super::vocabulary::{likeness, shared_letters};
use crate::text::number::{canonical, is_same_number, may_mean_the_same};
use crate::text::words::{Word, is_function_word};

/// Part of a claim's other words that the evidence must have.
const MOST_OF_IT: f32 = 0.75;

/// How many of them at least.
const LEAST: usize = 1;

/// Longest gap that can hold what was exchanged, in words.
const LONGEST_GAP: usize = 4;

/// How much of a claim and of its evidence is laid side by side, in words.
const LONGEST: usize = 400;

/// Whether `evidence` says otherwise than the claim of these `words`. `is_new` tells whether a word
/// does not stand around the evidence: a number that is there is not wrong.
pub(super) fn contradicts(
    words: &[Word],
    facts: &SupportSignals,
    evidence: &[Word],
    is_new: &dyn Fn(&Word) -> bool,
) -> bool {
    if facts.asks {
        return false;
    }
    let (words, evidence) = (start(words), start(evidence));
    let shared = alignment(words, evidence);
    if !is_about_the_same(words, &shared) {
        return false;
    }
    let (first, last) = (shared[0], shared[shared.len() - 1]);
    gaps(&shared, words.len(), evidence.len()).any(|(ours, theirs)| {
        let is_inside = first.0 < ours.start && ours.end <= last.0;
        let (ours, theirs) = (&words[ours], &evidence[theirs]);
        ours.len().max(theirs.len()) <= LONGEST_GAP
            && (is_another(ours, theirs, is_new)
                || is_inside && is_negated(ours) != is_negated(theirs))
    })
}

/// Whether all content words but two at most, which could be what was exchanged, are shared.
fn is_about_the_same(words: &[Word], shared: &[(usize, usize)]) -> bool {
    let is_content = |word: &Word| !is_function_word(&word.folded) && !is_negation(&word.folded);
    let could_differ = |word: &Word| word.is_number || word.is_name;
    let is_shared = |at: usize| shared.binary_search_by_key(&at, |(ours, _)| *ours).is_ok();
    let (mut held, mut others) = (0, 0);
    for (at, word) in words.iter().enumerate().filter(|(_, word)| is_content(word)) {
        match is_shared(at) {
            true => held += 1,
            false if could_differ(word) => {}
            false => others += 1,
        }
    }
    held >= LEAST && held as f32 >= MOST_OF_IT * (held + others) as f32
}

/// Whether both have a number, or both a name, and not the same.
fn is_another(ours: &[Word], theirs: &[Word], is_new: &dyn Fn(&Word) -> bool) -> bool {
    let differ = |is_one: fn(&Word) -> bool| {
        let mut new = ours.iter().filter(|word| is_one(word));
        let is_new = |word: &Word| {
            is_new(word) && !theirs.iter().any(|other| is_written_otherwise(word, other))
        };
        theirs.iter().any(is_one)
            && !is_short_for(ours, theirs)
            && !is_short_for(theirs, ours)
            && new.any(is_new)
    };
    differ(|word| word.is_number) || differ(|word| word.is_name && !word.is_number)
}

/// Whether both are one number in different writing, such as "9000" and "9,000".
fn is_written_otherwise(one: &Word, other: &Word) -> bool {
    let (number, other_number) = (&one.folded, &other.folded);
    let is_same =
        || is_same_number(number, other_number) || may_mean_the_same(number, other_number);
    one.is_number && other.is_number && is_same()
}

/// "US" and "United States".
fn is_short_for(short: &[Word], long: &[Word]) -> bool {
    let initials: String = long.iter().filter_map(|word| word.folded.chars().next()).collect();
    short.iter().any(|word| {
        let letters: String = word.folded.chars().filter(|letter| *letter != '.').collect();
        letters.chars().count() > 1 && initials.contains(&letters)
    })
}

fn start(words: &[Word]) -> &[Word] {
    &words[..words.len().min(LONGEST)]
}

fn is_negated(words: &[Word]) -> bool {
    words.iter().filter(|word| is_negation(&word.folded)).count() % 2 == 1
}

/// A number for each of `words`, and one for the letters that it shares with words that it is like.
fn numbered<'a>(
    words: &'a [Word],
    known: &mut HashMap<Cow<'a, str>, usize>,
) -> Vec<(usize, usize)> {
    let mut number = |text: Cow<'a, str>| {
        let next = known.len();
        *known.entry(text).or_insert(next)
    };
    let form = |word: &'a Word| -> Cow<'a, str> {
        canonical(&word.folded).map_or_else(|| word.folded.as_str().into(), Cow::Owned)
    };
    words
        .iter()
        .map(|word| (number(form(word)), number(shared_letters(&word.folded).into())))
        .collect()
}

/// Pairs of equal words in the same order, as many as there can be.
fn alignment(ours: &[Word], theirs: &[Word]) -> Vec<(usize, usize)> {
    let width = theirs.len() + 1;
    let mut best = vec![0u16; (ours.len() + 1) * width];
    // Nearly all pairs of words are told apart by numbers.
    let mut numbers = HashMap::new();
    let mut numbered = |words| numbered(words, &mut numbers);
    let (our_numbers, their_numbers) = (numbered(ours), numbered(theirs));
    let is_same = |i: usize, j: usize| {
        let ((word, beginning), (other, other_beginning)) = (our_numbers[i], their_numbers[j]);
        let may_be = || likeness(&ours[i].folded, &theirs[j].folded) > 0.0;
        word == other || beginning == other_beginning && may_be()
    };
    for i in (0..ours.len()).rev() {
        for j in (0..theirs.len()).rev() {
            best[i * width + j] = match is_same(i, j) {
                true => best[(i + 1) * width + j + 1] + 1,
                false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < ours.len() && j < theirs.len() {
        if is_same(i, j) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[(i + 1) * width + j] >= best[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// What lies between the pairs, on either side.
fn gaps(
    shared: &[(usize, usize)],
    ours: usize,
    theirs: usize,
) -> impl Iterator<Item = (std::ops::Range<usize>, std::ops::Range<usize>)> {
    let starts = std::iter::once((0, 0)).chain(shared.iter().map(|(i, j)| (i + 1, j + 1)));
    let ends = shared.iter().copied().chain(std::iter::once((ours, theirs)));
    starts.zip(ends).map(|((i, j), (i_end, j_end))| (i..i_end, j..j_end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::words::words;

    #[test]
    fn a_number_that_is_written_otherwise_is_no_other() {
        let is_same =
            |one: &str, other: &str| is_written_otherwise(&words(one)[0], &words(other)[0]);
        for (one, other) in [("9000", "9,000.00"), ("1.250,00", "1,250"), ("१२", "12")] {
            assert!(is_same(one, other), "{one} {other}");
        }
        for (one, other) in [("9000", "9001"), ("nine", "9"), ("1.5", "1.6"), ("1.5", "15")] {
            assert!(!is_same(one, other), "{one} {other}");
        }
    }
}
