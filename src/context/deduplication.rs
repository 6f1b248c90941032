//! Which chunks and sentences say again what a better one has said?
//!
//! ```text
//! chunks, best first → fewer chunks, or fewer sentences
//! ```
//!
//! A text says nothing new if nearly all of its runs of three words stand in one better text: the
//! containment of Broder ("On the resemblance and containment of documents", 1997), which finds
//! what is the same but for a word, and also what is a part of something longer. Reports that
//! differ in a figure or in a "not" are alike that way and say other things, so a number or a
//! negation of its own keeps a text.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::ops::Range;

use serde::Deserialize;

use super::excerpt::Excerpt;
use crate::text::words::{Word, words};

/// Part of the runs that must stand in the better text.
const NEARLY_ALL: f64 = 0.9;

/// Words of a run.
const RUN: usize = 3;

/// Texts below that many words repeat another one only if all of them are the same.
const SHORTEST: usize = 8;

/// Words below which a sentence ("See below.") is no repetition worth leaving out.
const SHORTEST_SENTENCE: usize = 4;

/// Most texts that are remembered for a run: what stands in more of them is a formula.
const MOST_HOLDERS: usize = 64;

/// Words that turn a text into its contrary, in some languages.
const NEGATIONS: [&str; 19] = [
    "cannot", "kein", "keine", "never", "nicht", "nie", "no", "non", "none", "nor", "not", "nunca",
    "não", "pas", "sans", "sin", "without", "не", "нет",
];

/// Which chunks are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dedupe {
    /// No chunk is left out.
    None,
    /// Chunks with the text of a better one, but for white space and capitals.
    #[default]
    Exact,
    /// Chunks that say nothing that one better chunk does not say.
    Near,
}

/// The chunks without those that repeat a better one.
#[must_use]
pub fn without_repeats(mut pieces: Vec<Excerpt>, dedupe: Dedupe) -> Vec<Excerpt> {
    let mut seen = KeptTexts::default();
    match dedupe {
        Dedupe::None => {}
        Dedupe::Exact => pieces.retain(|piece| seen.is_other(&piece.text())),
        Dedupe::Near => {
            pieces.retain(|piece| seen.is_other(&piece.text()) && seen.is_new(&piece.text()));
        }
    }
    pieces
}

/// The chunks without sentences that stand in a better one, or before in the same one. A chunk
/// of which nothing is left is gone.
#[must_use]
pub fn without_repeated_sentences(pieces: Vec<Excerpt>) -> Vec<Excerpt> {
    let mut seen = KeptTexts::default();
    let mut left = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let sentences = piece.sentences();
        let mut is_kept = |range: &Range<usize>| {
            let text = &piece.base()[range.clone()];
            let is_short = words(text).len() < SHORTEST_SENTENCE;
            is_short || seen.is_other(text) && seen.is_new(text)
        };
        let kept: Vec<Range<usize>> = sentences.iter().filter(|it| is_kept(it)).cloned().collect();
        let says = |range: &Range<usize>| words(&piece.base()[range.clone()]).len();
        let is_left = kept.iter().any(|range| says(range) >= SHORTEST_SENTENCE);
        match kept.len() == sentences.len() {
            true => left.push(piece),
            false if is_left => left.push(piece.with_only(kept)),
            false => {}
        }
    }
    left
}

/// The texts that were kept so far.
#[derive(Default)]
struct KeptTexts {
    texts: HashSet<String>,
    /// The numbers of the texts that hold a run.
    holders: HashMap<u64, Vec<usize>>,
    /// Their words that must not differ.
    telling: Vec<HashSet<String>>,
}

impl KeptTexts {
    /// Whether no kept text is the same but for white space and capitals.
    fn is_other(&mut self, text: &str) -> bool {
        let plain: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        self.texts.insert(plain.join(" "))
    }

    /// Whether it says something that none of the kept texts says; then it is kept as well.
    fn is_new(&mut self, text: &str) -> bool {
        let words = words(text);
        let telling: HashSet<String> =
            words.iter().filter(|word| is_telling(word)).map(|word| word.folded.clone()).collect();
        let runs = runs(&words);
        if self.say(&runs, &telling) {
            return false;
        }
        for run in runs {
            let holders = self.holders.entry(run).or_default();
            if holders.len() < MOST_HOLDERS {
                holders.push(self.telling.len());
            }
        }
        self.telling.push(telling);
        true
    }

    /// Whether one text holds nearly all of `runs` and all of `telling`.
    fn say(&self, runs: &HashSet<u64>, telling: &HashSet<String>) -> bool {
        let mut held: HashMap<usize, usize> = HashMap::new();
        for text in runs.iter().filter_map(|run| self.holders.get(run)).flatten() {
            *held.entry(*text).or_default() += 1;
        }
        let least = NEARLY_ALL * runs.len() as f64;
        held.iter()
            .any(|(text, count)| *count as f64 >= least && telling.is_subset(&self.telling[*text]))
    }
}

/// The runs of a text; a short text is one run.
fn runs(words: &[Word]) -> HashSet<u64> {
    let length = if words.len() < SHORTEST { words.len() } else { RUN };
    words.windows(length.max(1)).map(hash).collect()
}

fn hash(words: &[Word]) -> u64 {
    let mut hasher = DefaultHasher::new();
    words.iter().for_each(|word| word.folded.hash(&mut hasher));
    hasher.finish()
}

fn is_telling(word: &Word) -> bool {
    let folded = word.folded.as_str();
    word.is_number
        || NEGATIONS.contains(&folded)
        || folded.ends_with("n't")
        || folded.ends_with("n\u{2019}t")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::excerpt::tests::{is_from_its_base, piece};
    use super::super::headers::ChunkHeader;
    use super::*;
    use crate::retrieve::Passage;
    use crate::source::Source;
    use crate::source::tests::passage;

    const RULE: &str = "Employees may carry over ten days of holiday into the next year. The days must be taken before the end of March, or they are lost.";

    fn kept(texts: &[&str], dedupe: Dedupe) -> Vec<usize> {
        let pieces: Vec<Excerpt> = (0..)
            .zip(texts)
            .map(|(chunk_id, text)| {
                let source = Source::Chunk(Passage { chunk_id, ..passage(text) });
                Excerpt::whole(source, ChunkHeader::default())
            })
            .collect();
        let left = without_repeats(pieces, dedupe);
        left.iter().filter_map(|it| Some(it.source.chunk()?.chunk_id as usize)).collect()
    }

    #[test]
    fn the_same_text_is_left_out() {
        let texts = ["Ink is black.", "ink  IS\nblack.", "Ink is black!", "---", "---"];
        assert_eq!(kept(&texts, Dedupe::None), [0, 1, 2, 3, 4]);
        assert_eq!(kept(&texts, Dedupe::Exact), [0, 2, 3]);
        assert_eq!(kept(&texts, Dedupe::Near), [0, 3]);
    }

    #[test]
    fn what_says_nothing_new_is_left_out() {
        let part = "The days must be taken before the end of March, or they are lost.";
        let almost = RULE.replace("Employees may", "Staff may");
        assert_eq!(kept(&[RULE, part, &almost], Dedupe::Near), [0]);
        // What is longer says more.
        assert_eq!(kept(&[part, RULE], Dedupe::Near), [0, 1]);
        // A figure or a negation of its own keeps a text.
        let other_figure = format!("{RULE} In 2024 too.");
        let contrary = RULE.replace("may carry", "may not carry");
        assert_eq!(kept(&[RULE, &contrary, &other_figure], Dedupe::Near), [0, 1, 2]);
    }

    #[test]
    fn sentences_are_left_out_where_they_stand_again() {
        let sentences = [
            "The gate of the mill closes at ten. Visitors park behind it.",
            "The gate of the mill CLOSES at ten! Bring a torch with you.",
            "The gate of the mill closes at ten.",
            "See below.",
        ];
        let left = without_repeated_sentences(sentences.map(piece).to_vec());
        let texts: Vec<String> = left.iter().map(Excerpt::text).collect();
        assert_eq!(texts[0], sentences[0]);
        assert_eq!(texts[1..], ["[...] Bring a torch with you.", "See below."]);
    }

    #[test]
    fn many_formulas_take_little_time() {
        let boilerplate = "This document is confidential and must not be passed on to anybody. ";
        let own = |n: usize| format!("w{n} x{n} y{n} z{n} a{n} b{n} c{n} d{n} e{n} f{n} ");
        let texts: Vec<String> =
            (0..5000).map(|n| format!("{}{}", boilerplate.repeat(3), own(n))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let start = std::time::Instant::now();
        assert_eq!(kept(&texts, Dedupe::Near).len(), 5000);
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn once_is_enough(texts in prop::collection::vec("([ab]{1,2}( |\\. )){0,12}", 0..8)) {
            let pieces: Vec<Excerpt> = texts.iter().map(|text| piece(text)).collect();
            for dedupe in [Dedupe::None, Dedupe::Exact, Dedupe::Near] {
                let once = without_repeats(pieces.clone(), dedupe);
                prop_assert_eq!(&without_repeats(once.clone(), dedupe), &once);
                prop_assert_eq!(once.first(), pieces.first());
            }
            let left = without_repeated_sentences(pieces);
            for piece in &left {
                prop_assert!(is_from_its_base(piece));
            }
            prop_assert_eq!(&without_repeated_sentences(left.clone()), &left);
        }
    }
}
