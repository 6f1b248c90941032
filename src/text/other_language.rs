//! # other_language: is this text certainly in another language than the question?
//!
//! ```text
//! ("How long is the warranty?", "保修期为三年。") → yes;  ("How long is the warranty?", "ef_search = 40") → no
//! ```
//!
//! A text in another language shares no words with a question, however well it answers. But most texts that share none do
//! not answer, so only what is certain counts: letters of another script, or words that only one of the two languages is made
//! with, or writes the letters of, and next to none of the other one. Some are there by accident: "do" and "an" are
//! words of Vietnamese, too, and "a" is one of French.

use std::collections::HashSet;

use super::language::{NaturalLanguage, is_written_only_in, language, words_of_questions};
use super::spelling::plain;
use super::words::{Word, each_word, is_function_word};

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

    /// Whether words and letters tell that the language of `text`, which is in the Latin script, is another one.
    fn is_told_from(&self, text: &str) -> bool {
        let Some(own) = self.language else { return false };
        let other = language(text).filter(|other| *other != own && !are_kin(own, *other));
        let both = (LatinLanguage::of(own), other.and_then(LatinLanguage::of));
        let (Some(own), Some(other)) = both else { return false };
        let held: Vec<Word> = each_word(text).collect();
        let held_plain: HashSet<String> = held.iter().map(|word| plain(&word.folded)).collect();
        let mut asked = own.telling(&self.words, &other);
        // What is typed without accents may look like a word of another language.
        asked.retain(|word| !held_plain.contains(*word));
        let found = other.telling(&held, &own);
        let is_certain =
            |telling: usize, against: usize| telling >= LEAST_TELLING && telling >= TIMES * against;
        is_certain(asked.len(), other.function_words(&self.words, &own).len())
            && is_certain(found.len(), own.function_words(&held, &other).len())
    }
}

/// A language of the Latin script, and the words that its questions are made with.
struct LatinLanguage {
    language: NaturalLanguage,
    words: HashSet<&'static str>,
}

impl LatinLanguage {
    fn of(language: NaturalLanguage) -> Option<LatinLanguage> {
        let words = words_of_questions(language)?.split_ascii_whitespace().collect();
        Some(LatinLanguage { language, words })
    }

    /// Those of `words` that it is made with and `other` is not.
    fn function_words<'a>(&self, words: &'a [Word], other: &LatinLanguage) -> HashSet<&'a str> {
        let words = words.iter().map(|word| word.folded.as_str());
        words.filter(|word| self.words.contains(*word) && !other.words.contains(*word)).collect()
    }

    /// Those of `words` that tell of it and not of `other`: by what they are, or by a letter that it writes and `other` does not. A
    /// name has the letters of where it comes from.
    fn telling<'a>(&self, words: &'a [Word], other: &LatinLanguage) -> HashSet<&'a str> {
        let is_spelled = |word: &&Word| {
            !word.is_name && is_written_only_in(&word.folded, self.language, other.language)
        };
        let spelled = words.iter().filter(is_spelled).map(|word| word.folded.as_str());
        self.function_words(words, other).into_iter().chain(spelled).collect()
    }
}

/// Whether two languages have so much in common that their words don't tell them apart for certain.
fn are_kin(one: NaturalLanguage, other: NaturalLanguage) -> bool {
    use NaturalLanguage::{Danish, Norwegian, Swedish};
    let is_nordic = |it| matches!(it, Danish | Norwegian | Swedish);
    is_nordic(one) && is_nordic(other)
}

/// The script of three letters of `text` in four, or of more than half of them where all others are Latin and no word of
/// theirs makes an English sentence: names and terms keep their letters in any script. `None` where there is none, or few
/// letters. So of messages of programs, of which one in ten has such names, nearly all are told from English.
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
    let latin = counts.iter().find(|(script, _)| *script == WritingScript::Latin);
    let latin = latin.map_or(0, |(_, count)| *count);
    let (script, most) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let is_beside_names = || {
        let is_english = || each_word(text).any(|word| is_function_word(&word.folded));
        2 * most > all && most + latin == all && !is_english()
    };
    (most >= LEAST_LETTERS && (4 * most >= 3 * all || is_beside_names())).then_some(script)
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
    fn texts_in_each_script_are_told_both_ways() {
        let english = "The warranty of the device is three years, and it starts when you buy it.";
        for (question, text) in [
            ("การรับประกันเครื่องนานเท่าไร", "การรับประกันเครื่องมีระยะเวลาสามปี"),
            ("ຮັບປະກັນດົນປານໃດ?", "ເຄື່ອງຮັບປະກັນສາມປີ."),
            ("ការធានាមានរយៈពេលប៉ុន្មាន?", "ការធានាមានរយៈពេលបីឆ្នាំ។"),
            ("အာမခံ ဘယ်လောက်ကြာသလဲ။", "စက်ကို သုံးနှစ် အာမခံပါသည်။"),
            ("उपकरण की वारंटी कितने साल की है?", "उपकरण की वारंटी तीन साल की है।"),
            ("Πόσο διαρκεί η εγγύηση;", "Η εγγύηση της συσκευής είναι τρία χρόνια."),
            ("כמה זמן נמשכת האחריות?", "האחריות על המכשיר היא שלוש שנים."),
        ] {
            assert!(is_other(question, english), "{question}");
            assert!(is_other("How long is the warranty of the device?", text), "{text}");
            assert!(!is_other(question, text), "{question}");
        }
    }

    #[test]
    fn names_in_latin_letters_between_words_of_another_script_do_not_hide_it() {
        let english = "The warranty of the ThinkPad is three years, and it starts when you buy it.";
        for question in [
            "ประกันของ ThinkPad X1 นานเท่าไร",
            "PostgreSQL ใช้ดัชนีแบบเวกเตอร์อย่างไร",
            "ThinkPad की वारंटी कितनी है?",
            "Сколько длится гарантия ThinkPad Carbon?",
            "ThinkPad Carbon 的保修期多久？",
        ] {
            assert!(is_other(question, english), "{question}");
        }
        assert!(is_other("How long is the warranty?", "ประกันของ ThinkPad X1 นานสามปี"));
        // Whose words the others stand between is not certain.
        for question in ["What does การรับประกัน mean?", "ThinkPad X1 Carbon คืออะไร"]
        {
            assert!(!is_other(question, english), "{question}");
        }
        assert!(!is_other("ประกันของ ThinkPad X1 นานเท่าไร", "ประกันของเครื่องนานสามปี"));
    }

    #[test]
    fn short_words_that_languages_share_by_accident_do_not_hide_them() {
        let english = "The warranty of the device is three years, and it starts when you buy it.";
        for question in [
            "Quy định về an toàn khi làm việc trên cao là gì?",
            "Ai phê duyệt đơn nghỉ phép?",
            "Qui a signé le contrat avec la société ?",
            "Ki a cég igazgatója?",
        ] {
            assert!(is_other(question, english), "{question}");
        }
        let vietnamese = "Đơn xin nghỉ phép được nộp trên cổng thông tin và do trưởng phòng duyệt.";
        assert!(is_other("How long is the warranty of the device?", vietnamese));
        // Many are no accident, and the letters of names tell nothing.
        for (question, text) in [
            (
                "What do der, die and das mean?",
                "Die Wörter der, die und das sind Artikel und stehen vor dem Substantiv.",
            ),
            ("Who is the director?", "Prezesem jest Łukasz Żółtowski."),
        ] {
            assert!(!is_other(question, text), "{question}");
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
