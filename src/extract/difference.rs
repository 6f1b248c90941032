//! # difference: in what do two things differ?
//!
//! ```text
//! "What is the difference between shrink and push?" → "What is shrink?", "What is push?"
//! ```
//!
//! Few manuals compare what they describe. Where none of the passages does, what both are is the answer, each as it is
//! found for a question of its own. Questions are recognised by the words around the two things, in the languages of the table.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::definition::Definiendum;
use super::wording::quoted;
use super::{Evidence, Extract, ExtractPassage, FoundAnswer, nothing};
use crate::text::language::NaturalLanguage;
use crate::text::phrase::Phrases;

/// Two things whose difference is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AskedDifference {
    /// What each of them is, as a question in the language of the one that was asked.
    pub questions: [String; 2],
}

impl AskedDifference {
    /// The things that `question` wants to have told apart; `None` where it asks for anything else.
    pub fn asked(question: &str) -> Option<AskedDifference> {
        let words = placed_words(question);
        let of_language = |(asks, frames): &(&'static str, &[DifferenceFrame])| {
            let found = frames.iter().find_map(|frame| things(&words, *frame))?;
            Some((found, *asks))
        };
        let (things, asks) = FRAMES.iter().find_map(of_language)?;
        let names = things.map(|thing| question[thing].trim());
        let is_one_thing = names[0].to_lowercase() == names[1].to_lowercase();
        let questions = names.map(|name| asks.replace('…', name));
        (!is_one_thing).then_some(AskedDifference { questions })
    }

    /// Both `definitions`, first that of what was named first; `None` where one of them is doubtful or is not of its thing, or
    /// where both are one piece.
    pub fn answered(
        &self,
        definitions: Vec<FoundAnswer>,
        passages: &[ExtractPassage],
    ) -> Option<Extract> {
        let mut both = Extract { supported: true, confidence: 1.0, ..nothing() };
        for (question, FoundAnswer { extract, heading }) in self.questions.iter().zip(definitions) {
            let thing = Definiendum::asked(question)?;
            let text = |it: &Evidence| &passages[it.passage].content[it.bytes.clone()];
            let is_named = extract.evidence.iter().any(|it| thing.is_named_in(text(it)));
            let place = |it: &Evidence| (it.passage, it.bytes.clone());
            let is_quoted = |it: &Evidence| both.evidence.iter().any(|at| place(at) == place(it));
            let is_there = extract.evidence.iter().any(is_quoted);
            if !extract.supported || is_there || heading.is_none() && !is_named {
                return None;
            }
            let is_block = both.answer.contains('\n') || extract.answer.contains('\n');
            both.answer += match (both.answer.is_empty(), is_block) {
                (true, _) => "",
                (false, true) => "\n\n",
                (false, false) => " ",
            };
            let heading = heading.filter(|_| !is_named);
            both.answer += &heading.map_or(String::new(), |it| format!("{}: ", quoted(&it)));
            both.answer += &extract.answer;
            both.confidence = both.confidence.min(extract.confidence);
            both.evidence.extend(extract.evidence);
        }
        Some(both)
    }

    /// Whether `sentence` tells the two apart: it names both, and puts one against the other.
    pub fn is_said_by(&self, sentence: &str) -> bool {
        let names = |question: &String| {
            Definiendum::asked(question).is_some_and(|thing| thing.is_named_in(sentence))
        };
        self.questions.iter().all(names) && CONTRASTS.stand_in(sentence)
    }
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
    (before, between, after): DifferenceFrame,
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

/// The words before, between and behind two things that are told apart.
type DifferenceFrame = (&'static str, &'static str, &'static str);

/// In each language how to ask what something is, and what stands before, between and behind two things that are told
/// apart; of Chinese, characters. Names alone ("shrink vs push") tell no language.
#[rustfmt::skip]
const FRAMES: &[(&str, &[DifferenceFrame])] = &[
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

/// Words by which one thing is put against another.
const CONTRASTS: Phrases = Phrases {
    spaced: &[
        (
            NaturalLanguage::English,
            "differ, unlike., whereas., while., but., instead., than., rather., only., contrast, opposed., however., both., \
             similar, compared.",
        ),
        (
            NaturalLanguage::German,
            "unterscheid, unterschied, anders., während., aber., statt, als., sondern., hingegen., dagegen., nur., beide, ähnlich, gegensatz, \
             verglichen., vergleich",
        ),
        (
            NaturalLanguage::French,
            "différ, tandis., alors que., mais., plutôt., contrairement., seulement., contre., plus., moins., au lieu., semblable",
        ),
        (
            NaturalLanguage::Spanish,
            "difer, mientras., pero., sino., en cambio., a diferencia., solo., sólo., en lugar., ambos., ambas.",
        ),
        (
            NaturalLanguage::Italian,
            "differ, mentre., ma., bensì., invece., a differenza., solo., entrambi., entrambe., rispetto.",
        ),
        (
            NaturalLanguage::Portuguese,
            "difer, enquanto., mas., ao contrário., em vez., apenas., somente., ambos., ambas.",
        ),
        (
            NaturalLanguage::Dutch,
            "verschil, terwijl., maar., in plaats., anders., alleen., dan., beide, vergelek",
        ),
        (
            NaturalLanguage::Russian,
            "отлича, отличи, различ, разниц, а., но., тогда как., вместо., в отличие., только., чем., оба., обе.",
        ),
        (
            NaturalLanguage::Polish,
            "różni, natomiast., ale., zamiast., podczas gdy., tylko., niż., oba., obie.",
        ),
        (NaturalLanguage::Turkish, "fark, ancak., ama., yerine., oysa., sadece., göre., ikisi"),
        (NaturalLanguage::Hindi, "अंतर, जबकि., लेकिन., केवल., बजाय., दोनों."),
    ],
    unspaced: &[
        (NaturalLanguage::Chinese, "区别, 不同, 而是, 然而, 但, 相比, 相反, 差异, 两者"),
        (NaturalLanguage::Japanese, "違い, 異な, 一方, に対して, だけ, より"),
    ],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_things_are_told_apart_in_many_languages() {
        for (question, one, other) in [
            ("What is the difference between shrink and push?", "What is shrink?", "What is push?"),
            (
                "What's the difference between a lease and a rent?",
                "What is a lease?",
                "What is a rent?",
            ),
            ("How does `shrink` differ from `push`?", "What is shrink?", "What is push?"),
            ("shrink vs. push", "What is shrink?", "What is push?"),
            ("Shrink versus push?", "What is Shrink?", "What is push?"),
            (
                "Was ist der Unterschied zwischen Miete und Pacht?",
                "Was ist Miete?",
                "Was ist Pacht?",
            ),
            (
                "Worin unterscheidet sich die Miete von der Pacht?",
                "Was ist die Miete?",
                "Was ist der Pacht?",
            ),
            (
                "Quelle est la différence entre l’index et la table ?",
                "Qu'est-ce que l’index ?",
                "Qu'est-ce que la table ?",
            ),
            ("¿Cuál es la diferencia entre shrink y push?", "¿Qué es shrink?", "¿Qué es push?"),
            ("Qual è la differenza tra shrink e push?", "Che cos'è shrink?", "Che cos'è push?"),
            ("Qual é a diferença entre shrink e push?", "O que é shrink?", "O que é push?"),
            ("Wat is het verschil tussen huur en pacht?", "Wat is huur?", "Wat is pacht?"),
            ("Чем отличается shrink от push?", "Что такое shrink?", "Что такое push?"),
            ("租约和合同有什么区别？", "什么是租约？", "什么是合同？"),
            ("Jaka jest różnica między shrink a push?", "Co to jest shrink?", "Co to jest push?"),
            ("shrink ile push arasındaki fark nedir?", "shrink nedir?", "push nedir?"),
            ("shrink और push में क्या अंतर है?", "shrink क्या है?", "push क्या है?"),
            ("ポンプとタンクの違いは何ですか？", "ポンプとは何ですか？", "タンクとは何ですか？"),
            ("shrink 与 push 的区别是什么？", "什么是shrink？", "什么是push？"),
        ] {
            let asked = AskedDifference::asked(question).map(|it| it.questions);
            assert_eq!(asked, Some([one.to_string(), other.to_string()]), "{question}");
        }
    }

    #[test]
    fn other_questions_compare_nothing() {
        for question in [
            "",
            "vs",
            "push vs",
            "vs push",
            "What is the difference?",
            "What is the difference between push?",
            "What is the difference between push and push?",
            "What is the difference between terms and conditions and warranties?",
            "¿En qué se diferencia el contrato de alquiler de la cesión?",
            "租约和合同和协议有什么区别？",
            "How do I push and shrink?",
            "Compare and",
            "Why did the court decide the case of the men in the mill vs the town?",
        ] {
            assert_eq!(AskedDifference::asked(question), None, "{question}");
        }
        assert_eq!(AskedDifference::asked(&"and ".repeat(1_000_000)), None);
    }

    #[test]
    fn a_sentence_compares_two_things_that_it_sets_against_each_other() {
        let difference = AskedDifference::asked("What is the difference between leases and rents?");
        let is_said =
            |sentence: &str| difference.as_ref().is_some_and(|it| it.is_said_by(sentence));
        assert!(is_said("A lease ends by itself, but a rent has to be ended."));
        assert!(is_said("Unlike rents, leases end by themselves."));
        assert!(!is_said("Leases and rents are on page two."));
        let said_of = |question: &str, sentence: &str| {
            AskedDifference::asked(question).is_some_and(|it| it.is_said_by(sentence))
        };
        let (spanish, french) = (
            "¿Qué diferencia hay entre shrink y push?",
            "Quelle différence entre shrink et push ?",
        );
        assert!(said_of(spanish, "Con shrink se reduce, mientras que con push se amplía."));
        assert!(!said_of(spanish, "El capítulo que trata de shrink y push es el segundo."));
        assert!(said_of(french, "Le shrink est plus rapide que le push."));
        assert!(!said_of(french, "Le shrink et le push ont plusieurs formes dans ce manuel."));
        let chinese = "租约和合同有什么区别？";
        assert!(said_of(chinese, "租约到期终止，但合同必须解除。"));
        assert!(!said_of(chinese, "租约和合同都在首都签订。"));
        assert!(!is_said("A lease ends by itself, but not at once."));
        assert!(!is_said(""));
    }
}
