//! What is asked of one column: a bare value, a list, or an object of operators.

use serde_json::{Map, Value};

use super::near_integer::NearInteger;
use super::{ColumnTest, Comparison, Condition, MetadataKind, Test};
use crate::error::{Error, Result};
use crate::exact;

/// The key under which a value is asked about, and what such values are.
#[derive(Clone, Copy)]
struct Asked<'a> {
    key: &'a str,
    kind: MetadataKind,
}

/// What `wanted` asks of the values under `key`; the column is still to be filled in.
pub fn tests_of(key: &str, kind: MetadataKind, wanted: &Value) -> Result<Vec<Condition>> {
    let asked = Asked { key, kind };
    match wanted {
        Value::Null => Ok(vec![test(Test::Null)]),
        Value::Array(values) => Ok(vec![asked.one_of(values)?]),
        Value::Object(operators) if operators.is_empty() => {
            Err(Error::invalid(format!("filter on \"{key}\" has no operator")).hint(asked.known()))
        }
        Value::Object(operators) => asked.all(operators),
        value => Ok(vec![asked.is(value)?]),
    }
}

fn test(test: Test) -> Condition {
    Condition::Column(ColumnTest { column: 0, path: Vec::new(), test })
}

fn not(condition: Condition) -> Condition {
    Condition::Not(Box::new(condition))
}

/// A comparison of integers with a number.
fn of_integers(comparison: Comparison, near: NearInteger) -> Condition {
    match near.compared(comparison) {
        Some((comparison, value)) => test(Test::Compare(comparison, value.to_string())),
        None if comparison == Comparison::NotEqual => Condition::All(Vec::new()),
        None => Condition::Any(Vec::new()),
    }
}

impl Asked<'_> {
    fn all(self, operators: &Map<String, Value>) -> Result<Vec<Condition>> {
        operators.iter().map(|(operator, value)| self.operator(operator, value)).collect()
    }

    fn operator(self, written: &str, value: &Value) -> Result<Condition> {
        use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        match (written.strip_prefix('$').unwrap_or(written), value) {
            ("eq", Value::Null) => Ok(test(Test::Null)),
            ("ne", Value::Null) => Ok(test(Test::NotNull)),
            ("eq", _) => self.compare(Equal, value),
            ("ne", _) => self.compare(NotEqual, value),
            ("lt", _) => self.compare(Less, value),
            ("lte", _) => self.compare(LessOrEqual, value),
            ("gt", _) => self.compare(Greater, value),
            ("gte", _) => self.compare(GreaterOrEqual, value),
            ("between", _) => self.between(value),
            ("in", _) => self.one_of(self.list(written, value)?),
            ("nin", _) => Ok(not(self.one_of(self.list(written, value)?)?)),
            ("like", _) => self.like(written, value, false),
            ("ilike", _) => self.like(written, value, true),
            ("contains", _) => self.contains(written, value),
            ("any", _) if self.contains_values() => self.one_with(self.list(written, value)?),
            ("any", _) => Err(self.unfit(written)),
            _ => Err(Error::invalid(format!(
                "filter on \"{}\" has an unknown operator \"{written}\"",
                self.key
            ))
            .hint(self.unknown(written))),
        }
    }

    /// A bare value: what is equal to it, or has it among its elements.
    fn is(self, value: &Value) -> Result<Condition> {
        match self.is_array() {
            true => self.contains("contains", value),
            false => self.compare(Comparison::Equal, value),
        }
    }

    /// A bare list: what is equal to one of the values, or has one of them among its elements.
    fn one_of(self, values: &[Value]) -> Result<Condition> {
        if self.is_array() {
            return self.one_with(values);
        }
        let or_null = values.contains(&Value::Null);
        let is_possible = |value: &&Value| {
            !value.is_null() && !matches!(self.near_integer(value), Some(NearInteger::Above(_)))
        };
        let values = values.iter().filter(is_possible);
        let values = values.map(|value| self.written(value)).collect::<Result<_>>()?;
        Ok(test(Test::OneOf { values, or_null }))
    }

    fn compare(self, comparison: Comparison, value: &Value) -> Result<Condition> {
        let by_order = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if by_order && self.kind == MetadataKind::Json && !value.is_number() && !value.is_string() {
            return Err(self.misfit(value, "Compare with a string or a number."));
        }
        if self.kind == MetadataKind::Integer
            && let Some(near) = self.near_integer(value)
        {
            return Ok(of_integers(comparison, near));
        }
        let value = match (self.is_array(), value) {
            (true, Value::Array(elements)) => self.array(elements)?,
            (true, _) => {
                return Err(self.misfit(value, "Compare with a list, or use contains."));
            }
            _ => self.written(value)?,
        };
        Ok(test(Test::Compare(comparison, value)))
    }

    fn between(self, value: &Value) -> Result<Condition> {
        let Some([least, most]) = value.as_array().map(Vec::as_slice) else {
            return Err(Error::invalid(format!(
                "filter {{\"{}\": {{\"between\": {}}}}} wants a list of two values",
                self.key,
                exact::written(value)
            ))
            .hint("The least and the greatest, as in [2020, 2024]; both are within."));
        };
        Ok(Condition::All(vec![
            self.compare(Comparison::GreaterOrEqual, least)?,
            self.compare(Comparison::LessOrEqual, most)?,
        ]))
    }

    fn like(self, written: &str, value: &Value, ignores_case: bool) -> Result<Condition> {
        if !matches!(self.kind, MetadataKind::Text | MetadataKind::Json) {
            return Err(self.unfit(written));
        }
        let pattern =
            exact::text(value).ok_or_else(|| self.misfit(value, "A pattern is a string."))?;
        let ends = pattern.len() - pattern.trim_end_matches('\\').len();
        if ends % 2 == 1 {
            return Err(
                self.misfit(value, "A backslash stands before the character that it escapes.")
            );
        }
        Ok(test(Test::Like { pattern: pattern.to_owned(), ignores_case }))
    }

    fn contains(self, written: &str, value: &Value) -> Result<Condition> {
        match value {
            _ if self.kind == MetadataKind::Json => Ok(test(Test::Contains(exact::written(value)))),
            _ if !self.is_array() => Err(self.unfit(written)),
            Value::Array(elements) => Ok(test(Test::Contains(self.array(elements)?))),
            element => Ok(test(Test::Contains(self.array(std::slice::from_ref(element))?))),
        }
    }

    /// What has at least one of these among its elements. An array that is NULL is one of a list with null.
    fn one_with(self, elements: &[Value]) -> Result<Condition> {
        if self.is_array() {
            let values: Vec<&Value> = elements.iter().filter(|it| !it.is_null()).collect();
            let overlaps = test(Test::Overlaps(self.array(values.iter().copied())?));
            return Ok(match values.len() == elements.len() {
                true => overlaps,
                false => Condition::Any(vec![test(Test::Null), overlaps]),
            });
        }
        let contain = elements.iter().map(|element| test(Test::Contains(exact::written(element))));
        Ok(Condition::Any(contain.collect()))
    }

    fn contains_values(self) -> bool {
        self.is_array() || self.kind == MetadataKind::Json
    }

    fn is_array(self) -> bool {
        matches!(self.kind, MetadataKind::Array | MetadataKind::Integers)
    }

    /// Where a number lies among the integers, if these are what it is compared with.
    fn near_integer(self, value: &Value) -> Option<NearInteger> {
        let of_integers = matches!(self.kind, MetadataKind::Integer | MetadataKind::Integers);
        exact::number(value).filter(|_| of_integers).and_then(|number| NearInteger::of(&number))
    }

    fn list<'a>(self, written: &str, value: &'a Value) -> Result<&'a [Value]> {
        let list = value.as_array().map(Vec::as_slice);
        list.ok_or_else(|| {
            Error::invalid(format!(
                "filter {{\"{}\": {{\"{written}\": {}}}}} wants a list",
                self.key,
                exact::written(value)
            ))
        })
    }

    /// A value as text that PostgreSQL reads as the column's type.
    fn written(self, value: &Value) -> Result<String> {
        if self.kind == MetadataKind::Json {
            return Ok(exact::written(value));
        }
        if let Some(NearInteger::Whole(whole)) = self.near_integer(value) {
            return Ok(whole.to_string());
        }
        if let Some(number) = exact::number(value) {
            return Ok(number);
        }
        match value {
            Value::String(text) => Ok(text.clone()),
            Value::Bool(truth) => Ok(truth.to_string()),
            _ => Err(self.misfit(value, "Compare with a string, a number, true or false.")),
        }
    }

    /// An array literal.
    fn array<'a>(self, elements: impl IntoIterator<Item = &'a Value>) -> Result<String> {
        let element = |value: &Value| {
            let text = self.written(value)?;
            Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
        };
        let elements = elements.into_iter().map(element).collect::<Result<Vec<_>>>()?;
        Ok(format!("{{{}}}", elements.join(",")))
    }

    fn misfit(self, value: &Value, hint: &str) -> Error {
        let value = exact::written(value);
        Error::invalid(format!("filter compares \"{}\" with {value}", self.key)).hint(hint)
    }

    fn unfit(self, written: &str) -> Error {
        let kinds = match written.strip_prefix('$').unwrap_or(written) {
            "like" | "ilike" => "text",
            _ => "arrays and JSON",
        };
        let message =
            format!("filter on \"{}\": operator \"{written}\" applies to {kinds} only", self.key);
        Error::invalid(message).hint(self.known())
    }

    /// The hint about an operator that there is not. Of JSON it may be meant as a key.
    fn unknown(self, written: &str) -> String {
        let known = self.known();
        match self.kind {
            MetadataKind::Json => {
                let key = self.key;
                format!(
                    "A value inside is called \"{key}.{written}\", and contains compares with a part. {known}"
                )
            }
            _ => known,
        }
    }

    fn known(self) -> String {
        let more = match self.kind {
            MetadataKind::Scalar | MetadataKind::Integer => "",
            MetadataKind::Text => ", like, ilike",
            MetadataKind::Array | MetadataKind::Integers => ", contains, any",
            MetadataKind::Json => ", like, ilike, contains, any",
        };
        format!("Operators: eq, ne, lt, lte, gt, gte, between, in, nin{more}.")
    }
}
