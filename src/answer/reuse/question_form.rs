//! What does a question ask, as far as its words tell?
//!
//! ```text
//! "How do I get from Lyon to the airport?" → how │ from Lyon, to airport │ get, Lyon, airport
//! ```

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;

use super::phrase_table::{PhraseRole, Phrasebook};
use super::written_word::{MOST_WORDS, WrittenWord, compared, written};
use crate::extract::answer_type::is_number_or_time;
use crate::text::function_word::is_small_word;
use crate::text::language::NaturalLanguage;
use crate::text::script::is_hiragana;

/// What ends a question.
const QUESTION_MARKS: [char; 4] = ['?', '？', '؟', '⁇'];

/// A question, taken apart.
#[derive(Debug, Default)]
pub(super) struct QuestionForm {
    /// What its phrases tell.
    pub roles: BTreeSet<PhraseRole>,
    /// In which order it speaks of who asks and who is asked.
    pub persons: Vec<PhraseRole>,
    /// Its words that say something, each once; of a script without spaces none.
    pub words: Vec<SaidWord>,
    /// What stands between the phrases of a question in a script without spaces.
    pub runs: Vec<String>,
    /// Words, as they are compared, with what a preposition tells of them.
    pub directions: Vec<(PhraseRole, String)>,
    /// Whether it is some words rather than a sentence.
    pub is_keywords: bool,
    /// How many words it has, small ones included.
    pub length: usize,
}

/// A word that says something.
#[derive(Debug)]
pub(super) struct SaidWord {
    /// As it is compared.
    pub text: String,
    /// Whether the other question must have it.
    pub is_telling: bool,
}

impl QuestionForm {
    /// Takes `question` apart, with the phrases of its language.
    pub(super) fn read(question: &str, phrasebook: &Phrasebook) -> QuestionForm {
        match phrasebook.table.language {
            NaturalLanguage::Chinese | NaturalLanguage::Japanese => {
                QuestionForm::read_unspaced(question, phrasebook)
            }
            _ => QuestionForm::read_spaced(question, phrasebook),
        }
    }

    fn read_spaced(question: &str, phrasebook: &Phrasebook) -> QuestionForm {
        let words = written(question);
        let mut reading = QuestionReader::new(phrasebook, question.contains(QUESTION_MARKS));
        reading.form.length = words.len();
        let mut at = 0;
        while at < words.len() {
            at += match phrasebook.roles(&words[at..]) {
                Some((length, roles)) => {
                    let is_end = at + length == words.len();
                    reading.phrase(&words[at..at + length], &roles, is_end);
                    length
                }
                None => {
                    reading.word(&words[at], at + 1 == words.len());
                    1
                }
            };
        }
        reading.finish()
    }

    fn read_unspaced(question: &str, phrasebook: &Phrasebook) -> QuestionForm {
        // One more than a question may have, so that it is seen to be longer.
        let text: String = question.nfkc().take(MOST_WORDS + 1).collect::<String>().to_lowercase();
        let mut marks = phrasebook.table.question_marks.split_ascii_whitespace();
        let asks = text.contains(QUESTION_MARKS) || marks.any(|it| text.contains(it));
        let mut reading = QuestionReader::new(phrasebook, asks);
        reading.form.length = text.chars().count();
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let phrase = phrasebook.role_unspaced(rest);
            let phrase = phrase.filter(|(bytes, _)| reading.may_be_particle(&rest[..*bytes]));
            match phrase {
                Some((bytes, role)) => {
                    reading.unspaced_phrase(&rest[..bytes], role);
                    rest = &rest[bytes..];
                }
                None => {
                    reading.character(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        reading.finish()
    }

    /// The words of which a preposition tells `role`.
    pub(super) fn of_direction(&self, role: PhraseRole) -> Vec<&str> {
        let of_role = self.directions.iter().filter(|(it, _)| *it == role);
        of_role.map(|(_, word)| word.as_str()).collect()
    }

    /// Whether there is anything to compare but its phrases.
    pub(super) fn says_something(&self) -> bool {
        !self.words.is_empty() || !self.runs.is_empty()
    }

    /// Whether it has a phrase that tells `role`.
    pub(super) fn tells(&self, role: PhraseRole) -> bool {
        self.roles.contains(&role)
    }
}

/// A question that is read word by word.
struct QuestionReader<'a> {
    phrasebook: &'a Phrasebook,
    form: QuestionForm,
    /// A preposition whose word is to come.
    pending: Option<PhraseRole>,
    /// Characters since the last phrase.
    run: String,
    /// Whether a syllable here may be a particle of Japanese: behind a word, and not behind another one.
    is_behind_word: bool,
}

impl<'a> QuestionReader<'a> {
    fn new(phrasebook: &'a Phrasebook, asks: bool) -> QuestionReader<'a> {
        let form = QuestionForm { is_keywords: !asks, ..QuestionForm::default() };
        QuestionReader {
            phrasebook,
            form,
            pending: None,
            run: String::new(),
            is_behind_word: false,
        }
    }

    fn language(&self) -> NaturalLanguage {
        self.phrasebook.table.language
    }

    fn phrase(&mut self, words: &[WrittenWord], roles: &[PhraseRole], is_end: bool) {
        let first = &words[0].word.folded;
        if words.len() == 1 && is_end && self.phrasebook.is_particle(first) {
            return self.say(&words[0], true);
        }
        let links = words.len() == 1 && self.phrasebook.links(first);
        for role in roles {
            self.note(*role, links);
            if *role == PhraseRole::Telling {
                words.iter().for_each(|word| self.say(word, true));
            }
        }
    }

    fn word(&mut self, word: &WrittenWord, is_end: bool) {
        let text = &word.word.folded;
        if is_end && self.phrasebook.is_particle(text) {
            self.say(word, true);
        } else if text.starts_with('\'') || is_small_word(text, self.language()) {
            self.form.is_keywords &= self.phrasebook.links(text);
        } else {
            let text = compared(word, self.language());
            if let Some(role) = self.pending.take() {
                self.form.directions.push((role, text));
            }
            self.say(word, word.word.is_name || is_number_or_time(&word.word));
        }
    }

    /// Notes what a phrase tells, which `links` words or makes a sentence.
    fn note(&mut self, role: PhraseRole, links: bool) {
        match role {
            PhraseRole::Nothing | PhraseRole::Telling => return,
            PhraseRole::From | PhraseRole::To | PhraseRole::Beside => {
                self.form.is_keywords &= links;
                self.direct(role);
            }
            PhraseRole::Speaker | PhraseRole::SpeakerAsObject | PhraseRole::Addressee => {
                self.form.is_keywords = false;
                self.form.persons.push(role);
            }
            _ => self.form.is_keywords = false,
        }
        self.form.roles.insert(role);
    }

    /// Gives the direction to the next word, or to the last one in a language whose prepositions stand behind it.
    fn direct(&mut self, role: PhraseRole) {
        let last = match self.language() {
            NaturalLanguage::Hindi | NaturalLanguage::Turkish => {
                self.form.words.last().map(|it| it.text.clone())
            }
            NaturalLanguage::Japanese => self.form.runs.last().cloned(),
            _ => {
                self.pending = Some(role);
                return;
            }
        };
        self.form.directions.extend(last.map(|word| (role, word)));
    }

    fn say(&mut self, word: &WrittenWord, is_telling: bool) {
        let text = compared(word, self.language());
        match self.form.words.iter_mut().find(|it| it.text == text) {
            Some(known) => known.is_telling |= is_telling,
            None => self.form.words.push(SaidWord { text, is_telling }),
        }
    }

    /// Whether `phrase` is no particle of one syllable, or stands where one may.
    fn may_be_particle(&self, phrase: &str) -> bool {
        !is_syllable(phrase) || self.is_behind_word
    }

    fn unspaced_phrase(&mut self, phrase: &str, role: PhraseRole) {
        self.end_run();
        self.note(role, true);
        self.is_behind_word = !is_syllable(phrase);
    }

    fn character(&mut self, character: char) {
        let is_part = character.is_alphanumeric();
        match is_part {
            true => self.run.push(character),
            false => self.end_run(),
        }
        self.is_behind_word = is_part;
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if !run.is_empty() {
            if let Some(role) = self.pending.take() {
                self.form.directions.push((role, run.clone()));
            }
            self.form.runs.push(run);
        }
    }

    fn finish(mut self) -> QuestionForm {
        self.end_run();
        self.form
    }
}

/// Whether `phrase` is one syllable of Japanese.
fn is_syllable(phrase: &str) -> bool {
    let mut characters = phrase.chars();
    characters.next().is_some_and(is_hiragana) && characters.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(question: &str, language: NaturalLanguage) -> QuestionForm {
        QuestionForm::read(question, Phrasebook::of(language).unwrap())
    }

    fn check(language: NaturalLanguage, question: &str, roles: &[PhraseRole], words: &[&str]) {
        let form = read(question, language);
        let expected: BTreeSet<PhraseRole> = roles.iter().copied().collect();
        assert_eq!(form.roles, expected, "{question}");
        let said: Vec<&str> = form.words.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(said, words, "{question}");
    }

    #[test]
    fn a_question_is_what_it_asks_and_the_words_that_say_something() {
        use PhraseRole::{From, How, HowMuch, May, Must, Past, To, What, When};
        let english = NaturalLanguage::English;
        let person = PhraseRole::Speaker;
        check(english, "How can I reset my password?", &[How, May, person], &["reset", "password"]);
        check(english, "Reset password", &[], &["reset", "password"]);
        check(english, "When was it built?", &[When, Past], &["built"]);
        check(english, "How much does it cost?", &[HowMuch], &["cost"]);
        check(english, "Do I have to pay?", &[Must, person], &["pay"]);
        check(english, "What isn't covered?", &[What], &["not", "covered"]);
        check(
            english,
            "Could you tell me how to get from Lyon to the airport, please?",
            &[How, From, To],
            &["get", "lyon", "airport"],
        );
        check(
            NaturalLanguage::German,
            "Wie schalte ich es aus?",
            &[How, person],
            &["schalte", "aus"],
        );
        check(NaturalLanguage::French, "Ou est l'entrée ?", &[], &["entree"]);
        check(NaturalLanguage::French, "Où est l'entrée ?", &[PhraseRole::Where], &["entree"]);
        check(NaturalLanguage::Arabic, "متى تفتح المكتبة؟", &[When], &["تفتح", "مكتبه"]);
    }

    #[test]
    fn a_direction_belongs_to_its_word() {
        let directions = |question: &str, language| -> [String; 2] {
            let form = read(question, language);
            [PhraseRole::From, PhraseRole::To].map(|role| form.of_direction(role).join(" "))
        };
        for (language, question, from, to) in [
            (NaturalLanguage::English, "Flights from Lyon to Rome", "lyon", "rome"),
            (NaturalLanguage::Hindi, "दिल्ली से मुंबई का किराया कितना है?", "दिल्ली", ""),
            (NaturalLanguage::Turkish, "Ankara'dan İzmir'e tren kaçta?", "ankara", ""),
            (NaturalLanguage::Chinese, "从北京到上海要多久？", "北京", "上海"),
            (NaturalLanguage::Japanese, "東京から大阪までいくらですか？", "東京", "大阪"),
            (NaturalLanguage::English, "How do I convert PDF to Word?", "", "word"),
            (NaturalLanguage::English, "Flights", "", ""),
        ] {
            assert_eq!(directions(question, language), [from, to], "{question}");
        }
    }

    #[test]
    fn a_script_without_spaces_is_cut_at_its_phrases() {
        let runs = |question: &str, language| read(question, language).runs;
        assert_eq!(runs("工资什么时候发？", NaturalLanguage::Chinese), ["工资", "发"]);
        assert_eq!(
            runs("パスワードのリセット方法", NaturalLanguage::Japanese),
            ["パスワード", "リセット"]
        );
        // Peaches are no particles.
        assert_eq!(runs("もも", NaturalLanguage::Japanese), ["も"]);
        assert_ne!(
            runs("ももの皮", NaturalLanguage::Japanese),
            runs("かにの皮", NaturalLanguage::Japanese)
        );
    }

    #[test]
    fn some_words_are_no_sentence() {
        for (question, expected) in [
            ("reset password", true),
            ("change of address", true),
            ("Reset password?", false),
            ("How to reset a password", false),
            ("do you ship to Norway", false),
            ("may I park here", false),
            ("", true),
        ] {
            let form = read(question, NaturalLanguage::English);
            assert_eq!(form.is_keywords, expected, "{question}");
        }
    }
}
