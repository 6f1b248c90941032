//! # language: in which language is this question?
//!
//! ```text
//! "Wie viele Urlaubstage habe ich?" → German
//! ```
//!
//! A question is too short for statistics of letters (whatlang 0.18 takes one English question in eleven for
//! another language), but hardly any is asked without words like "how", "is" or "the". So in the Latin script
//! these words decide, with signs and letters that few languages have, and elsewhere the script does.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::elision::without_elided;
use super::words::{Word, each_word};

/// Words of a question that are looked at.
const MOST_WORDS: usize = 200;

/// What a word counts that one language alone has: a number that up to ten languages can share without a rest.
const VOTE: u32 = 2520;

/// A language that questions are recognised in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NaturalLanguage {
    /// العربية
    Arabic,
    /// 中文
    Chinese,
    /// Dansk
    Danish,
    /// Nederlands
    Dutch,
    /// English
    English,
    /// Français
    French,
    /// Deutsch
    German,
    /// Ελληνικά
    Greek,
    /// हिन्दी
    Hindi,
    /// Italiano
    Italian,
    /// 日本語
    Japanese,
    /// 한국어
    Korean,
    /// Norsk
    Norwegian,
    /// Polski
    Polish,
    /// Português
    Portuguese,
    /// Русский
    Russian,
    /// Español
    Spanish,
    /// Svenska
    Swedish,
    /// Türkçe
    Turkish,
    /// Українська
    Ukrainian,
}

/// The language of a question; `None` where its words don't tell, or tell of two alike.
#[must_use]
pub fn language(question: &str) -> Option<NaturalLanguage> {
    let text: String = question.chars().take(40 * MOST_WORDS).collect();
    by_script(&text).or_else(|| by_function_words(&text))
}

/// Whether questions in `language` are made with `word`, in lower case, whatever they are about.
#[must_use]
pub fn is_function_word(language: NaturalLanguage, word: &str) -> bool {
    let of_language = FUNCTION_WORDS.iter().filter(|(it, _)| *it == language);
    of_language.flat_map(|(_, words)| words.split(' ')).any(|it| it == word)
}

/// The language of a script other than the Latin one, where most letters are of it.
fn by_script(text: &str) -> Option<NaturalLanguage> {
    let count = |is: fn(char) -> bool| text.chars().filter(|c| is(*c)).count();
    let letters = count(char::is_alphabetic);
    let is_mostly = |script: usize| script > 0 && 2 * script >= letters;
    let (han, kana) = (count(is_han), count(is_kana));
    // A character stands for about three letters.
    if is_mostly(3 * (han + kana)) {
        return Some(if kana > 0 { NaturalLanguage::Japanese } else { NaturalLanguage::Chinese });
    }
    if is_mostly(count(|c| matches!(c, '\u{1100}'..='\u{11FF}' | '\u{AC00}'..='\u{D7AF}'))) {
        return Some(NaturalLanguage::Korean);
    }
    if is_mostly(count(|c| matches!(c, '\u{0620}'..='\u{06FF}'))) {
        // Persian and Urdu have letters of their own.
        return (!text.contains(['پ', 'چ', 'ژ', 'گ', 'ک', 'ی', 'ٹ', 'ڈ']))
            .then_some(NaturalLanguage::Arabic);
    }
    if is_mostly(count(|c| matches!(c, '\u{0400}'..='\u{04FF}'))) {
        let text = text.to_lowercase();
        let is_ukrainian = text.contains(['і', 'ї', 'є', 'ґ']);
        return Some(if is_ukrainian {
            NaturalLanguage::Ukrainian
        } else {
            NaturalLanguage::Russian
        });
    }
    if is_mostly(count(|c| matches!(c, '\u{0370}'..='\u{03FF}' | '\u{1F00}'..='\u{1FFF}'))) {
        return Some(NaturalLanguage::Greek);
    }
    // Vowel signs of Devanagari are letters, too. Marathi and Nepali are written in it as well.
    if is_mostly(count(|c| matches!(c, '\u{0900}'..='\u{097F}'))) {
        let is_hindi = each_word(text).any(|word| HINDI.split(' ').any(|it| it == word.folded));
        return is_hindi.then_some(NaturalLanguage::Hindi);
    }
    None
}

/// Words of Hindi that other languages of its script have not.
const HINDI: &str = "है हैं था थी थे क्या क्यों कैसे कब कहाँ कहां कौन किसने किसके कितना कितने कितनी में";

fn is_han(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{20000}'..='\u{2FA1F}')
}

fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{30FF}')
}

/// The language with the most function words in `text`; a word that several have counts for each in part.
fn by_function_words(text: &str) -> Option<NaturalLanguage> {
    let words: Vec<Word> = each_word(text).take(MOST_WORDS).collect();
    let mut votes = [0; FUNCTION_WORDS.len()];
    let distinct: HashSet<&str> = words.iter().map(|word| without_elided(&word.folded)).collect();
    for of in distinct.iter().filter_map(|word| LISTS.get(*word)) {
        of.iter().for_each(|at| votes[*at] += VOTE / of.len() as u32);
    }
    for (language, count) in pairs(&words).chain(spellings(text, &words)) {
        let lists = FUNCTION_WORDS.iter().zip(&mut votes);
        lists.filter(|((it, _), _)| *it == language).for_each(|(_, votes)| *votes += count);
    }
    let most = votes.iter().copied().max().unwrap_or_default();
    let mut best = FUNCTION_WORDS.iter().zip(votes).filter(|(_, votes)| *votes >= most);
    match (most > 0, best.next(), best.next()) {
        (true, Some(((language, _), _)), None) => Some(*language),
        _ => None,
    }
}

/// The languages of the pairs in [`PAIRS`] that `words` hold, with what each counts.
fn pairs(words: &[Word]) -> impl Iterator<Item = (NaturalLanguage, u32)> {
    let stands = move |first: &str, second: &str| {
        words.windows(2).any(|pair| pair[0].folded == first && pair[1].folded == second)
    };
    let held = PAIRS.iter().filter(move |(_, first, second)| stands(first, second));
    held.map(|(language, ..)| (*language, VOTE))
}

/// The languages that signs and letters of `text`, which has `words`, tell of, with what each counts: a question in
/// Spanish may quote no word that only makes a question, and one in English a word of Spanish.
fn spellings(text: &str, words: &[Word]) -> impl Iterator<Item = (NaturalLanguage, u32)> {
    let spanish = text.contains(['¿', '¡']).then_some((NaturalLanguage::Spanish, 2 * VOTE));
    let asks_as_turkish = text.trim_end().ends_with('?');
    let particle = words.last().filter(|word| asks_as_turkish && word.folded == "mi");
    let turkish = particle.map(|_| (NaturalLanguage::Turkish, VOTE / 2));
    // A name is spelled as where it comes from.
    let written = move || words.iter().filter(|word| !word.is_name);
    let has = move |letters: &str| {
        written().any(|word| letters.split(' ').any(|it| word.folded.contains(it)))
    };
    let told = SPELLINGS.iter().filter(move |(_, letters, others)| has(letters) && !has(others));
    let told = told.map(|(language, ..)| (*language, VOTE / 2));
    spanish.into_iter().chain(turkish).chain(told)
}

/// By word, the places of the lists in [`FUNCTION_WORDS`] that have it. Each chunk is looked at, too, not only
/// questions, and to search all lists for each of its words would take half a millisecond.
static LISTS: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
    let mut lists: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, (language, words)) in FUNCTION_WORDS.iter().enumerate() {
        let telling = TELLING.iter().filter(|(it, _)| it == language).map(|(_, words)| *words);
        for word in [*words].into_iter().chain(telling).flat_map(|words| words.split(' ')) {
            let of: &mut Vec<usize> = lists.entry(word).or_default();
            // Words that the Nordic languages share with others would make these hard to tell.
            let is_of_others = of.iter().any(|it| !is_nordic(FUNCTION_WORDS[*it].0));
            if of.last() != Some(&at) && !(is_nordic(*language) && is_of_others) {
                of.push(at);
            }
        }
    }
    lists
});

/// Whether its words stand at the end of [`FUNCTION_WORDS`] and count only where no other language has them.
fn is_nordic(language: NaturalLanguage) -> bool {
    use NaturalLanguage::{Danish, Norwegian, Swedish};
    matches!(language, Danish | Norwegian | Swedish)
}

/// Words by which a language is told that make no question: those of short ones about prices and hours.
const TELLING: &[(NaturalLanguage, &str)] = &[
    (NaturalLanguage::Spanish, "abre"),
    (NaturalLanguage::Portuguese, "abre abrem vocês"),
    (NaturalLanguage::Dutch, "jullie mogen"),
    (NaturalLanguage::Polish, "kosztuje kosztują macie trwa"),
    (NaturalLanguage::Turkish, "misiniz miyiz mısınız mıyız"),
    (NaturalLanguage::Swedish, "ligger öppnar"),
    (NaturalLanguage::Danish, "ligger"),
    (NaturalLanguage::Norwegian, "ligger"),
];

/// Two words beside each other that tell more than each of them.
const PAIRS: &[(NaturalLanguage, &str, &str)] = &[
    (NaturalLanguage::French, "y", "a"),
    (NaturalLanguage::Italian, "quanto", "costa"),
    (NaturalLanguage::Italian, "quanto", "costano"),
    (NaturalLanguage::Portuguese, "qual", "a"),
    (NaturalLanguage::Portuguese, "qual", "o"),
    (NaturalLanguage::Swedish, "får", "man"),
    (NaturalLanguage::Swedish, "kan", "jag"),
    (NaturalLanguage::Swedish, "var", "ligger"),
];

/// By language, how its words are spelled and, of languages that spell theirs so, too, how theirs are besides:
/// Vietnamese and Estonian have "ã" or "õ", Azerbaijani "ı".
const SPELLINGS: &[(NaturalLanguage, &str, &str)] = &[
    (NaturalLanguage::Polish, "ą ę ł ż", "ė į ų ū"),
    (NaturalLanguage::Portuguese, "ão ões ãe", "ă đ ơ ư ạ ả ấ ầ ế ề ệ ị ọ ộ ớ ờ ợ ủ ứ ừ ự ä ö ü"),
    (NaturalLanguage::Turkish, "ı ğ", "ə"),
    (NaturalLanguage::Danish, "å", "ä ö"),
    (NaturalLanguage::Norwegian, "å", "ä ö"),
    (NaturalLanguage::Swedish, "å", "æ ø"),
];

/// The words that questions of a language of the Latin script are made with, in lower case, with a space
/// between; `None` for other languages, which are told by their script.
pub(crate) fn words_of_questions(language: NaturalLanguage) -> Option<&'static str> {
    FUNCTION_WORDS.iter().find(|(it, _)| *it == language).map(|(_, words)| *words)
}

/// The words that questions are made with, beside what they are about.
const FUNCTION_WORDS: &[(NaturalLanguage, &str)] = &[
    (
        NaturalLanguage::English,
        "a about after all am an and any are as at be been before but by can could did do does for from had has \
         have how i if in into is it its many may me much my not of off on or our out per should since so than \
         that the their them there these they this those to under until up us was we were what when where which \
         while who whom whose why will with within without would you your",
    ),
    (
        NaturalLanguage::German,
        "ab aber alle als am an auch auf aus bei beim bin bis braucht da dafür dann darf das dem den der des die \
         dies diese dieser dürfen ein eine einem einen einer eines er es für gegen gibt habe haben hat hatte ich \
         ihr ihre im in ist kann kein keine können kostet lange man mein meine mich mir mit muss müssen nach \
         nicht noch nur ob oder ohne seit sich sie sind soll sollte über um und uns unser unter viel viele vom \
         von vor wann war waren warum was weder welche welchem welchen welcher welches wem wen wenn wer werden \
         weshalb wessen wie wieso wieviel wir wird wo wobei wofür woher wohin womit wozu wurde wurden zu zum zur \
         zwischen",
    ),
    (
        NaturalLanguage::French,
        "à après au aux avec avant ce cela ces cette chez combien comment d dans de depuis des doit dois du elle \
         en entre est et eu fait faut il ils je l la laquelle le lequel les lesquelles lesquels leur mes moi mon \
         ne nos notre nous on ont ou où par pas pendant peut peux plus pour pourquoi qu quand que quel quelle \
         quelles quels qui quoi s sa sans se ses si son sont sous sur ta tes ton tu un une vos votre vous été \
         était",
    ),
    (
        NaturalLanguage::Spanish,
        "a al antes como con cuál cuáles cuándo cuánta cuántas cuánto cuántos cual cuando cuanto cómo de debe \
         debo del desde donde dónde durante el ella ellos en entre era es esta este esto está están fue fueron \
         ha hace hasta hay la las le lo los mi mis más no nos o para pero por puede puedo que quien quién \
         quiénes qué se ser si sin sobre son su sus tengo tiene tienen tras tu un una y yo",
    ),
    (
        NaturalLanguage::Italian,
        "a agli ai al alla alle anche che chi ci come con cosa cos da dal dalla dei del della delle dello deve \
         devo di dopo dove dov e era essere gli ha hanno ho i il in io l la le lo loro ma mi mia mio nei nel \
         nella non o ogni per perché più posso prima può qual quale quali quando quanta quante quanti quanto \
         questa questo se senza si sono stata stato su sua sul sulla suo tra tutti un una uno viene è",
    ),
    (
        NaturalLanguage::Portuguese,
        "a antes ao aos as até com como da das de depois deve devo do dos e ela ele em entre era essa esse esta \
         este está eu foi foram há isso já mais meu minha muito na nas no nos não o onde os ou para pela pelo \
         pode por porque posso preciso quais qual quando quanta quantas quanto quantos que quem se sem ser seu \
         sobre são sua tem tenho têm um uma à é",
    ),
    (
        NaturalLanguage::Dutch,
        "aan als altijd ben bij binnen dan dat de der deze die dit door duurt een en er geen had heb hebben \
         heeft het hij hoe hoelang hoeveel hun ik in is jaar kan kosten kost kunnen maar mag me meer met mijn \
         moet moeten na naar niet nog of om onder ons onze ook op over te tegen tijdens tot tussen uit van veel \
         voor waar waarom wanneer was wat we welk welke werd werden wie wij wordt worden ze zich zijn zonder \
         zou",
    ),
    (
        NaturalLanguage::Polish,
        "a ale bez by być była było był być co czego czy czym czyj dla dlaczego do gdy gdzie go i ich ile ilu ja jak jaka \
         jaki jakich jakie jakiego jakim jako jego jej jest jestem już kiedy kim kogo kto która które którego \
         której który których którym lub ma mam mają mi między mnie moje mogę można może musi muszę na nad nie o \
         od oraz po pod podczas przed przez przy się skąd są ta tego ten to trzeba tym u w we z za ze został \
         została",
    ),
    (
        NaturalLanguage::Turkish,
        "acaba ama ben beni bana benim bir bu da daha de değil en gibi hangi hangisi için ile kadar kaç kim kime \
         kimin ki mi miyim musunuz mı mıyım mu mü nasıl ne neden nedir nelerdir nerede nereden nereye niçin o olan \
         olarak oldu olur sonra var ve veya ya yok zaman önce şu",
    ),
    (
        NaturalLanguage::Danish,
        "af alle at blev bliver da de dem den denne der det dette din du efter eller en er et for fordi fra få får før \
         gør han har have hos hun hvad hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor hvornår i ikke ind \
         jeg kan koster man mange med meget men mig min mine mit må nej nogen noget når og også om op os over på sig \
         sin skal som til ud uden under var ved vi være åbner",
    ),
    (
        NaturalLanguage::Norwegian,
        "alle at av ble blir da de dem den denne der det dette din du eller en er et etter for fordi fra få får før \
         gjør han har hos hun hva hvem hver hvilke hvilken hvilket hvis hvor hvordan hvorfor i ikke inn jeg kan koster \
         man mange med meg men min mine mitt mye må noe noen når og også om opp oss over på seg sin skal som til under \
         ut uten var ved vi være å åpner",
    ),
    (
        NaturalLanguage::Swedish,
        "alla att av blev blir de dem den denna det detta din ditt du där efter eller en ett finns för från får gör ha \
         han har hon hos hur här i inte jag kan kostar man med men mig min mina mitt mycket många måste ni någon något \
         några när och också om på sig sin ska skall som till under upp ut utan vad var varför vara vem vi vid vilka \
         vilken vilket än är över",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_tell_their_language() {
        for (question, expected) in [
            ("When does the library open?", Some(NaturalLanguage::English)),
            ("Who pays?", Some(NaturalLanguage::English)),
            ("How do I install it?", Some(NaturalLanguage::English)),
            ("Wie viele Urlaubstage habe ich?", Some(NaturalLanguage::German)),
            ("Was kostet der Team-Tarif?", Some(NaturalLanguage::German)),
            ("Quand ouvre le musée ?", Some(NaturalLanguage::French)),
            ("Qu'est-ce que la garantie couvre ?", Some(NaturalLanguage::French)),
            ("¿Cuándo abre el museo?", Some(NaturalLanguage::Spanish)),
            ("Quanto costa il biglietto?", Some(NaturalLanguage::Italian)),
            ("C'è un bagnino?", Some(NaturalLanguage::Italian)),
            ("Qual é o prazo de devolução?", Some(NaturalLanguage::Portuguese)),
            ("Hoeveel vakantiedagen heb ik?", Some(NaturalLanguage::Dutch)),
            ("Ile dni urlopu mam?", Some(NaturalLanguage::Polish)),
            ("Kaç gün izin hakkım var?", Some(NaturalLanguage::Turkish)),
            ("Hvad koster billetten?", Some(NaturalLanguage::Danish)),
            ("Hvornår åbner butikken?", Some(NaturalLanguage::Danish)),
            ("Hva koster billetten?", Some(NaturalLanguage::Norwegian)),
            ("Vad kostar biljetten?", Some(NaturalLanguage::Swedish)),
            ("Сколько стоит билет?", Some(NaturalLanguage::Russian)),
            ("Скільки коштує квиток і коли?", Some(NaturalLanguage::Ukrainian)),
            ("报销需要多少天？", Some(NaturalLanguage::Chinese)),
            ("図書館はいつ開きますか？", Some(NaturalLanguage::Japanese)),
            ("휴가는 며칠입니까?", Some(NaturalLanguage::Korean)),
            ("كم يوم إجازة لدي؟", Some(NaturalLanguage::Arabic)),
            ("मुझे कितने दिन की छुट्टी मिलती है?", Some(NaturalLanguage::Hindi)),
            ("Πόσες ημέρες άδεια έχω;", Some(NaturalLanguage::Greek)),
        ] {
            assert_eq!(language(question), expected, "{question}");
        }
    }

    #[test]
    fn short_questions_tell_by_pairs_signs_and_letters() {
        for (expected, questions) in [
            (NaturalLanguage::French, &["Y a-t-il un restaurant ?", "Y a-t-il un parking ?"][..]),
            (
                NaturalLanguage::Spanish,
                &[
                    "¿Tenéis tienda en Bilbao?",
                    "¿Enviáis a Melilla?",
                    "¿Y a Canarias?",
                    "¿Eres humano?",
                ],
            ),
            (
                NaturalLanguage::Polish,
                &["Ile kosztuje bilet?", "Macie parking?", "Wysyłacie paczki?", "Gdzie jest Łódź?"],
            ),
            (
                NaturalLanguage::Portuguese,
                &["Qual o telefone da portaria?", "Qual a multa?", "A piscina abre na segunda?"],
            ),
            (NaturalLanguage::Italian, &["Quanto costa spedizione?", "Qual è prezzo?"]),
            (NaturalLanguage::Turkish, &["Ücretsiz mi?", "Kargo ücretli mi?", "Açık mısınız?"]),
            (
                NaturalLanguage::Swedish,
                &["Får man ha hund?", "Var ligger kontoret?", "Kan jag betala med kort?"],
            ),
            (NaturalLanguage::Dutch, &["Kan ik betalen met pin?", "Wat kost verzending?"]),
            (NaturalLanguage::German, &["Darf man hier rauchen?", "Kann man das umtauschen?"]),
            (
                NaturalLanguage::English,
                &["What does ¿ mean in Spanish?", "Who is Lech Wałęsa?", "Where is São Paulo?"],
            ),
        ] {
            for question in questions {
                assert_eq!(language(question), Some(expected), "{question}");
            }
        }
    }

    #[test]
    fn what_does_not_tell_is_not_guessed() {
        for question in [
            "Mấy giờ có bão?",
            "Hvor ligger kontoret?",
            "",
            " ",
            "ef_search",
            "HNSW recall",
            "12345?",
            "مدت گارانتی چقدر است؟",
            "सुट्टी किती दिवस आहे?",
            "😀",
        ] {
            assert_eq!(language(question), None, "{question}");
        }
    }

    #[test]
    fn a_name_in_another_script_does_not_decide() {
        assert_eq!(
            language("What does 图书馆 mean in this handbook?"),
            Some(NaturalLanguage::English)
        );
        assert_eq!(language("PostgreSQL 的默认端口是多少？"), Some(NaturalLanguage::Chinese));
    }
}
