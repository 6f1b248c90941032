//! # choice: which pieces make the answer?
//!
//! ```text
//! candidates, best first → the best, and others that add to it, in reading order from the best one's passage on
//! ```
//!
//! One piece answers most questions. Another is quoted with it if it is about as good, or holds a word of
//! the question that none before it holds, or stands with it under the very question that is asked; but nothing twice, no code that no sentence announces, no
//! announcement of what is not there, no code twice, no row beside the one that names what is asked for, nothing of which a
//! reader says that it hardly answers or that it has not read, and a sentence that takes up what another said only with that. An item of a numbered list brings the list.
//! Where the question asks why and the best piece does not say so, the sentence beside it that does is chosen next, whatever its score.

use std::cmp::Reverse;

use super::antecedent::{Antecedent, antecedent};
use super::candidates::{Candidates, UnitCandidate};
use super::headline::Headline;
use super::part::{PartKind, UnitPart};
use super::reason::{follows_from_reason, gives_reason, holds_reason};
use super::repetition::is_repeated;
use super::unit::Unit;
use super::{ExtractOptions, ExtractPassage};
use crate::embed::reader::SpanScores;

/// How much more of a term of the question a piece has to hold to add it.
pub(super) const ADDED_CREDIT: f32 = 0.3;

/// Least log odds that a further piece answers, where a reader has read it.
const LEAST_FURTHER: f32 = -5.0;

/// How much of what a reader prefers the best piece by, in log odds, a further one is farther from it than the scores say, and
/// how much nearer one of its passage is. Chosen by hand on all questions of XQuAD.
const READ_SHARE: f32 = 0.25;
const SAME_PASSAGE: f32 = 0.5;

/// Longest list of names that is quoted whole where two of them are chosen, in characters.
const LONGEST_NAMES: usize = 350;

/// A piece of the answer.
#[derive(Clone, Debug)]
pub(super) struct ChosenUnit<'a> {
    /// Index of its passage.
    pub passage: usize,
    /// What is shown.
    pub unit: &'a Unit,
    /// Whether the heading that it stands under is shown before it, as that says what is asked for.
    pub is_headed: bool,
    /// That heading, or the one above it that says so.
    pub headline: Option<&'a Headline>,
    /// Indexes of the candidates that it stands for.
    pub first: usize,
    /// The last of them.
    pub last: usize,
    /// The score of the candidate that it was chosen for.
    pub score: f32,
}

impl<'a> ChosenUnit<'a> {
    /// The candidate at `index` by itself, without its list.
    pub fn of(candidates: &'a Candidates, index: usize) -> ChosenUnit<'a> {
        let UnitCandidate { passage, unit, headline, .. } = &candidates.all[index];
        let (passage, headline) = (*passage, headline.as_ref());
        let (first, last) = (index, index);
        ChosenUnit { passage, unit, is_headed: false, headline, first, last, score: 0.0 }
    }

    /// Whether what it stands under is what it begins with, as it would say too little alone.
    pub fn begins_with_headline(&self) -> bool {
        let first = self.unit.parts.first().map(|it| &it.range);
        matches!(self.headline, Some(Headline::InText(range)) if first == Some(range))
    }
}

/// The pieces of an answer in reading order, those of the best one's passage first. `order` has the indexes of the candidates, best first.
pub(super) fn choose<'a>(
    candidates: &'a Candidates,
    passages: &'a [ExtractPassage],
    (scores, read): (&[f32], &[Option<SpanScores>]),
    order: &[usize],
    options: &ExtractOptions,
) -> Vec<ChosenUnit<'a>> {
    let mut choice = UnitChoice { candidates, passages, chosen: Vec::new(), kept: 1 };
    let (most, scored) = (options.max_sentences.max(1), ScoredUnits::new(candidates, scores, read));
    let (best, others) = order.split_first().map_or((None, order), |it| (Some(*it.0), it.1));
    if let Some(best) = best {
        choice.add(best, scores[best]);
        choice.add_reason(scores[best], most);
    }
    for (&index, best) in others.iter().zip(best.into_iter().cycle()) {
        let distance = scored.distance(index, best);
        let is_close = distance <= options.close_margin;
        if choice.chosen.len() < most && distance <= options.margin && choice.adds(index, is_close)
        {
            choice.add_with_antecedent(index, scores[index], options.max_sentences);
        }
    }
    if let Some(best) = choice.chosen.first() {
        choice.add_antecedent(best.first, best.score, most);
    }
    let passage = choice.chosen.first().map_or(0, |best| best.passage);
    choice.gather_names();
    choice.chosen.sort_by_key(|it| {
        (it.passage != passage, it.passage, it.unit.range().start, Reverse(it.last))
    });
    choice.chosen
}

/// The candidates with their scores and what a reader says of them.
struct ScoredUnits<'a> {
    candidates: &'a Candidates<'a>,
    scores: &'a [f32],
    read: &'a [Option<SpanScores>],
    has_read: bool,
}

impl<'a> ScoredUnits<'a> {
    fn new(
        candidates: &'a Candidates<'a>,
        scores: &'a [f32],
        read: &'a [Option<SpanScores>],
    ) -> ScoredUnits<'a> {
        let has_read = read.iter().any(Option::is_some);
        ScoredUnits { candidates, scores, read, has_read }
    }

    /// How far the candidate `index` is below the `best` one, in log odds; not at all where both are what a page answers to the very
    /// question. What a reader says hardly answers is out of reach, and so is
    /// what it has not read where it has read any: it was sure of another piece, or this one promised less.
    fn distance(&self, index: usize, best: usize) -> f32 {
        let gap = self.scores[best] - self.scores[index];
        let (own, of_best) = (&self.candidates.all[index], &self.candidates.all[best]);
        let is_near = own.passage == of_best.passage;
        let is_same_answer =
            own.is_of_asked_answer && is_near && own.unit.under == of_best.unit.under;
        if is_same_answer && (self.read[index].is_some() || !self.has_read) {
            return 0.0;
        }
        match (&self.read[best], &self.read[index]) {
            (_, None) if self.has_read => f32::INFINITY,
            (_, None) => gap,
            (_, Some(own)) if own.evidence < LEAST_FURTHER => f32::INFINITY,
            (of_best, Some(own)) => {
                let of_best = of_best.map_or(own.evidence, |it| it.evidence);
                let preferred = READ_SHARE * (of_best - own.evidence);
                gap + preferred - if is_near { SAME_PASSAGE } else { 0.0 }
            }
        }
    }
}

struct UnitChoice<'a> {
    candidates: &'a Candidates<'a>,
    passages: &'a [ExtractPassage<'a>],
    chosen: Vec<ChosenUnit<'a>>,
    /// How many of the first of them give way to none: the best one, and the reason for it.
    kept: usize,
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
            && candidate.announcement.is_none()
            && !self.is_of_another_name(candidate)
            && !self.is_other_row(candidate)
            && !self.is_there(index)
            && !self.has_code_of(candidate)
    }

    /// Whether it lacks a name that programs know, of which the question is or for which it asks, and the best piece has it.
    fn is_of_another_name(&self, candidate: &UnitCandidate) -> bool {
        let best = self.chosen.first();
        candidate.lacked_name.is_some()
            && best.is_some_and(|it| self.candidates.all[it.first].lacked_name.is_none())
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

    /// Whether it was chosen, as it stands, in other places with the same words or nearly so, or as a part of more.
    fn is_there(&self, index: usize) -> bool {
        let candidate = &self.candidates.all[index];
        let unit = shown(candidate);
        let text = |passage: usize, unit: &Unit| unit.shown(self.passages[passage].content);
        let own = text(candidate.passage, unit);
        // Code may be what a piece has over another that says the same.
        let has_code = unit.code(self.passages[candidate.passage].content).next().is_some();
        self.chosen.iter().any(|it| {
            let (one, other) = (it.unit.range(), unit.range());
            let overlaps =
                it.passage == candidate.passage && one.start < other.end && other.start < one.end;
            let said = text(it.passage, it.unit);
            overlaps || said.contains(&own) || !has_code && is_repeated(&own, &said)
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
        let chosen = ChosenUnit { score, ..ChosenUnit::of(self.candidates, index) };
        let is_headed = candidate.is_headed;
        self.put(shown(candidate), ChosenUnit { is_headed, ..chosen });
    }

    /// Adds `unit`, of which `chosen` is.
    fn put(&mut self, unit: &'a Unit, chosen: ChosenUnit<'a>) {
        let passage = chosen.passage;
        let range = unit.range();
        let is_of_it = |at: &usize| {
            let other = self.candidates.all[*at].unit.range();
            range.start <= other.start && other.end <= range.end
        };
        let siblings = self.candidates.of_passage[passage].clone();
        let first = siblings.clone().find(is_of_it).unwrap_or(chosen.first);
        let last = siblings.rev().find(is_of_it).unwrap_or(chosen.last);
        self.chosen.push(ChosenUnit { unit, first, last, ..chosen });
    }

    /// Puts a short list of names in the place of two or more of them: what is in a box is not told by three of its five things.
    fn gather_names(&mut self) {
        let lists: Vec<Option<&'a Unit>> = self.chosen.iter().map(|it| self.names(it)).collect();
        let is_same = |one: usize, other: usize| match (lists[one], lists[other]) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            _ => false,
        };
        let names_headline = |it: &ChosenUnit| it.is_headed || it.begins_with_headline();
        let headed: Vec<bool> = self.chosen.iter().map(names_headline).collect();
        for (at, mut chosen) in std::mem::take(&mut self.chosen).into_iter().enumerate() {
            let of_list: Vec<usize> = (0..lists.len()).filter(|it| is_same(at, *it)).collect();
            match (lists[at], of_list.first()) {
                (Some(list), Some(first)) if of_list.len() > 1 && *first == at => {
                    chosen.is_headed = of_list.iter().any(|it| headed[*it]);
                    self.put(list, chosen);
                }
                (Some(_), Some(_)) if of_list.len() > 1 => {}
                _ => self.chosen.push(chosen),
            }
        }
    }

    /// The list of which `chosen` is an item, if it is short and has nothing but names.
    fn names(&self, chosen: &ChosenUnit) -> Option<&'a Unit> {
        let candidate = &self.candidates.all[chosen.first];
        let list = candidate.unit.bullets.as_deref()?;
        let content = self.passages[chosen.passage].content;
        let is_name = |part: &UnitPart| {
            let words = part.words(content, true);
            part.is_inline(&words) && !words.contains([':', '：'])
        };
        let mut items = list.parts.iter().filter(|it| it.kind != PartKind::Sentence);
        let is_short = content[list.range()].chars().count() <= LONGEST_NAMES;
        let is_item = std::ptr::eq(chosen.unit, &candidate.unit);
        (is_item && is_short && items.all(is_name)).then_some(list)
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

    /// Where the question asks why, the sentence of the best one's paragraph that says so: the one before, if the best one says what
    /// follows from that, or the one behind, if the best one gives no reason itself. A score says little of either: the reason for
    /// something need not have a word of it.
    fn add_reason(&mut self, score: f32, most: usize) {
        let Some(best) = self.chosen.first().filter(|_| self.candidates.question.asks_why) else {
            return;
        };
        let content = self.passages[best.passage].content;
        let said = best.unit.shown(content);
        let before = best
            .first
            .checked_sub(1)
            .filter(|before| self.is_followed(*before, best.first) && follows_from_reason(&said));
        let (last, behind) = (best.last, best.last + 1);
        let is_reason = |behind: &usize| {
            self.is_followed(last, *behind)
                && gives_reason(&self.candidates.all[*behind].unit.shown(content))
                && !holds_reason(&said)
        };
        let is_quotable = |index: &usize| {
            let candidate = &self.candidates.all[*index];
            !candidate.unit.is_code() && candidate.announcement.is_none() && !self.is_there(*index)
        };
        let behind = || Some(behind).filter(is_reason).filter(is_quotable);
        let reason = before.filter(is_quotable).or_else(behind);
        if let Some(reason) = reason.filter(|_| self.chosen.len() < most) {
            self.add(reason, score);
            self.kept = self.chosen.len();
        }
    }

    /// Whether the candidate `next` goes on in the paragraph of the one at `index`.
    fn is_followed(&self, index: usize, next: usize) -> bool {
        let candidate = &self.candidates.all[index];
        self.candidates.of_passage[candidate.passage].contains(&next) && {
            let unit = &self.candidates.all[next].unit;
            unit.follows && unit.under == candidate.unit.under
        }
    }

    /// The sentence before the best one, where that takes up what it says; of several pieces, the last gives way where there are `most`,
    /// unless it is the reason for the best one.
    fn add_antecedent(&mut self, index: usize, score: f32, most: usize) {
        let candidate = &self.candidates.all[index];
        let takes_up = antecedent(candidate) == Antecedent::Statement && candidate.unit.follows;
        let has_before = index > self.candidates.of_passage[candidate.passage].start;
        if !takes_up || !has_before || self.is_there(index - 1) {
            return;
        }
        if self.chosen.len() > 1 && self.chosen.len() >= most {
            if self.chosen.len() <= self.kept {
                return;
            }
            self.chosen.pop();
        }
        self.add(index - 1, score);
    }
}

/// What is shown of a candidate: of an item of a numbered list, unless it is wanted alone, or of one of a list that is asked for
/// as a whole, the list.
fn shown(candidate: &UnitCandidate) -> &Unit {
    let bullets = candidate.unit.bullets.as_deref().filter(|_| candidate.is_of_asked_list);
    let numbered = candidate.unit.list.as_deref().filter(|_| !candidate.is_alone);
    numbered.or(bullets).unwrap_or(&candidate.unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::candidates::ParsedQuestion;

    #[test]
    fn a_reader_says_how_near_a_piece_is_to_the_best() {
        let passage = ExtractPassage::of;
        let passages = [passage(1, "One pump. Two pumps. Three pumps."), passage(2, "Four pumps.")];
        let question = ParsedQuestion::read("How many pumps?");
        let candidates = Candidates::read(&question, &passages);
        let says = |evidence| Some(SpanScores { evidence, answer: 0.0, relevance: 0.0 });
        let scores = [9.0, 7.0, 7.0, 7.0];
        let distance = |read: &[Option<SpanScores>], index| {
            ScoredUnits::new(&candidates, &scores, read).distance(index, 0)
        };
        assert_eq!(distance(&[None; 4], 1), 2.0);
        let read = [says(4.0), says(0.0), None, says(0.0)];
        assert_eq!(distance(&[says(4.0), says(-6.0), None, None], 1), f32::INFINITY);
        assert_eq!(distance(&read, 1), 2.0 + 1.0 - SAME_PASSAGE);
        assert_eq!(distance(&read, 2), f32::INFINITY);
        assert_eq!(distance(&read, 3), 3.0);
        assert_eq!(distance(&[None, None, says(4.0), None], 1), f32::INFINITY);
    }
}
