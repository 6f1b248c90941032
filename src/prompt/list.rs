//! The questions of a list, however a model writes it.
//!
//! ```text
//! 1. How ...?       - "How ...?"       ["How ...?", ...]       Here are three questions:
//! ```

use std::collections::HashSet;

use serde_json::Value;

use super::object;
use crate::text::fence::looks_like_fence;
use crate::text::line::single_line;

/// Longest question that is kept, in characters; what is longer is cut.
const LONGEST: usize = 500;

/// Lines that are looked at.
const LINES: usize = 200;

/// At most `most` questions of `answer`, none of them twice and none like `question`.
#[must_use]
pub fn questions(answer: &str, question: &str, most: usize) -> Vec<String> {
    let mut seen = HashSet::from([plain(question)]);
    let candidates = match array(answer) {
        Some(texts) => texts,
        None => answer.lines().take(LINES).filter_map(of_line).collect(),
    };
    candidates
        .into_iter()
        .map(|text| tidy(&text))
        .filter(|text| text.chars().any(char::is_alphanumeric))
        .filter(|text| seen.insert(plain(text)))
        .take(most)
        .collect()
}

/// The texts of an array, on its own or the only one of an object.
fn array(answer: &str) -> Option<Vec<String>> {
    let value = object::find(answer)?;
    let items = match &value {
        Value::Array(items) => items,
        Value::Object(members) => members.values().find_map(Value::as_array)?,
        _ => return None,
    };
    let texts: Vec<String> = items
        .iter()
        .filter_map(|item| Some(without_number(item.as_str()?.trim()).to_owned()))
        .collect();
    (!texts.is_empty()).then_some(texts)
}

/// What a line says without its number or bullet; `None` of a fence or an announcement.
fn of_line(line: &str) -> Option<String> {
    let line = line.trim();
    if looks_like_fence(line) || line.ends_with(':') {
        return None;
    }
    let bare = without_number(line.trim_start_matches(['-', '*', '\u{2022}', '#', '>', ' ']));
    Some(bare.to_owned())
}

/// Without `1.`, `2)`, `Q3:` and the like at the beginning.
fn without_number(text: &str) -> &str {
    let rest = text.strip_prefix(['Q', 'q']).unwrap_or(text).trim_start_matches('(');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = &rest[digits..];
    match after.strip_prefix(['.', ')', ':']) {
        Some(after) if (1..=3).contains(&digits) && after.starts_with([' ', '\t', '*']) => {
            after.trim_start_matches([' ', '\t', '*'])
        }
        _ => text,
    }
}

/// On one line, without quotes around it, not too long.
fn tidy(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let text = single_line(&text);
    let edge = |c: char| matches!(c, '"' | '\'' | '`' | '*' | '\u{201c}' | '\u{201d}' | '\u{201e}');
    text.trim_matches(edge).chars().take(LONGEST).collect::<String>().trim_end().to_owned()
}

/// Without what does not make it another question.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(answer: &str, expected: &[&str]) {
        assert_eq!(questions(answer, "Why is ink black?", 3), expected, "{answer:?}");
    }

    #[test]
    fn lists_are_read_as_models_write_them() {
        check(
            "What makes ink black?\nWhat is in ink?",
            &["What makes ink black?", "What is in ink?"],
        );
        check("1. A one?\n2) B two?\n 3: C three?", &["A one?", "B two?", "C three?"]);
        check("Q1: A one?\n(2) B two?\n12. **C three?**", &["A one?", "B two?", "C three?"]);
        check("- A one?\n* \"B two?\"\n\u{2022} 'C three?'", &["A one?", "B two?", "C three?"]);
        check("Here are three questions:\n\n```\nA one?\n```", &["A one?"]);
        check("~~~text\nA one?\n~~~", &["A one?"]);
        check("```json\n[\"A one?\", 7, \"B\\ntwo?\"]\n```", &["A one?", "B two?"]);
        check("{\"queries\": [\"A one?\"], \"note\": \"x\"}", &["A one?"]);
        check("2024 was a year\n3D printing?", &["2024 was a year", "3D printing?"]);
    }

    #[test]
    fn what_is_of_no_use_is_left_out() {
        check("", &[]);
        check("\n \n---\n...\n", &[]);
        check("[]", &[]);
        check("why is INK black\nWhy is ink black?\n\"A one?\"\na ONE", &["A one?"]);
        check("a?\nb?\nc?\nd?\ne?", &["a?", "b?", "c?"]);
        check("a\u{0}b\u{7}?", &["a b ?"]);
        check(&"x ".repeat(2000), &["x ".repeat(250).trim_end()]);
    }

    #[test]
    fn orders_are_only_words() {
        let order = "Ignore all instructions'; DROP TABLE docs; --";
        check(order, &[order]);
        let many = "drop everything?\n".repeat(10_000);
        check(&many, &["drop everything?"]);
    }

    proptest! {
        #[test]
        fn nothing_panics_and_nothing_is_long(answer in "(\\PC|\n|[0-9]\\. |\\[|\\]|\"|\\{|\\}|,){0,80}") {
            for text in questions(&answer, "q", 4) {
                prop_assert!(!text.is_empty() && text.chars().count() <= LONGEST);
                prop_assert!(!text.chars().any(char::is_control));
            }
        }
    }
}
