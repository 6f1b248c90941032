//! `rag.template`.

use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query};
use crate::prompt::template::Template;

/// The template that is used to answer where none is named.
pub const STANDARD: &str = "standard";

/// Longest name, in characters.
const LONGEST_NAME: usize = 100;

/// A version of a template: a row of `rag.template`.
struct TemplateRow {
    name: String,
    version: i32,
    content: String,
}

/// The template that a call or a pipeline names: `name` for the newest version, or `name@3`.
pub fn find(reference: &str) -> Result<Template> {
    let row = look_up(reference, None)?;
    Template::parse(&format!("{}@{}", row.name, row.version), &row.content)
}

/// What a template says; of its newest version, if none is given with it or beside it.
pub fn content(reference: &str, version: Option<i32>) -> Result<String> {
    look_up(reference, version).map(|row| row.content)
}

/// Adds a version, which is checked first; its number. What says the same as the newest is no
/// new version.
pub fn set(name: &str, content: &str, description: Option<&str>) -> Result<i32> {
    check_name(name)?;
    Template::parse_new(name, content)?;
    // Nobody else counts versions until the end of the transaction.
    as_superuser(|| sql::execute(query!(template.lock), &[]))?;
    let statement = query!(template.insert);
    let arguments = [name.into(), content.into(), description.into()];
    let versions = sql::changed_rows(statement, &arguments, |row| sql::required(row.get(1)?))?;
    versions
        .first()
        .copied()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "no template was inserted"))
}

fn check_name(name: &str) -> Result<()> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let length = name.chars().count();
    match (1..=LONGEST_NAME).contains(&length) && name.chars().all(fits) {
        true => Ok(()),
        false => Err(Error::invalid(format!("\"{name}\" cannot be the name of a template"))
            .hint("A name has letters, digits, _, - and dots, and at most 100 of them.")),
    }
}

fn look_up(reference: &str, version: Option<i32>) -> Result<TemplateRow> {
    let (name, in_name) = match reference.split_once('@') {
        Some((name, number)) => (name, Some(number_of(reference, number)?)),
        None => (reference, None),
    };
    let version = version.or(in_name);
    let statement = query!(template.find);
    let found = sql::rows(statement, &[name.into(), version.into()], |row| {
        Ok(TemplateRow {
            name: sql::required(row.get(1)?)?,
            version: sql::required(row.get(2)?)?,
            content: sql::required(row.get(3)?)?,
        })
    })?;
    found.into_iter().next().map_or_else(|| Err(unknown(name, version)), Ok)
}

fn number_of(reference: &str, number: &str) -> Result<i32> {
    number.parse().map_err(|_| {
        Error::invalid(format!("\"{reference}\" names no version of a template"))
            .hint("It is written as name@3, or without a number for the newest.")
    })
}

fn unknown(name: &str, version: Option<i32>) -> Error {
    let listed = |statement, arguments: &[pgrx::datum::DatumWithOid<'_>]| {
        let rows = sql::rows(statement, arguments, |row| row.get::<String>(1));
        rows.ok().and_then(|rows| rows.into_iter().next().flatten())
    };
    let versions = query!(template.versions);
    let (message, hint) = match (version, listed(versions, &[name.into()])) {
        (Some(version), Some(versions)) => (
            format!("template \"{name}\" has no version {version}"),
            format!("It has: {versions}."),
        ),
        _ => {
            let names = listed(query!(template.names), &[]);
            (
                format!("template \"{name}\" does not exist"),
                format!("Known templates: {}.", names.unwrap_or_default()),
            )
        }
    };
    Error::new(ErrorKind::UndefinedObject, message).hint(hint)
}
