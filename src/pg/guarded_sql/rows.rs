//! The rows of a statement, as JSON.
//!
//! PostgreSQL's own `to_jsonb` makes each value, so that it looks as in every other jsonb. Where two columns have
//! the same name, the second one is called after its number: a key of an object is there once.

use std::ffi::{CStr, c_int};

use pgrx::prelude::*;
use pgrx::{PgMemoryContexts, direct_function_call};

use super::key::ResultKey;
use crate::guarded_sql::limits::StatementLimits;
use crate::pg::server::statement_error::StatementError;

/// The OID of to_jsonb(anyelement).
const TO_JSONB: u32 = 3787;

/// Rows that were read.
#[derive(Debug, Default)]
pub struct GuardedRows {
    /// A JSON object for each row, with a key for each column.
    pub rows: Vec<String>,
    /// Whether there are more than were read.
    pub is_truncated: bool,
    /// The names of the columns, each another one.
    pub columns: Vec<String>,
    /// The relations that the statement names, in its order.
    pub relations: Vec<pg_sys::Oid>,
    /// Whether it reads a relation of a WITH that was added to it.
    pub reads_added: bool,
    /// Columns that are the key of a relation, where they were asked for.
    pub keys: Vec<ResultKey>,
}

/// What PostgreSQL gives rows to. It must not move while a statement runs.
#[repr(C)]
pub struct RowReceiver {
    // The first, since PostgreSQL knows this address only.
    callbacks: pg_sys::DestReceiver,
    columns: Vec<RowColumn>,
    limits: StatementLimits,
    bytes: usize,
    memory: PgMemoryContexts,
    received: GuardedRows,
    failure: Option<StatementError>,
}

struct RowColumn {
    name: String,
    /// The name, as JSON.
    key: String,
    /// Whether its values may be long.
    is_long: bool,
    to_jsonb: pg_sys::FmgrInfo,
}

impl RowReceiver {
    /// Receives as many rows and bytes as `limits` allow.
    pub fn new(limits: StatementLimits) -> Box<RowReceiver> {
        Box::new(RowReceiver {
            callbacks: pg_sys::DestReceiver {
                receiveSlot: Some(receive),
                rStartup: Some(start_up),
                rShutdown: Some(nothing),
                rDestroy: Some(nothing),
                mydest: pg_sys::CommandDest::DestNone,
            },
            columns: Vec::new(),
            limits,
            bytes: 0,
            memory: PgMemoryContexts::new("pg_rag guarded row"),
            received: GuardedRows::default(),
            failure: None,
        })
    }

    /// What PostgreSQL gives rows to.
    pub fn destination(&mut self) -> *mut pg_sys::DestReceiver {
        (&raw mut *self).cast()
    }

    /// The rows that came, or why none can be given.
    pub fn finish(self) -> Result<GuardedRows, StatementError> {
        let RowReceiver { failure, received, columns, .. } = self;
        let columns = columns.into_iter().map(|column| column.name).collect();
        failure.map_or(Ok(GuardedRows { columns, ..received }), Err)
    }

    /// Takes a row; false where no more are wanted.
    ///
    /// # Safety
    ///
    /// `slot` holds a row of the statement's.
    unsafe fn take(&mut self, slot: *mut pg_sys::TupleTableSlot) -> bool {
        if self.received.rows.len() == self.limits.max_rows {
            return self.stop();
        }
        // SAFETY: by this function's contract; the memory is ours, and what is made in it is copied.
        let row = unsafe {
            self.memory.reset();
            let before = pg_sys::MemoryContextSwitchTo(self.memory.value());
            let row = self.object(slot);
            pg_sys::MemoryContextSwitchTo(before);
            row
        };
        match row {
            Some(row) if self.bytes + row.len() <= self.limits.max_bytes => {
                self.bytes += row.len();
                self.received.rows.push(row);
                true
            }
            _ => self.stop(),
        }
    }

    fn stop(&mut self) -> bool {
        self.received.is_truncated = true;
        if self.received.rows.is_empty() {
            self.failure = Some(too_long(self.limits.max_bytes));
        }
        false
    }

    /// The row as an object; `None` where a value alone is longer than all may be.
    ///
    /// # Safety
    ///
    /// `slot` holds a row of the statement's.
    unsafe fn object(&mut self, slot: *mut pg_sys::TupleTableSlot) -> Option<String> {
        let mut object = String::from("{");
        // SAFETY: by this function's contract; as many values are there as the row has columns.
        unsafe {
            let count = self.columns.len();
            if usize::try_from((*slot).tts_nvalid).unwrap_or(0) < count {
                pg_sys::slot_getsomeattrs_int(slot, count as c_int);
            }
            for (place, column) in self.columns.iter_mut().enumerate() {
                let is_null = *(*slot).tts_isnull.add(place);
                let value = *(*slot).tts_values.add(place);
                if place > 0 {
                    object.push_str(", ");
                }
                object.push_str(&column.key);
                object.push_str(": ");
                match is_null {
                    true => object.push_str("null"),
                    false => column.write(value, self.limits.max_bytes, &mut object)?,
                }
            }
        }
        object.push('}');
        Some(object)
    }
}

impl RowColumn {
    /// # Safety
    ///
    /// `value` is one of the column's, not NULL.
    unsafe fn write(
        &mut self,
        value: pg_sys::Datum,
        most: usize,
        object: &mut String,
    ) -> Option<()> {
        // SAFETY: by this function's contract; the function writes a jsonb, which its output function reads.
        unsafe {
            if self.is_long && pg_sys::toast_raw_datum_size(value) > most {
                return None;
            }
            let json = pg_sys::FunctionCall1Coll(&raw mut self.to_jsonb, pg_sys::InvalidOid, value);
            let text = direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(json)])?;
            object.push_str(&text.to_string_lossy());
        }
        Some(())
    }
}

fn too_long(most: usize) -> StatementError {
    let message = format!("the first row is longer than max_bytes ({most})");
    StatementError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
        .hint("Have it return less of its long values, or raise the option max_bytes.")
}

/// The columns of a row, in whose description they are.
///
/// # Safety
///
/// `description` is that of a statement's rows.
unsafe fn columns(description: pg_sys::TupleDesc) -> Vec<RowColumn> {
    // SAFETY: by this function's contract; the description is PostgreSQL's, and stays.
    let description = unsafe { pgrx::tupdesc::PgTupleDesc::from_pg_unchecked(description) };
    let mut columns = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for (number, attribute) in (1..).zip(description.iter()) {
        let name = unique(attribute.name(), number, &names);
        columns.push(RowColumn {
            name: name.clone(),
            key: serde_json::Value::String(name.clone()).to_string(),
            is_long: attribute.attlen == -1,
            // SAFETY: the type of a column.
            to_jsonb: unsafe { to_jsonb(attribute.atttypid) },
        });
        names.push(name);
    }
    columns
}

/// The name, or one with the number of the column where another has it already.
fn unique(name: &str, number: usize, names: &[String]) -> String {
    let is_taken = |name: &str| names.iter().any(|it| it == name);
    let mut own = name.to_owned();
    let mut number = number;
    while is_taken(&own) {
        own = format!("{name}_{number}");
        number += 1;
    }
    own
}

/// to_jsonb for values of a type.
///
/// # Safety
///
/// `kind` is a type.
unsafe fn to_jsonb(kind: pg_sys::Oid) -> pg_sys::FmgrInfo {
    let mut function = pg_sys::FmgrInfo::default();
    // SAFETY: by this function's contract; all lies in the current memory context, which lives as long as the
    // statement runs. The call is only looked at for the type of its argument.
    unsafe {
        pg_sys::fmgr_info(pg_sys::Oid::from_u32(TO_JSONB), &raw mut function);
        let argument = pg_sys::makeNullConst(kind, -1, pg_sys::InvalidOid);
        let arguments = pg_sys::lappend(std::ptr::null_mut(), argument.cast());
        function.fn_expr = pg_sys::makeFuncExpr(
            pg_sys::Oid::from_u32(TO_JSONB),
            pg_sys::JSONBOID,
            arguments,
            pg_sys::InvalidOid,
            pg_sys::InvalidOid,
            pg_sys::CoercionForm::COERCE_EXPLICIT_CALL,
        )
        .cast();
    }
    function
}

/// # Safety
///
/// To be called by PostgreSQL with a [`RowReceiver`].
#[pg_guard]
unsafe extern "C-unwind" fn start_up(
    receiver: *mut pg_sys::DestReceiver,
    _operation: c_int,
    description: pg_sys::TupleDesc,
) {
    // SAFETY: by this function's contract.
    unsafe { (*receiver.cast::<RowReceiver>()).columns = columns(description) };
}

/// # Safety
///
/// To be called by PostgreSQL with a [`RowReceiver`].
#[pg_guard]
unsafe extern "C-unwind" fn receive(
    slot: *mut pg_sys::TupleTableSlot,
    receiver: *mut pg_sys::DestReceiver,
) -> bool {
    // SAFETY: by this function's contract.
    unsafe { (*receiver.cast::<RowReceiver>()).take(slot) }
}

/// # Safety
///
/// To be called by PostgreSQL.
unsafe extern "C-unwind" fn nothing(_receiver: *mut pg_sys::DestReceiver) {}

#[cfg(feature = "pg_test")]
mod tests {
    use pgrx::pg_extern;

    use super::unique;

    #[pg_extern]
    fn each_column_has_a_name_of_its_own() {
        let names = ["count".to_owned(), "count_2".to_owned()];
        assert_eq!(unique("sum", 3, &names), "sum");
        assert_eq!(unique("count", 2, &names), "count_3");
    }
}
