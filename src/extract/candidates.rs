//! # candidates: which words of the question does each piece hold?
//!
//! ```text
//! (question, passages) → units with a credit for each term of the question
//! ```

use std::ops::Range;

use super::ExtractPassage;
use super::answer_type::{AnswerType, asked};
use super::terms::{QuestionWords, compared, term_credit};
use super::units::{Unit, units};
use crate::text::words::{Word, words};

/// A question and its words.
#[derive(Debug)]
pub(super) struct ParsedQuestion {
    /// The question as it was asked.
    pub text: String,
    /// All its words, the first `MOST_WORDS` of them.
    pub words: Vec<Word>,
    /// The words that carry the question, each once, in its order.
    pub terms: Vec<Word>,
    /// For each word, which term it is part of.
    pub term_of: Vec<Option<usize>>,
    /// For each word, whether it asks.
    pub asks: Vec<bool>,
    /// What it asks for.
    pub asked: AnswerType,
}

impl ParsedQuestion {
    /// Reads the words of `text`.
    pub fn read(text: &str) -> ParsedQuestion {
        let QuestionWords { words, terms, term_of, asks } = QuestionWords::read(text, MOST_WORDS);
        let asked = asked(&words);
        ParsedQuestion { text: text.to_string(), words, terms, term_of, asks, asked }
    }
}

/// Words of a question that are compared with those of each sentence; more is no question.
const MOST_WORDS: usize = 2000;

/// A unit of a passage and what it shares with the question.
#[derive(Debug)]
pub(super) struct UnitCandidate {
    /// Index of its passage.
    pub passage: usize,
    /// Where it stands in the passage.
    pub unit: Unit,
    /// What is judged of it.
    pub reading: String,
    /// For each term, from 0 to 1, how well some word of it stands for the term.
    pub credits: Vec<f32>,
    /// How closely neighbouring terms stand together in it: the mean of 1 over their
    /// distance in words.
    pub closeness: f32,
    /// Whether it holds the kind of thing that is asked for; `None` if that is not known.
    pub fits: Option<bool>,
}

/// Everything that may be evidence, passage by passage.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    /// What they are candidates for.
    pub question: &'a ParsedQuestion,
    /// The candidates, in reading order.
    pub all: Vec<UnitCandidate>,
    /// For each passage, the indexes of its candidates.
    pub of_passage: Vec<Range<usize>>,
    /// For each passage and term, the best credit of its candidates and its heading.
    pub passage_credits: Vec<Vec<f32>>,
}

impl<'a> Candidates<'a> {
    /// Reads the passages with the question in mind.
    pub fn read(question: &'a ParsedQuestion, passages: &[ExtractPassage]) -> Candidates<'a> {
        let mut all = Vec::new();
        let mut of_passage = Vec::new();
        let mut passage_credits = Vec::new();
        for (index, passage) in passages.iter().enumerate() {
            let start = all.len();
            let mut best = heading_credits(question, passage);
            let of_chunk = |unit: &Unit| unit.range().end > passage.lead;
            for unit in units(passage.content).into_iter().filter(of_chunk) {
                let candidate = UnitCandidate::read(question, index, passage, unit);
                for (best, credit) in best.iter_mut().zip(&candidate.credits) {
                    *best = best.max(*credit);
                }
                all.push(candidate);
            }
            of_passage.push(start..all.len());
            passage_credits.push(best);
        }
        Candidates { question, all, of_passage, passage_credits }
    }
}

impl UnitCandidate {
    fn read(
        question: &ParsedQuestion,
        passage: usize,
        source: &ExtractPassage,
        unit: Unit,
    ) -> UnitCandidate {
        let reading = unit.reading(source.content);
        let words = words(&reading);
        let compared = compared(&reading, &words);
        let places: Vec<TermPlaces> =
            question.terms.iter().map(|term| TermPlaces::of(term, &compared)).collect();
        UnitCandidate {
            passage,
            unit,
            reading,
            credits: places.iter().map(|places| places.credit).collect(),
            closeness: closeness(&places),
            fits: question.asked.is_held_by(&words, &question.words),
        }
    }
}

fn heading_credits(question: &ParsedQuestion, passage: &ExtractPassage) -> Vec<f32> {
    let heading = passage.heading.unwrap_or_default();
    let heading = compared(heading, &words(heading));
    question.terms.iter().map(|term| TermPlaces::of(term, &heading).credit).collect()
}

/// Where a term stands in a text.
struct TermPlaces {
    credit: f32,
    at: Vec<usize>,
}

impl TermPlaces {
    fn of(term: &Word, words: &[Word]) -> TermPlaces {
        let mut places = TermPlaces { credit: 0.0, at: Vec::new() };
        for (index, word) in words.iter().enumerate() {
            let credit = term_credit(&term.folded, &word.folded);
            if credit > 0.0 {
                places.credit = places.credit.max(credit);
                places.at.push(index);
            }
        }
        places
    }

    /// Words from a place of `self` to the nearest of `other`, at least 1.
    ///
    /// Both lists are sorted: whichever place is behind is moved on.
    fn distance(&self, other: &TermPlaces) -> Option<usize> {
        let (mut i, mut j) = (0, 0);
        let mut nearest = None;
        while let (Some(&a), Some(&b)) = (self.at.get(i), other.at.get(j)) {
            let distance = a.abs_diff(b).max(1);
            nearest = Some(nearest.map_or(distance, |nearest: usize| nearest.min(distance)));
            if a < b { i += 1 } else { j += 1 }
        }
        nearest
    }
}

fn closeness(places: &[TermPlaces]) -> f32 {
    let pairs = places.windows(2).map(|pair| pair[0].distance(&pair[1]));
    let sum: f32 = pairs.map(|distance| distance.map_or(0.0, |words| 1.0 / words as f32)).sum();
    sum / places.len().saturating_sub(1).max(1) as f32
}
