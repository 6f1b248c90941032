//! # fence: does this line open or close a block of code?
//!
//! ```text
//! line            → the backticks or tildes that open a fenced block in it
//! (line, fence)   → whether it closes the block that they opened
//! lead of a piece → the line of the fence that is open where the piece goes on
//! ```
//!
//! Which fence is open at a place of a text is a matter of all lines before it, for which there is [`super::code`].

/// The backticks or tildes that open a fenced block in `line`.
pub(crate) fn fence(line: &str) -> Option<&str> {
    let text = line.trim_start_matches([' ', '\t']);
    let sign = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(sign).len();
    let (fence, info) = text.split_at(length);
    (length >= 3 && (sign == '~' || !info.contains('`'))).then_some(fence)
}

/// Whether `line` begins with three backticks or tildes, as one that opens or closes a fenced block does. Unlike one that
/// [`fence`] knows, it may also be a line of text that begins with code.
pub(crate) fn looks_like_fence(line: &str) -> bool {
    let text = line.trim_start();
    text.starts_with("```") || text.starts_with("~~~")
}

/// Whether `line` closes the block that `fence` opened.
pub(crate) fn closes(line: &str, fence: &str) -> bool {
    let text = line.trim();
    text.starts_with(fence) && text.trim_start_matches(&fence[..1]).is_empty()
}

/// The line of the fence that is open where a piece of a document begins, as far as `lead` tells, which is what the piece goes
/// on with: that fence is its last line.
#[must_use]
pub fn fence_of_lead(lead: &str) -> Option<&str> {
    lead.lines().next_back().filter(|last| fence(last).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_looks_like_a_fence_or_is_one() {
        for (line, looks_like, is_fence) in [
            ("```rust", true, true),
            ("  ~~~~", true, true),
            ("```a``` b", true, false),
            ("``a", false, false),
            ("a ```", false, false),
            ("", false, false),
        ] {
            let found = (looks_like_fence(line), fence(line).is_some());
            assert_eq!(found, (looks_like, is_fence), "{line}");
        }
    }

    #[test]
    fn a_fence_is_closed_by_one_of_its_sign_that_is_as_long() {
        for (line, fence, expected) in [
            ("```", "```", true),
            (" `````\n", "```", true),
            ("```", "````", false),
            ("~~~", "```", false),
            ("```rust", "```", false),
            ("", "```", false),
        ] {
            assert_eq!(closes(line, fence), expected, "{line:?} after {fence}");
        }
    }

    #[test]
    fn the_fence_of_a_lead_is_its_last_line() {
        for (lead, expected) in [
            ("```sql\n", Some("```sql")),
            ("How it is called:\n  ~~~", Some("  ~~~")),
            ("```sql\n| a | b |\n", None),
            ("```a``` is code:\n", None),
            ("", None),
        ] {
            assert_eq!(fence_of_lead(lead), expected, "{lead:?}");
        }
    }
}
