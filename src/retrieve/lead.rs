//! What does a chunk go on with that begins in the middle of a table, of a list or of code?
//!
//! ```text
//! (text before the chunk, chunk) → the header of its table, the sentence that announces its list, or the
//!                                  fence that its code begins with
//! ```
//!
//! A chunk is an exact piece of its document, so a row may begin one whose columns are named in the chunk
//! before. Who reads the chunk is given what is missing; what is cited stays the chunk.

use crate::text::fence::{closes, fence};
use crate::text::line::with_line_feeds;
use crate::text::sentence::sentences;

/// Chunks before one that are looked through for what it lacks.
pub const REACH: i32 = 8;

/// Longest announcement or header that is given, in bytes.
const LONGEST: usize = 1000;

/// Whether a chunk that begins so may lack the beginning of a table, of a list or of code.
#[must_use]
pub fn lacks_beginning(content: &str) -> bool {
    let content = with_line_feeds(content);
    let mut lines = content.lines().map(str::trim).filter(|line| !line.is_empty());
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let is_in_table = is_row(first) && (is_rule(first) || !is_rule(second));
    is_in_table || is_item(first) || may_be_in_code(&content)
}

/// What the chunk `content` goes on with, behind `before`; `None` where it goes on with nothing of the kind. It
/// ends with its line.
#[must_use]
pub fn lead(before: &str, content: &str) -> Option<String> {
    let (before, content) = (with_line_feeds(before), with_line_feeds(content));
    let first = content.lines().map(str::trim).find(|line| !line.is_empty())?;
    let code = may_be_in_code(&content).then(|| open_fence(&before)).flatten();
    let lead = match code {
        Some(fence) => format!("{fence}\n"),
        None if is_row(first) => header(&before, first)?,
        None if is_item(first) => announcement(&before)?,
        None => return None,
    };
    (lead.len() <= LONGEST).then_some(lead)
}

/// The two lines that the table begins with of which `before` ends with rows, as far as they stand there.
fn header(before: &str, first: &str) -> Option<String> {
    let lines: Vec<&str> = before.trim_end().lines().collect();
    let rows = lines.iter().rev().take_while(|line| is_row(line.trim())).count();
    let table = &lines[lines.len() - rows..];
    match table {
        [columns, ..] if is_rule(first) && table.len() == 1 => {
            Some(format!("{}\n", columns.trim()))
        }
        [columns, rule, ..] if is_rule(rule.trim()) => {
            Some(format!("{}\n{}\n", columns.trim(), rule.trim()))
        }
        _ => None,
    }
}

/// The sentence with a colon at its end that stands before the items with which `before` ends.
fn announcement(before: &str) -> Option<String> {
    let lines: Vec<&str> = before.trim_end().lines().collect();
    let is_of_list = |line: &&&str| {
        line.trim().is_empty() || is_item(line.trim()) || line.starts_with([' ', '\t'])
    };
    let items = lines.iter().rev().take_while(is_of_list).count();
    let above = &lines[..lines.len() - items];
    let paragraph = above.iter().rev().take_while(|line| !line.trim().is_empty()).count();
    let paragraph = above[above.len() - paragraph..].join("\n");
    let last = sentences(&paragraph).pop()?;
    let announced = paragraph[last].trim();
    announced.ends_with([':', '\u{FF1A}']).then(|| format!("{announced}\n"))
}

/// Whether the first fence may end code: it names no language, as one that begins code may.
fn may_be_in_code(content: &str) -> bool {
    content.lines().find_map(|line| Some(closes(line, fence(line)?))).unwrap_or(false)
}

/// The line that begins the code in whose middle `before` ends.
fn open_fence(before: &str) -> Option<&str> {
    let mut open: Option<(&str, &str)> = None;
    for line in before.lines() {
        let Some(signs) = fence(line) else { continue };
        open = match open {
            Some((_, open)) if closes(line, open) => None,
            // Without a language it is a line of the code.
            Some(open) if closes(line, signs) => Some(open),
            // One with a language begins code also where `before` itself begins in the middle of some.
            _ => Some((line.trim(), signs)),
        };
    }
    open.map(|(line, _)| line)
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

/// The line below the header of a table.
fn is_rule(line: &str) -> bool {
    is_row(line)
        && line.contains('-')
        && line.chars().all(|sign| matches!(sign, '|' | '-' | ':' | ' ' | '+' | '='))
}

/// An item of a numbered list.
fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|sign: char| sign.is_ascii_digit());
    let digits = line.len() - rest.len();
    (1..=3).contains(&digits) && rest.starts_with(['.', ')']) && rest[1..].starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TABLE: &str =
        "# Plans\n\nAll of them:\n\n| Plan | Users |\n|---|---|\n| Free | 3 |\n| Team | 50 |\n";
    const LIST: &str =
        "Be careful. To reset the lamp:\n\n1. Switch it off.\n2. Wait.\n\n   A minute will do.\n";

    fn check(before: &str, content: &str, expected: Option<&str>) {
        let found = lacks_beginning(content).then(|| lead(before, content)).flatten();
        assert_eq!(found.as_deref(), expected, "{before:?} {content:?}");
    }

    #[test]
    fn rows_go_on_with_a_table() {
        let header = Some("| Plan | Users |\n|---|---|\n");
        check(TABLE, "| Firm | 500 |\n| All | 5000 |\n", header);
        check("| Plan | Users |\n|---|---|\n", "\n| Free | 3 |", header);
        check("Text.\n\n| Plan | Users |\n", "|---|---|\n| Free | 3 |", Some("| Plan | Users |\n"));
        check(TABLE, "| Other | Table |\n|---|---|\n| a | b |", None);
        check(&format!("{TABLE}\nText.\n"), "| Firm | 500 |", None);
        check("| Free | 3 |\n| Team | 50 |\n", "| Firm | 500 |", None);
        check("", "| Firm | 500 |", None);
        check("| Plan | Users |\r|---|---|\r", "\r| Free | 3 |", header);
    }

    #[test]
    fn items_go_on_with_a_list() {
        let announced = Some("To reset the lamp:\n");
        check(LIST, "3. Switch it on.\n4. Look.", announced);
        check(
            "Be careful. To reset\nthe lamp:\n",
            "1. Switch it off.",
            Some("To reset\nthe lamp:\n"),
        );
        check("A text that announces nothing.\n", "1. Switch it off.", None);
        check(&format!("{LIST}\nAnother text.\n"), "3. Switch it on.", None);
        check(LIST, "Text goes on.", None);
        check(LIST, "2024 was a good year.", None);
        check("", "3. Switch it on.", None);
    }

    #[test]
    fn code_goes_on_to_its_fence() {
        let before = "To list them:\n\n```sql\nSELECT 1;\n```\n\nMore:\n\n```sql\nSELECT name,\n";
        let content =
            "       size\nFROM files;\n```\n\nA file can be read.\n\n```sql\nSELECT 2;\n```\n";
        check(before, content, Some("```sql\n"));
        // It begins with code, too, and with another one; nothing is known of the text before.
        check("FROM b;\n```\n\nText.\n\n~~~text\none\n", "two\n~~~\nText.", Some("~~~text\n"));
        check("Text.\n\n```\none\n", "| a |\n1. b\n```\nText.", Some("```\n"));
        check("More:\n\n```text\na\n~~~\n", "b\n```\nText.", Some("```text\n"));
        // The code before has ended, so this fence begins some.
        check("More:\n\n```sql\nSELECT 1;\n```\n\n", "Text.\n\n```\ncode\n```\n", None);
        check("Text.\n", "Text.\n\n```\ncode\n```\n", None);
        check(before, "Text.\n\n```sql\nSELECT 2;\n```\n", None);
        check("Use `a` and ``` b ```.\n", "c\n```\nd", None);
    }

    proptest! {
        #[test]
        fn what_is_given_stands_in_the_text_before(
            before in "(\\| a \\| b \\|\n|\\|--\\|\n|[1-3]\\. x\n|To do:\n|Text\\. |\n){0,8}", content in "(\\| c|2\\. y|z)\n?",
        ) {
            if let Some(lead) = lead(&before, &content) {
                prop_assert!(lead.lines().all(|line| before.contains(line)), "{}", lead);
            }
        }
    }
}
