//! # own_knowledge: which sentences of an answer are from no source?
//!
//! ```text
//! "It grinds corn [1]. Corn is a grain [0]. Mills are loud." → sourced, own, own
//! ```
//!
//! A language model knows things that no source says: its parametric knowledge (Lewis et al., NeurIPS 2020). Where
//! it may use it, it cites the number 0 for it, which no source has. That is not left to the model alone: a sentence
//! that cites nothing counts as its own as well, as nobody can look it up.

use crate::prompt::messages::OWN_KNOWLEDGE;
use crate::text::marked_sentence::{MarkedSentence, TERMINATORS, bare_text, marked_sentences};
use crate::text::marker::code;
use crate::text::sentence::is_question;
use crate::text::words::words;

/// The number in [`OWN_KNOWLEDGE`].
pub const NUMBER: u32 = 0;

/// What a reader sees there, unless the options say otherwise.
pub const SHOWN: &str = "(own knowledge)";

/// Words below which a line without an end is a heading or a label.
const SHORTEST: usize = 3;

/// An answer whose sentences are told apart by where they are from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToldApart {
    /// The answer in which each sentence of the model's own has [`OWN_KNOWLEDGE`] behind it.
    pub text: String,
    /// What is left of it without these sentences.
    pub sourced: String,
    /// These sentences, without markers.
    pub own: Vec<String>,
}

/// Tells the sentences of `answer` apart, which cites so many `sources` by their numbers. Code, headings and questions
/// claim nothing, and are no knowledge.
///
/// `interrupt` is called now and then, and may unwind.
#[must_use]
pub fn told_apart(answer: &str, sources: usize, interrupt: &mut dyn FnMut()) -> ToldApart {
    let code = code(answer);
    let mut told = ToldApart::default();
    let mut from = 0;
    for MarkedSentence { range, markers } in marked_sentences(answer, interrupt) {
        interrupt();
        let is_sourced = |it: &u32| (1..=sources).contains(&(*it as usize));
        let cites = markers.iter().flat_map(|it| &it.numbers).any(is_sourced);
        let bare = bare_text(answer, range.clone(), &markers);
        let code_at = |at: usize| {
            let next = code.partition_point(|it| it.end <= at);
            code.get(next).filter(|it| it.start <= at)
        };
        let is_code = code_at(range.start).is_some_and(|it| range.end <= it.end);
        let ends_in_code = code_at(range.end).is_some_and(|it| it.start < range.end);
        told.text += &answer[from..range.end];
        told.sourced += &answer[from..range.start];
        match !cites && !is_code && claims(&bare) {
            false => told.sourced += &answer[range.clone()],
            true => {
                let is_marked = markers.iter().any(|it| it.numbers.contains(&NUMBER));
                // In code it would be code.
                if !is_marked && !ends_in_code {
                    told.text.push(' ');
                    told.text += OWN_KNOWLEDGE;
                }
                told.own.push(bare);
            }
        }
        from = range.end;
    }
    told.text += &answer[from..];
    told.sourced += &answer[from..];
    told
}

/// Whether a sentence says something that can be so or not.
fn claims(sentence: &str) -> bool {
    let words = words(sentence).len();
    !is_question(sentence)
        && words > 0
        && (words >= SHORTEST && !sentence.ends_with(':') || sentence.ends_with(TERMINATORS))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(answer: &str, text: &str, sourced: &str, own: &[&str]) {
        let told = told_apart(answer, 2, &mut || {});
        assert_eq!((told.text.as_str(), told.sourced.as_str()), (text, sourced), "{answer}");
        assert_eq!(told.own, own, "{answer}");
    }

    #[test]
    fn what_cites_no_source_is_the_models_own() {
        check(
            "It grinds corn [1]. Corn is a grain [0]. Mills are loud.",
            "It grinds corn [1]. Corn is a grain [0]. Mills are loud. [0]",
            "It grinds corn [1].  ",
            &["Corn is a grain.", "Mills are loud."],
        );
        check(
            "It grinds corn. [2] Corn is old. [0]",
            "It grinds corn. [2] Corn is old. [0]",
            "It grinds corn. [2] ",
            &["Corn is old."],
        );
        check("A mill [9].", "A mill [9]. [0]", "", &["A mill."]);
        check("Both say so [0][1].", "Both say so [0][1].", "Both say so [0][1].", &[]);
    }

    #[test]
    fn what_claims_nothing_is_nobodys() {
        let nothing = "# Mills\n\nIs it loud? See:\n\n```\nlet a = b + c;\n```\n";
        check(nothing, nothing, nothing, &[]);
        check("", "", "", &[]);
        check("`a` adds it up.", "`a` adds it up. [0]", "", &["`a` adds it up."]);
        let item = told_apart("- Corn is a grain\n- Rye, too", 2, &mut || {});
        assert_eq!(item.text, "- Corn is a grain [0]\n- Rye, too");
        assert_eq!(item.own, ["Corn is a grain"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            answer in "(It grinds corn|\\[[0-3]\\]|[.?!]|\n|\n\n| |`|```|- |é){0,24}",
        ) {
            let told = told_apart(&answer, 2, &mut || {});
            let bare = |text: &str| text.replace([' ', '\n'], "").replace(OWN_KNOWLEDGE, "");
            prop_assert_eq!(bare(&told.text), bare(&answer));
            prop_assert!(told.sourced.len() <= answer.len());
            prop_assert!(!told.own.is_empty() || told.text == answer && told.sourced == answer);
        }
    }
}
