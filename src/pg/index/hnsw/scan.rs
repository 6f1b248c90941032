//! The callbacks of a scan.

use std::cell::RefCell;

use pgrx::prelude::*;

use super::insert::pointer_of;
use super::rescore::Rescorer;
use super::{filter, scan_nodes, value};
use crate::error::{Error, ErrorKind, Result};
use crate::hnsw::columns::ColumnCondition;
use crate::hnsw::exact_order::ExactOrder;
use crate::hnsw::page::HnswMeta;
use crate::hnsw::residuals::ResidualProbe;
use crate::hnsw::scan::{Nearness, Probe, Scan, ScanEffort, ScanQuery};
use crate::hnsw::scan_options::ScanOptions;
use crate::hnsw::slots::read_meta;
use crate::hnsw::visited::Visited;
use crate::pg::index::access_method;
use crate::pg::index::pages::Pages;
use crate::pg::server::error::OrReport;
use crate::pg::server::guc;
use crate::pg::server::raised::as_raised;

thread_local! {
    /// Memory for the next scan.
    static VISITED: RefCell<Vec<Visited>> = const { RefCell::new(Vec::new()) };
}

/// Sets of visited nodes that a session keeps, and the most bytes of one.
const MOST_KEPT: usize = 4;
const LARGEST_KEPT: usize = 64 << 20;

/// Between amrescan and the first amgettuple: `None`.
#[derive(Default)]
struct HnswScan {
    scan: Option<(Pages, Scan)>,
    /// What the scans before have done, if this one is done again and again.
    effort: ScanEffort,
    /// In which order its rows are given.
    order: Option<ExactOrder>,
    /// What measures them, from the first scan to the last.
    rescorer: Option<Rescorer>,
}

impl HnswScan {
    /// Ends the scan that is under way; another may begin.
    fn end(&mut self) {
        self.order = None;
        if let Some((_, scan)) = self.scan.take() {
            self.effort.add(scan.effort());
            let visited = scan.into_visited();
            VISITED.with_borrow_mut(|kept| {
                if kept.len() < MOST_KEPT && visited.bytes() <= LARGEST_KEPT {
                    kept.push(visited);
                }
            });
        }
    }
}

/// The callback ambeginscan: makes a scan.
#[pg_guard]
pub unsafe extern "C-unwind" fn ambeginscan(
    index: pg_sys::Relation,
    keys: i32,
    order_bys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: PostgreSQL passes an open index, in the memory context of the executor.
    unsafe { access_method::new_scan::<HnswScan>(index, keys, order_bys) }
}

/// Begins anew, with the keys given.
#[pg_guard]
pub unsafe extern "C-unwind" fn amrescan(
    scan: pg_sys::IndexScanDesc,
    keys: pg_sys::ScanKey,
    key_count: i32,
    order_bys: pg_sys::ScanKey,
    order_by_count: i32,
) {
    // SAFETY: PostgreSQL passes a scan of ours and as many keys as it was made with.
    unsafe {
        let opaque = &mut *(*scan).opaque.cast::<HnswScan>();
        opaque.end();
        if let Some(rescorer) = &mut opaque.rescorer {
            rescorer.reset(scan);
        }
        access_method::keep_keys(scan, (keys, key_count), (order_bys, order_by_count));
    }
}

/// The callback amgettuple: the next row.
#[pg_guard]
pub unsafe extern "C-unwind" fn amgettuple(
    scan: pg_sys::IndexScanDesc,
    _direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: PostgreSQL passes a scan of ours.
    unsafe {
        let opaque = &mut *(*scan).opaque.cast::<HnswScan>();
        if opaque.scan.is_none() {
            let pages = Pages::new((*scan).indexRelation);
            let under_way = begin(scan, &pages).or_report();
            opaque.scan = Some((pages, under_way));
            opaque.order = Some(ExactOrder::new(guc::hnsw_iterative_scan().is_strict()));
        }
        let (Some((pages, under_way)), Some(order)) = (&mut opaque.scan, &mut opaque.order) else {
            return false;
        };
        let rescorer = opaque.rescorer.get_or_insert_with(|| Rescorer::new(scan));
        let measure = |row| Ok(rescorer.distance(scan, row));
        // What a condition on the rows calls may fail.
        let next = as_raised(None, || order.next(pages, under_way, measure)).or_report();
        let Some((nearness, row)) = next else {
            // A cursor may stay open for long, and VACUUM wait for the page that was looked at last.
            rescorer.reset(scan);
            return false;
        };
        (*scan).xs_heaptid = pointer_of(row);
        (*scan).xs_recheck = (*scan).numberOfKeys > 0;
        (*scan).xs_recheckorderby = false;
        let (value, is_null) = match nearness {
            Nearness::Bound(bound) => (bound, false),
            Nearness::Undirected => (f64::NAN, false),
            Nearness::Null => (0.0, true),
        };
        *(*scan).xs_orderbyvals = pg_sys::Datum::from(value.to_bits());
        *(*scan).xs_orderbynulls = is_null;
        true
    }
}

/// # Safety
///
/// `scan` is a scan of ours, and `pages` are those of its index.
unsafe fn begin(scan: pg_sys::IndexScanDesc, pages: &Pages) -> Result<Scan> {
    // SAFETY: by this function's contract.
    unsafe {
        // Nothing keeps vacuum from removing a row between its return and its use.
        let snapshot = (*scan).xs_snapshot;
        let is_mvcc = snapshot.is_null()
            || matches!(
                (*snapshot).snapshot_type,
                pg_sys::SnapshotType::SNAPSHOT_MVCC | pg_sys::SnapshotType::SNAPSHOT_HISTORIC_MVCC
            );
        if !is_mvcc {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "rag_hnsw indexes can be scanned with an MVCC snapshot only",
            ));
        }
        if (*scan).numberOfOrderBys != 1 {
            return Err(Error::new(
                ErrorKind::Unsupported,
                "rag_hnsw indexes can be scanned in order of one distance only",
            ));
        }
        let key = (*scan).orderByData;
        let (probe, residual_probe) = probe(key, pages)?;
        let conditions = conditions(scan)?;
        let visited = VISITED.with_borrow_mut(Vec::pop).unwrap_or_default();
        access_method::count_scan(scan);
        let options = ScanOptions { share_kept: share_kept(scan), ..options() };
        let mut begun = Scan::begin(pages, ScanQuery { probe, conditions }, options, visited)?;
        // Where the query has further conditions, each row is fetched for them before it gets its place in the order.
        if let Some(probe) = residual_probe.filter(|_| scan_nodes::node_of(scan).is_none()) {
            begun.look_closer(probe);
        }
        Ok(begun)
    }
}

/// # Safety
///
/// `key` is the key of an ORDER BY over the index's column.
unsafe fn probe(key: pg_sys::ScanKey, pages: &Pages) -> Result<(Probe, Option<ResidualProbe>)> {
    // SAFETY: by this function's contract.
    unsafe {
        if (*key).sk_flags & pg_sys::SK_ISNULL as i32 != 0 {
            return Ok((Probe::Anything(Nearness::Null), None));
        }
        let HnswMeta { column, shape, .. } = read_meta(pages)?;
        let Some((payload, closer)) = value::probe((*key).sk_argument, column, &shape)? else {
            return Ok((Probe::Anything(Nearness::Undirected), None));
        };
        Ok((Probe::Vector(payload), closer))
    }
}

/// # Safety
///
/// `scan` is a scan of ours.
unsafe fn conditions(scan: pg_sys::IndexScanDesc) -> Result<Vec<ColumnCondition>> {
    // SAFETY: by this function's contract; keyData has as many keys as are counted.
    unsafe {
        let count = (*scan).numberOfKeys as usize;
        if count == 0 {
            return Ok(Vec::new());
        }
        let columns = filter::columns((*scan).indexRelation)?;
        let keys = std::slice::from_raw_parts((*scan).keyData, count);
        Ok(filter::conditions(&columns, keys))
    }
}

fn options() -> ScanOptions {
    // SAFETY: work_mem is a plain setting, in kB.
    let work_mem = unsafe { pg_sys::work_mem } as f64 * 1024.0;
    ScanOptions {
        ef_search: guc::hnsw_ef_search(),
        is_iterative: guc::hnsw_iterative_scan().is_iterative(),
        max_scan_tuples: guc::hnsw_max_scan_tuples(),
        memory: (work_mem * guc::hnsw_scan_mem_multiplier()) as usize,
        share_kept: 1.0,
    }
}

/// The share of the index's rows that the query keeps, as the planner estimates it.
///
/// # Safety
///
/// `scan` is a scan of ours under way.
unsafe fn share_kept(scan: pg_sys::IndexScanDesc) -> f64 {
    let Some(node) = scan_nodes::node_of(scan) else { return 1.0 };
    // SAFETY: by this function's contract index and node are there.
    let (kept, all) = unsafe {
        let index = (*(*scan).indexRelation).rd_rel;
        ((*(*node).ss.ps.plan).plan_rows, f64::from((*index).reltuples))
    };
    // -1 is for "never analysed".
    if all > 0.0 { (kept / all).clamp(0.0, 1.0) } else { 1.0 }
}

/// What a scan and those before it in the same plan have cost, as EXPLAIN says it.
///
/// # Safety
///
/// `scan` is a scan of ours.
#[cfg(feature = "pg18")]
pub unsafe fn figures(scan: pg_sys::IndexScanDesc) -> [(&'static std::ffi::CStr, u64); 3] {
    // SAFETY: by this function's contract.
    let opaque = unsafe { &*(*scan).opaque.cast::<HnswScan>() };
    let mut effort = opaque.effort;
    effort.add(opaque.scan.as_ref().map(|(_, scan)| scan.effort()).unwrap_or_default());
    [
        (c"Nodes Visited", effort.nodes),
        (c"Distances Computed", effort.distances),
        (c"Rows Rescored", opaque.rescorer.as_ref().map_or(0, Rescorer::measured)),
    ]
}

/// Gives back what the scan used.
#[pg_guard]
pub unsafe extern "C-unwind" fn amendscan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: PostgreSQL passes a scan of ours; what is left is dropped with its memory
    // context.
    unsafe {
        let opaque = &mut *(*scan).opaque.cast::<HnswScan>();
        opaque.end();
        if let Some(rescorer) = opaque.rescorer.take() {
            rescorer.end(scan);
        }
    }
}
