//! # spelling: are these two words one, typed with and without accents?
//!
//! ```text
//! "kirmizi" │ "kırmızı", "schluessel" │ "schlüssel", "καπνισμα" │ "κάπνισμα" → the same
//! ```
//!
//! Who asks often types no accents, or what the keyboard has instead of them, as the search knows
//! ([`accent`](super::accent)). A word that is written the same way is nearer than one that is not, but not by much.

use unicode_normalization::char::decompose_canonical;

use super::accent::without_accents;
use super::words::credit;

/// A word in lower case as it is typed without accents, and with one of the letters that look the same in Arabic
/// and Persian and at the end of a Greek word.
pub(crate) fn plain(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    // Which marks are accents depends on the letter before, so letters get their form first, and nothing that is left out
    // stands between a letter and its marks.
    let formed: String = word.chars().filter(|c| !is_left_out(*c)).map(one_form).collect();
    let plain = without_accents(&formed).unwrap_or(formed);
    plain.chars().map(one_form).collect()
}

/// Joiners between letters, and the dot of letters that Hindi has borrowed.
fn is_left_out(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}' | '\u{93C}')
}

fn one_form(letter: char) -> char {
    match letter {
        'ς' => 'σ',
        'ی' | 'ى' => 'ي',
        'ک' => 'ك',
        // The half moon of Hindi is mostly typed as a dot.
        '\u{901}' => '\u{902}',
        // The letters that have their dot in one piece with them.
        '\u{929}' => '\u{928}',
        '\u{931}' => '\u{930}',
        '\u{934}' => '\u{933}',
        '\u{958}' => '\u{915}',
        '\u{959}' => '\u{916}',
        '\u{95A}' => '\u{917}',
        '\u{95B}' => '\u{91C}',
        '\u{95C}' => '\u{921}',
        '\u{95D}' => '\u{922}',
        '\u{95E}' => '\u{92B}',
        '\u{95F}' => '\u{92F}',
        other => other,
    }
}

/// A word in lower case with two letters for each that is typed so where the keyboard has none for it: "schluessel".
pub(crate) fn with_digraphs(word: &str) -> String {
    let mut typed = String::with_capacity(word.len() + 4);
    for letter in word.chars() {
        match letter {
            'ä' | 'æ' => typed.push_str("ae"),
            'ö' | 'ø' | 'œ' => typed.push_str("oe"),
            'ü' => typed.push_str("ue"),
            'å' => typed.push_str("aa"),
            'ß' => typed.push_str("ss"),
            other => typed.push(other),
        }
    }
    typed
}

/// Whether two words in lower case are one, typed with and without accents.
pub(crate) fn is_typed_alike(one: &str, other: &str) -> bool {
    one == other
        || may_be_alike(one, other)
            && (plain(one) == plain(other) || with_digraphs(one) == with_digraphs(other))
}

/// How well `word` stands for `term` if accents don't count, as [`credit`] says it; 0 where neither has any.
pub(crate) fn typed_credit(term: &str, word: &str) -> f32 {
    if !may_be_alike(term, word) {
        return 0.0;
    }
    let plain = credit(&plain(term), &plain(word));
    plain.max(credit(&with_digraphs(term), &with_digraphs(word)))
}

/// Whether two words may be alike without accents: one has some, and both begin with the same letter. Most words are told
/// apart by that.
fn may_be_alike(one: &str, other: &str) -> bool {
    let first = |word: &str| word.chars().next().map(base);
    !(one.is_ascii() && other.is_ascii()) && first(one) == first(other)
}

/// The letter that a letter is made of.
fn base(letter: char) -> char {
    if letter.is_ascii() {
        return letter;
    }
    let mut first = None;
    decompose_canonical(letter, |part| {
        first.get_or_insert(part);
    });
    match first.unwrap_or(letter) {
        'æ' => 'a',
        'œ' | 'ø' => 'o',
        'ł' => 'l',
        'đ' | 'ð' => 'd',
        'ħ' => 'h',
        'ŧ' | 'þ' => 't',
        'ı' => 'i',
        other => one_form(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_and_what_is_typed_for_them_are_one() {
        for (one, other) in [
            ("kirmizi", "kırmızı"),
            ("isik", "ışık"),
            ("schluessel", "schlüssel"),
            ("schlussel", "schlüssel"),
            ("strasse", "straße"),
            ("groesse", "größe"),
            ("gaard", "gård"),
            ("oel", "öl"),
            ("smorrebrod", "smørrebrød"),
            ("łódź", "lodz"),
            ("den", "đèn"),
            ("nhay", "nháy"),
            ("καπνισμα", "κάπνισμα"),
            ("λόγος", "λόγοσ"),
            ("елка", "ёлка"),
            ("احمد", "أحمد"),
            ("كتاب", "کتاب"),
            ("مي\u{200C}شود", "میشود"),
            ("हां", "हाँ"),
            ("फाइल", "\u{92B}\u{93C}ाइल"),
            ("फाइल", "\u{95E}ाइल"),
            ("", ""),
        ] {
            assert!(is_typed_alike(one, other), "{one} {other}");
            assert!(is_typed_alike(other, one), "{other} {one}");
        }
        for (one, other) in [("schlosser", "schlüssel"), ("мой", "мои"), ("ab", "aeb"), ("", "é")]
        {
            assert!(!is_typed_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn a_mark_that_is_left_out_keeps_no_accent() {
        for (word, expected) in [
            ("ё\u{93C}\u{301}", "е"),
            ("e\u{200D}\u{301}", "e"),
            ("फ\u{93C}ाइल", "फाइल"),
            ("\u{93C}", ""),
        ] {
            assert_eq!(plain(word), expected, "{word}");
            assert_eq!(plain(expected), expected, "{word}");
        }
    }

    #[test]
    fn forms_of_a_word_are_alike_without_accents() {
        let whole = typed_credit("schluessels", "schlüssel");
        assert!(whole > 0.8 && whole < 1.0, "{whole}");
        assert_eq!(typed_credit("εγγυηση", "εγγύηση"), 1.0);
        assert_eq!(typed_credit("haus", "maus"), 0.0);
        assert_eq!(typed_credit("haus", "häuptling"), 0.0);
    }
}
