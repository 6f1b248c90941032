//! Which words does a question consist of, and how are they compared?
//!
//! ```text
//! "Why can't I log in?" → why │ can │ not │ i │ log │ in
//! "d'été", "Ankara'dan" → d │ été;  ankara │ 'dan
//! ```

use crate::extract::terms::without_article;
use crate::text::elision::elided_parts;
use crate::text::language::NaturalLanguage;
use crate::text::spelling::plain;
use crate::text::words::{Word, each_word};

/// Words of a question that are looked at. A longer text is no question that others ask, too.
pub(super) const MOST_WORDS: usize = 100;

/// A word, or the part of one before or behind an apostrophe.
pub(super) struct WrittenWord {
    /// The word in lower case. One that begins with an apostrophe is an ending of Turkish.
    pub word: Word,
    /// What is left of it without accents.
    pub plain: String,
}

/// The words of `text`; more than [`MOST_WORDS`] where it has more.
pub(super) fn written(text: &str) -> Vec<WrittenWord> {
    let words = each_word(text).take(MOST_WORDS + 1);
    let parts = words.flat_map(|Word { folded, is_name, .. }| {
        split(&folded).into_iter().map(move |folded| {
            let is_number = folded.contains(char::is_numeric);
            WrittenWord { plain: plain(&folded), word: Word { folded, is_name, is_number } }
        })
    });
    parts.collect()
}

/// The parts of a word in lower case that an apostrophe joins, as far as they are words or endings.
pub(super) fn split(word: &str) -> Vec<String> {
    if word == "cannot" {
        return vec!["can".to_owned(), "not".to_owned()];
    }
    let Some((first, rest)) = word.split_once(['\'', '\u{2019}']) else {
        return vec![word.to_owned()];
    };
    let parts = match rest {
        "t" => first.strip_suffix('n').map(|stem| vec![verb(first, stem), "not".to_owned()]),
        "d" | "ll" | "ve" | "re" | "m" if !first.is_empty() => {
            Some(vec![first.to_owned(), rest.to_owned()])
        }
        _ => elided_parts(word).map(|(first, rest)| vec![first.to_owned(), rest]),
    };
    parts.unwrap_or_else(|| vec![word.replace('\u{2019}', "'")])
}

/// The verb before "n't", which `first` writes with its "n" and `stem` without.
fn verb(first: &str, stem: &str) -> String {
    let verb = match first {
        "can" => first,
        "won" => "will",
        "shan" => "shall",
        _ => stem,
    };
    verb.to_owned()
}

/// A word as it is compared with others, without accents and, in Arabic, without its article.
pub(super) fn compared(word: &WrittenWord, language: NaturalLanguage) -> String {
    match language {
        NaturalLanguage::Arabic => plain(&without_article(&word.word.folded)),
        _ => word.plain.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_apostrophe_joins_words() {
        for (word, parts) in [
            ("don't", &["do", "not"][..]),
            ("can\u{2019}t", &["can", "not"]),
            ("won't", &["will", "not"]),
            ("cannot", &["can", "not"]),
            ("i'd", &["i", "d"]),
            ("l'été", &["l", "été"]),
            ("ankara'dan", &["ankara", "'dan"]),
            ("o'brien", &["o'brien"]),
            ("o\u{2019}brien", &["o'brien"]),
            ("'tis", &["'tis"]),
            ("t", &["t"]),
            ("", &[""]),
        ] {
            assert_eq!(split(word), parts, "{word}");
        }
    }
}
