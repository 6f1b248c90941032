//! The rows of a query, as sources that an answer can cite.

use std::collections::HashSet;

use serde_json::Value;

use super::catalog::statement_name;
use crate::answer::json_text::member;
use crate::pg::guarded_sql::{GuardedRows, ResultKey};
use crate::source::{RelationRow, Source, StatementRows};

/// What a result is called that names no relation.
const NO_RELATION: &str = "result";

/// A source for each row: it is called by the key of a relation's row where the rows are such and have different keys,
/// and else it is a result of all relations that the query names.
pub fn sources(found: &GuardedRows) -> Vec<Source> {
    let key = found.keys.iter().find_map(|key| Some((key, values_of(key, found)?)));
    let rows = found.rows.iter().enumerate();
    let (relation, keys) = match key {
        Some((key, values)) => (statement_name(key.relation), Some(values)),
        None => (all_relations(found), None),
    };
    let source = |(place, row): (usize, &String)| {
        let key = keys.as_ref().map(|keys| keys[place].clone());
        let row_of = RelationRow { relation: relation.clone(), key };
        Source::Rows(statement_rows(row_of, row, &found.columns))
    };
    rows.map(source).collect()
}

/// A source for each row that says something, called by `name`.
pub fn called(found: &GuardedRows, name: &str) -> Vec<Source> {
    let row_of = |row: &String| {
        let row_of = RelationRow { relation: name.to_owned(), key: None };
        statement_rows(row_of, row, &found.columns)
    };
    let said = found.rows.iter().map(row_of).filter(|rows| !rows.content.is_empty());
    said.map(Source::Rows).collect()
}

fn all_relations(found: &GuardedRows) -> String {
    let names: Vec<String> = found.relations.iter().map(|it| statement_name(*it)).collect();
    if names.is_empty() { NO_RELATION.to_owned() } else { names.join(", ") }
}

fn statement_rows(row_of: RelationRow, row: &str, columns: &[String]) -> StatementRows {
    let values: Vec<Option<String>> = columns.iter().map(|name| value(row, name)).collect();
    let columns: Vec<(&str, Option<&str>)> =
        columns.iter().map(String::as_str).zip(values.iter().map(Option::as_deref)).collect();
    StatementRows::new(row_of, &columns)
}

/// The keys of all rows; `None` where one has none, or two have the same.
fn values_of(key: &ResultKey, found: &GuardedRows) -> Option<Vec<String>> {
    let of_row = |row: &String| {
        let parts = key.columns.iter().map(|place| value(row, found.columns.get(*place)?));
        Some(parts.collect::<Option<Vec<String>>>()?.join(", "))
    };
    let keys = found.rows.iter().map(of_row).collect::<Option<Vec<String>>>()?;
    let different: HashSet<&String> = keys.iter().collect();
    (different.len() == keys.len()).then_some(keys)
}

/// The value of a column as it is read: a string without its quotes, anything else as JSON writes it; `None` for
/// null.
fn value(row: &str, column: &str) -> Option<String> {
    let written = member(row, column)?;
    match written {
        "null" => None,
        text if text.starts_with('"') => match serde_json::from_str(text) {
            Ok(Value::String(said)) => Some(said),
            _ => None,
        },
        other => Some(other.to_owned()),
    }
}
