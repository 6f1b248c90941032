//! pgvector's `vector`, read and written in its own layout.
//!
//! A varlena whose body is a little `int16` dimension, an `int16` that is 0, and the
//! `float4` elements, in the machine's byte order (pgvector's src/vector.h).

use std::cell::Cell;

use pgrx::callconv::{Arg, ArgAbi, BoxRet, FcInfo};
use pgrx::datum::{Datum, FromDatum};
use pgrx::prelude::*;
use pgrx::{IntoDatum, impl_sql_translatable};

use super::error::OrReport;
use super::{call, sql, syscache};

/// A vector on its way into SQL, or out of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Vector(pub Vec<f32>);

impl_sql_translatable!(Vector, "vector");

impl IntoDatum for Vector {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        let length = pg_sys::VARHDRSZ + 4 + 4 * self.0.len();
        // SAFETY: palloc returns `length` writable bytes, aligned for any of the types
        // written; header, dimension, padding and elements fill them exactly.
        unsafe {
            let varlena = pg_sys::palloc(length).cast::<u8>();
            pgrx::set_varsize_4b(varlena.cast(), length as i32);
            let body = varlena.add(pg_sys::VARHDRSZ);
            body.cast::<i16>().write(self.0.len() as i16);
            body.cast::<i16>().add(1).write(0);
            std::ptr::copy_nonoverlapping(self.0.as_ptr(), body.add(4).cast(), self.0.len());
            Some(pg_sys::Datum::from(varlena))
        }
    }

    fn type_oid() -> pg_sys::Oid {
        type_oid()
    }
}

impl FromDatum for Vector {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null {
            return None;
        }
        let given = datum.cast_mut_ptr::<pg_sys::varlena>();
        // SAFETY: the datum is a vector that is not NULL. Detoasted, it has a four-byte header, and as many
        // elements as its dimension says; a copy that was made for that is ours.
        unsafe {
            let whole = pg_sys::pg_detoast_datum(given);
            let body = whole.cast::<u8>().add(pg_sys::VARHDRSZ);
            let count = usize::try_from(body.cast::<i16>().read()).unwrap_or_default();
            let elements = std::slice::from_raw_parts(body.add(4).cast::<f32>(), count).to_vec();
            if whole != given {
                pg_sys::pfree(whole.cast());
            }
            Some(Vector(elements))
        }
    }
}

// SAFETY: a function that takes it is declared to take a vector, by the SQL name above.
unsafe impl<'fcx> ArgAbi<'fcx> for Vector {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        // SAFETY: the argument is declared to be a vector.
        unsafe { call::argument(arg) }
    }
}

// SAFETY: the datum returned is a freshly allocated vector, or SQL NULL.
unsafe impl BoxRet for Vector {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: vector is the declared return type.
        unsafe { call::result(self, fcinfo) }
    }
}

/// The OID of pgvector's type in this database.
fn type_oid() -> pg_sys::Oid {
    thread_local!(static KNOWN: Cell<pg_sys::Oid> = const { Cell::new(pg_sys::InvalidOid) });
    let known = KNOWN.get();
    // The extension may have been dropped and created again since the last look.
    if known != pg_sys::InvalidOid && syscache::exists(pg_sys::SysCacheIdentifier::TYPEOID, [known])
    {
        return known;
    }
    let oid = sql::vector_type().or_report();
    KNOWN.set(oid);
    oid
}

#[cfg(feature = "pg_test")]
mod tests {
    use super::*;

    #[pg_extern]
    fn a_vector_is_read_as_it_was_written() {
        for elements in [vec![1.0, -2.5, 0.0], vec![0.5; 16_000]] {
            let written =
                Vector(elements.clone()).into_datum().unwrap_or_else(|| panic!("a datum"));
            // SAFETY: a vector that was just made.
            let read = unsafe { Vector::from_datum(written, false) };
            assert_eq!(read, Some(Vector(elements)));
        }
    }
}
