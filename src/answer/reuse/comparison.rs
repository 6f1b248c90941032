//! Do two questions ask the same?

use super::phrase_table::PhraseRole;
use super::question_form::{QuestionForm, SaidWord};
use super::written_word::MOST_WORDS;
use crate::text::inflection::is_same_word;
use crate::text::language::NaturalLanguage;

/// Words of the longest question that may be asked in other words. The longer questions are, the less one word changes
/// their vectors: two of twenty words that differ in what is to be paid, the rent or the charges, have a cosine of
/// 0.994 with the default model.
const MOST_WORDS_WITH_OTHERS: usize = 12;

/// Letters that two words share at their beginnings or ends where they are two kinds of one thing.
const SHARED_PART: usize = 4;

/// Words that only one of two questions has, up to which others are looked at as parts of them.
const MOST_UNMATCHED: usize = 6;

/// Runs into which another one may be divided.
const MOST_RUNS: usize = 4;

/// How much the words of two questions say of whether they ask the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuestionLikeness {
    /// They ask for the same kind of thing in the same words, apart from those that say nothing.
    SameWords,
    /// They ask in other words, none of which shows that they ask for something else.
    OtherWords,
    /// They ask for something else, or there is no telling.
    Different,
}

/// What asks for which kind of thing.
const KINDS: [PhraseRole; 6] = [
    PhraseRole::Who,
    PhraseRole::When,
    PhraseRole::Where,
    PhraseRole::Why,
    PhraseRole::HowMuch,
    PhraseRole::How,
];

/// What a preposition may tell of a word.
const DIRECTIONS: [PhraseRole; 3] = [PhraseRole::From, PhraseRole::To, PhraseRole::Beside];

/// Compares two questions in `language`.
pub(super) fn compare(
    first: &QuestionForm,
    second: &QuestionForm,
    language: NaturalLanguage,
) -> QuestionLikeness {
    if first.length.max(second.length) > MOST_WORDS {
        return QuestionLikeness::Different;
    }
    let is_amount = amounts_to(first, second) || amounts_to(second, first);
    let is_grammar_alike = (asks_alike(first, second) || is_amount)
        && first.tells(PhraseRole::Past) == second.tells(PhraseRole::Past)
        && !is_contrary(first, second)
        && !is_contrary(second, first)
        && are_persons_alike(first, second)
        && are_directions_alike(first, second, language);
    if !is_grammar_alike {
        return QuestionLikeness::Different;
    }
    if matches!(language, NaturalLanguage::Chinese | NaturalLanguage::Japanese) {
        return match !is_amount && are_runs_alike(&first.runs, &second.runs) {
            true => QuestionLikeness::SameWords,
            false => QuestionLikeness::Different,
        };
    }
    let unmatched = Unmatched::of(&first.words, &second.words, language);
    if unmatched.is_empty() && !is_amount {
        return QuestionLikeness::SameWords;
    }
    let is_short = first.length.max(second.length) <= MOST_WORDS_WITH_OTHERS;
    match is_short && unmatched.may_mean_the_same() {
        true => QuestionLikeness::OtherWords,
        false => QuestionLikeness::Different,
    }
}

/// Whether both ask who, when, how, and so on, or one asks how in a sentence and the other is only some words: "How do
/// I reset my password?" and "reset password".
fn asks_alike(first: &QuestionForm, second: &QuestionForm) -> bool {
    let [one, other] = [first, second].map(kinds);
    let is_how = |kinds: &[PhraseRole]| kinds == [PhraseRole::How];
    one == other
        || is_how(&one) && other.is_empty() && second.is_keywords
        || is_how(&other) && one.is_empty() && first.is_keywords
}

fn kinds(form: &QuestionForm) -> Vec<PhraseRole> {
    KINDS.into_iter().filter(|kind| form.tells(*kind)).collect()
}

/// Whether `first` asks what something is and `second` how much: "What does it cost?", "How much does it cost?" What is
/// possible or necessary may be a thing or an amount.
fn amounts_to(first: &QuestionForm, second: &QuestionForm) -> bool {
    let is_open =
        |form: &QuestionForm| !form.tells(PhraseRole::May) && !form.tells(PhraseRole::Must);
    kinds(first).is_empty()
        && first.tells(PhraseRole::What)
        && second.tells(PhraseRole::HowMuch)
        && kinds(second).iter().all(|it| matches!(it, PhraseRole::HowMuch | PhraseRole::How))
        && is_open(first)
        && is_open(second)
}

/// Whether `first` is about what is possible and `second` about what is necessary.
fn is_contrary(first: &QuestionForm, second: &QuestionForm) -> bool {
    let is_only = |form: &QuestionForm, role, other| form.tells(role) && !form.tells(other);
    is_only(first, PhraseRole::May, PhraseRole::Must)
        && is_only(second, PhraseRole::Must, PhraseRole::May)
}

/// Whether it is the same one who does something: "How do I contact you?" is not "How do you contact me?"
fn are_persons_alike(first: &QuestionForm, second: &QuestionForm) -> bool {
    let is_only = |form: &QuestionForm, role, other| form.tells(role) && !form.tells(other);
    let (does, is_done_to) = (PhraseRole::Speaker, PhraseRole::SpeakerAsObject);
    let are_contrary = |one: &QuestionForm, other: &QuestionForm| {
        is_only(one, does, is_done_to) && is_only(other, is_done_to, does)
    };
    let order = |form: &QuestionForm| {
        let mut order: Vec<bool> =
            form.persons.iter().map(|it| *it == PhraseRole::Addressee).collect();
        order.dedup();
        order
    };
    let [one, other] = [first, second].map(order);
    let name_both = one.len() > 1 && other.len() > 1;
    !are_contrary(first, second) && !are_contrary(second, first) && (!name_both || one == other)
}

/// Whether no word is where something begins in one question and where it ends in the other, and none has changed its
/// place with another.
fn are_directions_alike(
    first: &QuestionForm,
    second: &QuestionForm,
    language: NaturalLanguage,
) -> bool {
    let is_part = |words: &[&str], others: &[&str]| {
        words.iter().all(|word| others.iter().any(|it| is_same_word(word, it, language)))
    };
    let are_placed_alike = |role: PhraseRole| {
        let (one, other) = (first.of_direction(role), second.of_direction(role));
        one.is_empty() || other.is_empty() || is_part(&one, &other) || is_part(&other, &one)
    };
    let roles = |form: &QuestionForm, word: &str| -> Vec<PhraseRole> {
        let of_word = form.directions.iter().filter(|(_, it)| is_same_word(word, it, language));
        of_word.map(|(role, _)| *role).collect()
    };
    let is_turned = |(_, word): &(PhraseRole, String)| {
        let (own, other) = (roles(first, word), roles(second, word));
        !other.is_empty() && !other.iter().any(|role| own.contains(role))
    };
    DIRECTIONS.into_iter().all(are_placed_alike) && !first.directions.iter().any(is_turned)
}

/// Whether two questions in a script without spaces consist of the same runs, but that a phrase may divide one of them:
/// 工资│发 and 发工资. A run in another order is another one.
fn are_runs_alike(first: &[String], second: &[String]) -> bool {
    let (mut one, mut other): (Vec<&str>, Vec<&str>) =
        (first.iter().map(String::as_str).collect(), second.iter().map(String::as_str).collect());
    one.retain(|run| match other.iter().position(|it| it == run) {
        Some(at) => {
            other.remove(at);
            false
        }
        None => true,
    });
    match (&one[..], &other[..]) {
        ([], []) => true,
        ([run], parts) | (parts, [run]) => {
            (2..=MOST_RUNS).contains(&parts.len()) && is_made_of(run, parts)
        }
        _ => false,
    }
}

/// Whether `run` consists of all `parts`, in any order.
fn is_made_of(run: &str, parts: &[&str]) -> bool {
    if parts.is_empty() {
        return run.is_empty();
    }
    (0..parts.len()).any(|at| {
        let others: Vec<&str> = [&parts[..at], &parts[at + 1..]].concat();
        run.strip_prefix(parts[at]).is_some_and(|rest| is_made_of(rest, &others))
    })
}

/// The words that only one of two questions has.
struct Unmatched<'a> {
    first: Vec<&'a SaidWord>,
    second: Vec<&'a SaidWord>,
}

impl<'a> Unmatched<'a> {
    fn of(first: &'a [SaidWord], second: &'a [SaidWord], language: NaturalLanguage) -> Self {
        let missing = |words: &'a [SaidWord], others: &[SaidWord]| -> Vec<&'a SaidWord> {
            let is_there = |word: &SaidWord| {
                others.iter().any(|it| is_same_word(&word.text, &it.text, language))
            };
            words.iter().filter(|word| !is_there(word)).collect()
        };
        let (mut one, mut other) = (missing(first, second), missing(second, first));
        if one.len().max(other.len()) <= MOST_UNMATCHED {
            take_joined((&mut one, &mut other), second, language);
            take_joined((&mut other, &mut one), first, language);
        }
        Unmatched { first: one, second: other }
    }

    fn is_empty(&self) -> bool {
        self.first.is_empty() && self.second.is_empty()
    }

    /// Whether none of the words must be in the other question, and no two of them are kinds of one thing.
    fn may_mean_the_same(&self) -> bool {
        let is_telling = self.first.iter().chain(&self.second).any(|word| word.is_telling);
        let has_kin = |word: &&SaidWord| {
            self.second.iter().any(|other| are_kinds_of_one(&word.text, &other.text))
        };
        !is_telling && !self.first.iter().any(has_kin)
    }
}

/// Takes away words of one question that two of the other are written as, with these two: "logfile" and "log file",
/// "zurücksetzen" and "setze … zurück".
fn take_joined<'a>(
    (joined, parts): (&mut Vec<&'a SaidWord>, &mut Vec<&'a SaidWord>),
    all: &'a [SaidWord],
    language: NaturalLanguage,
) {
    joined.retain(|word| {
        let those_left = parts_of(&word.text, &parts[..], language);
        let every: Vec<&SaidWord> = all.iter().collect();
        let Some(pair) = those_left.or_else(|| parts_of(&word.text, &every, language)) else {
            return true;
        };
        parts.retain(|it| !pair.contains(&it.text.as_str()));
        false
    });
}

/// Two of `words` of which `joined` consists.
fn parts_of<'a>(
    joined: &str,
    words: &[&'a SaidWord],
    language: NaturalLanguage,
) -> Option<[&'a str; 2]> {
    words.iter().find_map(|first| {
        let rests = rests_behind(joined, &first.text, language);
        let is_rest = |second: &str| rests.iter().any(|it| is_same_word(it, second, language));
        let others = words.iter().filter(|it| it.text != first.text);
        let second = others.map(|it| it.text.as_str()).find(|it| is_rest(it))?;
        Some([first.text.as_str(), second])
    })
}

/// What may be the second part of `joined` if `first` is its first one: behind what joins them in German and Dutch.
fn rests_behind<'a>(joined: &'a str, first: &str, language: NaturalLanguage) -> Vec<&'a str> {
    let joins = matches!(language, NaturalLanguage::German | NaturalLanguage::Dutch);
    let links: &[&str] = if joins { &["", "s", "n", "en", "es", "e"] } else { &[""] };
    let shorter = first.char_indices().next_back().map(|(end, _)| &first[..end]);
    let shorter = shorter.filter(|it| joins && it.chars().nth(2).is_some());
    let is_word = |it: &&str| it.chars().nth(1).is_some();
    let firsts = [Some(first), shorter].into_iter().flatten().filter(is_word);
    let behind = firsts.filter_map(|it| joined.strip_prefix(it));
    let rests = behind.flat_map(|it| links.iter().filter_map(move |link| it.strip_prefix(*link)));
    rests.filter(is_word).collect()
}

/// Whether two words share a part besides which they have another one: "install" and "uninstall", "Arbeitgeber" and
/// "Arbeitnehmer". Two words that mean the same seldom do.
fn are_kinds_of_one(first: &str, second: &str) -> bool {
    let alike = |(a, b): &(char, char)| a == b;
    let at_begin = first.chars().zip(second.chars()).take_while(alike).count();
    let at_end = first.chars().rev().zip(second.chars().rev()).take_while(alike).count();
    let shorter = first.chars().count().min(second.chars().count());
    at_end >= SHARED_PART || at_begin >= SHARED_PART && shorter - at_begin >= SHARED_PART
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_may_be_divided_and_not_turned() {
        let check = |first: &[&str], second: &[&str], expected: bool| {
            let [one, other] =
                [first, second].map(|it| it.iter().map(|run| run.to_string()).collect::<Vec<_>>());
            assert_eq!(are_runs_alike(&one, &other), expected, "{first:?} {second:?}");
            assert_eq!(are_runs_alike(&other, &one), expected, "{second:?} {first:?}");
        };
        check(&["工资", "发"], &["发工资"], true);
        check(&["工资", "发"], &["发", "工资"], true);
        check(&["北京飞上海"], &["上海飞北京"], false);
        check(&["北京", "上海"], &["北京"], false);
        check(&["工资"], &["工资", "发"], false);
        check(&[], &[], true);
    }

    #[test]
    fn kinds_of_one_thing_share_a_part() {
        for (first, second, expected) in [
            ("install", "uninstall", true),
            ("werkgever", "werknemer", true),
            ("waterproof", "windproof", true),
            ("begin", "start", false),
            ("temizlerim", "temizlenir", false),
            ("", "", false),
        ] {
            assert_eq!(are_kinds_of_one(first, second), expected, "{first} {second}");
        }
    }
}
