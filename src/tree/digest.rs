//! # digest: which sentences stand for these texts?
//!
//! ```text
//! text → its sentences, each with its place;  sentences of several texts → the few that say most of them
//! ```
//!
//! Summing up by quoting: sentences that are like all of them together (the centroid of Radev et al., 2000), and
//! not like those already chosen (maximal marginal relevance, Carbonell and Goldstein, 1998). Sentences are
//! compared by their words, weighted by rarity. To embed each of them would cost as much as all chunks once more. Code is
//! no sentence, also where a chunk begins in the middle of it.

use std::collections::HashMap;
use std::ops::Range;

use crate::text::character_counter::CharacterCounter;
use crate::text::code::{code_blocks, reads_as_code};
use crate::text::length::{end_within, is_within, length};
use crate::text::sentence::{sentences_interruptibly, trimmed};
use crate::text::words::each_word;

/// Most sentences of a summary.
pub const MOST_SENTENCES: usize = 5;

/// Longest summary, by its [`length`](crate::text::length), so that embedding models read it whole.
const LONGEST_SUMMARY: usize = 1000;

/// Longest sentence. What is longer is a list or a table in disguise.
const LONGEST: usize = 500;

/// Fewest words of a sentence that says something.
const FEWEST_WORDS: usize = 4;

/// Most sentences of a text that are looked at, the first ones.
const MOST_OF_TEXT: usize = 500;

/// Share of being like the whole, against being unlike what is chosen.
const RELEVANCE: f64 = 0.7;

/// A sentence, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotedSentence {
    /// Which of the texts it is of, from 0.
    pub leaf: usize,
    /// Where it stands in this text, in characters from 0.
    pub chars: Range<u32>,
    /// The sentence, an exact substring of the text.
    pub text: String,
    /// Whether it stands for its text only because nothing else does: it is code, a heading or a row, or says too little.
    pub is_makeshift: bool,
}

/// The sentences of the text number `leaf` that may stand for it. Where none may, the beginning of the text is one, so
/// that a text with a letter in it has at least one. `open` is the line of a fence of code that is open where the text
/// begins. `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn quotable(
    leaf: usize,
    text: &str,
    open: Option<&str>,
    interrupt: &mut dyn FnMut(),
) -> Vec<QuotedSentence> {
    let sentences = sentences_interruptibly(text, interrupt);
    let code = code_blocks(text, open);
    let is_code = |range: &Range<usize>| {
        let next = code.partition_point(|block| block.end <= range.start);
        code.get(next).is_some_and(|block| block.start < range.end)
    };
    let may_stand = |range: &&Range<usize>| {
        let range: &Range<usize> = range;
        says_something(&text[range.clone()]) && !is_code(range)
    };
    let mut chosen: Vec<Range<usize>> =
        sentences.iter().take(MOST_OF_TEXT).filter(may_stand).cloned().collect();
    let is_makeshift = chosen.is_empty();
    if is_makeshift {
        let beginning = |it: &Range<usize>| it.start + end_within(&text[it.clone()], LONGEST);
        let first = sentences.first().map(|it| it.start..beginning(it));
        chosen.extend(first.and_then(|range| trimmed(text, range)));
    }
    let mut counter = CharacterCounter::new(text);
    let quoted = |range: Range<usize>| QuotedSentence {
        leaf,
        chars: counter.count_to(range.start)..counter.count_to(range.end),
        text: text[range].to_owned(),
        is_makeshift,
    };
    chosen.into_iter().map(quoted).collect()
}

/// Whether a sentence that stands for a text does so only because nothing else does, as far as its words tell.
#[must_use]
pub fn is_makeshift(sentence: &str) -> bool {
    !says_something(sentence) || reads_as_code(sentence)
}

/// Whether a sentence may stand for a text, be it no code.
fn says_something(sentence: &str) -> bool {
    is_within(sentence, LONGEST)
        && !sentence.starts_with(['#', '|', '`'])
        && each_word(sentence).nth(FEWEST_WORDS - 1).is_some()
}

/// Those of `sentences` that stand for all of them, in their order: at most `most`. Makeshift ones are left out where there
/// are others. `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn digest(
    mut sentences: Vec<QuotedSentence>,
    most: usize,
    interrupt: &mut dyn FnMut(),
) -> Vec<QuotedSentence> {
    if sentences.iter().any(|it| !it.is_makeshift) {
        sentences.retain(|it| !it.is_makeshift);
    }
    let texts: Vec<&str> = sentences.iter().map(|it| it.text.as_str()).collect();
    let mut chosen = central(&texts, most, interrupt);
    chosen.sort_unstable();
    let mut at = 0;
    sentences.retain(|_| {
        at += 1;
        chosen.binary_search(&(at - 1)).is_ok()
    });
    sentences
}

/// The summary as one text.
#[must_use]
pub fn text_of(sentences: &[QuotedSentence]) -> String {
    let texts: Vec<&str> = sentences.iter().map(|it| it.text.as_str()).collect();
    texts.join(" ")
}

/// Which of `texts` say most of all, at most `most`, the best first; of like ones the earlier.
fn central(texts: &[&str], most: usize, interrupt: &mut dyn FnMut()) -> Vec<usize> {
    let vectors = weighted_words(texts, interrupt);
    let centroid = sum(&vectors);
    let relevance: Vec<f64> = vectors.iter().map(|it| likeness(it, &centroid)).collect();
    // How like each text is to the most like of those that are chosen.
    let mut repeated = vec![0.0_f64; texts.len()];
    let mut left: Vec<usize> = (0..texts.len()).collect();
    let lengths: Vec<usize> = texts.iter().map(|it| length(it)).collect();
    let (mut chosen, mut so_far) = (Vec::new(), 0);
    while chosen.len() < most {
        interrupt();
        let rest = LONGEST_SUMMARY.saturating_sub(so_far);
        let room = if chosen.is_empty() { usize::MAX } else { rest };
        left.retain(|at| lengths[*at] < room && !chosen.iter().any(|it| texts[*it] == texts[*at]));
        let worth = |at: usize| RELEVANCE * relevance[at] - (1.0 - RELEVANCE) * repeated[at];
        let best = |a: &usize, b: &usize| worth(*a).total_cmp(&worth(*b)).then(b.cmp(a));
        let Some(next) = left.iter().copied().max_by(best) else { break };
        left.retain(|at| *at != next);
        for at in &left {
            repeated[*at] = repeated[*at].max(likeness(&vectors[*at], &vectors[next]));
        }
        so_far += lengths[next] + 1;
        chosen.push(next);
    }
    chosen
}

/// Words by number, in the order of the numbers, with their weights.
type WordVector = Vec<(u32, f64)>;

/// The words of each text, weighted by how often they occur in it and how few texts have them; of length 1.
fn weighted_words(texts: &[&str], interrupt: &mut dyn FnMut()) -> Vec<WordVector> {
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut counted: Vec<WordVector> = Vec::with_capacity(texts.len());
    let mut having: Vec<f64> = Vec::new();
    for text in texts {
        interrupt();
        let mut words: Vec<u32> = Vec::new();
        for word in each_word(text) {
            let next = numbers.len() as u32;
            words.push(*numbers.entry(word.folded).or_insert(next));
        }
        words.sort_unstable();
        having.resize(numbers.len(), 0.0);
        let runs = words.chunk_by(|a, b| a == b);
        let vector: WordVector = runs.map(|run| (run[0], run.len() as f64)).collect();
        vector.iter().for_each(|(word, _)| having[*word as usize] += 1.0);
        counted.push(vector);
    }
    let all = texts.len() as f64;
    for vector in &mut counted {
        for (word, weight) in vector.iter_mut() {
            *weight *= ((1.0 + all) / (0.5 + having[*word as usize])).ln();
        }
        normalize(vector);
    }
    counted
}

fn normalize(vector: &mut WordVector) {
    let length = vector.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|(_, weight)| *weight /= length);
    }
}

/// The sum of some vectors, of length 1.
fn sum(vectors: &[WordVector]) -> WordVector {
    let mut weights: Vec<f64> = Vec::new();
    for (word, weight) in vectors.iter().flatten() {
        let at = *word as usize;
        weights.resize(weights.len().max(at + 1), 0.0);
        weights[at] += weight;
    }
    let mut sum: WordVector = (0..).zip(weights).collect();
    normalize(&mut sum);
    sum
}

/// The cosine of two vectors of length 1.
fn likeness(a: &WordVector, b: &WordVector) -> f64 {
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    let weight = |word: &u32| {
        let found = many.binary_search_by_key(word, |(other, _)| *other);
        found.map_or(0.0, |at| many[at].1)
    };
    few.iter().map(|(word, own)| own * weight(word)).sum()
}
