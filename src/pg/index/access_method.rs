//! What the callbacks of both index access methods have in common.

use std::ffi::c_int;

use pgrx::prelude::*;
use pgrx::{AllocatedByRust, PgBox, PgMemoryContexts};

/// An empty description of an access method.
pub fn new_routine() -> PgBox<pg_sys::IndexAmRoutine, AllocatedByRust> {
    // SAFETY: a node of this tag is an IndexAmRoutine.
    unsafe { PgBox::<pg_sys::IndexAmRoutine>::alloc_node(pg_sys::NodeTag::T_IndexAmRoutine) }
}

/// The family and the input type of an operator class, if it is there.
pub fn operator_class(opclass: pg_sys::Oid) -> Option<(pg_sys::Oid, pg_sys::Oid)> {
    // SAFETY: a syscache look-up, released again.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(
            pg_sys::SysCacheIdentifier::CLAOID as c_int,
            pg_sys::Datum::from(opclass),
        );
        if tuple.is_null() {
            return None;
        }
        let class = pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_opclass>();
        let found = ((*class).opcfamily, (*class).opcintype);
        pg_sys::ReleaseSysCache(tuple);
        Some(found)
    }
}

/// The share of the table's rows that are in an index: less than one where it is partial. The planner
/// takes the selectivity of a scan for a share of the table.
///
/// # Safety
///
/// `index` is of the planner's, with its table.
pub unsafe fn share_indexed(index: &pg_sys::IndexOptInfo) -> f64 {
    // SAFETY: by this function's contract.
    let rows = unsafe { (*index.rel).tuples };
    (index.tuples / rows.max(1.0)).clamp(0.0, 1.0)
}

/// A scan that owns an `O`, which lives in the memory context of the executor and is dropped with
/// it, also after an error.
///
/// # Safety
///
/// `index` is open, and the current memory context is the one in which the scan is to live.
pub unsafe fn new_scan<O: Default>(
    index: pg_sys::Relation,
    keys: i32,
    order_bys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: by this function's contract.
    unsafe {
        let scan = pg_sys::RelationGetIndexScan(index, keys, order_bys);
        let opaque = PgMemoryContexts::CurrentMemoryContext.leak_and_drop_on_delete(O::default());
        (*scan).opaque = opaque.cast();
        if order_bys > 0 {
            let count = order_bys as usize;
            (*scan).xs_orderbyvals = pg_sys::palloc0(size_of::<pg_sys::Datum>() * count).cast();
            (*scan).xs_orderbynulls = pg_sys::palloc0(size_of::<bool>() * count).cast();
        }
        scan
    }
}

/// Counts a scan for the statistics of the index and, on PostgreSQL 18, for EXPLAIN: what
/// `pgstat_count_index_scan` of pgstat.h does, which is a macro.
///
/// # Safety
///
/// `scan` is a scan of an open index.
pub unsafe fn count_scan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: by this function's contract; pgstat_info is NULL or the index's own counters, which a
    // relation gets when something is counted for the first time since it is in the cache.
    unsafe {
        #[cfg(feature = "pg18")]
        if let Some(instrument) = (*scan).instrument.as_mut() {
            instrument.nsearches += 1;
        }
        let index = (*scan).indexRelation;
        if (*index).pgstat_info.is_null() && (*index).pgstat_enabled {
            pg_sys::pgstat_assoc_relation(index);
        }
        if let Some(info) = (*index).pgstat_info.as_mut() {
            #[cfg(feature = "pg15")]
            {
                info.t_counts.t_numscans += 1;
            }
            #[cfg(not(feature = "pg15"))]
            {
                info.counts.numscans += 1;
            }
        }
    }
}

/// Notes the keys of a scan that begins anew; those that are not given stay as they are.
///
/// # Safety
///
/// `scan` was made by [`new_scan`] for at least as many keys of both kinds.
pub unsafe fn keep_keys(
    scan: pg_sys::IndexScanDesc,
    (keys, key_count): (pg_sys::ScanKey, i32),
    (order_bys, order_by_count): (pg_sys::ScanKey, i32),
) {
    // SAFETY: by this function's contract. The two may be the same place.
    unsafe {
        if !keys.is_null() && key_count > 0 {
            std::ptr::copy(keys, (*scan).keyData, key_count as usize);
        }
        if !order_bys.is_null() && order_by_count > 0 {
            std::ptr::copy(order_bys, (*scan).orderByData, order_by_count as usize);
        }
    }
}
