//! # nearest: what do the documents have instead of an answer?
//!
//! ```text
//! (question, sources) → subjects of those that share its words → "Nearest topics: Refunds; Returns."
//! ```
//!
//! Retrieval always finds something, and what is only the least far is no help. So a source is near if it has
//! at least half of the words that carry the question, in its headings or its text. What is named of it is its
//! own: its headings, its title, or how it begins.

use serde_json::Value;

use super::refusal::spoken;
use crate::source::Source;
use crate::text::language::{NaturalLanguage, is_function_word};
use crate::text::marker::without_markers;
use crate::text::sentence::sentences;
use crate::text::words::{Word, credit, terms, words};

/// Most subjects that are named.
const MOST: usize = 3;

/// Part of the words of the question that a source has to hold to be near.
const LEAST_SHARE: f32 = 0.5;

/// How well a word has to stand for one of the question to count.
const LEAST_CREDIT: f32 = 0.6;

/// Longest subject, in characters.
const LONGEST: usize = 60;

/// Metadata columns that usually hold a title.
const TITLES: [&str; 4] = ["title", "name", "subject", "headline"];

/// A sentence, in the language of the question, that names the subjects of those of `sources`, which stand best
/// first, that are near to the question; `None` where none is. `column` is the metadata column that names a
/// source, if the options say one.
#[must_use]
pub fn nearest_topics(question: &str, sources: &[&Source], column: Option<&str>) -> Option<String> {
    let spoken = spoken(question, sources.first().copied());
    let mut asked = terms(&words(question));
    asked.retain(|term| !is_function_word(spoken, &term.folded));
    let near = sources.iter().filter(|source| is_near(source, &asked));
    let mut subjects: Vec<String> = Vec::new();
    for subject in near.filter_map(|source| subject(source, column)) {
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    subjects.truncate(MOST);
    (!subjects.is_empty()).then(|| in_language(spoken, &subjects))
}

fn is_near(source: &Source, asked: &[Word]) -> bool {
    let mut held = words(source.heading().unwrap_or_default());
    held.extend(words(source.content()));
    let is_held =
        |term: &&Word| held.iter().any(|it| credit(&term.folded, &it.folded) >= LEAST_CREDIT);
    let count = asked.iter().filter(is_held).count();
    count > 0 && count as f32 >= LEAST_SHARE * asked.len() as f32
}

/// What a source is about, in its own words.
fn subject(source: &Source, column: Option<&str>) -> Option<String> {
    let metadata = source.metadata();
    let of_column = |name: &str| match metadata?.get(name)? {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    let heading = || source.heading().map(str::to_owned);
    let title = || TITLES.iter().find_map(|name| of_column(name));
    let found = column.and_then(of_column).or_else(heading).or_else(title);
    let found = found.filter(|text| !text.trim().is_empty()).map(|text| shortened(&text));
    found.or_else(|| beginning(source.content()))
}

/// How a text begins, in quotation marks.
fn beginning(text: &str) -> Option<String> {
    let first = sentences(text).into_iter().next()?;
    let first = shortened(text[first].trim_start_matches(['#', '*', '-', '>', '|', ' ']));
    (!first.is_empty()).then(|| format!("\u{201C}{first}\u{201D}"))
}

/// A text in one line, cut between words where it is long, without what reads as a citation.
fn shortened(text: &str) -> String {
    let mut short = String::new();
    let mut length = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if length + letters > LONGEST {
            let room: String =
                if short.is_empty() { word.chars().take(LONGEST).collect() } else { String::new() };
            short += &room;
            short += "\u{2026}";
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short += word;
        length += letters + 1;
    }
    without_markers(&short.replace('`', "'"))
}

fn in_language(language: NaturalLanguage, subjects: &[String]) -> String {
    let (frame, joint, end) = match language {
        NaturalLanguage::Arabic => ("أقرب المواضيع: ", "؛ ", "."),
        NaturalLanguage::Bulgarian => ("Най-близки теми: ", "; ", "."),
        NaturalLanguage::Catalan => ("Temes més propers: ", "; ", "."),
        NaturalLanguage::Chinese => ("最接近的主题：", "；", "。"),
        NaturalLanguage::Croatian => ("Najbliže teme: ", "; ", "."),
        NaturalLanguage::Czech => ("Nejbližší témata: ", "; ", "."),
        NaturalLanguage::Danish => ("Nærmeste emner: ", "; ", "."),
        NaturalLanguage::Dutch => ("Wat er het dichtst bij komt: ", "; ", "."),
        NaturalLanguage::English => ("Nearest topics: ", "; ", "."),
        NaturalLanguage::Estonian => ("Lähimad teemad: ", "; ", "."),
        NaturalLanguage::Finnish => ("Lähimmät aiheet: ", "; ", "."),
        NaturalLanguage::French => ("Sujets les plus proches : ", " ; ", "."),
        NaturalLanguage::German => ("Am nächsten kommen: ", "; ", "."),
        NaturalLanguage::Greek => ("Πλησιέστερα θέματα: ", "· ", "."),
        NaturalLanguage::Hebrew => ("הנושאים הקרובים ביותר: ", "; ", "."),
        NaturalLanguage::Hindi => ("निकटतम विषय: ", "; ", "।"),
        NaturalLanguage::Hungarian => ("A legközelebbi témák: ", "; ", "."),
        NaturalLanguage::Indonesian => ("Topik terdekat: ", "; ", "."),
        NaturalLanguage::Italian => ("Argomenti più vicini: ", "; ", "."),
        NaturalLanguage::Japanese => ("最も近い項目：", "；", "。"),
        NaturalLanguage::Korean => ("가장 가까운 항목: ", "; ", "."),
        NaturalLanguage::Lithuanian => ("Artimiausios temos: ", "; ", "."),
        NaturalLanguage::Norwegian => ("Nærmeste emner: ", "; ", "."),
        NaturalLanguage::Polish => ("Najbliższe tematy: ", "; ", "."),
        NaturalLanguage::Portuguese => ("Assuntos mais próximos: ", "; ", "."),
        NaturalLanguage::Romanian => ("Cele mai apropiate subiecte: ", "; ", "."),
        NaturalLanguage::Russian => ("Ближайшие темы: ", "; ", "."),
        NaturalLanguage::Serbian => ("Најближе теме: ", "; ", "."),
        NaturalLanguage::Spanish => ("Temas más cercanos: ", "; ", "."),
        NaturalLanguage::Swedish => ("Närmaste ämnen: ", "; ", "."),
        NaturalLanguage::Thai => ("หัวข้อที่ใกล้เคียงที่สุด: ", "; ", ""),
        NaturalLanguage::Turkish => ("En yakın konular: ", "; ", "."),
        NaturalLanguage::Ukrainian => ("Найближчі теми: ", "; ", "."),
        NaturalLanguage::Vietnamese => ("Chủ đề gần nhất: ", "; ", "."),
    };
    let listed = subjects.join(joint);
    let ends = listed.ends_with(['.', '!', '?', '\u{2026}', '。', '।']);
    format!("{frame}{listed}{}", if ends { "" } else { end })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::retrieve::Passage;
    use crate::source::tests::{one_of_each, passage};

    fn check(question: &str, sources: &[Passage], expected: Option<&str>) {
        let sources: Vec<Source> = sources.iter().cloned().map(Source::Chunk).collect();
        let sources: Vec<&Source> = sources.iter().collect();
        assert_eq!(nearest_topics(question, &sources, None).as_deref(), expected, "{question}");
    }

    fn headed(heading: &str, content: &str) -> Passage {
        Passage { heading: Some(heading.into()), ..passage(content) }
    }

    #[test]
    fn what_shares_the_words_of_the_question_is_named() {
        let shop = [
            headed("Refunds", "A refund takes five days."),
            headed("Delivery", "Parcels arrive on Monday."),
            headed("Refunds", "A refund of vouchers is not possible."),
        ];
        check("Is a refund taxed?", &shop, Some("Nearest topics: Refunds."));
        check("When do parcels arrive by ship?", &shop, Some("Nearest topics: Delivery."));
        check("Who painted the ceiling of the chapel?", &shop, None);
        let german = [headed("Garantie > Lampe", "Die Lampe hat fünf Jahre Garantie.")];
        check(
            "Wie lange ist die Garantie der Uhr?",
            &german,
            Some("Am nächsten kommen: Garantie > Lampe."),
        );
        check("Wer leitet die Werkstatt?", &german, None);
        check("", &shop, None);
    }

    #[test]
    fn it_is_called_by_its_title_or_by_how_it_begins() {
        let refund = passage("A refund takes five days. It is paid by card.");
        let titled = Passage { metadata: json!({"title": "About [1] money"}), ..refund.clone() };
        check("Is a refund taxed?", &[titled], Some("Nearest topics: About (1) money."));
        check(
            "Is a refund taxed?",
            &[refund],
            Some("Nearest topics: \u{201C}A refund takes five days.\u{201D}."),
        );
        let long = passage(&format!("Refund {}", "word ".repeat(40)));
        let sources = [Source::Chunk(long)];
        let said = nearest_topics("A refund?", &[&sources[0]], None).unwrap();
        assert!(said.chars().count() < LONGEST + 30 && said.contains('\u{2026}'), "{said}");
    }

    #[test]
    fn at_most_three_of_any_kind_are_named() {
        let many: Vec<Passage> =
            (0..9).map(|n| headed(&format!("Refund {n}"), "A refund.")).collect();
        check("A refund?", &many, Some("Nearest topics: Refund 0; Refund 1; Refund 2."));
        let [_, summary, row] = one_of_each();
        let said = nearest_topics("Is the mill open?", &[&summary, &row], None);
        assert_eq!(said, None);
    }
}
