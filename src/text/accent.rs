//! # accent: how is this word written without its accents?
//!
//! ```text
//! café → cafe │ straße → strasse │ ёлка → елка │ مُعَلِّم → معلم
//! ```
//!
//! Who searches often leaves out what a text has, or the other way round. Folded is what writers leave out of a
//! script: marks on Latin and Greek letters, the points of Arabic and Hebrew, stress and the dots of ё in
//! Cyrillic. Marks that make another letter stay, as in й, and so do those that a script cannot do without, as the
//! vowels of Devanagari. Letters that Unicode doesn't take apart (ø, ł, ß) become those that are typed for them, as
//! in Lucene's ASCIIFoldingFilter.

use unicode_normalization::char::{canonical_combining_class, decompose_canonical};

/// `word` without its accents and in lower case; `None` where it has none. (A database in the locale C keeps capitals
/// that are not of ASCII.)
#[must_use]
pub fn without_accents(word: &str) -> Option<String> {
    if word.is_ascii() {
        return None;
    }
    let lower = word.to_lowercase();
    let mut folded = String::with_capacity(lower.len());
    for character in lower.chars() {
        match typed(character) {
            Some(typed) => folded.push_str(typed),
            None => push(&mut folded, character),
        }
    }
    (folded != lower && !folded.is_empty()).then_some(folded)
}

/// What is typed for a letter that Unicode doesn't take apart.
fn typed(letter: char) -> Option<&'static str> {
    Some(match letter {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ŧ' => "t",
        'þ' => "th",
        'ı' => "i",
        // What stretches an Arabic word on the line.
        '\u{640}' => "",
        _ => return None,
    })
}

/// Adds a letter without the marks that its script can do without.
fn push(folded: &mut String, character: char) {
    let start = folded.len();
    let mut is_whole = true;
    decompose_canonical(character, |part| match folded.chars().next_back() {
        Some(base) if is_left_out(base, part) => is_whole = false,
        _ => folded.push(part),
    });
    // Where nothing is left out the letter stays as it was written.
    if is_whole {
        folded.truncate(start);
        folded.push(character);
    }
}

/// Whether writers leave out `mark` on the letter `base`.
fn is_left_out(base: char, mark: char) -> bool {
    if canonical_combining_class(mark) == 0 {
        return false;
    }
    match base {
        'a'..='z' | '\u{370}'..='\u{3ff}' | '\u{621}'..='\u{64a}' | '\u{5d0}'..='\u{5ea}' => true,
        // The dots of ё, and stress.
        'е' => matches!(mark, '\u{300}' | '\u{301}' | '\u{308}'),
        'а' | 'и' | 'о' | 'у' | 'ы' | 'э' | 'ю' | 'я' => {
            matches!(mark, '\u{300}' | '\u{301}')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_writers_leave_out_is_folded() {
        for (word, expected) in [
            ("café", "cafe"),
            ("cafe\u{301}", "cafe"),
            ("größe", "grosse"),
            ("Łódź", "lodz"),
            ("İzmir", "izmir"),
            ("smørrebrød", "smorrebrod"),
            ("đường", "duong"),
            ("œuvre", "oeuvre"),
            ("αθήνα", "αθηνα"),
            ("ёлка", "елка"),
            ("за\u{301}мок", "замок"),
            ("مُعَلِّم", "معلم"),
            ("أحمد", "احمد"),
            ("כתיבְָה", "כתיבה"),
        ] {
            assert_eq!(without_accents(word).as_deref(), Some(expected), "{word}");
        }
    }

    #[test]
    fn what_makes_another_letter_stays() {
        for word in [
            "cafe",
            "",
            "й",
            "Майка",
            "и\u{306}",
            "हिन्दी",
            "ที่",
            "が",
            "한국어",
            "数据库",
            "\u{301}",
            "\u{640}",
            "5€",
        ] {
            assert_eq!(without_accents(word), None, "{word}");
        }
    }

    proptest! {
        #[test]
        fn what_is_folded_has_nothing_to_fold(word in "[a-zà-ÿĀ-ſΑ-ώа-яё\u{300}-\u{310}א-ת\u{5b0}-\u{5bc}ء-ْ]{0,12}") {
            let folded = without_accents(&word).unwrap_or(word);
            prop_assert_eq!(without_accents(&folded), None);
        }
    }
}
