//! PostgreSQL's `jsonb`, read with errors that name what a program can't hold.
//!
//! A jsonb may hold numbers far beyond those of a program, and be nested thousands of levels deep.
//! A caller that hands over such a value gets an error that says so.

use std::ffi::CStr;
use std::io::{self, BufReader, Read};

use pgrx::callconv::{Arg, ArgAbi, BoxRet, FcInfo};
use pgrx::datum::{Datum, FromDatum, IntoDatum};
use pgrx::{direct_function_call, impl_sql_translatable, pg_sys};
use serde_json::Value;

use super::error::OrReport;
use crate::error::{Error, Result};

/// A value of the type jsonb.
#[derive(Clone, Debug, PartialEq)]
pub struct Jsonb(pub Value);

impl_sql_translatable!(Jsonb, "jsonb");

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

impl FromDatum for Jsonb {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: the datum is a jsonb, which its output function detoasts and writes to a C string
        // of its own.
        unsafe {
            let text = direct_function_call::<&CStr>(pg_sys::jsonb_out, &[Some(datum)])?;
            let value = parse(&text.to_string_lossy());
            pg_sys::pfree(text.as_ptr().cast_mut().cast());
            Some(Jsonb(value.or_report()))
        }
    }
}

impl IntoDatum for Jsonb {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        pgrx::JsonB(self.0).into_datum()
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

// SAFETY: a function that takes it is declared to take a jsonb, by the SQL name above.
unsafe impl<'fcx> ArgAbi<'fcx> for Jsonb {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        let index = arg.index();
        // SAFETY: by this function's contract.
        let given = unsafe { arg.unbox_arg_using_from_datum() };
        given.ok_or_else(|| Error::invalid(format!("argument {} is NULL", index + 1))).or_report()
    }
}

// SAFETY: the datum returned is a freshly allocated jsonb, or SQL NULL.
unsafe impl BoxRet for Jsonb {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        match self.into_datum() {
            // SAFETY: the datum is a jsonb, the declared return type.
            Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
            None => fcinfo.return_null(),
        }
    }
}
