//! Short passages and questions of the judged sets.

use std::path::Path;

use pg_rag::text::sentence::sentences;

use crate::Result;
use crate::sets::Set;

/// The sets that are English.
const SETS: [&str; 4] = ["scifact", "squad_train_sample", "hotpotqa500", "pgdocs14"];

/// Bytes from which a passage is long enough, about 30 tokens, and those of the longest.
const LENGTH: (usize, usize) = (120, 600);

/// Passages and questions, each in an order that mixes the sets.
pub struct Texts {
    pub passages: Vec<String>,
    pub questions: Vec<String>,
    /// How many of the passages stand in a document as they are.
    pub natural: usize,
}

impl Texts {
    /// So many passages: runs of sentences of the documents, and where these do not suffice, halves of
    /// two of them put together.
    pub fn read(folder: &Path, count: usize) -> Result<Texts> {
        let (mut passages, mut questions) = (Vec::new(), Vec::new());
        for name in SETS {
            let set = Set::read(folder, name, None)?;
            set.documents.iter().for_each(|[_, _, text]| cut(text, &mut passages));
            let asked = set.cases["queries"].as_array().into_iter().flatten();
            questions.extend(asked.filter_map(|it| it["text"].as_str()).map(str::to_owned));
        }
        mix(&mut passages);
        passages.dedup();
        mix(&mut questions);
        passages.truncate(count);
        let natural = passages.len();
        for number in natural..count {
            let [a, b] = [0, 1].map(|salt| draw(2 * number + salt) as usize % natural);
            let recombined = format!("{} {}", half(&passages[a], 0), half(&passages[b], 1));
            passages.push(recombined);
        }
        Ok(Texts { passages, questions, natural })
    }
}

/// Runs of sentences that are long enough.
fn cut(text: &str, passages: &mut Vec<String>) {
    let mut from = None;
    for sentence in sentences(text) {
        let start = *from.get_or_insert(sentence.start);
        if sentence.end - start >= LENGTH.0 {
            let passage = text[start..sentence.end].trim();
            if passage.len() <= LENGTH.1 {
                passages.push(passage.to_owned());
            }
            from = None;
        }
    }
}

/// The first or second half of a passage's words.
fn half(passage: &str, which: usize) -> String {
    let words: Vec<&str> = passage.split_whitespace().collect();
    let (first, second) = words.split_at(words.len() / 2);
    [first, second][which].join(" ")
}

/// An order that has nothing to do with where they come from, but is always the same.
fn mix(texts: &mut [String]) {
    let key = |text: &String| {
        text.bytes().fold(0, |sum: usize, byte| sum.wrapping_mul(31).wrapping_add(byte.into()))
    };
    texts.sort_by_cached_key(|text| (draw(key(text)), text.clone()));
}

/// A random number, always the same for the same argument (SplitMix64).
fn draw(number: usize) -> u64 {
    let mut bits = (number as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}
