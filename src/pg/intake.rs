//! `rag.intake`, where sessions leave what has changed.
//!
//! Rows are appended as they are, without a statement: at the end of a transaction, whoever
//! runs it, whatever its settings.

use std::ffi::CStr;

use pgrx::PgRelation;
use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};

/// What is said about the rows of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// These have changed, or gone.
    Keys,
    /// Any of them may have changed.
    All,
    /// Some may have come that nobody has told of.
    Missing,
    /// Some have gone.
    Gone,
}

impl Kind {
    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Keys => "keys",
            Kind::All => "all",
            Kind::Missing => "missing",
            Kind::Gone => "gone",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Kind> {
        [Kind::Keys, Kind::All, Kind::Missing, Kind::Gone]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// Most keys, and about the most bytes of them, in one row: as much as fits a page.
const KEYS_A_ROW: usize = 500;
const BYTES_A_ROW: usize = 6000;
/// What a text needs beside its bytes, in an array.
const BYTES_A_TEXT: usize = 8;

const COLUMNS: usize = 4;
const COLUMN_TYPES: [pg_sys::Oid; COLUMNS] =
    [pg_sys::INT4OID, pg_sys::TEXTOID, pg_sys::TEXTARRAYOID, pg_sys::TIMESTAMPTZOID];

/// The open table.
pub struct Writer(PgRelation);

impl Writer {
    /// Opens the table; `None` where the extension has been dropped.
    pub fn open() -> Option<Writer> {
        let table = table(c"intake")?;
        // SAFETY: looked up just now; the lock waits for whoever drops it.
        Some(Writer(unsafe {
            PgRelation::with_lock(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE)
        }))
    }

    /// Appends keys of changed rows, as many rows of the table as it takes.
    pub fn append_keys(&mut self, pipeline: i32, keys: &[Vec<String>]) -> Result<()> {
        let mut rest = keys;
        while !rest.is_empty() {
            let mut bytes = 0;
            let fits = |key: &&Vec<String>| {
                bytes += key.iter().map(|part| part.len() + BYTES_A_TEXT).sum::<usize>();
                bytes <= BYTES_A_ROW
            };
            let count = rest.iter().take(KEYS_A_ROW).take_while(fits).count().max(1);
            let (now, later) = rest.split_at(count);
            let texts: Vec<&str> = now.iter().flatten().map(String::as_str).collect();
            self.append(pipeline, Kind::Keys, &texts)?;
            rest = later;
        }
        Ok(())
    }

    /// Appends one row; `keys` are the columns of the keys, row after row.
    pub fn append(&mut self, pipeline: i32, kind: Kind, keys: &[&str]) -> Result<()> {
        self.check_columns()?;
        // SAFETY: the values have the types of the columns, which have been checked.
        unsafe {
            let mut values = [
                pipeline.into_datum(),
                kind.name().into_datum(),
                keys.to_vec().into_datum(),
                pg_sys::GetCurrentTimestamp().into_datum(),
            ]
            .map(|value| value.unwrap_or(pg_sys::Datum::null()));
            let mut nulls = [false; COLUMNS];
            let row =
                pg_sys::heap_form_tuple(self.0.rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
            pg_sys::simple_heap_insert(self.0.as_ptr(), row);
            pg_sys::heap_freetuple(row);
        }
        Ok(())
    }

    fn check_columns(&self) -> Result<()> {
        let columns = self.0.tuple_desc();
        let types = columns.iter().map(|column| column.atttypid);
        match types.eq(COLUMN_TYPES) {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::WrongObjectType, "rag.intake has other columns")
                .hint("ALTER EXTENSION pg_rag UPDATE.")),
        }
    }
}

/// Leaves word about all rows of a source, or those that are gone.
pub fn leave(pipeline: i32, kind: Kind) -> Result<()> {
    match Writer::open() {
        Some(mut writer) => writer.append(pipeline, kind, &[]),
        None => Err(Error::new(ErrorKind::UndefinedObject, "rag.intake does not exist")
            .hint("ALTER EXTENSION pg_rag UPDATE.")),
    }
}

/// The OID of a table in the schema `rag`.
pub fn table(name: &CStr) -> Option<pg_sys::Oid> {
    // SAFETY: look-ups by name, which give InvalidOid for what is not there.
    let table = unsafe {
        let schema = pg_sys::get_namespace_oid(c"rag".as_ptr(), true);
        if schema == pg_sys::InvalidOid {
            return None;
        }
        pg_sys::get_relname_relid(name.as_ptr(), schema)
    };
    (table != pg_sys::InvalidOid).then_some(table)
}
