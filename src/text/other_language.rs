//! # other_language: is this text certainly in another language than the question?
//!
//! ```text
//! ("How long is the warranty?", "保修期为三年。") → yes;  ("How long is the warranty?", "ef_search = 40") → no
//! ```
//!
//! A text in another language shares no words with a question, however well it answers. But most texts that share none do
//! not answer, so only what is certain counts: letters of another script, or words that one language is made with, and next
//! to none of the other one.

use std::collections::HashSet;

use super::language::{NaturalLanguage, language, words_of_questions};
use super::spelling::plain;
use super::words::{Word, each_word};

/// Bytes of a text that are looked at.
const LOOKED_AT: usize = 800;

/// Words of a question that are looked at.
const MOST_WORDS: usize = 100;

/// Letters that a script is told by, one of Chinese counting for three.
const LEAST_LETTERS: usize = 6;

/// Words that tell a language.
const LEAST_TELLING: usize = 2;

/// Words that are no names and make a question where its language is not known.
const LEAST_PLAIN: usize = 3;

/// How many words of another language there are to one of the question's.
const TIMES: usize = 4;

/// What is known of the language of a question.
#[derive(Debug)]
pub(crate) struct AskedLanguage {
    script: Option<WritingScript>,
    language: Option<NaturalLanguage>,
    words: Vec<Word>,
}

/// A script, as far as it tells languages apart: those of Chinese and Japanese, which share theirs in part, are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WritingScript {
    Latin,
    EastAsian,
    Hangul,
    /// Any other, by its blocks of characters.
    Block(u32),
}

impl AskedLanguage {
    /// That of `question`.
    pub(crate) fn of(question: &str) -> AskedLanguage {
        AskedLanguage {
            script: script(question),
            language: language(question),
            words: each_word(question).take(MOST_WORDS).collect(),
        }
    }

    /// Whether `text` is certainly in another language.
    pub(crate) fn is_certainly_not_of(&self, text: &str) -> bool {
        let text = &text[..text.floor_char_boundary(LOOKED_AT)];
        match (self.script, script(text)) {
            (Some(WritingScript::Latin), Some(WritingScript::Latin)) => self.is_told_from(text),
            (Some(WritingScript::Latin), Some(_)) => self.is_sentence(),
            (Some(own), Some(other)) => own != other,
            _ => false,
        }
    }

    /// Whether the question is no mere name, which may stand in a text of any script.
    fn is_sentence(&self) -> bool {
        let is_plain =
            |word: &&Word| !word.is_name && !word.is_number && word.folded.chars().nth(1).is_some();
        self.language.is_some() || self.words.iter().filter(is_plain).count() >= LEAST_PLAIN
    }

    /// Whether words tell that the language of `text`, which is in the Latin script, is another one.
    fn is_told_from(&self, text: &str) -> bool {
        let Some(own) = self.language else { return false };
        let other = language(text).filter(|other| *other != own && !are_kin(own, *other));
        let lists = (words_of_questions(own), other.and_then(words_of_questions));
        let (Some(own), Some(other)) = lists else { return false };
        let [own, other] =
            [own, other].map(|list| list.split_ascii_whitespace().collect::<HashSet<&str>>());
        let is_of = |word: &str, one: &HashSet<&str>, not: &HashSet<&str>| {
            one.contains(word) && !not.contains(word)
        };
        let held: HashSet<String> = each_word(text).map(|word| word.folded).collect();
        let held_plain: HashSet<String> = held.iter().map(|word| plain(word)).collect();
        let of_other = held.iter().filter(|word| is_of(word, &other, &own)).count();
        let of_own = held.iter().filter(|word| is_of(word, &own, &other)).count();
        let asked: HashSet<&str> = self.words.iter().map(|word| word.folded.as_str()).collect();
        let telling = asked.iter().filter(|word| is_of(word, &own, &other));
        // What is typed without accents may look like a word of another language.
        let telling = telling.filter(|word| !held_plain.contains(**word)).count();
        let is_own = !asked.iter().any(|word| is_of(word, &other, &own));
        is_own
            && telling >= LEAST_TELLING
            && of_other >= LEAST_TELLING
            && of_other >= TIMES * of_own
    }
}

/// Whether two languages have so much in common that their words don't tell them apart for certain.
fn are_kin(one: NaturalLanguage, other: NaturalLanguage) -> bool {
    use NaturalLanguage::{Danish, Norwegian, Swedish};
    let is_nordic = |it| matches!(it, Danish | Norwegian | Swedish);
    is_nordic(one) && is_nordic(other)
}

/// The script of three letters of `text` in four; `None` where there is none, or few letters.
fn script(text: &str) -> Option<WritingScript> {
    let mut counts: Vec<(WritingScript, usize)> = Vec::new();
    let letters = text.chars().filter(|c| c.is_alphabetic());
    for (script, letters) in letters.filter_map(script_of) {
        match counts.iter_mut().find(|(known, _)| *known == script) {
            Some((_, count)) => *count += letters,
            None => counts.push((script, letters)),
        }
    }
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    let (script, most) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (most >= LEAST_LETTERS && 4 * most >= 3 * all).then_some(script)
}

/// The script of a letter, and for how many letters of an alphabet it stands.
fn script_of(letter: char) -> Option<(WritingScript, usize)> {
    let code = letter as u32;
    Some(match code {
        0x41..=0x24F | 0x1E00..=0x1EFF => (WritingScript::Latin, 1),
        0x1100..=0x11FF | 0xAC00..=0xD7AF => (WritingScript::Hangul, 2),
        0x3041..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0x20000..=0x323AF => {
            (WritingScript::EastAsian, 3)
        }
        0x370..=0x3FF | 0x1F00..=0x1FFF => (WritingScript::Block(0x370), 1),
        0x400..=0x52F | 0x1C80..=0x1C8F => (WritingScript::Block(0x400), 1),
        0x600..=0x6FF | 0x750..=0x77F | 0x8A0..=0x8FF | 0xFB50..=0xFDFF | 0xFE70..=0xFEFF => {
            (WritingScript::Block(0x600), 1)
        }
        // The others, from Armenian to Khmer, have blocks of their own.
        0x530..=0x5FF | 0x900..=0xFFF | 0x1000..=0x10FF | 0x1200..=0x137F | 0x1780..=0x17FF => {
            (WritingScript::Block(block(code)), 1)
        }
        _ => return None,
    })
}

/// The first character of the blocks of a script.
fn block(code: u32) -> u32 {
    match code {
        0x530..=0x58F => 0x530,
        0x590..=0x5FF => 0x590,
        0xF00..=0xFFF => 0xF00,
        0x1000..=0x109F => 0x1000,
        0x10A0..=0x10FF => 0x10A0,
        0x1200..=0x137F => 0x1200,
        other => other & !0x7F,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_other(question: &str, text: &str) -> bool {
        AskedLanguage::of(question).is_certainly_not_of(text)
    }

    #[test]
    fn texts_in_other_languages_are_told() {
        let question = "How long is the warranty of the device?";
        for text in [
            "设备自购买之日起保修三年。",
            "本製品の保証期間は購入日から三年間です。",
            "기기의 보증 기간은 구입일로부터 3년입니다.",
            "การรับประกันเครื่องมีระยะเวลาสามปีนับจากวันที่ซื้อ",
            "مدة ضمان الجهاز ثلاث سنوات من تاريخ الشراء.",
            "Гарантия на устройство составляет три года.",
            "Η εγγύηση της συσκευής είναι τρία χρόνια.",
            "उपकरण की वारंटी तीन साल की है।",
            "De garantie op het apparaat bedraagt drie jaar en begint met de aankoop.",
            "A garantia do aparelho é de três anos e não cobre as pilhas.",
            "Die Garantie für das Gerät beträgt drei Jahre und beginnt mit dem Kauf.",
        ] {
            assert!(is_other(question, text), "{text}");
        }
        for question in
            ["保修期是多长时间？", "Сколько длится гарантия?", "Wie lange gilt die Garantie?"]
        {
            let text = "The warranty of the device is three years, and it starts when you buy it.";
            assert!(is_other(question, text), "{question}");
        }
    }

    #[test]
    fn what_may_be_of_one_language_is_not_told_apart() {
        for (question, text) in [
            ("How long is the warranty?", "The warranty is three years."),
            ("How long is the warranty?", "Warranty: 3 years"),
            ("How long is the warranty?", "ef_search = 40"),
            ("How long is the warranty?", ""),
            ("", "The warranty is three years."),
            ("HNSW", "HNSW 是一种索引，用于向量搜索。"),
            ("PostgreSQL MVCC", "PostgreSQL 使用多版本并发控制。"),
            ("保修期多长？", "三年間の保証です。"),
            (
                "Hvor længe gælder garantien?",
                "Garantien gjelder i tre år og starter når du kjøper den.",
            ),
            (
                "Wie lange gilt die Garantie?",
                "Die Garantie: drei Jahre ab Kauf (warranty of the device).",
            ),
            ("Сколько длится гарантия?", "Гарантія на пристрій діє три роки."),
            ("den do nhap nhay nghia la gi?", "Đèn đỏ nhấp nháy nghĩa là pin sắp hết và phải sạc."),
            ("What is PostgreSQL?", "PostgreSQL 18: SELECT count(*) FROM customers"),
        ] {
            assert!(!is_other(question, text), "{question} {text}");
        }
    }
}
