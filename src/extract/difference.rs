//! # difference: in what do two things differ?
//!
//! ```text
//! "What is the difference between shrink and push?" → "What is shrink?", "What is push?"
//! ```
//!
//! Few manuals compare what they describe. Where none of the passages does, what both are is the answer, each as it is
//! found for a question of its own. Questions are recognised by the words around the two things, in the languages of the table.

use super::definition::Definiendum;
use super::wording::quoted;
use super::{Evidence, Extract, ExtractPassage, FoundAnswer, nothing};
use crate::text::comparison::{ComparedThings, told_apart};
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
        let ComparedThings { names, asks } = told_apart(question)?;
        Some(AskedDifference { questions: names.map(|name| asks.replace('…', name)) })
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
