//! The operator's own values for rows that an index knows by bounds or estimates.
//!
//! The rows are fetched from the table here and not by the executor, which can do so too: a row that comes
//! out of its reorder queue has no ctid (nodeIndexscan.c, IndexNextWithReorder), so that FOR UPDATE and
//! `ctid IN (...)` fail. And only here it is known whether a row comes too late.

use std::ffi::c_int;

use pgrx::PgMemoryContexts;
use pgrx::prelude::*;

use super::insert::pointer_of;
use super::row_filter::RowFilter;
use crate::hnsw::page::RowId;
use crate::hnsw::scan::Nearness;
use crate::pg::index::pages::guarded;

/// What is needed to get a row's vector from the table.
pub struct Rescorer {
    /// How the vector is computed of a row.
    info: *mut pg_sys::IndexInfo,
    state: *mut pg_sys::EState,
    slot: *mut pg_sys::TupleTableSlot,
    fetch: *mut pg_sys::IndexFetchTableData,
    /// What the query asks of a row beside.
    filter: Option<RowFilter>,
    /// Room for the columns of a row of the index.
    values: Vec<pg_sys::Datum>,
    nulls: Vec<bool>,
    #[cfg(feature = "pg18")]
    measured: u64,
}

impl Rescorer {
    /// A rescorer for a scan, until that ends.
    ///
    /// # Safety
    ///
    /// `scan` is a scan of ours under way.
    pub unsafe fn new(scan: pg_sys::IndexScanDesc) -> Rescorer {
        // SAFETY: by this function's contract index and table are open. What is made here lives
        // as long as the scan's description does.
        unsafe {
            let context = pg_sys::GetMemoryChunkContext(scan.cast());
            PgMemoryContexts::For(context).switch_to(|_| {
                let table = (*scan).heapRelation;
                let begin = (*(*table).rd_tableam).index_fetch_begin;
                let fetch = guarded(|| begin.map(|begin| begin(table)));
                Rescorer {
                    info: of_the_vector(pg_sys::BuildIndexInfo((*scan).indexRelation)),
                    state: pg_sys::CreateExecutorState(),
                    slot: pg_sys::table_slot_create(table, std::ptr::null_mut()),
                    fetch: fetch.unwrap_or(std::ptr::null_mut()),
                    filter: RowFilter::of(scan),
                    values: vec![pg_sys::Datum::null(); pg_sys::INDEX_MAX_KEYS as usize],
                    nulls: vec![false; pg_sys::INDEX_MAX_KEYS as usize],
                    #[cfg(feature = "pg18")]
                    measured: 0,
                }
            })
        }
    }

    /// The operator's value for a row; `None` where no version of it is visible, or the query does not want it.
    ///
    /// # Safety
    ///
    /// `scan` is the one this was made for, under way.
    pub unsafe fn distance(&mut self, scan: pg_sys::IndexScanDesc, row: RowId) -> Option<Nearness> {
        check_for_interrupts!();
        // SAFETY: by this function's contract; the key is the one that the scan is ordered by, and
        // what is computed lives in memory that the next row takes again.
        unsafe {
            let mut pointer = pointer_of(row);
            let (mut again, mut all_dead) = (false, false);
            let fetch_tuple = (*(*(*scan).heapRelation).rd_tableam).index_fetch_tuple?;
            let is_visible = guarded(|| {
                fetch_tuple(
                    self.fetch,
                    &mut pointer,
                    (*scan).xs_snapshot,
                    self.slot,
                    &mut again,
                    &mut all_dead,
                )
            });
            let slot = self.slot;
            if !is_visible || self.filter.as_mut().is_some_and(|filter| !filter.lets_pass(slot)) {
                return None;
            }
            #[cfg(feature = "pg18")]
            {
                self.measured += 1;
            }
            let context = match (*self.state).es_per_tuple_exprcontext {
                context if context.is_null() => pg_sys::MakePerTupleExprContext(self.state),
                context => context,
            };
            pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
            (*context).ecxt_scantuple = self.slot;
            PgMemoryContexts::For((*context).ecxt_per_tuple_memory).switch_to(|_| {
                pg_sys::FormIndexDatum(
                    self.info,
                    self.slot,
                    self.state,
                    self.values.as_mut_ptr(),
                    self.nulls.as_mut_ptr(),
                );
                let key = (*scan).orderByData;
                let distance = pg_sys::FunctionCall2Coll(
                    &mut (*key).sk_func,
                    (*key).sk_collation,
                    self.values[0],
                    (*key).sk_argument,
                );
                Some(Nearness::Bound(f64::from_bits(distance.value() as u64)))
            })
        }
    }

    /// Rows of which the operator's value was computed.
    #[cfg(feature = "pg18")]
    pub fn measured(&self) -> u64 {
        self.measured
    }

    /// Lets the last row go, before the scan begins anew.
    ///
    /// # Safety
    ///
    /// `scan` is the one this was made for.
    pub unsafe fn reset(&mut self, scan: pg_sys::IndexScanDesc) {
        // SAFETY: by this function's contract; both were made by `new`.
        unsafe {
            pg_sys::ExecClearTuple(self.slot);
            if let Some(reset) = (*(*(*scan).heapRelation).rd_tableam).index_fetch_reset {
                guarded(|| reset(self.fetch));
            }
        }
    }

    /// Gives back what it holds.
    ///
    /// # Safety
    ///
    /// `scan` is the one this was made for.
    pub unsafe fn end(self, scan: pg_sys::IndexScanDesc) {
        // SAFETY: by this function's contract; all of it was made by `new`.
        unsafe {
            if let Some(end) = (*(*(*scan).heapRelation).rd_tableam).index_fetch_end {
                guarded(|| end(self.fetch));
            }
            pg_sys::ExecDropSingleTupleTableSlot(self.slot);
            pg_sys::FreeExecutorState(self.state);
        }
    }
}

/// Leaves of an index's columns the first. The expressions of the others are not computed: no condition needs them, and
/// a query is not to call functions of the table's owner that it does not name.
///
/// # Safety
///
/// `info` is what BuildIndexInfo gave of an index of ours.
unsafe fn of_the_vector(info: *mut pg_sys::IndexInfo) -> *mut pg_sys::IndexInfo {
    // SAFETY: by this function's contract the list is a copy. It has an expression for each column without a number.
    unsafe {
        let expressions = c_int::from((*info).ii_IndexAttrNumbers[0] == 0);
        (*info).ii_Expressions = pg_sys::list_truncate((*info).ii_Expressions, expressions);
        (*info).ii_NumIndexAttrs = 1;
        (*info).ii_NumIndexKeyAttrs = 1;
    }
    info
}
