//! # canonical: in which form is a text read and compared?
//!
//! ```text
//! soft hyphens, syllables in parts, vowel marks, stress → a text without them, and where each place of it stood
//! ```
//!
//! What looks the same may be stored in several ways: a syllable of Korean as one character or as its letters, a word
//! with the places where it may be hyphenated, Arabic and Hebrew with the vowels that nobody else writes. Local models
//! were trained with the usual way and take another one for other words. With the default model, the vectors of a text
//! in both ways have a cosine of 0.85 where the letters of Korean stand alone and of 0.95 where Russian has marks of
//! stress, no more than those of two texts on one subject. So models get all texts in one form, and words are compared
//! in it. Nothing changes in a text that has none of that.
//!
//! The form is NFC without characters that are not seen, the vowels of Arabic and Hebrew, the line that
//! stretches an Arabic word, and stress in Cyrillic. In Persian, yeh and kaf from an Arabic keyboard become its own. Letters
//! that differ by a mark, as é from e, stay different.

use std::borrow::Cow;
use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::word_list::list_has;

/// Where a part of a text stands that was changed, and where it stood, in bytes.
type Change = (Range<usize>, Range<usize>);

/// A text in the form in which it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CanonicalText<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// What is another text now, in order: where it stands, and where it stood, in bytes.
    changes: Vec<Change>,
}

impl<'a> CanonicalText<'a> {
    /// The form of `text`. Takes time in proportion to its length.
    #[must_use]
    pub fn of(text: &'a str) -> CanonicalText<'a> {
        let is_ascii = text.is_ascii();
        let is_persian = !is_ascii && is_persian(text);
        if is_ascii || !is_persian && is_canonical(text) {
            return CanonicalText { text: Cow::Borrowed(text), changes: Vec::new() };
        }
        let mut form = String::with_capacity(text.len());
        let mut changes = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let cluster = first_cluster(&text[at..]);
            let start = form.len();
            push(&mut form, cluster, is_persian);
            if form[start..] != *cluster {
                changes.push((start..form.len(), at..at + cluster.len()));
            }
            at += cluster.len();
        }
        CanonicalText { text: Cow::Owned(form), changes }
    }

    /// Where a place of this text stood in the one that it was made of, in bytes. What was written otherwise counts
    /// as a whole, however small the part of it that the place has.
    #[must_use]
    pub fn written(&self, place: Range<usize>) -> Range<usize> {
        let (moved, change) = self.moved(place.start);
        let start = change.filter(|(now, _)| now.start <= place.start).map(|(_, was)| was.start);
        let start = start.unwrap_or(moved);
        let (moved, change) = self.moved(place.end);
        let end = change.filter(|(now, _)| now.start < place.end).map(|(_, was)| was.end);
        start..end.unwrap_or(moved)
    }

    /// Where the byte `at` stood if nothing behind the last change before it was changed, and the first change that
    /// ends behind it.
    fn moved(&self, at: usize) -> (usize, Option<&Change>) {
        let before = self.changes.partition_point(|(now, _)| now.end <= at);
        let last = before.checked_sub(1).map(|last| &self.changes[last]);
        let moved = last.map_or(at, |(now, was)| at - now.end + was.end);
        (moved, self.changes.get(before))
    }
}

/// Whether `text` has nothing that another form could be of; Persian is not looked for.
fn is_canonical(text: &str) -> bool {
    let is_plain = |c: char| !is_unseen(c) && !is_vowel(c) && !is_stress(c);
    text.chars().all(is_plain) && is_nfc_quick(text.chars()) == IsNormalized::Yes
}

/// The first character of a text that has one, with all behind it that may become one with it or go.
fn first_cluster(text: &str) -> &str {
    let mut rest = text.char_indices().skip(1);
    rest.find(|(_, c)| stands_alone(*c)).map_or(text, |(end, _)| &text[..end])
}

/// Whether a character never becomes one with those before it, and is seen.
fn stands_alone(c: char) -> bool {
    let is_normal = |c: char| is_nfc_quick(std::iter::once(c)) == IsNormalized::Yes;
    c.is_ascii() || canonical_combining_class(c) == 0 && is_normal(c) && !is_unseen(c)
}

/// Adds the form of a cluster.
fn push(form: &mut String, cluster: &str, is_persian: bool) {
    let letter = |c: char| if is_persian { persian(c) } else { c };
    let mut characters = cluster.chars();
    if let (Some(only), None) = (characters.next(), characters.next())
        && stands_alone(only)
    {
        form.push(letter(only));
        return;
    }
    let mut base = None;
    let kept = cluster.chars().filter(|c| !is_unseen(*c)).nfd().filter(|c| {
        let is_left_out = is_vowel(*c) || is_stress(*c) && base.is_some_and(|it| may_bear(it, *c));
        if canonical_combining_class(*c) == 0 {
            base = Some(*c);
        }
        !is_left_out
    });
    let kept: String = kept.collect();
    form.extend(kept.nfc().map(letter));
}

/// What is left out wherever it stands: what is invisible, and the line that stretches an Arabic word.
fn is_unseen(c: char) -> bool {
    c == '\u{640}' || is_invisible(c)
}

/// Hyphens that are not shown, and spaces without width. Joiners are none, which decide how letters of some scripts look.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200B}' | '\u{2060}' | '\u{FEFF}')
}

/// The vowels of Arabic and Hebrew, with other marks for reading aloud.
fn is_vowel(c: char) -> bool {
    matches!(c, '\u{610}'..='\u{61A}' | '\u{64B}'..='\u{652}' | '\u{656}'..='\u{65F}' | '\u{670}'
        | '\u{6D6}'..='\u{6DC}' | '\u{6DF}'..='\u{6E4}' | '\u{6E7}' | '\u{6E8}' | '\u{6EA}'..='\u{6ED}'
        | '\u{591}'..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}')
}

/// The acute and grave accents by which Cyrillic marks stress.
fn is_stress(c: char) -> bool {
    matches!(c, '\u{300}' | '\u{301}')
}

/// Whether a letter of Cyrillic bears the accent where it is stressed. With a grave, е and и are letters of Macedonian.
fn may_bear(letter: char, accent: char) -> bool {
    let letters = match accent {
        '\u{300}' => "аоуыэюяАОУЫЭЮЯ",
        _ => "аеиоуыэюяіїєАЕИОУЫЭЮЯІЇЄ",
    };
    letters.contains(letter)
}

/// Whether `text` is Persian and has letters of an Arabic keyboard: it has letters or words that Arabic has not, and none that
/// Persian has not.
fn is_persian(text: &str) -> bool {
    text.contains(['ي', 'ك'])
        && !text.contains('ة')
        && (text.contains(['پ', 'چ', 'ژ', 'گ'])
            || text.split_whitespace().any(|word| list_has(PERSIAN, word)))
}

/// Words of Persian that have none of its own letters, also as an Arabic keyboard writes them.
const PERSIAN: &str = "است از را که كه هاي های";

/// The letter of Persian that looks like `c`.
fn persian(c: char) -> char {
    match c {
        'ي' => 'ی',
        'ك' => 'ک',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_normalization::is_nfc;

    use super::*;

    #[test]
    fn the_query_of_the_manual_knows_what_has_another_form() {
        let manual = include_str!("../../docs/operations.md");
        let (_, behind) = manual.split_once("embedded ~ ('[").unwrap();
        let (class, _) = behind.split_once("]')").unwrap();
        let mut ranges: Vec<(char, char)> = Vec::new();
        let mut is_in_range = false;
        for item in class.split("\\u").skip(1) {
            let c = char::from_u32(u32::from_str_radix(&item[..4], 16).unwrap()).unwrap();
            match ranges.last_mut().filter(|_| is_in_range) {
                Some((_, last)) => *last = c,
                None => ranges.push((c, c)),
            }
            is_in_range = item.ends_with('-');
        }
        for c in '\0'..='\u{FFFF}' {
            let is_in_class = ranges.iter().any(|(first, last)| (*first..=*last).contains(&c));
            let may_go = is_unseen(c) || is_vowel(c) || is_stress(c);
            assert_eq!(is_in_class, may_go, "U+{:04X}", u32::from(c));
        }
        let words = format!("'(^|\\s)({})(\\s|$)'", PERSIAN.replace(' ', "|"));
        assert!(manual.contains(&words), "docs/operations.md lacks {words}");
    }

    #[test]
    fn ways_to_write_a_word_are_one() {
        for (text, expected) in [
            ("\u{1112}\u{1161}\u{11AB}\u{1100}\u{1173}\u{11AF} 책", "한글 책"),
            ("cafe\u{301}", "café"),
            ("Kran\u{AD}ken\u{AD}haus", "Krankenhaus"),
            ("zero\u{200B}width\u{FEFF}", "zerowidth"),
            ("مُدَّةُ الإِجَازَة", "مدة الإجازة"),
            ("الكتـــاب", "الكتاب"),
            ("ا\u{653}خر", "آخر"),
            ("שָׁלוֹם", "שלום"),
            ("за\u{301}мок, и\u{306}о\u{301}д", "замок, йод"),
            ("сѐ", "сѐ"),
            ("گارانتي كالا", "گارانتی کالا"),
            ("مدت ضمانت اين كالا است", "مدت ضمانت این کالا است"),
        ] {
            assert_eq!(CanonicalText::of(text).text, expected, "{text}");
        }
    }

    #[test]
    fn other_text_is_not_touched() {
        for text in [
            "",
            "plain text",
            "naïve façade, 2 ½ ﬁne",
            "Тёмный йод",
            "هذا كتاب في مكتبة",
            "می\u{200C}شود",
            "हिन्दी",
            "데이터 数据库 データ",
            "👩\u{200D}👧 ✔\u{FE0F}",
        ] {
            let canonical = CanonicalText::of(text);
            assert!(matches!(canonical.text, Cow::Borrowed(it) if it == text), "{text}");
            assert_eq!(canonical.written(0..text.len()), 0..text.len());
        }
    }

    #[test]
    fn places_are_those_of_the_text_as_it_was_written() {
        let text = "\u{AD}Ca\u{AD}fe\u{301}s \u{1112}\u{1161}\u{11AB}";
        let canonical = CanonicalText::of(text);
        assert_eq!(canonical.text, "Cafés 한");
        let written = |part: &str| {
            let start = canonical.text.find(part).unwrap();
            &text[canonical.written(start..start + part.len())]
        };
        for (part, expected) in [
            ("Caf", "Ca\u{AD}f"),
            ("a", "a\u{AD}"),
            ("é", "e\u{301}"),
            ("és", "e\u{301}s"),
            ("s", "s"),
            ("한", "\u{1112}\u{1161}\u{11AB}"),
        ] {
            assert_eq!(written(part), expected);
        }
        // Half of a letter is all of it.
        let start = canonical.text.find('é').unwrap();
        assert_eq!(&text[canonical.written(start + 1..start + 2)], "e\u{301}");
        assert_eq!(CanonicalText::of("\u{AD}\u{200B}").text, "");
    }

    proptest! {
        #[test]
        fn the_form_has_no_other_form(
            text in "([a-zé가-갏мйеиةيگ\u{AD}\u{640}\u{200B}\u{300}\u{301}\u{306}\u{653}\u{64E}\u{5B8}\
                \u{1100}-\u{1112}\u{1161}-\u{1175}\u{11A8}-\u{11C2}]|\\PC){0,30}"
        ) {
            let canonical = CanonicalText::of(&text);
            prop_assert!(is_nfc(&canonical.text));
            let again = CanonicalText::of(&canonical.text).text.into_owned();
            prop_assert_eq!(&*canonical.text, &*again);
        }

        #[test]
        fn characters_keep_their_order(
            text in "[a-cé\u{AD}\u{301}\u{1100}-\u{1112}\u{1161}-\u{1175}\u{11A8}-\u{11C2}]{0,30}"
        ) {
            let canonical = CanonicalText::of(&text);
            let mut last = 0;
            for (at, character) in canonical.text.char_indices() {
                let place = canonical.written(at..at + character.len_utf8());
                prop_assert!(last <= place.start && place.start < place.end);
                prop_assert!(text.get(place.clone()).is_some());
                last = place.start;
            }
        }
    }
}
