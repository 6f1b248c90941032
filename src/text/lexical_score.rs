//! Which of some short texts speak of a question, by their words.
//!
//! ```text
//! (question, words with weights of each text) → a score for each, 0 where no word is shared
//! ```
//!
//! BM25 over a few hundred short texts, computed anew for each question: names, comments, and questions of the past.
//! Names are cut into words (`order_items`, `orderItems`), words count as far as their beginnings agree (authors, author),
//! and a word within another (`keyword` in `paperkeywords`) counts, too.

use std::collections::{HashMap, HashSet};

use super::accent::without_accents;
use super::function_word::is_function_word_of;
use super::language::language;
use super::words::{credit, each_word};

/// Most words of a question that are looked at.
const MOST_WORDS: usize = 2000;

/// Most different words of a question that are looked for.
const MOST_TERMS: usize = 100;

/// Shortest word that is looked for within others, in letters.
const SHORTEST_PART: usize = 4;

/// What a word within another counts.
const PART: f64 = 0.5;

/// From which likeness on a text counts as one that has the word.
const LIKE: f64 = 0.5;

/// How slowly another occurrence adds less, and how much the length of a text counts.
const K1: f64 = 1.2;
const B: f64 = 0.3;

/// The words of a question that say what it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AskedWords(Vec<String>);

/// The words of a text, each with what it weighs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeighedWords(Vec<(String, f64)>);

impl AskedWords {
    /// Those of `question`.
    #[must_use]
    pub fn of(question: &str) -> AskedWords {
        let language = language(question);
        let mut seen = HashSet::new();
        let words = each_word(question).take(MOST_WORDS).flat_map(|word| split(&word.folded));
        let telling = words.filter(|word| !is_function_word_of(word, language));
        let distinct = telling.filter(|word| seen.insert(word.clone()));
        AskedWords(distinct.take(MOST_TERMS).collect())
    }

    /// How many of them a short text such as a name has, words that are alike included.
    #[must_use]
    pub fn shared_with(&self, text: &str) -> f64 {
        let words = split_text(text);
        let best =
            |term: &String| words.iter().map(|word| likeness(term, word)).fold(0.0, f64::max);
        self.0.iter().map(best).sum()
    }

    /// How many of them some texts have, with the worth of the text that has each best. `texts` are such texts with
    /// their worths.
    #[must_use]
    pub fn best_in<'a>(&self, texts: impl Iterator<Item = (&'a str, f64)>) -> f64 {
        let mut best = vec![0.0_f64; self.0.len()];
        let mut seen = HashSet::new();
        for (text, worth) in texts {
            for word in split_text(text) {
                if seen.insert((word.clone(), worth.to_bits())) {
                    for (term, likeness) in self.alike(&word) {
                        best[term] = best[term].max(likeness * worth);
                    }
                }
            }
        }
        best.iter().sum()
    }

    /// The score of each text. `interrupt` is called between two of them.
    #[must_use]
    pub fn scores(&self, texts: &[WeighedWords], interrupt: &mut dyn FnMut()) -> Vec<f64> {
        let mut known: HashMap<&str, Vec<(usize, f64)>> = HashMap::new();
        let mut counts = Vec::with_capacity(texts.len());
        for WeighedWords(words) in texts {
            interrupt();
            let mut found = vec![Occurrence::default(); self.0.len()];
            for (word, weight) in words {
                let alike = known.entry(word).or_insert_with(|| self.alike(word));
                for (term, likeness) in alike {
                    found[*term].add(*likeness, *weight);
                }
            }
            counts.push(found);
        }
        self.weighed(texts, &counts)
    }

    /// The places of words that are like `word`, and how much.
    fn alike(&self, word: &str) -> Vec<(usize, f64)> {
        let each = self.0.iter().enumerate().map(|(place, term)| (place, likeness(term, word)));
        each.filter(|(_, likeness)| *likeness > 0.0).collect()
    }

    fn weighed(&self, texts: &[WeighedWords], counts: &[Vec<Occurrence>]) -> Vec<f64> {
        let number = texts.len() as f64;
        let rarity = |term: usize| {
            let with = counts.iter().filter(|found| found[term].best >= LIKE).count() as f64;
            ((number - with + 0.5) / (with + 0.5)).ln_1p()
        };
        let rarities: Vec<f64> = (0..self.0.len()).map(rarity).collect();
        let lengths: Vec<f64> = texts.iter().map(WeighedWords::length).collect();
        let average = (lengths.iter().sum::<f64>() / number.max(1.0)).max(1.0);
        let score = |(found, length): (&Vec<Occurrence>, &f64)| {
            let slow = K1 * (1.0 - B + B * length / average);
            let terms = found.iter().zip(&rarities);
            terms.map(|(it, rarity)| rarity * it.sum / (it.sum + slow)).sum::<f64>()
        };
        counts.iter().zip(&lengths).map(score).collect()
    }
}

/// How often, and how exactly, a text has a word.
#[derive(Clone, Copy, Debug, Default)]
struct Occurrence {
    sum: f64,
    best: f64,
}

impl Occurrence {
    fn add(&mut self, likeness: f64, weight: f64) {
        self.sum += likeness * weight;
        self.best = self.best.max(likeness);
    }
}

impl WeighedWords {
    /// Those of a text in which each counts alike.
    #[must_use]
    pub fn of_text(text: &str) -> WeighedWords {
        let mut words = WeighedWords::default();
        words.add(text, 1.0);
        words
    }

    /// Adds those of a text, each of which weighs so much.
    pub fn add(&mut self, text: &str, weight: f64) {
        self.0.extend(split_text(text).into_iter().map(|word| (word, weight)));
    }

    fn length(&self) -> f64 {
        self.0.iter().map(|(_, weight)| weight).sum()
    }
}

/// How well `word` stands for `term`, from 0 to 1.
fn likeness(term: &str, word: &str) -> f64 {
    let is_part = || {
        term.chars().nth(SHORTEST_PART - 1).is_some()
            && word.len() > term.len()
            && word.contains(term)
    };
    match f64::from(credit(term, word)) {
        alike if alike < PART && is_part() => PART,
        alike => alike,
    }
}

fn split_text(text: &str) -> Vec<String> {
    // Names are cut before they are folded, as a capital may begin a word.
    text.split(|c: char| c.is_whitespace()).flat_map(split).take(MOST_WORDS).collect()
}

/// The words of a name, in lower case and without accents: of `orderItems_2` order, items and 2.
fn split(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut word, mut before) = (String::new(), ' ');
    for c in name.chars() {
        let turns =
            c.is_numeric() != before.is_numeric() || c.is_uppercase() && before.is_lowercase();
        if (!c.is_alphanumeric() || turns) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.extend((!word.is_empty()).then_some(word));
    words.into_iter().map(|word| without_accents(&word).unwrap_or(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_split(name: &str, expected: &[&str]) {
        assert_eq!(split(name), expected, "{name}");
    }

    #[test]
    fn names_are_cut_into_words() {
        check_split("order_items", &["order", "items"]);
        check_split("orderItems_2", &["order", "items", "2"]);
        check_split("\"Größe\"", &["grosse"]);
        check_split("HTTPHeader", &["httpheader"]);
        check_split("", &[]);
        check_split("___", &[]);
    }

    #[test]
    fn a_question_is_asked_by_the_words_that_say_something() {
        assert_eq!(AskedWords::of("How many orders are there?").0, ["many", "orders"]);
        assert_eq!(AskedWords::of("").0, [] as [&str; 0]);
        assert_eq!(AskedWords::of(&"word ".repeat(100_000)).0, ["word"]);
    }

    fn scores(question: &str, texts: &[&str]) -> Vec<f64> {
        let words: Vec<WeighedWords> = texts.iter().map(|it| WeighedWords::of_text(it)).collect();
        AskedWords::of(question).scores(&words, &mut || {})
    }

    #[test]
    fn a_rare_word_says_more_than_one_that_all_have() {
        let texts = ["name a", "name salary", "name c"];
        let found = scores("name and salary", &texts);
        assert!(found[1] > found[0] && found[1] > found[2], "{found:?}");
        assert!(scores("name", &texts).iter().all(|score| *score > 0.0));
    }

    #[test]
    fn a_word_counts_by_the_text_that_has_it_best() {
        let asked = AskedWords::of("name and salary");
        let best = |texts: &[(&str, f64)]| asked.best_in(texts.iter().copied());
        assert_eq!(best(&[("name", 0.5), ("first name", 1.0), ("salary", 0.5)]), 1.5);
        assert_eq!(best(&[("name", 1.0), ("name", 0.5)]), 1.0);
        assert_eq!(best(&[]), 0.0);
    }

    #[test]
    fn a_look_for_interrupts_is_taken_at_each_text() {
        let texts = vec![WeighedWords::of_text("a text"); 100];
        let mut looks = 0;
        drop(AskedWords::of("text").scores(&texts, &mut || looks += 1));
        assert_eq!(looks, 100);
    }
}
