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

/// One short line that ends like no sentence and holds no number, but for that of a clause.
pub(super) fn is_heading(content: &str, range: &Range<usize>) -> bool {
    let text = &content[range.clone()];
    let named = clause_title(text).unwrap_or(text);
    !text.contains('\n') && !named.contains(char::is_numeric) && is_line_of_words(named)
}

/// The title behind the number of a clause, if `line` begins with one: "§ 1. Membership", "Article 3: Boats".
pub(super) fn clause_title(line: &str) -> Option<&str> {
    if let Some(rest) = line.strip_prefix('第') {
        let counted = rest.trim_start_matches(|c: char| c.is_numeric() || KANJI_DIGITS.contains(c));
        let title = counted.strip_prefix(['条', '條', '章', '節', '节'])?;
        // "第一节课" is a lesson.
        if !title.starts_with(|c: char| c.is_whitespace() || matches!(c, '（' | '：')) {
            return None;
        }
        let title = title.trim_matches(|c: char| c.is_whitespace() || matches!(c, '（' | '）'));
        return (counted.len() < rest.len() && !title.is_empty()).then_some(title);
    }
    let sign = line.trim_start_matches('§');
    let is_sign = sign.len() < line.len();
    let word = if is_sign { "" } else { line.split([' ', '.']).next().unwrap_or_default() };
    let is_clause = || CLAUSES.split_ascii_whitespace().any(|it| it == word.to_lowercase());
    if !is_sign && !is_clause() {
        return None;
    }
    let rest = sign[word.len()..].trim_start_matches(|c: char| c == '.' || c.is_whitespace());
    let number = rest.split_whitespace().next()?;
    let bare = number.trim_end_matches(['.', ':', ')']);
    let is_number = bare.starts_with(|c: char| c.is_ascii_digit())
        && bare.len() <= LONGEST_NUMBER
        && bare.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    let behind = rest[number.len()..].trim_start();
    let title = behind.trim_start_matches(['–', '—', '-', ':']).trim_start();
    // "Article 5 applies" is no title.
    let is_parted = is_sign || bare.len() < number.len() || title.len() < behind.len();
    let is_title = !title.is_empty() && !title.starts_with(char::is_lowercase);
    (is_number && is_parted && is_title).then_some(title)
}

/// Longest number of a clause ("12.3a"), in bytes.
const LONGEST_NUMBER: usize = 6;

/// Digits in the numbers of Chinese and Japanese clauses.
const KANJI_DIGITS: &str = "一二三四五六七八九十百零〇";

/// What clauses of laws, rules and contracts are called.
const CLAUSES: &str = "article art artikel section sec clause rule regulation paragraph abschnitt ziffer klausel artículo cláusula \
    sección articolo sezione clausola artigo seção cláusula artykuł klauzula статья пункт стаття madde άρθρο";

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
    fn a_clause_is_named_behind_its_number() {
        for (line, title) in [
            ("§ 1. Membership", "Membership"),
            ("§ 12a Beiträge der Mitglieder", "Beiträge der Mitglieder"),
            ("Article 3: Boats", "Boats"),
            ("Art. 4 – Cotisation", "Cotisation"),
            ("第1条（会員）", "会員"),
            ("第二章 会費", "会費"),
        ] {
            assert_eq!(clause_title(line), Some(title), "{line}");
            assert!(is_heading(line, &(0..line.len())), "{line}");
        }
        for line in
            ["Article 5 applies", "§ 5", "Room 5: Elm", "§ 1. is void", "第三者", "Membership"]
        {
            assert_eq!(clause_title(line), None, "{line}");
        }
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
