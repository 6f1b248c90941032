//! # lookup_form: in which form is a text cut into words, and how else may these be typed?
//!
//! ```text
//! "cafe\u{301}", "Kran\u{AD}kenhaus", "ﬂuss" → "café", "Krankenhaus", "fluss"
//! "información", "हिन्दी", "والمكتبه" → "informacion", "हिंदी", "المكتبة"
//! ```
//!
//! A dictionary knows the stem of "información" and takes "informacion" for another word. So a text is looked up by the
//! stems of both: whoever leaves out the accents types the second, and that has a stem of its own.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::canonical::is_invisible;
use super::spelling::plain;

/// Letters of the shortest word of Arabic that may lose the "and" before its article, and of what stands before an
/// ending.
const LEAST_WITH_AND: usize = 6;
const LEAST_BEFORE_ENDING: usize = 3;

/// `text` with each letter in one piece, without what is not seen, and with two letters for two that are printed as one.
#[must_use]
pub fn composed(text: &str) -> Cow<'_, str> {
    let is_composed = || {
        !text.contains(|c| is_invisible(c) || ligature(c).is_some())
            && is_nfc_quick(text.chars()) == IsNormalized::Yes
    };
    if text.is_ascii() || is_composed() {
        return text.into();
    }
    let mut letters = String::with_capacity(text.len());
    for c in text.chars().filter(|c| !is_invisible(*c)) {
        match ligature(c) {
            Some(both) => letters.push_str(both),
            None => letters.push(c),
        }
    }
    letters.nfc().collect::<String>().into()
}

/// `text` as it is typed without accents, and with one spelling where some languages have two; `None` where that is the
/// text itself.
#[must_use]
pub fn typed(text: &str) -> Option<String> {
    if text.is_ascii() {
        return None;
    }
    let mut typed = plain(text);
    if typed.contains(VIRAMA) {
        typed = with_anusvara(&typed);
    }
    if typed.contains(is_arabic) {
        typed = with_arabic_endings(&typed);
    }
    (typed != text).then_some(typed)
}

/// The letters that some fonts print as one.
fn ligature(c: char) -> Option<&'static str> {
    Some(match c {
        '\u{FB00}' => "ff",
        '\u{FB01}' => "fi",
        '\u{FB02}' => "fl",
        '\u{FB03}' => "ffi",
        '\u{FB04}' => "ffl",
        '\u{FB05}' | '\u{FB06}' => "st",
        _ => return None,
    })
}

/// What joins two consonants of Devanagari.
const VIRAMA: char = '\u{94D}';

/// A nasal of Hindi before a consonant of its own kind is mostly written as a dot above the letter before it.
fn with_anusvara(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut written = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        match letters[at..] {
            [nasal, VIRAMA, consonant, ..] if is_of_kind(nasal, consonant) => {
                written.push('\u{902}');
                at += 2;
            }
            _ => {
                written.push(letters[at]);
                at += 1;
            }
        }
    }
    written
}

/// Whether a nasal of Devanagari is spoken where `consonant` is.
fn is_of_kind(nasal: char, consonant: char) -> bool {
    matches!(
        (nasal, consonant),
        ('ङ', 'क'..='घ')
            | ('ञ', 'च'..='झ')
            | ('ण', 'ट'..='ढ')
            | ('न', 'त'..='ध')
            | ('म', 'प'..='भ')
    )
}

fn is_arabic(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{64A}' | '\u{671}'..='\u{6D3}')
}

/// Words of Arabic with ة at their end, for which ه is often typed, and without "and" before the article, which
/// stemmers leave there.
fn with_arabic_endings(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c| !is_arabic(c)) {
        let word = piece.trim_end_matches(|c| !is_arabic(c));
        let is_long = word.chars().nth(LEAST_WITH_AND - 1).is_some();
        let bare = word.strip_prefix('و').filter(|it| is_long && it.starts_with("ال"));
        let bare = bare.unwrap_or(word);
        let stem = bare.strip_suffix('ه');
        match stem.filter(|it| it.chars().nth(LEAST_BEFORE_ENDING - 1).is_some()) {
            Some(stem) => written.extend([stem, "ة"]),
            None => written.push_str(bare),
        }
        written.push_str(&piece[word.len()..]);
    }
    written
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_are_in_one_piece() {
        for (text, expected) in [
            ("conge\u{301}s", "congés"),
            ("и\u{306}огурт", "йогурт"),
            ("κωδικο\u{301}ς", "κωδικός"),
            ("Kran\u{AD}ken\u{AD}haus", "Krankenhaus"),
            ("zero\u{200B}width", "zerowidth"),
            ("ﬂuss e\u{FB03}zient", "fluss effizient"),
            ("क\u{93C}लम", "क\u{93C}लम"),
            ("\u{958}लम", "क\u{93C}लम"),
        ] {
            assert_eq!(composed(text), expected, "{text}");
        }
        for text in ["", "plain", "congés", "йогурт", "हिन्दी", "数据库", "½ Ⅷ 😀"]
        {
            assert!(matches!(composed(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn words_are_typed_in_one_way() {
        for (text, expected) in [
            ("La información está aquí.", "la informacion esta aqui."),
            ("Employés payés", "employes payes"),
            ("Straße", "strasse"),
            ("ёлка", "елка"),
            ("हिन्दी", "हिंदी"),
            ("सम्पर्क अङ्क", "संपर्क अंक"),
            ("ज़रूरी कहाँ", "जरूरी कहां"),
            ("مکتبه کتابی", "مكتبة كتابي"),
            ("والمكتبة، المكتبه", "المكتبة، المكتبة"),
            ("می\u{200C}شود", "ميشود"),
            ("ё\u{93C}\u{301}", "е"),
        ] {
            assert_eq!(typed(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "plain text", "й", "तुम्हारा उन्नति", "والد", "به", "数据库", "한국어", "😀"]
        {
            assert_eq!(typed(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_composed_stays(text in "[a-zé\u{301}\u{306}иﬀ-ﬆ\u{AD}\u{200B} न्दक़]{0,20}") {
            let once = composed(&text).into_owned();
            prop_assert_eq!(composed(&once), once.as_str());
        }

        #[test]
        fn what_is_typed_stays(text in "[a-zà-ÿ \u{301}ёйन्दमपकँ\u{93C}ةهىیکوالم]{0,20}") {
            if let Some(once) = typed(&text) {
                prop_assert_eq!(typed(&once), None);
            }
        }
    }
}
