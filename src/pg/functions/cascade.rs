//! `rag.cascade`, `rag.case_has_set`: what foreign keys between the extension's own tables would do.
//!
//! There are none, since the constraints of an extension are there before a dump's rows are, and a
//! parallel restore loads tables in any order. Nothing of a restore deletes or renames.

use std::ffi::{CStr, CString};

use pgrx::datum::DatumWithOid;
use pgrx::heap_tuple::PgHeapTuple;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;
use pgrx::{AllocatedByPostgres, PgTrigger};

use crate::error::{Error, ErrorKind, Result};
use crate::pg::acting::as_superuser;
use crate::pg::error::OrReport;
use crate::pg::intake;
use crate::pg::sql::{self, render};

type Row<'a> = Option<PgHeapTuple<'a, AllocatedByPostgres>>;

#[pg_trigger(sql = false)]
fn rag_cascade<'a>(
    trigger: &'a PgTrigger<'a>,
) -> core::result::Result<Row<'a>, std::convert::Infallible> {
    cascade(trigger).or_report();
    Ok(None)
}

#[pg_trigger(sql = false)]
fn rag_case_has_set<'a>(
    trigger: &'a PgTrigger<'a>,
) -> core::result::Result<Row<'a>, std::convert::Infallible> {
    case_has_set(trigger).or_report();
    Ok(None)
}

/// Has what belongs to a row go with it, or be called as it is called now. The trigger's arguments:
/// the row's key, and by tables the column that refers to it.
fn cascade(trigger: &PgTrigger<'_>) -> Result<()> {
    let arguments = arguments(trigger)?;
    let Some((key, dependants)) = arguments.split_first() else { return Ok(()) };
    let data = trigger.trigger_data();
    // SAFETY: a row trigger has the row that was; this one is AFTER DELETE OR UPDATE.
    let old = unsafe { value(data, data.tg_trigtuple, key) }?;
    let (template, values) = match trigger.event().fired_by_update() {
        false => (include_str!("../../../sql/query/cascade_delete.sql"), vec![old]),
        // SAFETY: after an update it has the row that is.
        true => (include_str!("../../../sql/query/cascade_update.sql"), unsafe {
            vec![old, value(data, data.tg_newtuple, key)?]
        }),
    };
    dependants.chunks_exact(2).try_for_each(|dependant| {
        let (table, column) = (quote_identifier(&dependant[0]), quote_identifier(&dependant[1]));
        let statement = render(template, &[("table", &table), ("column", &column)]);
        as_superuser(|| sql::execute(&statement, &values)).map(drop)
    })
}

/// An error where the evaluation set of a case is not there, or is just being deleted.
fn case_has_set(trigger: &PgTrigger<'_>) -> Result<()> {
    arguments(trigger)?;
    let data = trigger.trigger_data();
    let row = match trigger.event().fired_by_update() {
        true => data.tg_newtuple,
        false => data.tg_trigtuple,
    };
    // SAFETY: a row trigger has the row that is; this one is AFTER INSERT OR UPDATE.
    let set = unsafe { value(data, row, "eval_set") }?;
    // SAFETY: the column is a text that is not NULL, of a row that outlives this.
    let name =
        set.datum().and_then(|name| unsafe { String::from_datum(name.sans_lifetime(), false) });
    let name = name.unwrap_or_default();
    let statement = include_str!("../../../sql/query/eval_set_hold.sql");
    if as_superuser(|| sql::changed_rows(statement, &[set], |_| Ok(())))?.is_empty() {
        let message = format!("evaluation set \"{name}\" does not exist");
        return Err(Error::new(ErrorKind::UndefinedObject, message)
            .hint("INSERT INTO rag.eval_set first, or call rag_eval_load, which does both."));
    }
    Ok(())
}

/// The trigger's arguments; an error where it is not one of the extension's own, for what it does is
/// done as the superuser.
fn arguments(trigger: &PgTrigger<'_>) -> Result<Vec<String>> {
    let relation = trigger.trigger_data().tg_relation;
    // SAFETY: the table of a trigger that fires is open.
    let (table, name) = unsafe { ((*relation).rd_id, (*(*relation).rd_rel).relname.data) };
    // SAFETY: a name ends with a zero.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) };
    if intake::table(name) != Some(table) {
        let message = "the trigger is on a table that is not one of the schema rag";
        return Err(Error::new(ErrorKind::WrongObjectType, message));
    }
    trigger.extra_args().map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
}

/// The value of a column of a row.
///
/// # Safety
///
/// `row` is a row of the table of the trigger that has `data`, and outlives the value.
unsafe fn value<'a>(
    data: &'a pg_sys::TriggerData,
    row: pg_sys::HeapTuple,
    column: &str,
) -> Result<DatumWithOid<'a>> {
    let missing = || Error::new(ErrorKind::Internal, format!("there is no column {column}"));
    let name = CString::new(column).map_err(|_| missing())?;
    let mut is_null = false;
    // SAFETY: by this function's contract; the table is open.
    unsafe {
        let columns = (*data.tg_relation).rd_att;
        let number = pg_sys::SPI_fnumber(columns, name.as_ptr());
        if number <= 0 {
            return Err(missing());
        }
        let value = pg_sys::SPI_getbinval(row, columns, number, &mut is_null);
        Ok(DatumWithOid::new((!is_null).then_some(value), pg_sys::SPI_gettypeid(columns, number)))
    }
}
