//! # word_list: does this list have the word?
//!
//! ```text
//! ("and or but", "or") → yes
//! ```
//!
//! A short list of words is one text in the code, in which it can be read. A list of hundreds of words that each word of a
//! long text is looked up in is a set instead, as the words that begin sentences are.

/// Whether `list`, words with white space between them, has `word`.
pub(crate) fn list_has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_whole_words() {
        let list = "and or\n but können";
        for word in ["and", "or", "but", "können"] {
            assert!(list_has(list, word), "{word}");
        }
        for word in ["", " ", "an", "ands", "and or", "And"] {
            assert!(!list_has(list, word), "{word}");
        }
        assert!(!list_has("", "") && !list_has(" ", ""));
    }
}
