//! Would PostgreSQL take this value for a column of that type?
//!
//! A filter that the caller writes is cast by PostgreSQL, whose error says what is wrong with it.
//! One that a language model writes must not end the caller's statement, so its values are
//! looked at before: only what every server takes, whatever its settings, passes.

use serde_json::Value;

use super::filter::{ColumnTest, Condition, MetadataColumn, MetadataKind, parse};
use crate::error::{Error, Result};

/// What values of a type look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    /// Any text.
    Text,
    /// Digits, of so many bytes at most.
    Integer(u32),
    /// A number, with at most so many digits before the point.
    Number(u32),
    /// A truth value, `true` or `false`.
    Boolean,
    /// A date, such as 2024-12-31.
    Date,
    /// A date, perhaps with a time.
    Timestamp,
    /// A UUID.
    Uuid,
}

/// Whether values of a type, named as in SQL, can be checked.
#[must_use]
pub fn is_checked(sql_type: &str) -> bool {
    kind(sql_type).is_some()
}

fn kind(sql_type: &str) -> Option<ValueKind> {
    let (name, arguments) = match sql_type.split_once('(') {
        Some((name, rest)) => (name, rest.split_once(')')?.0),
        None => (sql_type, ""),
    };
    Some(match name.trim() {
        _ if sql_type.ends_with(']') => return None,
        "text" | "character varying" | "character" | "name" => ValueKind::Text,
        "smallint" => ValueKind::Integer(2),
        "integer" => ValueKind::Integer(4),
        "bigint" => ValueKind::Integer(8),
        "numeric" => ValueKind::Number(digits(arguments)?),
        "real" => ValueKind::Number(30),
        "double precision" => ValueKind::Number(100),
        "boolean" => ValueKind::Boolean,
        "date" => ValueKind::Date,
        "timestamp" | "timestamp without time zone" | "timestamp with time zone" => {
            ValueKind::Timestamp
        }
        "uuid" => ValueKind::Uuid,
        _ => return None,
    })
}

/// Digits before the point of `numeric(precision, scale)`.
fn digits(arguments: &str) -> Option<u32> {
    if arguments.is_empty() {
        return Some(100);
    }
    let (precision, scale) = arguments.split_once(',').unwrap_or((arguments, "0"));
    let (precision, scale): (i64, i64) =
        (precision.trim().parse().ok()?, scale.trim().parse().ok()?);
    u32::try_from(precision - scale).ok()
}

/// An error where `filter` cannot be taken apart, or names a value that does not fit its column. `columns` are names
/// and types, as in SQL.
pub fn check_filter(filter: &Value, columns: &[(String, String)]) -> Result<()> {
    let named = columns.iter().map(|(name, sql_type)| MetadataColumn {
        name: name.clone(),
        kind: match kind(sql_type) {
            Some(ValueKind::Text) => MetadataKind::Text,
            Some(ValueKind::Integer(_)) => MetadataKind::Integer,
            _ => MetadataKind::Scalar,
        },
    });
    check(&parse(filter, &named.collect::<Vec<_>>())?, columns)
}

/// An error that names the first value that does not fit its column. `columns` are names and
/// types, in the order that the condition means.
fn check(condition: &Condition, columns: &[(String, String)]) -> Result<()> {
    for ColumnTest { column, test, .. } in condition.column_tests() {
        let Some((name, sql_type)) = columns.get(*column) else { continue };
        let kind = kind(sql_type).ok_or_else(|| {
            Error::invalid(format!("\"{name}\" of type {sql_type} cannot be filtered by"))
        })?;
        if let Some(value) = test.values().iter().find(|value| !fits(value, kind)) {
            let shown: String = value.chars().take(80).collect();
            return Err(Error::invalid(format!(
                "\"{shown}\" is no {sql_type}, the type of \"{name}\""
            )));
        }
    }
    Ok(())
}

fn fits(value: &str, kind: ValueKind) -> bool {
    match kind {
        ValueKind::Text => !value.contains('\0'),
        ValueKind::Integer(2) => value.parse::<i16>().is_ok(),
        ValueKind::Integer(4) => value.parse::<i32>().is_ok(),
        ValueKind::Integer(_) => value.parse::<i64>().is_ok(),
        ValueKind::Number(digits) => is_number(value, digits),
        ValueKind::Boolean => ["true", "false"].contains(&value),
        ValueKind::Date => is_date(value),
        ValueKind::Timestamp => match value.split_once(['T', ' ']) {
            Some((date, time)) => is_date(date) && is_time(time),
            None => is_date(value),
        },
        ValueKind::Uuid => is_uuid(value),
    }
}

/// Digits, with a sign, a point and an exponent perhaps.
fn is_number(value: &str, digits: u32) -> bool {
    let plain =
        value.len() <= 40 && value.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    let parsed = value.parse::<f64>().ok().filter(|_| plain);
    // One digit less is left for what rounding adds.
    parsed.is_some_and(|number| number == 0.0 || number.abs() < 10_f64.powi(digits as i32) - 0.5)
}

/// Whether it is a date, such as `2024-12-31`.
fn is_date(value: &str) -> bool {
    let Some([year, month, day]) = numbers(value, '-', [4, 2, 2]) else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    year > 0 && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// `23:59`, `23:59:59`, with a fraction, `Z` or an offset in hours and minutes perhaps.
fn is_time(value: &str) -> bool {
    let (time, zone) = match value.find(['Z', '+', '-']) {
        Some(at) => value.split_at(at),
        None => (value, "Z"),
    };
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let time = format!("{time}{}", if time.len() == 5 { ":00" } else { "" });
    let zone = zone.trim_start_matches(['Z', '+', '-']);
    let zone = format!("{zone}{}", if zone.len() == 2 { ":00" } else { "" });
    let in_zone = |[hours, minutes]: [u32; 2]| hours <= 14 && minutes < 60;
    let in_day = |[hours, minutes, seconds]: [u32; 3]| hours < 24 && minutes < 60 && seconds < 60;
    numbers(&time, ':', [2, 2, 2]).is_some_and(in_day)
        && (1..=6).contains(&fraction.len())
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && (zone.is_empty() || numbers(&zone, ':', [2, 2]).is_some_and(in_zone))
}

/// Numbers of so many digits, with a sign between them.
fn numbers<const N: usize>(text: &str, sign: char, lengths: [usize; N]) -> Option<[u32; N]> {
    let parts: Vec<&str> = text.split(sign).collect();
    let mut numbers = [0; N];
    if parts.len() != N {
        return None;
    }
    for ((part, length), number) in parts.iter().zip(lengths).zip(&mut numbers) {
        if part.len() != length || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    Some(numbers)
}

fn is_uuid(value: &str) -> bool {
    let lengths = value.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && value.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn is_taken(sql_type: &str, value: &Value) -> bool {
        let columns = [("c".to_owned(), sql_type.to_owned())];
        super::check_filter(&json!({ "c": value }), &columns).is_ok()
    }

    fn all(sql_type: &str, taken: &[&str], refused: &[&str]) {
        for value in taken {
            assert!(is_taken(sql_type, &json!(value)), "{value} is a {sql_type}");
        }
        for value in refused {
            assert!(!is_taken(sql_type, &json!(value)), "{value} is no {sql_type}");
        }
    }

    #[test]
    fn values_fit_their_types() {
        all("text", &["", "x'; DROP TABLE docs; --"], &["a\0b"]);
        all("character varying(3)", &["abcdef"], &[]);
        all("smallint", &["-32768"], &["32768", "", "1.0", "one"]);
        all("integer", &["2021"], &["2147483648", "2021 OR true", "20.5"]);
        all("bigint", &["2147483648"], &["9223372036854775808"]);
        all("numeric", &["1.5", "-2e3"], &["NaN", "inf", "1.5.", "e", "--1"]);
        all("numeric(5,2)", &["999.4", "0"], &["1000", "99999"]);
        all("double precision", &["1e50"], &["1e200"]);
        all("boolean", &["true", "false"], &["yes", "1", "TRUE "]);
        all(
            "date",
            &["2024-02-29", "0001-01-01"],
            &["2023-02-29", "2024-13-01", "2024-1-1", "now", "0000-01-01", "2024-04-31"],
        );
        all(
            "timestamp with time zone",
            &[
                "2024-02-29",
                "2024-02-29T23:59",
                "2024-02-29 23:59:59.5",
                "2024-02-29T23:59:59Z",
                "2024-02-29T00:00:00+05:30",
                "2024-02-29T00:00-08",
            ],
            &[
                "2024-02-30T00:00",
                "2024-02-29T24:00",
                "2024-02-29T1:00",
                "2024-02-29T00:00+99",
                "2024-02-29T00:00:00 CET",
                "2024-02-29T",
            ],
        );
        all("timestamp(3) without time zone", &["2024-02-29T23:59"], &["today"]);
        all(
            "uuid",
            &["00000000-0000-4000-8000-00000000000a"],
            &["00000000", "g0000000-0000-4000-8000-00000000000a"],
        );
        all("text[]", &[], &["{}"]);
        all("jsonb", &[], &["{}"]);
    }

    #[test]
    fn all_values_of_a_condition_are_looked_at() {
        assert!(is_taken("integer", &json!([1, 2, null])));
        assert!(!is_taken("integer", &json!([1, "two"])));
        assert!(is_taken("integer", &json!(null)));
        assert!(is_taken("integer", &json!({"gte": 1.5, "ne": 2.0})));
        assert!(!is_taken("integer", &json!({"gte": 1, "lt": "x"})));
        let columns = [("year".to_owned(), "integer".to_owned())];
        let error = super::check_filter(&json!({"year": "x"}), &columns).unwrap_err();
        assert_eq!(error.message(), "\"x\" is no integer, the type of \"year\"");
    }
}
