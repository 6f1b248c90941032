//! Which lexemes does this text have, and which does this query ask for?
//!
//! ```text
//! (text search configuration, text) → tsvector, tsquery, words of a question
//! ```
//!
//! PostgreSQL's own parser and dictionaries, but for scripts that put no spaces between words, of whose characters
//! [`bigram`](crate::text::bigram) makes pairs; for names, which [`joined_name`](crate::text::joined_name) takes apart, and of which
//! [`variant`](crate::text::variant) knows how else they are written; for
//! [`number`](crate::text::number)s with signs between their digits, and digits that are not those of ASCII; and for accents. Where a
//! text has none of them, everything is what PostgreSQL's functions would make of it.

mod parsed;
mod query;
mod question;
mod variants;

use std::ffi::CString;

use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::{impl_sql_translatable, pg_sys};

use self::parsed::{ParsedWords, TextRole};
pub use self::query::{QuerySyntax, to_tsquery};
pub use self::question::{any_of, question_to_tsquery, question_words, quoted};
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::syscache;

/// A tsvector that PostgreSQL has made, on its way into SQL.
pub struct MadeTsVector(pg_sys::TSVector);

/// A tsquery that PostgreSQL has made, on its way into SQL.
pub struct MadeTsQuery(pg_sys::TSQuery);

/// The text search configuration with this OID. A caller can make a regconfig of any number: one that
/// there is none of is UndefinedObject.
pub fn existing(config: pg_sys::Oid) -> Result<pg_sys::Oid> {
    if syscache::exists(pg_sys::SysCacheIdentifier::TSCONFIGOID, [config]) {
        return Ok(config);
    }
    let message = format!("text search configuration with OID {} does not exist", config.to_u32());
    Err(Error::new(ErrorKind::UndefinedObject, message))
}

/// The lexemes of a document, with their places. An error where they are more than a tsvector can hold,
/// 1 MB.
pub fn to_tsvector(config: pg_sys::Oid, document: &str) -> MadeTsVector {
    MadeTsVector(ParsedWords::of(config, document, TextRole::Document).into_tsvector())
}

/// A text as C has it. Texts of PostgreSQL hold no NUL.
fn c_string(text: String) -> Result<CString> {
    CString::new(text).map_err(|_| Error::new(ErrorKind::Internal, "a text holds a NUL"))
}

impl_sql_translatable!(MadeTsVector, "tsvector");
impl_sql_translatable!(MadeTsQuery, "tsquery");

// SAFETY: the datum returned is a tsvector in the memory context of the call.
unsafe impl BoxRet for MadeTsVector {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: tsvector is the declared return type.
        unsafe { fcinfo.return_raw_datum(pg_sys::Datum::from(self.0)) }
    }
}

// SAFETY: the datum returned is a tsquery in the memory context of the call.
unsafe impl BoxRet for MadeTsQuery {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: tsquery is the declared return type.
        unsafe { fcinfo.return_raw_datum(pg_sys::Datum::from(self.0)) }
    }
}
