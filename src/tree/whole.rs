//! # whole: does this question ask for the whole of a text?
//!
//! ```text
//! "Fasse das Handbuch zusammen." → yes; "Wann gibt es Mittagessen?" → no
//! ```
//!
//! Such questions are made with few words: to sum up, an overview, main themes, to compare.

use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;

/// Whether `question` asks for a summary, for themes or for a comparison, and not for a fact.
#[must_use]
pub fn asks_for_whole(question: &str) -> bool {
    Phrases { spaced: SPACED, unspaced: UNSPACED }.stand_in(question)
}

/// Beginnings of words, in lower case, by language.
const SPACED: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::Arabic,
        "لخص, تلخيص, ملخص, خلاصة, قارن, مقارنة, المواضيع الرئيسية, الموضوعات الرئيسية",
    ),
    (
        NaturalLanguage::Dutch,
        "samenvat, vat samen, overzicht, hoofdthema, belangrijkste thema, belangrijkste punt, vergelijk",
    ),
    (
        NaturalLanguage::English,
        "summar, overview, sum up, main theme, main topic, main point, main idea, key point, key theme, key topic, \
         key takeaway, overall message, gist, compar, in a nutshell",
    ),
    (
        NaturalLanguage::French,
        "résum, synthèse, synthétis, vue d'ensemble, aperçu, thèmes princip, principaux thème, \
         grandes lignes, points essentiel, compar",
    ),
    (
        NaturalLanguage::German,
        "zusammenfass, zusammengefasst, fasse, überblick, übersicht, hauptthem, hauptpunkt, hauptaussage, \
         wichtigsten themen, wichtigsten punkte, kernaussage, vergleich",
    ),
    (
        NaturalLanguage::Italian,
        "riassum, riassunto, riepilog, sintesi, panoramica, temi princip, principali temi, punti princip, confront, paragon",
    ),
    (NaturalLanguage::Korean, "요약, 개요, 주요 주제, 핵심 내용, 비교"),
    (
        NaturalLanguage::Polish,
        "podsum, streść, streszcz, przegląd, główne temat, główne wątki, najważniejsze punkty, porówna",
    ),
    (
        NaturalLanguage::Portuguese,
        "resum, síntese, visão geral, temas princip, principais tema, pontos princip, principais ponto, compar",
    ),
    (
        NaturalLanguage::Russian,
        "обобщ, резюм, подытож, краткое содержание, обзор, основные темы, главные темы, основные мысли, сравни",
    ),
    (
        NaturalLanguage::Spanish,
        "resum, síntesis, sintetiz, visión general, panorama, temas princip, principales tema, puntos princip, \
         ideas princip, compar",
    ),
    (NaturalLanguage::Turkish, "özet, genel bakış, ana tema, ana konu, başlıca konu, karşılaştır"),
    (
        NaturalLanguage::Ukrainian,
        "підсум, узагальн, резюм, стислий зміст, огляд, основні теми, головні теми, порівня",
    ),
];

/// Words of scripts without spaces, by language.
const UNSPACED: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::Chinese,
        "总结, 總結, 概括, 概述, 摘要, 归纳, 歸納, 主要内容, 主要內容, 主题是, 主題是, 主要主题, 主要主題, 比较, 比較",
    ),
    (NaturalLanguage::Japanese, "要約, まとめ, 概要, 主なテーマ, 主題, 要点, 比較"),
];

#[cfg(test)]
mod tests {
    use super::asks_for_whole;

    #[test]
    fn questions_for_the_whole() {
        for question in [
            "Summarise the employee handbook.",
            "What are the main themes of these reports?",
            "Give me an overview of the manual",
            "Can you compare the two contracts?",
            "Fasse das Handbuch zusammen.",
            "Was sind die wichtigsten Themen im Bericht?",
            "Kannst du mir einen Überblick über die Verträge geben?",
            "Pouvez-vous résumer ce document ?",
            "¿Puedes resumir el documento y sus temas principales?",
            "Quais são os principais temas do relatório?",
            "Quali sono i temi principali del testo?",
            "Wat zijn de belangrijkste thema's van het verslag?",
            "Jakie są główne tematy tego raportu?",
            "Какие основные темы у этого отчёта?",
            "Які основні теми цього звіту?",
            "Bu belgenin ana konuları nelerdir?",
            "请总结这份文件",
            "この文書を要約してください",
            "이 문서를 요약해 주세요",
            "لخص هذا التقرير",
        ] {
            assert!(asks_for_whole(question), "{question}");
        }
    }

    #[test]
    fn questions_for_a_fact() {
        for question in [
            "",
            "When is lunch?",
            "How do I resume a download?",
            "Who wrote the theme song?",
            "Which company owns the mill?",
            "Wie viele Urlaubstage habe ich?",
            "Quelle est la capitale de la France ?",
            "什么时候吃午饭？",
            "昼食はいつですか。",
        ] {
            assert!(!asks_for_whole(question), "{question}");
        }
        assert!(!asks_for_whole(&"lunch ".repeat(1_000_000)));
    }
}
