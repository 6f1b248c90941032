//! Which relations of what a question names are told first?
//!
//! ```text
//! (question, what it names, relations of that) → some of them, the most telling first
//! ```
//!
//! An entity may have thousands, and nobody reads them all. First come those between two entities that the question
//! names, then those whose predicate has a word of the question: "Who worked on Apollo?" asks for `worked_on`. Among
//! these, and among the others, predicates take turns, so that one with many relations leaves room for the rest, and
//! each begins with what most chunks say.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashSet};

use unicode_segmentation::UnicodeSegmentation;

use super::MOST_WORDS;
use crate::graph::name::folded;
use crate::graph::paths::NamedEntity;
use crate::graph::paths::relations::RelationStep;
use crate::text::function_word::is_function_word_of;
use crate::text::inflection::is_same_word;
use crate::text::language::{NaturalLanguage, language};

/// What a relation has to do with a question, the most telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Telling {
    /// The question names both of its entities.
    Both,
    /// The question has a word of its predicate.
    Predicate,
    /// The question names one of its entities, and that is all.
    One,
}

/// At most `most` of the relations of the entities `starts`, which `question` names, the most telling first. One that
/// is found from both of its ends stands once.
#[must_use]
pub fn foremost(
    question: &str,
    starts: &[NamedEntity],
    mut steps: Vec<RelationStep>,
    most: usize,
) -> Vec<RelationStep> {
    let mut seen = HashSet::new();
    steps.retain(|step| identity(step, starts).is_some_and(|it| seen.insert(it)));
    steps.sort_by(|a, b| {
        let by_chunks = group(a).cmp(&group(b)).then(b.chunks.cmp(&a.chunks));
        by_chunks.then_with(|| a.to.norm.cmp(&b.to.norm))
    });
    let norms: HashSet<&str> = starts.iter().map(|it| it.norm.as_str()).collect();
    let asked = asked_predicates(question, &steps);
    let mut ranked: Vec<(Telling, usize, RelationStep)> = Vec::with_capacity(steps.len());
    for step in steps {
        let turn = match ranked.last() {
            Some((_, turn, last)) if group(last) == group(&step) => turn + 1,
            _ => 0,
        };
        let telling = if norms.contains(step.to.norm.as_str()) {
            Telling::Both
        } else if asked.contains(&step.relation.predicate) {
            Telling::Predicate
        } else {
            Telling::One
        };
        ranked.push((telling, turn, step));
    }
    ranked.sort_by_key(|(telling, turn, step)| (*telling, *turn, Reverse(step.chunks)));
    ranked.into_iter().take(most).map(|(.., step)| step).collect()
}

/// What takes turns: the relations of an entity with a predicate in a direction.
fn group(step: &RelationStep) -> (usize, &str, bool) {
    (step.from, &step.relation.predicate, step.relation.is_inverse)
}

/// Subject, predicate, object, and who says it; `None` where it is of none of these entities.
fn identity(step: &RelationStep, starts: &[NamedEntity]) -> Option<[String; 4]> {
    let (from, to) = (starts.get(step.from)?.norm.clone(), step.to.norm.clone());
    let (subject, object) = if step.relation.is_inverse { (to, from) } else { (from, to) };
    Some([subject, step.relation.predicate.clone(), object, step.relation.method.clone()])
}

/// The predicates of `steps` that `question` has a word of.
fn asked_predicates(question: &str, steps: &[RelationStep]) -> HashSet<String> {
    let language = language(question).unwrap_or(NaturalLanguage::English);
    let asked: Vec<String> = words(question).take(MOST_WORDS).map(folded).collect();
    let predicates: BTreeSet<&str> =
        steps.iter().map(|step| step.relation.predicate.as_str()).collect();
    let are_asked = predicates.into_iter().filter(|it| is_asked(it, &asked, language));
    are_asked.map(str::to_owned).collect()
}

/// Whether a predicate has a word that is among those that are `asked`. In scripts without spaces, where each sign is a
/// word here, all of them have to be.
fn is_asked(predicate: &str, asked: &[String], language: NaturalLanguage) -> bool {
    let says_something = |word: &&str| !is_function_word_of(&word.to_lowercase(), Some(language));
    let telling: Vec<String> =
        words(predicate).take(MOST_WORDS).filter(says_something).map(folded).collect();
    let is_there = |word: &String| asked.iter().any(|it| is_same_word(it, word, language));
    let is_long = |word: &&String| word.chars().nth(1).is_some();
    telling.iter().filter(is_long).any(is_there)
        || !telling.is_empty() && telling.iter().all(is_there)
}

/// The words of a question or of a predicate, which may have `_` between them.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split('_').flat_map(UnicodeSegmentation::unicode_words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::paths::CoOccurrence;
    use crate::graph::paths::relations::SaidRelation;
    use crate::graph::relations::named;

    fn entities(names: &[&str]) -> Vec<NamedEntity> {
        names.iter().filter_map(|name| named(name)).collect()
    }

    /// A relation of the entity with this number, which so many chunks say; from its object where "<" stands before the
    /// predicate.
    fn step(from: usize, predicate: &str, to: &str, chunks: i64) -> RelationStep {
        let is_inverse = predicate.starts_with('<');
        RelationStep {
            from,
            from_name: from.to_string(),
            to: named(to).unwrap(),
            relation: SaidRelation {
                predicate: predicate.trim_start_matches('<').to_owned(),
                is_inverse,
                method: "sql".to_owned(),
                span: None,
                words: None,
            },
            chunks,
            proof: CoOccurrence {
                source_key: "1".to_owned(),
                chunk_id: 1,
                chunk_no: 0,
                from: None,
                to: None,
            },
        }
    }

    fn check(question: &str, starts: &[&str], steps: Vec<RelationStep>, expected: &[&str]) {
        let found = foremost(question, &entities(starts), steps, 4);
        let shown = |it: &RelationStep| {
            let sign = if it.relation.is_inverse { "<" } else { "" };
            format!("{sign}{} {}", it.relation.predicate, it.to.name)
        };
        assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected, "{question}");
    }

    fn of_apollo() -> Vec<RelationStep> {
        let mut steps: Vec<RelationStep> =
            (0..50).map(|at| step(0, "uses", &format!("Lib {at:02}"), 1)).collect();
        steps.extend([
            step(0, "<worked_on", "Ada Berg", 1),
            step(0, "<worked_on", "Ben Cole", 3),
            step(0, "<worked_on", "Cleo Diaz", 1),
            step(0, "reviewed_by", "Dora Ek", 1),
        ]);
        steps
    }

    const BY_TURNS: [&str; 4] =
        ["<worked_on Ben Cole", "reviewed_by Dora Ek", "uses Lib 00", "uses Lib 01"];

    #[test]
    fn predicates_take_turns() {
        check("What of Apollo?", &["Apollo"], of_apollo(), &BY_TURNS);
        check("What of Apollo?", &["Apollo"], Vec::new(), &[]);
        check("", &[], of_apollo(), &[]);
    }

    #[test]
    fn a_predicate_that_is_asked_for_comes_first() {
        let worked = [
            "<worked_on Ben Cole",
            "<worked_on Ada Berg",
            "<worked_on Cleo Diaz",
            "reviewed_by Dora Ek",
        ];
        for question in ["Who has worked on Apollo?", "who works at apollo"] {
            check(question, &["Apollo"], of_apollo(), &worked);
        }
        let reviewed = ["reviewed_by Dora Ek", "<worked_on Ben Cole", "uses Lib 00", "uses Lib 01"];
        check("Who reviews Apollo?", &["Apollo"], of_apollo(), &reviewed);
        // "on" and "by" are of many predicates.
        check("What is on Apollo by now?", &["Apollo"], of_apollo(), &BY_TURNS);
        let steps = vec![step(0, "位于", "上海", 1), step(0, "创办", "王五", 1)];
        check("谁创办了阿波罗？", &["阿波罗"], steps, &["创办 王五", "位于 上海"]);
    }

    #[test]
    fn what_connects_two_that_are_asked_about_comes_first_and_once() {
        let mut steps = of_apollo();
        steps.push(step(1, "worked_on", "Apollo", 1));
        steps.push(step(1, "worked_on", "Gemini", 9));
        let starts = entities(&["Apollo", "Ada Berg"]);
        let found = foremost("How are both connected?", &starts, steps, 60);
        let shown: Vec<&str> = found.iter().map(|it| it.to.name.as_str()).take(2).collect();
        assert_eq!((shown, found.len()), (vec!["Ada Berg", "Gemini"], 55));
    }

    #[test]
    fn long_questions_and_predicates_are_read_in_part() {
        let steps = vec![step(0, &"a_".repeat(60), "Ada Berg", 1)];
        let question = "who works on what ".repeat(100_000);
        assert_eq!(foremost(&question, &entities(&["Apollo"]), steps, 20).len(), 1);
    }
}
