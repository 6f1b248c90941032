//! Characters that are half there.
//!
//! JSON writes a character such as an emoji in two escapes, a surrogate pair. Where a language model stops between the two, or a
//! stream parts them, one of them comes alone. It is no character, and no reader takes JSON that has it; what stands
//! around it is an answer.

use std::borrow::Cow;

use super::call::HttpReply;

/// Bytes of an escape.
const LENGTH: usize = "\\u0000".len();

/// The escape of the character that stands for one that cannot be read, U+FFFD.
const UNREADABLE: &str = "\\ufffd";

/// The JSON with U+FFFD in the place of each half of a surrogate pair that is alone.
pub fn mended(json: &str) -> Cow<'_, str> {
    let (mut new, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = json[at..].find('\\') {
        let here = at + found;
        at = match unit(json, here) {
            Some(0xd800..=0xdbff) if matches!(unit(json, here + LENGTH), Some(0xdc00..=0xdfff)) => {
                here + 2 * LENGTH
            }
            Some(0xd800..=0xdfff) => {
                new += &json[copied..here];
                new += UNREADABLE;
                copied = here + LENGTH;
                copied
            }
            Some(_) => here + LENGTH,
            // Another escape: what is escaped begins none.
            None => here + 1 + json[here + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    new += &json[copied..];
    Cow::Owned(new)
}

/// The UTF-16 code unit that is escaped at a byte.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + LENGTH)?.strip_prefix("\\u")?;
    let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if are_digits { u16::from_str_radix(digits, 16).ok() } else { None }
}

/// The reply with such a body, if it is a text.
pub fn mended_reply(mut reply: HttpReply) -> HttpReply {
    let mended = match std::str::from_utf8(&reply.body).map(mended) {
        Ok(Cow::Owned(mended)) => Some(mended),
        _ => None,
    };
    if let Some(mended) = mended {
        reply.body = mended.into_bytes();
    }
    reply
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn half_a_pair_is_one_unreadable_character() {
        let check = |json: &str, expected: &str| assert_eq!(mended(json), expected, "{json}");
        check(r#"{"a": "Hi \ud83d"}"#, r#"{"a": "Hi \ufffd"}"#);
        check(r#"{"a": "\uDE00 Hi"}"#, r#"{"a": "\ufffd Hi"}"#);
        check(r#"["\ud83d\ud83d\ude00\ude00"]"#, r#"["\ufffd\ud83d\ude00\ufffd"]"#);
        check(r#"["\ud83dx", "\ud83d\n"]"#, r#"["\ufffdx", "\ufffd\n"]"#);
        // What is whole, and what is no escape.
        for json in [
            r#"{"a": "\ud83d\ude00 \u00e9 \n \" é"}"#,
            r#"["\\ud83d"]"#,
            r#"["\u+83d", "\ud8"#,
            "\\",
            "\\é",
            "\\u",
            "",
        ] {
            check(json, json);
        }
    }

    proptest! {
        #[test]
        fn whatever_is_escaped_is_read(units in prop::collection::vec(prop::sample::select(vec![
            "\\ud83d", "\\ude00", "\\u0041", "\\\\", "\\n", "x", "é",
        ]), 0..12)) {
            let json = format!("\"{}\"", units.concat());
            let mended = mended(&json);
            prop_assert!(serde_json::from_str::<Value>(&mended).is_ok(), "{}", mended);
            // What could be read before is as it was.
            if serde_json::from_str::<Value>(&json).is_ok() {
                prop_assert_eq!(&*mended, &json);
            }
        }
    }
}
