//! pgvector's `vector`, read and written in its own layout.
//!
//! A varlena whose body is a little `int16` dimension, an `int16` that is 0, and the
//! `float4` elements, in the machine's byte order (pgvector's src/vector.h).

use std::cell::Cell;

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::prelude::*;
use pgrx::{IntoDatum, impl_sql_translatable};

use super::error::OrReport;
use super::{sql, syscache};

/// A vector on its way into SQL.
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

// SAFETY: the datum returned is a freshly allocated vector, or SQL NULL.
unsafe impl BoxRet for Vector {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        match self.into_datum() {
            // SAFETY: the datum is a vector, the declared return type.
            Some(datum) => unsafe { fcinfo.return_raw_datum(datum) },
            None => fcinfo.return_null(),
        }
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
