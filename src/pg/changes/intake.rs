//! `rag.intake`, where sessions leave what has changed.
//!
//! Rows are appended as they are, without a statement: at the end of a transaction, whatever its
//! role and its settings.

use std::ffi::CStr;

use pgrx::PgRelation;
use pgrx::prelude::*;

use crate::error::{Error, ErrorKind, Result};
use crate::scheduling::changed_keys::RowKey;

/// What is said about the rows of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// These have changed, or gone.
    Keys,
    /// Any row may have changed.
    All,
    /// Rows may have come of which no trigger has noted a key.
    Missing,
    /// Some rows have gone.
    Gone,
    /// Rows without a key have come, changed or gone.
    Keyless,
}

impl ChangeKind {
    /// The name that is written into the table.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Keys => "keys",
            ChangeKind::All => "all",
            ChangeKind::Missing => "missing",
            ChangeKind::Gone => "gone",
            ChangeKind::Keyless => "keyless",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<ChangeKind> {
        use ChangeKind::{All, Gone, Keyless, Keys, Missing};
        [Keys, All, Missing, Gone, Keyless].into_iter().find(|kind| kind.name() == name)
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

/// Locks the table as [`IntakeWriter`] will, until the end of the transaction. A statement that changes a
/// source does so at once: DROP EXTENSION then waits for it here, and not at its commit for DROP
/// EXTENSION.
pub fn keep() {
    if let Some(table) = table(c"intake") {
        // SAFETY: a lock of a number, held by the transaction; the table may be gone.
        unsafe { pg_sys::LockRelationOid(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE) };
    }
}

/// The table, open and locked, to be appended to.
pub struct IntakeWriter(PgRelation);

impl IntakeWriter {
    /// Opens the table; `None` where the extension has been dropped.
    pub fn open() -> Option<IntakeWriter> {
        let table = table(c"intake")?;
        // SAFETY: looked up just now; the lock waits for a session that drops it. It is the
        // transaction's, and stays when the table is closed: what is written has yet to be
        // committed.
        Some(IntakeWriter(unsafe {
            pg_sys::LockRelationOid(table, pg_sys::RowExclusiveLock as pg_sys::LOCKMODE);
            PgRelation::with_lock(table, pg_sys::NoLock as pg_sys::LOCKMODE)
        }))
    }

    /// Appends keys of changed rows, as many rows of the table as it takes.
    pub fn append_keys<'a>(
        &mut self,
        pipeline: i32,
        keys: impl Iterator<Item = RowKey<'a>>,
    ) -> Result<()> {
        let (mut texts, mut count, mut bytes) = (Vec::new(), 0, 0);
        for key in keys {
            let more: usize = key.columns().map(|text| text.len() + BYTES_A_TEXT).sum();
            if count == KEYS_A_ROW || (count > 0 && bytes + more > BYTES_A_ROW) {
                self.append(pipeline, ChangeKind::Keys, text_array(&texts))?;
                texts.clear();
                (count, bytes) = (0, 0);
            }
            texts.extend(key.columns());
            count += 1;
            bytes += more;
        }
        if count > 0 {
            self.append(pipeline, ChangeKind::Keys, text_array(&texts))?;
        }
        Ok(())
    }

    /// Appends one row that names no keys.
    pub fn append_kind(&mut self, pipeline: i32, kind: ChangeKind) -> Result<()> {
        self.append(pipeline, kind, text_array(&[]))
    }

    /// Appends one row; `keys` are the columns of the keys, row after row.
    fn append(&mut self, pipeline: i32, kind: ChangeKind, keys: pg_sys::Datum) -> Result<()> {
        self.check_columns()?;
        // SAFETY: the values have the types of the columns, which have been checked.
        unsafe {
            let mut values = [
                pipeline.into_datum(),
                kind.name().into_datum(),
                Some(keys),
                pg_sys::GetCurrentTimestamp().into_datum(),
            ]
            .map(|value| value.unwrap_or(pg_sys::Datum::null()));
            let mut nulls = [false; COLUMNS];
            let row =
                pg_sys::heap_form_tuple(self.0.rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
            pg_sys::simple_heap_insert(self.0.as_ptr(), row);
            pg_sys::heap_freetuple(row);
            pg_sys::pfree(keys.cast_mut_ptr());
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

/// A `text[]` of one dimension, in PostgreSQL's layout (utils/array.h): a header, the number of
/// elements, the number of the first, and each as a varlena that begins at a multiple of four.
///
/// PostgreSQL's own functions for it copy each text twice. This is done for the keys of all rows that
/// are written.
fn text_array(texts: &[&[u8]]) -> pg_sys::Datum {
    const HEADER: usize = size_of::<pg_sys::ArrayType>() + 2 * size_of::<i32>();
    let size_of_text = |text: &&[u8]| (pg_sys::VARHDRSZ + text.len()).next_multiple_of(4);
    // SAFETY: palloc0 gives `size` bytes, aligned for the header; the header and the texts, with what
    // aligns them, fill them exactly.
    unsafe {
        if texts.is_empty() {
            return pg_sys::Datum::from(pg_sys::construct_empty_array(pg_sys::TEXTOID));
        }
        let size = HEADER + texts.iter().map(size_of_text).sum::<usize>();
        let array = pg_sys::palloc0(size).cast::<u8>();
        pgrx::set_varsize_4b(array.cast(), size as i32);
        let header = &mut *array.cast::<pg_sys::ArrayType>();
        header.ndim = 1;
        header.elemtype = pg_sys::TEXTOID;
        let bounds = array.add(size_of::<pg_sys::ArrayType>()).cast::<i32>();
        bounds.write(texts.len() as i32);
        bounds.add(1).write(1);
        let mut place = array.add(HEADER);
        for text in texts {
            pgrx::set_varsize_4b(place.cast(), (pg_sys::VARHDRSZ + text.len()) as i32);
            place.add(pg_sys::VARHDRSZ).copy_from_nonoverlapping(text.as_ptr(), text.len());
            place = place.add(size_of_text(text));
        }
        pg_sys::Datum::from(array)
    }
}

/// Leaves word about all rows of a source, or those that are gone.
pub fn leave(pipeline: i32, kind: ChangeKind) -> Result<()> {
    match IntakeWriter::open() {
        Some(mut writer) => writer.append_kind(pipeline, kind),
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
