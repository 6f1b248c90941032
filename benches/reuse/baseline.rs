//! What a cosine with a few words does: questions mean the same if they are near, name the same numbers, names and
//! personal data, and negate alike. The negations are those of English and German.

use std::collections::BTreeSet;

use pg_rag::redact::find::find;
use unicode_segmentation::UnicodeSegmentation;

/// From which cosine on.
pub const COSINE: f32 = 0.95;

const NEGATIONS: [&str; 11] =
    ["cannot", "kein", "neither", "never", "nicht", "no", "none", "nor", "not", "ohne", "without"];

struct PlainWord {
    folded: String,
    is_name: bool,
}

/// Whether the words of both questions allow it.
pub fn are_alike(first: &str, second: &str) -> bool {
    let is_about_others = personal_data(first) != personal_data(second);
    let (first, second) = (words(first), words(second));
    !is_about_others
        && numbers(&first) == numbers(&second)
        && is_negated(&first) == is_negated(&second)
        && names_are_named(&first, &second)
        && names_are_named(&second, &first)
}

fn words(text: &str) -> Vec<PlainWord> {
    let word = |(index, word): (usize, &str)| {
        let endings = ["'s", "\u{2019}s", "'S", "\u{2019}S"];
        let bare = endings.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
        let is_name = index > 0 && bare.starts_with(char::is_uppercase);
        PlainWord { folded: bare.replace('İ', "i").to_lowercase(), is_name }
    };
    text.unicode_words().enumerate().map(word).collect()
}

fn personal_data(question: &str) -> BTreeSet<&str> {
    find(question, &mut || {}).into_iter().map(|span| &question[span.range]).collect()
}

fn numbers(words: &[PlainWord]) -> BTreeSet<&str> {
    let folded = words.iter().map(|word| word.folded.as_str());
    folded.filter(|word| word.contains(char::is_numeric)).collect()
}

fn is_negated(words: &[PlainWord]) -> bool {
    let negates = |word: &str| {
        NEGATIONS.contains(&word) || word.ends_with("n't") || word.ends_with("n\u{2019}t")
    };
    words.iter().filter(|word| negates(&word.folded)).count() % 2 == 1
}

/// Whether each name of `first` is a word of `second`, which may write it without a capital.
fn names_are_named(first: &[PlainWord], second: &[PlainWord]) -> bool {
    let is_there = |name: &PlainWord| second.iter().any(|word| word.folded == name.folded);
    first.iter().filter(|word| word.is_name && !is_speaker(word)).all(is_there)
}

/// Whether `word` is the English "I", which is written like a name.
fn is_speaker(word: &PlainWord) -> bool {
    let rest = word.folded.strip_prefix('i');
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['\'', '\u{2019}']))
}
