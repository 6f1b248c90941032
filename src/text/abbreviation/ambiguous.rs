//! # ambiguous: is this word shortened, or an ordinary word of another language?
//!
//! ```text
//! "no" behind "invoice", "TS" before "Nguyễn" → yes;  "no" behind "is", "TS" before "React" → no
//! ```

use unicode_normalization::UnicodeNormalization;

use super::{LONGEST_GAP, bare, fold};
use crate::text::word_list::list_has;

/// Titles of Vietnamese before names, as they are spelled; in other languages they are names of things: "It is written in TS."
const NAMED_IN_VIETNAMESE: &[&str] = &["GS", "KS", "LS", "PGS", "TP", "TS"];

/// Words before the title of several men in French, which is "MM"; elsewhere that is something else.
const BEFORE_MESSIEURS: &str =
    "à avec ce chez contre de dont entre est et les messieurs ou par pour que sont sur";

/// Abbreviations that in small letters are ordinary words of English, with the words behind which they are none.
const BEHIND: &[(&str, &str)] = &[
    ("app", "cf see vedi voir zie"),
    ("col", "la"),
    ("conf", "domnul domnului lui"),
    ("os", "na"),
    ("tab", "cf in nella see siehe vedi voir w z zie zob"),
];

/// Words of English, Spanish and Italian behind which "no" is what somebody says or what something is, and not short for
/// "number", though a number may follow: "The answer is no. 3 people came." Behind others it counts: "no. 10 Downing Street"
/// is an address.
const BEFORE_NO: &str = "answer: answered che is que replied replies said say says voted was";

/// Words of English and German behind which "ok" stands for itself, and not for the Polish word for "about".
const BEFORE_OKAY: &str = "\
    all and are be click everything feels i'm is it's looks or press seems says tap that's the was were with alles ist";

/// Whether `stem` is in small letters and an ordinary word of English, and nothing in `before` says that it is shortened; of "no",
/// whether `before` says that it is not.
pub(super) fn is_ordinary_word(stem: &str, before: &str) -> bool {
    let is_led = |words: &str| {
        let before = fold(before);
        before.is_empty() || before.ends_with([',', '.', ':']) || list_has(words, &before)
    };
    is_denial(stem, before) || BEHIND.iter().any(|(word, words)| stem == *word && !is_led(words))
}

/// Whether `stem` is the word "no", and `before` says that it stands for itself.
fn is_denial(stem: &str, before: &str) -> bool {
    stem == "no" && list_has(BEFORE_NO, &fold(before))
}

/// Whether `stem` is "ok" at the end of a sentence.
pub(super) fn is_okay(stem: &str, before: &str) -> bool {
    stem == "ok" && list_has(BEFORE_OKAY, &fold(before))
}

/// Whether `stem` is the title of several men in French.
pub(super) fn is_messieurs(stem: &str, before: &str) -> bool {
    stem == "MM" && (before.is_empty() || list_has(BEFORE_MESSIEURS, &fold(before)))
}

/// Whether `stem`, which `core` ends with, is a title of Vietnamese beside words in that language, or before another title.
pub(super) fn is_vietnamese_title(stem: &str, core: &str, follower: &str) -> bool {
    let tail = &core[core.floor_char_boundary(core.len().saturating_sub(LONGEST_GAP))..];
    let is_vietnamese = |c: char| matches!(c, '\u{1EA0}'..='\u{1EF9}' | 'Ơ' | 'ơ' | 'Ư' | 'ư');
    NAMED_IN_VIETNAMESE.contains(&stem)
        && (NAMED_IN_VIETNAMESE.contains(&bare(follower))
            || follower.nfc().any(|c| LETTERS_OF_NAMES.contains(c))
            || tail.nfc().chain(follower.nfc()).any(is_vietnamese))
}

/// Letters of Vietnamese names that few other languages have in theirs: "Hà Nội", "Đà Nẵng".
const LETTERS_OF_NAMES: &str = "Đàáâãèéêìíòóôõùúýăđĩũ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_and_behind_tell_what_is_shortened() {
        for (stem, before, expected) in [
            ("no", "is", true),
            ("no", "invoice", false),
            ("no", "answer:", true),
            ("no", "item:", false),
            ("no", "at", false),
            ("no", "que", true),
            ("no", "", false),
            ("No", "is", false),
            ("tab", "the", true),
            ("tab", "siehe", false),
            ("os", "the", true),
            ("os", "na", false),
            ("fig", "the", false),
        ] {
            assert_eq!(is_ordinary_word(stem, before), expected, "{before} {stem}");
        }
        assert!(is_denial("no", "was") && !is_denial("no", "the") && !is_denial("nos", "is"));
        assert!(is_okay("ok", "is") && !is_okay("ok", "waży"));
        assert!(is_messieurs("MM", "sont") && !is_messieurs("MM", "in"));
    }

    #[test]
    fn titles_of_vietnamese_stand_beside_its_words() {
        assert!(is_vietnamese_title("TS", "có TS.", "Nguyễn"));
        assert!(is_vietnamese_title("PGS", "PGS.", "TS."));
        assert!(is_vietnamese_title("TP", "TP.", "Hà"));
        assert!(is_vietnamese_title("TS", "Người mới là TS.", "Phan"));
        assert!(!is_vietnamese_title("TS", "It is written in TS.", "React"));
    }
}
