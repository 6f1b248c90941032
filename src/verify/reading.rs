//! # reading: contexts, prepared for looking words up
//!
//! ```text
//! contexts → sentences → windows of some hundred words
//! ```
//!
//! A claim is compared with a window at a time. A context of usual length is one window; a long
//! one is several that overlap, so that a claim does not find its words scattered over pages. A
//! sentence that is longer than a window counts as several.
//!
//! A number is one word, however many it is written in. Where words may be one number or several, both
//! are there, each beside what stands around it.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use super::ContextEvidence;
use super::claim::{Statement, parts};
use super::order::SequenceMatcher;
use super::places::{Sought, WindowStarts};
use super::vocabulary::{UNKNOWN, Vocabulary, likeness};
use crate::text::number_run::{MOST_WORDS, ReadWord, number_across, readings};
use crate::text::sentence::sentences_interruptibly;
use crate::text::words::{Word, is_function_word};

/// Most words of a window, and of a sentence.
pub(super) const WINDOW: usize = 400;

/// Most sentences of a window: there may be any number of them without words.
const MOST_SENTENCES: usize = 4 * WINDOW;

/// Most sentences of evidence.
const LONGEST_RUN: usize = 3;

/// How many words one more sentence of evidence must add.
const RUN_COST: f32 = 0.75;

/// The contexts of an answer, read once for all of its claims.
#[derive(Default)]
pub(super) struct VerifiedContexts {
    sentences: Vec<Sentence>,
    tokens: Vec<Token>,
    /// How many words are read, a number counting as many as it may be.
    read: usize,
    vocabulary: Vocabulary,
    windows: Vec<SentenceRun>,
    places: WindowStarts,
}

struct Sentence {
    context: usize,
    chars: Range<usize>,
    tokens: Range<usize>,
}

/// A word where it stands, or a number of several.
struct Token {
    word: u32,
    is_name: bool,
    is_number: bool,
    /// Whether it may be several words, which follow it.
    is_doubtful: bool,
    /// Which words of all contexts it is.
    place: Range<usize>,
}

/// Sentences of one context that are looked at together.
struct SentenceRun {
    context: usize,
    sentences: Range<usize>,
    tokens: Range<usize>,
    /// The stems of words that stand side by side, once they are asked for.
    pairs: OnceCell<HashSet<(u32, u32)>>,
}

/// One window or two.
#[derive(Clone, Copy)]
pub(super) struct WindowSpan {
    /// The better window.
    pub first: usize,
    /// What adds to it.
    pub second: Option<usize>,
}

impl WindowSpan {
    /// A place of one window.
    pub fn one(first: usize) -> Self {
        WindowSpan { first, second: None }
    }

    /// A place of two windows.
    pub fn two(first: usize, second: usize) -> Self {
        WindowSpan { first, second: Some(second) }
    }
}

/// What a claim looks for.
pub(super) struct SoughtClaim {
    /// The stems of its words, in order.
    pub stems: Vec<u32>,
    /// Its words but for function words, as indexes; all where it has only those.
    pub content: Vec<usize>,
    /// Each of its words once.
    distinct: Vec<Sought>,
    /// For each of its words in order, which of `distinct` it is.
    which: Vec<usize>,
    order: SequenceMatcher,
}

impl VerifiedContexts {
    /// Reads `contexts`. `interrupt` is called now and then, and may unwind.
    pub fn of(contexts: &[&str], interrupt: &mut dyn FnMut()) -> Self {
        let mut reading = VerifiedContexts::default();
        for (context, text) in contexts.iter().enumerate() {
            let first = reading.sentences.len();
            reading.read_sentences(context, text, interrupt);
            reading.make_windows(context, first..reading.sentences.len(), interrupt);
        }
        reading
    }

    fn read_sentences(&mut self, context: usize, text: &str, interrupt: &mut dyn FnMut()) {
        let (mut counted, mut chars) = (0, 0);
        for sentence in whole_sentences(text, interrupt) {
            for bytes in parts(text, sentence) {
                interrupt();
                let from = self.tokens.len();
                self.read_words(&text[bytes.clone()]);
                let start = chars + text[counted..bytes.start].chars().count();
                chars = start + text[bytes.clone()].chars().count();
                counted = bytes.end;
                let tokens = from..self.tokens.len();
                self.sentences.push(Sentence { context, chars: start..chars, tokens });
            }
        }
    }

    fn read_words(&mut self, text: &str) {
        let before = self.read;
        for ReadWord { word, place, is_doubtful } in readings(text) {
            let place = before + place.start..before + place.end;
            self.read = place.end.max(self.read);
            let Word { folded, is_name, is_number } = word;
            let word = self.vocabulary.add(&folded);
            self.tokens.push(Token { word, is_name, is_number, is_doubtful, place });
        }
    }

    /// Windows of [`WINDOW`] words; each begins in the middle of the one before.
    fn make_windows(
        &mut self,
        context: usize,
        sentences: Range<usize>,
        interrupt: &mut dyn FnMut(),
    ) {
        let mut start = sentences.start;
        while start < sentences.end {
            interrupt();
            let limit = self.sentences[start].tokens.start + WINDOW;
            let middle = self.sentences[start].tokens.start + WINDOW / 2;
            let fits = |sentence: &&Sentence| sentence.tokens.end <= limit;
            let near = &self.sentences[start..sentences.end.min(start + MOST_SENTENCES)];
            let end = start + near.iter().take_while(fits).count().max(1);
            self.add_window(context, start..end);
            if end == sentences.end {
                break;
            }
            let before = |sentence: &&Sentence| sentence.tokens.end <= middle;
            start += self.sentences[start..end].iter().take_while(before).count().max(1);
        }
    }

    fn add_window(&mut self, context: usize, sentences: Range<usize>) {
        let from = self.sentences[sentences.start].tokens.start;
        let to = self.sentences[sentences.end - 1].tokens.end;
        let mut seen = HashSet::new();
        for token in &self.tokens[from..to] {
            if seen.insert(token.word) {
                self.places.add(self.windows.len(), token.word, &self.vocabulary);
            }
        }
        self.windows.push(SentenceRun {
            context,
            sentences,
            tokens: from..to,
            pairs: OnceCell::new(),
        });
    }

    /// Whether any context has the number `written`, however it is written there.
    pub fn has_number(&self, written: &str) -> bool {
        self.vocabulary.has_number(written)
    }

    /// What `statement` looks for here.
    pub fn wanted(&self, statement: &Statement) -> SoughtClaim {
        let words = &statement.words;
        let mut content: Vec<usize> =
            (0..words.len()).filter(|at| !is_function_word(&words[*at].folded)).collect();
        if content.is_empty() {
            content = (0..words.len()).collect();
        }
        let stems: Vec<u32> = words.iter().map(|word| self.vocabulary.stem(&word.folded)).collect();
        let (distinct, which) = Sought::each(words, &self.vocabulary);
        SoughtClaim { order: SequenceMatcher::of(&stems), stems, content, distinct, which }
    }

    /// The windows that have most of the words that are `wanted`, best first, but no more than
    /// `most`; of the `cited` contexts, or of all if none is.
    pub fn best_windows(
        &mut self,
        cited: &[usize],
        wanted: &SoughtClaim,
        most: usize,
        interrupt: &mut dyn FnMut(),
    ) -> Vec<usize> {
        let cited: HashSet<usize> = cited.iter().copied().collect();
        let content = wanted.content.iter().map(|at| wanted.which[*at]);
        let hits = self.places.hits(&wanted.distinct, content, interrupt);
        let asked =
            |window: usize| cited.is_empty() || cited.contains(&self.windows[window].context);
        let mut best: Vec<(f32, usize)> = Vec::with_capacity(most + 1);
        for (window, hits) in hits.into_iter().filter(|(window, _)| asked(*window)) {
            let is_before =
                |(other, at): &(f32, usize)| other.total_cmp(&hits).then(window.cmp(at)).is_ge();
            let place = best.partition_point(is_before);
            best.insert(place, (hits, window));
            best.truncate(most);
        }
        best.into_iter().map(|(_, window)| window).collect()
    }

    /// Whether two windows have sentences in common.
    pub fn overlap(&self, one: usize, other: usize) -> bool {
        let (one, other) = (&self.windows[one].sentences, &self.windows[other].sentences);
        one.start < other.end && other.start < one.end
    }

    fn windows_at(&self, place: &WindowSpan) -> impl Iterator<Item = usize> {
        std::iter::once(place.first).chain(place.second)
    }

    /// How well `place` has a word of what is `wanted`, from 0 to 1.
    pub fn credit(&self, place: &WindowSpan, wanted: &SoughtClaim, word: usize) -> f32 {
        let sought = &wanted.distinct[wanted.which[word]];
        let credits = self.windows_at(place).map(|window| self.places.credit(window, sought));
        credits.fold(0.0, f32::max)
    }

    /// Whether the first window of `place` has nothing like `word`.
    pub fn lacks(&self, place: &WindowSpan, word: &Word) -> bool {
        self.places.credit(place.first, &Sought::of(&word.folded, &self.vocabulary)) == 0.0
    }

    /// Whether two words stand side by side at `place`.
    pub fn has_pair(&self, place: &WindowSpan, pair: (u32, u32)) -> bool {
        self.windows_at(place).any(|window| self.pairs(window).contains(&pair))
    }

    fn pairs(&self, window: usize) -> &HashSet<(u32, u32)> {
        self.windows[window].pairs.get_or_init(|| {
            let tokens = &self.tokens[self.windows[window].tokens.clone()];
            let stem = |token: &Token| self.vocabulary.entry(token.word).stem;
            let mut pairs = HashSet::with_capacity(tokens.len());
            for (at, token) in tokens.iter().enumerate() {
                // Nothing that begins farther away ends here.
                let is_near = |it: &&Token| it.place.start + MOST_WORDS >= token.place.start;
                let before = tokens[..at].iter().rev().take_while(is_near);
                let beside = before.filter(|it| it.place.end == token.place.start);
                pairs.extend(beside.map(|it| (stem(it), stem(token))));
            }
            pairs
        })
    }

    /// The stems of a window's words, in order.
    fn stems(&self, window: usize) -> impl Iterator<Item = u32> {
        let tokens = &self.tokens[self.windows[window].tokens.clone()];
        tokens.iter().map(|token| self.vocabulary.entry(token.word).stem)
    }

    /// Most words that are `wanted` that stand at `place` in the same order (the longest common
    /// subsequence).
    pub fn in_order(&self, place: &WindowSpan, wanted: &SoughtClaim) -> usize {
        wanted.order.in_common(self.windows_at(place).flat_map(|window| self.stems(window)))
    }

    /// The sentences of the first window that have most of what is wanted, as indexes; `None`
    /// where none has anything.
    pub fn best_run(&self, place: &WindowSpan, wanted: &SoughtClaim) -> Option<Range<usize>> {
        let window = &self.windows[place.first].sentences;
        let held: Vec<Vec<f32>> = window.clone().map(|at| self.held(at, wanted)).collect();
        let mut best: Option<(f32, Range<usize>)> = None;
        // What begins with a sentence without words is never better than what begins after it.
        for start in (0..held.len()).filter(|at| !held[*at].is_empty()) {
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

    /// How well one sentence has each word that is wanted; nothing, if it has no words.
    fn held(&self, sentence: usize, wanted: &SoughtClaim) -> Vec<f32> {
        let tokens = &self.tokens[self.sentences[sentence].tokens.clone()];
        if tokens.is_empty() {
            return Vec::new();
        }
        let best = |sought: &Sought| {
            tokens.iter().map(|token| self.credit_of(sought, token.word)).fold(0.0, f32::max)
        };
        let credits: Vec<f32> = wanted.distinct.iter().map(best).collect();
        wanted.content.iter().map(|at| credits[wanted.which[*at]]).collect()
    }

    fn credit_of(&self, sought: &Sought, word: u32) -> f32 {
        let entry = self.vocabulary.entry(word);
        if sought.means(word, entry) {
            return 1.0;
        }
        if sought.first == UNKNOWN || sought.first != entry.first {
            return 0.0;
        }
        likeness(&sought.folded, &entry.folded)
    }

    /// The words of a run of sentences; of a number that may be several words, these.
    pub fn words(&self, run: &Range<usize>) -> Vec<Word> {
        let from = self.sentences[run.start].tokens.start;
        let to = self.sentences[run.end - 1].tokens.end;
        let word = |token: &Token| Word {
            folded: self.vocabulary.entry(token.word).folded.to_string(),
            is_name: token.is_name,
            is_number: token.is_number,
        };
        self.tokens[from..to].iter().filter(|it| !it.is_doubtful).map(word).collect()
    }

    /// Where a run of sentences stands.
    pub fn evidence(&self, run: &Range<usize>) -> ContextEvidence {
        let (first, last) = (&self.sentences[run.start], &self.sentences[run.end - 1]);
        ContextEvidence { context: first.context, chars: first.chars.start..last.chars.end }
    }
}

/// The sentences of `text`. What looks like the end of one in a number that is or may be split is none.
fn whole_sentences(text: &str, interrupt: &mut dyn FnMut()) -> Vec<Range<usize>> {
    let mut sentences = sentences_interruptibly(text, interrupt);
    sentences.dedup_by(|next, last| {
        let goes_on = number_across(text, last.end, next.start).is_some();
        if goes_on {
            last.end = next.end;
        }
        goes_on
    });
    sentences
}
