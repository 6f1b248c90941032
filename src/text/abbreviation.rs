//! Does this full stop end a sentence?
//!
//! UAX #29 proposes an end; here the word before the stop and the word after it are looked
//! at. Words in more than one list of languages are kept where a wrong answer costs least:
//! two sentences taken for one make a longer quotation, one taken for two a broken one.
//!
//! [`list`] has the abbreviations, [`starter`] the words that begin sentences; [`initial`] knows letters that stand for
//! names, [`date`] the stops within dates, and [`ambiguous`] abbreviations that are ordinary words elsewhere.

mod ambiguous;
mod date;
mod initial;
mod list;
mod starter;

use unicode_normalization::UnicodeNormalization;

use ambiguous::{is_messieurs, is_okay, is_ordinary_word, is_vietnamese_title};
use date::is_in_date;
use initial::{
    is_acronym, is_behind_surname, is_initial, is_letter_of_hindi, is_letter_without_capital,
    is_single_letter,
};
use list::AbbreviationKind::{self, Connective, Either, Limit, Month, Name, Number, Title, Year};
use list::is_of_kind;
pub(crate) use starter::is_starter;

use super::elision::behind_article;
use super::script::{is_hangul, is_khmer, is_thai_or_lao};
use super::word_list::list_has;

/// Longest word looked at, in bytes; longer ones are neither abbreviations nor starters.
const LONGEST_WORD: usize = 32;

/// White space and word that follow a stop are looked for in so many bytes.
const LONGEST_GAP: usize = 128;

/// Words that are shortened before what they stand for, of which a text in small letters does not tell whether they end a
/// sentence.
const SHORTENED: &[&str] =
    &["abbr", "def", "env", "etc", "incl", "max", "min", "opt", "resp", "usw", "vars"];

/// Titles before names, as they are spelled: "MW" and "mm" are units, and "mag" is a verb.
const NAMED: &[&str] = &["Bc", "Ir", "Mag", "Mw", "Pr", "Sig", "ThS", "mw", "sig"];

/// Abbreviations before a name that are other words where no article stands before them: "l'arch. Bianchi".
const BEHIND_ARTICLES: &[&str] = &["arch", "on"];

/// Parts of addresses before a name or a number, as they are spelled: "CAD" is something else.
const STREETS: &[&str] = &["Av", "Bd", "Cad", "Mah", "Sok", "St", "bd", "bld", "rte", "просп"];

/// Parts of addresses before a name that are other words where no number stands before them: "12, av. Foch".
const STREETS_BEHIND_NUMBERS: &[&str] = &["av", "pl"];

/// Paragraphs of laws, before a number in small letters: "Co." is a company.
const PARAGRAPHS: &[&str] = &["co", "jo"];

/// Before the sign of a section.
const BEFORE_SECTIONS: &[&str] = &["gem", "i.v.m", "lt", "s"];

/// With what must follow them: "v. Chr.".
const PAIRS: &[(&str, &str)] = &[
    ("ee", "uu"),
    ("n", "chr"),
    ("u", "cie"),
    ("u", "co"),
    ("v", "chr"),
    ("कि", "ग्रा"),
    ("कि", "मी"),
    ("н", "э"),
    ("т", "д"),
    ("т", "п"),
];

/// What a sentence may end with although its last word is an abbreviation elsewhere: "and so on", square and cubic metres.
const ENDINGS: &[(&str, &str)] = &[("и", "пр"), ("кв", "м"), ("куб", "м")];

/// How sentences begin that say first when something was: the word for a year does not end them. So does a number.
const BEFORE_TIMES: &str = "\
    в с со к ко до по после на от около между начиная согласно у з зі із від през към \
    w od do na po z przed dnia v ve";

/// Before an ordinal number in German.
const BEFORE_ORDINALS: &[&str] = &[
    "ab", "am", "als", "beim", "bis", "dem", "den", "der", "des", "die", "das", "im", "ins", "ihr",
    "ihre", "ihrem", "ihren", "ihrer", "mein", "meinem", "sein", "seine", "seinem", "seinen",
    "seiner", "seit", "und", "vom", "zum", "zur",
];

/// Names of months that follow an ordinal number in languages that write it with a stop.
const MONTHS: &str = "\
    januar jänner februar märz april mai juni juli august september oktober november dezember \
    jan jän feb febr apr aug sept sep okt nov dez \
    jahrhundert jahrhunderte jahrhunderten jahrhunderts jahrtausend jahrtausende jahrtausends jahrzehnt jahrzehnts jh jhd \
    quartal klasse auflage";

/// How a sentence of Japanese goes on behind a quote, and how other sentences begin with the same letters.
const PARTICLES: &str = "か が だ って で と に の は へ も や を";
const LIKE_PARTICLES: &str = "\
    かつ かな がん だが だから だけど でき では でも とき とく とこ とて とに とも とり にわ のち はい はじ はた もう もし もち もっと もと \
    やっ やは";

/// Whether a sentence ends between `before`, the sentence so far, and `after`, which follows.
///
/// `caseless` says that capitals are missing from the text and mean nothing here.
pub(crate) fn is_end(before: &str, after: &str, caseless: bool) -> bool {
    let written = before.trim_end();
    let core = written.trim_end_matches(is_closing);
    let quoted = core.len() < written.len();
    // French has a space before the sign that ends a quote.
    let core = if quoted { core.trim_end() } else { core };
    // A long gap is layout; looking through it from each end proposed would be quadratic.
    let next = after[..after.floor_char_boundary(LONGEST_GAP)].trim_start();
    match core.chars().next_back() {
        _ if quoted && goes_on_behind_quote(before, after, next) => false,
        // ".zip" and ".NET" begin with their full stop.
        Some('.') if begins_word(before, after) || stands_in_number(before, after) => false,
        Some('!' | '?') => !(quoted && !caseless && next.starts_with(char::is_lowercase)),
        Some('.') if !quoted => is_full_stop(core, next, caseless),
        _ => true,
    }
}

/// Whether `before`, up to a full stop, ends with a word that is mostly shortened by it, or with a single letter.
pub(super) fn is_shortened(before: &str) -> bool {
    let word = last_word(before).unwrap_or_default();
    is_single_letter(word) || SHORTENED.contains(&fold(word).as_str())
}

/// Whether `after`, which begins with `next` behind white space, goes on with the sentence whose quote or bracket ends with `before`:
/// Japanese with a particle, and Korean with any word that no space parts from it.
fn goes_on_behind_quote(before: &str, after: &str, next: &str) -> bool {
    let begins_with_one_of =
        |list: &str| list.split_ascii_whitespace().any(|it| next.starts_with(it));
    let is_japanese = before.trim_end().ends_with(['」', '』', '）']);
    let is_korean = after.starts_with(is_hangul) && !before.ends_with(char::is_whitespace);
    is_korean || is_japanese && begins_with_one_of(PARTICLES) && !begins_with_one_of(LIKE_PARTICLES)
}

/// Whether the full stop that `before` ends with stands right before a letter of `after`, and behind a space.
fn begins_word(before: &str, after: &str) -> bool {
    before.ends_with(" .") && after.starts_with(char::is_alphanumeric)
}

/// Whether the full stop that `before` ends with parts a digit from a letter of `after`, as in "NL8123.B01", and does
/// not lack the space before the next sentence.
fn stands_in_number(before: &str, after: &str) -> bool {
    let stem = before.strip_suffix('.').unwrap_or_default();
    let letters = after.split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
    // Of a run without spaces that is longer only the end is looked at: each stop in it may be one.
    let tail = &stem[stem.floor_char_boundary(stem.len().saturating_sub(LONGEST_WORD))..];
    let number = tail.split_whitespace().next_back().unwrap_or_default();
    // "In 1990.Beyoncé" lacks a space; "5.4.0.Final" and "B2.Rev" do not.
    let is_code = number.contains(|c: char| c == '.' || c.is_alphabetic());
    let is_word = letters.chars().nth(1).is_some_and(char::is_lowercase);
    stem.ends_with(|c: char| c.is_ascii_digit())
        && after.starts_with(char::is_uppercase)
        && (!is_word || is_code && !is_starter(letters))
}

/// [`is_end`] where `core` ends with a full stop.
fn is_full_stop(core: &str, next: &str, caseless: bool) -> bool {
    let Some(word) = last_word(core) else { return true };
    let stem = &word[..word.len() - 1];
    if stem.is_empty() || stem.ends_with('.') {
        return true;
    }
    if word.len() == core.len() && is_enumerator(stem) || is_in_date(core, next) {
        return false;
    }
    let before = last_word(core[..core.len() - word.len()].trim_end()).unwrap_or("");
    let is_of_phrases = |c: char| is_thai_or_lao(c) || is_khmer(c);
    if stem.ends_with(is_of_phrases) {
        // These languages shorten words with a stop and end no sentence with one. A unit may be its last word.
        return before.ends_with(char::is_numeric) && next.starts_with(is_of_phrases);
    }
    let behind = behind_article(stem);
    let stem = behind.unwrap_or(stem);
    let place = StopPlace {
        core,
        before,
        stem,
        folded: fold(stem),
        has_article: behind.is_some(),
        follower: first_word(next),
        caseless,
    };
    place.is_end()
}

/// A full stop behind a word, and what stands around it.
struct StopPlace<'a> {
    /// The sentence so far, with the stop.
    core: &'a str,
    /// The word before the one that the stop stands behind.
    before: &'a str,
    /// That word, without an article that lost its vowel.
    stem: &'a str,
    /// In lower case.
    folded: String,
    /// Whether there was such an article.
    has_article: bool,
    /// The word behind the stop.
    follower: &'a str,
    /// Whether the text has no capitals.
    caseless: bool,
}

impl StopPlace<'_> {
    fn is_end(&self) -> bool {
        !(self.is_fixed()
            || is_letter_without_capital(self.stem)
            || self.is_german_ordinal()
            || self.goes_on()
            || self.caseless && self.folded == "etc")
    }

    fn is(&self, kind: AbbreviationKind) -> bool {
        is_of_kind(&self.folded, kind)
    }

    /// Whether the word before is shortened, too, and both together are of a `kind`: "u. a." is written like "u.a.".
    fn is_with_word_before(&self, kind: AbbreviationKind) -> bool {
        self.before.ends_with('.')
            && is_of_kind(&format!("{}{}", fold(self.before), self.folded), kind)
    }

    /// Titles and connectives: whatever follows, the sentence goes on.
    fn is_fixed(&self) -> bool {
        let last = self.folded.rsplit('-').next().unwrap_or(&self.folded);
        let is_title = is_of_kind(last, Title) && self.stem.starts_with(char::is_uppercase);
        let is_connective = self.is(Connective) || self.is_with_word_before(Connective);
        !self.is_shouted() && (is_title || is_connective || is_letter_of_hindi(self.stem))
    }

    /// Whether the word is in capitals beside others that are not, as names of countries and states are: "CA", "NT".
    fn is_shouted(&self) -> bool {
        !self.caseless
            && !is_single_letter(self.stem)
            && self.stem.chars().all(char::is_uppercase)
            && self.follower.contains(char::is_lowercase)
    }

    /// Whether a number is an ordinal one: "die 4. Armee", "des 18. und 19. Jahrhunderts".
    fn is_german_ordinal(&self) -> bool {
        let leads = || BEFORE_ORDINALS.contains(&fold(self.before).as_str());
        is_ordinal(self.stem)
            && (self.before.ends_with(".,") || leads())
            && self.is_before_capital()
    }

    /// Whether a word with a capital follows that may stand within a sentence.
    fn is_before_capital(&self) -> bool {
        self.follower.starts_with(char::is_uppercase) && !is_starter(self.follower)
    }

    fn is_behind_number(&self) -> bool {
        self.before.ends_with(char::is_numeric)
    }

    /// Whether the sentence goes on from the abbreviation to the word that follows.
    fn goes_on(&self) -> bool {
        let follower = bare(self.follower);
        match self.follower.chars().next() {
            Some(first) if first.is_numeric() => return self.is_numbered(),
            Some('§') => return BEFORE_SECTIONS.contains(&self.folded.as_str()),
            Some('№') => return true,
            _ => {}
        }
        if is_ordinal(self.stem) {
            return list_has(MONTHS, &fold(follower));
        }
        let is_before_roman = self.is(Number) && is_roman(follower);
        let is_pair =
            PAIRS.iter().any(|(first, second)| self.folded == *first && fold(follower) == *second);
        if is_before_roman || is_pair {
            return true;
        }
        let before = || fold(bare(self.before));
        if ENDINGS.iter().any(|(first, last)| self.folded == *last && before() == *first) {
            return false;
        }
        if self.is(Year) && self.is_behind_number() && self.stem == self.folded {
            return self.begins_with_time() && !is_starter(self.follower);
        }
        self.is_before_name() || self.is_inside()
    }

    /// Whether a number behind the abbreviation belongs to it: "Tél. 01", "Bahnhofstr. 12", "max. 500", but not that behind "5 min.".
    fn is_numbered(&self) -> bool {
        let is_small = self.before.is_empty() || self.stem == self.folded;
        let is_counted = self.is_behind_number();
        let is_street = STREETS.contains(&self.stem) || self.folded.ends_with("str");
        self.is(Number) && !is_ordinary_word(self.stem, self.before)
            || is_street
            || self.is(Limit) && is_small && !is_counted && !is_okay(self.stem, self.before)
            || self.is(Month) && (is_counted || fold(self.before) == "de")
            || self.is(Year) && !is_counted
            || PARAGRAPHS.contains(&self.stem)
    }

    /// Whether the sentence begins with a time: "В 2024 г. Россия", "5 мая 2024 г. Россия".
    fn begins_with_time(&self) -> bool {
        let first = fold(first_word(self.core));
        first.starts_with(char::is_numeric) || list_has(BEFORE_TIMES, &first)
    }

    /// Whether a name follows that the abbreviation is part of.
    fn is_before_name(&self) -> bool {
        // A letter in capitals is an initial, and one before a letter alone counts something.
        let is_letter = is_single_letter(self.stem)
            && (self.stem.starts_with(char::is_uppercase)
                || !self.follower.chars().nth(1).is_some_and(char::is_alphabetic));
        let is_named =
            (self.is(Name) || self.is(Year)) && !is_ordinary_word(self.stem, self.before);
        let is_title = is_named && !is_letter && !self.is_shouted()
            || is_vietnamese_title(self.stem, self.core, self.follower)
            || is_messieurs(self.stem, self.before)
            || self.has_article && BEHIND_ARTICLES.contains(&self.folded.as_str())
            || NAMED.contains(&self.stem);
        let follows_number = self.is_behind_number() || self.before.ends_with(',');
        let is_street = STREETS.contains(&self.stem)
            || follows_number && STREETS_BEHIND_NUMBERS.contains(&self.stem);
        self.is_before_capital()
            && (is_title && !self.is_behind_number() || is_street || self.is_german_and())
    }

    /// Whether it is the German "u." between two nouns. Dutch writes so what it calls its reader, behind a verb or a preposition.
    fn is_german_and(&self) -> bool {
        let head = &self.core[..self.core.floor_char_boundary(LONGEST_GAP)];
        let is_behind_others =
            || head.len() < self.core.len() || head.split_whitespace().nth(2).is_some();
        self.stem == "u" && self.before.starts_with(char::is_uppercase) && is_behind_others()
    }

    /// Whether it is an initial or an abbreviation that may stand within a sentence as well as at its end, and nothing follows that
    /// begins one.
    fn is_inside(&self) -> bool {
        let is_acronym = is_acronym(self.stem);
        if is_single_letter(self.stem) && is_initial(self.follower) {
            return true;
        }
        if is_acronym && is_behind_surname(self.core) {
            return false;
        }
        let is_either = self.is(Either) || self.is_with_word_before(Either);
        (is_acronym || is_either) && !is_starter(self.follower)
    }
}

/// `word` without the punctuation behind it.
fn bare(word: &str) -> &str {
    word.trim_end_matches(['.', ',', ';', ':', ')'])
}

/// Whether `word` is a Roman number; "I" and other letters are rather words or initials.
fn is_roman(word: &str) -> bool {
    let is_digit = |c: char| matches!(c, 'I' | 'V' | 'X' | 'L' | 'C' | 'D' | 'M');
    matches!(word, "V" | "X") || word.len() > 1 && word.chars().all(is_digit)
}

/// The number or letter before a list item: "1", "2.3", "a", "IV". Of Korean, only syllables that it counts with: "네." is a sentence.
fn is_enumerator(stem: &str) -> bool {
    let numbers = stem.split('.').all(|part| {
        (1..=3).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    });
    let roman = stem.len() <= 5 && stem.bytes().all(|b| b"ivxlcIVXLC".contains(&b));
    let is_counted = |c: char| !is_hangul(c) || "가나다라마바사아자차카타파하".contains(c);
    numbers || roman || is_single_letter(stem) && stem.starts_with(is_counted)
}

/// A number of one or two digits.
fn is_ordinal(stem: &str) -> bool {
    stem.len() <= 2 && stem.bytes().all(|byte| byte.is_ascii_digit())
}

/// The last word of `text`, without the brackets, quotes and signs of emphasis before it.
fn last_word(text: &str) -> Option<&str> {
    let from = text.floor_char_boundary(text.len().saturating_sub(LONGEST_WORD));
    let tail = &text[from..];
    let word = match tail.rfind(char::is_whitespace) {
        Some(at) => tail[at..].trim_start(),
        None if from > 0 => return None,
        None => tail,
    };
    Some(word.trim_start_matches(stands_before_words))
}

/// The first word of `text`, without the brackets, quotes and signs of emphasis before it.
fn first_word(text: &str) -> &str {
    let text = text.trim_start_matches(stands_before_words);
    let head = &text[..text.floor_char_boundary(LONGEST_WORD)];
    head.split(char::is_whitespace).next().unwrap_or("")
}

fn stands_before_words(character: char) -> bool {
    is_opening(character) || matches!(character, '"' | '\'' | '*' | '_')
}

/// Brackets and quotes that only ever open; “ and ‘ do so where they touch what follows.
pub(super) fn is_opening(character: char) -> bool {
    matches!(
        character,
        '(' | '['
            | '{'
            | '“'
            | '‘'
            | '„'
            | '‚'
            | '«'
            | '‹'
            | '¿'
            | '¡'
            | '（'
            | '［'
            | '｛'
            | '「'
            | '『'
            | '【'
            | '〔'
            | '〈'
            | '《'
    )
}

/// For comparison with the lists.
fn fold(word: &str) -> String {
    if word.is_ascii() {
        word.to_ascii_lowercase()
    } else {
        word.nfc().collect::<String>().to_lowercase()
    }
}

/// Quotes and brackets that may stand between a stop and the end of its sentence.
pub(super) fn is_closing(character: char) -> bool {
    matches!(
        character,
        ')' | ']'
            | '}'
            | '"'
            | '\''
            | '”'
            | '’'
            | '“'
            | '‘'
            | '»'
            | '›'
            | '）'
            | '］'
            | '｝'
            | '」'
            | '』'
            | '】'
            | '〕'
            | '〉'
            | '》'
            | '*'
            | '_'
            | '`'
    )
}
