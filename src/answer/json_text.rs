//! # json_text: where do the values of a JSON text stand?
//!
//! ```text
//! {"city": "Cologne", "rooms": 2} → "Cologne" under "city" at 9-18, 2 under "rooms" at 29-30
//! ```
//!
//! What is changed is the text itself: read into values and written again it would have its keys in another
//! order and its numbers in another notation.

use std::ops::Range;

use crate::exact::end_of_text;

/// A string, a number, true, false or null of a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonScalar {
    /// Bytes of the text, with the quotation marks of a string.
    pub range: Range<usize>,
    /// The key under which it stands, itself or the array around it; empty where there is none.
    pub key: String,
    /// What a string says; `None` for anything else.
    pub said: Option<String>,
}

/// The values of `json`, a JSON text, that hold no others, in their order.
#[must_use]
pub fn scalars(json: &str) -> Vec<JsonScalar> {
    let mut found = Vec::new();
    // The key that is in force in each object and array that is open.
    let mut keys: Vec<String> = vec![String::new()];
    for JsonToken { kind, range } in tokens(json) {
        let key = keys.last().cloned().unwrap_or_default();
        match kind {
            TokenKind::Open => keys.push(key),
            TokenKind::Close => drop(keys.pop()),
            TokenKind::Key => {
                if let Some(last) = keys.last_mut() {
                    *last = string(&json[range]).unwrap_or_default();
                }
            }
            TokenKind::Scalar => {
                let said = string(&json[range.clone()]);
                found.push(JsonScalar { range, key, said });
            }
        }
    }
    found
}

/// The text of the member `name` of `json`, which should be an object; the last one where there are several.
#[must_use]
pub fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let mut found = None;
    let (mut depth, mut start) = (0, None);
    for JsonToken { kind, range } in tokens(json) {
        let is_closed = match kind {
            TokenKind::Key if depth == 1 => {
                let is_it = string(&json[range.clone()]).is_some_and(|key| key == name);
                start = is_it.then_some(None);
                continue;
            }
            TokenKind::Open => {
                depth += 1;
                false
            }
            TokenKind::Close => {
                depth -= 1;
                depth == 1
            }
            TokenKind::Scalar => depth == 1,
            TokenKind::Key => false,
        };
        let Some(begun) = &mut start else { continue };
        let from = *begun.get_or_insert(range.start);
        if is_closed {
            found = Some(&json[from..range.end]);
            start = None;
        }
    }
    found
}

/// What a string says as JSON writes it; `None` where `json` is no string.
fn string(json: &str) -> Option<String> {
    json.starts_with('"').then(|| serde_json::from_str(json).ok())?
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    Open,
    Close,
    Key,
    Scalar,
}

struct JsonToken {
    kind: TokenKind,
    range: Range<usize>,
}

/// The tokens of `json`, without commas and colons. Of what is no JSON, something.
fn tokens(json: &str) -> impl Iterator<Item = JsonToken> {
    let bytes = json.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let is_between = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b':');
        at += bytes[at..].iter().take_while(|byte| is_between(byte)).count();
        let start = at;
        let kind = match bytes.get(start)? {
            b'{' | b'[' => TokenKind::Open,
            b'}' | b']' => TokenKind::Close,
            b'"' => {
                at = end_of_text(bytes, start);
                let follows = bytes[at..].iter().find(|byte| !byte.is_ascii_whitespace());
                let is_key = follows == Some(&b':');
                let kind = if is_key { TokenKind::Key } else { TokenKind::Scalar };
                return Some(JsonToken { kind, range: start..at });
            }
            _ => {
                let ends = |byte: &u8| is_between(byte) || b"{}[]\"".contains(byte);
                at += bytes[at..].iter().take_while(|byte| !ends(byte)).count();
                return Some(JsonToken { kind: TokenKind::Scalar, range: start..at });
            }
        };
        at += 1;
        Some(JsonToken { kind, range: start..at })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn check(json: &str, expected: &[(&str, &str)]) {
        let found = scalars(json);
        let found: Vec<(&str, &str)> =
            found.iter().map(|it| (it.key.as_str(), &json[it.range.clone()])).collect();
        assert_eq!(found, expected, "{json}");
    }

    #[test]
    fn values_have_the_key_around_them() {
        check(
            r#"{"a": 1, "b": ["x", {"c" : null}, true]}"#,
            &[("a", "1"), ("b", "\"x\""), ("c", "null"), ("b", "true")],
        );
        check(r#"  "a \" } [1]"  "#, &[("", "\"a \\\" } [1]\"")]);
        check("[-1.5e3,\"\"]", &[("", "-1.5e3"), ("", "\"\"")]);
        check("{}", &[]);
        assert_eq!(scalars(r#"["\u00e9\n"]"#)[0].said.as_deref(), Some("é\n"));
        assert_eq!(scalars("[2]")[0].said, None);
    }

    #[test]
    fn members_are_found_as_they_are_written() {
        let json = r#"{"a": {"b": [1, {"b": 2}]}, "b" :[ 1.50, "}" ], "c": null, "d": "x"}"#;
        for (name, expected) in [
            ("a", Some(r#"{"b": [1, {"b": 2}]}"#)),
            ("b", Some(r#"[ 1.50, "}" ]"#)),
            ("c", Some("null")),
            ("d", Some("\"x\"")),
            ("e", None),
        ] {
            assert_eq!(member(json, name), expected, "{name}");
        }
        assert_eq!(member(r#"{"a": 1, "a": [2]}"#, "a"), Some("[2]"));
        assert_eq!(member("[1]", "a"), None);
        assert_eq!(member("\"a\"", "a"), None);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "\\PC{0,6}".prop_map(Value::from),
            "[\"\\\\{}\\[\\]:, ]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-c\"\\\\:]{0,2}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn leaves(value: &Value) -> Vec<Value> {
        match value {
            Value::Array(items) => items.iter().flat_map(leaves).collect(),
            Value::Object(members) => members.values().flat_map(leaves).collect(),
            other => vec![other.clone()],
        }
    }

    proptest! {
        #[test]
        fn all_values_are_found(value in values(), is_pretty: bool) {
            let json = match is_pretty {
                true => serde_json::to_string_pretty(&value).unwrap(),
                false => value.to_string(),
            };
            let read = |it: JsonScalar| serde_json::from_str::<Value>(&json[it.range]).unwrap();
            let found: Vec<Value> = scalars(&json).into_iter().map(read).collect();
            prop_assert_eq!(found, leaves(&value));
            if let Value::Object(members) = &value {
                for (name, expected) in members {
                    let found = member(&json, name).expect("a member");
                    prop_assert_eq!(&serde_json::from_str::<Value>(found).unwrap(), expected);
                }
            }
        }

        #[test]
        fn any_text_is_read(text in "\\PC{0,20}") {
            prop_assert!(scalars(&text).len() <= text.len());
            prop_assert!(member(&text, "a").is_none_or(|found| text.contains(found)));
        }
    }
}
