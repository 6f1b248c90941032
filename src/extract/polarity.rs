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
use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;
use crate::text::words::each_word;

/// Log odds that are taken from the confidence where question and best piece are at odds.
pub(super) const AT_ODDS: f32 = 3.0;

/// Whether `question` asks who, what, where or when something is not so, and no word of `piece` denies anything.
pub(super) fn is_at_odds(question: &ParsedQuestion, piece: &str) -> bool {
    question.asks.contains(&true)
        && NEGATIONS.stand_in(&question.text)
        && !GIVENS.stand_in(&question.text)
        && !denies(piece)
}

/// Whether any word of `piece` denies or rules out something, in whatever language.
fn denies(piece: &str) -> bool {
    let is_denial = |word: &str| {
        DENIALS.split_ascii_whitespace().any(|it| it == word)
            || word.ends_with("n't")
            || word.ends_with("n’t")
            || word.starts_with("n'")
            || word.starts_with("n’")
    };
    each_word(piece).any(|it| is_denial(&it.folded)) || piece.contains(UNSPACED_DENIALS)
}

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

/// Words of a piece that deny or rule out something.
const DENIALS: &str = "\
    not no never none nobody nothing neither nor cannot without unable except fail fails failed lack lacks lacked refuse \
    refuses refused avoid impossible forbidden prohibited excluded \
    nicht nichts nie niemals kein keine keinen keinem keiner keines niemand weder ohne außer \
    ne pas jamais aucun aucune rien sans sauf nunca jamás ningún ninguna ninguno nadie nada sin ni salvo excepto \
    non mai nessun nessuno nessuna niente nulla senza não nenhum nenhuma ninguém sem nem exceto \
    niet nooit geen niemand niets zonder behalve \
    не нет никогда нельзя никто ничего никакой никакие без кроме nie nigdy bez oprócz";

/// Signs of Chinese that deny something.
const UNSPACED_DENIALS: [char; 8] = ['不', '没', '沒', '未', '无', '無', '非', '勿'];

#[cfg(test)]
mod tests {
    use super::*;

    fn is_said_against(question: &str, piece: &str) -> bool {
        is_at_odds(&ParsedQuestion::read(question), piece)
    }

    #[test]
    fn who_asks_what_is_not_so_is_not_answered_by_what_is() {
        for (question, is, is_not) in [
            ("Who was not exempt from the tax?", "Priests were free.", "Farmers were not."),
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
        ] {
            assert!(is_said_against(question, is), "{question} {is}");
            assert!(!is_said_against(question, is_not), "{question} {is_not}");
        }
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
