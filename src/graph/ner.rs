//! Which names does a text have, as a model for token classification reads it?
//!
//! The model says where the names of a chunk stand and of which kind they are, before this is asked; here they become
//! mentions. Title and headings are read by the [`rules`], as they have no sentences to go by, and so is a question, which
//! is not worth a call of the model: what it may name is looked up, and what is not in the graph is not found there.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::name::{normal_form, with_signs};
use super::rules::{self, FoundName, RuleExtractor};
use super::{EntityExtractor, EntityMention, NamingText};
use crate::text::token_labels::LabelledSpan;

/// Words of a question of which each may begin a name.
const MOST_WORDS: usize = 64;

/// Words of a question that may be one name. A character of a script without spaces counts as a word.
const MOST_TOGETHER: usize = 6;

/// Takes the names that a model has found.
pub struct NerExtractor;

impl EntityExtractor for NerExtractor {
    fn mentions(&self, text: &NamingText<'_>, interrupt: &mut dyn FnMut()) -> Vec<EntityMention> {
        let name = |LabelledSpan { place, kind }: &LabelledSpan| {
            text.content.get(place.clone())?;
            let end = with_signs(text.content, place.clone()).end;
            let place = place.start..end;
            let norm = normal_form(&text.content[place.clone()]);
            let (kind, alias_of) = (Some(kind.clone()), None);
            rules::is_name(&norm).then_some(FoundName { place, norm, alias_of, kind })
        };
        let mut names: Vec<FoundName> = text.names.iter().filter_map(name).collect();
        rules::note_short_forms(text.content, &mut names);
        rules::mentions(text, names, interrupt)
    }

    /// What the rules find, and each run of up to [`MOST_TOGETHER`] words.
    fn asked(&self, question: &str, interrupt: &mut dyn FnMut()) -> Vec<(String, String)> {
        let mut found = RuleExtractor.asked(question, interrupt);
        let place = |(at, word): (usize, &str)| with_signs(question, at..at + word.len());
        let words: Vec<Range<usize>> =
            question.unicode_word_indices().take(MOST_WORDS).map(place).collect();
        for (first, Range { start, .. }) in words.iter().enumerate() {
            interrupt();
            for Range { end, .. } in &words[first..words.len().min(first + MOST_TOGETHER)] {
                let name = &question[*start..*end];
                let norm = normal_form(name);
                if rules::is_name(&norm) && !found.iter().any(|(known, _)| *known == norm) {
                    found.push((norm, name.to_owned()));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mentions where a model has found these names, each at its first place.
    fn mentions(
        context: Option<&str>,
        content: &str,
        names: &[(&str, &str)],
    ) -> Vec<EntityMention> {
        let span = |(name, kind): &(&str, &str)| {
            let start = content.find(name).unwrap();
            LabelledSpan { place: start..start + name.len(), kind: (*kind).to_owned() }
        };
        let names: Vec<LabelledSpan> = names.iter().map(span).collect();
        let text = NamingText { context, content, names: &names };
        NerExtractor.mentions(&text, &mut || {})
    }

    fn mention(norm: &str, kind: Option<&str>, span: Option<(u32, u32)>) -> EntityMention {
        let (alias_of, kind) = (None, kind.map(str::to_owned));
        let span = span.map(|(start, end)| start..end);
        EntityMention { norm: norm.to_owned(), alias_of, kind, count: 1, span }
    }

    #[test]
    fn names_have_their_kind_and_their_place_in_characters() {
        let found = mentions(None, "Für zoë aus köln, Bath.", &[("zoë", "PER"), ("köln", "LOC")]);
        let expected = [
            mention("zoe", Some("PER"), Some((4, 7))),
            mention("koln", Some("LOC"), Some((12, 16))),
        ];
        assert_eq!(found, expected);
        assert!(mentions(None, "Ada saw Bath.", &[]).is_empty(), "capitals are not enough");
        assert!(mentions(None, "a - b", &[("-", "X")]).is_empty(), "no letter");
        let signed = mentions(None, "in C++, not C", &[("C", "MISC")]);
        assert_eq!(signed, [mention("c++", Some("MISC"), Some((3, 6)))]);
        let long = "x".repeat(130);
        assert!(mentions(None, &long, &[(&long, "X")]).is_empty());
        let short = [("world health org", "ORG"), ("who", "ORG")];
        let aliases = mentions(None, "The world health org (who) met.", &short);
        assert_eq!(aliases[1].alias_of.as_deref(), Some("world health org"));
    }

    #[test]
    fn titles_count_as_they_do_for_the_rules() {
        let found = mentions(Some("Steve Hillage"), "steve hillage played", &[]);
        assert_eq!(found, [EntityMention { count: 2, ..mention("steve hillage", None, None) }]);
        let named = [("steve hillage", "PER")];
        let found = mentions(Some("Steve Hillage"), "steve hillage played", &named);
        let expected = mention("steve hillage", Some("PER"), Some((0, 13)));
        assert_eq!(found, [EntityMention { count: 3, ..expected }]);
    }

    #[test]
    fn a_question_may_name_any_run_of_its_words() {
        let asked = |question: &str| -> Vec<String> {
            let asked = NerExtractor.asked(question, &mut || {});
            asked.into_iter().map(|(norm, _)| norm).collect()
        };
        assert_eq!(
            asked("wer ist zoë?"),
            ["wer", "wer ist", "wer ist zoe", "ist", "ist zoe", "zoe"]
        );
        assert!(asked("谁在北京工作").contains(&"北京".to_owned()));
        assert_eq!(
            asked("wer mag c++?"),
            ["wer", "wer mag", "wer mag c++", "mag", "mag c++", "c++"]
        );
        assert!(asked("").is_empty());
        assert!(asked(&"word ".repeat(10_000)).len() < 600);
    }
}
