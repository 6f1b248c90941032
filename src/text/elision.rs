//! # elision: which word is written with another one by an apostrophe?
//!
//! ```text
//! "l'entrée", "Rize'de" → "entrée", "Rize";  "don't", "O'Brien" → as they are
//! ```

/// A word without what is written with it by an apostrophe: an article or the like before it ("l'entrée", "dell'arrivo"), or an
/// ending of Turkish behind it ("Rize'de"); other words as they are.
pub(crate) fn without_elided(word: &str) -> &str {
    let Some((first, rest)) = word.split_once(['\'', '’']) else { return word };
    let is_one_of = |list: &str, part: &str| list.split_ascii_whitespace().any(|it| it == part);
    match (first, rest) {
        ("", _) | (_, "") => word,
        _ if is_one_of(ELIDED, first) => rest,
        _ if is_one_of(TURKISH_ENDINGS, rest) => first,
        _ => word,
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
