//! # title: does this line name what stands below it?
//!
//! ```text
//! "Opening hours", "DESCRIPTION", "-q, --equexit <cycles>" → yes;  "We open at nine" above its second half → no
//! ```

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::part::first_is_unwrapped;

/// Words up to which a line that ends without a full stop may be a heading.
const LONGEST_HEADING: usize = 8;

/// Letters of the shortest line in capitals that is a title whatever follows.
const FEWEST_CAPITALS: usize = 4;

/// Longest line that names an option of a program, in bytes.
const LONGEST_OPTION: usize = 100;

/// The length of the first line of the paragraph `text`, if it is a title above the others.
pub(super) fn title(text: &str) -> Option<usize> {
    let length = text.find('\n')?;
    // "DESCRIPTION", and not the first letter of a paragraph that is printed large, or "AGB".
    let is_capitals = || {
        let line = &text[..length];
        line.chars().filter(|c| c.is_uppercase()).nth(FEWEST_CAPITALS - 1).is_some()
            && !line.contains(char::is_lowercase)
    };
    let begins_anew = !text[length..].trim_start().starts_with(char::is_lowercase) || is_capitals();
    let is_title = begins_anew && is_line_of_words(text[..length].trim_end());
    (is_title && first_is_unwrapped(text)).then_some(length).or_else(|| option_title(text))
}

/// The length of the first line of the paragraph `text`, if it names an option of a program and the next one does not.
pub(super) fn option_title(text: &str) -> Option<usize> {
    let length = text.find('\n')?;
    let next = text[length..].trim_start().lines().next().unwrap_or_default();
    (is_option(text[..length].trim_end()) && !is_option(next)).then_some(length)
}

/// Whether `line` is how options are called that do the same, with what they take: "-q, --equexit <cycles>". What such an option
/// does is told below it, without its name.
pub(super) fn is_option(line: &str) -> bool {
    let is_called = |word: &str| {
        let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).unwrap_or_default();
        name.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    line.len() <= LONGEST_OPTION
        && is_called(line)
        && !line.ends_with(['.', ':', '!', '?', ',', ';'])
        && line
            .split(", ")
            .all(|it| is_called(it.trim_start()) && it.split_whitespace().nth(2).is_none())
}

/// Whether `line` is short and ends like no sentence.
fn is_line_of_words(line: &str) -> bool {
    line.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '\u{201d}'))
        && line.unicode_words().nth(LONGEST_HEADING).is_none()
}

/// One short line that ends like no sentence and holds no number.
pub(super) fn is_heading(content: &str, range: &Range<usize>) -> bool {
    let text = &content[range.clone()];
    !text.contains('\n') && !text.contains(char::is_numeric) && is_line_of_words(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_named_above_what_they_do() {
        for line in [
            "-b, --beep",
            "--no-title",
            "-q, --equexit <cycles>",
            "-d, --differences[=permanent]",
            "-T threads, --threads=threads",
        ] {
            assert!(is_option(line), "{line}");
            assert_eq!(title(&format!("{line}\n    does this.")), Some(line.len()), "{line}");
        }
        for line in [
            "",
            "-",
            "-- so",
            "-5 is cold",
            "- item",
            "--beep beeps.",
            "-b beeps if it fails",
            "a, -b",
            "--a:",
        ] {
            assert!(!is_option(line), "{line}");
        }
        assert_eq!(title("-a\n-b\n-c"), None);
    }

    #[test]
    fn capitals_are_a_title_whatever_follows() {
        assert_eq!(
            title("DESCRIPTION\n    watch runs command repeatedly and shows what it prints."),
            Some(11)
        );
        assert_eq!(title("T\nhe museum opens at nine."), None);
        assert_eq!(title("AGB\ngelten immer."), None);
        assert_eq!(title("The word\nthat goes on in the next line of this paragraph."), None);
    }
}
