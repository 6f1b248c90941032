//! The extension's own statements: text from `sql/query/`, values as parameters,
//! identifiers quoted.

use std::ffi::CStr;

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::{SpiClient, SpiHeapTupleData};

use super::error::spi_failed;
use super::prepared;
use super::raised::as_raised;
use crate::error::{Error, ErrorKind, Result};

/// A statement of `sql/query/`: `query!(queue.claim)` is the one called `claim` in `queue.sql`. Where there is
/// none of this name, the crate does not compile.
macro_rules! query {
    ($file:ident . $name:ident) => {
        const {
            $crate::pg::server::sql::section(
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/sql/query/",
                    stringify!($file),
                    ".sql"
                )),
                stringify!($name),
            )
        }
    };
}

pub(crate) use query;

/// What stands before the name of a statement, on a line of its own.
const NAME: &str = "-- name: ";

/// The statement called `name` in the text of a file: from the line after its name to the next name.
pub const fn section(file: &'static str, name: &str) -> &'static str {
    let text = file.as_bytes();
    let (mut line, mut begin) = (0, None);
    while line < text.len() {
        let mut end = line;
        while end < text.len() && text[end] != b'\n' {
            end += 1;
        }
        if is_at(text, line, NAME) {
            if let Some(begin) = begin {
                return trimmed(file, begin, line);
            }
            if is_at(text, line + NAME.len(), name) && end == line + NAME.len() + name.len() {
                begin = Some(end + 1);
            }
        }
        line = end + 1;
    }
    match begin {
        Some(begin) => trimmed(file, begin, text.len()),
        None => panic!("there is no statement of this name"),
    }
}

const fn is_at(text: &[u8], place: usize, part: &str) -> bool {
    let part = part.as_bytes();
    let mut count = 0;
    while count < part.len() && place + count < text.len() && text[place + count] == part[count] {
        count += 1;
    }
    count == part.len()
}

const fn trimmed(file: &'static str, begin: usize, mut end: usize) -> &'static str {
    while end > begin && file.as_bytes()[end - 1].is_ascii_whitespace() {
        end -= 1;
    }
    file.split_at(end).0.split_at(begin).1
}

/// Fills the `{placeholders}` of a statement.
///
/// One pass: what is put in is not looked through again, so that a brace in a user's expression
/// stays a brace. A placeholder without a value is a defect and panics.
pub fn render(template: &str, values: &[(&str, &str)]) -> String {
    let mut statement = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}') else { break };
        let name = &rest[open + 1..open + close];
        let (_, value) = values
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("statement has a placeholder {name} that is not filled"));
        statement.push_str(&rest[..open]);
        statement.push_str(value);
        rest = &rest[open + close + 1..];
    }
    statement.push_str(rest);
    statement
}

/// Runs `work`, which runs `statement`, with a connection to SPI. Errors of what users have written, as their functions,
/// leave it as they are.
pub fn connect<R>(statement: &str, work: impl FnOnce(&mut SpiClient<'_>) -> R) -> R {
    as_raised(Some(statement), || Spi::connect_mut(work))
}

/// An SQL error in a read-only transaction, such as all of a standby's: `function` writes.
pub fn refuse_if_read_only(function: &CStr) {
    // SAFETY: reads the transaction's state and a C string.
    unsafe { pg_sys::PreventCommandIfReadOnly(function.as_ptr()) };
}

/// Runs a query and maps its rows.
pub fn rows<T>(
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    mut map: impl FnMut(&SpiHeapTupleData<'_>) -> Result<T, pgrx::spi::Error>,
) -> Result<Vec<T>> {
    connect(statement, |client| {
        let table = client.select(statement, None, arguments)?;
        table.into_iter().map(|row| map(&row)).collect::<Result<_, _>>()
    })
    .map_err(spi_failed)
}

/// Runs a statement that changes something, or locks rows, and maps the rows it returns.
pub fn changed_rows<T>(
    statement: &str,
    arguments: &[DatumWithOid<'_>],
    mut map: impl FnMut(&SpiHeapTupleData<'_>) -> Result<T, pgrx::spi::Error>,
) -> Result<Vec<T>> {
    connect(statement, |client| {
        let table = client.update(statement, None, arguments)?;
        table.into_iter().map(|row| map(&row)).collect::<Result<_, _>>()
    })
    .map_err(spi_failed)
}

/// Has queries see what has been committed until now, also in a long statement.
pub fn with_latest_snapshot<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: pushed here and popped here; after an error the transaction's abort pops it.
    unsafe {
        pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
        let done = work();
        pg_sys::PopActiveSnapshot();
        done
    }
}

/// The name of a relation with its schema, quoted where needed; `None` where it is gone.
pub fn qualified_name(relation: pg_sys::Oid) -> Option<String> {
    // SAFETY: look-ups by OID; the names are NULL where it is gone.
    unsafe {
        let (schema, name) = (
            pg_sys::get_namespace_name(pg_sys::get_rel_namespace(relation)),
            pg_sys::get_rel_name(relation),
        );
        if schema.is_null() || name.is_null() {
            return None;
        }
        let quoted = pg_sys::quote_qualified_identifier(schema, name);
        Some(CStr::from_ptr(quoted).to_string_lossy().into_owned())
    }
}

/// Runs a statement that changes something; the number of rows it touched.
pub fn execute(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<usize> {
    connect(statement, |client| Ok(client.update(statement, None, arguments)?.len()))
        .map_err(spi_failed)
}

/// Runs a statement that changes something and returns one number.
pub fn changed_number(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<i64> {
    let found = changed_rows(statement, arguments, |row| required(row.get::<i64>(1)?))?;
    Ok(found.first().copied().unwrap_or_default())
}

/// The date in the session's time zone, as 2024-12-31.
pub fn today() -> Result<String> {
    let found = rows(query!(retrieve.today), &[], |row| required(row.get::<String>(1)?))?;
    found.into_iter().next().ok_or_else(|| Error::new(ErrorKind::Internal, "there is no date"))
}

/// A value that a row must have.
pub fn required<T>(value: Option<T>) -> Result<T, pgrx::spi::Error> {
    value.ok_or(pgrx::spi::Error::InvalidPosition)
}

/// The OID of pgvector's type.
pub fn vector_type() -> Result<pg_sys::Oid> {
    let found =
        rows(query!(extension.vector_type), &[], |row| required(row.get::<pg_sys::Oid>(1)?))?;
    found.first().copied().ok_or_else(no_vector)
}

/// The schema of pgvector's type and operators, quoted.
pub fn vector_schema() -> Result<String> {
    let found = prepared::rows(query!(extension.vector_schema), &[], |row| {
        required(row.get::<String>(1)?)
    })?;
    found.into_iter().next().ok_or_else(no_vector)
}

/// The schema of our own functions and operators, quoted.
pub fn extension_schema() -> Result<String> {
    let found =
        prepared::rows(query!(extension.schema), &[], |row| required(row.get::<String>(1)?))?;
    found.into_iter().next().ok_or_else(|| {
        Error::new(ErrorKind::UndefinedObject, "the extension \"pg_rag\" is not installed")
    })
}

/// The schema of rag_hnsw's operator classes, quoted.
pub fn opclass_schema() -> Result<String> {
    let found = rows(query!(extension.opclass_schema), &[], |row| required(row.get::<String>(1)?))?;
    found.into_iter().next().ok_or_else(|| {
        Error::new(ErrorKind::UndefinedObject, "the operator classes of rag_hnsw are missing")
            .hint("ALTER EXTENSION pg_rag UPDATE.")
    })
}

fn no_vector() -> Error {
    Error::new(ErrorKind::UndefinedObject, "the extension \"vector\" is not installed")
        .hint("CREATE EXTENSION vector.")
}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use pgrx::pg_sys::panic::CaughtError;
    use pgrx::prelude::*;

    use super::{render, section};

    #[pg_extern]
    fn a_statement_ends_where_the_next_one_begins() {
        let file = "-- About.\n\n-- name: one\nSELECT 1\n\n-- name: one_more\n-- Why.\n AND 2\n";
        assert_eq!(section(file, "one"), "SELECT 1");
        assert_eq!(section(file, "one_more"), "-- Why.\n AND 2");
    }

    #[pg_extern]
    fn part_of_a_name_is_no_name() {
        let caught =
            PgTryBuilder::new(|| section("-- name: claimed\nSELECT 1\n", "claim").to_owned())
                .catch_rust_panic(|panic| match panic {
                    CaughtError::RustPanic { ereport, .. } => ereport.message().to_owned(),
                    other => other.rethrow(),
                })
                .execute();
        assert!(caught.contains("no statement of this name"), "{caught}");
    }

    #[pg_extern]
    fn values_are_not_looked_through_again() {
        assert_eq!(render("SELECT {a}, {b}", &[("a", "'{b}'"), ("b", "2")]), "SELECT '{b}', 2");
    }
}
