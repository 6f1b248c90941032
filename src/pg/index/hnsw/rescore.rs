//! Exact distances for rows that an index knows by estimates only (storage 'binary').
//!
//! The rows of one stage of a scan are fetched from the table, their distances computed by the
//! operator itself, and given in that order. (Other storages know a bound that always holds, so
//! the executor does this for them, and for fewer rows.)

use pgrx::PgMemoryContexts;
use pgrx::prelude::*;

use super::insert::pointer_of;
use crate::error::Result;
use crate::hnsw::page::RowId;
use crate::hnsw::scan::{Nearness, Scan};
use crate::pg::index::pages::{Pages, guarded};

/// What is needed to get a row's vector from the table, and rows to be given.
pub struct Rescorer {
    info: *mut pg_sys::IndexInfo,
    state: *mut pg_sys::EState,
    slot: *mut pg_sys::TupleTableSlot,
    fetch: *mut pg_sys::IndexFetchTableData,
    /// Rows to be given, the nearest last.
    ready: Vec<(Nearness, RowId)>,
}

impl Rescorer {
    /// A rescorer for a scan, until that ends or begins anew.
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
                    info: pg_sys::BuildIndexInfo((*scan).indexRelation),
                    state: pg_sys::CreateExecutorState(),
                    slot: pg_sys::table_slot_create(table, std::ptr::null_mut()),
                    fetch: fetch.unwrap_or(std::ptr::null_mut()),
                    ready: Vec::new(),
                }
            })
        }
    }

    /// The next row and its exact distance.
    ///
    /// # Safety
    ///
    /// `scan` is the one this was made for.
    pub unsafe fn next(
        &mut self,
        scan: pg_sys::IndexScanDesc,
        under_way: &mut Scan,
        pages: &Pages,
    ) -> Result<Option<(Nearness, RowId)>> {
        while self.ready.is_empty() {
            let batch = under_way.batch(pages)?;
            if batch.is_empty() {
                return Ok(None);
            }
            for (nearness, row) in batch {
                let exact = match nearness {
                    // SAFETY: by this function's contract.
                    Nearness::Bound(_) => unsafe { self.distance(scan, row) },
                    other => Some(other),
                };
                self.ready.extend(exact.map(|exact| (exact, row)));
            }
            self.ready.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
        }
        Ok(self.ready.pop())
    }

    /// The operator's value for a row; `None` where no version of it is visible.
    ///
    /// # Safety
    ///
    /// As for [`Rescorer::next`].
    unsafe fn distance(&mut self, scan: pg_sys::IndexScanDesc, row: RowId) -> Option<Nearness> {
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
            if !is_visible {
                return None;
            }
            let context = match (*self.state).es_per_tuple_exprcontext {
                context if context.is_null() => pg_sys::MakePerTupleExprContext(self.state),
                context => context,
            };
            pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
            (*context).ecxt_scantuple = self.slot;
            PgMemoryContexts::For((*context).ecxt_per_tuple_memory).switch_to(|_| {
                let most = pg_sys::INDEX_MAX_KEYS as usize;
                let mut values = vec![pg_sys::Datum::null(); most];
                let mut nulls = vec![false; most];
                pg_sys::FormIndexDatum(
                    self.info,
                    self.slot,
                    self.state,
                    values.as_mut_ptr(),
                    nulls.as_mut_ptr(),
                );
                let key = (*scan).orderByData;
                let distance = pg_sys::FunctionCall2Coll(
                    &mut (*key).sk_func,
                    (*key).sk_collation,
                    values[0],
                    (*key).sk_argument,
                );
                Some(Nearness::Bound(f64::from_bits(distance.value() as u64)))
            })
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

/// Where a row stands among those of its batch; NaN is last but for NULL.
fn rank((nearness, _): &(Nearness, RowId)) -> f64 {
    match nearness {
        Nearness::Bound(value) if !value.is_nan() => *value,
        Nearness::Bound(_) | Nearness::Undirected => f64::INFINITY,
        Nearness::Null => f64::NAN,
    }
}
