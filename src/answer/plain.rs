//! # plain: how does code look without Markdown?
//!
//! ```text
//! "Install it: [1]\n\n```sh\nmake install\n```" → "Install it: [1]\n\n    make install"
//! ```

use crate::text::fence::{closes, fence};

/// How far code is indented.
const INDENT: &str = "    ";

/// `answer` with its fenced blocks indented.
#[must_use]
pub fn without_fences(answer: &str) -> String {
    let mut open: Option<&str> = None;
    let mut lines = Vec::new();
    for line in answer.split('\n') {
        match open {
            Some(begun) if closes(line, begun) => open = None,
            Some(_) if line.is_empty() => lines.push(String::new()),
            Some(_) => lines.push(format!("{INDENT}{line}")),
            None => match fence(line) {
                Some(begun) => open = Some(begun),
                None => lines.push(line.to_owned()),
            },
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_indented() {
        for (answer, expected) in [
            (
                "Run: [1]\n\n```python\nif a[1]:\n\n    b()\n```\n\nDone. [2]",
                "Run: [1]\n\n    if a[1]:\n\n        b()\n\nDone. [2]",
            ),
            ("````\n```\nx\n```\n````\n\n[1]", "    ```\n    x\n    ```\n\n[1]"),
            ("A `b` c. [1]", "A `b` c. [1]"),
            ("", ""),
        ] {
            assert_eq!(without_fences(answer), expected);
        }
    }
}
