//! # comparison: which two things does this question put side by side?
//!
//! ```text
//! "What is the difference between shrink and push?" → shrink │ push
//! ```
//!
//! Such questions are recognised by the words before, between and behind the two things, in the languages of the tables. A
//! request to compare things that are not named one by one ("Compare the contracts.") is none of them: `tree::whole` knows the
//! verbs of those.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::capitals::is_in_capitals;
use super::function_word::is_asking;
use super::language::{NaturalLanguage, language};
use super::word_list::list_has;

/// Two things that a question puts side by side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedThings<'a> {
    /// What they are called, in the order of the question.
    pub names: [&'a str; 2],
    /// How it is asked in the language of the question what something is, with … for its name.
    pub asks: &'static str,
}

/// The things that `question` wants to have told apart; `None` where it asks for anything else.
#[must_use]
pub fn told_apart(question: &str) -> Option<ComparedThings<'_>> {
    framed(question, &placed_words(question), TOLD_APART)
}

/// The things that `question` wants to have compared, be it for what they have in common; `None` where it asks for anything
/// else, such as the difference of their prices.
#[must_use]
pub fn compared(question: &str) -> Option<ComparedThings<'_>> {
    let words = placed_words(question);
    let polite = words.iter().take_while(|(word, _)| is_polite(word)).count();
    // What is polite is no part of the first name.
    let mut beginnings = (0..=polite).rev().filter_map(|start| words.get(start..));
    let found = beginnings.find_map(|words| {
        framed(question, words, TOLD_APART).or_else(|| framed(question, words, LIKENED))
    })?;
    let language = language(question);
    let asks = |name: &&str| name.unicode_words().any(|it| is_asking(&it.to_lowercase(), language));
    (!found.names.iter().any(asks)).then_some(found)
}

/// The things of the first of some frames that `words` of `question` are.
fn framed<'a>(
    question: &'a str,
    words: &[PlacedWord],
    frames: &[(&'static str, &[ComparisonFrame])],
) -> Option<ComparedThings<'a>> {
    let of_language = |(asks, frames): &(&'static str, &[ComparisonFrame])| {
        let is_named = |things: &[Range<usize>; 2]| {
            let (language, is_shouted) = (language(question), is_in_capitals(question));
            !things.iter().any(|it| is_question(&question[it.clone()], language, is_shouted))
        };
        let found = frames.iter().find_map(|frame| things(words, *frame).filter(is_named))?;
        Some((found, *asks))
    };
    let (things, asks) = frames.iter().find_map(of_language)?;
    let names = things.map(|thing| question[thing].trim());
    let is_one_thing = names[0].to_lowercase() == names[1].to_lowercase();
    (!is_one_thing).then_some(ComparedThings { names, asks })
}

/// Whether what would be a name asks for something else: "Who won Chelsea". A name in capitals may look so, as that of the
/// WHO, and so may one character of a name in a script without spaces. Where all of the question `is_shouted`, capitals tell
/// only that a name of one word may be such a name.
fn is_question(name: &str, language: Option<NaturalLanguage>, is_shouted: bool) -> bool {
    let may_be_name = !is_shouted || name.unicode_words().nth(1).is_none();
    let may_ask = |word: &&str| {
        let is_of_capitals = word.chars().all(char::is_uppercase);
        word.chars().nth(1).is_some() && !(is_of_capitals && may_be_name)
    };
    name.unicode_words().filter(may_ask).any(|it| is_asking(&it.to_lowercase(), language))
}

/// A word in lower case, and where it stands.
type PlacedWord = (String, Range<usize>);

/// The words of a question, an elided article apart.
fn placed_words(question: &str) -> Vec<PlacedWord> {
    let mut words = Vec::new();
    for (at, word) in question.unicode_word_indices().take(MOST_WORDS) {
        let mut start = at;
        for part in word.split_inclusive(['\'', '’']) {
            let bare = part.trim_end_matches(['\'', '’']);
            words.push((bare.to_lowercase(), start..start + bare.len()));
            start += part.len();
        }
    }
    words
}

/// Where the two things stand, if `words` are a question of this frame.
fn things(
    words: &[PlacedWord],
    (before, between, after): ComparisonFrame,
) -> Option<[Range<usize>; 2]> {
    let is_there = |at: usize, phrase: &str| {
        let mut expected = phrase.split_ascii_whitespace().enumerate();
        expected.all(|(offset, word)| words.get(at + offset).is_some_and(|it| it.0 == word))
    };
    let length = |phrase: &str| phrase.split_ascii_whitespace().count();
    let start = length(before);
    let end = words.len().checked_sub(length(after))?;
    let fits = is_there(0, before) && is_there(end, after);
    let mut joints = (start + 1..end).filter(|at| fits && is_there(*at, between));
    // Where it stands twice, one of the names has it, and nothing tells which.
    let joint = joints.next().filter(|_| joints.next().is_none())?;
    let (one, other) = (start..joint, joint + length(between)..end);
    let is_name = |it: &Range<usize>| !it.is_empty() && it.len() <= LONGEST_NAME;
    let place = |it: Range<usize>| words[it.start].1.start..words[it.end - 1].1.end;
    (is_name(&one) && is_name(&other)).then(|| [place(one), place(other)])
}

/// Words of a question that are looked at.
const MOST_WORDS: usize = 40;

/// Words of the longest name of a thing, articles included; what is longer is a clause.
const LONGEST_NAME: usize = 8;

/// The words before, between and behind two things that are compared.
type ComparisonFrame = (&'static str, &'static str, &'static str);

/// In each language how to ask what something is, and what stands before, between and behind two things that are told
/// apart; of Chinese, characters. Names alone ("shrink vs push") tell no language.
#[rustfmt::skip]
const TOLD_APART: &[(&str, &[ComparisonFrame])] = &[
    ("What is …?", &[
        ("what is the difference between", "and", ""), ("what are the differences between", "and", ""),
        ("what s the difference between", "and", ""), ("is there a difference between", "and", ""),
        ("difference between", "and", ""), ("differences between", "and", ""), ("compare", "and", ""), ("compare", "with", ""),
        ("how does", "differ from", ""), ("how do", "differ from", ""), ("how do", "and", "differ"),
        ("how is", "different from", ""), ("how are", "different from", ""), ("how are", "and", "different"),
    ]),
    ("Was ist …?", &[
        ("was ist der unterschied zwischen", "und", ""), ("was sind die unterschiede zwischen", "und", ""),
        ("worin besteht der unterschied zwischen", "und", ""), ("welcher unterschied besteht zwischen", "und", ""),
        ("welchen unterschied gibt es zwischen", "und", ""), ("unterschied zwischen", "und", ""),
        ("worin unterscheidet sich", "von", ""), ("wodurch unterscheidet sich", "von", ""), ("wie unterscheidet sich", "von", ""),
        ("worin unterscheiden sich", "und", ""), ("wodurch unterscheiden sich", "und", ""), ("wie unterscheiden sich", "und", ""),
        ("worin unterscheiden sich", "von", ""), ("wie unterscheiden sich", "von", ""),
    ]),
    ("Qu'est-ce que … ?", &[
        ("quelle est la différence entre", "et", ""), ("quelles sont les différences entre", "et", ""),
        ("quelle différence y a t il entre", "et", ""), ("quelle différence entre", "et", ""), ("différence entre", "et", ""),
        ("en quoi", "diffère de", ""), ("en quoi", "diffèrent de", ""), ("qu est ce qui différencie", "de", ""),
        ("qu est ce qui distingue", "de", ""),
    ]),
    ("¿Qué es …?", &[
        ("cuál es la diferencia entre", "y", ""), ("cuáles son las diferencias entre", "y", ""),
        ("qué diferencia hay entre", "y", ""), ("cuál es la diferencia entre", "e", ""), ("diferencia entre", "y", ""),
        ("en qué se diferencian", "y", ""), ("en qué se diferencia", "de", ""),
    ]),
    ("Che cos'è …?", &[
        ("qual è la differenza tra", "e", ""), ("qual è la differenza fra", "e", ""), ("quali sono le differenze tra", "e", ""),
        ("quali sono le differenze fra", "e", ""), ("che differenza c è tra", "e", ""), ("che differenza c è fra", "e", ""),
        ("differenza tra", "e", ""), ("differenza fra", "e", ""),
    ]),
    ("O que é …?", &[
        ("qual é a diferença entre", "e", ""), ("qual a diferença entre", "e", ""), ("quais são as diferenças entre", "e", ""),
        ("que diferença há entre", "e", ""), ("diferença entre", "e", ""),
    ]),
    ("Wat is …?", &[
        ("wat is het verschil tussen", "en", ""), ("wat zijn de verschillen tussen", "en", ""), ("verschil tussen", "en", ""),
        ("waarin verschilt", "van", ""), ("hoe verschilt", "van", ""), ("waarin verschillen", "en", ""),
    ]),
    ("Что такое …?", &[
        ("в чём разница между", "и", ""), ("в чем разница между", "и", ""), ("какая разница между", "и", ""),
        ("в чём отличие", "от", ""), ("в чем отличие", "от", ""), ("чем отличается", "от", ""), ("чем отличаются", "от", ""),
        ("чем отличаются", "и", ""), ("чем различаются", "и", ""), ("разница между", "и", ""),
    ]),
    ("什么是…？", &[
        ("", "和", "有 什 么 区 别"), ("", "与", "有 什 么 区 别"), ("", "跟", "有 什 么 区 别"), ("", "和", "的 区 别 是 什 么"),
        ("", "与", "的 区 别 是 什 么"), ("", "和", "之 间 有 什 么 区 别"), ("", "与", "之 间 有 什 么 区 别"),
        ("", "和", "有 什 么 不 同"), ("", "与", "有 什 么 不 同"), ("", "和", "的 区 别"), ("", "与", "的 区 别"),
    ]),
    ("Co to jest …?", &[
        ("jaka jest różnica między", "a", ""), ("jaka jest różnica pomiędzy", "a", ""), ("czym się różni", "od", ""),
        ("czym różni się", "od", ""), ("różnica między", "a", ""),
    ]),
    ("… nedir?", &[
        ("", "ile", "arasındaki fark nedir"), ("", "ve", "arasındaki fark nedir"), ("", "ile", "arasında ne fark var"),
        ("", "ile", "arasındaki fark ne"),
    ]),
    ("… क्या है?", &[
        ("", "और", "में क्या अंतर है"), ("", "और", "के बीच क्या अंतर है"), ("", "और", "में अंतर क्या है"), ("", "और", "में क्या फ़र्क है"),
    ]),
    ("…とは何ですか？", &[
        ("", "と", "の 違 い は 何 で す か"), ("", "と", "は 何 が 違 い ま す か"), ("", "と", "の 違 い は"), ("", "と", "の 違 い"),
    ]),
    ("What is …?", &[
        ("", "vs", ""), ("", "versus", ""), ("what is", "vs", ""), ("", "vs", "what is the difference"),
        ("", "vs", "what s the difference"),
    ]),
];

/// What stands before, between and behind two things that are compared otherwise, or for what they have in common, beside
/// how to ask what something is.
#[rustfmt::skip]
const LIKENED: &[(&str, &[ComparisonFrame])] = &[
    ("What is …?", &[
        ("what do", "and", "have in common"), ("what does", "have in common with", ""), ("what does", "share with", ""),
        ("what do", "and", "share"), ("what have", "and", "in common"), ("how are", "and", "similar"), ("how is", "similar to", ""),
        ("how are", "and", "alike"), ("what are the similarities between", "and", ""), ("similarities between", "and", ""),
        ("what are the similarities and differences between", "and", ""), ("similarities and differences between", "and", ""),
        ("what are the differences and similarities between", "and", ""), ("differences and similarities between", "and", ""),
        ("how does", "compare to", ""), ("how do", "compare to", ""), ("how does", "compare with", ""),
        ("how do", "compare with", ""), ("how do", "and", "compare"), ("how does", "compare against", ""), ("compare", "to", ""),
        ("compare and contrast", "and", ""), ("contrast", "and", ""), ("contrast", "with", ""), ("comparison of", "and", ""),
        ("comparison between", "and", ""), ("a comparison of", "and", ""), ("a comparison between", "and", ""),
        ("how is", "different to", ""), ("how is", "different than", ""),
    ]),
    ("Was ist …?", &[
        ("was haben", "und", "gemeinsam"), ("was haben", "und", "gemein"), ("was hat", "mit", "gemeinsam"),
        ("welche gemeinsamkeiten haben", "und", ""), ("welche gemeinsamkeiten gibt es zwischen", "und", ""),
        ("gemeinsamkeiten von", "und", ""), ("gemeinsamkeiten zwischen", "und", ""), ("worin gleichen sich", "und", ""),
        ("worin ähneln sich", "und", ""), ("vergleiche", "und", ""), ("vergleiche", "mit", ""), ("vergleichen sie", "und", ""),
        ("vergleichen sie", "mit", ""), ("vergleich", "und", ""), ("vergleich", "mit", ""), ("vergleich von", "und", ""),
        ("vergleich zwischen", "und", ""), ("ein vergleich von", "und", ""), ("unterschiede zwischen", "und", ""),
        ("was unterscheidet", "von", ""), ("was unterscheidet", "und", ""),
        ("", "und", "vergleichen"), ("", "mit", "vergleichen"),
    ]),
    ("Qu'est-ce que … ?", &[
        ("qu ont en commun", "et", ""), ("qu est ce que", "et", "ont en commun"), ("qu est ce qu", "et", "ont en commun"),
        ("qu a en commun", "avec", ""), ("quels sont les points communs entre", "et", ""), ("points communs entre", "et", ""),
        ("compare", "et", ""), ("compare", "à", ""), ("compare", "avec", ""), ("comparez", "et", ""), ("comparez", "à", ""),
        ("comparez", "avec", ""), ("comparer", "et", ""), ("comparaison entre", "et", ""), ("comparaison de", "et de", ""),
        ("différences entre", "et", ""), ("en quoi se ressemblent", "et", ""),
    ]),
    ("¿Qué es …?", &[
        ("qué tienen en común", "y", ""), ("qué tiene en común", "con", ""), ("compara", "y", ""), ("compara", "con", ""),
        ("compare", "y", ""), ("compare", "con", ""), ("comparar", "y", ""), ("comparar", "con", ""), ("comparación entre", "y", ""),
        ("en qué se parecen", "y", ""), ("diferencias entre", "y", ""), ("similitudes entre", "y", ""),
    ]),
    ("Che cos'è …?", &[
        ("cosa hanno in comune", "e", ""), ("che cosa hanno in comune", "e", ""), ("cosa ha in comune", "con", ""),
        ("confronta", "e", ""), ("confronta", "con", ""), ("confrontare", "e", ""), ("paragona", "e", ""), ("paragona", "a", ""),
        ("confronto tra", "e", ""), ("confronto fra", "e", ""), ("differenze tra", "e", ""), ("differenze fra", "e", ""),
        ("in cosa differiscono", "e", ""), ("somiglianze tra", "e", ""),
    ]),
    ("O que é …?", &[
        ("o que têm em comum", "e", ""), ("o que", "e", "têm em comum"), ("o que", "tem em comum com", ""), ("compare", "e", ""),
        ("compare", "com", ""), ("compara", "e", ""), ("compara", "com", ""), ("comparar", "e", ""), ("comparar", "com", ""),
        ("comparação entre", "e", ""), ("diferenças entre", "e", ""), ("semelhanças entre", "e", ""),
    ]),
    ("Wat is …?", &[
        ("wat hebben", "en", "gemeen"), ("wat hebben", "en", "met elkaar gemeen"), ("wat hebben", "en", "gemeenschappelijk"),
        ("wat heeft", "gemeen met", ""), ("wat zijn de overeenkomsten tussen", "en", ""), ("overeenkomsten tussen", "en", ""),
        ("vergelijk", "en", ""), ("vergelijk", "met", ""), ("vergelijken", "en", ""), ("vergelijken", "met", ""),
        ("vergelijking van", "en", ""), ("vergelijking tussen", "en", ""), ("verschillen tussen", "en", ""),
        ("hoe verschillen", "en", ""), ("hoe verschillen", "van", ""), ("", "en", "vergelijken"),
        ("", "met", "vergelijken"),
    ]),
    ("Что такое …?", &[
        ("что общего у", "и", ""), ("что общего между", "и", ""), ("что объединяет", "и", ""), ("сравни", "и", ""), ("сравни", "с", ""),
        ("сравни", "со", ""), ("сравните", "и", ""), ("сравните", "с", ""), ("сравните", "со", ""), ("сравнить", "и", ""),
        ("сравнение", "и", ""), ("различия между", "и", ""), ("сходства между", "и", ""),
    ]),
    ("Що таке …?", &[
        ("у чому різниця між", "і", ""), ("у чому різниця між", "та", ""), ("яка різниця між", "і", ""), ("яка різниця між", "та", ""),
        ("різниця між", "і", ""), ("різниця між", "та", ""), ("чим відрізняється", "від", ""), ("чим відрізняються", "від", ""),
        ("чим відрізняються", "і", ""), ("чим відрізняються", "та", ""), ("що спільного між", "і", ""), ("що спільного між", "та", ""),
        ("що спільного у", "і", ""), ("що спільного у", "та", ""), ("що спільного мають", "і", ""), ("що спільного мають", "та", ""),
        ("порівняй", "і", ""), ("порівняй", "та", ""), ("порівняй", "з", ""), ("порівняйте", "і", ""), ("порівняйте", "та", ""),
        ("порівняйте", "з", ""), ("порівняти", "і", ""), ("порівняти", "та", ""), ("порівняння", "і", ""), ("порівняння", "та", ""),
    ]),
    ("Co to jest …?", &[
        ("co mają wspólnego", "i", ""), ("co ma wspólnego", "z", ""), ("co łączy", "i", ""), ("porównaj", "i", ""), ("porównaj", "z", ""),
        ("porównać", "i", ""), ("porównać", "z", ""), ("porównanie", "i", ""), ("różnice między", "a", ""), ("różnica między", "i", ""),
        ("jakie są różnice między", "a", ""), ("jakie są różnice między", "i", ""), ("czym różnią się", "i", ""), ("czym się różnią", "i", ""),
    ]),
    ("… nedir?", &[
        ("", "ile", "arasındaki farklar"), ("", "ile", "arasındaki farklar nelerdir"), ("", "ve", "arasındaki farklar"),
        ("", "ve", "arasındaki farklar nelerdir"), ("", "ile", "arasındaki benzerlikler"), ("", "ile", "arasındaki benzerlikler nelerdir"),
        ("", "ve", "arasındaki benzerlikler"), ("", "ve", "arasındaki benzerlikler nelerdir"), ("", "ile", "ortak noktaları nelerdir"),
        ("", "ve", "ortak noktaları nelerdir"), ("", "ile", "karşılaştır"), ("", "ve", "karşılaştır"),
    ]),
    ("什么是…？", &[
        ("", "和", "有 什 么 共 同 点"), ("", "与", "有 什 么 共 同 点"), ("", "和", "的 共 同 点"), ("", "与", "的 共 同 点"),
        ("", "和", "的 共 同 点 是 什 么"), ("", "与", "的 共 同 点 是 什 么"), ("比 较", "和", ""), ("比 较", "与", ""),
        ("比 较 一 下", "和", ""), ("对 比", "和", ""), ("对 比", "与", ""), ("", "和", "的 异 同"), ("", "与", "的 异 同"),
        ("", "和", "有 什 麼 區 別"), ("", "與", "有 什 麼 區 別"), ("", "和", "的 區 別 是 什 麼"), ("", "與", "的 區 別 是 什 麼"),
        ("", "和", "有 什 麼 共 同 點"), ("", "與", "有 什 麼 共 同 點"), ("比 較", "和", ""), ("比 較", "與", ""),
    ]),
    ("…とは何ですか？", &[
        ("", "と", "の 共 通 点 は 何 で す か"), ("", "と", "の 共 通 点 は"), ("", "と", "の 共 通 点"), ("", "と", "を 比 較 し て く だ さ い"),
        ("", "と", "を 比 較 し て"), ("", "と", "を 比 べ て く だ さ い"), ("", "と", "の 比 較"), ("", "と", "は ど う 違 い ま す か"),
    ]),
];

/// Whether `word`, in lower case, may stand before a request, such as one for a comparison, and only makes it polite.
pub(crate) fn is_polite(word: &str) -> bool {
    list_has(POLITE, word)
}

const POLITE: &str = "\
    please could can would you me for us now then just give show make write tell bitte kannst du könntest können könnten sie mir uns \
    kurz mal mach schreib gib pouvez pourriez vous peux tu peut on s il te plaît fais faites moi une puedes podrías puede \
    podría por favor me haz una puoi potresti può per fammi un pode você poderia podes faz faça uma kun kan kunt je u even \
    alsjeblieft alstublieft maak een możesz mógłbyś może proszę czy zrób можешь можете пожалуйста мне нам можно сделай \
    можеш будь ласка мені lütfen bana 请 請 帮 我 一 下";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, expected: Option<[&str; 2]>) {
        assert_eq!(compared(question).map(|it| it.names), expected, "{question}");
    }

    #[test]
    fn things_are_compared_in_many_languages() {
        for (question, one, other) in [
            ("What do leases and rents have in common?", "leases", "rents"),
            ("How does the lease differ from the rent?", "the lease", "the rent"),
            ("What is the difference between A and B?", "A", "B"),
            ("A vs B", "A", "B"),
            (
                "Could you please compare the rules on leave and travel?",
                "the rules on leave",
                "travel",
            ),
            ("How does shrink compare to push?", "shrink", "push"),
            ("Was haben Miete und Pacht gemeinsam?", "Miete", "Pacht"),
            ("Kannst du bitte Miete und Pacht vergleichen?", "Miete", "Pacht"),
            ("Vergleiche die Miete mit der Pacht.", "die Miete", "der Pacht"),
            ("Qu'ont en commun l'index et la table ?", "l'index", "la table"),
            ("¿Qué tienen en común shrink y push?", "shrink", "push"),
            ("Cosa hanno in comune shrink e push?", "shrink", "push"),
            ("O que shrink e push têm em comum?", "shrink", "push"),
            ("Wat hebben huur en pacht gemeen?", "huur", "pacht"),
            ("Что общего у shrink и push?", "shrink", "push"),
            ("Чим відрізняється оренда від лізингу?", "оренда", "лізингу"),
            ("Co mają wspólnego shrink i push?", "shrink", "push"),
            ("shrink ile push arasındaki benzerlikler nelerdir?", "shrink", "push"),
            ("租约和合同有什么共同点？", "租约", "合同"),
            ("ポンプとタンクを比較してください。", "ポンプ", "タンク"),
        ] {
            check(question, Some([one, other]));
        }
    }

    #[test]
    fn what_asks_for_something_else_is_no_name() {
        let names = |question| told_apart(question).map(|it| it.names);
        assert_eq!(names("Who won Chelsea vs Arsenal?"), None);
        assert_eq!(names("Chelsea vs Arsenal"), Some(["Chelsea", "Arsenal"]));
        assert_eq!(names("What is shrink vs push?"), Some(["shrink", "push"]));
        assert_eq!(names("WHO vs UNICEF"), Some(["WHO", "UNICEF"]));
        assert_eq!(names("WHO WON A VS B"), None);
        assert_eq!(names("WO SPIELT HAMBURG VS BREMEN?"), None);
        assert_eq!(names("WHO VS UNICEF?"), Some(["WHO", "UNICEF"]));
        assert_eq!(names("SHRINK VS FAST PUSH"), Some(["SHRINK", "FAST PUSH"]));
        assert_eq!(names("几何和代数有什么区别？"), Some(["几何", "代数"]));
    }

    #[test]
    fn other_questions_compare_nothing() {
        for question in [
            "",
            "vs",
            "When is lunch?",
            "What is the difference in price between A and B?",
            "What is the price difference between A and B?",
            "How much is the difference between A and B?",
            "Who won Chelsea vs Arsenal?",
            "WHO WON CHELSEA VS ARSENAL?",
            "When do the mill and the bakery have in common?",
            "Compare the contracts.",
            "Was kosten Miete und Pacht?",
            "How do I push and shrink?",
        ] {
            check(question, None);
        }
        assert_eq!(compared(&"please ".repeat(1_000_000)), None);
    }
}
