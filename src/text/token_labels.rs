//! Which names does a text have, by the labels that a model gives its tokens?
//!
//! ```text
//! (text, places of its tokens, a label each) → places of names, and of which kind each is
//! ```
//!
//! The labels of a token classification are O for what is no name, and a kind with the part of a name that the word is:
//! `B-PER` begins one, `I-PER` goes on with it; in BIOES `E-PER` ends it and `S-PER` is all of it, in BILOU these are
//! `L-PER` and `U-PER`. Where no part is said, words that follow each other with one kind are one name. Models do not keep
//! to the order of the parts, so what begins in the middle is read as a beginning, as the evaluation of CoNLL does.
//!
//! A word has the label of its first piece: models are trained on that one, and leave the others without one.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use unicode_normalization::char::is_combining_mark;

use super::bigram::is_unspaced;
use super::script::is_korean;

/// The label of what is no name.
const OUTSIDE: &str = "O";

/// A name in a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledSpan {
    /// Where it stands, in bytes.
    pub place: Range<usize>,
    /// What it is, as the model calls it: `PER`, `LOC`, ...
    pub kind: String,
}

/// The labels of a model, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenLabels(Vec<TokenLabel>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct TokenLabel {
    part: NamePart,
    kind: String,
}

/// Which part of a name a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamePart {
    Outside,
    First,
    Next,
    Last,
    All,
}

impl TokenLabels {
    /// The labels with these names, in the order of their numbers. Fails where none says that a token is outside of all
    /// names, or one names no kind; the error is what cannot be read, as a noun.
    pub fn read(names: &[&str]) -> Result<TokenLabels, String> {
        if !names.contains(&OUTSIDE) {
            let shown = names.iter().take(3).map(|name| format!("\"{name}\""));
            let shown = shown.collect::<Vec<_>>().join(", ");
            return Err(format!(
                "a token classification without the label \"O\", but {shown}, ...,"
            ));
        }
        // E-MAIL may be a kind where no label begins a name.
        let has_parts = names.iter().any(|name| split(name).is_some_and(|(part, _)| part == "B"));
        let label = |name: &&str| match TokenLabel::read(name, has_parts) {
            label if label.part == NamePart::Outside || !label.kind.is_empty() => Ok(label),
            _ => Err(format!("the label \"{name}\", which names no kind,")),
        };
        names.iter().map(label).collect::<Result<_, _>>().map(TokenLabels)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The names in `text`, in their order. `tokens` are the places of its tokens in bytes, and `labels` their numbers; a
    /// number that no label has stands for no name.
    #[must_use]
    pub fn names(
        &self,
        text: &str,
        tokens: &[(usize, usize)],
        labels: &[usize],
    ) -> Vec<LabelledSpan> {
        let (mut found, mut open) = (Vec::new(), None::<LabelledSpan>);
        for (place, label) in words(text, tokens, labels) {
            let label = self.0.get(label).filter(|label| label.part != NamePart::Outside);
            let Some(TokenLabel { part, kind }) = label else {
                found.extend(open.take());
                continue;
            };
            let goes_on = matches!(part, NamePart::Next | NamePart::Last);
            match &mut open {
                Some(name) if goes_on && name.kind == *kind => name.place.end = place.end,
                _ => found.extend(open.replace(LabelledSpan { place, kind: kind.clone() })),
            }
            if matches!(part, NamePart::Last | NamePart::All) {
                found.extend(open.take());
            }
        }
        found.extend(open);
        found
    }
}

impl TokenLabel {
    fn read(name: &str, has_parts: bool) -> TokenLabel {
        let of = |part, kind: &str| TokenLabel { part, kind: kind.trim().to_owned() };
        match split(name) {
            _ if name == OUTSIDE => of(NamePart::Outside, ""),
            Some(("B", kind)) => of(NamePart::First, kind),
            Some(("I", kind)) => of(NamePart::Next, kind),
            Some(("M", kind)) if has_parts => of(NamePart::Next, kind),
            Some(("E" | "L", kind)) if has_parts => of(NamePart::Last, kind),
            Some(("S" | "U", kind)) if has_parts => of(NamePart::All, kind),
            _ => of(NamePart::Next, name),
        }
    }
}

/// The part and the kind of a label that has both.
fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(['-', '_']).filter(|(part, _)| part.len() == 1)
}

/// The words of a text, and of each the label of its first piece.
fn words(text: &str, tokens: &[(usize, usize)], labels: &[usize]) -> Vec<(Range<usize>, usize)> {
    let mut words: Vec<(Range<usize>, usize)> = Vec::new();
    for ((start, end), label) in tokens.iter().zip(labels) {
        let Some(token) = text.get(*start..*end) else { continue };
        // Some tokenizers have the space before a word in its first piece.
        let place = *end - token.trim_start().len()..*start + token.trim_end().len();
        if place.is_empty() {
            continue;
        }
        match words.last_mut() {
            Some((word, _)) if is_within_word(text, word.end, place.start) => {
                word.end = word.end.max(place.end);
            }
            _ => words.push((place, *label)),
        }
    }
    words
}

/// Whether a piece that starts at `start` belongs to the word of which the pieces so far end at `end`.
fn is_within_word(text: &str, end: usize, start: usize) -> bool {
    if start != end {
        // Pieces of one character have its place each.
        return start < end;
    }
    let is_of_word = |c: char| {
        (c.is_alphanumeric() || is_combining_mark(c)) && (!is_unspaced(c) || is_korean(c))
    };
    let before = text[..end].chars().next_back();
    before.is_some_and(is_of_word) && text[start..].starts_with(is_of_word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The names that are read of words between spaces with these labels.
    fn read(labels: &[&str], words: &[(&str, &str)]) -> Vec<(String, String)> {
        let text = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(" ");
        let mut tokens = Vec::new();
        let mut start = 0;
        for (word, _) in words {
            tokens.push((start, start + word.len()));
            start += word.len() + 1;
        }
        let number = |wanted: &str| labels.iter().position(|label| *label == wanted).unwrap();
        let given: Vec<usize> = words.iter().map(|(_, label)| number(label)).collect();
        let names = TokenLabels::read(labels).unwrap().names(&text, &tokens, &given);
        names.into_iter().map(|name| (text[name.place].to_owned(), name.kind)).collect()
    }

    fn named(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, kind)| ((*name).to_owned(), (*kind).to_owned())).collect()
    }

    const BIO: [&str; 5] = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"];

    #[test]
    fn names_begin_and_go_on() {
        let words = [("Ada", "B-PER"), ("King", "I-PER"), ("saw", "O"), ("Bath", "B-LOC")];
        assert_eq!(read(&BIO, &words), named(&[("Ada King", "PER"), ("Bath", "LOC")]));
        let two = [("Ada", "B-PER"), ("Bob", "B-PER"), ("Cy", "I-PER")];
        assert_eq!(read(&BIO, &two), named(&[("Ada", "PER"), ("Bob Cy", "PER")]));
    }

    #[test]
    fn names_end_where_the_scheme_says_so() {
        let labels = ["O", "B-X", "I-X", "E-X", "S-X"];
        let words = [("a", "B-X"), ("b", "I-X"), ("c", "E-X"), ("d", "S-X"), ("e", "S-X")];
        assert_eq!(read(&labels, &words), named(&[("a b c", "X"), ("d", "X"), ("e", "X")]));
        let labels = ["O", "B-X", "I-X", "L-X", "U-X"];
        let words = [("a", "B-X"), ("b", "L-X"), ("c", "I-X"), ("d", "U-X")];
        assert_eq!(read(&labels, &words), named(&[("a b", "X"), ("c", "X"), ("d", "X")]));
    }

    #[test]
    fn words_of_one_kind_are_a_name_where_no_part_is_said() {
        let labels = ["O", "PER", "E-MAIL"];
        let words = [("Ada", "PER"), ("King", "PER"), ("a@b.c", "E-MAIL"), ("x", "O")];
        assert_eq!(read(&labels, &words), named(&[("Ada King", "PER"), ("a@b.c", "E-MAIL")]));
        let labels = ["O", "I-PER"];
        let words = [("Ada", "I-PER"), ("met", "O"), ("Bob", "I-PER")];
        assert_eq!(read(&labels, &words), named(&[("Ada", "PER"), ("Bob", "PER")]));
    }

    #[test]
    fn broken_sequences_are_read_as_far_as_they_go() {
        let words = [("a", "I-PER"), ("b", "I-LOC"), ("c", "I-LOC"), ("d", "O"), ("e", "I-LOC")];
        assert_eq!(read(&BIO, &words), named(&[("a", "PER"), ("b c", "LOC"), ("e", "LOC")]));
        let labels = ["O", "B-X", "E-X", "B-Y"];
        let words = [("a", "E-X"), ("b", "B-X"), ("c", "B-Y"), ("d", "E-X")];
        let expected = named(&[("a", "X"), ("b", "X"), ("c", "Y"), ("d", "X")]);
        assert_eq!(read(&labels, &words), expected);
    }

    #[test]
    fn a_word_has_the_label_of_its_first_piece() {
        let labels = TokenLabels::read(&BIO).unwrap();
        let names = |text: &str, tokens: &[(usize, usize)], given: &[usize]| -> Vec<String> {
            let names = labels.names(text, tokens, given);
            names.into_iter().map(|name| text[name.place].to_owned()).collect()
        };
        // "Hill", "age", "'", "s"
        let tokens = [(0, 4), (4, 7), (7, 8), (8, 9)];
        assert_eq!(names("Hillage's", &tokens, &[1, 3, 0, 0]), ["Hillage"]);
        // The space may belong to a piece.
        assert_eq!(
            names("in Bath now", &[(0, 2), (2, 5), (5, 7), (7, 11)], &[0, 3, 0, 0]),
            ["Bath"]
        );
        // Bytes of one character, as some tokenizers cut it.
        assert_eq!(names("Zoë", &[(0, 2), (2, 4), (2, 4)], &[1, 0, 0]), ["Zoë"]);
        // A script without spaces has no words but what the model says.
        assert_eq!(names("我在北京", &[(0, 3), (3, 6), (6, 9), (9, 12)], &[0, 0, 3, 4]), ["北京"]);
        // Korean has spaces.
        assert_eq!(names("서울에서 왔다", &[(0, 3), (3, 12), (13, 19)], &[3, 0, 0]), ["서울에서"]);
        // Vowel signs are within their word.
        assert_eq!(names("दिल्ली", &[(0, 9), (9, 12), (12, 18)], &[3, 0, 0]), ["दिल्ली"]);
        assert!(names("", &[], &[]).is_empty());
        assert!(names("x", &[(0, 1)], &[99]).is_empty(), "a number without a label");
    }

    #[test]
    fn labels_that_say_nothing_are_refused() {
        let refused = |names: &[&str]| TokenLabels::read(names).unwrap_err();
        assert_eq!(
            refused(&["LABEL_0", "LABEL_1"]),
            "a token classification without the label \"O\", but \"LABEL_0\", \"LABEL_1\", ...,"
        );
        assert_eq!(refused(&["O", "B-"]), "the label \"B-\", which names no kind,");
        assert_eq!(refused(&["O", " "]), "the label \" \", which names no kind,");
        assert_eq!(TokenLabels::read(&BIO).unwrap().count(), 5);
    }

    proptest! {
        #[test]
        fn whatever_a_model_says_names_are_apart_and_within_the_text(
            text in "\\PC{0,40}",
            cuts in prop::collection::vec((0usize..50, 0usize..50), 0..30),
            given in prop::collection::vec(0usize..7, 30),
        ) {
            let mut tokens: Vec<(usize, usize)> = cuts;
            tokens.sort_unstable();
            let mut last = 0;
            for name in TokenLabels::read(&BIO).unwrap().names(&text, &tokens, &given) {
                prop_assert!(last <= name.place.start && name.place.start < name.place.end);
                prop_assert!(text.get(name.place.clone()).is_some());
                last = name.place.end;
            }
        }
    }
}
