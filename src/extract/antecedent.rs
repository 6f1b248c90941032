//! # antecedent: does this sentence stand without the one before it?
//!
//! ```text
//! "This means that …" → no: who reads it alone cannot know what "this" is
//! ```

use super::candidates::{Candidates, ParsedQuestion, UnitCandidate};
use super::choice::ChosenUnit;
use crate::text::words::{Word, each_word};

/// What a sentence takes up of those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Antecedent {
    /// None: it stands by itself.
    Nothing,
    /// Someone or something, by a pronoun: "It", "their". Who asked for it knows what is meant, unless
    /// another sentence stands between.
    Subject,
    /// What was said: "This means", "Otherwise".
    Statement,
}

/// What the first word of `candidate` takes up.
pub(super) fn antecedent(candidate: &UnitCandidate) -> Antecedent {
    let is_one_of = |list: &str, word: &str| list.split(' ').any(|it| it == word);
    match each_word(&candidate.reading).next() {
        Some(first) if is_one_of(STATEMENTS, &first.folded) => Antecedent::Statement,
        Some(first) if is_one_of(SUBJECTS, &first.folded) => Antecedent::Subject,
        _ => Antecedent::Nothing,
    }
}

/// `chosen`, in reading order, without an "It" that reads as something else: behind a sentence of another place,
/// or at the beginning of an answer, where it is what is asked for, or where a number or product code is asked
/// about that its passage does not name and another does. The sentence before comes with it if there is one, of
/// the best piece in the place of the least of the others where there are `most` already. Else the piece goes,
/// unless it is all there is.
pub(super) fn with_subjects<'a>(
    candidates: &'a Candidates<'_>,
    mut chosen: Vec<ChosenUnit<'a>>,
    most: usize,
) -> Vec<ChosenUnit<'a>> {
    let Some(at) = (0..chosen.len()).find(|at| misleads(candidates, &chosen, *at)) else {
        return chosen;
    };
    let ChosenUnit { passage, first, score, .. } = chosen[at];
    let has_before =
        candidates.all[first].unit.follows && first > candidates.of_passage[passage].start;
    let is_best = chosen.iter().all(|it| it.score <= score);
    if !has_before || !is_best && chosen.len() >= most {
        if chosen.len() > 1 {
            chosen.remove(at);
        }
        return chosen;
    }
    let before = first - 1;
    let unit = &candidates.all[before].unit;
    chosen.insert(at, ChosenUnit { passage, unit, first: before, last: before, score });
    let others = (0..chosen.len()).filter(|other| ![at, at + 1].contains(other));
    let least = others.min_by(|a, b| chosen[*a].score.total_cmp(&chosen[*b].score));
    if let Some(least) = least.filter(|_| chosen.len() > most) {
        chosen.remove(least);
    }
    chosen
}

/// Whether the subject of a chosen piece reads as another one.
fn misleads(candidates: &Candidates, chosen: &[ChosenUnit], at: usize) -> bool {
    let ChosenUnit { passage, first, .. } = chosen[at];
    if antecedent(&candidates.all[first]) != Antecedent::Subject {
        return false;
    }
    match at.checked_sub(1).map(|before| &chosen[before]) {
        Some(before) => before.passage != passage,
        None if asks_for_subject(candidates.question) => true,
        None => {
            let held = &candidates.passage_credits;
            let terms = candidates.question.terms.iter().enumerate();
            let mut named = terms.filter(|(_, term)| term.is_number).map(|(term, _)| term);
            let is_of_others =
                |term: usize| held[passage][term] < 1.0 && held.iter().any(|it| it[term] >= 1.0);
            named.any(is_of_others)
        }
    }
}

/// Whether it is someone or something that is asked for, and nothing else is named that a pronoun could stand for: to
/// "Which process holds the model?", "It holds the model" is no answer.
fn asks_for_subject(question: &ParsedQuestion) -> bool {
    let asks = |word: &Word| ASKING_FOR_SUBJECTS.split(' ').any(|it| it == word.folded);
    question.words.first().is_some_and(asks)
        && !question.terms.iter().any(|it| it.is_name || it.is_number)
}

const ASKING_FOR_SUBJECTS: &str = "who which wer welcher welche welches qui quel quelle quién quien cuál cual quem qual \
    chi quale welke kto który która które кто какой какая какое который 谁 哪个";

const SUBJECTS: &str = "it its they their he his she her er sie es seine ihre il ils elle elles lui leur él ella \
    ellos ellas ele ela eles elas egli esso essi hij zij het on ona ono oni он она оно они его её их 它 他 她 它们 他们";

const STATEMENTS: &str = "this that these those such thus therefore hence otherwise however instead consequently \
    then so also but dies dieser diese dieses dadurch deshalb daher darum dabei damit dann sonst stattdessen jedoch \
    cela ceci cette donc sinon alors cependant esto eso este esta estos así entonces isso isto assim então questo \
    questa quindi or and oder und ou ni o y e ed или и dit deze dus daarom это этот эта эти поэтому иначе тогда 这 这些 因此 否则";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::ExtractPassage;
    use crate::extract::candidates::Candidates;

    #[test]
    fn first_words_tell() {
        let content = "This means a restart. It takes long. The rest waits. Dadurch dauert es.";
        let passage = ExtractPassage::of(1, content);
        let question = ParsedQuestion::read("How long?");
        let candidates = Candidates::read(&question, &[passage]);
        let found: Vec<Antecedent> = candidates.all.iter().map(antecedent).collect();
        use Antecedent::{Nothing, Statement, Subject};
        assert_eq!(found, [Statement, Subject, Nothing, Statement]);
    }

    /// The texts of what is left of the candidates `chosen` of two products.
    fn left(question: &str, chosen: &[usize]) -> Vec<String> {
        let passage = ExtractPassage::of;
        let passages = [
            passage(1, "The K100 is flat. Its battery lasts 80 hours."),
            passage(2, "The S200 is high. It runs on two batteries, which last six months."),
            passage(3, "It has no battery."),
        ];
        let question = ParsedQuestion::read(question);
        let candidates = Candidates::read(&question, &passages);
        let unit = |first: &usize| {
            let UnitCandidate { passage, unit, .. } = &candidates.all[*first];
            let score = 9.0 - *first as f32;
            ChosenUnit { passage: *passage, unit, first: *first, last: *first, score }
        };
        let chosen = chosen.iter().map(unit).collect();
        let left = with_subjects(&candidates, chosen, 2);
        left.iter().map(|it| candidates.all[it.first].reading.clone()).collect()
    }

    #[test]
    fn it_does_not_read_as_another_thing() {
        let asked = "How long does the battery of the K100 last?";
        let its = "Its battery lasts 80 hours.";
        let (high, runs) =
            ("The S200 is high.", "It runs on two batteries, which last six months.");
        assert_eq!(left(asked, &[1]), [its]);
        assert_eq!(left(asked, &[1, 3]), [its]);
        assert_eq!(left(asked, &[3]), [high, runs]);
        assert_eq!(left("How long does the battery last?", &[3]), [runs]);
        assert_eq!(left(asked, &[1, 4]), [its]);
        assert_eq!(left(asked, &[4]), ["It has no battery."]);
        assert_eq!(left(asked, &[2, 3]), [high, runs]);
    }

    #[test]
    fn who_is_asked_for_is_named() {
        let (high, runs) =
            ("The S200 is high.", "It runs on two batteries, which last six months.");
        assert_eq!(left("Which product runs on two batteries?", &[3]), [high, runs]);
        assert_eq!(left("Which batteries does the S200 have?", &[3]), [runs]);
        assert_eq!(left("How many batteries are there?", &[3]), [runs]);
        assert_eq!(left("Which product has no battery?", &[4]), ["It has no battery."]);
    }
}
