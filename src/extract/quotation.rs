//! # quotation: what do these lines of a mail say without the signs before them?
//!
//! ```text
//! "> The box was\n> damaged." → "The box was\ndamaged."
//! ```

use std::borrow::Cow;
use std::ops::Range;

/// How far before a piece the beginning of its line is looked for, in bytes.
const LONGEST_LINE: usize = 4096;

/// How many signs of a quotation `line` begins with.
pub(super) fn depth(line: &str) -> usize {
    let signs = line.trim_start();
    signs.chars().take_while(|c| *c == '>' || c.is_whitespace()).filter(|c| *c == '>').count()
}

/// Whether `line`, which begins with more of these signs than the line before it, goes on with the sentence that `before` ends
/// within: "> 40 knots" compares.
pub(super) fn compares(before: &str, line: &str) -> bool {
    let said = line.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
    let ends = before.trim_end().ends_with(['.', '!', '?', ':', '…', '。', '！', '？', '：']);
    said.starts_with(|c: char| c.is_ascii_digit()) && !ends
}

/// What stands at `range` of `content`, without the signs at the beginnings of its lines if it begins in a quotation.
pub(super) fn unquoted<'a>(content: &'a str, range: &Range<usize>) -> Cow<'a, str> {
    let text = &content[range.clone()];
    if !text.contains('>') || !text.split('\n').any(|line| depth(line) > 0) {
        return Cow::Borrowed(text);
    }
    let from = content.floor_char_boundary(range.start.saturating_sub(LONGEST_LINE));
    let begins_quoted = match content[from..range.start].rfind('\n') {
        Some(at) => depth(&content[from + at + 1..]) > 0,
        None => from == 0 && depth(content) > 0,
    };
    if !begins_quoted {
        return Cow::Borrowed(text);
    }
    let bare = |line: &'a str| {
        let said = line.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
        if depth(line) > 0 { said } else { line }
    };
    Cow::Owned(text.split('\n').map(bare).collect::<Vec<_>>().join("\n"))
}

/// `range` without the signs that it begins with.
pub(super) fn without_signs(content: &str, range: Range<usize>) -> Range<usize> {
    let text = &content[range.clone()];
    let said = text.trim_start_matches(|c: char| c == '>' || c.is_whitespace());
    if depth(text) > 0 { range.end - said.len()..range.end } else { range }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_before_lines_are_left_out_in_a_quotation() {
        let content = "Yes.\n> The box was\n> damaged. What > 5\n>> now?\nx > 7\n> 8";
        let said = |text: &str| {
            let start = content.find(text).expect("a part");
            unquoted(content, &(start..start + text.len())).into_owned()
        };
        assert_eq!(said("The box was\n> damaged."), "The box was\ndamaged.");
        assert_eq!(said("> damaged. What > 5\n>> now?"), "damaged. What > 5\nnow?");
        assert_eq!(said("x > 7\n> 8"), "x > 7\n> 8");
        assert_eq!(said("Yes."), "Yes.");
        assert_eq!(without_signs(content, 5..content.len()), 7..content.len());
        assert_eq!(without_signs(content, 0..content.len()), 0..content.len());
        assert_eq!((depth("> > a > b"), depth(" >>a"), depth("a > b"), depth("")), (2, 2, 0, 0));
    }

    #[test]
    fn a_number_behind_the_sign_is_compared_within_a_sentence() {
        assert!(compares("It stops in winds of", "> 40 knots"));
        assert!(
            !compares("It stops in winds.", "> 40 knots") && !compares("She wrote", "> It stops")
        );
    }
}
