//! # refusal: what is said where the documents hold no answer?
//!
//! ```text
//! question → "The documents don't say.", in its language, or the text that the options say
//! ```

use crate::text::language::{NaturalLanguage, language};

/// What is answered to `question` where the documents hold no answer: the text of the option
/// `answer.refusal`, or a sentence in the language of the question, English where that is not known.
#[must_use]
pub fn refusal(question: &str, option: Option<&str>) -> String {
    let own = || in_language(language(question).unwrap_or(NaturalLanguage::English));
    option.unwrap_or_else(own).to_owned()
}

fn in_language(language: NaturalLanguage) -> &'static str {
    match language {
        NaturalLanguage::Arabic => "لا تذكر الوثائق ذلك.",
        NaturalLanguage::Chinese => "文档中没有说明。",
        NaturalLanguage::Danish => "Det står ikke i dokumenterne.",
        NaturalLanguage::Dutch => "Dat staat niet in de documenten.",
        NaturalLanguage::English => "The documents don't say.",
        NaturalLanguage::French => "Les documents ne le disent pas.",
        NaturalLanguage::German => "Das steht nicht in den Dokumenten.",
        NaturalLanguage::Greek => "Τα έγγραφα δεν το αναφέρουν.",
        NaturalLanguage::Hindi => "दस्तावेज़ों में यह नहीं बताया गया है।",
        NaturalLanguage::Italian => "I documenti non lo dicono.",
        NaturalLanguage::Japanese => "文書には記載がありません。",
        NaturalLanguage::Korean => "문서에 나와 있지 않습니다.",
        NaturalLanguage::Norwegian => "Det står ikke i dokumentene.",
        NaturalLanguage::Polish => "Dokumenty tego nie podają.",
        NaturalLanguage::Portuguese => "Os documentos não dizem.",
        NaturalLanguage::Russian => "В документах об этом не сказано.",
        NaturalLanguage::Spanish => "Los documentos no lo dicen.",
        NaturalLanguage::Swedish => "Det står inte i dokumenten.",
        NaturalLanguage::Turkish => "Belgelerde bu bilgi yok.",
        NaturalLanguage::Ukrainian => "У документах про це не сказано.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert_eq!(refusal(question, None), expected, "{question}");
        }
    }

    #[test]
    fn the_option_says_it_in_words_of_its_own() {
        let said = "Please ask the library's desk.";
        assert_eq!(refusal("Wie viele Urlaubstage habe ich?", Some(said)), said);
    }
}
