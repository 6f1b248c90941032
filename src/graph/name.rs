//! By what is an entity recognised?
//!
//! ```text
//! "Jean-Paul  Sartre" → "jean paul sartre" │ "U.S." → "us" │ "Łódź" → "lodz" │ "《红楼梦》" → "红楼梦"
//! ```
//!
//! The normal form has the words in lower case and without accents, as the words of a search are folded, with
//! one space between those that do not touch. Names are never merged because they are alike: "J. Smith" and
//! "John Smith" may be two.

use unicode_segmentation::UnicodeSegmentation;

use crate::text::accent::without_accents;

/// Longest normal form, in bytes. What is longer is no name, and would not fit well into an index.
pub const LONGEST: usize = 120;

/// Letters of the longest short form.
const LONGEST_SHORT: usize = 10;

/// Endings of a possessive in English.
const POSSESSIVES: [&str; 4] = ["'s", "\u{2019}s", "'S", "\u{2019}S"];

/// The normal form of a name; empty where it has no letter or digit. Of a text that is longer than any name
/// only the beginning is read.
#[must_use]
pub fn normal_form(name: &str) -> String {
    let name = &name[..name.floor_char_boundary(4 * LONGEST)];
    let (mut form, mut end) = (String::with_capacity(name.len()), 0);
    for (start, word) in name.unicode_word_indices() {
        // A sign that is combined with a space makes a word of both.
        let folded = folded(without_possessive(word));
        let bare = folded.trim();
        let is_apart = start > end || folded.starts_with(char::is_whitespace);
        if !form.is_empty() && !bare.is_empty() && is_apart {
            form.push(' ');
        }
        form.push_str(bare);
        end = if bare.is_empty() { end } else { start + word.len() };
    }
    form
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
        fn a_normal_form_is_its_own(name in "[ a-zA-ZäöüÀ-ÿ0-9.'\u{2019}-]{0,40}") {
            let form = normal_form(&name);
            prop_assert_eq!(normal_form(&form), form);
        }

        #[test]
        fn any_text_has_one(name in any::<String>()) {
            prop_assert!(!normal_form(&name).contains("  "));
        }
    }
}
