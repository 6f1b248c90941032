//! Where may a value begin or end?

use std::ops::Range;

use crate::text::bigram::is_unspaced;

/// Bytes between two looks at interrupts.
const EVERY: usize = 4 << 10;

/// Whether `c` is part of a word. In scripts without spaces no word goes on to the next character.
pub fn is_of_word(c: char) -> bool {
    (c.is_alphanumeric() || c == '_' || is_mark(c)) && !is_unspaced(c)
}

/// Whether `c` is a mark on the letter before it, which is so written in the normalization form NFD.
pub fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// The character before the byte `at`.
pub fn before(text: &str, at: usize) -> Option<char> {
    text[..at].chars().next_back()
}

/// The character at the byte `at`.
pub fn after(text: &str, at: usize) -> Option<char> {
    text[at..].chars().next()
}

/// Whether no word goes on at the byte `at` that began before it.
pub fn begins_at(text: &str, at: usize) -> bool {
    !before(text, at).is_some_and(is_of_word)
}

/// Whether no word goes on behind the byte `at`.
pub fn ends_at(text: &str, at: usize) -> bool {
    !after(text, at).is_some_and(is_of_word)
}

/// Whether a number in `range` is whole: no part of a word, a decimal, a longer number, a hash or a UUID.
pub fn is_free_number(text: &str, range: &Range<usize>) -> bool {
    let joins = |sign: Option<char>, beyond: Option<char>| match sign {
        Some('.' | ',' | ':' | '/') => beyond.is_some_and(|c| c.is_ascii_digit()),
        Some('-' | '_') => beyond.is_some_and(char::is_alphanumeric),
        _ => false,
    };
    let mut left = text[..range.start].chars().rev();
    let mut right = text[range.end..].chars();
    begins_at(text, range.start)
        && ends_at(text, range.end)
        && !joins(left.next(), left.next())
        && !joins(right.next(), right.next())
}

/// Whether a number in `range` that its form and check digits tell from others stands for itself: it is no part of a
/// word, and no decimal. Signs and underscores beside it belong to lists, dates, labels and emphasis.
pub fn is_own_number(text: &str, range: &Range<usize>) -> bool {
    let joins = |c: Option<char>| c.is_some_and(|c| c != '_' && is_of_word(c));
    let decimals = text[range.end..].strip_prefix('.').and_then(|rest| rest.chars().next());
    !joins(before(text, range.start))
        && !joins(after(text, range.end))
        && !is_fraction(text, range.start)
        && !decimals.is_some_and(|c| c.is_ascii_digit())
}

/// Whether a full stop with a digit before it stands before the byte `at`.
pub fn is_fraction(text: &str, at: usize) -> bool {
    let whole = text[..at].strip_suffix('.').and_then(|head| head.chars().next_back());
    whole.is_some_and(|c| c.is_ascii_digit())
}

/// Places of the bytes of `text` that are wanted. `interrupt` is called every 4 KiB and may unwind.
pub fn places(
    text: &str,
    is_wanted: impl Fn(u8) -> bool,
    interrupt: &mut dyn FnMut(),
) -> impl Iterator<Item = usize> {
    let looked = move |(place, byte): &(usize, u8)| {
        if place % EVERY == 0 {
            interrupt();
        }
        is_wanted(*byte)
    };
    text.bytes().enumerate().filter(looked).map(|(place, _)| place)
}

/// The words of `text` with their places, in order; each character of a script without spaces is one. `interrupt` is
/// called every 4 KiB, and may unwind.
pub fn words<'text>(
    text: &'text str,
    interrupt: &mut dyn FnMut(),
) -> impl Iterator<Item = (usize, &'text str)> {
    let (mut place, mut looked) = (0, 0);
    std::iter::from_fn(move || {
        let rest = text.get(place..)?;
        let begins = |c: char| is_of_word(c) || is_unspaced(c);
        let start = place + rest.find(begins)?;
        if start >= looked {
            interrupt();
            looked = start + EVERY;
        }
        let first = after(text, start)?;
        let length = match is_unspaced(first) {
            true => first.len_utf8(),
            false => text[start..].find(|c| !is_of_word(c)).unwrap_or(text.len() - start),
        };
        place = start + length;
        Some((start, &text[start..place]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_script_without_spaces_is_a_character() {
        let found: Vec<_> =
            words("Straße 7, 王小 x_1-y", &mut || {}).map(|(_, word)| word).collect();
        assert_eq!(found, ["Straße", "7", "王", "小", "x_1", "y"]);
        assert_eq!(words("", &mut || {}).count(), 0);
    }

    #[test]
    fn a_number_is_whole_or_part_of_something() {
        let check = |text: &str, expected: bool| {
            let start = text.find("12").unwrap();
            assert_eq!(is_free_number(text, &(start..start + 2)), expected, "{text}");
        };
        for whole in ["12", "(12)", "x: 12.", "电话12，", "no 12, 3", "a/12/b", "12-"] {
            check(whole, true);
        }
        for part in
            ["x12", "0.12", "12.5", "12,000", "3-12", "ab-12", "12-ab", "12_x", "12:30", "9/12"]
        {
            check(part, false);
        }
    }

    #[test]
    fn a_number_of_a_form_stands_beside_signs() {
        let check = |text: &str, expected: bool| {
            let start = text.find("12").unwrap();
            assert_eq!(is_own_number(text, &(start..start + 2)), expected, "{text}");
        };
        for own in ["12", "7,12,3", "a-12", "3-12/4", "_12_", "[12]", "x:12:y", "12.", "a.12"] {
            check(own, true);
        }
        for part in ["x12", "12x", "0.12", "12.5", "912"] {
            check(part, false);
        }
    }
}
