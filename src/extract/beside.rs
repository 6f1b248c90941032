//! # beside: what of the code and the lists beside a sentence was asked for?
//!
//! ```text
//! "Pause it with pause_pump." above an example:  "How do I pause it?" → with the example;  "How long is it paused?" → without
//! ```
//!
//! What a sentence announces with a colon belongs to it. Other code below it is an example of the section, and who asks how many
//! or what happens is told by words. There the code is a piece of its own. Items of a list that only say where something is said
//! are left out where others say something.

use super::announcement::announces;
use super::answer_type::AnswerType;
use super::part::{PartKind, UnitPart};
use super::reference::is_reference;
use super::unit::Unit;
use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;
use crate::text::word_list::list_has;
use crate::text::words::Word;

/// Whether `question`, which asks for something of a kind or for words, has no use for an example.
pub(super) fn is_told_by_words(
    words: &[Word],
    text: &str,
    asked: AnswerType,
    wants_words: bool,
) -> bool {
    let names_code = words.iter().any(|word| list_has(CODE, &word.folded))
        || UNSPACED_CODE.iter().any(|it| text.contains(it));
    let is_of_kind = matches!(asked, AnswerType::Time | AnswerType::Number);
    (wants_words || is_of_kind) && !names_code
}

/// Whether the question, which has `words`, asks what happens or what something does with something: code shows how to have it
/// done, which who asks "What do I do" wants to see.
pub(super) fn asks_what_is_done(words: &[Word], text: &str) -> bool {
    let is_of = |list: &str, word: &Word| list_has(list, &word.folded);
    let asks = match words {
        [what, does, who, rest @ ..] => {
            what.folded == "what"
                && is_of("do does did", does)
                && !is_of("i we you one", who)
                && rest.iter().any(|it| it.folded == "do")
        }
        _ => false,
    };
    asks || HAPPENING.begin(text)
}

/// `unit`, and the code below it apart if its sentence does not announce that.
pub(super) fn apart(mut unit: Unit, content: &str) -> Vec<Unit> {
    let is_code = |kind: &PartKind| matches!(kind, PartKind::Code(_));
    let [first, below @ ..] = &unit.parts[..] else { return vec![unit] };
    let is_example = !below.is_empty()
        && below.iter().all(|it| is_code(&it.kind))
        && !is_code(&first.kind)
        && !announces(&content[first.range.clone()]);
    if !is_example {
        return vec![unit];
    }
    let (under, above) = (unit.under.clone(), unit.above.clone());
    let code = Unit { under, above, ..Unit::new(unit.parts.split_off(1), None) };
    vec![unit, code]
}

/// Takes from the list that a sentence brings what only says where something is said, unless nothing else is left of it.
pub(super) fn leave_references(unit: &mut Unit, content: &str) {
    let is_bullet = |kind: &PartKind| matches!(kind, PartKind::Item(None));
    let [first, listed @ ..] = &unit.parts[..] else { return };
    if is_bullet(&first.kind) || !listed.iter().all(|it| is_bullet(&it.kind)) {
        return;
    }
    let refers = |part: &UnitPart| is_reference(&content[part.range.clone()], &part.kind);
    if !listed.iter().all(refers) {
        unit.parts.retain(|it| !is_bullet(&it.kind) || !refers(it));
    }
}

/// Words for code, which who asks for it names.
const CODE: &str = "code command commands example examples query snippet script statement syntax \
    abfrage befehl befehle beispiel beispiele skript anweisung \
    commande commandes exemple exemples requête comando comandos ejemplo ejemplos sintaxis consulta esempio esempi sintassi \
    exemplo exemplos sintaxe opdracht voorbeeld polecenie polecenia przykład składnia \
    команда команду команды командой пример синтаксис приклад komut komutu örnek sözdizimi";

/// What names code in languages that write no spaces.
const UNSPACED_CODE: [&str; 8] =
    ["命令", "示例", "例子", "代码", "程式碼", "语法", "コマンド", "コード"];

/// How questions begin that ask what happens.
const HAPPENING: Phrases = Phrases {
    spaced: &[
        (NaturalLanguage::English, "what. happen"),
        (NaturalLanguage::German, "was. passiert., was. geschieht."),
        (NaturalLanguage::French, "que. se. passe, qu'arrive"),
        (NaturalLanguage::Spanish, "qué. pasa., qué. ocurre., qué. sucede."),
        (
            NaturalLanguage::Italian,
            "cosa. succede., che. succede., che. cosa. succede., cosa. accade.",
        ),
        (NaturalLanguage::Portuguese, "o. que. acontece."),
        (NaturalLanguage::Dutch, "wat. gebeurt."),
        (NaturalLanguage::Polish, "co. się. stanie., co. się. dzieje."),
        (NaturalLanguage::Russian, "что. происходит., что. произойд, что. случ"),
        (NaturalLanguage::Ukrainian, "що. відбувається., що. станеться."),
        (NaturalLanguage::Turkish, "ne. olur."),
    ],
    unspaced: &[],
};
