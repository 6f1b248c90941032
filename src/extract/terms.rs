//! # terms: which words carry the question, in the script that it is written in?
//!
//! ```text
//! question → words │ those that carry it │ those that ask;  (term, word of a text) → credit from 0 to 1
//! ```
//!
//! A script without spaces gives single characters for words, which say little. There a character is
//! compared together with the one to its right, as the index of texts does it. Each character
//! begins one pair, so words and pairs have the same numbers. A number that is written in several words is compared by the
//! first of them.

use unicode_segmentation::UnicodeSegmentation;

use super::measure::{counted_unit, is_same_measure};
use crate::text::elision::without_elided;
use crate::text::function_word::{
    is_asking, is_function_character, is_function_word_of, is_typed_function_word,
};
use crate::text::language::{NaturalLanguage, language};
use crate::text::number::stands_for_number;
use crate::text::number_run::sure_runs;
use crate::text::script::{is_han, is_hangul, is_hiragana, is_southeast_asian};
use crate::text::spelling::typed_credit;
use crate::text::word_list::list_has;
use crate::text::words::{Word, credit, each_word, word_places};

/// Syllables of Korean words that must be shared at the beginning, and the part of the longer word that
/// they must make: a syllable is two or three letters, and endings are long.
const LEAST_SYLLABLES: usize = 2;
const LEAST_SYLLABLE_SHARE: f32 = 0.5;

/// How well a version stands for the line of releases that it is of.
const LINE_OF_RELEASES: f32 = 0.8;

/// How well a number stands for itself written otherwise, as "3" and "three".
const SPELLED_OTHERWISE: f32 = 0.8;

/// How well a word stands for itself typed without accents.
const TYPED_OTHERWISE: f32 = 0.95;

/// How many words of a language with spaces a pair of characters stands for. Of the same messages of programs, some hundreds to
/// thousands in each language, Thai has 5.4 times as many terms as English, Burmese 4.1, Khmer 3.1, Chinese 1.6 and
/// Japanese 1.1 to 1.6; of the questions of XQuAD Chinese has 1.57 times as many, and German, Russian and Arabic 0.96 to 1.16.
const SOUTHEAST_ASIAN_WORDS: f32 = 0.2;
const EAST_ASIAN_WORDS: f32 = 0.625;

/// Numbers from two on in words. "One" is an article in many languages, and words that are something else in another
/// language are left out: "due", "once", "on", "dos", "ten", "onze".
const NUMBERS: &[(&str, &str)] = &[
    ("2", "two zwei deux dois duas twee dwa dwie iki два две дві"),
    ("3", "three drei trois tres três drie trzy üç три"),
    ("4", "four vier quatre cuatro quattro quatro cztery dört четыре чотири"),
    ("5", "five fünf cinq cinco cinque vijf pięć beş пять п'ять п’ять"),
    ("6", "six sechs seis zes sześć шесть шість"),
    ("7", "seven sieben siete sette zeven siedem семь сім"),
    ("8", "eight huit ocho oito osiem sekiz восемь вісім"),
    ("9", "nine neun nueve nove negen dziewięć dokuz девять дев'ять дев’ять"),
    ("10", "zehn dix diez dieci tien dziesięć десять"),
    ("11", "eleven undici jedenaście одиннадцать одинадцять"),
    ("12", "twelve zwölf douze doce dodici twaalf dwanaście двенадцать дванадцять"),
];

/// The words of a question.
#[derive(Debug, Default)]
pub(super) struct QuestionWords {
    /// All its words, as they stand.
    pub words: Vec<Word>,
    /// Those that carry it, each once, in its order, as they are compared.
    pub terms: Vec<Word>,
    /// For each word, which term it is part of.
    pub term_of: Vec<Option<usize>>,
    /// For each word, whether it asks.
    pub asks: Vec<bool>,
}

impl QuestionWords {
    /// Reads the first `most` words of `text`. A question of function words alone keeps them all as terms.
    pub fn read(text: &str, most: usize) -> QuestionWords {
        let language = language(text);
        let mut words: Vec<Word> = each_word(text).take(most).collect();
        // Every German noun has a capital.
        if language == Some(NaturalLanguage::German) {
            words.iter_mut().for_each(|word| word.is_name = false);
        }
        let compared = compared(text, &words);
        let both = words.iter().zip(&compared);
        let is_content: Vec<bool> =
            both.map(|(word, compared)| is_content(word, compared, language)).collect();
        let asks = words.iter().map(|word| is_asking(&word.folded, language)).collect();
        let mut read = QuestionWords { asks, term_of: vec![None; words.len()], ..Self::default() };
        let is_alone: Vec<bool> =
            (0..words.len()).map(|at| is_lone(&compared, &is_content, at)).collect();
        let all_alike = !is_content.contains(&true) && !is_alone.contains(&true);
        let places: Vec<(usize, &str)> = word_places(text).take(words.len()).collect();
        let numbers = sure_runs(text, &places);
        for (at, word) in compared.iter().enumerate() {
            if let Some(number) = numbers.iter().find(|it| it.words.contains(&at))
                && number.words.start < at
            {
                read.term_of[at] = read.term_of[number.words.start];
                continue;
            }
            let before = at.checked_sub(1).filter(|it| is_content[*it]);
            let before = before.filter(|it| is_pair(&compared[*it]));
            if let Some(before) = before.filter(|_| !is_content[at] || is_single(word)) {
                // The right half of the pair before it.
                let is_half = compared[before].folded.ends_with(&words[at].folded);
                read.term_of[at] = read.term_of[before].filter(|_| is_half);
            } else if is_content[at] || all_alike {
                read.term_of[at] = Some(read.place(word));
            } else if is_alone[at] {
                read.term_of[at] = Some(read.place(&words[at]));
            }
        }
        read.words = words;
        read
    }

    fn place(&mut self, word: &Word) -> usize {
        let known = self.terms.iter().position(|it| it.folded == word.folded);
        known.unwrap_or_else(|| {
            self.terms.push(word.clone());
            self.terms.len() - 1
        })
    }
}

/// The words of `text` as they are compared, as many as `words`, which are its first words.
pub(super) fn compared(text: &str, words: &[Word]) -> Vec<Word> {
    let spans: Vec<(usize, &str)> = word_places(text).take(words.len()).collect();
    let compare = |(at, word): (usize, &Word)| {
        let (start, own) = spans[at];
        let next = spans.get(at + 1).filter(|(next, _)| *next == start + own.len());
        let folded = match next {
            Some((_, next)) if is_unspaced(own) && is_unspaced(next) => {
                format!("{}{}", word.folded, words[at + 1].folded)
            }
            _ if is_name_with_apostrophe(own) => word.folded.clone(),
            _ => without_article(without_elided(&word.folded)),
        };
        Word { folded, ..word.clone() }
    };
    let mut compared: Vec<Word> = words.iter().enumerate().map(compare).collect();
    for number in sure_runs(text, &spans) {
        compared[number.words.start].folded = number.written;
    }
    for at in 1..compared.len() {
        if let Some(unit) = counted_unit(&compared[at].folded, &words[at - 1].folded) {
            compared[at].folded = unit.to_string();
        }
    }
    compared
}

/// Whether what stands before an apostrophe is part of a name: "D'Angelo", "Ballon d'Or", but not "l'Italia".
fn is_name_with_apostrophe(word: &str) -> bool {
    word.split_once(['\'', '’']).is_some_and(|(first, rest)| {
        let is_capital = first.starts_with(char::is_uppercase) || first == "d";
        is_capital && rest.starts_with(char::is_uppercase)
    })
}

/// How well `word` of a text stands for `term`, both as they are compared.
pub(super) fn term_credit(term: &str, word: &str) -> f32 {
    match term.chars().next() {
        _ if term == word || is_same_measure(term, word) => 1.0,
        Some(first) if is_unspaced(term) => {
            let is_single = term.chars().nth(1).is_none();
            f32::from(is_single && word.starts_with(first))
        }
        Some(first) if is_hangul(first) => syllable_credit(term, word),
        // "4.1" is the line of releases to which "4.1.3" belongs.
        _ if is_line_of_releases(term, word) => LINE_OF_RELEASES,
        _ if is_number_in_words(term, word) => SPELLED_OTHERWISE,
        Some('0'..='9') if is_same_amount(term, word) => 1.0,
        // "4.1.3" is another version than "4.1.0", however alike they begin.
        _ if !digits(term).eq(digits(word)) => 0.0,
        _ => credit(term, word).max(TYPED_OTHERWISE * typed_credit(term, word)),
    }
}

/// Whether `word` is the number `term` with other signs between its digits.
fn is_same_amount(term: &str, word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit()) && stands_for_number(term, word)
}

/// Whether one of them is a small number in digits and the other the same in words.
fn is_number_in_words(term: &str, word: &str) -> bool {
    let is_small = |it: &str| it.len() <= 2 && it.bytes().all(|byte| byte.is_ascii_digit());
    let (number, words) = match (is_small(term), is_small(word)) {
        (true, false) => (term, word),
        (false, true) => (word, term),
        _ => return false,
    };
    let known = NUMBERS.iter().find(|(digits, _)| *digits == number);
    known.is_some_and(|(_, known)| list_has(known, words))
}

fn is_line_of_releases(term: &str, word: &str) -> bool {
    let rest = word.strip_prefix(term).unwrap_or_default();
    let is_version = term.starts_with(|c: char| c.is_ascii_digit()) && term.contains('.');
    // Three digits behind a point are thousands: "1.000" is no part of "1.000.000".
    let are_thousands = word.split('.').skip(1).all(|part| part.len() == 3);
    is_version && rest.starts_with('.') && !are_thousands
}

fn digits(word: &str) -> impl Iterator<Item = char> {
    word.chars().filter(|c| c.is_numeric())
}

fn syllable_credit(term: &str, word: &str) -> f32 {
    let shared = term.chars().zip(word.chars()).take_while(|(a, b)| a == b).count();
    let longer = term.chars().count().max(word.chars().count());
    let share = shared as f32 / longer.max(1) as f32;
    let is_enough = shared >= LEAST_SYLLABLES && share >= LEAST_SYLLABLE_SHARE;
    if term == word || is_enough { share } else { 0.0 }
}

/// Whether a word carries the question, by itself or with the character that it is compared with.
fn is_content(word: &Word, compared: &Word, language: Option<NaturalLanguage>) -> bool {
    if is_unspaced(&word.folded) {
        return is_pair(compared) && !compared.folded.chars().any(is_function_character);
    }
    // "C'è" and "qu'est" are made of two words that only make a question.
    let elided = compared.folded.as_str();
    let is_function =
        |word: &str| is_function_word_of(word, language) || is_typed_function_word(word, language);
    !is_function(&word.folded) && !is_function(elided)
}

fn is_pair(word: &Word) -> bool {
    is_unspaced(&word.folded) && word.folded.graphemes(true).nth(1).is_some()
}

fn is_single(word: &Word) -> bool {
    is_unspaced(&word.folded) && !is_pair(word)
}

fn starts_with_function(word: &Word) -> bool {
    word.folded.chars().next().is_some_and(is_function_character)
}

/// Whether a character says something and has no neighbour with which it makes a pair that does.
fn is_lone(compared: &[Word], is_content: &[bool], at: usize) -> bool {
    is_unspaced(&compared[at].folded)
        && !starts_with_function(&compared[at])
        && !is_content[at]
        && (at == 0 || !is_content[at - 1])
}

/// Han, Hiragana, Thai, Lao, Burmese and Khmer: whatever is a word by itself for want of a dictionary.
fn is_unspaced(word: &str) -> bool {
    let is_of_script = |c: char| is_southeast_asian(c) || is_hiragana(c) || is_han(c);
    word.starts_with(|c: char| !c.is_numeric() && is_of_script(c))
}

/// How many words of a language with spaces `term`, as it is compared, stands for.
pub(super) fn worth_in_words(term: &Word) -> f32 {
    if is_unspaced(&term.folded) && term.folded.starts_with(is_southeast_asian) {
        SOUTHEAST_ASIAN_WORDS
    } else if is_pair(term) {
        EAST_ASIAN_WORDS
    } else {
        1.0
    }
}

/// An Arabic word without its article and what is written with that, and with letters that are often
/// confused made one; other words as they are.
pub(crate) fn without_article(word: &str) -> String {
    if !word.starts_with(|c| matches!(c, '\u{0620}'..='\u{064A}')) {
        return word.to_owned();
    }
    let folded: String = word
        .chars()
        .filter(|c| !matches!(c, '\u{064B}'..='\u{0652}' | '\u{0640}'))
        .map(|c| match c {
            'أ' | 'إ' | 'آ' => 'ا',
            'ى' => 'ي',
            'ة' => 'ه',
            other => other,
        })
        .collect();
    let bare = ["وال", "بال", "كال", "فال", "ال", "لل"]
        .iter()
        .find_map(|article| folded.strip_prefix(article))
        .filter(|rest| rest.chars().count() > 1);
    bare.map(str::to_owned).unwrap_or(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms_of(question: &str) -> Vec<String> {
        QuestionWords::read(question, 100).terms.into_iter().map(|it| it.folded).collect()
    }

    #[test]
    fn a_number_with_points_is_a_version_or_thousands() {
        for (term, word, credit) in [
            ("4.1", "4.1.3", LINE_OF_RELEASES),
            ("4.1.3", "4.1.3", 1.0),
            ("4.1.3", "4.1.0", 0.0),
            ("4.1", "4.10", 0.0),
            ("1.000", "1.000.000", 0.0),
        ] {
            assert_eq!(term_credit(term, word), credit, "{term} {word}");
        }
    }

    #[test]
    fn a_small_number_is_the_same_in_words() {
        for (term, word) in [("three", "3"), ("3", "drei"), ("zwölf", "12"), ("2", "два")] {
            assert_eq!(term_credit(term, word), SPELLED_OTHERWISE, "{term} {word}");
        }
        for (term, word) in [("three", "4"), ("one", "1"), ("due", "2"), ("10", "on"), ("", "2")] {
            assert_eq!(term_credit(term, word), 0.0, "{term} {word}");
        }
        assert_eq!(term_credit("three", "three"), 1.0);
    }

    #[test]
    fn names_keep_what_stands_before_their_apostrophe() {
        assert_eq!(terms_of("When was D'Angelo born?"), ["d'angelo", "born"]);
        assert_eq!(terms_of("Who won the Ballon d'Or?"), ["won", "ballon", "d'or"]);
        assert_eq!(terms_of("Qual è la capitale dell'Italia?"), ["capitale", "italia"]);
    }

    #[test]
    fn words_that_carry_the_question_are_found_in_each_language() {
        assert_eq!(terms_of("How many days off do I have?"), ["many", "days", "off"]);
        assert_eq!(terms_of("Wie viele Urlaubstage habe ich?"), ["urlaubstage"]);
        assert_eq!(terms_of("Сколько стоит билет?"), ["стоит", "билет"]);
        assert_eq!(terms_of("متى تفتح المكتبة؟"), ["تفتح", "مكتبه"]);
        assert_eq!(terms_of("数据库的默认端口是多少？"), ["数据", "据库", "默认", "认端", "端口"]);
        assert_eq!(terms_of("谁的猫？"), ["猫"]);
        assert_eq!(terms_of("图书館はいつ開きますか"), ["图书", "书館", "開"]);
        assert_eq!(terms_of("What is it?"), ["what", "is", "it"]);
        assert_eq!(terms_of(""), [""; 0]);
    }

    #[test]
    fn every_word_knows_its_term() {
        let read = QuestionWords::read("数据库的端口", 100);
        assert_eq!(read.words.len(), 6);
        assert_eq!(read.term_of, [Some(0), Some(1), Some(1), None, Some(2), Some(2)]);
        let read = QuestionWords::read("Who wrote Emma, and why did Emma sell?", 100);
        assert_eq!(read.term_of[1..3], [Some(0), Some(1)]);
        assert_eq!((read.term_of[6], read.asks[0], read.asks[1]), (Some(1), true, false));
    }

    #[test]
    fn an_apostrophe_parts_words() {
        assert_eq!(terms_of("Qu'est-ce que l'entrée ?"), ["entrée"]);
        assert_eq!(terms_of("C'è un bagnino nell’acqua?"), ["bagnino", "acqua"]);
        assert_eq!(terms_of("Rize'de otel var mı?"), ["rize", "otel"]);
    }

    #[test]
    fn numbers_are_the_same_or_others() {
        assert_eq!(term_credit("4.1.3", "4.1.0"), 0.0);
        assert_eq!(term_credit("abc1000", "abc1001"), 0.0);
        assert_eq!(term_credit("10,000", "10,001"), 0.0);
        assert_eq!((term_credit("4.1", "4.1.0"), term_credit("4.1.0", "4.1")), (0.8, 0.0));
        assert_eq!((term_credit("4.1", "4.10"), term_credit("4", "4.1")), (0.0, 0.0));
        assert!(term_credit("1980s", "1980") > 0.7 && term_credit("4.1.3", "4.1.3") == 1.0);
    }

    /// How well the best word of `text` stands for each term of `question`.
    fn credits(question: &str, text: &str) -> Vec<f32> {
        let words: Vec<Word> = each_word(text).collect();
        let compared = compared(text, &words);
        let best = |term: &Word| {
            let credits = compared.iter().map(|word| term_credit(&term.folded, &word.folded));
            credits.fold(0.0, f32::max)
        };
        QuestionWords::read(question, 100).terms.iter().map(best).collect()
    }

    #[test]
    fn a_number_is_the_same_however_it_is_written() {
        let ways = [
            "1,250",
            "1250",
            "1250.00",
            "1.250,00",
            "1.250",
            "1 250",
            "1\u{202F}250",
            "1'250",
            "1’250",
            "１，２５０",
            "١٬٢٥٠",
            "१२५०",
        ];
        for (way, other) in ways.iter().flat_map(|way| ways.iter().map(move |it| (way, it))) {
            let (question, text) =
                (format!("Who signs {way} €?"), format!("Anna signs {other} €."));
            assert_eq!(credits(&question, &text), [1.0, 1.0], "{way} {other}");
        }
        for other in ["1,350", "1.251", "12.50", "1,250,000", "125", "1 350", "1.2.50"] {
            let text = format!("Anna signs {other} €.");
            assert_eq!(credits("Who signs 1,250 €?", &text), [1.0, 0.0], "{other}");
        }
        assert_eq!(credits("Who signs 1?", "Anna signs 1 250 €."), [1.0, 1.0]);
        assert_eq!(credits("12000円", "手数料は１万２千円です。"), [1.0]);
        assert_eq!(credits("36000", "They paid $ 36, 000 then."), [1.0]);
        assert_eq!(credits("98.7", "It is 98. 7 % of them."), [1.0]);
        assert_eq!(credits("12130", "Rooms 12, 130 and 145."), [0.0]);
        assert_eq!(credits("１万２千円", "手数料は12,000円です。"), [1.0]);
        assert_eq!(credits("12", "ภายใน๑๒วัน"), [1.0]);
        assert_eq!(credits("27일", "회의는 ２７일에 있다"), [1.0]);
        assert_eq!(credits("27일", "27명이 왔다"), [0.0]);
    }

    #[test]
    fn words_are_the_same_without_accents_but_for_little() {
        for (term, word) in [
            ("kirmizi", "kırmızı"),
            ("kırmızı", "kirmizi"),
            ("schluessel", "schlüssel"),
            ("schlussel", "schlüssel"),
            ("nhay", "nháy"),
            ("επιτρεπεται", "επιτρέπεται"),
            ("گارانتي", "گارانتی"),
        ] {
            assert_eq!(term_credit(term, word), TYPED_OTHERWISE, "{term} {word}");
        }
        assert_eq!(term_credit("schlüssel", "schlüssel"), 1.0);
        assert_eq!(term_credit("schluessel", "schluss"), 0.0);
        assert_eq!(credits("Für wen sind die Schlüssel?", "fuer Schlu\u{308}ssel"), [1.0]);
        assert_eq!(terms_of("Fuer wen sind die Schluessel?"), ["schluessel"]);
    }

    #[test]
    fn a_unit_of_measure_is_the_same_in_full_and_in_short() {
        assert_eq!(credits("What are kilometres?", "15 shekels per km"), [1.0]);
        assert_eq!(credits("Wie viele Stunden?", "täglich 8h"), [1.0]);
        assert_eq!(credits("כמה לקילומטר?", "15 שקלים לק\"מ"), [1.0]);
        assert_eq!(credits("What are kilometres?", "15 shekels per kg"), [0.0]);
        assert_eq!(credits("Wie viele Minuten?", "etwa 5 min"), [1.0]);
        assert_eq!(credits("What are hours?", "radi 24 sata"), [1.0]);
        assert_eq!(credits("What are hours?", "sata ja yksi"), [0.0]);
    }

    #[test]
    fn a_question_has_about_as_many_words_in_each_language() {
        let words = |question: &str| -> f32 {
            QuestionWords::read(question, 100).terms.iter().map(worth_in_words).sum()
        };
        assert_eq!(words("How long does the warranty of the pump last?"), 4.0);
        for question in [
            "Wie lange gilt die Garantie der Pumpe?",
            "Сколько длится гарантия на насос?",
            "水泵的保修期是多长时间？",
            "การรับประกันเครื่องสูบน้ำนานเท่าไร",
            "ປັ໊ມນ້ຳຮັບປະກັນດົນປານໃດ",
        ] {
            let words = words(question);
            assert!((2.0..=6.0).contains(&words), "{question} {words}");
        }
        // A character that stands alone is a word, and a number is one, too.
        assert_eq!((words("谁的猫？"), words("๑๒")), (1.0, 1.0));
    }

    #[test]
    fn words_match_in_other_scripts() {
        assert_eq!(term_credit("端口", "端口"), 1.0);
        assert_eq!(term_credit("端口", "端子"), 0.0);
        assert_eq!(term_credit("猫", "猫是"), 1.0);
        assert!(term_credit("휴가를", "휴가는") > 0.6 && term_credit("휴가를", "출장을") == 0.0);
        assert!(term_credit("библиотека", "библиотеку") > 0.8);
        let credit = |a: &str, b: &str| term_credit(&without_article(a), &without_article(b));
        assert_eq!(credit("المكتبة", "مكتبه"), 1.0);
    }
}
