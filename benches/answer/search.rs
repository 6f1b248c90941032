//! Hybrid retrieval in memory: nearest vectors and BM25, fused by reciprocal rank.

use std::collections::{HashMap, HashSet};

use pg_rag::text::bigram::{Bigram, TextPart, parts};
use unicode_segmentation::UnicodeSegmentation;

use crate::data::Source;

/// Passages that each side puts forward.
const CANDIDATES: usize = 50;

/// The constant of reciprocal rank fusion.
const RRF_K: f32 = 60.0;

/// BM25's parameters, as Lucene's for the Anserini baselines.
const K1: f32 = 0.9;
const B: f32 = 0.4;

/// Letters of a word that count: cuts off most endings.
const STEM: usize = 6;

/// A collection that can be searched.
pub struct Index<'a> {
    vectors: &'a [Vec<f32>],
    postings: HashMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
}

/// A passage that was found.
pub struct Found {
    pub passage: usize,
    pub similarity: f32,
}

impl<'a> Index<'a> {
    pub fn new(passages: &[Source], vectors: &'a [Vec<f32>]) -> Index<'a> {
        let mut postings: HashMap<String, Vec<(usize, f32)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (index, passage) in passages.iter().enumerate() {
            let words = stems(&format!("{} {}", passage.title, passage.text));
            lengths.push(words.len() as f32);
            let mut counts: HashMap<String, f32> = HashMap::new();
            words.into_iter().for_each(|word| *counts.entry(word).or_default() += 1.0);
            for (word, count) in counts {
                postings.entry(word).or_default().push((index, count));
            }
        }
        Index { vectors, postings, lengths }
    }

    /// The `k` best passages that are not in `hidden`.
    pub fn search(
        &self,
        question: &str,
        vector: &[f32],
        hidden: &HashSet<usize>,
        k: usize,
    ) -> Vec<Found> {
        let similarities: Vec<f32> = self.vectors.iter().map(|other| dot(vector, other)).collect();
        let lexical = self.bm25(question);
        let mut fused: HashMap<usize, f32> = HashMap::new();
        for scores in [&similarities, &lexical] {
            for (rank, passage) in best(scores, hidden).into_iter().enumerate() {
                *fused.entry(passage).or_default() += 1.0 / (RRF_K + rank as f32 + 1.0);
            }
        }
        let mut order: Vec<(usize, f32)> = fused.into_iter().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let found = order.into_iter().take(k);
        found.map(|(passage, _)| Found { passage, similarity: similarities[passage] }).collect()
    }

    /// A score for each passage; negative where no word is shared.
    fn bm25(&self, question: &str) -> Vec<f32> {
        let count = self.lengths.len() as f32;
        let mean = self.lengths.iter().sum::<f32>() / count;
        let mut scores = vec![-1.0; self.lengths.len()];
        for word in stems(question).into_iter().collect::<HashSet<_>>() {
            let Some(postings) = self.postings.get(&word) else { continue };
            let holders = postings.len() as f32;
            let idf = (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
            for &(passage, times) in postings {
                let length = 1.0 - B + B * self.lengths[passage] / mean;
                let score: &mut f32 = &mut scores[passage];
                *score = score.max(0.0) + idf * times * (1.0 + K1) / (times + K1 * length);
            }
        }
        scores
    }
}

fn best(scores: &[f32], hidden: &HashSet<usize>) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..scores.len()).filter(|at| scores[*at] >= 0.0 && !hidden.contains(at)).collect();
    order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    order.truncate(CANDIDATES);
    order
}

/// The words of a name such as `server.max_size`, as the product finds them; of any other word, the word.
fn names(word: &str) -> impl Iterator<Item = &str> {
    let is_part =
        |part: &str| part.starts_with(char::is_alphabetic) && part.chars().nth(1).is_some();
    let is_name = word.contains('.') && word.split('.').all(is_part);
    word.split(move |sign| is_name && sign == '.')
}

/// Words cut short, and of scripts without spaces the pairs of characters.
fn stems(text: &str) -> Vec<String> {
    let stem = |word: &str| word.to_lowercase().chars().take(STEM).collect();
    let stems = |part: &TextPart| -> Vec<String> {
        match part {
            TextPart::Spaced(text) => text.unicode_words().flat_map(names).map(stem).collect(),
            TextPart::Unspaced(run) => {
                let pair = |bigram| match bigram {
                    Bigram::Pair(text) => Some(text.to_owned()),
                    Bigram::Last(text) => run.is_single().then(|| text.to_owned()),
                };
                run.bigrams().filter_map(pair).collect()
            }
        }
    };
    parts(text, &mut || {}).iter().flat_map(stems).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
