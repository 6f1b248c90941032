//! How values of types of our own come into a function of SQL, and out of it.

use pgrx::callconv::{Arg, FcInfo};
use pgrx::datum::{Datum, FromDatum, IntoDatum};

use super::error::OrReport;
use crate::error::Error;

/// An argument; an error where it is NULL.
///
/// # Safety
///
/// The function is declared to take the SQL type of `Value` there.
pub unsafe fn argument<Value: FromDatum>(arg: Arg<'_, '_>) -> Value {
    let index = arg.index();
    // SAFETY: by this function's contract.
    let given = unsafe { arg.unbox_arg_using_from_datum() };
    given.ok_or_else(|| Error::invalid(format!("argument {} is NULL", index + 1))).or_report()
}

/// A result.
///
/// # Safety
///
/// The function is declared to return the SQL type of `value`, whose datum is freshly allocated.
pub unsafe fn result<'fcx>(value: impl IntoDatum, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
    match value.into_datum() {
        // SAFETY: by this function's contract.
        Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
        None => fcinfo.return_null(),
    }
}
