//! # candidates: which words of the question does each piece hold?
//!
//! ```text
//! (question, passages) → units with a credit for each term of the question
//! ```

use std::ops::Range;
use std::rc::Rc;

use super::announcement::AnnouncedBy;
use super::answer_type::{AnswerType, asked, is_version};
use super::beside::{apart, asks_what_is_done, is_told_by_words, leave_references};
use super::definition::{Definiendum, DefinitionWording};
use super::enumeration::{is_asked_for, wants_one_item};
use super::headline::Headline;
use super::identifier::{AskedNames, LackedName, has_word};
use super::markup::plain;
use super::reason::asks_why;
use super::reference::asks_where;
use super::shared_lead::SharedLead;
use super::talk::ChatStart;
use super::term_places::{TermPlaces, closeness};
use super::terms::{QuestionWords, compared, term_credit};
use super::turn::asks_what_to_do;
use super::unit::Unit;
use super::units::units;
use super::when::{tells_date, tells_when};
use super::{ExtractPassage, asked_name};
use crate::chunk::HEADING_SEPARATOR;
use crate::embed::reader::SpanScores;
use crate::text::capitals::without_capitals;
use crate::text::function_word::asks_who;
use crate::text::language::NaturalLanguage;
use crate::text::other_language::AskedLanguage;
use crate::text::phrase::Phrases;
use crate::text::preamble::Preamble;
use crate::text::words::{Word, words};

/// A question and its words.
#[derive(Debug)]
pub(super) struct ParsedQuestion {
    /// The question as it was asked, but for capitals where it is in capitals.
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
    /// The thing whose definition it asks for.
    pub definiendum: Option<Definiendum>,
    /// Whether it asks for a reason.
    pub asks_why: bool,
    /// Whether it asks for a version or a release of something.
    pub asks_for_version: bool,
    /// Whether it asks for what text says and code doesn't: a definition, a reason, somebody, or what happens.
    pub wants_words: bool,
    /// Whether an example below a sentence is no part of the answer.
    pub is_told_by_words: bool,
    /// Whether it is for what to do, which in a chat the one who tells it first does not know.
    pub wants_reply: bool,
}

impl ParsedQuestion {
    /// Reads the words of `text`.
    pub fn read(text: &str) -> ParsedQuestion {
        let text = without_capitals(text);
        let text = &*text;
        let QuestionWords { words, terms, term_of, asks } = QuestionWords::read(text, MOST_WORDS);
        let asked = asked(&words);
        let definiendum = Definiendum::asked(text);
        let mut both = words.iter().zip(&asks);
        let first_asking = both.find(|(_, asks)| **asks).map(|(word, _)| word);
        let asks_why = asks_why(text, first_asking);
        let wants_words = definiendum.is_some()
            || asks_why
            || first_asking.is_some_and(|it| asks_who(&it.folded))
            || UNSPACED_PERSONS.stand_in(text)
            || asks_what_is_done(&words, text);
        let is_told_by_words = is_told_by_words(&words, text, asked, wants_words);
        let asks_for_version = asks.contains(&true) && terms.iter().any(is_version);
        ParsedQuestion {
            asks_why,
            asks_for_version,
            text: text.to_string(),
            words,
            terms,
            term_of,
            asks,
            asked,
            definiendum,
            wants_words,
            is_told_by_words,
            wants_reply: asked == AnswerType::Anything && asks_what_to_do(text),
        }
    }

    /// The pieces of `content`, without code that nobody asked for beside a sentence.
    fn pieces(&self, content: &str) -> Vec<Unit> {
        let all = units(content);
        match self.is_told_by_words {
            true => all.into_iter().flat_map(|unit| apart(unit, content)).collect(),
            false => all,
        }
    }

    /// Whether `text`, which has the `words`, holds the kind of thing that is asked for, and the question does not; `None` where anything
    /// would do.
    pub fn is_fitted_by(&self, text: &str, words: &[Word]) -> Option<bool> {
        let is_held = self.asked.is_held_by(words, &self.words)?;
        Some(is_held || self.asked == AnswerType::Time && tells_when(text, &self.text))
    }

    /// Whether the question `other` asks the same, which holds the terms of this one at `places`: it holds all of them and no others,
    /// and both ask with the same words and have the same others beside ("before" is not "after").
    pub fn is_asked_by(&self, other: &str, places: &[TermPlaces]) -> bool {
        let other = QuestionWords::read(other, MOST_WORDS);
        let is_held =
            |term: &Word| self.terms.iter().any(|own| term_credit(&own.folded, &term.folded) > 0.0);
        let beside = |words: &[Word], term_of: &[Option<usize>]| -> Vec<String> {
            let both = words.iter().zip(term_of);
            both.filter(|(_, term)| term.is_none()).map(|(word, _)| word.folded.clone()).collect()
        };
        places.len() > 1
            && places.iter().all(|it| it.credit > 0.0)
            && other.terms.iter().all(is_held)
            && beside(&self.words, &self.term_of) == beside(&other.words, &other.term_of)
    }

    /// The heading that names the thing asked for, where `unit` says first below it what that is, and how; of the first of a
    /// document also a title. Below a question stands the answer, however it is put.
    fn heading_of<'b>(
        &self,
        unit: &Unit,
        passage: &ExtractPassage<'b>,
        is_first: bool,
    ) -> Option<(&'b str, DefinitionWording)> {
        let thing = self.definiendum.as_ref().filter(|_| unit.opens)?;
        let section = unit.section.clone().map(|range| &passage.content[range]);
        let front_matter = Preamble::of(passage.content).title;
        let above = passage.heading.into_iter().flat_map(|it| it.split(HEADING_SEPARATOR));
        let titles = front_matter.into_iter().chain(above).filter(|_| is_first);
        let heading = section.into_iter().chain(titles).find(|it| thing.is_named_by(it))?;
        let is_answer = Definiendum::asked(heading).map(|_| DefinitionWording::Nameless);
        let wording = thing.said_by(&unit.shown(passage.content)).or(is_answer)?;
        Some((heading, wording))
    }
}

/// Characters of the longest answer below the very question that is asked, of which all is quoted that may be.
const LONGEST_ANSWER: usize = 350;

/// Words of a question that are compared with those of each sentence; more is no question.
const MOST_WORDS: usize = 2000;

/// What asks who in languages that write no spaces.
const UNSPACED_PERSONS: Phrases = Phrases {
    spaced: &[],
    unspaced: &[
        (NaturalLanguage::Chinese, "谁, 誰, 什么人, 什麼人, 哪位"),
        (NaturalLanguage::Japanese, "誰, だれ, どなた"),
    ],
};

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
    /// Whether it is shown with what it stands under, as the piece does not hold that: a date or a version that is asked for, or the
    /// name of the option that it is about.
    pub is_headed: bool,
    /// What it stands under, as far as it may be shown with that.
    pub headline: Option<Headline>,
    /// By what it only announces what comes next, which is no part of it; `None` where it says something itself.
    pub announcement: Option<AnnouncedBy>,
    /// The name of a program that it lacks and another has: it is about something else, or does not say which.
    pub lacked_name: Option<LackedName>,
    /// Where it defines the thing asked for, what it is without that.
    pub definition: Option<DefinitionCredit>,
    /// Whether it stands under the very question that is asked: all that does is the answer.
    pub is_of_asked_answer: bool,
    /// Whether it is an item of a list, or a row of a table, and what stands above that holds all that is asked: the whole is the answer.
    pub is_of_asked_list: bool,
    /// Whether it is an item of a numbered list of which the question wants one alone.
    pub is_alone: bool,
}

/// What a candidate that defines the thing asked for is credited with besides its own words.
#[derive(Debug)]
pub(super) struct DefinitionCredit {
    wording: DefinitionWording,
    /// The heading above it that names the thing, without markup.
    heading: String,
    /// Of the candidate's own words.
    credits: Vec<f32>,
    /// Of the candidate's own words.
    closeness: f32,
}

/// Log odds by which a reader may prefer another piece to a definition without the name. Where it names another as better by
/// more than that, the sentence gives context or goes into detail. Chosen by hand with manuals of two projects.
const MOST_DOUBT: f32 = 2.5;

/// Log odds by which a reader has to prefer a sentence with a colon at its end to any other piece for it to say something itself:
/// "In his book of 1937, he wrote:".
const MORE_THAN_ANY: f32 = 1.0;

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
    /// For each passage, whether it is certainly in another language than the question, and shares no words with it however
    /// well it answers.
    pub are_foreign: Vec<bool>,
}

impl<'a> Candidates<'a> {
    /// Reads the passages with the question in mind.
    pub fn read(question: &'a ParsedQuestion, passages: &[ExtractPassage]) -> Candidates<'a> {
        let mut all = Vec::new();
        let mut of_passage = Vec::new();
        let mut passage_credits = Vec::new();
        let names = AskedNames::of(&question.text, passages);
        let asks_where = asks_where(&question.words, &question.text);
        for (index, passage) in passages.iter().enumerate() {
            let start = all.len();
            let mut best = heading_credits(question, passage);
            let is_whole = |start: ChatStart| start == ChatStart::Section || passage.is_beginning;
            let asks_others =
                |unit: &Unit| question.wants_reply && unit.opens_talk.is_some_and(is_whole);
            let of_chunk = |unit: &Unit| unit.range().end > passage.lead && !asks_others(unit);
            let mut is_first = passage.is_beginning;
            // The list that was read last, and whether it is what is asked for: its items follow each other.
            let mut list: Option<(Rc<Unit>, bool)> = None;
            let mut above = SharedLead::default();
            for mut unit in question.pieces(passage.content).into_iter().filter(of_chunk) {
                let heading = question.heading_of(&unit, passage, is_first);
                is_first &= !unit.opens;
                list = unit.bullets.clone().map(|it| match &list {
                    Some((last, is_asked)) if Rc::ptr_eq(last, &it) => (it, *is_asked),
                    _ => {
                        let is_asked = is_asked_for(&question.terms, &it, passage);
                        (it, is_asked)
                    }
                });
                let is_of_asked_list = list.as_ref().is_some_and(|(_, is_asked)| *is_asked);
                let brings_list = unit.parts.len() > 1 && unit.bullets.is_none();
                let wants_references = asks_where
                    || is_of_asked_list
                    || brings_list && is_asked_for(&question.terms, &unit, passage);
                if !wants_references {
                    leave_references(&mut unit, passage.content);
                }
                let mut candidate = UnitCandidate::read(question, index, passage, unit);
                candidate.is_of_asked_list = is_of_asked_list;
                candidate.is_alone = wants_one_item(question, &candidate.unit, passage);
                let row = candidate.unit.is_row().then_some(candidate.reading.as_str());
                candidate.lacked_name = names.lacked_by(index, row);
                if wants_references {
                    candidate.announcement.take_if(|it| *it == AnnouncedBy::Reference);
                }
                above.go_to(question, passage, &candidate.unit);
                candidate.stand_under(&above);
                candidate.take_headline(question, &above, passage.content);
                if let Some((heading, wording)) = heading {
                    candidate.define(heading, wording);
                }
                for (best, credit) in best.iter_mut().zip(&candidate.credits) {
                    *best = best.max(*credit);
                }
                all.push(candidate);
            }
            leave_long_answers(&mut all[start..], passage.content);
            of_passage.push(start..all.len());
            passage_credits.push(best);
        }
        asked_name::judge(&mut all, passages, &question.words, &question.text);
        let language = AskedLanguage::of(&question.text);
        let is_foreign = |it: &ExtractPassage| {
            language.is_certainly_not_of(it.content.get(it.lead..).unwrap_or_default())
        };
        let are_foreign = passages.iter().map(is_foreign).collect();
        Candidates { question, all, of_passage, passage_credits, are_foreign }
    }

    /// Takes back what a reader doubts by its scores of each candidate: that a sentence defines the thing without its name, where it
    /// finds another much better or has not read it, and that one with a colon only announces something, where it finds none better.
    pub fn doubt(&mut self, span_scores: &[Option<SpanScores>]) {
        let evidence = |it: &Option<SpanScores>| it.map(|it| it.evidence);
        let mut all: Vec<f32> = span_scores.iter().filter_map(evidence).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let Some(&best) = all.first() else { return };
        // One that is alone is preferred to nothing.
        let others = all.get(1).copied().unwrap_or(f32::INFINITY);
        for (candidate, scores) in self.all.iter_mut().zip(span_scores) {
            let own = evidence(scores);
            let is_doubted = own.is_none_or(|own| own < best - MOST_DOUBT);
            let is_nameless = |it: &mut DefinitionCredit| it.wording == DefinitionWording::Nameless;
            if is_doubted && let Some(own) = candidate.definition.take_if(is_nameless) {
                (candidate.credits, candidate.closeness) = (own.credits, own.closeness);
            }
            if own.is_some_and(|own| own > others + MORE_THAN_ANY) {
                candidate.announcement.take_if(|it| *it == AnnouncedBy::Colon);
            }
        }
    }
}

impl UnitCandidate {
    /// Whether it only says where something is said.
    pub fn refers(&self) -> bool {
        self.announcement == Some(AnnouncedBy::Reference)
    }

    /// The heading that names what it defines, where it does so without the name.
    pub fn heading_of_definition(&self) -> Option<&str> {
        let definition = self.definition.as_ref()?;
        (definition.wording == DefinitionWording::Nameless).then_some(definition.heading.as_str())
    }

    /// What the heading or the question above says of what is asked, all pieces below it take over, and not the first alone: the
    /// second may say why.
    fn stand_under(&mut self, above: &SharedLead) {
        for (own, credit) in self.credits.iter_mut().zip(&above.credits) {
            *own = own.max(*credit);
        }
        self.closeness = self.closeness.max(above.closeness);
        self.is_of_asked_answer = above.is_asked;
        self.headline.clone_from(&above.headline);
    }

    /// Where `above` says when, which version or of which option, and it does not itself, it is shown with that.
    fn take_headline(&mut self, question: &ParsedQuestion, above: &SharedLead, content: &str) {
        if !above.has_when && !above.has_version && above.name.is_none() {
            return;
        }
        let shown = self.unit.shown(content);
        let is_nameless = |name: &String| !has_word(&shown.to_lowercase(), name);
        self.is_headed = above.name.as_ref().is_some_and(is_nameless);
        let held = words(&shown);
        let is_missing = |kind: AnswerType| kind.is_held_by(&held, &question.words) == Some(false);
        if above.has_when && is_missing(AnswerType::Time) && !tells_date(&shown, &question.text)
            || above.has_version && is_missing(AnswerType::Number)
        {
            self.is_headed = true;
            self.fits = self.fits.map(|_| true);
        }
    }

    /// What the heading names, the sentence below it need not: it counts as if it held all that is asked, side by side.
    fn define(&mut self, heading: &str, wording: DefinitionWording) {
        let (credits, closeness) = (self.credits.clone(), self.closeness);
        let heading = plain(heading);
        if self.unit.lead.is_none() {
            self.reading = format!("{heading}: {}", self.reading);
        }
        self.definition = Some(DefinitionCredit { wording, heading, credits, closeness });
        self.credits.fill(1.0);
        self.closeness = if self.credits.len() > 1 { 1.0 } else { 0.0 };
    }

    fn read(
        question: &ParsedQuestion,
        passage: usize,
        source: &ExtractPassage,
        unit: Unit,
    ) -> UnitCandidate {
        let reading = unit.reading(source.content);
        let of_words = question.wants_words.then(|| unit.reading_of_words(source.content));
        let said = of_words.as_ref().unwrap_or(&reading);
        let words = words(said);
        let compared = compared(said, &words);
        let places: Vec<TermPlaces> =
            question.terms.iter().map(|term| TermPlaces::of(term, &compared)).collect();
        let announcement = unit.announcement(source.content).filter(|_| unit.list.is_none());
        let fits = question.is_fitted_by(said, &words);
        UnitCandidate {
            passage,
            announcement,
            unit,
            reading,
            credits: places.iter().map(|places| places.credit).collect(),
            closeness: closeness(&places),
            fits,
            is_headed: false,
            headline: None,
            lacked_name: None,
            definition: None,
            is_of_asked_answer: false,
            is_of_asked_list: false,
            is_alone: false,
        }
    }
}

/// Takes pieces of a long answer to the question that is asked for as good as others: the best of them says enough.
fn leave_long_answers(of_passage: &mut [UnitCandidate], content: &str) {
    let is_same = |one: &UnitCandidate, next: &UnitCandidate| one.unit.under == next.unit.under;
    for answer in of_passage.chunk_by_mut(is_same) {
        let characters = |it: &UnitCandidate| content[it.unit.range()].chars().count();
        if answer.iter().map(characters).sum::<usize>() > LONGEST_ANSWER {
            answer.iter_mut().for_each(|it| it.is_of_asked_answer = false);
        }
    }
}

fn heading_credits(question: &ParsedQuestion, passage: &ExtractPassage) -> Vec<f32> {
    let heading = passage.heading.unwrap_or_default();
    let heading = compared(heading, &words(heading));
    question.terms.iter().map(|term| TermPlaces::of(term, &heading).credit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colon_is_forgiven_where_the_reader_prefers_the_sentence_to_all_others() {
        let left = |content, evidence: &[f32]| {
            let question = ParsedQuestion::read("What are the fees?");
            let mut candidates = Candidates::read(&question, &[ExtractPassage::of(1, content)]);
            let says =
                |evidence: &f32| SpanScores { evidence: *evidence, answer: 0.0, relevance: 0.0 };
            candidates.doubt(&evidence.iter().map(says).map(Some).collect::<Vec<_>>());
            candidates.all[0].announcement
        };
        let two = "The fees of the year are as follows:\n\nThe club has no other fees.";
        assert_eq!(left(two, &[4.0, 2.0]), None);
        assert_eq!(left(two, &[4.0, 3.5]), Some(AnnouncedBy::Colon));
        assert_eq!(left("The fees of the year are as follows:", &[9.0]), Some(AnnouncedBy::Colon));
        let told = "Let's look at what the fees are.\n\nThe club has no other fees.";
        assert_eq!(left(told, &[4.0, 2.0]), Some(AnnouncedBy::Words));
    }
}
