//! Do the words of the question stand together in a text, and does the best text name another?
//!
//! ```text
//! (the question's words, the words of each text, with their places) → how close they are
//! ```
//!
//! BM25 counts words wherever they stand. A text that has the question's words in one sentence, or
//! two of them side by side as the question has them, speaks of it more likely than one that has them
//! on different subjects (Metzler and Croft's sequential dependence, SIGIR 2005; Tao and Zhai, SIGIR
//! 2007). All words count alike: weights by rarity changed nDCG@10 by less than 0.001.
//!
//! Some questions need two texts, and only the first has their words: "Who is the mayor of the town
//! where ink was invented?" What the second is about then stands in the first. Texts mostly begin with
//! what they are about, by a title, a heading, or the subject of the first sentence. So a text whose
//! opening has two words side by side that the best text has too, and the question does not, is one
//! that the best text names.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// Words that stand within so many places of each other stand together: a sentence or two.
const TOGETHER: u16 = 30;

/// What a text is about stands in so many places at its beginning.
const OPENING: u16 = 6;

/// Words at the beginning of a text that are sent. Several may have one place.
const MOST_OPENING: usize = 64;

/// Places that a text can have: a tsvector has at most 1 MB, and a word takes four bytes and two more for each place.
const MOST_PLACES: usize = 1 << 19;

/// Words of a question that are looked for, the first ones. A text that is asked as a question has
/// more of them, but no order of its own that another one would share.
const MOST_WORDS: usize = 100;

/// Texts of each side that are looked at, the best ones.
pub const MOST_TEXTS: usize = 500;

/// A text's words, as they are indexed.
pub trait IndexedText {
    /// Where a word stands, from 1, ascending; nothing where it does not.
    fn places(&self, word: &[u8]) -> Vec<u16>;

    /// The words at the first `last` places, in any order.
    fn opening(&self, last: u16) -> Vec<(u16, &[u8])>;
}

/// The words of a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(u16, Vec<u8>)>", into = "Vec<(u16, Vec<u8>)>")]
pub struct QuestionTerms {
    /// Each with its place, by places.
    words: Vec<(u16, Vec<u8>)>,
}

impl QuestionTerms {
    /// Words with their places, in any order; one that is there twice has two places.
    #[must_use]
    pub fn new(mut words: Vec<(u16, Vec<u8>)>) -> QuestionTerms {
        words.sort_unstable();
        words.truncate(MOST_WORDS);
        QuestionTerms { words }
    }

    fn has(&self, word: &[u8]) -> bool {
        self.words.iter().any(|(_, own)| own == word)
    }
}

impl From<Vec<(u16, Vec<u8>)>> for QuestionTerms {
    fn from(words: Vec<(u16, Vec<u8>)>) -> Self {
        QuestionTerms::new(words)
    }
}

impl From<QuestionTerms> for Vec<(u16, Vec<u8>)> {
    fn from(terms: QuestionTerms) -> Self {
        terms.words
    }
}

/// How close the words of a question are in a text; each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Closeness {
    /// Share of the question's words that stand together somewhere.
    pub together: f64,
    /// Share of the question's pairs of neighbours that are neighbours in the text, too.
    pub pairs: f64,
}

/// What the fusion asks of the texts of candidates.
pub trait CandidateTexts {
    /// How close the words of the question are in a chunk's text; 0 where that is not known.
    fn closeness(&self, chunk_id: i64) -> Closeness;

    /// Whether the text of the chunk `best` names what that of another is about.
    fn names(&self, best: i64, other: i64) -> bool;
}

/// The texts of candidates.
#[derive(Debug)]
pub struct ClosenessTexts<T> {
    /// The words that are looked for.
    pub question: QuestionTerms,
    /// Texts by the keys of their chunks.
    pub of: HashMap<i64, T>,
}

impl<T> Default for ClosenessTexts<T> {
    fn default() -> Self {
        ClosenessTexts { question: QuestionTerms::default(), of: HashMap::new() }
    }
}

impl<T: IndexedText> CandidateTexts for ClosenessTexts<T> {
    fn closeness(&self, chunk_id: i64) -> Closeness {
        self.of.get(&chunk_id).map_or_else(Closeness::default, |it| closeness(&self.question, it))
    }

    fn names(&self, best: i64, other: i64) -> bool {
        match (self.of.get(&best), self.of.get(&other)) {
            (Some(of_best), Some(of_other)) if best != other => {
                names(&self.question, of_best, of_other.opening(OPENING))
            }
            _ => false,
        }
    }
}

/// The words of a text with their places, for a reader who does not have the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(Vec<u8>, u16)>")]
pub struct PlacedWords(
    /// By words, and those of one word by places.
    Vec<(Vec<u8>, u16)>,
);

impl From<Vec<(Vec<u8>, u16)>> for PlacedWords {
    fn from(mut words: Vec<(Vec<u8>, u16)>) -> Self {
        words.sort_unstable();
        PlacedWords(words)
    }
}

impl PlacedWords {
    /// The words of `text`.
    #[must_use]
    pub fn new<T: IndexedText>(text: &T) -> PlacedWords {
        let words = text.opening(u16::MAX).into_iter();
        words.map(|(place, word)| (word.to_vec(), place)).collect::<Vec<_>>().into()
    }

    /// Whether it can be the words of a text: no tsvector has more.
    #[must_use]
    pub fn is_plausible(&self) -> bool {
        self.0.len() <= MOST_PLACES
    }
}

impl IndexedText for PlacedWords {
    fn places(&self, word: &[u8]) -> Vec<u16> {
        let first = self.0.partition_point(|(own, _)| &own[..] < word);
        let same = self.0[first..].iter().take_while(|(own, _)| own == word);
        same.map(|(_, place)| *place).collect()
    }

    fn opening(&self, last: u16) -> Vec<(u16, &[u8])> {
        let all = self.0.iter().filter(|(_, place)| *place <= last);
        all.map(|(word, place)| (*place, &word[..])).collect()
    }
}

/// How a text matches a question, for a reader who does not have the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchedText {
    /// How close the question's words are in it.
    closeness: Closeness,
    /// The words that it begins with, each with its place.
    opening: Vec<(u16, Vec<u8>)>,
}

impl MatchedText {
    /// How `text` matches `question`.
    #[must_use]
    pub fn new<T: IndexedText>(question: &QuestionTerms, text: &T) -> MatchedText {
        let mut opening = text.opening(OPENING);
        opening.sort_unstable();
        let opening = opening.into_iter().take(MOST_OPENING);
        MatchedText {
            closeness: closeness(question, text),
            opening: opening.map(|(place, word)| (place, word.to_vec())).collect(),
        }
    }

    /// Whether it can be what [`new`](Self::new) makes.
    #[must_use]
    pub fn is_plausible(&self) -> bool {
        let shares = [self.closeness.together, self.closeness.pairs];
        self.opening.len() <= MOST_OPENING && shares.iter().all(|it| (0.0..=1.0).contains(it))
    }
}

/// The texts of candidates, of which only the best is at hand.
#[derive(Debug)]
pub struct RemoteTexts {
    /// The words that are looked for.
    pub question: QuestionTerms,
    /// How texts match, by the keys of their chunks.
    pub of: HashMap<i64, MatchedText>,
    /// The key of the best chunk, and its text; `None` where it is not known yet, and then it names no other.
    pub best: Option<(i64, PlacedWords)>,
}

impl CandidateTexts for RemoteTexts {
    fn closeness(&self, chunk_id: i64) -> Closeness {
        self.of.get(&chunk_id).map_or_else(Closeness::default, |it| it.closeness)
    }

    fn names(&self, best: i64, other: i64) -> bool {
        match (&self.best, self.of.get(&other)) {
            (Some((chunk_id, text)), Some(of_other)) if *chunk_id == best && best != other => {
                let opening = of_other.opening.iter().map(|(place, word)| (*place, &word[..]));
                names(&self.question, text, opening.collect())
            }
            _ => false,
        }
    }
}

fn closeness<T: IndexedText>(question: &QuestionTerms, text: &T) -> Closeness {
    let mut words: Vec<&[u8]> = question.words.iter().map(|(_, word)| &word[..]).collect();
    words.sort_unstable();
    words.dedup();
    let places: Vec<Vec<u16>> = words.iter().map(|word| text.places(word)).collect();
    let of = |word: &[u8]| words.binary_search(&word).map_or(&[][..], |at| &places[at][..]);
    let neighbours = question.words.windows(2);
    let shared = neighbours.clone().filter(|pair| {
        let [(first, word), (second, next)] = pair else { return false };
        stand_so(of(word), of(next), second - first)
    });
    Closeness {
        together: share(most_together(&places), words.len()),
        pairs: share(shared.count(), neighbours.len()),
    }
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// Whether one of the places in `next` is `gap` behind one of `first`.
fn stand_so(first: &[u16], next: &[u16], gap: u16) -> bool {
    first.iter().any(|place| next.binary_search(&place.saturating_add(gap)).is_ok())
}

/// The most words that stand together, given the places of each.
fn most_together(places: &[Vec<u16>]) -> usize {
    let mut all: Vec<(u16, usize)> = Vec::new();
    for (word, places) in places.iter().enumerate() {
        all.extend(places.iter().map(|place| (*place, word)));
    }
    all.sort_unstable();
    let (mut counts, mut start, mut within, mut most) = (vec![0_u32; places.len()], 0, 0, 0);
    for (place, word) in &all {
        within += usize::from(counts[*word] == 0);
        counts[*word] += 1;
        while all[start].0 + TOGETHER < *place {
            let gone = all[start].1;
            counts[gone] -= 1;
            within -= usize::from(counts[gone] == 0);
            start += 1;
        }
        most = most.max(within);
    }
    most
}

/// Whether `best` has a pair of neighbours of the `opening` of another text that is not the question's.
///
/// What has all of them is the text before, of which the other repeats the end; and what both begin
/// with is the title of a document or the heading that they are under.
fn names<T: IndexedText>(
    question: &QuestionTerms,
    best: &T,
    mut opening: Vec<(u16, &[u8])>,
) -> bool {
    opening.sort_unstable();
    let own = best.opening(OPENING);
    let (mut repeats, mut names) = (true, false);
    for pair in opening.windows(2) {
        let [(first, word), (second, next)] = pair else { continue };
        let is_there = stand_so(&best.places(word), &best.places(next), second - first);
        let is_title = own.contains(&(*first, *word)) && own.contains(&(*second, *next));
        let is_asked = question.has(word) && question.has(next);
        repeats &= is_there;
        names |= first < second && is_there && !is_title && !is_asked;
    }
    names && !repeats
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A text of words by their places: the naive twin of a tsvector.
    #[derive(Clone, Debug)]
    pub struct Plain(Vec<(u16, Vec<u8>)>);

    impl Plain {
        /// Its words are separated by spaces; `-` is a word that is not indexed.
        pub fn new(text: &str) -> Plain {
            Plain(words(text))
        }
    }

    impl IndexedText for Plain {
        fn places(&self, word: &[u8]) -> Vec<u16> {
            self.0.iter().filter(|(_, own)| own == word).map(|(place, _)| *place).collect()
        }

        fn opening(&self, last: u16) -> Vec<(u16, &[u8])> {
            let all = self.0.iter().filter(|(place, _)| *place <= last);
            all.map(|(place, word)| (*place, &word[..])).collect()
        }
    }

    fn words(text: &str) -> Vec<(u16, Vec<u8>)> {
        let all = (1..).zip(text.split(' ')).filter(|(_, word)| *word != "-");
        all.map(|(place, word)| (place, word.as_bytes().to_vec())).collect()
    }

    /// What is known of texts, whose chunks are numbered from 1.
    pub fn texts(question: &str, all: &[&str]) -> ClosenessTexts<Plain> {
        let of = (1..).zip(all).map(|(chunk_id, text)| (chunk_id, Plain::new(text))).collect();
        ClosenessTexts { question: QuestionTerms::new(words(question)), of }
    }

    #[test]
    fn words_are_close_or_not() {
        let check = |question: &str, text: &str, together: f64, pairs: f64| {
            let found = texts(question, &[text]).closeness(1);
            assert_eq!(found, Closeness { together, pairs }, "{question} in {text}");
        };
        check("iron gall ink", "they made iron gall ink", 1.0, 1.0);
        check("iron gall ink", "ink gall iron", 1.0, 0.0);
        check("iron gall ink", "gall ink", 2.0 / 3.0, 0.5);
        check("iron gall ink", "soot", 0.0, 0.0);
        // What is left out between two words must be left out in the text, or be another word.
        check("colour - ink", "colour of ink", 1.0, 1.0);
        check("colour - ink", "colour ink", 1.0, 0.0);
        check("ink", "ink", 1.0, 0.0);
        check("-", "ink", 0.0, 0.0);
        // A word that the question has twice is one word, in two pairs.
        check("ink on ink", "ink on soot", 1.0, 0.5);
        let far = |gap: usize| format!("iron{} ink", " -".repeat(gap));
        check("iron ink", &far(29), 1.0, 0.0);
        check("iron ink", &far(30), 0.5, 0.0);
        assert_eq!(texts("ink", &[]).closeness(1), Closeness::default());
        let long = format!("{}iron", "ink ".repeat(MOST_WORDS));
        check(&long, "iron", 0.0, 0.0);
    }

    #[test]
    fn the_best_text_names_another() {
        let check = |best: &str, other: &str, expected: bool| {
            let texts = texts("mayor of town ink - invented", &[best, other]);
            assert_eq!(texts.names(1, 2), expected, "{best} | {other}");
        };
        let best = "ink was invented in new york - long ago";
        check(best, "new york is a town", true);
        check(best, "the city new york is a town", true);
        check(best, "new places in york", false);
        check(best, "- many towns - there - - such as new york", false);
        // The question has these words itself.
        check("who invented ink invented it well", "ink invented by somebody", false);
        // The other one begins with the end of this one.
        check(best, "new york - long ago", false);
        // Both are under one heading.
        check("new york press ink in new york", "new york post soot", false);
        assert!(!texts("ink", &["new york new york"]).names(1, 1), "it names itself");
        assert!(!texts("ink", &["new york"]).names(1, 2), "it names what is not known");
    }

    /// The most words within a stretch that begins at any place.
    fn naive(places: &[Vec<u16>]) -> usize {
        let within = |start: u16| {
            let is_near = |place: &u16| (start..=start + TOGETHER).contains(place);
            places.iter().filter(|of_word| of_word.iter().any(is_near)).count()
        };
        (0..200).map(within).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn the_stretch_with_most_words_is_found(
            places in prop::collection::vec(prop::collection::btree_set(1_u16..150, 0..8), 0..6),
        ) {
            let places: Vec<Vec<u16>> =
                places.into_iter().map(|of_word| of_word.into_iter().collect()).collect();
            prop_assert_eq!(most_together(&places), naive(&places));
        }
    }
}
