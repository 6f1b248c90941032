//! # function_word: does this word say anything of what is asked?
//!
//! ```text
//! (word, language) → a word like "the" or "how"; a word that asks, like "who"
//! ```
//!
//! Languages of the Latin script have lists of their own, since "was" asks in German and not in English. In
//! other scripts no word belongs to two lists at once in a way that matters, so they share one.

use super::language::{NaturalLanguage, words_of_questions};
use super::words::is_function_word;

/// Whether `word`, in lower case, only makes a question in `language`, or in English where that is not known.
pub(crate) fn is_function_word_of(word: &str, language: Option<NaturalLanguage>) -> bool {
    if !word.starts_with(|c: char| c.is_ascii() || ('\u{C0}'..='\u{24F}').contains(&c)) {
        return holds(OTHER_SCRIPTS, word);
    }
    match language.and_then(words_of_questions) {
        Some(list) if language != Some(NaturalLanguage::English) => holds(list, word),
        _ => is_function_word(word),
    }
}

/// Whether a character of a script without spaces is mostly part of a word that only makes a sentence:
/// those of Chinese, and all of the Japanese syllabary.
pub(crate) fn is_function_character(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{309F}') || CHARACTERS.contains(c)
}

/// Whether `word`, in lower case, asks in `language`, or in English where that is not known; of scripts
/// without spaces, whether the character is part of such a word.
pub(crate) fn is_asking(word: &str, language: Option<NaturalLanguage>) -> bool {
    let of = |wanted: NaturalLanguage| {
        ASKING.iter().find(|(language, _)| *language == wanted).map(|(_, list)| *list)
    };
    holds(OTHER_ASKING, word) || holds(language.and_then(of).unwrap_or(ENGLISH_ASKING), word)
}

fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

/// Arabic, Russian, Ukrainian, Greek, Hindi, Korean and Persian.
const OTHER_SCRIPTS: &str = "\
    في من على إلى الى عن مع هو هي هم ما ماذا متى أين اين كيف كم لماذا هل أي اي أية التي الذي الذين اللذان كان كانت \
    يكون تكون هذا هذه ذلك تلك و أو او ثم أن ان إن لا لم لن قد بعد قبل بين عند منذ حتى كل بعض غير أنا نحن أنت لي \
    به بها له لها فيه فيها منه منها عليه عليها يتم تم كما لقد ليس مَن \
    и в во на с со к ко по из за от до о об обо у для не ни но а или как что кто кого кому кем чем чего чему где \
    когда куда откуда почему зачем сколько какой какая какое какие какого какому каким каком какую каких какими чей \
    чья чьё чьи который которая которое которые которого которой котором которых ли же бы это этот эта эти этого \
    этой этом он она оно они его её их ему ей им был была было были есть быть то та те тот того при после перед \
    между под над через без мне меня мой моя мы вы ты я нам вам является являются можно нужно \
    і й та у в на з із до за від по про при як що хто кого кому ким чого чому де коли куди звідки скільки який яка \
    яке які якого якому яким якою яких чий чи це цей ця ці він вона воно вони його її їх був була було були є бути \
    не ні або але після перед між \
    ο η το οι τα του της των τον την τους τις στο στη στην στον στα στους στις σε από με για και ή να θα που πού πως \
    πώς τι ποιος ποια ποιο ποιοι ποιες ποιον ποιους πότε πόσο πόσα πόσοι πόσες πόση πόσος γιατί είναι ήταν έχει είχε \
    ένα ένας μια μία δεν κατά μετά πριν ως αυτό αυτή αυτός \
    का की के को में से पर और या है हैं था थी थे हो हुआ हुई हुए ने क्या कौन किस किसने किसके किसे कब कहाँ कहां कैसे क्यों कितना कितने \
    कितनी यह वह ये वे इस उस इन उन भी ही तक लिए साथ द्वारा कर करने किया गया गई गए जो जिस एक कि नहीं \
    चाहिए मैं हम आप मुझे हमें आपको मेरा मेरी मेरे अपना अपनी अपने सकता सकती सकते करना करें करते होता होती होते होना बाद पहले \
    은 는 이 가 을 를 의 에 와 과 도 로 그 저 것 수 및 또는 누구 누가 무엇 무엇을 무엇이 무엇인가 무엇인가요 무슨 어떤 어떻게 어디 어디에서 \
    언제 왜 몇 얼마 얼마나 있는 있는가 하는 한 된 입니까 있습니까 합니까 \
    که از به در را با این آن چه کی کجا چرا چگونه چند است بود شد می های ها برای";

/// Characters of Chinese function words and question words.
const CHARACTERS: &str =
    "的了是在和与及或吗呢吧么什哪谁何几多少为怎样这那些们之于以其被把对从到由会能可要就都也而但";

const ENGLISH_ASKING: &str = "what which who whom whose when where why how many much";

const ASKING: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::German,
        "was welche welcher welches welchem welchen wer wen wem wessen wann wo woher wohin warum weshalb wieso wie viele viel wieviel",
    ),
    (
        NaturalLanguage::French,
        "que quoi quel quelle quels quelles qui quand où pourquoi comment combien lequel laquelle",
    ),
    (
        NaturalLanguage::Spanish,
        "qué cuál cuáles quién quiénes cuándo dónde cómo cuánto cuánta cuántos cuántas",
    ),
    (
        NaturalLanguage::Italian,
        "cosa quale quali chi quando dove perché come quanto quanta quanti quante",
    ),
    (
        NaturalLanguage::Portuguese,
        "que qual quais quem quando onde como quanto quanta quantos quantas",
    ),
    (NaturalLanguage::Dutch, "wat welk welke wie wanneer waar waarom hoe hoeveel hoelang"),
    (
        NaturalLanguage::Polish,
        "co czym kto kogo kiedy gdzie skąd dlaczego jak ile jaki jaka jakie jakich jakim który która które którym",
    ),
    (
        NaturalLanguage::Turkish,
        "ne nedir kim kime kimin hangi hangisi nerede nereye nereden neden niçin nasıl kaç kadar zaman",
    ),
    (NaturalLanguage::Danish, "hvad hvem hvornår hvor hvorfor hvordan hvilken hvilket hvilke"),
    (NaturalLanguage::Norwegian, "hva hvem når hvor hvorfor hvordan hvilken hvilket hvilke"),
    (NaturalLanguage::Swedish, "vad vem när var varför hur vilken vilket vilka"),
];

/// Of other scripts.
const OTHER_ASKING: &str = "\
    ما ماذا من متى أين اين كيف كم لماذا أي اي أية \
    что кто кого кому кем чем чего где когда куда откуда почему зачем сколько как какой какая какое какие какого каким \
    каком какую каких чей який яка яке які хто коли де скільки \
    τι ποιος ποια ποιο ποιοι ποιες πότε πού πώς πόσο πόσα πόσοι πόσες γιατί \
    क्या कौन किस किसने कब कहाँ कैसे क्यों कितना कितने कितनी \
    누구 누가 무엇 무엇을 무엇이 무슨 어떤 어떻게 어디 언제 왜 몇 얼마 얼마나 \
    谁 什 么 哪 何 几 多 少 怎 誰 いつ どこ なぜ だれ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_belong_to_languages() {
        let german = Some(NaturalLanguage::German);
        assert!(is_function_word_of("was", german) && is_asking("was", german));
        assert!(is_function_word_of("was", None) && !is_asking("was", None));
        assert!(is_function_word_of("der", german) && !is_function_word_of("der", None));
        assert!(is_function_word_of("когда", None) && is_asking("когда", None));
        assert!(is_function_word_of("متى", Some(NaturalLanguage::Arabic)));
        assert!(!is_function_word_of("library", None) && !is_function_word_of("urlaub", german));
    }

    #[test]
    fn characters_have_their_own() {
        assert!("的什么のです".chars().all(is_function_character));
        assert!(!"端口数据カ".chars().any(is_function_character));
    }
}
