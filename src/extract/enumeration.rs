//! # enumeration: does the question ask for a whole list or table?
//!
//! ```text
//! "List the house rules", "What are the steps for the move?" below "## House rules", "## Moving house" → all items
//! ```
//!
//! A list is asked for where all words of the question stand above it: in its headings, in the sentence that announces it, or in
//! the head of a table. Of some words that is not expected: those that tell to enumerate ("list", "show") and those that stand
//! for the items of any list ("steps", "options"), as long as another word names what is enumerated. Who asks for one item names
//! it, and that word does not stand above the list.

use super::ExtractPassage;
use super::answer_type::AnswerType;
use super::candidates::ParsedQuestion;
use super::headline::nearest_release;
use super::part::PartKind;
use super::terms::{compared, term_credit};
use super::title::clause_title;
use super::unit::Unit;
use crate::chunk::HEADING_SEPARATOR;
use crate::text::function_word::asks_who;
use crate::text::sentence::is_question;
use crate::text::word_list::list_has;
use crate::text::words::{Word, words};

/// Whether all that carries the question stands above `list`.
pub(super) fn is_asked_for(terms: &[Word], list: &Unit, source: &ExtractPassage) -> bool {
    let content = source.content;
    let section = list.section.clone().map(|range| &content[range]);
    let path = source.heading.unwrap_or_default();
    let nearest = section.or_else(|| path.split(HEADING_SEPARATOR).last()).unwrap_or_default();
    let announced = list.parts.first().and_then(|first| match &first.kind {
        PartKind::Sentence => Some(&content[first.range.clone()]),
        PartKind::Row(columns, _) => columns.clone().map(|range| &content[range]),
        _ => None,
    });
    let read = |text: String| compared(&text, &words(&text));
    // What is new in a version stands below "Added" and "Fixed", and maybe below a question in the paragraph before.
    let release = nearest_release(list, source).map(|it| it.text(source)).unwrap_or_default();
    let announced = announced.unwrap_or_default();
    let right_above = read(format!("{nearest}\n{release}\n{announced}"));
    let above = read(format!("{path}\n{}", section.unwrap_or_default()));
    let stands_in = |term: &&Word, words: &[Word]| {
        words.iter().any(|word| term_credit(&term.folded, &word.folded) > 0.0)
    };
    let is_any = |term: &Word, list: &str| list_has(list, &term.folded);
    let said = terms.iter().filter(|it| !is_any(it, TELLING) || stands_in(it, &right_above));
    let mut said = said.filter(|it| !is_any(it, ITEMS) || stands_in(it, &right_above));
    let names_list = said.clone().any(|it| stands_in(&it, &right_above));
    names_list && said.all(|it| stands_in(&it, &right_above) || stands_in(&it, &above))
}

/// Whether the question wants one item of the numbered list that `unit` is of: it asks how much, when or who, or whether a clause
/// of a law allows something. Who asks how, wants all steps.
pub(super) fn wants_one_item(
    question: &ParsedQuestion,
    unit: &Unit,
    source: &ExtractPassage,
) -> bool {
    let Some(list) = unit.list.as_deref() else { return false };
    let is_of_kind = matches!(question.asked, AnswerType::Time | AnswerType::Number);
    let mut asking = question.words.iter().zip(&question.asks).filter(|(_, asks)| **asks);
    let first = asking.next().map(|(word, _)| word.folded.as_str());
    let wants_person = first.is_some_and(asks_who);
    let is_clause =
        unit.under.clone().is_some_and(|it| clause_title(&source.content[it]).is_some());
    let asks_whether = first.is_none() && is_question(question.text.trim_end());
    let wants_one = is_of_kind || wants_person || is_clause && asks_whether;
    wants_one && !is_asked_for(&question.terms, list, source)
}

/// Words that tell to enumerate, and that all is meant.
const TELLING: &str = "\
    list enumerate give tell show all every exactly please \
    liste nenne nennen nenn zähle aufzählen aufzählung zeige zeig sag alle bitte \
    énumère énumérez cite citez donne donnez indique indiquez tous toutes \
    lista enumera enumere nombra dime indica todas todos muestra \
    elenca elencare elenco dimmi indica tutti tutte mostra \
    diga indique mostre todas todos \
    noem opsommen opsomming geef toon alle \
    wymień wymienić podaj wypisz wszystkie \
    listele sırala say söyle tüm bütün nelerdir \
    перечисли перечислите назови назовите покажи список все перелічи назви \
    اذكر عدد جميع كل قائمه \
    बताइए बताएँ बताओ सूची सभी गिनाइए";

/// Words that stand for the items of a list, whatever it enumerates.
const ITEMS: &str = "\
    steps step items item options option points point ways things kinds types changes changed new \
    schritte schritt punkte optionen möglichkeiten arten dinge änderungen geändert neu neues \
    étapes étape points options possibilités sortes types changements changé nouveau nouveautés \
    pasos opciones puntos posibilidades tipos cambios nuevo novedades \
    passi passaggi opzioni punti possibilità tipi modifiche novità \
    passos etapas opções pontos possibilidades tipos mudanças novidades \
    stappen opties punten mogelijkheden soorten wijzigingen nieuw \
    kroki etapy opcje punkty możliwości rodzaje zmiany nowego \
    adımlar adımları seçenekler seçenekleri maddeler türler değişiklikler \
    шаги этапы варианты пункты возможности виды изменения \
    خطوات خيارات نقاط انواع \
    चरण विकल्प प्रकार";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extract::candidates::ParsedQuestion;
    use crate::extract::units::units;

    fn is_asked(question: &str, heading: &str, content: &str) -> bool {
        let question = ParsedQuestion::read(question);
        let passage = ExtractPassage { heading: Some(heading), ..ExtractPassage::of(1, content) };
        let list = units(content).into_iter().rev().find_map(|it| it.bullets.or(it.list));
        is_asked_for(&question.terms, &list.expect("a list"), &passage)
    }

    const RULES: &str = "## House rules\n\n- No running.\n- No food.";
    const MOVE: &str = "## Moving house\n\nTo move:\n\n1. Give notice.\n2. Hand in the keys.";
    const PRICES: &str = "## Prices\n\n| Room | Price |\n|---|---|\n| Elm | 80 |\n| Oak | 95 |";

    #[test]
    fn whoever_names_nothing_but_the_list_wants_it_all() {
        let hall = "Hall > House rules";
        for question in [
            "What are the house rules?",
            "List all rules of the house, please",
            "house rules",
            "Which rules are there in the hall?",
        ] {
            assert!(is_asked(question, hall, RULES), "{question}");
        }
        for question in ["What are the steps for moving house?", "List the steps to move"] {
            assert!(is_asked(question, "Moving house", MOVE), "{question}");
        }
        for question in ["What are the prices?", "What is the price of each room?"] {
            assert!(is_asked(question, "Prices", PRICES), "{question}");
        }
    }

    #[test]
    fn a_fact_is_one_item_of_numbered_clauses_and_how_to_do_it_is_all() {
        let wants_one = |question: &str, content: &str| {
            let question = ParsedQuestion::read(question);
            let units = units(content);
            let item = units.iter().rev().find(|it| it.list.is_some()).expect("an item");
            wants_one_item(&question, item, &ExtractPassage::of(1, content))
        };
        let rules =
            "§ 2. Boats\n\n1. Boats leave at dawn.\n2. The fee is 8 euros.\n3. Wear a vest.";
        for question in ["How much is the fee?", "When do we leave?", "Do I have to wear a vest?"] {
            assert!(wants_one(question, rules), "{question}");
        }
        for question in ["How do I leave with a boat?", "vest", "Boats?"] {
            assert!(!wants_one(question, rules), "{question}");
        }
        let steps = "## Lights\n\n1. Open the lid.\n2. Turn the lights on.";
        assert!(!wants_one("Can I turn it on?", steps));
    }

    #[test]
    fn what_changed_in_a_version_is_all_below_it() {
        let notes = "## 2.3.0\n\n### Added\n\n- Dark mode.\n- Import.";
        assert!(is_asked("What changed in 2.3.0?", "Notes", notes));
        let asking = "## 2.3.0\n\nDo you like the dark? We do.\n\n- Dark mode.\n- Import.";
        assert!(is_asked("What changed in 2.3.0?", "Notes", asking));
        assert!(!is_asked("What changed in 2.2.0?", "Notes", asking));
        assert!(!is_asked("What changed in 2.2.0?", "Notes", notes));
        assert!(!is_asked("When did 2.3.0 add the import?", "Notes", notes));
        let section = "### Added\n\n- Dark mode.\n- Import.";
        assert!(is_asked("What changed in 2.3.0?", "Notes > 2.3.0 > Added", section));
        assert!(!is_asked("What changed in 2.2.0?", "Notes > 2.3.0 > Added", section));
    }

    #[test]
    fn whoever_names_more_wants_one_of_them() {
        for question in [
            "Do the rules allow food?",
            "What are the rules for guests?",
            "Who made the house rules?",
            "List the halls",
            "What are the options?",
            "How many halls have rules?",
            "What is the name of the hall?",
        ] {
            assert!(!is_asked(question, "Hall > House rules", RULES), "{question}");
        }
        assert!(!is_asked("What is the price of the Oak room?", "Prices", PRICES));
        assert!(!is_asked("Which room is cheapest?", "Prices", PRICES));
    }
}
