//! # bigram: what can be looked up in a script that puts no spaces between words?
//!
//! ```text
//! text → parts: text of other scripts │ runs of characters → overlapping pairs
//! ```
//!
//! A parser that looks for spaces takes a Chinese sentence for one word, which no question has. Here a
//! run of Chinese, Japanese, Korean, Thai, Lao, Burmese or Khmer characters becomes pairs of neighbours,
//! 数据库 → 数据 据库, as search engines have done since Lucene's CJKAnalyzer. Pairs need no dictionary,
//! so there is no new word that they would miss, and none that is cut in one way in a question and in
//! another way in a text. Measured on Chinese questions (XQuAD, docs/lexical.md), BM25 over pairs finds
//! slightly more than over the words of a dictionary (jieba), and much more than over single
//! characters or triples.
//!
//! The last character of a run stands alone behind the pairs. So each character begins exactly one
//! bigram: a text has the character 库 if one of its bigrams begins with it, and two runs are as many
//! places apart as they are characters.
//!
//! Characters are grapheme clusters in the normalization form NFKC, so that half-width カ is the ordinary one,
//! full-width letters are those of ASCII, and a syllable written in parts is the syllable. Digits of these scripts become
//! those of ASCII. Text without any such character is passed on as it is.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::number::ascii_digit;

/// Code points of the longest character. What has more marks is no letter of a language, and a bigram
/// could become longer than an index takes.
const LONGEST: usize = 8;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart<'a> {
    /// What has spaces between its words, or is no word.
    Spaced(Cow<'a, str>),
    /// Characters of one script without spaces, or of those that Chinese, Japanese and Korean mix.
    Unspaced(UnspacedRun),
}

/// Letters and digits that follow each other without a space; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnspacedRun {
    script: UnspacedScript,
    text: String,
    /// Where each character ends.
    ends: Vec<usize>,
}

/// What can be looked up of a run; each begins one character after the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bigram<'a> {
    /// Two neighbours.
    Pair(&'a str),
    /// The last character of the run.
    Last(&'a str),
}

/// Scripts whose characters may stand in one run have the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnspacedScript {
    /// Han, Hiragana, Katakana, Bopomofo and Hangul.
    EastAsian,
    Thai,
    Lao,
    Myanmar,
    Khmer,
}

/// The parts of `text`, in order. No two that follow each other are both [`TextPart::Spaced`].
///
/// Of the marks that stand between characters of such a script, commas and the like become those of
/// ASCII where there is one, the others spaces, and marks without width are left out.
pub fn parts<'a>(text: &'a str, interrupt: &mut dyn FnMut()) -> Vec<TextPart<'a>> {
    let mut parts = PartList::default();
    for stretch in stretches(text) {
        if !stretch.starts_with(is_concerned) {
            parts.spaced(stretch.into());
            continue;
        }
        let normal = stretch.chars().filter(|c| !has_no_width(*c)).nfkc();
        let folded: String = normal.map(|c| ascii_digit(c).unwrap_or(c)).collect();
        for character in folded.graphemes(true) {
            interrupt();
            parts.folded(character);
        }
    }
    parts.0
}

impl UnspacedRun {
    /// Whether it is one character.
    #[must_use]
    pub fn is_single(&self) -> bool {
        self.ends.len() == 1
    }

    /// Its bigrams, as many as it has characters.
    pub fn bigrams(&self) -> impl Iterator<Item = Bigram<'_>> {
        self.ends.iter().enumerate().map(|(at, end)| {
            let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
            match self.ends.get(at + 1) {
                Some(next) => Bigram::Pair(&self.text[start..*next]),
                None => Bigram::Last(&self.text[start..*end]),
            }
        })
    }

    fn push(&mut self, character: &str) {
        self.text.extend(character.chars().take(LONGEST));
        self.ends.push(self.text.len());
    }
}

#[derive(Default)]
struct PartList<'a>(Vec<TextPart<'a>>);

impl<'a> PartList<'a> {
    fn spaced(&mut self, text: Cow<'a, str>) {
        match self.0.last_mut() {
            Some(TextPart::Spaced(before)) => before.to_mut().push_str(&text),
            _ => self.0.push(TextPart::Spaced(text)),
        }
    }

    /// Adds a character of a stretch that is concerned, after its normalization.
    fn folded(&mut self, character: &str) {
        let first = character.chars().next().unwrap_or(' ');
        match script(first) {
            Some(script) if character.chars().any(char::is_alphanumeric) => {
                self.unspaced(script, character)
            }
            Some(_) => self.spaced(" ".into()),
            None => self.spaced(character.to_owned().into()),
        }
    }

    fn unspaced(&mut self, script: UnspacedScript, character: &str) {
        if let Some(TextPart::Unspaced(run)) = self.0.last_mut()
            && run.script == script
        {
            return run.push(character);
        }
        let mut run = UnspacedRun { script, text: String::new(), ends: Vec::new() };
        run.push(character);
        self.0.push(TextPart::Unspaced(run));
    }
}

/// `text` cut where characters that are concerned begin and end.
fn stretches(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = match is_concerned(rest.chars().next()?) {
            true => rest.find(|c| !is_concerned(c) && !has_no_width(c)),
            false => rest.find(is_concerned),
        };
        let (stretch, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(stretch)
    })
}

fn is_concerned(c: char) -> bool {
    script(c).is_some()
}

/// Joiners, spaces without width, with which some set Thai and Khmer words apart and most do not, and
/// selectors of a glyph.
fn has_no_width(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Whether `c` is a letter or digit of a script that puts no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    !c.is_ascii() && c.is_alphanumeric() && script(c).is_some()
}

/// By blocks, so with the punctuation and the symbols that belong to a script.
#[rustfmt::skip]
fn script(c: char) -> Option<UnspacedScript> {
    match c {
        '\u{0E00}'..='\u{0E7F}' => Some(UnspacedScript::Thai),
        '\u{0E80}'..='\u{0EFF}' => Some(UnspacedScript::Lao),
        '\u{1000}'..='\u{109F}' | '\u{A9E0}'..='\u{A9FF}' | '\u{AA60}'..='\u{AA7F}' => Some(UnspacedScript::Myanmar),
        '\u{1780}'..='\u{17FF}' => Some(UnspacedScript::Khmer),
        // Parts of Hangul syllables.
        '\u{1100}'..='\u{11FF}' | '\u{A960}'..='\u{A97F}' | '\u{D7B0}'..='\u{D7FF}'
        // Radicals, punctuation, Hiragana, Katakana, Bopomofo, and whole words in a square.
        | '\u{2E80}'..='\u{33FF}'
        // Han, and Hangul syllables.
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}'
        | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}'
        // Punctuation of vertical texts, and half-width and full-width forms.
        | '\u{FE30}'..='\u{FE4F}' | '\u{FF00}'..='\u{FFEF}'
        // Old and small Kana, and Han in squares and circles.
        | '\u{1AFF0}'..='\u{1B16F}' | '\u{1F200}'..='\u{1F2FF}' => Some(UnspacedScript::EastAsian),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts_of(text: &str) -> Vec<TextPart<'_>> {
        parts(text, &mut || {})
    }

    /// Spaced parts in parentheses, each trimmed; the bigrams of the others.
    fn shown(text: &str) -> String {
        let show = |part: &TextPart<'_>| match part {
            TextPart::Spaced(text) => format!("({})", text.trim()),
            TextPart::Unspaced(run) => {
                let bigrams = run.bigrams().map(|bigram| match bigram {
                    Bigram::Pair(text) | Bigram::Last(text) => text.to_owned(),
                });
                bigrams.collect::<Vec<_>>().join(" ")
            }
        };
        parts_of(text).iter().map(show).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn runs_become_pairs() {
        let check = |text: &str, expected: &str| assert_eq!(shown(text), expected, "{text}");
        check("数据库", "数据 据库 库");
        check("库", "库");
        check("PostgreSQL数据库", "(PostgreSQL) 数据 据库 库");
        check("2024年3月，C语言。", "(2024) 年 (3) 月 (,C) 语言 言 ()");
        check("データベースを使う", "デー ータ タベ ベー ース スを を使 使う う");
        check("데이터베이스 서버", "데이 이터 터베 베이 이스 스 () 서버 버");
        // A vowel that is written first is a character; a vowel sign and a tone mark are none.
        check("เก้าอี้", "เก้ ก้า าอี้ อี้");
        check("ພາສາລາວ", "ພາ າສ ສາ າລ ລາ າວ ວ");
        check("မြန်မာ", "မြန် န်မ မာ ာ");
        check("ភាសា", "ភាសា សា");
        check("汉字ไทย", "汉字 字 ไท ทย ย");
        check("ใน๑๒วัน", "ใน น (12) วัน น");
        check("", "");
    }

    #[test]
    fn forms_of_a_character_are_one() {
        let check = |text: &str, same: &str| assert_eq!(shown(text), shown(same), "{text}");
        check("ﾃﾞｰﾀﾍﾞｰｽ", "データベース");
        check("ＰｏｓｔｇｒｅＳＱＬ １８", "PostgreSQL 18");
        check("\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF}", "한글");
        check("か\u{3099}く", "がく");
        check("㍿山田", "株式会社山田");
        check("葛\u{E0100}城", "葛城");
        check("ภาษา\u{200B}ไทย", "ภาษาไทย");
        check("น้ำ", "น\u{E49}\u{E4D}\u{E32}");
        check("数据、「库」", "数据 库 ");
    }

    #[test]
    fn other_text_is_not_touched() {
        let check =
            |text: &str| assert_eq!(parts_of(text), [TextPart::Spaced(Cow::Borrowed(text))]);
        check("The quick brown fox, don't; e-mail a@b.org.");
        check("ﬁne ½ Ⅷ 𝔸 e\u{301} é — “quoted” \u{200D}\u{FE0F}😀");
        check("Привет, мир. שלום עולם. مرحبا بالعالم. हिन्दी में।");
    }

    #[test]
    fn a_character_of_many_marks_is_cut() {
        let text = format!("ก{}ข", "\u{E48}".repeat(5000));
        let bigrams: Vec<usize> = parts_of(&text)
            .iter()
            .flat_map(|part| match part {
                TextPart::Spaced(_) => Vec::new(),
                TextPart::Unspaced(run) => run.bigrams().map(length).collect(),
            })
            .collect();
        assert_eq!(bigrams, [LONGEST + 1, 1]);
    }

    #[test]
    fn a_vowel_behind_a_mark_without_a_letter_is_kept() {
        let kept = |text: &str| match &parts_of(text)[..] {
            [TextPart::Unspaced(run)] => run.text.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(kept("\u{ECE}\u{EB3}"), "\u{ECE}\u{ECD}\u{EB2}");
    }

    fn length(bigram: Bigram<'_>) -> usize {
        let (Bigram::Pair(text) | Bigram::Last(text)) = bigram;
        text.chars().count()
    }

    /// Texts of all scripts, mostly of those without spaces.
    fn texts() -> impl Strategy<Value = String> {
        "([\u{4E00}-\u{4E20}ぁ-んｦ-ﾟ가-갏กขเ้ำກာကក្ខ、。ａ １-９a-c \u{200B}-\u{200D}\u{FE0F}]|\\PC){0,30}"
    }

    proptest! {
        #[test]
        fn every_character_is_in_a_part(text in texts()) {
            let found = parts_of(&text);
            let mut all = String::new();
            for part in &found {
                match part {
                    TextPart::Spaced(text) => all.push_str(text),
                    TextPart::Unspaced(run) => all.push_str(&run.text),
                }
            }
            // Each is there after normalization, in its order.
            let letters = |text: &str| -> String {
                let normal = text.nfkc().map(|c| ascii_digit(c).unwrap_or(c));
                normal.filter(|c| c.is_alphanumeric()).collect()
            };
            let wanted: String = text.chars().filter(|c| !has_no_width(*c)).collect();
            prop_assert_eq!(letters(&all), letters(&wanted));
            let spaced = |part: &TextPart<'_>| matches!(part, TextPart::Spaced(_));
            prop_assert!(!found.windows(2).any(|pair| pair.iter().all(spaced)));
        }

        #[test]
        fn bigrams_cover_their_run(text in texts()) {
            for part in parts_of(&text) {
                let TextPart::Unspaced(run) = part else { continue };
                let bigrams: Vec<Bigram<'_>> = run.bigrams().collect();
                prop_assert_eq!(bigrams.len(), run.ends.len());
                let mut start = 0;
                for (bigram, end) in bigrams.iter().zip(&run.ends) {
                    let (Bigram::Pair(text) | Bigram::Last(text)) = bigram;
                    prop_assert!(run.text[start..].starts_with(text) && text.len() >= end - start);
                    start = *end;
                }
                let last = |bigram: &Bigram<'_>| matches!(bigram, Bigram::Last(_));
                prop_assert_eq!(bigrams.iter().position(last), Some(bigrams.len() - 1));
                prop_assert_eq!(run.is_single(), bigrams.len() == 1);
            }
        }

        #[test]
        fn text_without_such_scripts_is_one_part(text in "[ -~\u{A0}-\u{DFF}\u{2000}-\u{2E7F}]{1,40}") {
            prop_assert_eq!(parts_of(&text), [TextPart::Spaced(Cow::Borrowed(&*text))]);
        }

        #[test]
        fn parts_of_parts_are_the_same(text in texts()) {
            // What a word is made of is found again where the word stands alone.
            for part in parts_of(&text) {
                if let TextPart::Unspaced(run) = part
                    && run.text.graphemes(true).count() == run.ends.len()
                {
                    let again = parts_of(&run.text);
                    prop_assert_eq!(&again[..], &[TextPart::Unspaced(run.clone())][..]);
                }
            }
        }
    }
}
