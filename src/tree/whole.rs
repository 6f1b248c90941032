//! # whole: does this question ask for the whole of a text?
//!
//! ```text
//! "Fasse das Handbuch zusammen." → yes; "Wann gibt es Mittagessen?" → no
//! ```
//!
//! Such questions are made with few words: to sum up, an overview, main themes, to compare. A question for a fact may have
//! them, too: who wrote the summary, or what the overview says that something costs. What it asks with tells them apart.

mod wording;

use self::wording::{AMOUNTS, ENDS, FACTS, REQUESTS, SHORT, SUBJECTS};
use crate::text::comparison::compared;
use crate::text::phrase::Phrases;

/// Whether `question` asks for a summary, for themes or for a comparison, and not for a fact.
#[must_use]
pub fn asks_for_whole(question: &str) -> bool {
    compared(question).is_some() || ENDS.stand_at_end_of(question) || is_for_whole(question)
}

/// Whether its words for the whole stand where they ask for it.
fn is_for_whole(question: &str) -> bool {
    let end = |phrases: &Phrases| phrases.first_end_in(question);
    let is_before = |it: usize, fact: Option<usize>| fact.is_none_or(|fact| it < fact);
    let request = [end(&REQUESTS), end(&SHORT)].into_iter().flatten().min();
    let subject = end(&SUBJECTS);
    if request.is_none() && subject.is_none() {
        return false;
    }
    let (fact, amount) = (end(&FACTS), end(&AMOUNTS));
    request.is_some_and(|it| is_before(it, fact) && is_before(it, amount))
        || amount.is_none() && subject.is_some_and(|it| is_before(it, fact))
}

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
            "Which topics do these texts cover?",
            "What themes recur?",
            "What is this all about?",
            "What is this document about?",
            "What is the big picture?",
            "TL;DR",
            "How would you summarise the handbook?",
            "Summarise who pays for lunch, and how much.",
            "Fasse das Handbuch zusammen.",
            "Was sind die wichtigsten Themen im Bericht?",
            "Kannst du mir einen Überblick über die Verträge geben?",
            "Worum geht es insgesamt?",
            "Welche Themen kommen vor?",
            "Pouvez-vous résumer ce document ?",
            "De quoi parle ce document ?",
            "Quels thèmes sont abordés ?",
            "Résumez les règles qui concernent les congés.",
            "¿Puedes resumir el documento y sus temas principales?",
            "¿De qué trata este documento?",
            "¿Qué temas se tratan?",
            "Quais são os principais temas do relatório?",
            "De que trata este documento?",
            "Quali sono i temi principali del testo?",
            "Di cosa parla questo documento?",
            "Riassumi il manuale.",
            "Wat zijn de belangrijkste thema's van het verslag?",
            "Waar gaat dit document over?",
            "Vat het handboek samen.",
            "Jakie są główne tematy tego raportu?",
            "O czym jest ten dokument?",
            "Какие основные темы у этого отчёта?",
            "О чём этот документ?",
            "Які основні теми цього звіту?",
            "Про що цей документ?",
            "Про що ця книга?",
            "Про що ці звіти?",
            "Про що йдеться в договорі?",
            "Bu belgenin ana konuları nelerdir?",
            "Bu belge ne hakkında?",
            "请总结这份文件",
            "这份文件讲了什么？",
            "この文書を要約してください",
            "どんなテーマが出てきますか？",
            "이 문서를 요약해 주세요",
            "이 문서들은 어떤 주제를 다루나요?",
            "لخص هذا التقرير",
            "ما المواضيع التي تتناولها هذه النصوص؟",
        ] {
            assert!(asks_for_whole(question), "{question}");
        }
    }

    #[test]
    fn questions_that_compare() {
        for question in [
            "What do A and B have in common?",
            "What do these reports have in common?",
            "How does A differ from B?",
            "What is the difference between A and B?",
            "A vs B",
            "Compare the rules on leave and travel.",
            "Worin unterscheidet sich die Miete von der Pacht?",
            "Was haben Miete und Pacht gemeinsam?",
            "Qu'ont en commun le bail et la vente ?",
            "租约和合同有什么区别？",
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
            "Who wrote the summary?",
            "When was the overview published?",
            "In the summary of charges, how much is the late fee?",
            "Summary of charges: how much is the late fee?",
            "How many topics does the course have?",
            "What is the difference in price between A and B?",
            "How much is the difference between A and B?",
            "What is the price compared to last year?",
            "Who won Chelsea vs Arsenal?",
            "Which document about leave is valid?",
            "Wie viele Urlaubstage habe ich?",
            "Wer hat die Zusammenfassung geschrieben?",
            "In der Übersicht der Kosten: wie viel kostet der Versand?",
            "Quelle est la capitale de la France ?",
            "Qui a écrit le résumé ?",
            "¿Quién escribió el resumen?",
            "Chi ha scritto il riassunto?",
            "Quem escreveu o resumo?",
            "Wie schreef de samenvatting?",
            "Kto napisał streszczenie?",
            "Кто написал обзор?",
            "Özeti kim yazdı?",
            "什么时候吃午饭？",
            "谁写的摘要？",
            "昼食はいつですか。",
            "誰が要約を書きましたか？",
            "요약은 누가 썼나요?",
        ] {
            assert!(!asks_for_whole(question), "{question}");
        }
        assert!(!asks_for_whole(&"lunch ".repeat(1_000_000)));
    }
}
