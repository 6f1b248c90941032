//! The metadata filter: a JSON object over declared columns, checked and taken apart.
//!
//! ```text
//! {"lang": "en", "year": {"gte": 2020, "lt": 2024}, "team": ["a", "b"], "deleted": null}
//! ```
//!
//! All conditions must hold. Values stay values: they come out as text to be bound as
//! parameters and cast to the column's type, never as SQL.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorKind, Result};

/// What is asked of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Position of the column in the list of declared ones.
    pub column: usize,
    /// The test its value must pass.
    pub test: Test,
}

/// A test of a column's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// The value is NULL.
    Null,
    /// The value is not NULL.
    NotNull,
    /// The value is one of these; with `or_null`, or NULL.
    OneOf {
        /// The values that are allowed, as text.
        values: Vec<String>,
        /// Whether NULL will do too.
        or_null: bool,
    },
    /// The value stands so to this one.
    Compare(Comparison, String),
}

/// How a value stands to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `eq`, or a bare value.
    Equal,
    /// `ne`; NULL is different from any value.
    NotEqual,
    /// `lt`: it comes before the other.
    Less,
    /// `lte`: it comes before the other, or is equal.
    LessOrEqual,
    /// `gt`: it comes after the other.
    Greater,
    /// `gte`: it comes after the other, or is equal.
    GreaterOrEqual,
}

const OPERATORS: &str = "eq, ne, lt, lte, gt, gte, in";

/// Takes a filter apart.
///
/// `columns` are the names a condition may use. Errors name the column or operator that is
/// not known, and the known ones.
pub fn parse(filter: &Value, columns: &[&str]) -> Result<Vec<Condition>> {
    let Value::Object(conditions) = filter else {
        return Err(Error::invalid(format!("filter is not a JSON object: {filter}"))
            .hint("For instance {\"lang\": \"en\", \"year\": {\"gte\": 2020}}."));
    };
    let mut parsed = Vec::new();
    for (name, wanted) in conditions {
        let column = columns
            .iter()
            .position(|column| column == name)
            .ok_or_else(|| unknown_column(name, columns))?;
        for test in tests(name, wanted)? {
            parsed.push(Condition { column, test });
        }
    }
    Ok(parsed)
}

fn unknown_column(name: &str, columns: &[&str]) -> Error {
    let hint = match columns {
        [] => "The pipeline declares none; create it with metadata => ARRAY['...'].".to_owned(),
        _ => format!("Metadata columns: {}.", columns.join(", ")),
    };
    Error::new(ErrorKind::UndefinedObject, format!("filter names an unknown column \"{name}\""))
        .hint(hint)
}

fn tests(name: &str, wanted: &Value) -> Result<Vec<Test>> {
    match wanted {
        Value::Null => Ok(vec![Test::Null]),
        Value::Array(values) => Ok(vec![one_of(name, values)?]),
        Value::Object(operators) => compare_all(name, operators),
        value => Ok(vec![Test::Compare(Comparison::Equal, scalar(name, value)?)]),
    }
}

fn compare_all(name: &str, operators: &Map<String, Value>) -> Result<Vec<Test>> {
    if operators.is_empty() {
        return Err(Error::invalid(format!("filter on \"{name}\" has no operator"))
            .hint(format!("Known operators: {OPERATORS}.")));
    }
    operators.iter().map(|(operator, value)| compare(name, operator, value)).collect()
}

fn compare(name: &str, operator: &str, value: &Value) -> Result<Test> {
    let comparison = match (operator, value) {
        ("in", Value::Array(values)) => return one_of(name, values),
        ("eq", Value::Null) => return Ok(Test::Null),
        ("ne", Value::Null) => return Ok(Test::NotNull),
        ("eq", _) => Comparison::Equal,
        ("ne", _) => Comparison::NotEqual,
        ("lt", _) => Comparison::Less,
        ("lte", _) => Comparison::LessOrEqual,
        ("gt", _) => Comparison::Greater,
        ("gte", _) => Comparison::GreaterOrEqual,
        ("in", _) => {
            return Err(Error::invalid(format!(
                "filter {{\"{name}\": {{\"in\": {value}}}}} wants a list"
            )));
        }
        _ => {
            return Err(Error::invalid(format!(
                "filter on \"{name}\" has an unknown operator \"{operator}\""
            ))
            .hint(format!("Known operators: {OPERATORS}.")));
        }
    };
    Ok(Test::Compare(comparison, scalar(name, value)?))
}

fn one_of(name: &str, values: &[Value]) -> Result<Test> {
    let or_null = values.contains(&Value::Null);
    let values = values
        .iter()
        .filter(|value| !value.is_null())
        .map(|value| scalar(name, value))
        .collect::<Result<_>>()?;
    Ok(Test::OneOf { values, or_null })
}

fn scalar(name: &str, value: &Value) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        _ => Err(Error::invalid(format!("filter compares \"{name}\" with {value}"))
            .hint("Compare with a string, a number, true or false.")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(filter: Value, expected: &[(usize, Test)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(column, test)| Condition { column: *column, test: test.clone() })
            .collect();
        assert_eq!(parse(&filter, &["lang", "year"]).unwrap(), expected);
    }

    fn check_error(filter: Value, message: &str) {
        let error = parse(&filter, &["lang", "year"]).unwrap_err();
        assert!(error.message().contains(message), "{error} does not say {message}");
    }

    #[test]
    fn conditions() {
        use Comparison::*;
        check(json!({}), &[]);
        check(json!({"lang": "en"}), &[(0, Test::Compare(Equal, "en".into()))]);
        check(json!({"year": 2020}), &[(1, Test::Compare(Equal, "2020".into()))]);
        check(json!({"lang": null}), &[(0, Test::Null)]);
        check(json!({"lang": {"ne": null}}), &[(0, Test::NotNull)]);
        check(
            json!({"lang": ["en", null]}),
            &[(0, Test::OneOf { values: vec!["en".into()], or_null: true })],
        );
        check(json!({"lang": []}), &[(0, Test::OneOf { values: vec![], or_null: false })]);
        check(
            json!({"year": {"gte": 2020, "lt": 2024.5}}),
            &[
                (1, Test::Compare(GreaterOrEqual, "2020".into())),
                (1, Test::Compare(Less, "2024.5".into())),
            ],
        );
    }

    #[test]
    fn what_cannot_be_understood_is_named() {
        check_error(json!([1]), "not a JSON object");
        check_error(json!({"colour": 1}), "unknown column \"colour\"");
        check_error(json!({"year": {"like": 1}}), "unknown operator \"like\"");
        check_error(json!({"year": {"gt": [1]}}), "compares \"year\"");
        check_error(json!({"year": {"in": 3}}), "wants a list");
        check_error(json!({"year": {}}), "no operator");
    }
}
