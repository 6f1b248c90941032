//! The metadata filter: a JSON object over declared columns, checked and taken apart.
//!
//! ```text
//! {"lang": "en", "year": {"between": [2020, 2023]}, "tags": ["a", "b"], "attributes.size": {"ne": "L"},
//!  "or": [{"deleted": null}, {"not": {"owner": {"ilike": "ada%"}}}]}
//! ```
//!
//! All conditions of an object must hold. Values stay values: they come out as text to be bound as
//! parameters and cast to the column's type, never as SQL.

mod near_integer;
mod operator;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::operator::tests_of;
use crate::error::{Error, ErrorKind, Result};
use crate::exact;

/// How deep conditions may stand in others.
const MAX_DEPTH: usize = 32;

/// How many tests of columns a filter may have: the planner compares each with all others, and takes gigabytes for some
/// ten thousand.
const MOST_TESTS: usize = 1000;

/// A column that a filter may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataColumn {
    /// The name by which it is asked for.
    pub name: String,
    /// What its values are, as far as that decides how they are asked about.
    pub kind: MetadataKind,
}

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// Single values that are no text: numbers, dates, truth values and the like.
    Scalar,
    /// Integers, which are also compared with numbers that lie between two of them.
    Integer,
    /// Texts, which patterns can match.
    Text,
    /// Arrays, which contain elements.
    Array,
    /// Arrays of integers.
    Integers,
    /// JSON, into which paths lead.
    Json,
}

/// What must hold for a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The value of a column passes a test.
    Column(ColumnTest),
    /// All of these hold; none is needed.
    All(Vec<Condition>),
    /// At least one of these holds.
    Any(Vec<Condition>),
    /// This does not hold, also where NULL leaves open whether it does.
    Not(Box<Condition>),
}

/// What is asked of one column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnTest {
    /// Position of the column in the list of those that a filter may name.
    pub column: usize,
    /// Keys and positions that lead to the value within JSON; empty for the column's own.
    pub path: Vec<String>,
    /// The test that the value must pass.
    pub test: Test,
}

/// A test of a value. Other values are given as text that PostgreSQL reads as the column's type: array
/// literals for arrays, JSON for JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Test {
    /// The value is NULL; in JSON it is null, or there is none.
    Null,
    /// The value is not NULL; in JSON there is one that is not null.
    NotNull,
    /// The value is one of these; with `or_null`, or NULL.
    OneOf {
        /// The values that are allowed.
        values: Vec<String>,
        /// Whether NULL will do too.
        or_null: bool,
    },
    /// The value stands so to this one.
    Compare(Comparison, String),
    /// The text matches a pattern in which `%` stands for any characters and `_` for one.
    Like {
        /// The pattern.
        pattern: String,
        /// Whether capital letters match small ones.
        ignores_case: bool,
    },
    /// The array has all these elements; the JSON contains this.
    Contains(String),
    /// The array has one of these elements.
    Overlaps(String),
}

impl Test {
    /// The values that it compares with, in their order.
    #[must_use]
    pub fn values(&self) -> &[String] {
        match self {
            Test::Null | Test::NotNull => &[],
            Test::OneOf { values, .. } => values,
            Test::Compare(_, value)
            | Test::Like { pattern: value, .. }
            | Test::Contains(value)
            | Test::Overlaps(value) => std::slice::from_ref(value),
        }
    }
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

impl Condition {
    /// The tests of columns in it, wherever they stand.
    pub fn column_tests(&self) -> Vec<&ColumnTest> {
        match self {
            Condition::Column(test) => vec![test],
            Condition::Not(condition) => condition.column_tests(),
            Condition::All(parts) | Condition::Any(parts) => {
                parts.iter().flat_map(Condition::column_tests).collect()
            }
        }
    }
}

/// Takes a filter apart.
///
/// `columns` are those that a condition may use. Errors name the column or operator that is
/// not known, and the known ones. Its numbers are as [`exact::read`] reads them, or as a program has them.
pub fn parse(filter: &Value, columns: &[MetadataColumn]) -> Result<Condition> {
    let Value::Object(conditions) = filter else {
        let filter = exact::written(filter);
        return Err(Error::invalid(format!("filter is not a JSON object: {filter}"))
            .hint("For instance {\"lang\": \"en\", \"year\": {\"gte\": 2020}}."));
    };
    let condition = Condition::All(object(conditions, columns, MAX_DEPTH)?);
    match condition.column_tests().len() {
        ..=MOST_TESTS => Ok(condition),
        tests => {
            Err(Error::invalid(format!("filter has {tests} conditions, and may have {MOST_TESTS}"))
                .hint("A list stands for any of its values: {\"lang\": [\"en\", \"de\"]}."))
        }
    }
}

fn object(
    conditions: &Map<String, Value>,
    columns: &[MetadataColumn],
    depth: usize,
) -> Result<Vec<Condition>> {
    let parsed = conditions.iter().map(|(key, wanted)| entry(key, wanted, columns, depth));
    Ok(parsed.collect::<Result<Vec<_>>>()?.concat())
}

/// What one key of an object says.
fn entry(
    key: &str,
    wanted: &Value,
    columns: &[MetadataColumn],
    depth: usize,
) -> Result<Vec<Condition>> {
    if let Some((column, path)) = located(key, columns) {
        let tests = tests_of(key, columns[column].kind, wanted)?;
        let of_column = |test: Condition| placed(test, column, &path);
        return Ok(tests.into_iter().map(of_column).collect());
    }
    let parts = |depth| alternatives(key, wanted, columns, depth);
    let depth = depth.checked_sub(1).ok_or_else(|| {
        Error::invalid(format!(
            "filter has conditions within each other more than {MAX_DEPTH} deep"
        ))
    });
    match key.strip_prefix('$').unwrap_or(key) {
        "and" => Ok(vec![Condition::All(parts(depth?)?)]),
        "or" => Ok(vec![Condition::Any(parts(depth?)?)]),
        "not" => {
            let Value::Object(inner) = wanted else {
                return Err(Error::invalid(format!(
                    "filter {{\"{key}\": {}}} wants an object",
                    exact::written(wanted)
                ))
                .hint("For instance {\"not\": {\"lang\": \"en\"}}."));
            };
            let inner = Condition::All(object(inner, columns, depth?)?);
            Ok(vec![Condition::Not(Box::new(inner))])
        }
        _ => Err(unknown_column(key, columns)),
    }
}

/// The conditions of a list of objects.
fn alternatives(
    key: &str,
    wanted: &Value,
    columns: &[MetadataColumn],
    depth: usize,
) -> Result<Vec<Condition>> {
    let wants_objects = || {
        let wanted = exact::written(wanted);
        Error::invalid(format!("filter {{\"{key}\": {wanted}}} wants a list of objects")).hint(
            format!("For instance {{\"{key}\": [{{\"lang\": \"en\"}}, {{\"lang\": null}}]}}."),
        )
    };
    let parts = wanted.as_array().ok_or_else(wants_objects)?;
    let part = |part: &Value| {
        let conditions = part.as_object().ok_or_else(wants_objects)?;
        Ok(Condition::All(object(conditions, columns, depth)?))
    };
    parts.iter().map(part).collect()
}

/// A test made by [`tests_of`] with its column.
fn placed(condition: Condition, column: usize, path: &[String]) -> Condition {
    match condition {
        Condition::Column(it) => {
            Condition::Column(ColumnTest { column, path: path.to_vec(), ..it })
        }
        Condition::Not(it) => Condition::Not(Box::new(placed(*it, column, path))),
        Condition::All(parts) => {
            Condition::All(parts.into_iter().map(|it| placed(it, column, path)).collect())
        }
        Condition::Any(parts) => {
            Condition::Any(parts.into_iter().map(|it| placed(it, column, path)).collect())
        }
    }
}

/// The column that a key names, and the path within it: `attributes.size` leads into a JSON column
/// `attributes` where no column has the whole name.
fn located(key: &str, columns: &[MetadataColumn]) -> Option<(usize, Vec<String>)> {
    if let Some(column) = columns.iter().position(|column| column.name == key) {
        return Some((column, Vec::new()));
    }
    columns.iter().enumerate().find_map(|(place, column)| {
        let path = key.strip_prefix(&column.name)?.strip_prefix('.')?;
        let path = path.split('.').map(str::to_owned).collect();
        (column.kind == MetadataKind::Json).then_some((place, path))
    })
}

fn unknown_column(name: &str, columns: &[MetadataColumn]) -> Error {
    let hint = match columns {
        [] => "The pipeline declares none; create it with metadata => ARRAY['...'].".to_owned(),
        _ => {
            let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
            format!(
                "Columns that a filter can name: {}; rag_alter_pipeline(metadata => ...) sets the list.",
                names.join(", ")
            )
        }
    };
    Error::new(ErrorKind::UndefinedObject, format!("filter names an unknown column \"{name}\""))
        .hint(hint)
}
