//! # polarity: does the question ask what is not so, and the piece say what is?
//!
//! ```text
//! "Who was not exempt from the tax?" and "Priests were exempt from the tax." → they are at odds
//! ```
//!
//! Both have the same words, so nothing that compares words or meanings tells them apart, and a small reader doesn't
//! either. The negation in the question is told by its words, in the languages of the table.
//!
//! A question for a reason, a way or a consequence has the negation as a given: "Why does the pump not start?" is answered
//! by "The tank may be empty." One for yes or no only expects a yes: "Isn't the pump heavy?"

use super::candidates::ParsedQuestion;
use super::terms::{QuestionWords, compared, term_credit};
use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;
use crate::text::word_list::list_has;
use crate::text::words::{Word, words};

/// Log odds that are taken from the confidence where question and best piece are at odds.
pub(super) const AT_ODDS: f32 = 3.0;

/// Terms behind the negation of a question of which the piece has to hold one.
const NEGATED_TERMS: usize = 3;

/// Whether `question` asks who, what, where or when something is not so, and `piece` speaks of that without a word that
/// denies anything. "Who does not need a ticket?" is answered by "Children travel free.", which has no ticket in it.
pub(super) fn is_at_odds(question: &ParsedQuestion, piece: &str) -> bool {
    if !question.asks.contains(&true) || GIVENS.stand_in(&question.text) {
        return false;
    }
    let text = without_limits(&question.text);
    NEGATIONS.first_end_in(&text).is_some_and(|end| {
        let negated = terms_behind(&text, end);
        let words = words(piece);
        let compared = compared(piece, &words);
        let is_negated = |word: &Word| negated.iter().any(|it| term_credit(it, &word.folded) > 0.0);
        let is_said = negated.is_empty() || compared.iter().any(is_negated);
        // What the question negates denies nothing more in the piece: "exempt", of which it asks who is not.
        let denies = |(word, compared): (&Word, &Word)| is_denial(word) && !is_negated(compared);
        is_said && !words.iter().zip(&compared).any(denies) && !piece.contains(UNSPACED_DENIALS)
    })
}

/// `question` in lower case without the phrases in which a negation only limits an amount.
fn without_limits(question: &str) -> String {
    let mut text = format!(" {} ", question.to_lowercase());
    for phrase in LIMITS.split(", ") {
        text = text.replace(&format!(" {phrase} "), " ");
    }
    text
}

/// The first terms of a question behind its first `end` words.
fn terms_behind(question: &str, end: usize) -> Vec<String> {
    let QuestionWords { terms, term_of, .. } = QuestionWords::read(question, MOST_WORDS);
    let mut behind: Vec<usize> = term_of.into_iter().skip(end).flatten().collect();
    behind.dedup();
    behind.into_iter().take(NEGATED_TERMS).map(|it| terms[it].folded.clone()).collect()
}

/// Whether a text denies or rules out something.
pub(super) fn denies(text: &[Word]) -> bool {
    text.iter().any(is_denial)
}

/// Whether a word of a piece denies or rules out something, in whatever language.
fn is_denial(word: &Word) -> bool {
    let word = word.folded.as_str();
    list_has(DENIALS, word)
        || word.ends_with("n't")
        || word.ends_with("n’t")
        || word.starts_with("n'")
        || word.starts_with("n’")
}

/// Words of a question that are looked at.
const MOST_WORDS: usize = 200;

/// Phrases in lower case in which a negation limits an amount or a time, or rules out nothing.
const LIMITS: &str = "\
    not more than, not less than, not fewer than, not later than, not earlier than, not only, not just, not necessarily, \
    nicht mehr als, nicht weniger als, nicht später als, nicht länger als, nicht älter als, nicht nur, n'importe, n’importe, \
    no más de, no menos de, no más tarde de, no solo, no sólo, no solamente, non più di, non meno di, non oltre, non solo, \
    non soltanto, não mais de, não mais que, não menos de, não só, não apenas, não somente, niet meer dan, niet minder dan, \
    niet later dan, niet ouder dan, niet alleen, не более, не менее, не больше, не меньше, не позднее, не позже, не раньше, \
    не только, nie więcej niż, nie mniej niż, nie później niż, nie dłużej niż, nie tylko";

/// Words of a question that ask what is not so.
const NEGATIONS: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "not., never., isn't., isn’t., aren't., aren’t., wasn't., wasn’t., weren't., weren’t., don't., don’t., \
             doesn't., doesn’t., didn't., didn’t., hasn't., hasn’t., haven't., haven’t., hadn't., hadn’t., can't., can’t., \
             cannot., couldn't., couldn’t., won't., won’t., wouldn't., wouldn’t.",
        ),
        (NaturalLanguage::German, "nicht., nie., niemals., kein"),
        (NaturalLanguage::French, "ne., n', n’"),
        (NaturalLanguage::Spanish, "no., nunca."),
        (NaturalLanguage::Italian, "non., mai."),
        (NaturalLanguage::Portuguese, "não., nunca."),
        (NaturalLanguage::Dutch, "niet., nooit., geen."),
        (NaturalLanguage::Russian, "не., нет., никогда., нельзя."),
        (NaturalLanguage::Polish, "nie., nigdy."),
    ],
    unspaced: &[(
        NaturalLanguage::Chinese,
        "没有, 不是, 不会, 不能, 不在, 不属于, 不包括, 不支持, 不需要, 不允许, 不可以, 未能, 无法, 沒有, 不會",
    )],
};

/// Words of a question to which what is not so is known: it asks why, how, or what follows.
const GIVENS: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "why., how., if., unless., without., whether., happen, should., when it., when the., when a., when my., when i., \
             when you., what can i., what do i.",
        ),
        (
            NaturalLanguage::German,
            "warum., weshalb., wieso., wie., wenn., falls., ohne., ob., soll, passiert., geschieht., was mache ich., was tun.",
        ),
        (
            NaturalLanguage::French,
            "pourquoi., comment., si., s'il., s’il., sans., passe., arrive., faut., que faire., dois.",
        ),
        (
            NaturalLanguage::Spanish,
            "por qué., cómo., si., sin., pasa., sucede., ocurre., debo., hacer.",
        ),
        (NaturalLanguage::Italian, "perché., come., se., senza., succede., accade., devo., fare."),
        (
            NaturalLanguage::Portuguese,
            "por que., porque., como., se., sem., acontece., devo., fazer.",
        ),
        (NaturalLanguage::Dutch, "waarom., hoe., als., indien., zonder., gebeurt., moet."),
        (
            NaturalLanguage::Russian,
            "почему., зачем., как., если., без., произойдёт., произойдет., случится., делать.",
        ),
        (NaturalLanguage::Polish, "dlaczego., jak., jeśli., jeżeli., bez., zrobić."),
    ],
    unspaced: &[(
        NaturalLanguage::Chinese,
        "为什么, 为何, 为啥, 如何, 怎么, 怎样, 如果, 的话, 的时候, 時候, 為什麼, 為何, 怎麼, 怎樣",
    )],
};

/// Words of a piece that deny or rule out something, or hold for hardly anything else.
const DENIALS: &str = "\
    not no never none nobody nothing neither nor cannot without unable except fail fails failed lack lacks lacked refuse \
    refuses refused avoid impossible forbidden prohibited excluded exclude excludes excluding exempt exempts exempted \
    exemption free only exclusively instead rarely seldom hardly scarcely barely \
    nicht nichts nie niemals kein keine keinen keinem keiner keines keinerlei niemand weder ohne außer befreit ausgenommen \
    ausgeschlossen frei kostenlos gratis nur lediglich ausschließlich statt stattdessen anstatt anstelle kaum selten \
    ne pas jamais aucun aucune rien sans sauf excepté hormis exempté exemptés exemptée exemptées exonéré exonérés exonérée \
    exonérées dispensé dispensés dispensée dispensées exclu exclus exclue exclues gratuit gratuits gratuite gratuites \
    gratuitement seulement uniquement plutôt rarement guère \
    nunca jamás ningún ninguna ninguno nadie nada sin ni salvo excepto exento exenta exentos exentas excluido excluida \
    excluidos excluidas gratuito gratuita gratuitos gratuitas solo sólo solamente únicamente raramente apenas \
    non mai nessun nessuno nessuna niente nulla senza tranne eccetto esente esenti escluso esclusa esclusi escluse \
    gratuiti gratuitamente soltanto solamente unicamente invece anziché appena \
    não nenhum nenhuma ninguém sem nem exceto isento isenta isentos isentas excluído excluída excluídos excluídas grátis \
    gratuitamente só somente unicamente \
    niet nooit geen niemand niets zonder behalve vrijgesteld uitgezonderd uitgesloten vrij alleen slechts enkel uitsluitend \
    zelden nauwelijks \
    не нет никогда нельзя никто ничто ничего никакой никакие никаких нигде без кроме освобождён освобожден освобождена \
    освобождено освобождены исключая исключён исключен исключены бесплатно только лишь исключительно вместо редко едва \
    nie nigdy nikt nikogo nikomu nic niczego nigdzie żaden żadna żadne żadnego żadnej żadnych brak brakuje bez oprócz poza \
    wyjątkiem zwolniony zwolniona zwolnione zwolnieni wykluczony wykluczone bezpłatnie darmo tylko jedynie wyłącznie zamiast \
    rzadko ledwie";

/// Signs of Chinese that deny something, or all but something.
const UNSPACED_DENIALS: [char; 12] =
    ['不', '没', '沒', '未', '无', '無', '非', '勿', '免', '仅', '僅', '只'];

#[cfg(test)]
mod tests {
    use super::*;

    fn is_said_against(question: &str, piece: &str) -> bool {
        is_at_odds(&ParsedQuestion::read(question), piece)
    }

    #[test]
    fn who_asks_what_is_not_so_is_not_answered_by_what_is() {
        for (question, is, is_not) in [
            (
                "Who was not exempt from the tax?",
                "Priests were exempt from the tax.",
                "Farmers were not exempt from it.",
            ),
            (
                "Which pump doesn't need oil?",
                "The red pump needs oil.",
                "The blue pump doesn’t need oil.",
            ),
            (
                "Welche Pumpe braucht kein Öl?",
                "Die rote Pumpe braucht Öl.",
                "Die blaue kommt ohne Öl aus.",
            ),
            (
                "Quelle pompe n'a pas besoin d'huile ?",
                "La rouge en a besoin.",
                "La bleue n’en a pas besoin.",
            ),
            (
                "¿Qué bomba no necesita aceite?",
                "La roja necesita aceite.",
                "La azul no necesita aceite.",
            ),
            ("Какой насос не требует масла?", "Красный требует масла.", "Синий не требует масла."),
            ("哪个水泵不需要加油？", "红色水泵要加油。", "蓝色水泵不用加油。"),
            (
                "Która pompa nie wymaga oleju?",
                "Czerwona pompa wymaga oleju.",
                "Niebieska działa, gdy brak oleju.",
            ),
        ] {
            assert!(is_said_against(question, is), "{question} {is}");
            assert!(!is_said_against(question, is_not), "{question} {is_not}");
        }
    }

    #[test]
    fn who_asks_what_is_not_so_is_answered_in_other_words() {
        for (question, piece) in [
            ("Who does not need a ticket?", "Children travel free."),
            ("Which goods are not taxed?", "Books are exempt."),
            ("Which animals do not eat meat?", "Herbivores eat only plants."),
            ("Who was not exempt from the tax?", "Priests were free."),
            ("Which goods are not taxed?", "Books are rarely taxed."),
            ("Wer braucht kein Ticket?", "Kinder fahren kostenlos."),
            ("Qui ne paie pas la taxe ?", "Les prêtres sont exonérés de la taxe."),
            ("¿Quién no paga el impuesto?", "Los curas están exentos del impuesto."),
            ("Chi non paga la tassa?", "I preti sono esenti dalla tassa."),
            ("Quem não paga a taxa?", "Os padres são isentos da taxa."),
            ("Wie betaalt geen belasting?", "Priesters zijn vrijgesteld van belasting."),
            ("Кто не платит налог?", "Священники освобождены от налога."),
            ("Kto nie płaci podatku?", "Żaden ksiądz, gdyż podatku nikt od nich nie chce."),
            ("Kto nie płaci podatku?", "Księża są zwolnieni z podatku."),
            ("谁不需要缴税？", "神父免缴税。"),
        ] {
            assert!(!is_said_against(question, piece), "{question} {piece}");
        }
    }

    #[test]
    fn a_limit_negates_nothing() {
        for (question, piece) in [
            ("Who pays not more than 5 euros?", "Children pay 5 euros."),
            ("Who has to apply not later than May?", "Students apply in May."),
            ("Who sells not only pumps?", "The mill sells pumps and oil."),
            ("Welche Pumpe wiegt nicht mehr als 5 kg?", "Die rote Pumpe wiegt 5 kg."),
            ("Quel guichet vend n'importe quel billet ?", "Le guichet A vend tout billet."),
            ("¿Qué bomba pesa no más de 5 kg?", "La bomba roja pesa 5 kg."),
            ("Какой насос весит не более 5 кг?", "Красный насос весит 5 кг."),
            ("Która pompa waży nie więcej niż 5 kg?", "Czerwona pompa waży 5 kg."),
        ] {
            assert!(!is_said_against(question, piece), "{question} {piece}");
        }
        assert!(is_said_against("Who pays not 5 euros?", "Children pay 5 euros."));
    }

    #[test]
    fn what_is_not_so_may_be_known() {
        let piece = "The tank may be empty.";
        for question in [
            "Why does the pump not start?",
            "How do I start a pump that is not filled?",
            "What happens if the pump is not filled?",
            "What should I do when the pump doesn't start?",
            "Isn't the pump heavy?",
            "Does the pump not start?",
            "Warum startet die Pumpe nicht?",
            "Was passiert, wenn die Pumpe nicht gefüllt ist?",
            "Pourquoi la pompe ne démarre-t-elle pas ?",
            "¿Por qué no arranca la bomba?",
            "Почему насос не запускается?",
            "为什么水泵不能启动？",
            "Who filled the pump?",
            "",
        ] {
            assert!(!is_said_against(question, piece), "{question}");
        }
    }
}
