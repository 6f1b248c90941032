//! The key of a row as text, read with as little work as possible: this runs for each row.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Write;
use std::rc::Rc;

use pgrx::prelude::*;

use super::noted;
use super::plain_text::PlainText;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::catalog::pipeline::{self, Pipeline};
use crate::pg::catalog::view;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query};
use crate::pg::server::transaction::has_one_snapshot;
use crate::scheduling::changed_keys::KeyBuffer;

/// A key, one text a column.
pub type SourceKey = Vec<String>;

thread_local! {
    /// By table and pipeline; emptied whenever the definition of any relation changes.
    static READERS: RefCell<Option<Readers>> = const { RefCell::new(None) };
}

type Readers = BTreeMap<(u32, i32), Rc<KeyReader>>;

/// Reads the key of a table's rows.
pub struct KeyReader {
    columns: Vec<KeyColumn>,
    /// Whether a type's text depends on settings.
    depends_on_settings: bool,
    /// Whether the transaction sees the pipeline.
    pub is_known: bool,
    /// Whether workers do the work of the pipeline.
    pub wakes: bool,
}

struct KeyColumn {
    attribute: i32,
    form: KeyForm,
}

enum KeyForm {
    Int2,
    Int4,
    Int8,
    /// Written by the output function of the type.
    Other(pg_sys::Oid),
}

/// The reader for the rows of `table`, a source of pipeline `id` or a partition of one.
///
/// What a transaction with an older snapshot does not see of the pipeline is there for the next one:
/// such a transaction's readers are kept until its end ([`forget_all`]).
pub fn reader(table: pg_sys::Oid, id: i32) -> Result<Rc<KeyReader>> {
    let key = (table.to_u32(), id);
    let known = READERS.with_borrow(|readers| readers.as_ref()?.get(&key).cloned());
    if let Some(reader) = known {
        return Ok(reader);
    }
    let reader = Rc::new(KeyReader::new(table, id)?);
    if has_one_snapshot() {
        noted::follow_transaction();
    } else if !reader.is_known {
        return Ok(reader);
    }
    READERS.with_borrow_mut(|readers| {
        let readers = readers.get_or_insert_with(|| {
            // SAFETY: registered once a session; the callback only empties a map.
            unsafe { pg_sys::CacheRegisterRelcacheCallback(Some(forget), pg_sys::Datum::null()) };
            BTreeMap::new()
        });
        readers.insert(key, reader.clone());
    });
    Ok(reader)
}

#[pg_guard]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, _relation: pg_sys::Oid) {
    forget_all();
}

/// Has readers be made anew.
pub fn forget_all() {
    READERS.with(|readers| {
        // While a reader is being made nothing is borrowed.
        if let Ok(mut readers) = readers.try_borrow_mut()
            && let Some(readers) = readers.as_mut()
        {
            readers.clear();
        }
    });
}

/// The pipeline, if `table` is its source or a partition of it.
pub fn pipeline_of(table: pg_sys::Oid, id: i32) -> Result<Option<Pipeline>> {
    let Some(pipeline) = as_superuser(|| pipeline::by_id(id))? else { return Ok(None) };
    if belongs(table, &pipeline)? { Ok(Some(pipeline)) } else { Err(wrong_table(&pipeline)) }
}

/// Whether `table` is the source of a pipeline or a partition of it.
pub fn belongs(table: pg_sys::Oid, pipeline: &Pipeline) -> Result<bool> {
    if pipeline.source.oid == table {
        return Ok(true);
    }
    let statement = query!(relation.partition_ancestors);
    let ancestors = sql::rows(statement, &[table.into()], |row| row.get::<pg_sys::Oid>(1))?;
    Ok(ancestors.contains(&Some(pipeline.source.oid)))
}

impl KeyReader {
    fn new(table: pg_sys::Oid, id: i32) -> Result<KeyReader> {
        let Some(pipeline) = pipeline_of(table, id)? else {
            return Ok(KeyReader::of_unknown());
        };
        let columns = view::key_attributes(&pipeline, table)?;
        let form = |kind| match kind {
            pg_sys::INT2OID => KeyForm::Int2,
            pg_sys::INT4OID => KeyForm::Int4,
            pg_sys::INT8OID => KeyForm::Int8,
            kind => KeyForm::Other(output_function(kind)),
        };
        let is_plain = |kind| {
            use pg_sys::{BPCHAROID, INT2OID, INT4OID, INT8OID, TEXTOID, UUIDOID, VARCHAROID};
            [INT2OID, INT4OID, INT8OID, TEXTOID, VARCHAROID, BPCHAROID, UUIDOID].contains(&kind)
        };
        Ok(KeyReader {
            depends_on_settings: columns.iter().any(|(_, kind)| !is_plain(*kind)),
            columns: columns
                .into_iter()
                .map(|(attribute, kind)| KeyColumn { attribute, form: form(kind) })
                .collect(),
            is_known: true,
            wakes: pipeline.refresh.has_workers(),
        })
    }

    fn of_unknown() -> KeyReader {
        KeyReader { columns: Vec::new(), depends_on_settings: false, is_known: false, wakes: false }
    }

    /// Writes the key of a row; no columns where the pipeline is not known.
    ///
    /// # Safety
    ///
    /// `row` is a row of the table this reader is for, and `columns` describes it.
    pub unsafe fn read(
        &self,
        row: pg_sys::HeapTuple,
        columns: pg_sys::TupleDesc,
        key: &mut KeyBuffer,
    ) {
        let _plain = self.depends_on_settings.then(PlainText::begin);
        key.clear();
        for column in &self.columns {
            // SAFETY: by this function's contract.
            key.add(|bytes| unsafe { column.read(row, columns, bytes) });
        }
    }
}

impl KeyColumn {
    /// # Safety
    ///
    /// As for [`KeyReader::read`].
    unsafe fn read(&self, row: pg_sys::HeapTuple, columns: pg_sys::TupleDesc, text: &mut Vec<u8>) {
        let mut is_null = false;
        // SAFETY: by this function's contract; the form was chosen by the column's type.
        unsafe {
            let value = pg_sys::heap_getattr(row, self.attribute, columns, &mut is_null);
            // Nothing fails that writes to memory.
            let _ = match &self.form {
                // Key columns are NOT NULL; one whose constraint was dropped has no row to find.
                _ if is_null => Ok(()),
                KeyForm::Int2 => write!(text, "{}", value.value() as i16),
                KeyForm::Int4 => write!(text, "{}", value.value() as i32),
                KeyForm::Int8 => write!(text, "{}", value.value() as i64),
                KeyForm::Other(function) => {
                    let output = pg_sys::OidOutputFunctionCall(*function, value);
                    text.extend_from_slice(std::ffi::CStr::from_ptr(output).to_bytes());
                    pg_sys::pfree(output.cast());
                    Ok(())
                }
            };
        }
    }
}

fn output_function(kind: pg_sys::Oid) -> pg_sys::Oid {
    let (mut function, mut is_varlena) = (pg_sys::InvalidOid, false);
    // SAFETY: the type is that of a column, so it exists.
    unsafe { pg_sys::getTypeOutputInfo(kind, &mut function, &mut is_varlena) };
    function
}

fn wrong_table(pipeline: &Pipeline) -> Error {
    let message = format!("pipeline \"{}\" does not belong to this table", pipeline.name);
    Error::new(ErrorKind::WrongObjectType, message)
}
