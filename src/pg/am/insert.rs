//! The callback aminsert.

use std::cell::RefCell;

use pgrx::prelude::*;

use super::pages::Pages;
use super::value;
use crate::error::Result;
use crate::index::build::layer_by_chance;
use crate::index::insert::{Scratch, insert, insert_loose, read_meta};
use crate::index::page::{Row, State};
use crate::pg::error::OrReport;
use crate::pg::random;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Inserts one row.
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
    // SAFETY: PostgreSQL passes an open index, and a value for its one column. The lock on
    // page 0 tells vacuum which inserts are under way; an error gives it back.
    unsafe {
        pg_sys::LockPage(index, 0, pg_sys::ShareLock as i32);
        let value = (!*nulls).then_some(*values);
        insert_value(&Pages::new(index), value, row_of(row)).or_report();
        pg_sys::UnlockPage(index, 0, pg_sys::ShareLock as i32);
    }
    false
}

/// Inserts a row whose value is of the index's column, or NULL.
///
/// # Safety
///
/// `value` is of the type of the index's column.
pub unsafe fn insert_value(pages: &Pages, value: Option<pg_sys::Datum>, row: Row) -> Result<()> {
    let meta = read_meta(pages)?;
    let Some(value) = value else { return insert_loose(pages, row, State::Null) };
    // SAFETY: by this function's contract.
    match unsafe { value::encode(value, meta.column, &meta.shape.space)? } {
        None => insert_loose(pages, row, State::Undirected),
        Some(payload) => {
            let layer = layer_by_chance(chance()?, meta.shape.degree.m);
            SCRATCH.with_borrow_mut(|scratch| insert(pages, row, &payload, layer, scratch))
        }
    }
}

/// A number from 0 to 1.
pub fn chance() -> Result<f64> {
    Ok((u64::from_ne_bytes(random::bytes()?) >> 11) as f64 / (1u64 << 53) as f64)
}

/// # Safety
///
/// `pointer` is a valid item pointer.
pub unsafe fn row_of(pointer: pg_sys::ItemPointer) -> Row {
    // SAFETY: by this function's contract.
    unsafe {
        let id = (*pointer).ip_blkid;
        let block = u32::from(id.bi_hi) << 16 | u32::from(id.bi_lo);
        Row { block, line: (*pointer).ip_posid }
    }
}

/// The item pointer of a row.
pub fn pointer_of(row: Row) -> pg_sys::ItemPointerData {
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData {
            bi_hi: (row.block >> 16) as u16,
            bi_lo: (row.block & 0xFFFF) as u16,
        },
        ip_posid: row.line,
    }
}
