//! # places: which windows have this word, or one like it?
//!
//! ```text
//! (window, word) → lists by beginnings of words;  word → credit in each window that has it
//! ```
//!
//! Two words are like each other where they share a beginning that is long enough for both, and
//! what that earns is the less, the longer the longer one is. So for each beginning it is enough
//! to know the shortest word of a window that has it, and a claim looks at no word of a window
//! that has nothing to do with it. Numbers are like each other where they may mean the same.

use std::collections::{BTreeMap, HashMap};
use std::mem::take;

use super::vocabulary::{Vocabulary, VocabularyEntry, likely_beginnings};
use crate::text::number::meanings;
use crate::text::words::Word;

/// Windows by the beginnings of their words.
#[derive(Default)]
pub(super) struct WindowStarts {
    /// For each beginning the windows, in order, with the letters of the shortest word there that
    /// has it.
    lists: Vec<Vec<(u32, u32)>>,
    /// What a word earns in each window; all 0 between two words.
    credits: Vec<f32>,
    /// What all words earn in each window; all 0 between two claims.
    sums: Vec<f32>,
}

/// A word that is looked for.
pub(super) struct Sought {
    /// Its number, or `UNKNOWN`.
    pub word: u32,
    /// The number of its first letters, or `UNKNOWN`.
    pub first: u32,
    /// As it is written, in lower case.
    pub folded: String,
    written: WordForm,
    /// What its number may mean: it may be written with other separators.
    meanings: Vec<WordForm>,
}

/// A word, or a number that one may mean, with the beginnings that windows may have.
struct WordForm {
    /// Its number, or `UNKNOWN`.
    word: u32,
    letters: u32,
    /// The numbers of these beginnings, with their letters.
    beginnings: Vec<(u32, u32)>,
}

impl WordForm {
    fn of(word: &str, vocabulary: &Vocabulary) -> WordForm {
        let known =
            |(letters, text): (usize, &str)| Some((vocabulary.beginning(text)?, letters as u32));
        let beginnings = likely_beginnings(word).filter_map(known).collect();
        let letters = word.chars().count() as u32;
        WordForm { word: vocabulary.find(word), letters, beginnings }
    }

    /// What a shared beginning earns where the shortest word has so many letters.
    fn credit(&self, shared: u32, shortest: u32) -> f32 {
        shared as f32 / self.letters.max(shortest) as f32
    }
}

impl Sought {
    /// What a word in lower case is looked for by.
    pub fn of(word: &str, vocabulary: &Vocabulary) -> Sought {
        Sought {
            word: vocabulary.find(word),
            first: vocabulary.first(word),
            written: WordForm::of(word, vocabulary),
            meanings: meanings(word).iter().map(|it| WordForm::of(it, vocabulary)).collect(),
            folded: word.to_owned(),
        }
    }

    /// Whether it and the word `number`, which is `entry`, are one number.
    pub fn means(&self, number: u32, entry: &VocabularyEntry) -> bool {
        let is_meant = |it: u32| it == number || entry.meanings.contains(&it);
        is_meant(self.word) || self.meanings.iter().any(|it| is_meant(it.word))
    }

    /// Each of `words` once, and which of them each one is.
    pub fn each(words: &[Word], vocabulary: &Vocabulary) -> (Vec<Sought>, Vec<usize>) {
        let mut known: HashMap<&str, usize> = HashMap::new();
        let mut distinct = Vec::new();
        let mut number = |word| {
            *known.entry(word).or_insert_with(|| {
                distinct.push(Sought::of(word, vocabulary));
                distinct.len() - 1
            })
        };
        let which = words.iter().map(|word| number(word.folded.as_str())).collect();
        (distinct, which)
    }
}

impl WindowStarts {
    /// Adds a word of a window; windows come in order.
    pub fn add(&mut self, window: usize, word: u32, vocabulary: &Vocabulary) {
        self.credits.resize(window + 1, 0.0);
        self.sums.resize(window + 1, 0.0);
        let entry = vocabulary.entry(word);
        for beginning in &entry.beginnings {
            let at = *beginning as usize;
            self.lists.resize(self.lists.len().max(at + 1), Vec::new());
            match self.lists[at].last_mut() {
                Some((last, shortest)) if *last as usize == window => {
                    *shortest = entry.letters.min(*shortest);
                }
                _ => self.lists[at].push((window as u32, entry.letters)),
            }
        }
        for meaning in &entry.meanings {
            self.add(window, *meaning, vocabulary);
        }
    }

    /// How well a window has a word, from 0 to 1.
    pub fn credit(&self, window: usize, sought: &Sought) -> f32 {
        match self.credit_of(window, &sought.written) {
            0.0 => {
                let credits = sought.meanings.iter().map(|it| self.credit_of(window, it));
                credits.fold(0.0, f32::max)
            }
            credit => credit,
        }
    }

    fn credit_of(&self, window: usize, form: &WordForm) -> f32 {
        let credits = form.beginnings.iter().map(|(beginning, shared)| {
            let list = self.list(*beginning);
            let place = list.binary_search_by_key(&(window as u32), |(window, _)| *window);
            place.map_or(0.0, |at| form.credit(*shared, list[at].1))
        });
        credits.fold(0.0, f32::max)
    }

    fn list(&self, beginning: u32) -> &[(u32, u32)] {
        self.lists.get(beginning as usize).map_or(&[], Vec::as_slice)
    }

    /// The windows that have any of the `content`, indexes of words that are `sought`, with the sum
    /// of what they have of each.
    pub fn hits(
        &mut self,
        sought: &[Sought],
        content: impl Iterator<Item = usize>,
        interrupt: &mut dyn FnMut(),
    ) -> Vec<(usize, f32)> {
        let mut lists: Vec<Option<Vec<(u32, f32)>>> = sought.iter().map(|_| None).collect();
        let mut touched = Vec::new();
        for word in content {
            interrupt();
            let list = lists[word].get_or_insert_with(|| self.everywhere(&sought[word]));
            for (window, credit) in list {
                let sum = &mut self.sums[*window as usize];
                if *sum == 0.0 {
                    touched.push(*window as usize);
                }
                *sum += *credit;
            }
        }
        touched.into_iter().map(|window| (window, take(&mut self.sums[window]))).collect()
    }

    /// The windows that have a word, with its credit there.
    fn everywhere(&mut self, sought: &Sought) -> Vec<(u32, f32)> {
        let as_written = self.everywhere_as(&sought.written);
        if sought.meanings.is_empty() {
            return as_written;
        }
        let mut found: BTreeMap<u32, f32> = BTreeMap::new();
        for (window, credit) in sought.meanings.iter().flat_map(|it| self.everywhere_as(it)) {
            let best = found.entry(window).or_default();
            *best = best.max(credit);
        }
        found.extend(as_written);
        found.into_iter().collect()
    }

    fn everywhere_as(&mut self, form: &WordForm) -> Vec<(u32, f32)> {
        let mut touched = Vec::new();
        for (beginning, shared) in &form.beginnings {
            for (window, shortest) in self.lists.get(*beginning as usize).into_iter().flatten() {
                let credit = &mut self.credits[*window as usize];
                if *credit == 0.0 {
                    touched.push(*window);
                }
                *credit = credit.max(form.credit(*shared, *shortest));
            }
        }
        let credit = |window: u32| (window, take(&mut self.credits[window as usize]));
        touched.into_iter().map(credit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::vocabulary::likeness;
    use proptest::prelude::*;

    /// Looks at each word of the window.
    fn twin(word: &str, window: &[String]) -> f32 {
        let as_written = |word: &str| {
            let others = window.iter().flat_map(|other| meanings(other));
            let all = window.iter().cloned().chain(others);
            all.map(|other| likeness(word, &other)).fold(0.0, f32::max)
        };
        match as_written(word) {
            0.0 => meanings(word).iter().map(|it| as_written(it)).fold(0.0, f32::max),
            credit => credit,
        }
    }

    #[test]
    fn a_number_is_found_however_its_digits_are_grouped() {
        let (mut vocabulary, mut places) = (Vocabulary::default(), WindowStarts::default());
        for word in ["9,000.00", "98.7", "1,00,000", "1930s"] {
            let number = vocabulary.add(word);
            places.add(0, number, &vocabulary);
        }
        for (word, expected) in [
            ("9000", 1.0),
            ("9.000,00", 1.0),
            ("9 000", 1.0),
            ("98,7", 1.0),
            ("100'000", 1.0),
            ("1930", 1.0),
            ("8000", 0.0),
            ("90", 0.0),
            ("987", 0.0),
            ("98", 0.0),
            ("100001", 0.0),
            ("9000.5", 0.0),
            ("19305", 0.0),
        ] {
            assert_eq!(places.credit(0, &Sought::of(word, &vocabulary)), expected, "{word}");
        }
    }

    proptest! {
        #[test]
        fn every_word_of_a_window_counts(
            windows in prop::collection::vec(
                prop::collection::vec("[ab]{1,9}|[12][,. ]?[12]{1,4}[ab]?|a{60,70}|[aäß]{1,7}", 0..12), 0..5),
            words in prop::collection::vec("[ab]{1,9}|[12][,. ]?[12]{1,4}[ab]?|a{60,70}|[aäß]{1,7}", 1..9),
        ) {
            let (mut vocabulary, mut places) = (Vocabulary::default(), WindowStarts::default());
            for (at, window) in windows.iter().enumerate() {
                for word in window {
                    let number = vocabulary.add(word);
                    places.add(at, number, &vocabulary);
                }
            }
            let sought: Vec<Sought> = words.iter().map(|it| Sought::of(it, &vocabulary)).collect();
            let hits = places.hits(&sought, 0..sought.len(), &mut || {});
            let hits: HashMap<usize, f32> = hits.into_iter().collect();
            for (at, window) in windows.iter().enumerate() {
                let mut sum = 0.0;
                for (word, sought) in words.iter().zip(&sought) {
                    let expected = twin(word, window);
                    prop_assert_eq!(places.credit(at, sought), expected, "{} in {:?}", word, window);
                    sum += expected;
                }
                prop_assert_eq!(hits.get(&at).copied().unwrap_or(0.0), sum);
            }
        }
    }
}
