//! The callback aminsert.

use std::cell::RefCell;

use pgrx::prelude::*;

use super::filter::{self, FilterColumn};
use super::value;
use crate::error::Result;
use crate::hnsw::build::layer_by_chance;
use crate::hnsw::columns::ColumnValues;
use crate::hnsw::insert::{InsertItem, insert, insert_loose};
use crate::hnsw::page::{IndexShape, NodeState, RowId, VectorColumn};
use crate::hnsw::search_layer::SearchMemory;
use crate::hnsw::slots::read_meta;
use crate::pg::index::pages::Pages;
use crate::pg::server::error::OrReport;
use crate::pg::server::random;

thread_local! {
    static MEMORY: RefCell<SearchMemory> = RefCell::default();
}

/// The callback aminsert: inserts one row.
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
    // SAFETY: PostgreSQL passes an open index, and a value for each of its columns. The lock on
    // page 0 tells vacuum which inserts are under way; an error gives it back.
    unsafe {
        let pages = Pages::new(index);
        let columns = filter::columns(index).or_report();
        let values = RowValues { columns: &columns, values, nulls };
        // What lies in TOAST is fetched before. Who had to wait for that with the lock would have VACUUM wait for
        // the lock, and behind VACUUM all other inserts.
        let entry = NewEntry::of(&pages, values, row_of(row)).or_report();
        pg_sys::LockPage(index, 0, pg_sys::ShareLock as i32);
        entry.insert(&pages).or_report();
        pg_sys::UnlockPage(index, 0, pg_sys::ShareLock as i32);
    }
    false
}

/// The values of a row, as PostgreSQL passes them.
#[derive(Clone, Copy)]
pub struct RowValues<'a> {
    /// The index's columns after the first.
    pub columns: &'a [FilterColumn],
    /// A value for each column.
    pub values: *const pg_sys::Datum,
    /// Which of them are NULL.
    pub nulls: *const bool,
}

impl RowValues<'_> {
    /// Brings the values into the form of an index; or says why the row is loose.
    ///
    /// # Safety
    ///
    /// There is a value for each column of the index, of the column's type.
    pub unsafe fn encode(
        &self,
        row: RowId,
        column: VectorColumn,
        shape: &IndexShape,
    ) -> Result<std::result::Result<InsertItem, NodeState>> {
        // SAFETY: by this function's contract.
        unsafe {
            if *self.nulls {
                return Ok(Err(NodeState::Null));
            }
            let encoded = value::encode(*self.values, column, shape)?;
            let Some((payload, residuals)) = encoded else {
                return Ok(Err(NodeState::Undirected));
            };
            let probe = match shape.space.is_estimate() {
                true => value::probe(*self.values, column, shape)?.map(|(probe, _)| probe),
                false => None,
            };
            let values = filter::values(self.columns, self.values, self.nulls);
            let values = ColumnValues::new(shape, &values);
            Ok(Ok(InsertItem { row, payload, probe, residuals, values }))
        }
    }
}

/// What an index is to hold of a row that is new to it.
enum NewEntry {
    /// A vector that reaches up to this layer.
    Node(InsertItem, u8),
    /// A row that has no place in the graph.
    Loose(RowId, NodeState),
}

impl NewEntry {
    /// Brings a row into the form of an index. What that depends on never changes in an index.
    ///
    /// # Safety
    ///
    /// As for [`RowValues::encode`].
    unsafe fn of(pages: &Pages, given: RowValues<'_>, row: RowId) -> Result<NewEntry> {
        let meta = read_meta(pages)?;
        // SAFETY: by this function's contract.
        Ok(match unsafe { given.encode(row, meta.column, &meta.shape)? } {
            Err(state) => NewEntry::Loose(row, state),
            Ok(item) => NewEntry::Node(item, layer_by_chance(chance()?, meta.shape.degree.m)),
        })
    }

    /// Puts it into the index.
    fn insert(&self, pages: &Pages) -> Result<()> {
        match self {
            NewEntry::Loose(row, state) => insert_loose(pages, *row, *state),
            NewEntry::Node(item, layer) => {
                MEMORY.with_borrow_mut(|memory| insert(pages, item, *layer, memory))
            }
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
pub unsafe fn row_of(pointer: pg_sys::ItemPointer) -> RowId {
    // SAFETY: by this function's contract.
    unsafe {
        let id = (*pointer).ip_blkid;
        let block = u32::from(id.bi_hi) << 16 | u32::from(id.bi_lo);
        RowId { block, line: (*pointer).ip_posid }
    }
}

/// The item pointer of a row.
pub fn pointer_of(row: RowId) -> pg_sys::ItemPointerData {
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData {
            bi_hi: (row.block >> 16) as u16,
            bi_lo: (row.block & 0xFFFF) as u16,
        },
        ip_posid: row.line,
    }
}
