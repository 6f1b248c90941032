//! The order of sources in time.

use std::collections::HashMap;

use pgrx::prelude::*;
use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::view::ViewColumn;
use crate::pg::question::federation::FederatedSearch;
use crate::pg::server::sql::{self, query, render};
use crate::source::{Source, SourceId};

/// The types whose values are earlier and later: times, and numbers such as a year.
const TYPES: [pg_sys::Oid; 9] = [
    pg_sys::DATEOID,
    pg_sys::TIMESTAMPOID,
    pg_sys::TIMESTAMPTZOID,
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::INT8OID,
    pg_sys::NUMERICOID,
    pg_sys::FLOAT4OID,
    pg_sys::FLOAT8OID,
];

/// The place of each source that has a time among all. Values are compared by
/// PostgreSQL, so that times of different zones and infinite ones are where they belong.
pub fn places(
    sources: &[Source],
    order_by: Option<&str>,
    search: &FederatedSearch,
) -> Result<HashMap<SourceId, i64>> {
    let Some(name) = order_by else { return Ok(HashMap::new()) };
    let column = column(name, search.metadata())?;
    let value = |source: &Source| match source.metadata().and_then(|it| it.get(name)) {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_string()),
    };
    let values: Vec<Option<String>> = sources.iter().map(value).collect();
    let statement = query!(retrieve.chronological);
    let statement = render(statement, &[("type", &column.sql_type)]);
    let places = sql::rows(&statement, &[values.into()], |row| row.get::<i64>(1))?;
    let known = sources.iter().zip(places);
    Ok(known.filter_map(|(source, place)| Some((source.id(), place?))).collect())
}

/// The column called `name`, which must hold times or numbers.
pub fn column<'a>(name: &str, columns: &'a [ViewColumn]) -> Result<&'a ViewColumn> {
    let fits = |column: &&ViewColumn| TYPES.contains(&column.type_oid);
    let found = columns.iter().find(|column| column.bare() == name);
    found.filter(fits).ok_or_else(|| {
        let what = match found {
            Some(column) => format!("is of type {} and has no order in time", column.sql_type),
            None => "is no column of metadata".to_owned(),
        };
        let fitting = columns.iter().filter(fits).map(|column| column.bare());
        let names: Vec<String> = fitting.collect();
        let hint = match names.as_slice() {
            [] => "The pipeline declares no metadata column that holds a date, a time or a number."
                .to_owned(),
            _ => format!("Metadata columns that can be ordered by: {}.", names.join(", ")),
        };
        let kind =
            if found.is_some() { ErrorKind::WrongObjectType } else { ErrorKind::UndefinedObject };
        Error::new(kind, format!("option \"context.order_by\" names \"{name}\", which {what}"))
            .hint(hint)
    })
}
