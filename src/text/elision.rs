//! # elision: which word is written with another one by an apostrophe?
//!
//! ```text
//! "l'entrée", "Rize'de" → "entrée", "Rize";  "don't", "O'Brien" → as they are
//! ```

use super::word_list::list_has;

/// A word without what is written with it by an apostrophe: an article or the like before it ("l'entrée", "dell'arrivo"), or an
/// ending of Turkish behind it ("Rize'de"); other words as they are.
pub(crate) fn without_elided(word: &str) -> &str {
    match elision(word) {
        Some(Elision::Before(_, rest)) => rest,
        Some(Elision::Behind(first, _)) => first,
        None => word,
    }
}

/// The word that stands behind an article or the like in `word`, whatever their case: "ing" of "L'ing"; `None` of other words.
pub(crate) fn behind_article(word: &str) -> Option<&str> {
    let (first, rest) = word.split_once(['\'', '’'])?;
    let is_article = list_has(ELIDED, &first.to_lowercase());
    (is_article && !rest.is_empty()).then_some(rest)
}

/// Both parts of a word that an apostrophe joins, as [`without_elided`] knows them: the article or the like and the word, or
/// the word and the ending, which then begins with an apostrophe. `None` for other words.
pub(crate) fn elided_parts(word: &str) -> Option<(&str, String)> {
    match elision(word)? {
        Elision::Before(first, rest) => Some((first, rest.to_owned())),
        Elision::Behind(first, ending) => Some((first, format!("'{ending}"))),
    }
}

/// What an apostrophe joins.
enum Elision<'a> {
    /// An article or the like stands before the word.
    Before(&'a str, &'a str),
    /// An ending stands behind it.
    Behind(&'a str, &'a str),
}

fn elision(word: &str) -> Option<Elision<'_>> {
    let (first, rest) = word.split_once(['\'', '’'])?;
    match (first, rest) {
        ("", _) | (_, "") => None,
        _ if list_has(ELIDED, first) => Some(Elision::Before(first, rest)),
        _ if list_has(TURKISH_ENDINGS, rest) => Some(Elision::Behind(first, rest)),
        _ => None,
    }
}

/// What loses its vowel before the next one: of French, Italian, Catalan and Portuguese.
const ELIDED: &str = "\
    l d j m n s t c qu jusqu lorsqu puisqu quoiqu presqu quelqu \
    dell all nell sull dall coll un quell quest bell cos dov com anch sant mezz senz tutt";

/// Endings of two letters and more that Turkish writes behind a name or a number. Of one there are other words: "Hawai'i".
const TURKISH_ENDINGS: &str = "\
    ya ye yı yi yu yü da de ta te dan den tan ten ın in un ün nın nin nun nün la le yla yle daki deki lı li lu lü";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_parts_are_known() {
        assert_eq!(elided_parts("l'entrée"), Some(("l", "entrée".to_owned())));
        assert_eq!(elided_parts("rize’de"), Some(("rize", "'de".to_owned())));
        assert_eq!(elided_parts("o'brien"), None);
    }

    #[test]
    fn the_word_is_what_says_something() {
        for (word, expected) in [
            ("l'entrée", "entrée"),
            ("dell’arrivo", "arrivo"),
            ("qu'est", "est"),
            ("rize'de", "rize"),
        ] {
            assert_eq!(without_elided(word), expected);
        }
        for word in ["o'brien", "don't", "'", "x'", "'x", "rock'n'roll", "hawai'i", ""] {
            assert_eq!(without_elided(word), word);
        }
    }
}
