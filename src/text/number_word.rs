//! # number_word: does this word say that a number follows?
//!
//! ```text
//! "ticket no. 7", "Ticket Nr. 7", "ticket n° 7" → no, nr, n°
//! ```
//!
//! Such a word stands between what something is called and its number. The sign "#" is none: it belongs to the number.

/// Words for "number" in small letters.
pub(crate) const NUMBER_WORDS: &str = "\
    number numbers no nos nr num nº n° nummer nummern numéro numéros numero numeri numer número \
    números номер";

/// The words for "number", each by itself.
pub(crate) fn number_words() -> impl Iterator<Item = &'static str> {
    NUMBER_WORDS.split_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_there_once() {
        let mut words: Vec<&str> = number_words().collect();
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), count);
        assert!(words.iter().all(|it| *it == it.to_lowercase()), "{words:?}");
        for word in ["no", "nr", "n°", "número", "номер"] {
            assert!(words.contains(&word), "{word}");
        }
    }
}
