//! The key of a row as text, read with as little work as possible: this runs for each row.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;
use std::io::Write;
use std::rc::Rc;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

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

/// What there is of the key of a row that has none: `None` for each column that is NULL.
pub type KnownKey = Vec<Option<String>>;

thread_local! {
    /// By table and pipeline; emptied whenever the definition of any relation changes.
    static READERS: RefCell<Option<Readers>> = const { RefCell::new(None) };
    /// The tables with stray triggers that the session has been warned of, and the pipelines of those.
    static WARNED_OF: RefCell<BTreeSet<(u32, i32)>> = const { RefCell::new(BTreeSet::new()) };
}

type Readers = BTreeMap<(u32, i32), Rc<KeyReader>>;

/// Reads the key of a table's rows.
pub struct KeyReader {
    columns: Vec<KeyColumn>,
    /// Whether a type's text depends on settings.
    depends_on_settings: bool,
    /// Whether the transaction sees the pipeline, and the table is of it.
    pub is_known: bool,
    /// Whether the pipeline is of another table.
    pub is_stray: bool,
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
    } else if !reader.is_known && !reader.is_stray {
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
    Ok(belongs(table, &pipeline)?.then_some(pipeline))
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
        let Some(pipeline) = as_superuser(|| pipeline::by_id(id))? else {
            return Ok(KeyReader::without_pipeline(false));
        };
        if !belongs(table, &pipeline)? {
            warn_of_strays(table, id)?;
            return Ok(KeyReader::without_pipeline(true));
        }
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
            is_stray: false,
            wakes: pipeline.refresh.has_workers(),
        })
    }

    fn without_pipeline(is_stray: bool) -> KeyReader {
        KeyReader {
            columns: Vec::new(),
            depends_on_settings: false,
            is_known: false,
            is_stray,
            wakes: false,
        }
    }

    /// Writes the key of a row; no columns where the pipeline is not known. Whether the row has one: no column of it is
    /// NULL.
    ///
    /// # Safety
    ///
    /// `row` is a row of the table this reader is for, and `columns` describes it.
    pub unsafe fn read(
        &self,
        row: pg_sys::HeapTuple,
        columns: pg_sys::TupleDesc,
        key: &mut KeyBuffer,
    ) -> bool {
        let _plain = self.depends_on_settings.then(PlainText::begin);
        key.clear();
        let mut is_whole = true;
        for column in &self.columns {
            // SAFETY: by this function's contract.
            key.add(|bytes| is_whole &= unsafe { column.read(row, columns, bytes) });
        }
        is_whole
    }

    /// The error for a row without a key; `table` is its table.
    ///
    /// # Safety
    ///
    /// As for [`KeyReader::read`].
    pub unsafe fn no_key(
        &self,
        table: pg_sys::Oid,
        row: pg_sys::HeapTuple,
        columns: pg_sys::TupleDesc,
    ) -> Error {
        // SAFETY: by this function's contract; the columns are the table's.
        let column = |column: &KeyColumn| unsafe {
            let mut is_null = false;
            pg_sys::heap_getattr(row, column.attribute, columns, &mut is_null);
            let name = || pg_sys::get_attname(table, column.attribute as pg_sys::AttrNumber, false);
            is_null.then(|| CStr::from_ptr(name()).to_string_lossy().into_owned())
        };
        let column = self.columns.iter().find_map(column).unwrap_or_default();
        let table = sql::qualified_name(table).unwrap_or_default();
        let message =
            format!("column \"{column}\" of {table} is NULL, and a pipeline knows rows by it");
        Error::new(ErrorKind::NullNotAllowed, message).hint(format!(
            "Give the row a key. ALTER TABLE {table} ALTER COLUMN {} SET NOT NULL has all rows have one.",
            quote_identifier(&column)
        ))
    }
}

impl KeyColumn {
    /// Writes the value; whether there is one.
    ///
    /// # Safety
    ///
    /// As for [`KeyReader::read`].
    unsafe fn read(
        &self,
        row: pg_sys::HeapTuple,
        columns: pg_sys::TupleDesc,
        text: &mut Vec<u8>,
    ) -> bool {
        let mut is_null = false;
        // SAFETY: by this function's contract; the form was chosen by the column's type.
        unsafe {
            let value = pg_sys::heap_getattr(row, self.attribute, columns, &mut is_null);
            // Nothing fails that writes to memory.
            let _ = match &self.form {
                // Key columns are NOT NULL when a pipeline is made; a constraint may be dropped later.
                _ if is_null => Ok(()),
                KeyForm::Int2 => write!(text, "{}", value.value() as i16),
                KeyForm::Int4 => write!(text, "{}", value.value() as i32),
                KeyForm::Int8 => write!(text, "{}", value.value() as i64),
                KeyForm::Other(function) => {
                    let output = pg_sys::OidOutputFunctionCall(*function, value);
                    text.extend_from_slice(CStr::from_ptr(output).to_bytes());
                    pg_sys::pfree(output.cast());
                    Ok(())
                }
            };
        }
        !is_null
    }
}

fn output_function(kind: pg_sys::Oid) -> pg_sys::Oid {
    let (mut function, mut is_varlena) = (pg_sys::InvalidOid, false);
    // SAFETY: the type is that of a column, so it exists.
    unsafe { pg_sys::getTypeOutputInfo(kind, &mut function, &mut is_varlena) };
    function
}

/// Says once in a session that triggers of a table are of a pipeline of another one, as those that came with a dump of this
/// table alone may be. Nothing is lost without them. The pipeline is not named: the caller may not see it.
fn warn_of_strays(table: pg_sys::Oid, id: i32) -> Result<()> {
    if !WARNED_OF.with_borrow_mut(|warned_of| warned_of.insert((table.to_u32(), id))) {
        return Ok(());
    }
    let arguments = [table.into(), format!("{id}\\000").into()];
    let drops =
        sql::rows(query!(trigger.drops), &arguments, |row| sql::required(row.get::<String>(1)?))?;
    let table = sql::qualified_name(table).unwrap_or_default();
    let message =
        format!("triggers of {table} are of pipeline number {id}, which is of another table");
    ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING, message, "pg_rag")
        .set_detail("They do nothing.")
        .set_hint(format!("If they came with a dump of this table: {};", drops.join("; ")))
        .report(PgLogLevel::WARNING);
    Ok(())
}
