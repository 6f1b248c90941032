//! Which text search configuration a pipeline has.

use pgrx::pg_sys;
use pgrx::spi::quote_identifier;

use super::content::{self, Expression};
use crate::error::{ErrorKind, Result};
use crate::pg::catalog::pipeline;
use crate::pg::catalog::source::{SourceColumn, SourceTable};
use crate::pg::server::role::as_owner_of;
use crate::pg::server::sql::{self, query, render};
use crate::text::text_search_config::{UNSTEMMED, config_of};

/// The value of the option `config` that has the texts decide.
pub const AUTO: &str = "auto";

/// How many rows are looked at, and how many characters of each of their texts.
const MOST_ROWS: i64 = 100;
const MOST_CHARACTERS: i32 = 2000;

/// The qualified name of the configuration called `wanted`; for [`AUTO`] of that for the language of most of the texts of which
/// `content` is made.
///
/// Fails where there is no such configuration.
pub fn resolved(wanted: &str, source: &SourceTable, content: &Expression) -> Result<String> {
    match wanted {
        AUTO => name_here(&of_texts(source, content)?),
        wanted => pipeline::config_name(wanted),
    }
}

/// The qualified name of a configuration that comes with PostgreSQL; of that for words as they are where this version has it
/// not yet, as those before 18 have none for Estonian.
fn name_here(config: &str) -> Result<String> {
    match pipeline::config_name(config) {
        Err(error) if error.kind() == ErrorKind::UndefinedObject => {
            pipeline::config_name(UNSTEMMED)
        }
        found => found,
    }
}

/// The configuration for the language of most of the texts of which `content` is made. Only columns of text are read, as
/// expressions of users may fail, or take their time.
fn of_texts(source: &SourceTable, content: &Expression) -> Result<String> {
    let named = content::column_names(content)?;
    let is_read = |it: &&SourceColumn| {
        matches!(it.type_oid, pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID)
            && named.contains(&it.name)
    };
    let beginning =
        |it: &SourceColumn| format!("pg_catalog.left(s.{}, $2)", quote_identifier(&it.name));
    let texts: Vec<String> = source.columns.iter().filter(is_read).map(beginning).collect();
    let table = sql::qualified_name(source.oid).filter(|_| !texts.is_empty());
    let Some(table) = table else { return Ok(config_of([]).to_owned()) };
    let values = [("texts", texts.join(", ")), ("source", table)];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    let statement = render(query!(source.sample), &values);
    let sample: Vec<String> = {
        let _acting = as_owner_of(source.oid);
        let arguments = [MOST_ROWS.into(), MOST_CHARACTERS.into()];
        sql::rows(&statement, &arguments, |row| sql::required(row.get(1)?))?
    };
    Ok(config_of(sample.iter().map(String::as_str)).to_owned())
}
