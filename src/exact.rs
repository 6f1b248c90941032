//! # exact: which number does this JSON say, digit by digit?
//!
//! ```text
//! JSON → value whose numbers have all their digits │ such a value → JSON
//! ```
//!
//! A program's numbers have 17 digits and no scale: they make 12345678901234568 of 12345678901234567.89, and 1.5 of
//! 1.50. A column of the type numeric has the difference, and a comparison with the other number finds another row. So
//! where JSON holds values of columns, a number that a program would change is read as a text that begins with the
//! character 0, which no text of PostgreSQL has. All else is as serde_json reads it: its own way to keep digits, the
//! feature `arbitrary_precision`, changes what every number of the crate and of its dependencies is.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// What a number that is kept as text begins with.
const MARK: char = '\0';

/// How JSON begins such a text.
const WRITTEN_MARK: &str = "\"\\u0000";

/// Reads JSON with all digits of its numbers.
pub fn read(json: &str) -> serde_json::Result<Value> {
    serde_json::from_str(&marked(json))
}

/// The JSON with a text in place of each number that a program would change, for a reader of one's own.
#[must_use]
pub fn marked(json: &str) -> Cow<'_, str> {
    rewritten(json, |token| {
        let is_kept = token.parse::<Number>().is_ok_and(|number| number.to_string() == token);
        (is_number(token) && !is_kept).then(|| format!("{WRITTEN_MARK}{token}\""))
    })
}

/// The value as JSON, with the digits of its numbers.
#[must_use]
pub fn written(value: &Value) -> String {
    let json = value.to_string();
    if !json.contains(WRITTEN_MARK) {
        return json;
    }
    unmarked(&json).into_owned()
}

/// The JSON with the numbers in it again for which [`marked`] has put texts, for a writer of one's own.
#[must_use]
pub fn unmarked(json: &str) -> Cow<'_, str> {
    rewritten(json, |token| {
        let digits = token.strip_prefix(WRITTEN_MARK)?.strip_suffix('"')?;
        is_number(digits).then(|| digits.to_owned())
    })
}

/// The number that a value is, as it was written.
#[must_use]
pub fn number(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => digits(text).map(str::to_owned),
        _ => None,
    }
}

/// The text that a value is, and not a number.
#[must_use]
pub fn text(value: &Value) -> Option<&str> {
    value.as_str().filter(|text| digits(text).is_none())
}

/// The number of these digits.
#[must_use]
pub fn of_digits(digits: &str) -> Value {
    Value::String(format!("{MARK}{digits}"))
}

/// The value, a number as a program has it. One that is beyond those of a program stays as it is.
#[must_use]
pub fn rounded(value: &Value) -> Value {
    let digits = value.as_str().and_then(digits);
    match digits.and_then(|digits| digits.parse::<Number>().ok()) {
        Some(number) => Value::Number(number),
        None => value.clone(),
    }
}

fn digits(text: &str) -> Option<&str> {
    text.strip_prefix(MARK).filter(|digits| is_number(digits))
}

/// Whether a text is a number of JSON.
fn is_number(text: &str) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
        }
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    is_digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(is_digits)
        && exponent.is_none_or(is_digits)
}

/// The JSON with what `change` makes of its texts and numbers, each as it is written.
fn rewritten(json: &str, change: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let (mut new, mut copied, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        let end = match bytes[at] {
            b'"' => end_of_text(bytes, at),
            b'-' | b'0'..=b'9' => end_of_number(bytes, at),
            _ => {
                at += 1;
                continue;
            }
        };
        if let Some(changed) = change(&json[at..end]) {
            new.push_str(&json[copied..at]);
            new.push_str(&changed);
            copied = end;
        }
        at = end;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    new.push_str(&json[copied..]);
    Cow::Owned(new)
}

/// One past the quotation mark that ends the text of JSON which begins at `at`, or the end of what is not whole.
#[must_use]
pub fn end_of_text(bytes: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of_number(bytes: &[u8], at: usize) -> usize {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
    at + bytes[at..].iter().take_while(|byte| is_of_number(byte)).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(json: &str, expected: Value) {
        let value = read(json).unwrap();
        assert_eq!(value, expected, "{json}");
        assert_eq!(written(&value), json, "it is written as it was read");
        assert_eq!(unmarked(&marked(json)), json, "a mark is taken away where it was put");
    }

    #[test]
    fn numbers_keep_their_digits() {
        let exact = of_digits;
        check("12345678901234567.89", exact("12345678901234567.89"));
        check("12345678901234567890123", exact("12345678901234567890123"));
        check("[1.50,-0.10,1e400]", json!([exact("1.50"), exact("-0.10"), exact("1e400")]));
        check(
            "[1,-2,1.5,0.1,9223372036854775807]",
            json!([1, -2, 1.5, 0.1, 9223372036854775807i64]),
        );
        check("[18446744073709551615]", json!([18446744073709551615u64]));
        check(r#"{"a":{"b":[true,null,1.10]}}"#, json!({"a": {"b": [true, null, exact("1.10")]}}));
    }

    #[test]
    fn texts_are_no_numbers() {
        check(r#""1.50""#, json!("1.50"));
        check(r#"["a \" 1.50, \\","ü 2.50"]"#, json!(["a \" 1.50, \\", "ü 2.50"]));
        check(r#"{"1.50":2}"#, json!({"1.50": 2}));
        check(r#"["\u0000","\u0000x","\u000001"]"#, json!(["\0", "\0x", "\x0001"]));
    }

    #[test]
    fn what_is_no_json_stays_none() {
        for json in ["01.50", "1.50.2", "--1", "1.", ".50", "1.50e", "[1.50", "\"1.50", "\"\\", ""]
        {
            assert!(read(json).is_err(), "{json:?}");
        }
    }

    #[test]
    fn values_are_numbers_or_texts() {
        let exact = of_digits("1.50");
        assert_eq!((number(&exact), text(&exact)), (Some("1.50".to_owned()), None));
        assert_eq!((number(&json!(7)), text(&json!(7))), (Some("7".to_owned()), None));
        assert_eq!((number(&json!("7")), text(&json!("7"))), (None, Some("7")));
        assert_eq!((rounded(&exact), rounded(&json!("1.50"))), (json!(1.5), json!("1.50")));
        assert_eq!(rounded(&of_digits("1e400")), of_digits("1e400"));
    }
}
