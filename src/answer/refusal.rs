//! # refusal: what is said where the documents hold no answer?
//!
//! ```text
//! question → "The documents don't say.", in its language, or the text that the options say for this language
//! ```
//!
//! Of a question of one or two words nobody can tell the language. Who asks it will most likely read that of the documents.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::error::{Error, Result};
use crate::options::{hint_of_names, out_of_range, shortened};
use crate::source::Source;
use crate::text::language::{LANGUAGE_CODES, NaturalLanguage, language};

/// The option, for errors.
const OPTION: &str = "answer.refusal";

/// What stands for the code of all languages that have no text of their own.
const OTHERS: &str = "*";

/// What the option `answer.refusal` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefusalTexts {
    /// A text for questions in all languages.
    One(String),
    /// Texts by the ISO 639-1 code of the language of the question, or by "*" for all others; `None` is as good as no text.
    ByLanguage(BTreeMap<String, Option<String>>),
}

impl RefusalTexts {
    /// An error for a text that says nothing, and for a code of no language that is recognised.
    pub fn check(&self) -> Result<()> {
        match self {
            RefusalTexts::One(text) => check_text(OPTION, text),
            RefusalTexts::ByLanguage(texts) => texts.iter().try_for_each(|(code, text)| {
                check_code(code)?;
                let option = format!("{OPTION}.{code}");
                text.as_deref().map_or(Ok(()), |text| check_text(&option, text))
            }),
        }
    }

    /// The text for a question in `language`; `None` where there is none.
    fn text_in(&self, language: NaturalLanguage) -> Option<&str> {
        match self {
            RefusalTexts::One(text) => Some(text),
            RefusalTexts::ByLanguage(texts) => {
                let codes = LANGUAGE_CODES.iter().filter(|(_, it)| *it == language);
                let mut codes = codes.map(|(code, _)| *code).chain([OTHERS]);
                codes.find_map(|code| texts.get(code)?.as_deref())
            }
        }
    }
}

fn check_text(option: &str, text: &str) -> Result<()> {
    match text.trim().is_empty() {
        true => Err(out_of_range(option, "a text that is not empty", format!("\"{text}\""))),
        false => Ok(()),
    }
}

fn check_code(code: &str) -> Result<()> {
    let known: Vec<&str> = LANGUAGE_CODES.iter().map(|(code, _)| *code).chain([OTHERS]).collect();
    match known.contains(&code) {
        true => Ok(()),
        false => {
            let code = shortened(code);
            Err(Error::invalid(format!("unknown language \"{code}\" of \"{OPTION}\""))
                .hint(hint_of_names("languages", &code, &known)))
        }
    }
}

impl<'de> Deserialize<'de> for RefusalTexts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RefusalTexts, D::Error> {
        deserializer.deserialize_any(TextOrTexts)
    }
}

struct TextOrTexts;

impl<'de> Visitor<'de> for TextOrTexts {
    type Value = RefusalTexts;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a text or an object with texts by language")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RefusalTexts, E> {
        Ok(RefusalTexts::One(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RefusalTexts, A::Error> {
        BTreeMap::deserialize(MapAccessDeserializer::new(map)).map(RefusalTexts::ByLanguage)
    }
}

/// What is answered to `question` where the documents hold no answer: the text of the option `answer.refusal` for the
/// [language of the question](spoken), or else a sentence in it.
#[must_use]
pub fn refusal(question: &str, nearest: Option<&Source>, texts: Option<&RefusalTexts>) -> String {
    let spoken = spoken(question, nearest);
    let said = texts.and_then(|texts| texts.text_in(spoken));
    said.unwrap_or_else(|| in_language(spoken)).to_owned()
}

/// The language in which `question` is put; that of the source nearest to it where that is not known, and English where
/// neither is.
#[must_use]
pub fn spoken(question: &str, nearest: Option<&Source>) -> NaturalLanguage {
    let found = language(question).or_else(|| language(nearest?.content()));
    found.unwrap_or(NaturalLanguage::English)
}

fn in_language(language: NaturalLanguage) -> &'static str {
    match language {
        NaturalLanguage::Arabic => "لا تذكر الوثائق ذلك.",
        NaturalLanguage::Bulgarian => "Това не е посочено в документите.",
        NaturalLanguage::Catalan => "Els documents no ho diuen.",
        NaturalLanguage::Chinese => "文档中没有说明。",
        NaturalLanguage::Croatian => "To nije navedeno u dokumentima.",
        NaturalLanguage::Czech => "V dokumentech se to neuvádí.",
        NaturalLanguage::Danish => "Det står ikke i dokumenterne.",
        NaturalLanguage::Dutch => "Dat staat niet in de documenten.",
        NaturalLanguage::English => "The documents don't say.",
        NaturalLanguage::Estonian => "Dokumentides seda ei mainita.",
        NaturalLanguage::Finnish => "Tätä ei mainita asiakirjoissa.",
        NaturalLanguage::French => "Les documents ne le disent pas.",
        NaturalLanguage::German => "Das steht nicht in den Dokumenten.",
        NaturalLanguage::Greek => "Τα έγγραφα δεν το αναφέρουν.",
        NaturalLanguage::Hebrew => "הדבר אינו מוזכר במסמכים.",
        NaturalLanguage::Hindi => "दस्तावेज़ों में यह नहीं बताया गया है।",
        NaturalLanguage::Hungarian => "A dokumentumokban erről nincs szó.",
        NaturalLanguage::Indonesian => "Dokumen tidak menyebutkan hal itu.",
        NaturalLanguage::Italian => "I documenti non lo dicono.",
        NaturalLanguage::Japanese => "文書には記載がありません。",
        NaturalLanguage::Korean => "문서에 나와 있지 않습니다.",
        NaturalLanguage::Lithuanian => "Dokumentuose to nenurodyta.",
        NaturalLanguage::Norwegian => "Det står ikke i dokumentene.",
        NaturalLanguage::Polish => "Dokumenty tego nie podają.",
        NaturalLanguage::Portuguese => "Os documentos não dizem.",
        NaturalLanguage::Romanian => "Documentele nu menționează acest lucru.",
        NaturalLanguage::Russian => "В документах об этом не сказано.",
        NaturalLanguage::Serbian => "То није наведено у документима.",
        NaturalLanguage::Spanish => "Los documentos no lo dicen.",
        NaturalLanguage::Swedish => "Det står inte i dokumenten.",
        NaturalLanguage::Thai => "เอกสารไม่ได้ระบุไว้",
        NaturalLanguage::Turkish => "Belgelerde bu bilgi yok.",
        NaturalLanguage::Ukrainian => "У документах про це не сказано.",
        NaturalLanguage::Vietnamese => "Tài liệu không nêu điều này.",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::options;
    use crate::source::tests::passage;

    fn read(texts: Value) -> Result<RefusalTexts> {
        let texts = options::read::<RefusalTexts>(OPTION, texts, &[])?;
        texts.check().map(|()| texts)
    }

    #[test]
    fn it_is_put_in_the_language_of_the_question() {
        for (question, expected) in [
            ("When does the library open?", "The documents don't say."),
            ("Wie viele Urlaubstage habe ich?", "Das steht nicht in den Dokumenten."),
            ("报销需要多少天？", "文档中没有说明。"),
            ("शिक्षक का वेतन कितना है?", "दस्तावेज़ों में यह नहीं बताया गया है।"),
            ("Πόσο κοστίζει το εισιτήριο;", "Τα έγγραφα δεν το αναφέρουν."),
            ("Y a-t-il un restaurant ?", "Les documents ne le disent pas."),
            ("Var ligger kontoret?", "Det står inte i dokumenten."),
            ("Hvor ligger kontoret?", "The documents don't say."),
            ("ef_search", "The documents don't say."),
            ("Mit tegyek, ha megsérült a csomag?", "A dokumentumokban erről nincs szó."),
            ("Giám đốc là ai?", "Tài liệu không nêu điều này."),
            ("Kde je kancelář?", "V dokumentech se to neuvádí."),
            ("Gdje je ured?", "To nije navedeno u dokumentima."),
            ("Где је канцеларија?", "То није наведено у документима."),
            ("Къде е офисът?", "Това не е посочено в документите."),
            ("Хто директор?", "У документах про це не сказано."),
            ("Mikä se on?", "Tätä ei mainita asiakirjoissa."),
            ("Unde este biroul?", "Documentele nu menționează acest lucru."),
            ("On és l'oficina?", "Els documents no ho diuen."),
            ("Genel müdür kim?", "Belgelerde bu bilgi yok."),
            ("O papel ficou preso, o que faço?", "Os documentos não dizem."),
            ("ﾊﾟｽﾜｰﾄﾞﾊ?", "文書には記載がありません。"),
            ("איפה המשרד?", "הדבר אינו מוזכר במסמכים."),
        ] {
            assert_eq!(refusal(question, None, None), expected, "{question}");
        }
    }

    #[test]
    fn a_question_that_does_not_tell_is_answered_in_the_language_of_the_documents() {
        let in_german = Source::Chunk(passage("Die Lampe hat fünf Jahre Garantie."));
        for (question, expected) in [
            ("ef_search", "Das steht nicht in den Dokumenten."),
            ("Garantie Uhr", "Das steht nicht in den Dokumenten."),
            ("Who pays?", "The documents don't say."),
        ] {
            assert_eq!(refusal(question, Some(&in_german), None), expected, "{question}");
        }
        let unknown = Source::Chunk(passage("SELECT 1"));
        assert_eq!(refusal("ef_search", Some(&unknown), None), "The documents don't say.");
    }

    #[test]
    fn the_option_says_it_in_words_of_its_own() {
        let said = "Please ask the library's desk.";
        let texts = read(json!(said)).unwrap();
        assert_eq!(refusal("Wie viele Urlaubstage habe ich?", None, Some(&texts)), said);
    }

    #[test]
    fn each_language_may_have_words_of_its_own() {
        let in_german = Source::Chunk(passage("Die Lampe hat fünf Jahre Garantie."));
        let check = |texts: Value, question: &str, nearest: Option<&Source>, expected: &str| {
            let texts = read(texts).unwrap();
            assert_eq!(refusal(question, nearest, Some(&texts)), expected, "{question}");
        };
        let texts = || json!({"de": "Dazu steht hier nichts.", "en": "Nothing here.", "*": "?"});
        check(texts(), "Wie viele Urlaubstage habe ich?", None, "Dazu steht hier nichts.");
        check(texts(), "When does the library open?", None, "Nothing here.");
        check(texts(), "Quand ouvre le musée ?", None, "?");
        check(texts(), "ef_search", Some(&in_german), "Dazu steht hier nichts.");
        check(texts(), "ef_search", None, "Nothing here.");
        check(
            json!({"de": "Dazu steht hier nichts."}),
            "Quand ouvre le musée ?",
            None,
            "Les documents ne le disent pas.",
        );
        check(json!({"de": null, "*": "?"}), "Wie viele Urlaubstage habe ich?", None, "?");
        check(json!({}), "When does the library open?", None, "The documents don't say.");
    }

    #[test]
    fn what_is_no_text_and_no_language_is_named() {
        let check = |texts: Value, message: &str, hint: &str| {
            let error = read(texts).unwrap_err();
            assert_eq!(error.message(), message);
            let said = error.hint_text().unwrap_or_default();
            assert!(said.starts_with(hint), "{said} does not begin with {hint}");
        };
        check(
            json!({"xx": "?"}),
            "unknown language \"xx\" of \"answer.refusal\"",
            "Known languages: ar, bg, ca, cs, da, de, el, en, es,",
        );
        check(
            json!({"deu": null}),
            "unknown language \"deu\" of \"answer.refusal\"",
            "Did you mean \"de\"? Known languages: ar,",
        );
        check(
            json!(" "),
            "option \"answer.refusal\" must be a text that is not empty, not \" \"",
            "",
        );
        check(
            json!({"de": ""}),
            "option \"answer.refusal.de\" must be a text that is not empty, not \"\"",
            "",
        );
        check(json!({"de": 5}), "option \"answer.refusal.de\" must be a string, not 5", "");
        check(
            json!(5),
            "option \"answer.refusal\" must be a text or an object with texts by language, not 5",
            "",
        );
        check(
            json!(["a"]),
            "option \"answer.refusal\" must be a text or an object with texts by language, not an array",
            "",
        );
    }
}
