//! # refusal: what is said where the documents hold no answer?
//!
//! ```text
//! question → "The documents don't say.", in its language, or the text that the options say
//! ```
//!
//! Of a question of one or two words nobody can tell the language. Who asks it will most likely read that of the documents.

use crate::source::Source;
use crate::text::language::{NaturalLanguage, language};

/// What is answered to `question` where the documents hold no answer: the text of the option
/// `answer.refusal`, or a sentence in the [language of the question](spoken).
#[must_use]
pub fn refusal(question: &str, nearest: Option<&Source>, option: Option<&str>) -> String {
    let own = || in_language(spoken(question, nearest));
    option.unwrap_or_else(own).to_owned()
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
    use super::*;
    use crate::source::tests::passage;

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
        assert_eq!(refusal("Wie viele Urlaubstage habe ich?", None, Some(said)), said);
    }
}
