//! Where does a text say what somebody quotes of it?
//!
//! White space, the kind of quotation marks and what stands around a quote may differ: language models change them.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// Words that a quote has at least: fewer are found anywhere.
const SHORTEST_QUOTE: usize = 2;

/// The characters of `text` that say `quote`, give or take white space and the kind of quotation
/// marks. A quote of one word is found nowhere.
#[must_use]
pub fn quoted(quote: &str, text: &str) -> Option<Range<usize>> {
    let quote = quote.trim_matches(|c: char| c.is_whitespace() || "\"'“”‘’.…".contains(c));
    if quote.unicode_words().count() < SHORTEST_QUOTE {
        return None;
    }
    let (quote, _) = levelled(quote);
    let (text, places) = levelled(text);
    let start = text.find(&quote)?;
    let last = text[..start + quote.len()].chars().count() - 1;
    Some(places[text[..start].chars().count()]..places[last] + 1)
}

/// Where `text` has two names: the characters of each, in capitals or small letters, not within a longer word, and not within
/// the other name. So "New York" names no "York". `None` where it has not both.
#[must_use]
pub fn named_apart(names: [&str; 2], text: &str) -> Option<[Range<usize>; 2]> {
    let [one, other] = names.map(|name| named(name, text));
    let is_first_longer = one.first()?.len() >= other.first()?.len();
    let (longer, shorter) = if is_first_longer { (&one, &other) } else { (&other, &one) };
    let is_apart =
        |at: &Range<usize>| longer.iter().all(|it| it.end <= at.start || at.end <= it.start);
    let (longer, shorter) =
        (longer.first()?.clone(), shorter.iter().find(|at| is_apart(at))?.clone());
    Some(if is_first_longer { [longer, shorter] } else { [shorter, longer] })
}

/// All characters of `text` that have `name`, likewise.
fn named(name: &str, text: &str) -> Vec<Range<usize>> {
    let small = |text: &str| -> (Vec<char>, Vec<usize>) {
        let (levelled, places) = levelled(text);
        (levelled.chars().map(|it| it.to_lowercase().next().unwrap_or(it)).collect(), places)
    };
    let ((name, _), (text, places)) = (small(name.trim()), small(text));
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return Vec::new() };
    let places = text.windows(name.len()).enumerate().filter_map(|(start, found)| {
        let end = start + name.len();
        let before = start.checked_sub(1).map(|at| text[at]);
        let goes_on = || {
            is_one_word(before, Some(*first))
                || is_one_word(Some(*last), text.get(end).copied())
                || last.is_alphanumeric() && has_signs(&text[end..])
        };
        (found == name && !goes_on()).then(|| places[start]..places[end - 1] + 1)
    });
    places.collect()
}

/// Whether two characters beside each other are of one word, in a script that has spaces between words.
fn is_one_word(one: Option<char>, other: Option<char>) -> bool {
    let has_words = |it: char| it.is_numeric() || it.is_lowercase() || it.is_uppercase();
    one.zip(other).is_some_and(|(one, other)| has_words(one) && has_words(other))
}

/// Whether a text begins with signs that a word in front of it is written with: C++ is not C.
fn has_signs(text: &[char]) -> bool {
    let signs = text.iter().take_while(|it| matches!(it, '+' | '#')).count();
    signs > 0 && !text.get(signs).is_some_and(|it| it.is_alphanumeric())
}

/// `text` with one space for white space and straight quotation marks, and the place of each of
/// its characters in `text`.
fn levelled(text: &str) -> (String, Vec<usize>) {
    let (mut levelled, mut places) = (String::with_capacity(text.len()), Vec::new());
    for (place, letter) in text.chars().enumerate() {
        let letter = match letter {
            '“' | '”' | '„' => '"',
            '‘' | '’' => '\'',
            letter if letter.is_whitespace() => ' ',
            letter => letter,
        };
        if letter != ' ' || !levelled.ends_with(' ') {
            levelled.push(letter);
            places.push(place);
        }
    }
    (levelled, places)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(range: Option<Range<usize>>, text: &str) -> Option<String> {
        range.map(|it| text.chars().skip(it.start).take(it.len()).collect())
    }

    #[test]
    fn a_quote_is_found_whatever_its_spaces() {
        let check = |quote: &str, text: &str, expected: Option<&str>| {
            assert_eq!(shown(quoted(quote, text), text).as_deref(), expected, "{quote}");
        };
        let text = "Über uns.\nThe  tower was\nbuilt in ‘Paris’.";
        check("\"The tower was built\"", text, Some("The  tower was\nbuilt"));
        check("built in 'Paris'", text, Some("built in ‘Paris"));
        check("the tower was built", text, None);
        check("tower", text, None);
        check("", text, None);
    }

    #[test]
    fn a_name_is_a_word_of_its_own() {
        let check = |name: &str, text: &str, expected: Option<&str>| {
            let found = named(name, text).into_iter().next();
            assert_eq!(shown(found, text).as_deref(), expected, "{name} in {text}");
        };
        check("ada  berg", "When Ada Berg's day began", Some("Ada Berg"));
        check("art", "The start of art", Some("art"));
        check("art", "The start", None);
        check("zstd", "libzstd, zstd1 and Zstd", Some("Zstd"));
        check("东京", "他住在东京都", Some("东京"));
        check("C++", "written in C++.", Some("C++"));
        check("C", "written in C++, C# and C", Some("C"));
        check("C", "written in C++ and C#.", None);
        check("A", "the sum A+B", Some("A"));
        check("C", &("C".to_owned() + &"#".repeat(300_000)), None);
        check("", "anything", None);
        check(" ", "anything", None);
        check("a name that is longer", "a name", None);
    }

    #[test]
    fn a_name_within_another_is_not_named() {
        let check = |names: [&str; 2], text: &str, expected: Option<[Range<usize>; 2]>| {
            assert_eq!(named_apart(names, text), expected, "{names:?} in {text}");
            let turned = expected.map(|[one, other]| [other, one]);
            assert_eq!(named_apart([names[1], names[0]], text), turned, "{names:?} in {text}");
        };
        check(["New York", "York"], "He lived in New York.", None);
        check(["New York", "York"], "New York is called after York.", Some([0..8, 25..29]));
        check(["New York", "York"], "York gave New York its name.", Some([10..18, 0..4]));
        check(["Gong", "gong"], "Gong and Gong", None);
        check(["Gong", "Allen"], "Gong had Allen", Some([0..4, 9..14]));
        check(["Gong", ""], "Gong", None);
    }

    proptest! {
        #[test]
        fn what_is_found_is_in_the_text(name in "\\PC{0,6}", text in "\\PC{0,40}") {
            for found in named(&name, &text).into_iter().chain(quoted(&name, &text)) {
                prop_assert!(found.start < found.end && found.end <= text.chars().count());
            }
        }
    }
}
