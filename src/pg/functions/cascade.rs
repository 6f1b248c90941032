//! `rag.cascade`, `rag.case_has_set`: what foreign keys between the extension's own tables would do.
//!
//! There are none, since the constraints of an extension are there before a dump's rows are, and a
//! parallel restore loads tables in any order. Nothing of a restore deletes or renames.

use std::ffi::{CStr, CString};

use pgrx::datum::DatumWithOid;
use pgrx::prelude::*;
use pgrx::spi::quote_identifier;

use crate::error::{Error, ErrorKind, Result};
use crate::pg::changes::intake;
use crate::pg::pipeline::triggers;
use crate::pg::server::error::OrReport;
use crate::pg::server::role::as_superuser;
use crate::pg::server::sql::{self, query, render};

#[pg_extern(sql = false)]
fn rag_cascade(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: what PostgreSQL calls a function with.
    unsafe { triggers::called_with(fcinfo, "rag.cascade") }.and_then(cascade).or_report();
}

#[pg_extern(sql = false)]
fn rag_case_has_set(fcinfo: pg_sys::FunctionCallInfo) {
    // SAFETY: as above.
    unsafe { triggers::called_with(fcinfo, "rag.case_has_set") }.and_then(case_has_set).or_report();
}

/// Has what belongs to a row go with it, or be called as it is called now. The trigger's arguments:
/// the row's key, and by tables the column that refers to it.
fn cascade(data: &pg_sys::TriggerData) -> Result<()> {
    let arguments = arguments(data)?;
    let Some((key, dependants)) = arguments.split_first() else { return Ok(()) };
    // SAFETY: a row trigger has the row that was; this one is AFTER DELETE OR UPDATE.
    let old = unsafe { value(data, data.tg_trigtuple, key) }?;
    let (template, values) = match is_update(data) {
        false => (query!(cascade.delete), vec![old]),
        // SAFETY: after an update it has the row that is.
        true => (query!(cascade.update), unsafe { vec![old, value(data, data.tg_newtuple, key)?] }),
    };
    dependants.chunks_exact(2).try_for_each(|dependant| {
        let (table, column) = (quote_identifier(&dependant[0]), quote_identifier(&dependant[1]));
        let statement = render(template, &[("table", &table), ("column", &column)]);
        as_superuser(|| sql::execute(&statement, &values)).map(drop)
    })
}

/// An error where the evaluation set of a case is not there, or is just being deleted.
fn case_has_set(data: &pg_sys::TriggerData) -> Result<()> {
    arguments(data)?;
    let row = match is_update(data) {
        true => data.tg_newtuple,
        false => data.tg_trigtuple,
    };
    // SAFETY: a row trigger has the row that is; this one is AFTER INSERT OR UPDATE.
    let set = unsafe { value(data, row, "eval_set") }?;
    // SAFETY: the column is a text that is not NULL, of a row that outlives this.
    let name =
        set.datum().and_then(|name| unsafe { String::from_datum(name.sans_lifetime(), false) });
    let name = name.unwrap_or_default();
    let statement = query!(evaluation.set_hold);
    if as_superuser(|| sql::changed_rows(statement, &[set], |_| Ok(())))?.is_empty() {
        let message = format!("evaluation set \"{name}\" does not exist");
        return Err(Error::new(ErrorKind::UndefinedObject, message)
            .hint("INSERT INTO rag.eval_set first, or call rag_eval_load, which does both."));
    }
    Ok(())
}

/// The trigger's arguments; an error where it is not one of the extension's own, for what it does is
/// done as the superuser.
fn arguments(data: &pg_sys::TriggerData) -> Result<Vec<String>> {
    // SAFETY: the table of a trigger that fires is open; its name ends with a zero.
    let (table, name) = unsafe {
        let relation = &*data.tg_relation;
        (relation.rd_id, CStr::from_ptr((*relation.rd_rel).relname.data.as_ptr()))
    };
    if intake::table(name) != Some(table) {
        let message = "the trigger is on a table that is not one of the schema rag";
        return Err(Error::new(ErrorKind::WrongObjectType, message));
    }
    // SAFETY: a trigger that fires has so many arguments, which are strings that end with a zero.
    let arguments = unsafe {
        let trigger = &*data.tg_trigger;
        (0..trigger.tgnargs as usize).map(|place| CStr::from_ptr(*trigger.tgargs.add(place)))
    };
    Ok(arguments.map(|argument| argument.to_string_lossy().into_owned()).collect())
}

fn is_update(data: &pg_sys::TriggerData) -> bool {
    data.tg_event & pg_sys::TRIGGER_EVENT_OPMASK == pg_sys::TRIGGER_EVENT_UPDATE
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
