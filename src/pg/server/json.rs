//! PostgreSQL's `jsonb`, read with errors that name what a program can't hold.
//!
//! A jsonb may hold numbers far beyond those of a program, and be nested thousands of levels deep.
//! A caller that hands over such a value gets an error that says so.

use std::ffi::{CStr, CString};
use std::io::{self, BufReader, Read};

use pgrx::callconv::{Arg, ArgAbi, BoxRet, FcInfo};
use pgrx::datum::{Datum, FromDatum, IntoDatum};
use pgrx::{direct_function_call, direct_function_call_as_datum, impl_sql_translatable, pg_sys};
use serde_json::Value;

use super::call;
use super::error::OrReport;
use crate::error::{Error, Result};
use crate::exact;

/// A value of the type jsonb. Numbers are read as a program has them, and written with all digits that they have.
#[derive(Clone, Debug, PartialEq)]
pub struct Jsonb(pub Value);

impl_sql_translatable!(Jsonb, "jsonb");

/// A value of the type jsonb that holds values of columns, or may: its numbers are as [`exact::read`] reads them.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactJsonb(pub Value);

impl_sql_translatable!(ExactJsonb, "jsonb");

/// A value of the type jsonb with the text that PostgreSQL writes of it. A program's numbers know no scale:
/// they make 49.9 of 49.90.
#[derive(Clone, Debug, PartialEq)]
pub struct WrittenJsonb {
    /// The text.
    pub text: String,
    /// What it says.
    pub value: Value,
}

/// The text of a jsonb value, which is to become one again.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonbText(pub String);

impl_sql_translatable!(JsonbText, "jsonb");

/// Texts of so many bytes are read in such parts, so that there is an occasion to stop.
const PART: usize = 1 << 16;

/// A text that is read part by part.
struct JsonParts<'a>(&'a [u8]);

impl Read for JsonParts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        pgrx::check_for_interrupts!();
        self.0.read(buffer)
    }
}

/// Reads JSON that PostgreSQL wrote.
fn parse(text: &str) -> Result<Value> {
    let read = match text.len() {
        ..PART => serde_json::from_str(text),
        _ => serde_json::from_reader(BufReader::with_capacity(PART, JsonParts(text.as_bytes()))),
    };
    read.map_err(|error| {
        let message = error.to_string();
        // PostgreSQL wrote the text, so its lines and columns are not the user's.
        let what = message.split(" at line ").next().unwrap_or_default();
        Error::invalid(format!("cannot read the jsonb value: {what}"))
            .hint("Numbers may be up to 1.8e308, and arrays and objects nested up to 127 deep.")
    })
}

/// The text of a jsonb; `None` of NULL.
///
/// # Safety
///
/// `datum` is a jsonb, unless it is NULL.
unsafe fn text_of(datum: pg_sys::Datum, is_null: bool) -> Option<String> {
    if is_null {
        return None;
    }
    // SAFETY: by this function's contract; the output function detoasts it and writes to a C string
    // of its own.
    unsafe {
        let written = direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(datum)])?;
        let text = written.to_string_lossy().into_owned();
        pg_sys::pfree(written.as_ptr().cast_mut().cast());
        Some(text)
    }
}

impl FromDatum for Jsonb {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        oid: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: by this function's contract.
        let written = unsafe { WrittenJsonb::from_polymorphic_datum(datum, is_null, oid) }?;
        Some(Jsonb(written.value))
    }
}

impl FromDatum for ExactJsonb {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the datum is a jsonb.
        let text = unsafe { text_of(datum, is_null) }?;
        Some(ExactJsonb(parse(&exact::marked(&text)).or_report()))
    }
}

impl FromDatum for WrittenJsonb {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the datum is a jsonb.
        let text = unsafe { text_of(datum, is_null) }?;
        let value = parse(&text).or_report();
        Some(WrittenJsonb { text, value })
    }
}

impl From<Jsonb> for Value {
    fn from(Jsonb(value): Jsonb) -> Value {
        value
    }
}

impl From<ExactJsonb> for Value {
    fn from(ExactJsonb(value): ExactJsonb) -> Value {
        value
    }
}

impl IntoDatum for WrittenJsonb {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        JsonbText(self.text).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

impl IntoDatum for JsonbText {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        // No jsonb holds a zero byte.
        let text = CString::new(self.0).unwrap_or_default();
        // SAFETY: the input function reads a C string and makes a jsonb, or raises an error.
        unsafe { direct_function_call_as_datum(pg_sys::jsonb_in, &[Some(text.as_ptr().into())]) }
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

impl IntoDatum for ExactJsonb {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        Jsonb(self.0).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

impl IntoDatum for Jsonb {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        JsonbText(exact::written(&self.0)).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

// SAFETY: a function that takes it is declared to take a jsonb, by the SQL name above.
unsafe impl<'fcx> ArgAbi<'fcx> for Jsonb {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        // SAFETY: the argument is declared to be a jsonb.
        unsafe { call::argument(arg) }
    }
}

// SAFETY: a function that takes it is declared to take a jsonb, by the SQL name above.
unsafe impl<'fcx> ArgAbi<'fcx> for ExactJsonb {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        // SAFETY: the argument is declared to be a jsonb.
        unsafe { call::argument(arg) }
    }
}

// SAFETY: the datum returned is a freshly allocated jsonb, or SQL NULL.
unsafe impl BoxRet for Jsonb {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: jsonb is the declared return type.
        unsafe { call::result(self, fcinfo) }
    }
}

// SAFETY: the datum returned is a freshly allocated jsonb, or SQL NULL.
unsafe impl BoxRet for JsonbText {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: jsonb is the declared return type.
        unsafe { call::result(self, fcinfo) }
    }
}
