//! # language: in which language is this question?
//!
//! ```text
//! "Wie viele Urlaubstage habe ich?" → German
//! ```
//!
//! A question is too short for statistics of letters (whatlang 0.18 takes one English question in eleven for
//! another language), but hardly any is asked without words like "how", "is" or "the". So in the Latin and the Cyrillic
//! script these words decide, with signs and letters that few languages have, and elsewhere the script does.
//!
//! A word that several languages have counts for each in part, and a language is out where a word of the text has a
//! letter that it doesn't write: "ha" is Spanish, Italian, Catalan and Hungarian, but "megsérült" makes it Hungarian. On
//! the translations of Django's messages, of five words and more, into the languages below, this is right for 83 % and
//! wrong for 3 %, mostly for Danish, Norwegian and Catalan, which are hard to tell from others.

mod code;
mod letters;
mod telling_words;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization;

pub use self::code::LANGUAGE_CODES;
use self::letters::{CYRILLIC, LATIN, SPELLINGS};
use self::telling_words::{CYRILLIC_WORDS, FUNCTION_WORDS, PAIRS, TELLING};
use super::elision::without_elided;
use super::script::{is_greek, is_han, is_kana, is_korean};
use super::word_list::list_has;
use super::words::{Word, each_word, word_places};

/// Words of a question that are looked at.
const MOST_WORDS: usize = 200;

/// What a word counts that one language alone has: a number that up to ten languages can share without a rest.
const VOTE: u32 = 2520;

/// What the words of a text count at least in its language: one that three languages share is enough for a short
/// question.
const LEAST_VOTES: u32 = VOTE / 3;

/// Of how many different words one has to count in full. A long text in a language that is none of these has some
/// small words of others by accident.
const WORDS_PER_VOTE: u32 = 25;

/// Of how many words one may have a letter that the language doesn't write: texts have foreign words, too.
const WORDS_PER_STRANGE: usize = 10;

/// A language that questions are recognised in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaturalLanguage {
    /// العربية
    Arabic,
    /// Български
    Bulgarian,
    /// Català
    Catalan,
    /// 中文
    Chinese,
    /// Hrvatski, and Bosnian and Serbian in the Latin script
    Croatian,
    /// Čeština
    Czech,
    /// Dansk
    Danish,
    /// Nederlands
    Dutch,
    /// English
    English,
    /// Eesti
    Estonian,
    /// Suomi
    Finnish,
    /// Français
    French,
    /// Deutsch
    German,
    /// Ελληνικά
    Greek,
    /// עברית
    Hebrew,
    /// हिन्दी
    Hindi,
    /// Magyar
    Hungarian,
    /// Bahasa Indonesia
    Indonesian,
    /// Italiano
    Italian,
    /// 日本語
    Japanese,
    /// 한국어
    Korean,
    /// Lietuvių
    Lithuanian,
    /// Norsk
    Norwegian,
    /// Polski
    Polish,
    /// Português
    Portuguese,
    /// Română
    Romanian,
    /// Русский
    Russian,
    /// Српски, in the Cyrillic script
    Serbian,
    /// Español
    Spanish,
    /// Svenska
    Swedish,
    /// ไทย
    Thai,
    /// Türkçe
    Turkish,
    /// Українська
    Ukrainian,
    /// Tiếng Việt
    Vietnamese,
}

/// The language of a question; `None` where its words don't tell, or tell of two alike.
#[must_use]
pub fn language(question: &str) -> Option<NaturalLanguage> {
    // A letter and its accent may come apart.
    let text: String = question.chars().take(40 * MOST_WORDS).nfc().collect();
    match main_script(&text) {
        MainScript::Kana => Some(NaturalLanguage::Japanese),
        MainScript::Han => Some(NaturalLanguage::Chinese),
        MainScript::Hangul => Some(NaturalLanguage::Korean),
        MainScript::Greek => Some(NaturalLanguage::Greek),
        MainScript::Hebrew => Some(NaturalLanguage::Hebrew),
        MainScript::Thai => Some(NaturalLanguage::Thai),
        // Persian and Urdu have letters of their own.
        MainScript::Arabic => (!text.contains(['پ', 'چ', 'ژ', 'گ', 'ک', 'ی', 'ٹ', 'ڈ']))
            .then_some(NaturalLanguage::Arabic),
        // Marathi and Nepali are written in it as well.
        MainScript::Devanagari => each_word(&text)
            .any(|word| list_has(HINDI, &word.folded))
            .then_some(NaturalLanguage::Hindi),
        MainScript::Cyrillic => CYRILLIC_LISTS.language(&text),
        MainScript::Other => LATIN_LISTS.language(&text),
    }
}

/// Whether questions in `language` are made with `word`, in lower case, whatever they are about.
#[must_use]
pub fn is_function_word(language: NaturalLanguage, word: &str) -> bool {
    FUNCTION_WORDS.iter().any(|(it, words)| *it == language && list_has(words, word))
}

/// The words that questions of a language of the Latin script are made with, in lower case, with a space
/// between; `None` for other languages, which are told by their script.
pub(crate) fn words_of_questions(language: NaturalLanguage) -> Option<&'static str> {
    FUNCTION_WORDS.iter().find(|(it, _)| *it == language).map(|(_, words)| *words)
}

/// Whether `language` writes all letters of `word`, in lower case, and `other` does not. Both are languages of the Latin script.
pub(crate) fn is_written_only_in(
    word: &str,
    language: NaturalLanguage,
    other: NaturalLanguage,
) -> bool {
    if word.is_ascii() {
        return false;
    }
    let writers = LATIN_LISTS.writers(word);
    let writes = |one: NaturalLanguage| {
        let at = FUNCTION_WORDS.iter().position(|(it, _)| *it == one);
        at.is_some_and(|at| writers & bit(at) != 0)
    };
    writes(language) && !writes(other)
}

/// The script that most letters of a text are of.
#[derive(Clone, Copy)]
enum MainScript {
    /// Han and Kana.
    Kana,
    /// Han alone.
    Han,
    Hangul,
    Arabic,
    Cyrillic,
    Greek,
    Hebrew,
    Devanagari,
    Thai,
    /// The Latin one, another one, or several.
    Other,
}

fn main_script(text: &str) -> MainScript {
    let count = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count();
    // Vowel signs of Devanagari and Thai are letters, too.
    let letters = count(char::is_alphabetic);
    let is_mostly = |script: usize| script > 0 && 2 * script >= letters;
    let (han, kana) = (count(is_han), count(is_kana));
    // A character stands for about three letters.
    if is_mostly(3 * (han + kana)) {
        return if kana > 0 { MainScript::Kana } else { MainScript::Han };
    }
    let found = SCRIPTS.iter().find(|(_, is_of)| is_mostly(count(*is_of)));
    found.map_or(MainScript::Other, |(script, _)| *script)
}

/// Whether a character belongs to a script.
type IsOfScript = fn(char) -> bool;

/// Scripts that put spaces between words, or that one language alone is written in, by their characters.
const SCRIPTS: &[(MainScript, IsOfScript)] = &[
    (MainScript::Hangul, is_korean),
    (MainScript::Arabic, |c| matches!(c, '\u{0620}'..='\u{06FF}')),
    (MainScript::Cyrillic, is_cyrillic),
    (MainScript::Greek, is_greek),
    (MainScript::Hebrew, |c| matches!(c, '\u{0590}'..='\u{05FF}' | '\u{FB1D}'..='\u{FB4F}')),
    (MainScript::Devanagari, |c| matches!(c, '\u{0900}'..='\u{097F}')),
    (MainScript::Thai, |c| matches!(c, '\u{0E00}'..='\u{0E7F}')),
];

/// Words of Hindi that other languages of its script have not.
const HINDI: &str = "है हैं था थी थे क्या क्यों कैसे कब कहाँ कहां कौन किसने किसके कितना कितने कितनी में";

fn is_cyrillic(c: char) -> bool {
    matches!(c, '\u{0400}'..='\u{04FF}')
}

/// Whether it is a letter of the Latin script, in lower case, beyond a to z; of Azerbaijani, "ə" is one, too.
fn is_latin_beyond_ascii(c: char) -> bool {
    matches!(c, '\u{DF}'..='\u{F6}' | '\u{F8}'..='\u{24F}' | '\u{259}' | '\u{1E00}'..='\u{1EFF}')
}

/// The words and letters of the languages of a script.
struct LanguageLists {
    lists: &'static [(NaturalLanguage, &'static str)],
    /// How many of the first lists are of languages that most texts are in. Where one of these has as many votes as a
    /// language behind them, it wins.
    common: usize,
    /// The language of a text in which no other one has more votes.
    usual: Option<NaturalLanguage>,
    /// By word, the places of the lists that have it. Each chunk is looked at, too, not only questions, and to search
    /// all lists for each of its words would take half a millisecond.
    words: HashMap<&'static str, Vec<usize>>,
    /// By letter that not all of the languages write, a bit for each list whose language does.
    letters: HashMap<char, u32>,
    /// Which letters are looked up there: those of other scripts tell nothing.
    is_of_script: fn(char) -> bool,
    /// Whether a name is spelled as where it comes from.
    keeps_names: bool,
}

/// How many of [`FUNCTION_WORDS`] are of languages that most texts are in.
const COMMON: usize = 12;

static LATIN_LISTS: LazyLock<LanguageLists> = LazyLock::new(|| LanguageLists {
    lists: FUNCTION_WORDS,
    common: COMMON,
    usual: None,
    words: places_of_words(FUNCTION_WORDS, COMMON),
    letters: writers_of_letters(FUNCTION_WORDS, LATIN),
    is_of_script: is_latin_beyond_ascii,
    keeps_names: true,
});

static CYRILLIC_LISTS: LazyLock<LanguageLists> = LazyLock::new(|| LanguageLists {
    lists: CYRILLIC_WORDS,
    common: 1,
    usual: Some(NaturalLanguage::Russian),
    words: places_of_words(CYRILLIC_WORDS, 1),
    letters: writers_of_letters(CYRILLIC_WORDS, CYRILLIC),
    is_of_script: is_cyrillic,
    keeps_names: false,
});

fn places_of_words(
    lists: &'static [(NaturalLanguage, &'static str)],
    common: usize,
) -> HashMap<&'static str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, (language, words)) in lists.iter().enumerate() {
        let telling = TELLING.iter().filter(|(it, _)| it == language).map(|(_, words)| *words);
        for word in [*words].into_iter().chain(telling).flat_map(|words| words.split(' ')) {
            let of: &mut Vec<usize> = places.entry(word).or_default();
            // Words that the Nordic languages share with those before them would make these hard to tell.
            let is_of_others = of.iter().any(|it| !is_nordic(lists[*it].0));
            // What has a letter of ASCII for a word is rather code or a list: "k = 10".
            let is_sign = word.len() == 1 && at >= common && of.is_empty();
            let is_known = of.last() == Some(&at);
            let is_shared = is_nordic(*language) && is_of_others;
            if !(is_known || is_sign || is_shared) {
                of.push(at);
            }
        }
    }
    places
}

fn writers_of_letters(
    lists: &[(NaturalLanguage, &str)],
    alphabets: &[(NaturalLanguage, &str)],
) -> HashMap<char, u32> {
    let mut writers: HashMap<char, u32> = HashMap::new();
    for (at, (language, _)) in lists.iter().enumerate() {
        for (_, letters) in alphabets.iter().filter(|(it, _)| it == language) {
            letters.chars().for_each(|letter| *writers.entry(letter).or_default() |= bit(at));
        }
    }
    writers
}

/// The bit of a list.
fn bit(at: usize) -> u32 {
    1 << at
}

/// Whether its words count only where no language in the lists before it has them.
fn is_nordic(language: NaturalLanguage) -> bool {
    use NaturalLanguage::{Danish, Norwegian, Swedish};
    matches!(language, Danish | Norwegian | Swedish)
}

impl LanguageLists {
    /// The language with the most votes in `text`, of those that write its words.
    fn language(&self, text: &str) -> Option<NaturalLanguage> {
        let mut words: Vec<Word> = each_word(text).take(MOST_WORDS).collect();
        words.iter_mut().for_each(|word| word.is_name &= self.keeps_names);
        let distinct: HashSet<&str> =
            words.iter().map(|word| without_elided(&word.folded)).collect();
        let votes = self.votes(text, &words, &distinct);
        let strange = self.strange_words(text, &words);
        let is_written = |at: &usize| WORDS_PER_STRANGE * strange[*at] <= words.len();
        let written: Vec<usize> = (0..self.lists.len()).filter(is_written).collect();
        let most = written.iter().map(|at| votes[*at]).max()?;
        let mut best: Vec<usize> = written.into_iter().filter(|at| votes[*at] == most).collect();
        if best.iter().any(|at| *at < self.common) {
            best.retain(|at| *at < self.common);
        }
        let &[at] = best.as_slice() else { return None };
        let (language, _) = self.lists[at];
        // Where a language that doesn't write the letters has much more, the text says two things.
        let is_contradicted = votes.iter().any(|it| *it > 2 * most);
        let least = LEAST_VOTES.max(VOTE * distinct.len() as u32 / WORDS_PER_VOTE);
        let is_enough = most >= least || self.usual == Some(language);
        (is_enough && !is_contradicted).then_some(language)
    }

    /// What the words, signs and letters of `text`, which has `words`, count for each list.
    fn votes(&self, text: &str, words: &[Word], distinct: &HashSet<&str>) -> Vec<u32> {
        let mut votes = vec![0; self.lists.len()];
        for of in distinct.iter().filter_map(|word| self.words.get(*word)) {
            of.iter().for_each(|at| votes[*at] += VOTE / of.len() as u32);
        }
        for (language, count) in pairs(words).chain(spellings(text, words)) {
            let lists = self.lists.iter().zip(&mut votes);
            lists.filter(|((it, _), _)| *it == language).for_each(|(_, votes)| *votes += count);
        }
        votes
    }

    /// How many of `words`, those of `text`, have a letter that the language of each list doesn't write.
    fn strange_words(&self, text: &str, words: &[Word]) -> Vec<usize> {
        let mut strange = vec![0; self.lists.len()];
        let first = word_places(text).next();
        let is_capital = first.is_some_and(|(_, word)| word.starts_with(char::is_uppercase));
        for (at, word) in words.iter().enumerate() {
            let of = self.words.get(without_elided(&word.folded));
            let of = of.map(Vec::as_slice).unwrap_or_default();
            // Any word that begins a sentence looks like a name.
            if word.is_name || at == 0 && is_capital && of.is_empty() && self.keeps_names {
                continue;
            }
            let known = of.iter().fold(0, |bits, at| bits | bit(*at));
            let writers = self.writers(&word.folded) | known;
            let lists = strange.iter_mut().enumerate();
            lists.filter(|(at, _)| writers & bit(*at) == 0).for_each(|(_, count)| *count += 1);
        }
        strange
    }

    /// A bit for each list whose language writes all letters of `word`.
    fn writers(&self, word: &str) -> u32 {
        let letters = word.chars().filter(|letter| (self.is_of_script)(*letter));
        letters.fold(u32::MAX, |bits, it| bits & self.letters.get(&it).copied().unwrap_or(0))
    }
}

/// The languages of the pairs in [`PAIRS`] that `words` hold, with what each counts.
fn pairs(words: &[Word]) -> impl Iterator<Item = (NaturalLanguage, u32)> {
    let stands = move |first: &str, second: &str| {
        words.windows(2).any(|pair| pair[0].folded == first && pair[1].folded == second)
    };
    let held = PAIRS.iter().filter(move |(_, first, second)| stands(first, second));
    held.map(|(language, ..)| (*language, VOTE))
}

/// The languages that signs and letters of `text`, which has `words`, tell of, with what each counts: a question in
/// Spanish may quote no word that only makes a question, and one in English a word of Spanish.
fn spellings(text: &str, words: &[Word]) -> impl Iterator<Item = (NaturalLanguage, u32)> {
    let spanish = text.contains(['¿', '¡']).then_some((NaturalLanguage::Spanish, 2 * VOTE));
    // What makes a question in Turkish stands at its end.
    let asks = text.trim_end().ends_with('?');
    let last = words.last().filter(|word| asks && ["mi", "kim", "ne"].contains(&&*word.folded));
    let turkish = last.map(|_| (NaturalLanguage::Turkish, VOTE / 2));
    // Names tell nothing where they keep their spelling.
    let written = move || words.iter().filter(|word| !word.is_name && !word.folded.is_ascii());
    let has = move |letters: &str| {
        written().any(|word| letters.split(' ').any(|it| word.folded.contains(it)))
    };
    let told = SPELLINGS
        .iter()
        .filter(move |(_, letters, others)| has(letters) && (others.is_empty() || !has(others)));
    let told = told.map(|(language, ..)| (*language, VOTE / 2));
    spanish.into_iter().chain(turkish).chain(told)
}
