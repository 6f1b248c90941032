//! The callback amcostestimate: what does it cost to get the nearest rows?

use pgrx::prelude::*;

use crate::hnsw::page::{HnswMeta, HnswPageKind, VectorColumn};
use crate::hnsw::slots::read_meta;
use crate::pg::index::access_method;
use crate::pg::index::pages::Pages;
use crate::pg::server::guc;

/// The share of a random page's cost that a page of the graph costs on average: the layers
/// above and the ways that many walks take are in memory.
const PAGE_SHARE: f64 = 0.08;
/// The share of an operator's cost that the comparison of a filter value costs.
const VALUE_SHARE: f64 = 0.02;

/// The least share of its cost that a walk is said to cost.
const LEAST_SHARE: f64 = 0.01;
/// What it costs to fetch a value from TOAST beside its pages, in operators.
const FETCH: f64 = 30.0;
/// Bytes of a value on a page of TOAST, and such parts on a page.
const TOAST_PART: f64 = 1996.0;
const PARTS_A_PAGE: f64 = 4.0;

/// Estimates the start (the first walk) and the whole (every row of the table, in order).
///
/// The planner takes the part of the way between them that its LIMIT needs, divided by the
/// share of rows that the other conditions keep. So a filter that keeps few rows makes the
/// index as expensive as it will be.
#[pg_guard]
#[allow(clippy::too_many_arguments)]
pub unsafe extern "C-unwind" fn amcostestimate(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    _loop_count: f64,
    startup: *mut pg_sys::Cost,
    total: *mut pg_sys::Cost,
    selectivity: *mut pg_sys::Selectivity,
    correlation: *mut f64,
    pages: *mut f64,
) {
    // SAFETY: PostgreSQL passes the path of one of our indexes and places for the results.
    unsafe {
        *selectivity = share_kept(root, path);
        *correlation = 0.0;
        // `list_length` of pg_list.h, which is no function.
        let orders = (*path).indexorderbys.as_ref().map_or(0, |list| list.length);
        if orders != 1 {
            // Such a path can't be run: the index has the order of one distance.
            *startup = f64::INFINITY;
            *total = f64::INFINITY;
            *pages = 0.0;
            #[cfg(feature = "pg18")]
            {
                // With enable_seqscan off a sequential scan counts as one disabled node there,
                // whatever it costs.
                (*path).path.disabled_nodes = 2;
            }
            return;
        }
        let index = &*(*path).indexinfo;
        let estimate = HnswEstimate { share: *selectivity, ..HnswEstimate::of(index) };
        *selectivity *= access_method::share_indexed(index);
        let has_conditions = !(*path).indexclauses.is_null();
        *startup = match has_conditions {
            true => estimate.column_scan() + estimate.first_filtered_walk(),
            false => estimate.first_walk(),
        };
        // The planner weighs this against a sequential scan, of which it leaves a part out.
        *startup = (*startup - estimate.toasted(root, index)).max(LEAST_SHARE * *startup);
        *total = *startup + estimate.all_rows();
        *pages = estimate.pages;
    }
}

/// The share of the rows that the conditions on the index's own columns keep.
///
/// # Safety
///
/// As for [`amcostestimate`].
unsafe fn share_kept(root: *mut pg_sys::PlannerInfo, path: *mut pg_sys::IndexPath) -> f64 {
    // SAFETY: by this function's contract.
    unsafe {
        let clauses = pg_sys::get_quals_from_indexclauses((*path).indexclauses);
        let table = (*(*(*path).indexinfo).rel).relid as i32;
        pg_sys::clauselist_selectivity(
            root,
            clauses,
            table,
            pg_sys::JoinType::JOIN_INNER,
            std::ptr::null_mut(),
        )
    }
}

struct HnswEstimate {
    rows: f64,
    /// The share of them that conditions keep.
    share: f64,
    pages: f64,
    /// What a visit costs without its page.
    visit: f64,
    /// What a page of the graph costs.
    random_page: f64,
    /// What a page costs that is read in order.
    next_page: f64,
    /// Neighbours of a node.
    degree: f64,
    /// Bytes of a vector in the table.
    width: f64,
}

impl HnswEstimate {
    /// # Safety
    ///
    /// `index` describes an index of ours in the planner's terms; its table is locked.
    unsafe fn of(index: &pg_sys::IndexOptInfo) -> HnswEstimate {
        // SAFETY: by this function's contract.
        unsafe {
            let relation = pg_sys::index_open(index.indexoid, pg_sys::NoLock as i32);
            let meta = read_meta(&Pages::new(relation)).ok();
            pg_sys::index_close(relation, pg_sys::NoLock as i32);
            let (mut random_page, mut next_page) = (0.0, 0.0);
            pg_sys::get_tablespace_page_costs(
                index.reltablespace,
                &mut random_page,
                &mut next_page,
            );
            HnswEstimate {
                rows: index.tuples.max(1.0),
                share: 1.0,
                pages: f64::from(index.pages),
                visit: pg_sys::cpu_index_tuple_cost
                    + pg_sys::cpu_operator_cost * meta.as_ref().map_or(1.0, operators),
                random_page: random_page * PAGE_SHARE,
                next_page,
                degree: meta.as_ref().map_or(32.0, |meta| meta.shape.degree.most(0) as f64),
                width: meta.map_or(0.0, |meta| bytes_in_table(&meta)),
            }
        }
    }

    /// Nodes that a walk with ef_search meets: about half of the neighbours of the ef nearest
    /// are new, and on the way there are those of some nodes in each of log_m N layers.
    fn visits(&self) -> f64 {
        let layers = self.rows.ln() / (self.degree / 2.0).max(2.0).ln();
        (self.degree * (0.5 * guc::hnsw_ef_search() as f64 + 2.0 * layers)).min(self.rows)
    }

    /// What a sequential scan pays to get the vectors from TOAST of the rows that its conditions keep. The
    /// planner's own costs leave it out.
    ///
    /// # Safety
    ///
    /// As for [`amcostestimate`].
    unsafe fn toasted(&self, root: *mut pg_sys::PlannerInfo, index: &pg_sys::IndexOptInfo) -> f64 {
        // What is as short as a part of TOAST is on the pages of the table.
        if self.width <= TOAST_PART {
            return 0.0;
        }
        // SAFETY: by this function's contract the table is locked, and is one of the query's.
        let (pages, kept) = unsafe {
            let table = &*index.rel;
            let entry = *(*root).simple_rte_array.add(table.relid as usize);
            (toast_pages((*entry).relid), table.rows / table.tuples.max(1.0))
        };
        let needed = self.rows * (self.width / TOAST_PART).ceil() / PARTS_A_PAGE;
        let pages = pages.min(needed);
        // Values that fit on the pages of the table are not in TOAST.
        let values = self.rows * (pages / needed.max(1.0)).min(1.0);
        kept.clamp(0.0, 1.0) * (pages * self.next_page + values * FETCH * operator_cost())
    }

    fn first_walk(&self) -> f64 {
        let visits = self.visits();
        visits * self.visit + visits.min(self.pages) * self.random_page
    }

    /// Comparing the values of the filter columns, many at once.
    fn column_scan(&self) -> f64 {
        self.rows * operator_cost() * VALUE_SHARE
    }

    /// Either a look at all rows that are kept, or a walk that goes round the others.
    fn first_filtered_walk(&self) -> f64 {
        let kept = self.rows * self.share;
        let each = self.visit + self.random_page;
        (kept * each).min(2.0 * self.first_walk())
    }

    /// Reading the whole ground layer, or what of it is kept, and sorting it.
    fn all_rows(&self) -> f64 {
        let kept = (self.rows * self.share).max(1.0);
        let compares = kept * kept.max(2.0).log2();
        self.pages.min(kept) * self.next_page + kept * self.visit + compares * 2.0 * operator_cost()
    }
}

/// Pages of a table's TOAST.
///
/// # Safety
///
/// `table` is a locked table.
unsafe fn toast_pages(table: pg_sys::Oid) -> f64 {
    let (no_lock, lock) = (pg_sys::NoLock as i32, pg_sys::AccessShareLock as i32);
    // SAFETY: by this function's contract; its TOAST stays as long as it does.
    unsafe {
        let relation = pg_sys::relation_open(table, no_lock);
        let toast = (*(*relation).rd_rel).reltoastrelid;
        pg_sys::relation_close(relation, no_lock);
        if toast == pg_sys::InvalidOid {
            return 0.0;
        }
        let relation = pg_sys::relation_open(toast, lock);
        let fork = pg_sys::ForkNumber::MAIN_FORKNUM;
        let pages = pg_sys::RelationGetNumberOfBlocksInFork(relation, fork);
        pg_sys::relation_close(relation, lock);
        f64::from(pages)
    }
}

/// Bytes of a vector in the table.
fn bytes_in_table(meta: &HnswMeta) -> f64 {
    let dimensions = f64::from(meta.shape.space.dimensions);
    match meta.column {
        VectorColumn::Vector => 4.0 * dimensions,
        VectorColumn::HalfVector => 2.0 * dimensions,
        VectorColumn::Bit => dimensions / 8.0,
    }
}

fn operator_cost() -> f64 {
    // SAFETY: a plain setting.
    unsafe { pg_sys::cpu_operator_cost }
}

/// A distance in terms of simple operators, of which one takes 512 bytes.
fn operators(meta: &HnswMeta) -> f64 {
    1.0 + meta.shape.slot_bytes(HnswPageKind::Ground) as f64 / 512.0
}
