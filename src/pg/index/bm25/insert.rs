//! The callback aminsert.

use pgrx::prelude::*;

use super::lock::StructureLock;
use super::value;
use crate::bm25::{self, IndexedDocument, Inserted, Merging};
use crate::error::Result;
use crate::pg::index::hnsw::row_of;
use crate::pg::index::pages::Pages;
use crate::pg::server::error::OrReport;

/// Inserts one row. A NULL is in no index.
#[pg_guard]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn aminsert(
    index: pg_sys::Relation,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    row: pg_sys::ItemPointer,
    _table: pg_sys::Relation,
    _unique: pg_sys::IndexUniqueCheck::Type,
    _unchanged: bool,
    _info: *mut pg_sys::IndexInfo,
) -> bool {
    // SAFETY: PostgreSQL passes an open index and the value of its column.
    unsafe {
        if !*nulls {
            value::with_document(*values, row_of(row), |document| insert(index, document))
                .or_report();
        }
    }
    false
}

/// # Safety
///
/// `index` is open.
unsafe fn insert(index: pg_sys::Relation, document: &IndexedDocument<'_>) -> Result<()> {
    // SAFETY: by this function's contract.
    let pages = unsafe { Pages::new(index) };
    match bm25::insert(&pages, document)? {
        Inserted::Done => Ok(()),
        // Where another session is at it, nothing is to be done.
        // SAFETY: by this function's contract.
        Inserted::FlushDue => match unsafe { StructureLock::try_take(index) } {
            Some(_lock) => bm25::flush(&pages, Merging::Quick),
            None => Ok(()),
        },
    }
}
