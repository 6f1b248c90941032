//! Which phrases does a question have, and what do they tell?
//!
//! ```text
//! "Could you tell me at what time I have to check out?" → nothing; when; the speaker; must
//! ```
//!
//! The longest phrase at each place counts. One that is typed without its accents counts, too, unless that makes
//! another small word of it: French "ou" is not "où".

use std::sync::LazyLock;

use super::phrases::TABLES;
use super::written_word::{WrittenWord, split};
use crate::text::function_word::{is_asking, is_function_word_of};
use crate::text::language::NaturalLanguage;
use crate::text::spelling::plain;
use crate::text::word_list::list_has;

/// What a phrase tells of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PhraseRole {
    /// It asks who.
    Who,
    /// It asks when.
    When,
    /// It asks where.
    Where,
    /// It asks why.
    Why,
    /// It asks how much or how many.
    HowMuch,
    /// It asks how.
    How,
    /// It asks what something is, but not which one.
    What,
    /// It is about what is allowed or possible.
    May,
    /// It is about what is necessary.
    Must,
    /// It is about the past.
    Past,
    /// What it belongs to is a beginning, or where something comes from.
    From,
    /// What it belongs to is an end, or where something goes.
    To,
    /// What it belongs to is something else than another thing that is named: what that is compared with, or replaces.
    Beside,
    /// Who asks does something.
    Speaker,
    /// Something is done to who asks.
    SpeakerAsObject,
    /// Who is asked.
    Addressee,
    /// It may not be missing in the other question.
    Telling,
    /// Nothing: courtesy, and what else a question may do without.
    Nothing,
}

/// The phrases of a language.
pub(super) struct PhraseTable {
    /// Which language.
    pub language: NaturalLanguage,
    /// What phrases tell; those of a role are separated by a comma and a space.
    pub phrases: &'static [(PhraseRole, &'static str)],
    /// Small words that also stand in a few words without a sentence.
    pub links: &'static str,
    /// Words that are part of a verb at the end of a question, and otherwise small words.
    pub particles: &'static str,
    /// What makes a question of a sentence without a word that asks, in a script without spaces.
    pub question_marks: &'static str,
}

/// A table with its phrases as words.
pub(super) struct Phrasebook {
    /// The table.
    pub table: &'static PhraseTable,
    phrases: Vec<SplitPhrase>,
}

struct SplitPhrase {
    /// Each word as it is written, and without accents.
    words: Vec<(String, String)>,
    role: PhraseRole,
}

static PHRASEBOOKS: LazyLock<Vec<Phrasebook>> =
    LazyLock::new(|| TABLES.iter().map(Phrasebook::new).collect());

impl Phrasebook {
    /// That of a language; `None` where there is none.
    pub(super) fn of(language: NaturalLanguage) -> Option<&'static Phrasebook> {
        PHRASEBOOKS.iter().find(|it| it.table.language == language)
    }

    fn new(table: &'static PhraseTable) -> Phrasebook {
        let phrases = table.phrases.iter().flat_map(|(role, phrases)| {
            phrases.split(", ").map(move |phrase| SplitPhrase::new(phrase, *role))
        });
        Phrasebook { table, phrases: phrases.collect() }
    }

    /// The number of words of the longest phrase with which `words` begin, and what it tells; `None` where they begin
    /// with none.
    pub(super) fn roles(&self, words: &[WrittenWord]) -> Option<(usize, Vec<PhraseRole>)> {
        let longest = self.phrases.iter().map(|it| it.words.len()).max()?;
        (1..=longest.min(words.len())).rev().find_map(|length| {
            let here = &words[..length];
            let of_length = || self.phrases.iter().filter(move |it| it.words.len() == length);
            let mut roles: Vec<PhraseRole> =
                of_length().filter(|it| it.is_written(here)).map(|it| it.role).collect();
            // "ou" is a word of its own in French, and no "où" without its accent; "cuantos" is none but "cuántos".
            let (word, language) = (&here[0].word.folded, Some(self.table.language));
            let is_word =
                length == 1 && is_function_word_of(word, language) && !is_asking(word, language);
            if roles.is_empty() && !is_word {
                roles = of_length().filter(|it| it.is_like(here)).map(|it| it.role).collect();
            }
            (!roles.is_empty()).then_some((length, roles))
        })
    }

    /// The longest phrase with which `text`, in a script without spaces, begins: its bytes and what it tells.
    pub(super) fn role_unspaced(&self, text: &str) -> Option<(usize, PhraseRole)> {
        let phrases = self.table.phrases.iter().flat_map(|(role, phrases)| {
            phrases.split(", ").map(move |phrase| (phrase.len(), phrase, *role))
        });
        let here = phrases.filter(|(_, phrase, _)| text.starts_with(phrase));
        here.max_by_key(|(bytes, ..)| *bytes).map(|(bytes, _, role)| (bytes, role))
    }

    /// Whether `word` also stands where there is no sentence.
    pub(super) fn links(&self, word: &str) -> bool {
        list_has(self.table.links, word)
    }

    /// Whether `word` is part of a verb at the end of a question.
    pub(super) fn is_particle(&self, word: &str) -> bool {
        list_has(self.table.particles, word)
    }
}

impl SplitPhrase {
    fn new(phrase: &str, role: PhraseRole) -> SplitPhrase {
        let words = phrase.split(' ').flat_map(split);
        let words = words.map(|word| (plain(&word), word));
        SplitPhrase { words: words.map(|(plain, word)| (word, plain)).collect(), role }
    }

    fn is_written(&self, words: &[WrittenWord]) -> bool {
        self.words.iter().zip(words).all(|((word, _), it)| *word == it.word.folded)
    }

    fn is_like(&self, words: &[WrittenWord]) -> bool {
        self.words.iter().zip(words).all(|((_, plain), it)| *plain == it.plain)
    }
}

#[cfg(test)]
mod tests {
    use super::super::written_word::written;
    use super::*;

    #[test]
    fn the_longest_phrase_counts_and_accents_may_be_missing() {
        let roles = |language, text: &str| {
            let phrasebook = Phrasebook::of(language).unwrap();
            phrasebook.roles(&written(text))
        };
        for (language, text, expected) in [
            (NaturalLanguage::English, "what time is it", Some((2, PhraseRole::When))),
            (NaturalLanguage::English, "what is it", Some((1, PhraseRole::What))),
            (NaturalLanguage::English, "I'd like to know it", Some((5, PhraseRole::Nothing))),
            (NaturalLanguage::French, "où est-il", Some((1, PhraseRole::Where))),
            (NaturalLanguage::French, "ou est-il", None),
            (NaturalLanguage::Spanish, "cuantos días", Some((1, PhraseRole::HowMuch))),
            (NaturalLanguage::English, "warranty", None),
            (NaturalLanguage::English, "", None),
        ] {
            let expected = expected.map(|(length, role)| (length, vec![role]));
            assert_eq!(roles(language, text), expected, "{text}");
        }
    }

    #[test]
    fn a_script_without_spaces_has_phrases_too() {
        let phrasebook = Phrasebook::of(NaturalLanguage::Chinese).unwrap();
        let bytes = "什么时候".len();
        assert_eq!(phrasebook.role_unspaced("什么时候发工资"), Some((bytes, PhraseRole::When)));
        assert_eq!(phrasebook.role_unspaced("工资"), None);
    }

    #[test]
    fn every_phrase_can_be_found() {
        for Phrasebook { table, phrases } in PHRASEBOOKS.iter() {
            assert!(phrases.iter().all(|it| !it.words.is_empty()), "{:?}", table.language);
            let listed = table.phrases.iter().flat_map(|(_, phrases)| phrases.split(", "));
            assert!(listed.clone().all(|it| !it.trim().is_empty()), "{:?}", table.language);
            assert!(listed.count() == phrases.len(), "{:?}", table.language);
        }
    }
}
