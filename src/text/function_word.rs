//! # function_word: does this word say anything of what is asked?
//!
//! ```text
//! (word, language) → a word like "the" or "how"; a word that asks, like "who"
//! ```
//!
//! Languages of the Latin script have lists of their own, since "was" asks in German and not in English. In
//! other scripts no word belongs to two lists at once in a way that matters, so they share one.
//!
//! The words that ask are here, whatever they ask for, and so are those that ask who. Four more tables have question words,
//! each for a question that this one cannot answer:
//!
//! * `extract/answer_type.rs`: is the answer a time, a number or a name? It has phrases such as "which year" and "how long",
//!   and leaves out what asks for anything.
//! * `answer/reuse/phrases.rs`: do two questions ask for the same? There, every phrase of a question has a meaning, so that "how
//!   much" is not "how", and "cuando" without its accent asks for a time.
//! * `tree/whole/wording.rs`: does a question with "overview" or "compare" ask for a fact after all? "What" and "which" do
//!   not say so, and are missing there.
//! * `answer/preset.rs`: does it ask for a way? What also asks for a name or says what something is like counts there only where
//!   it cannot mean that.

use super::accent::without_accents;
use super::language::{NaturalLanguage, words_of_questions};
use super::script::{is_greek, is_hiragana};
use super::spelling::{plain, with_digraphs};
use super::word_list::list_has;
use super::words::is_function_word;

/// Letters of the shortest word that is recognised without its accents: shorter ones are mostly other words, too.
const LEAST_TYPED: usize = 4;

/// Whether `word`, in lower case, only makes a question in `language`, or in English where that is not known.
pub(crate) fn is_function_word_of(word: &str, language: Option<NaturalLanguage>) -> bool {
    let is_latin =
        |c: char| matches!(c, '\0'..='\x7F' | '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}');
    if !word.starts_with(is_latin) {
        return list_has(OTHER_SCRIPTS, word) || asks_in_korean(word);
    }
    match language.and_then(words_of_questions) {
        Some(list) if language != Some(NaturalLanguage::English) => list_has(list, word),
        _ => is_function_word(word),
    }
}

/// Whether `word`, in lower case, is typed without accents and only makes a question in `language` with them: "nasil",
/// "fuer". German writes two letters for one with dots, and without either it is another word.
///
/// This is for a search, in which a word that is wrongly taken for a small one is lost: so short words are left out, and so is
/// "uber" in German. For two questions that are compared there is [`is_small_word`].
pub(crate) fn is_typed_function_word(word: &str, language: Option<NaturalLanguage>) -> bool {
    let list = match language.and_then(words_of_questions) {
        _ if word.starts_with(is_greek) => OTHER_SCRIPTS,
        Some(list) if word.is_ascii() => list,
        _ => return false,
    };
    let typed = |it: &str| match language {
        Some(NaturalLanguage::German) => with_digraphs(it),
        _ => plain(it),
    };
    let is_long = word.chars().nth(LEAST_TYPED - 1).is_some();
    is_long && list.split_ascii_whitespace().any(|it| !it.is_ascii() && typed(it) == word)
}

/// Whether `word`, in lower case, only makes a question in `language`, as it is written or typed with all its accents left out,
/// however short it is: "sie" in Polish, "fur" in German.
///
/// This is for two questions that are compared. One of them may be typed without accents and the other not, and what it is about
/// stands in their other words. For a search there is [`is_typed_function_word`].
pub(crate) fn is_small_word(word: &str, language: NaturalLanguage) -> bool {
    let is_typed_for = |it: &str| without_accents(it).is_some_and(|plain| plain == word);
    is_function_word_of(word, Some(language))
        || language != NaturalLanguage::English
            && words_of_questions(language)
                .is_some_and(|words| words.split_ascii_whitespace().any(is_typed_for))
}

/// Whether a character of a script without spaces is mostly part of a word that only makes a sentence:
/// those of Chinese, and all of the Japanese syllabary.
pub(crate) fn is_function_character(c: char) -> bool {
    is_hiragana(c) || CHARACTERS.contains(c)
}

/// Whether `word`, in lower case, asks in `language`, or in English where that is not known; of scripts
/// without spaces, whether the character is part of such a word.
pub(crate) fn is_asking(word: &str, language: Option<NaturalLanguage>) -> bool {
    let of = |wanted: NaturalLanguage| {
        ASKING.iter().find(|(language, _)| *language == wanted).map(|(_, list)| *list)
    };
    list_has(OTHER_ASKING, word)
        || asks_in_korean(word)
        || list_has(language.and_then(of).unwrap_or(ENGLISH_ASKING), word)
}

/// Whether `word`, in lower case and of a language that writes spaces, asks for a person.
pub(crate) fn asks_who(word: &str) -> bool {
    list_has(ASKING_WHO, word)
}

/// Whether `word` begins as a question word of Korean: particles and verbs are written behind it without a space, as in
/// "며칠이에요", "얼마예요" and "언제까지".
fn asks_in_korean(word: &str) -> bool {
    KOREAN_ASKING.split(' ').any(|it| word.starts_with(it))
}

const KOREAN_ASKING: &str = "며칠 몇 얼마 언제 누구 누가 어디 무엇 무슨 뭐 뭔 뭘 어떻 어떤 어느";

/// Arabic, Russian, Ukrainian, Bulgarian, Serbian, Greek, Hebrew, Hindi, Korean and Persian.
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
    къде кога колко какво какви каква какъв кой коя кое кои кого защо ли са се съм сме сте бе беше това този тази тези ще няма \
    има имам имаме имате може мога могат можем трябва със при към след преди който която което които когато ако също \
    где шта ко кога коме када како колико зашто који која које којем којој којим је су се сам смо сте био била било бити није \
    има имам имамо имате може могу можемо можете треба морам мора да ли из ће ћу код након после пре према преко ово ова овај \
    ο η το οι τα του της των τον την τους τις στο στη στην στον στα στους στις σε από με για και ή να θα που πού πως \
    πώς τι ποιος ποια ποιο ποιοι ποιες ποιον ποιους πότε πόσο πόσα πόσοι πόσες πόση πόσος γιατί είναι ήταν έχει είχε \
    ένα ένας μια μία δεν κατά μετά πριν ως αυτό αυτή αυτός \
    של על את אל עם או גם לא כן אם כי אבל אך רק כל זה זו זאת הזה הזאת אלה אלו הוא היא הם הן אני אנחנו אתה אתם יש אין היה \
    הייתה היו יהיה תהיה מה מי מתי איפה היכן לאן מאין איך כיצד למה מדוע כמה האם איזה איזו אילו לי לך לו לה לנו לכם להם בין לפני \
    אחרי עד אפשר ניתן צריך יכול יכולה \
    का की के को में से पर और या है हैं था थी थे हो हुआ हुई हुए ने क्या कौन किस किसने किसके किसे कब कहाँ कहां कैसे क्यों कितना कितने \
    कितनी यह वह ये वे इस उस इन उन भी ही तक लिए साथ द्वारा कर करने किया गया गई गए जो जिस एक कि नहीं \
    चाहिए मैं हम आप मुझे हमें आपको मेरा मेरी मेरे अपना अपनी अपने सकता सकती सकते करना करें करते होता होती होते होना बाद पहले \
    은 는 이 가 을 를 의 에 와 과 도 로 그 저 것 수 및 또는 누구 누가 무엇 무엇을 무엇이 무엇인가 무엇인가요 무슨 어떤 어떻게 어디 어디에서 \
    언제 왜 몇 며칠 얼마 얼마나 있는 있는가 하는 한 된 입니까 있습니까 합니까 \
    که از به در را با این آن چه کی کجا چرا چگونه چند است بود شد می های ها برای";

/// Characters of Chinese function words and question words.
const CHARACTERS: &str =
    "的了是在和与及或吗呢吧么什哪谁何几多少为怎样这那些们之于以其被把对从到由会能可要就都也而但";

/// Words that ask for a person.
const ASKING_WHO: &str = "who whom whose wer wen wem wessen qui quién quiénes chi quem kto kogo kim кто кого кому кем хто ποιος \
    कौन 누가 누구";

const ENGLISH_ASKING: &str = "what which who whom whose when where why how many much";

/// Words that ask, by language of the Latin script. English has its own list, since it is also that of unknown languages.
/// Spellings that are mostly other words are left out, such as "cuando" and "como" without their accents.
const ASKING: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::German,
        "was welche welcher welches welchem welchen wer wen wem wessen wann wo woher wohin warum weshalb wieso wie viele viel \
         wieviel wieviele",
    ),
    (
        NaturalLanguage::French,
        "que quoi quel quelle quels quelles qui quand où pourquoi comment combien lequel laquelle",
    ),
    (
        NaturalLanguage::Spanish,
        "qué cuál cuáles quién quiénes cuándo dónde cómo cuánto cuánta cuántos cuántas cuanto cuanta cuantos cuantas",
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
        "co czym kto kogo komu kiedy gdzie dokąd skąd dlaczego jak ile ilu jaki jaka jakie jakich jakim który która które którym której",
    ),
    (
        NaturalLanguage::Turkish,
        "ne nedir kim kime kimin hangi hangisi nerede nereye nereden neden niçin nasıl kaç kaça kaçta kadar zaman",
    ),
    (NaturalLanguage::Danish, "hvad hvem hvornår hvor hvorfor hvordan hvilken hvilket hvilke"),
    (NaturalLanguage::Norwegian, "hva hvem når hvor hvorfor hvordan hvilken hvilket hvilke"),
    (NaturalLanguage::Swedish, "vad vem när var varför hur vilken vilket vilka"),
    (
        NaturalLanguage::Hungarian,
        "mi mit mik miért miben mire miről mivel mikor mikortól mikorra meddig mettől mióta ki kik kit kié kinek kitől kivel \
         hol hova hová honnan hogyan hány hányan hányszor mennyi mennyit mennyibe mennyien milyen melyik melyek",
    ),
    (
        NaturalLanguage::Finnish,
        "mikä mitä mitkä minkä millainen milloin missä mistä mihin miksi miten kuka ketkä kenen kenelle keneltä kuinka \
         montako monta moneksi monelta moneltako paljonko kauanko",
    ),
    (
        NaturalLanguage::Czech,
        "co čeho čemu čem čím kdo koho komu kým kdy kde kam odkud proč jak kolik jaký jaká jaké jakou který která které čí",
    ),
    (
        NaturalLanguage::Romanian,
        "ce cine cui când cand unde cum care cât câte câtă câți cat cate cati",
    ),
    (NaturalLanguage::Vietnamese, "ai gì nào đâu sao bao nhiêu mấy"),
    (
        NaturalLanguage::Croatian,
        "što šta tko ko koga kome čime kada kad gdje gde kamo kuda odakle zašto kako koliko kakav kakva kakvo koji koja koje čiji",
    ),
    (
        NaturalLanguage::Indonesian,
        "apa apakah siapa siapakah kapan dimana mana kenapa mengapa bagaimana berapa",
    ),
    (
        NaturalLanguage::Catalan,
        "què qui quan on com per quin quina quins quines quant quanta quants quantes",
    ),
    (
        NaturalLanguage::Estonian,
        "mis mida mille kes keda kelle millal kus kuhu kust miks kuidas mitu palju kaua milline millised",
    ),
    (
        NaturalLanguage::Lithuanian,
        "kas ko kam ką kuo kada kur kodėl kaip kiek koks kokia kokie kokios kuris kuri kurie kurios",
    ),
];

/// Of other scripts.
const OTHER_ASKING: &str = "\
    ما ماذا من متى أين اين كيف كم بكم لماذا أي اي أية \
    что кто кого кому кем чем чего где когда куда откуда почему зачем сколько как какой какая какое какие какого каким \
    каком какую каких чей який яка яке які хто коли де куди скільки \
    къде кога колко какво какви каква какъв кой коя кои защо шта ко када како колико зашто који која које \
    מה מי מתי איפה היכן לאן מאין איך כיצד למה מדוע כמה איזה איזו אילו \
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
        let vietnamese = Some(NaturalLanguage::Vietnamese);
        assert!(is_function_word_of("ở", vietnamese) && is_asking("đâu", vietnamese));
        assert!(
            is_function_word_of("къде", Some(NaturalLanguage::Bulgarian))
                && is_asking("колико", None)
        );
        assert!(is_function_word_of("איפה", None) && is_asking("כמה", None));
        let ukrainian = Some(NaturalLanguage::Ukrainian);
        assert!(["куди", "хто"].iter().all(|it| is_asking(it, ukrainian)));
        assert!(!is_function_word_of("хлеб", None) && !is_function_word_of("משרד", None));
    }

    #[test]
    fn question_words_of_korean_are_known_with_what_is_written_behind_them() {
        let korean = Some(NaturalLanguage::Korean);
        for word in [
            "며칠",
            "며칠이에요",
            "며칠에",
            "며칠까지",
            "몇",
            "몇시에",
            "몇개",
            "얼마예요",
            "얼마인가요",
            "언제까지",
            "누구예요",
            "어디서",
            "무엇인가요",
            "뭐예요",
        ] {
            assert!(is_function_word_of(word, korean) && is_asking(word, korean), "{word}");
        }
        for word in ["연차가", "회의는", "시간", ""] {
            assert!(!is_function_word_of(word, korean) && !is_asking(word, korean), "{word}");
        }
    }

    #[test]
    fn function_words_are_recognised_without_accents() {
        let check = |word: &str, language: Option<NaturalLanguage>, expected: bool| {
            assert_eq!(is_typed_function_word(word, language), expected, "{word}");
        };
        check("nasil", Some(NaturalLanguage::Turkish), true);
        check("fuer", Some(NaturalLanguage::German), true);
        check("uber", Some(NaturalLanguage::German), false);
        check("ειναι", Some(NaturalLanguage::Greek), true);
        check("far", Some(NaturalLanguage::Swedish), false);
        check("where", Some(NaturalLanguage::English), false);
        check("nasil", None, false);
        check("", Some(NaturalLanguage::Turkish), false);
    }

    #[test]
    fn a_word_that_asks_for_a_person_asks() {
        for word in ASKING_WHO.split_ascii_whitespace() {
            let is_asking_in_one = ASKING.iter().any(|(_, list)| list_has(list, word));
            assert!(asks_who(word) && (is_asking(word, None) || is_asking_in_one), "{word}");
        }
        assert!(["what", "where", "when", "why", "wo", ""].iter().all(|it| !asks_who(it)));
    }

    #[test]
    fn a_small_word_may_be_typed_without_its_accents_however_short_it_is() {
        for (word, language, is_small, is_typed) in [
            ("sie", NaturalLanguage::Polish, true, false),
            ("fur", NaturalLanguage::German, true, false),
            ("uber", NaturalLanguage::German, true, false),
            ("fuer", NaturalLanguage::German, false, true),
            ("nasil", NaturalLanguage::Turkish, true, true),
            ("library", NaturalLanguage::English, false, false),
            ("", NaturalLanguage::German, false, false),
        ] {
            let found =
                (is_small_word(word, language), is_typed_function_word(word, Some(language)));
            assert_eq!(found, (is_small, is_typed), "{word}");
        }
    }

    #[test]
    fn characters_have_their_own() {
        assert!("的什么のです".chars().all(is_function_character));
        assert!(!"端口数据カ".chars().any(is_function_character));
    }
}
