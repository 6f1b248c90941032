//! # choice: which pieces make the answer?
//!
//! ```text
//! candidates, best first → the best, and others that add to it, in reading order from the best one's passage on
//! ```
//!
//! One piece answers most questions. Another is quoted with it if it is about as good, or holds a word of
//! the question that none before it holds; but nothing twice, no code that no sentence announces, no
//! announcement of what is not there, no code twice, no row beside the one that names what is asked for, nothing of which a reader says that
//! it hardly answers or that it has not read, and a sentence that takes up what another said only with that. An item of a numbered list brings the list.

use std::cmp::Reverse;

use super::antecedent::{Antecedent, antecedent};
use super::candidates::{Candidates, UnitCandidate};
use super::units::Unit;
use super::{ExtractOptions, ExtractPassage};
use crate::embed::reader::SpanScores;

/// How much more of a term of the question a piece has to hold to add it.
pub(super) const ADDED_CREDIT: f32 = 0.3;

/// Least log odds that a further piece answers, where a reader has read it and it adds a term of the question.
const LEAST_ADDING: f32 = -3.0;

/// Least log odds of one that adds none. A piece that is left out by these two holds the answer one time in eight, and
/// stands beside the best one seven times for nothing (XQuAD, Russian and Arabic).
const LEAST_CLOSE: f32 = -2.0;

/// A piece of the answer.
#[derive(Clone, Debug)]
pub(super) struct ChosenUnit<'a> {
    /// Index of its passage.
    pub passage: usize,
    /// What is shown.
    pub unit: &'a Unit,
    /// Indexes of the candidates that it stands for.
    pub first: usize,
    /// The last of them.
    pub last: usize,
    /// The score of the candidate that it was chosen for.
    pub score: f32,
}

/// The pieces of an answer in reading order, those of the best one's passage first. `order` has the indexes of the candidates, best first.
pub(super) fn choose<'a>(
    candidates: &'a Candidates,
    passages: &'a [ExtractPassage],
    (scores, read): (&[f32], &[Option<SpanScores>]),
    order: &[usize],
    options: &ExtractOptions,
) -> Vec<ChosenUnit<'a>> {
    let mut choice = UnitChoice { candidates, passages, chosen: Vec::new() };
    let best = order.first().map_or(0.0, |index| scores[*index]);
    let is_read = read.iter().any(Option::is_some);
    // What a reader has not read, it was not asked, since it was sure of another piece or promised less.
    let may_answer =
        |index: usize, least: f32| read[index].map_or(!is_read, |it| it.evidence >= least);
    for &index in order.iter().take_while(|index| scores[**index] >= best - options.margin) {
        if choice.chosen.len() >= options.max_sentences.max(1) {
            break;
        }
        let is_close =
            scores[index] >= best - options.close_margin && may_answer(index, LEAST_CLOSE);
        if choice.chosen.is_empty() {
            choice.add(index, scores[index]);
        } else if may_answer(index, LEAST_ADDING) && choice.adds(index, is_close) {
            choice.add_with_antecedent(index, scores[index], options.max_sentences);
        }
    }
    if let [only] = choice.chosen.as_slice() {
        choice.add_antecedent(only.first, only.score);
    }
    let passage = choice.chosen.first().map_or(0, |best| best.passage);
    choice.chosen.sort_by_key(|it| {
        (it.passage != passage, it.passage, it.unit.range().start, Reverse(it.last))
    });
    choice.chosen
}

struct UnitChoice<'a> {
    candidates: &'a Candidates<'a>,
    passages: &'a [ExtractPassage<'a>],
    chosen: Vec<ChosenUnit<'a>>,
}

impl<'a> UnitChoice<'a> {
    /// Whether the candidate says something that the chosen ones don't.
    fn adds(&self, index: usize, is_close: bool) -> bool {
        let candidate = &self.candidates.all[index];
        let is_held = |term: usize| {
            let held = self.chosen.iter().flat_map(|it| &self.candidates.all[it.first..=it.last]);
            let held = held.map(|it| it.credits[term]).fold(0.0, f32::max);
            candidate.credits[term] < held + ADDED_CREDIT
        };
        (is_close || !(0..candidate.credits.len()).all(is_held))
            && !candidate.unit.is_code()
            && !candidate.only_announces
            && !self.is_other_row(candidate)
            && !self.is_there(index)
            && !self.has_code_of(candidate)
    }

    /// Whether it is a row of a table of which one was chosen that holds more of the question.
    fn is_other_row(&self, candidate: &UnitCandidate) -> bool {
        let held = |it: &UnitCandidate| it.credits.iter().sum::<f32>();
        let is_better = |it: &ChosenUnit| {
            let chosen = &self.candidates.all[it.first];
            it.unit.is_row()
                && it.passage == candidate.passage
                && held(chosen) > held(candidate) + ADDED_CREDIT
        };
        candidate.unit.is_row() && self.chosen.iter().any(is_better)
    }

    /// Whether it was chosen, as it stands, in other places with the same words, or as a part of more.
    fn is_there(&self, index: usize) -> bool {
        let candidate = &self.candidates.all[index];
        let unit = shown(candidate);
        let text = |passage: usize, unit: &Unit| unit.shown(self.passages[passage].content);
        let own = text(candidate.passage, unit);
        self.chosen.iter().any(|it| {
            let (one, other) = (it.unit.range(), unit.range());
            let overlaps =
                it.passage == candidate.passage && one.start < other.end && other.start < one.end;
            overlaps || text(it.passage, it.unit).contains(&own)
        })
    }

    /// Whether a chosen piece shows the code that the candidate is about.
    fn has_code_of(&self, candidate: &UnitCandidate) -> bool {
        let content = self.passages[candidate.passage].content;
        let code: Vec<&str> = shown(candidate).code(content).collect();
        let has_it = |it: &ChosenUnit| {
            let content = self.passages[it.passage].content;
            code.iter().all(|code| it.unit.code(content).any(|other| other == *code))
        };
        !code.is_empty() && self.chosen.iter().any(has_it)
    }

    fn add(&mut self, index: usize, score: f32) {
        let candidate = &self.candidates.all[index];
        let (passage, unit) = (candidate.passage, shown(candidate));
        let range = unit.range();
        let is_of_it = |at: &usize| {
            let other = self.candidates.all[*at].unit.range();
            range.start <= other.start && other.end <= range.end
        };
        let siblings = self.candidates.of_passage[passage].clone();
        let first = siblings.clone().find(is_of_it).unwrap_or(index);
        let last = siblings.rev().find(is_of_it).unwrap_or(index);
        self.chosen.push(ChosenUnit { passage, unit, first, last, score });
    }

    /// A further piece, if what it takes up is there or comes with it: behind the sentence of another
    /// place "it" would be something else.
    fn add_with_antecedent(&mut self, index: usize, score: f32, most: usize) {
        let candidate = &self.candidates.all[index];
        let before = index
            .checked_sub(1)
            .filter(|it| self.candidates.of_passage[candidate.passage].contains(it));
        let is_there = before.is_some_and(|it| self.is_there(it));
        match (antecedent(candidate), before) {
            (Antecedent::Nothing, _) => self.add(index, score),
            _ if is_there => self.add(index, score),
            (_, Some(before)) if candidate.unit.follows && self.chosen.len() + 2 <= most => {
                self.add(before, score);
                self.add(index, score);
            }
            _ => {}
        }
    }

    /// The sentence before the only one, where that takes up what it says.
    fn add_antecedent(&mut self, index: usize, score: f32) {
        let candidate = &self.candidates.all[index];
        let takes_up = antecedent(candidate) == Antecedent::Statement && candidate.unit.follows;
        if takes_up && index > self.candidates.of_passage[candidate.passage].start {
            self.add(index - 1, score);
        }
    }
}

/// What is shown of a candidate: of an item of a numbered list, the list.
fn shown(candidate: &UnitCandidate) -> &Unit {
    candidate.unit.list.as_deref().unwrap_or(&candidate.unit)
}
