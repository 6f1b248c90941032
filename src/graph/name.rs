//! By what is an entity recognised?
//!
//! ```text
//! "Jean-Paul  Sartre" → "jean paul sartre" │ "U.S." → "us" │ "Łódź" → "lodz" │ "《红楼梦》" → "红楼梦" │ "C++" → "c++"
//! ```
//!
//! The normal form has the words in lower case and without accents, as the words of a search are folded, with
//! one space between those that do not touch. Signs part words and say nothing, but for those that a word is written
//! with: C++ is not C, and -5 is not 5. Names are never merged because they are alike: "J. Smith" and "John Smith" may be
//! two.
//!
//! A value of a column is not prose. If it has other signs that may say something, such as those of "A-" and "50 %", its form
//! is all of it ([`value_form`]).

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::text::accent::without_accents;

/// Longest normal form, in bytes. What is longer is no name, and would not fit well into an index.
pub const LONGEST: usize = 120;

/// Letters of the longest short form.
const LONGEST_SHORT: usize = 10;

/// Most plus signs behind a word that are of it.
const MOST_PLUSES: usize = 2;

/// Signs behind which a word may begin with a sign of its own.
const OPENING: &str = "([{\"'“„‘‚«‹,;:=/";

/// Signs that part words, or stand around them, and say nothing.
const SILENT: &str = "\"'“”„‘’‚«»‹›(),;:!?¡¿…®™©《》〈〉「」『』（）、。，；：！？";

/// Signs that say nothing between two words, and perhaps something beside one.
const JOINING: &str = "-\u{2010}\u{2011}–—/&@·・._";

/// Endings of a possessive in English.
const POSSESSIVES: [&str; 4] = ["'s", "\u{2019}s", "'S", "\u{2019}S"];

/// The normal form of a name; empty where it has no letter or digit. Of a text that is longer than any name
/// only the beginning is read.
#[must_use]
pub fn normal_form(name: &str) -> String {
    let name = beginning(name);
    let (mut form, mut end) = (String::with_capacity(name.len()), 0);
    for (start, word) in name.unicode_word_indices() {
        // A sign that is combined with a space makes a word of both.
        let folded = folded(without_possessive(word));
        let bare = folded.trim();
        if bare.is_empty() {
            continue;
        }
        let word = start..start + word.len();
        let place = with_signs(name, word.clone());
        let is_apart = place.start > end || folded.starts_with(char::is_whitespace);
        if !form.is_empty() && is_apart {
            form.push(' ');
        }
        if place.start < word.start {
            form.push(if name[place.start..].starts_with('.') { '.' } else { '-' });
        }
        form.push_str(bare);
        form.push_str(&name[word.end..place.end]);
        end = place.end;
    }
    form
}

/// The form of a value of a column: its normal form where its words say all that it says, or else [`whole_form`].
#[must_use]
pub fn value_form(value: &str) -> String {
    match is_said_by_words(beginning(value)) {
        true => normal_form(value),
        false => whole_form(value),
    }
}

/// All of a text in lower case and without accents, signs included, with one space for white space; empty where it has no
/// letter or digit. So what differs in more than that is never the same.
#[must_use]
pub fn whole_form(text: &str) -> String {
    let text = beginning(text);
    if !text.contains(char::is_alphanumeric) {
        return String::new();
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    without_accents(&text).unwrap_or_else(|| text.to_lowercase())
}

/// What is read of a text that may be longer than any name.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(4 * LONGEST)]
}

/// Whether the signs in a value say nothing beside its words: those of a number always say something.
fn is_said_by_words(value: &str) -> bool {
    let is_number = !value.contains(char::is_alphabetic);
    let is_silent = |sign: char| sign.is_whitespace() || !is_number && SILENT.contains(sign);
    let joins = |sign: char| is_silent(sign) || !is_number && JOINING.contains(sign);
    let mut end = None;
    for (start, word) in value.unicode_word_indices() {
        let place = with_signs(value, start..start + word.len());
        let says_nothing = match end {
            None => value[..place.start].chars().all(is_silent),
            Some(end) => value[end..place.start].chars().all(joins),
        };
        if !says_nothing {
            return false;
        }
        end = Some(place.end);
    }
    // An abbreviation ends with a full stop.
    let is_last = |sign: char| is_silent(sign) || !is_number && sign == '.';
    value[end.unwrap_or_default()..].chars().all(is_last)
}

/// The place of a word of `text`, by its bytes, with the signs that it is written with: `+` and `#` behind it that do not
/// join it with another word, as in C++ and C#, and in front of it a full stop or, of a number, a minus sign, which begin what is
/// written without spaces, as in .NET and -5.
#[must_use]
pub fn with_signs(text: &str, word: Range<usize>) -> Range<usize> {
    word.start - sign_before(text, word.start)..word.end + signs_behind(text, word.end)
}

fn sign_before(text: &str, start: usize) -> usize {
    let Some(sign) = text[..start].chars().next_back() else { return 0 };
    let is_own = match sign {
        '.' => true,
        '-' | '\u{2212}' => text[start..].starts_with(char::is_numeric),
        _ => false,
    };
    let before = text[..start - sign.len_utf8()].chars().next_back();
    let begins = before.is_none_or(|it| it.is_whitespace() || OPENING.contains(it));
    if is_own && begins { sign.len_utf8() } else { 0 }
}

fn signs_behind(text: &str, end: usize) -> usize {
    let rest = &text[end..];
    let pluses = rest.bytes().take_while(|sign| *sign == b'+').count();
    let count = if rest.starts_with('#') { 1 } else { pluses };
    let is_end = match rest[count..].chars().next() {
        None => true,
        // C++17
        Some(next) if next.is_numeric() => pluses == MOST_PLUSES,
        Some(next) => !next.is_alphanumeric() && !matches!(next, '+' | '#' | '_'),
    };
    if is_end && count <= MOST_PLUSES { count } else { 0 }
}

/// A word in lower case, without accents, and without the full stops of initials.
pub fn folded(word: &str) -> String {
    let bare: String = match is_dotted(word) {
        true => word.replace('.', ""),
        false => word.to_owned(),
    };
    without_accents(&bare).unwrap_or_else(|| bare.to_lowercase())
}

/// The word without a possessive ending.
pub fn without_possessive(mut word: &str) -> &str {
    while let Some(rest) = POSSESSIVES.iter().find_map(|ending| word.strip_suffix(ending)) {
        word = rest;
    }
    word
}

/// Whether a word is made of single letters with full stops between: "U.S".
pub fn is_dotted(word: &str) -> bool {
    let mut parts = word.split('.');
    word.contains('.')
        && parts.all(|part| {
            let mut letters = part.chars();
            letters.next().is_none_or(char::is_alphabetic) && letters.next().is_none()
        })
}

/// Whether `short`, as it is written, has the first letters of the words of `long`, a normal form: of all of
/// them, or of those that are not in `small`, words such as "of".
#[must_use]
pub fn is_short_for(short: &str, long: &str, small: impl Fn(&str) -> bool) -> bool {
    // The plural of a short form: "GPUs".
    let short = short.strip_suffix('s').filter(|it| !it.is_empty()).unwrap_or(short);
    let letters: String = short.chars().filter(|letter| letter.is_alphabetic()).collect();
    let letters = folded(&letters);
    if !(2..=LONGEST_SHORT).contains(&letters.chars().count()) {
        return false;
    }
    let initials = |words: &mut dyn Iterator<Item = &str>| -> String {
        words.filter_map(|word| word.chars().next()).collect()
    };
    initials(&mut long.split(' ')) == letters
        || initials(&mut long.split(' ').filter(|word| !small(word))) == letters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_have_normal_forms() {
        for (name, expected) in [
            ("Steve Hillage", "steve hillage"),
            ("  Steve \n Hillage ", "steve hillage"),
            ("Jean-Paul Sartre", "jean paul sartre"),
            ("Steve Hillage's", "steve hillage"),
            ("Łódź", "lodz"),
            ("Größe", "grosse"),
            ("U.S. Army", "us army"),
            ("J. K. Rowling", "j k rowling"),
            ("J.K. Rowling", "jk rowling"),
            ("O'Neill", "o'neill"),
            ("Version 1.5", "version 1.5"),
            ("《红楼梦》", "红楼梦"),
            ("Лев Толстой", "лев толстой"),
            ("", ""),
            (" - ", ""),
        ] {
            assert_eq!(normal_form(name), expected, "{name}");
        }
    }

    #[test]
    fn a_word_keeps_the_signs_that_it_is_written_with() {
        for (name, expected) in [
            ("C++", "c++"),
            ("C#", "c#"),
            ("F#.", "f#"),
            (".NET Core", ".net core"),
            ("the (.NET) runtime", "the .net runtime"),
            ("Notepad++", "notepad++"),
            ("Visual C++ 17", "visual c++ 17"),
            ("C++17", "c++17"),
            ("A+", "a+"),
            ("-5", "-5"),
            ("\u{2212}5", "-5"),
            ("-1.50", "-1.50"),
            ("between (-5 and 5)", "between -5 and 5"),
            // Signs that join words, or stand alone.
            ("A+B", "a b"),
            ("2+2", "2 2"),
            ("A + B", "a b"),
            ("C+++", "c"),
            ("C##", "c"),
            ("Issue#5", "issue 5"),
            ("#Gong", "gong"),
            ("... and", "and"),
            ("1939-1945", "1939 1945"),
            ("5.-6. May", "5 6 may"),
            ("Foo -Bar", "foo bar"),
            ("A-", "a"),
        ] {
            assert_eq!(normal_form(name), expected, "{name}");
        }
    }

    #[test]
    fn a_value_has_the_form_of_its_words_or_of_all_of_it() {
        for (value, expected) in [
            ("Ada Lovelace", "ada lovelace"),
            ("Jean-Paul  Sartre", "jean paul sartre"),
            ("Acme, Inc.", "acme inc"),
            ("Yahoo!", "yahoo"),
            ("AT&T (USA)", "at t usa"),
            ("O'Neill's \"Bar\"", "o'neill bar"),
            ("C++ (2017)", "c++ 2017"),
            (".NET", ".net"),
            ("-5", "-5"),
            ("5", "5"),
            ("1.50", "1.50"),
            ("-1.50", "-1.50"),
            ("A+", "a+"),
            ("A-", "a-"),
            ("Ä", "a"),
            ("#1", "#1"),
            ("50 %", "50 %"),
            ("50  %", "50 %"),
            ("<5", "<5"),
            ("[1,5)", "[1,5)"),
            ("2024-05-01", "2024-05-01"),
            ("12:30", "12:30"),
            ("1/2", "1/2"),
            ("@Ada", "@ada"),
            ("C*", "c*"),
            ("Größe: +", "grosse: +"),
            ("?!", ""),
            ("😀", ""),
            ("---", ""),
            ("", ""),
        ] {
            assert_eq!(value_form(value), expected, "{value}");
        }
    }

    #[test]
    fn values_that_differ_in_a_sign_are_two() {
        for (one, other) in [
            ("C", "C++"),
            ("C++", "C#"),
            ("A+", "A-"),
            ("A", "A-"),
            ("5", "-5"),
            ("1.50", "-1.50"),
            (".NET", "NET"),
            ("50", "50%"),
            ("<5", ">5"),
            ("1/2", "1-2"),
            ("[1,5)", "[1,5]"),
            ("1 day 02:00:00", "1 day -02:00:00"),
        ] {
            assert_ne!(value_form(one), value_form(other), "{one}, {other}");
        }
    }

    #[test]
    fn short_forms_have_the_first_letters() {
        let check = |short: &str, long: &str, expected: bool| {
            let small = |word: &str| ["of", "the"].contains(&word);
            assert_eq!(is_short_for(short, &normal_form(long), small), expected, "{short}, {long}");
        };
        check("WHO", "World Health Organization", true);
        check("MIT", "Massachusetts Institute of Technology", true);
        check("DoD", "Department of Defense", true);
        check("U.S", "United States", true);
        check("GPUs", "Graphics Processing Unit", true);
        check("ÉU", "États Unis", true);
        check("WHO", "World Trade Organization", false);
        check("W", "World", false);
        check("", "World", false);
        check("s", "", false);
    }

    proptest! {
        #[test]
        fn a_normal_form_is_its_own(name in "[ a-zA-ZäöüÀ-ÿ0-9.'\u{2019}+#-]{0,40}") {
            let form = normal_form(&name);
            prop_assert_eq!(normal_form(&form), form);
        }

        #[test]
        fn any_text_has_one(name in any::<String>()) {
            prop_assert!(!normal_form(&name).contains("  "));
            prop_assert!(!value_form(&name).contains("  ") && !whole_form(&name).contains("  "));
        }

        #[test]
        fn numbers_are_the_same_only_if_they_are_written_so(one in "-?[0-9]{1,3}([.,:/-][0-9]{1,2})?", other in "-?[0-9]{1,3}([.,:/-][0-9]{1,2})?") {
            prop_assert_eq!(value_form(&one) == value_form(&other), one == other);
        }
    }
}
