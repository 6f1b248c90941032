//! The JSON in a model's answer, whatever stands around it.

use std::borrow::Cow;

use serde_json::Value;

use crate::exact;

/// Places at which a value may begin that are tried.
const ATTEMPTS: usize = 16;

/// Bytes that are looked at.
const LONGEST: usize = 256 << 10;

/// How JSON writes the character 0.
const NUL: &str = "\\u0000";

/// The first object or array of `answer`, if one can be read, without the character 0.
#[must_use]
pub fn find(answer: &str) -> Option<Value> {
    first(answer, |json| json.into())
}

/// As [`find`], but numbers have all their digits, as [`exact::read`] reads them.
#[must_use]
pub fn find_exact(answer: &str) -> Option<Value> {
    first(answer, exact::marked)
}

/// The first object or array of what `prepared` makes of `answer` from where one may begin.
fn first(answer: &str, prepared: impl Fn(&str) -> Cow<'_, str>) -> Option<Value> {
    let answer = without_nul(&answer[..answer.floor_char_boundary(LONGEST)]);
    answer.match_indices(['{', '[']).take(ATTEMPTS).find_map(|(at, _)| {
        let json = prepared(&answer[at..]);
        let mut values = serde_json::Deserializer::from_str(&json).into_iter::<Value>();
        values.next()?.ok()
    })
}

/// JSON without escapes of the character 0 in its texts: PostgreSQL's text cannot hold it, and no model means it.
#[must_use]
pub fn without_nul(json: &str) -> Cow<'_, str> {
    if !json.contains(NUL) {
        return Cow::Borrowed(json);
    }
    let (mut kept, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(at) = rest.find('\\') {
        kept += &rest[..at];
        rest = &rest[at..];
        match rest.strip_prefix(NUL) {
            Some(behind) => rest = behind,
            None => {
                // What is escaped is no beginning of an escape; nor are the digits of one, which would be others with what
                // stands behind an escape that is left out.
                let count = if rest.starts_with("\\u") { 6 } else { 2 };
                let length: usize = rest.chars().take(count).map(char::len_utf8).sum();
                kept += &rest[..length];
                rest = &rest[length..];
            }
        }
    }
    Cow::Owned(kept + rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(answer: &str, expected: Option<Value>) {
        assert_eq!(find(answer), expected, "{answer:?}");
    }

    #[test]
    fn json_is_found_wherever_it_is() {
        check("{\"a\": 1}", Some(json!({"a": 1})));
        check(
            "Sure! Here it is:\n```json\n{\"a\": {\"b\": []}}\n```\nAnything {else}?",
            Some(json!({"a": {"b": []}})),
        );
        check("{not} json, but [1, 2] is", Some(json!([1, 2])));
        check(r#"{"a\u0000": ["\u0000b", "\\u0000"]}"#, Some(json!({"a": ["b", "\\u0000"]})));
        check("nothing", None);
        check("", None);
        check("{\"a\": ", None);
        check(&"{".repeat(10_000), None);
        check(&"[".repeat(10_000), None);
        check(&format!("{}{{}}", "x".repeat(LONGEST)), None);
    }

    #[test]
    fn numbers_may_keep_their_digits() {
        let answer = "It is \"1.50\": {\"a\": [1.50, 2]} and not 3.50";
        assert_eq!(exact::written(&find_exact(answer).unwrap()), "{\"a\":[1.50,2]}");
        check(answer, Some(json!({"a": [1.5, 2]})));
    }

    #[test]
    fn no_text_has_the_character_0() {
        let check = |json: &str, expected: &str| assert_eq!(without_nul(json), expected);
        check(r#"{"who": "Planet\u0000Gong\u0000"}"#, r#"{"who": "PlanetGong"}"#);
        check(r#""\u0000\u0000a\n\u0000""#, r#""a\n""#);
        // A backslash and what a text says behind it.
        check(r#""\\u0000 \\\u0000""#, r#""\\u0000 \\""#);
        check(r#""\u00000 \u0001 é""#, r#""0 \u0001 é""#);
        check("\\u0000\\", "\\");
        check("", "");
    }
}
