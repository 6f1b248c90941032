//! The type rag_bm25_query: an index, and what it is asked.

use pgrx::prelude::*;

use super::question::Bm25Question;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::index::hnsw::Detoasted;

/// A value of rag_bm25_query.
pub struct Bm25Query {
    /// The index whose statistics count.
    pub index: pg_sys::Oid,
    /// What is asked; `None` where it is NULL.
    pub question: Option<Bm25Question>,
}

impl Bm25Query {
    /// Reads a value.
    ///
    /// # Safety
    ///
    /// `datum` is of the composite type rag_bm25_query, and not NULL.
    pub unsafe fn new(datum: pg_sys::Datum) -> Result<Bm25Query> {
        // SAFETY: by this function's contract it is a tuple with these two columns; the copy of
        // one that was toasted goes with the memory context.
        let (index, query) = unsafe {
            let tuple: pg_sys::HeapTupleHeader =
                pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast();
            (column(tuple, 1), column(tuple, 2))
        };
        let Some(index) = index else {
            let message = "rag_bm25_query names no index";
            return Err(Error::new(ErrorKind::NullNotAllowed, message).hint(
                "Give the name of a rag_bm25 index: rag_bm25_query('docs_tsv_idx', query).",
            ));
        };
        let index = pg_sys::Oid::from(index.value() as u32);
        // SAFETY: the second column is a tsquery.
        let question = query.map(|query| unsafe { question(query) }).transpose()?;
        Ok(Bm25Query { index, question })
    }
}

/// Reads a tsquery.
///
/// # Safety
///
/// `datum` is a tsquery that is not NULL.
pub unsafe fn question(datum: pg_sys::Datum) -> Result<Bm25Question> {
    // SAFETY: by this function's contract.
    let value = unsafe { Detoasted::new(datum) };
    Bm25Question::new(value.bytes())
}

/// # Safety
///
/// `tuple` is of a composite type with so many columns.
unsafe fn column(tuple: pg_sys::HeapTupleHeader, number: i16) -> Option<pg_sys::Datum> {
    let mut is_null = false;
    // SAFETY: by this function's contract.
    let datum = unsafe { pg_sys::GetAttributeByNum(tuple, number, &mut is_null) };
    (!is_null).then_some(datum)
}
