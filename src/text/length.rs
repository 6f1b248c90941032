//! # length: how long is this text, in whatever script?
//!
//! ```text
//! "three years" → 11;  "три года", of 15 bytes → 8;  "สามปี", of 15 bytes → 5;  "三年", of 6 bytes → 6
//! ```
//!
//! Limits of length stand for what people read at a glance and models in time. Bytes measure that well in English, where
//! a token of multilingual-e5-small has 4.3, and in Chinese, Japanese and Korean, where it has 4.0 to 5.4. But it has 7 in
//! Russian, 9 in Hindi and 10 in Thai, whose letters take two bytes or three and say no more than one of English. So a
//! letter of any alphabet counts for one: a token has 2.9 to 4.1 of them.

/// The first of the characters that count as many as they have bytes: the scripts of East Asia, and signs. All before it are
/// ASCII, or of other alphabets with their signs.
const BEHIND_ALPHABETS: char = '\u{2000}';

/// Bytes of the longest character that counts for one.
const MOST_BYTES: usize = 3;

/// The length of `text`: the number of its bytes, but for letters of two and three bytes, which count for one.
pub(crate) fn length(text: &str) -> usize {
    text.chars().map(length_of).sum()
}

fn length_of(character: char) -> usize {
    if character < BEHIND_ALPHABETS { 1 } else { character.len_utf8() }
}

/// Whether the [`length`] of `text` is at most `most`. Of a much longer text nothing is read.
pub(crate) fn is_within(text: &str, most: usize) -> bool {
    text.len() <= most || text.len() <= MOST_BYTES * most && length(text) <= most
}

/// Where the longest beginning of `text` ends whose [`length`] is at most `most`, in bytes.
pub(crate) fn end_within(text: &str, most: usize) -> usize {
    let mut so_far = 0;
    let is_beyond = |(_, character): &(usize, char)| {
        so_far += length_of(*character);
        so_far > most
    };
    text.char_indices().find(is_beyond).map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_letter_of_any_alphabet_is_as_long_as_one_of_english() {
        for (text, expected) in [
            ("", 0),
            ("three years", 11),
            ("drei Jahre für", 14),
            ("три года", 8),
            ("τρία χρόνια", 11),
            ("ثلاث سنوات", 10),
            ("तीन", 3),
            ("สามปี", 5),
            ("ba năm ở", 8),
            ("三年", 6),
            ("さん年", 9),
            ("삼년", 6),
            ("a – b", 7),
        ] {
            assert_eq!(length(text), expected, "{text}");
        }
    }

    #[test]
    fn a_limit_is_the_same_for_each_alphabet() {
        for (text, end) in [("warranty", 4), ("гарантия", 8), ("การรับประกัน", 12), ("保修期", 3)]
        {
            assert_eq!(end_within(text, 4), end, "{text}");
            assert!(is_within(&text[..end], 4) && !is_within(text, 4), "{text}");
        }
        assert_eq!((end_within("保修期", 2), end_within("", 0), end_within("ab", 9)), (0, 0, 2));
    }

    proptest! {
        #[test]
        fn the_longest_beginning_within_a_limit_is_found(text in any::<String>(), most in 0_usize..40) {
            let end = end_within(&text, most);
            prop_assert!(is_within(&text[..end], most));
            let next = text[end..].chars().next();
            let longer = next.map(|it| &text[..end + it.len_utf8()]);
            prop_assert!(longer.is_none_or(|it| !is_within(it, most)));
            prop_assert_eq!(is_within(&text, most), length(&text) <= most);
            prop_assert!(length(&text) <= text.len());
        }
    }
}
