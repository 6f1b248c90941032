//! # reading: contexts, prepared for looking words up
//!
//! ```text
//! contexts → sentences → windows of some hundred words
//! ```
//!
//! A claim is compared with a window at a time. A context of usual length is one window; a long
//! one is several that overlap, so that a claim does not find its words scattered over pages.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::Evidence;
use super::claim::Statement;
use crate::answer::words::{Word, credit, is_function_word, words};
use crate::chunk::sentence::sentences;

/// Words of a window, unless one sentence has more.
const WINDOW: usize = 400;

/// Letters by which words are told apart where their order counts.
const STEM: usize = 5;

/// Letters that two words share at least if one stands for the other.
const SHARED: usize = 4;

/// Most sentences of evidence.
const LONGEST_RUN: usize = 3;

/// How many words one more sentence of evidence must add.
const RUN_COST: f32 = 0.75;

/// A stem that no context has.
const UNKNOWN: u32 = u32::MAX;

/// The contexts.
pub(super) struct Reading<'a> {
    contexts: &'a [&'a str],
    sentences: Vec<Sentence>,
    words: Vec<Word>,
    stems: HashMap<String, u32>,
    windows: Vec<Window>,
}

struct Sentence {
    context: usize,
    bytes: Range<usize>,
    words: Range<usize>,
}

/// Sentences of one context that are looked at together.
pub(super) struct Window {
    context: usize,
    sentences: Range<usize>,
    /// Its words by their first letters.
    by_beginning: HashMap<String, Vec<String>>,
    /// The stems of its words, in order.
    stems: Vec<u32>,
    pairs: HashSet<(u32, u32)>,
}

impl Window {
    /// How well the window has `word`, from 0 to 1. Numbers may be written with other separators.
    pub fn credit(&self, word: &str) -> f32 {
        let digits = digits(word);
        let as_written = self.credit_as_written(word);
        if as_written == 0.0 && digits.len() > 1 {
            self.credit_as_written(&digits)
        } else {
            as_written
        }
    }

    fn credit_as_written(&self, word: &str) -> f32 {
        let alike = self.by_beginning.get(&beginning(word, SHARED));
        let credits = alike.into_iter().flatten().map(|other| credit(word, other));
        credits.fold(0.0, f32::max)
    }
}

/// One window or two.
#[derive(Clone, Copy)]
pub(super) struct Place {
    /// The better one.
    pub first: usize,
    /// What adds to it.
    pub second: Option<usize>,
}

impl Place {
    /// One.
    pub fn one(first: usize) -> Self {
        Place { first, second: None }
    }

    /// Two.
    pub fn two(first: usize, second: usize) -> Self {
        Place { first, second: Some(second) }
    }
}

/// What a claim looks for.
pub(super) struct Wanted {
    /// The stems of its words, in order.
    pub stems: Vec<u32>,
    /// Its words but for function words, as indexes; all where it has only those.
    pub content: Vec<usize>,
    folded: Vec<String>,
}

impl<'a> Reading<'a> {
    /// Reads `contexts`.
    pub fn of(contexts: &'a [&'a str]) -> Self {
        let mut reading = Reading {
            contexts,
            sentences: Vec::new(),
            words: Vec::new(),
            stems: HashMap::new(),
            windows: Vec::new(),
        };
        for context in 0..contexts.len() {
            let first = reading.sentences.len();
            reading.read_sentences(context);
            reading.make_windows(context, first..reading.sentences.len());
        }
        reading
    }

    fn read_sentences(&mut self, context: usize) {
        for bytes in sentences(self.contexts[context]) {
            let from = self.words.len();
            self.words.extend(words(&self.contexts[context][bytes.clone()]));
            for at in from..self.words.len() {
                let next = self.stems.len() as u32;
                self.stems.entry(beginning(&self.words[at].folded, STEM)).or_insert(next);
            }
            self.sentences.push(Sentence { context, bytes, words: from..self.words.len() });
        }
    }

    /// Windows of [`WINDOW`] words; each begins in the middle of the one before.
    fn make_windows(&mut self, context: usize, sentences: Range<usize>) {
        let mut start = sentences.start;
        while start < sentences.end {
            let limit = self.sentences[start].words.start + WINDOW;
            let middle = self.sentences[start].words.start + WINDOW / 2;
            let fits = |sentence: &&Sentence| sentence.words.end <= limit;
            let end = start + self.sentences[start..sentences.end].iter().take_while(fits).count();
            let end = end.max(start + 1);
            self.windows.push(self.window(context, start..end));
            if end == sentences.end {
                break;
            }
            let before = |sentence: &&Sentence| sentence.words.end <= middle;
            start += self.sentences[start..end].iter().take_while(before).count().max(1);
        }
    }

    fn window(&self, context: usize, sentences: Range<usize>) -> Window {
        let from = self.sentences[sentences.start].words.start;
        let to = self.sentences[sentences.end - 1].words.end;
        let words = &self.words[from..to];
        let stems: Vec<u32> = words.iter().map(|word| self.stem(&word.folded)).collect();
        let mut by_beginning: HashMap<String, Vec<String>> = HashMap::new();
        let mut seen = HashSet::new();
        for word in words.iter().filter(|word| seen.insert(word.folded.as_str())) {
            let alike = by_beginning.entry(beginning(&word.folded, SHARED)).or_default();
            alike.push(word.folded.clone());
            // "9,000" is found as "9000" too.
            let digits = digits(&word.folded);
            if digits.len() > 1 && digits != word.folded {
                by_beginning.entry(beginning(&digits, SHARED)).or_default().push(digits);
            }
        }
        let pairs = stems.windows(2).map(|pair| (pair[0], pair[1])).collect();
        Window { context, sentences, by_beginning, stems, pairs }
    }

    fn stem(&self, word: &str) -> u32 {
        self.stems.get(&beginning(word, STEM)).copied().unwrap_or(UNKNOWN)
    }

    /// What `statement` looks for here.
    pub fn wanted(&self, statement: &Statement) -> Wanted {
        let folded: Vec<String> = statement.words.iter().map(|word| word.folded.clone()).collect();
        let mut content: Vec<usize> =
            (0..folded.len()).filter(|at| !is_function_word(&folded[*at])).collect();
        if content.is_empty() {
            content = (0..folded.len()).collect();
        }
        Wanted { stems: folded.iter().map(|word| self.stem(word)).collect(), content, folded }
    }

    /// The windows of the `cited` contexts, or all if none is.
    pub fn windows_of(&self, cited: &[usize]) -> impl Iterator<Item = usize> {
        let asked = |window: &Window| cited.is_empty() || cited.contains(&window.context);
        (0..self.windows.len()).filter(move |at| asked(&self.windows[*at]))
    }

    /// How many of the words that are `wanted` a window has.
    pub fn hits(&self, window: usize, wanted: &Wanted) -> f32 {
        let window = &self.windows[window];
        wanted.content.iter().map(|at| window.credit(&wanted.folded[*at])).sum()
    }

    /// Whether two windows have sentences in common.
    pub fn overlap(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.windows[one].sentences, &self.windows[other].sentences);
        one.start < other.end && other.start < one.end
    }

    fn windows_at(&self, place: &Place) -> impl Iterator<Item = &Window> {
        std::iter::once(place.first).chain(place.second).map(|at| &self.windows[at])
    }

    /// The first window of `place`.
    pub fn window_of(&self, place: &Place) -> &Window {
        &self.windows[place.first]
    }

    /// How well `place` has `word`, from 0 to 1.
    pub fn credit(&self, place: &Place, word: &str) -> f32 {
        self.windows_at(place).map(|window| window.credit(word)).fold(0.0, f32::max)
    }

    /// Whether two words stand side by side at `place`.
    pub fn has_pair(&self, place: &Place, pair: (u32, u32)) -> bool {
        self.windows_at(place).any(|window| window.pairs.contains(&pair))
    }

    /// Most words of `stems` that stand at `place` in the same order (the longest common
    /// subsequence).
    pub fn in_order(&self, place: &Place, stems: &[u32]) -> usize {
        let mut row = vec![0; stems.len() + 1];
        for stem in self.windows_at(place).flat_map(|window| &window.stems) {
            let mut diagonal = 0;
            for (at, wanted) in stems.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if wanted == stem { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[stems.len()]
    }

    /// The sentences of the first window that have most of what is wanted, as indexes; `None`
    /// where none has anything.
    pub fn best_run(&self, place: &Place, wanted: &Wanted) -> Option<Range<usize>> {
        let window = &self.windows[place.first].sentences;
        let held: Vec<Vec<f32>> = window.clone().map(|at| self.held(at, wanted)).collect();
        let mut best: Option<(f32, Range<usize>)> = None;
        for start in 0..held.len() {
            let mut together = vec![0.0; wanted.content.len()];
            for (more, one) in held[start..].iter().take(LONGEST_RUN).enumerate() {
                together.iter_mut().zip(one).for_each(|(all, one)| *all = f32::max(*all, *one));
                let worth = together.iter().sum::<f32>() - RUN_COST * more as f32;
                if worth > best.as_ref().map_or(0.0, |(worth, _)| *worth) {
                    let first = window.start + start;
                    best = Some((worth, first..first + more + 1));
                }
            }
        }
        best.map(|(_, run)| run)
    }

    /// How well one sentence has each word that is wanted.
    fn held(&self, sentence: usize, wanted: &Wanted) -> Vec<f32> {
        let words = &self.words[self.sentences[sentence].words.clone()];
        let best = |wanted: &str| {
            words.iter().map(|word| credit(wanted, &word.folded)).fold(0.0, f32::max)
        };
        wanted.content.iter().map(|at| best(&wanted.folded[*at])).collect()
    }

    /// The words of a run of sentences.
    pub fn words(&self, run: &Range<usize>) -> &[Word] {
        &self.words[self.sentences[run.start].words.start..self.sentences[run.end - 1].words.end]
    }

    /// Where a run of sentences stands.
    pub fn evidence(&self, run: &Range<usize>) -> Evidence {
        let (first, last) = (&self.sentences[run.start], &self.sentences[run.end - 1]);
        let text = self.contexts[first.context];
        let start = text[..first.bytes.start].chars().count();
        let length = text[first.bytes.start..last.bytes.end].chars().count();
        Evidence { context: first.context, chars: start..start + length }
    }
}

/// The digits of a word.
pub(super) fn digits(word: &str) -> String {
    word.chars().filter(char::is_ascii_digit).collect()
}

/// The first `letters` of a word.
fn beginning(word: &str, letters: usize) -> String {
    word.chars().take(letters).collect()
}
