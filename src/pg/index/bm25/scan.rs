//! The callbacks of a scan.
//!
//! With ORDER BY `<@>` the rows come best first: those that have one of the words at least, and after
//! them those without a score that a WHERE keeps.
//! Without it, or where it asks for NULL, the rows that may match come in the order of the table, read in pieces, or go
//! into a bitmap as they are found. What the words alone don't decide, such as a phrase, the executor checks again.
//!
//! For a role that does not see all rows of the table no such plan is made: EXPLAIN would count the
//! hidden rows that have a word, as those that a policy removes from the best. A plan that was made
//! for another role gives all rows as they are in the table, and the executor scores and sorts them.

use std::collections::HashSet;

use pgrx::prelude::*;

use super::frequencies::Frequencies;
use super::query::{self, Bm25Query, Bm25Weights};
use super::question::Bm25Question;
use super::{open, settings, statistics};
use crate::bm25::{
    self, AscendingRows, Bm25Hit, Bm25Search, ROWS_AT_ONCE, RowSink, SearchEffort, Term,
};
use crate::error::{Error, ErrorKind, Result};
use crate::pages::RowId;
use crate::pg::index::access_method;
use crate::pg::index::hnsw::pointer_of;
use crate::pg::index::pages::Pages;
use crate::pg::server::error::OrReport;
use crate::pg::server::row_security::hides_statistics;

/// Where a row stands in the ORDER BY, as the executor is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowRank {
    /// By its score.
    Scored,
    /// With NULL, as the operator says where nothing is asked.
    Null,
    /// The executor is to score the rows and bring them into order.
    Unknown,
}

/// Between amrescan and the first row: `None`.
#[derive(Default)]
struct Bm25Scan {
    scan: Option<RunningScan>,
    /// What the scans before have done, if this one is done again and again.
    effort: SearchEffort,
}

impl Bm25Scan {
    fn end(&mut self) {
        self.effort = self.effort_so_far();
        self.scan = None;
    }

    fn effort_so_far(&self) -> SearchEffort {
        let now = self.scan.as_ref().map(RunningScan::effort_so_far);
        self.effort.plus(now.unwrap_or_default())
    }
}

/// A scan that has begun.
struct RunningScan {
    pages: Pages,
    source: ScanSource,
    /// Whether the executor is to look whether a row matches.
    must_recheck: bool,
    rank: RowRank,
    /// The rows that come after those of the source, if a WHERE keeps any.
    unscored: Option<UnscoredRows>,
    /// What was done before the source.
    effort: SearchEffort,
}

/// Rows that match the conditions of a WHERE and have none of the words of the ORDER BY.
struct UnscoredRows {
    conditions: Vec<Bm25Question>,
    /// The rows that have a score.
    given: HashSet<RowId>,
    /// Whether they are being given.
    is_their_turn: bool,
}

/// Where the rows come from.
enum ScanSource {
    /// A search for the words, best first.
    Search(Box<Bm25Search>),
    /// Rows as they are in the table: those that have one of some words; all, where no word is wanted, as by `!a`, or
    /// may be looked up.
    Rows(Box<AscendingRows>),
}

/// How rows are found that may match.
struct MatchPlan {
    /// Words of which each of them has one; `None` where no word is wanted, as by `!a`, and any row may match.
    terms: Option<Vec<Term>>,
    /// Whether the executor is to look whether they do.
    must_recheck: bool,
}

impl MatchPlan {
    fn of(pages: &Pages, conditions: &[Bm25Question]) -> Result<MatchPlan> {
        let known = Frequencies::of(pages, conditions)?;
        let covers = conditions.iter().filter_map(|condition| condition.cover(|it| known.get(it)));
        let Some(cover) = covers.min_by(|a, b| a.cost.total_cmp(&b.cost)) else {
            return Ok(MatchPlan { terms: None, must_recheck: true });
        };
        let must_recheck =
            !conditions.iter().all(|condition| condition.is_met_by_any(&cover.terms));
        Ok(MatchPlan { terms: Some(cover.terms), must_recheck })
    }

    /// Gives the rows, and what it took to find them.
    fn find(&self, pages: &Pages, rows: &mut dyn RowSink) -> Result<SearchEffort> {
        match &self.terms {
            Some(terms) => bm25::matching(pages, terms, rows),
            None => bm25::rows(pages, rows).map(|()| SearchEffort::default()),
        }
    }
}

/// A bitmap that takes rows.
struct RowBitmap {
    bitmap: *mut pg_sys::TIDBitmap,
    /// Whether the executor is to look whether they match.
    must_recheck: bool,
    /// Memory for some at once: each call of PostgreSQL's costs as much as many rows do.
    pointers: Vec<pg_sys::ItemPointerData>,
    count: i64,
}

impl RowSink for RowBitmap {
    fn begin(&mut self) {
        // Those found before stay in it. They matched, and if VACUUM has removed one since, no snapshot shows it.
        self.count = 0;
    }

    fn take(&mut self, rows: &[RowId]) -> Result<()> {
        check_for_interrupts!();
        self.pointers.clear();
        self.pointers.extend(rows.iter().map(|row| pointer_of(*row)));
        let (pointers, number) = (self.pointers.as_mut_ptr(), self.pointers.len());
        // SAFETY: there are as many pointers, which are copied; the bitmap outlives the call that fills it.
        unsafe {
            pg_sys::tbm_add_tuples(self.bitmap, pointers, number as i32, self.must_recheck);
        }
        self.count += number as i64;
        Ok(())
    }
}

impl ScanSource {
    fn next(&mut self, pages: &Pages) -> Result<Option<Bm25Hit>> {
        match self {
            ScanSource::Search(search) => search.next(pages),
            ScanSource::Rows(rows) => Ok(rows.next(pages)?.map(|row| Bm25Hit { row, score: 0.0 })),
        }
    }
}

impl RunningScan {
    /// All rows, for the executor to look at and to bring into order.
    fn all(pages: Pages) -> RunningScan {
        RunningScan::over(pages, AscendingRows::new(None), true, RowRank::Unknown)
    }

    /// The rows that may match, as they are in the table.
    fn matching(pages: Pages, conditions: &[Bm25Question], rank: RowRank) -> Result<RunningScan> {
        let (rows, must_recheck) = matching(&pages, conditions)?;
        Ok(RunningScan::over(pages, rows, must_recheck, rank))
    }

    fn over(pages: Pages, rows: AscendingRows, must_recheck: bool, rank: RowRank) -> RunningScan {
        let (source, effort) = (ScanSource::Rows(Box::new(rows)), SearchEffort::default());
        RunningScan { pages, source, must_recheck, rank, unscored: None, effort }
    }

    fn of(pages: Pages, search: Bm25Search, must_recheck: bool) -> RunningScan {
        let (source, rank) = (ScanSource::Search(Box::new(search)), RowRank::Scored);
        let effort = SearchEffort::default();
        RunningScan { pages, source, must_recheck, rank, unscored: None, effort }
    }

    fn effort_so_far(&self) -> SearchEffort {
        self.effort.plus(match &self.source {
            ScanSource::Search(search) => search.effort(),
            ScanSource::Rows(rows) => rows.effort(),
        })
    }

    fn next(&mut self) -> Result<Option<Bm25Hit>> {
        loop {
            let found = self.source.next(&self.pages)?;
            let Some(unscored) = &mut self.unscored else { return Ok(found) };
            match found {
                Some(hit) if !unscored.is_their_turn => {
                    unscored.given.insert(hit.row);
                    return Ok(Some(hit));
                }
                Some(hit) if !unscored.given.contains(&hit.row) => {
                    return Ok(Some(Bm25Hit { score: 0.0, ..hit }));
                }
                Some(_) => {}
                None if unscored.is_their_turn => return Ok(None),
                None => {
                    unscored.is_their_turn = true;
                    let (rows, must_recheck) = matching(&self.pages, &unscored.conditions)?;
                    self.effort = self.effort_so_far();
                    self.must_recheck = must_recheck;
                    self.source = ScanSource::Rows(Box::new(rows));
                }
            }
            check_for_interrupts!();
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
    unsafe { access_method::new_scan::<Bm25Scan>(index, keys, order_bys) }
}

/// The callback amrescan: begins anew, with the keys given.
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
        (*(*scan).opaque.cast::<Bm25Scan>()).end();
        access_method::keep_keys(scan, (keys, key_count), (order_bys, order_by_count));
    }
}

/// The callback amgettuple: the next row.
#[pg_guard]
pub unsafe extern "C-unwind" fn amgettuple(
    scan: pg_sys::IndexScanDesc,
    _direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: PostgreSQL passes a scan of ours, with a place for the order's value if it has one.
    unsafe {
        let under_way = under_way(scan).or_report();
        let Some(Bm25Hit { row, score }) = under_way.next().or_report() else { return false };
        (*scan).xs_heaptid = pointer_of(row);
        (*scan).xs_recheck = under_way.must_recheck;
        let rank = under_way.rank;
        (*scan).xs_recheckorderby = rank == RowRank::Unknown;
        if (*scan).numberOfOrderBys > 0 {
            // What is rechecked may not come before this.
            let distance = if rank == RowRank::Scored { 0.0 - score } else { f64::NEG_INFINITY };
            *(*scan).xs_orderbyvals = pg_sys::Datum::from(distance.to_bits());
            *(*scan).xs_orderbynulls = rank == RowRank::Null;
        }
        true
    }
}

/// The callback amgetbitmap: all rows.
#[pg_guard]
pub unsafe extern "C-unwind" fn amgetbitmap(
    scan: pg_sys::IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: PostgreSQL passes a scan of ours without an order, and a bitmap to be filled.
    unsafe { fill(scan, bitmap).or_report() }
}

/// Puts the rows that may match into a bitmap. How many they are.
///
/// # Safety
///
/// `scan` is a scan of ours, and `bitmap` is one to be filled.
unsafe fn fill(scan: pg_sys::IndexScanDesc, bitmap: *mut pg_sys::TIDBitmap) -> Result<i64> {
    // SAFETY: by this function's contract.
    unsafe {
        expect_mvcc(scan)?;
        access_method::count_scan(scan);
        let Some(conditions) = conditions(scan)? else { return Ok(0) };
        let pages = Pages::new((*scan).indexRelation);
        let plan = MatchPlan::of(&pages, &conditions)?;
        let (must_recheck, pointers) = (plan.must_recheck, Vec::with_capacity(ROWS_AT_ONCE));
        let mut rows = RowBitmap { bitmap, must_recheck, pointers, count: 0 };
        let effort = plan.find(&pages, &mut rows)?;
        let opaque = &mut *(*scan).opaque.cast::<Bm25Scan>();
        opaque.effort = opaque.effort.plus(effort);
        Ok(rows.count)
    }
}

/// # Safety
///
/// `scan` is a scan of ours.
unsafe fn under_way<'a>(scan: pg_sys::IndexScanDesc) -> Result<&'a mut RunningScan> {
    // SAFETY: by this function's contract; what is kept lives as long as the scan.
    unsafe {
        let opaque = &mut *(*scan).opaque.cast::<Bm25Scan>();
        if opaque.scan.is_none() {
            opaque.scan = Some(begin(scan)?);
        }
        opaque.scan.as_mut().ok_or_else(|| Error::new(ErrorKind::Internal, "no scan under way"))
    }
}

/// # Safety
///
/// `scan` is a scan of ours.
unsafe fn begin(scan: pg_sys::IndexScanDesc) -> Result<RunningScan> {
    // SAFETY: by this function's contract.
    unsafe {
        expect_mvcc(scan)?;
        access_method::count_scan(scan);
        let pages = Pages::new((*scan).indexRelation);
        let nothing =
            |pages| Ok(RunningScan::of(pages, Bm25Search::new(Vec::new(), settings(), 0)?, false));
        let Some(conditions) = conditions(scan)? else { return nothing(pages) };
        match (*scan).numberOfOrderBys {
            0 => RunningScan::matching(pages, &conditions, RowRank::Scored),
            1 => match order(scan)? {
                Some(Bm25Query { weights, question: Some(question) }) => {
                    let scanned = (*(*scan).indexRelation).rd_id;
                    if hides_statistics(scanned)? {
                        return Ok(RunningScan::all(pages));
                    }
                    ranked((pages, scanned), &question, conditions, weights)
                }
                _ if conditions.is_empty() => nothing(pages),
                _ => RunningScan::matching(pages, &conditions, RowRank::Null),
            },
            _ => Err(Error::new(
                ErrorKind::Unsupported,
                "rag_bm25 indexes can be scanned in order of one score only",
            )),
        }
    }
}

/// Rows of an index in order of their scores, by the statistics of the index that the query names, or those that
/// it brings; and after them the other rows that match the conditions, if there may be any.
fn ranked(
    (pages, index): (Pages, pg_sys::Oid),
    question: &Bm25Question,
    conditions: Vec<Bm25Question>,
    weights: Bm25Weights,
) -> Result<RunningScan> {
    let terms = question.terms();
    let must_recheck = !conditions.iter().all(|condition| condition.is_met_by_any(&terms));
    let has_all =
        conditions.is_empty() || conditions.iter().any(|condition| condition.implies_any(&terms));
    let search = |settings| Bm25Search::new(terms.clone(), settings, 0);
    let search = match weights {
        Bm25Weights::Given(given, statistics) => search(given)?.with_statistics(statistics),
        Bm25Weights::OfIndex(own) if own == index => {
            statistics::searched(&pages, index, &terms, search(settings())?)?
        }
        Bm25Weights::OfIndex(other) => {
            let statistics = statistics::of_index(&open(other)?, &terms)?;
            search(settings())?.with_statistics(statistics)
        }
    };
    let unscored = UnscoredRows { conditions, given: HashSet::new(), is_their_turn: false };
    let unscored = (!has_all).then_some(unscored);
    Ok(RunningScan { unscored, ..RunningScan::of(pages, search, must_recheck) })
}

/// Rows that may match, as they are in the table, and whether the executor is to look whether they do.
fn matching(pages: &Pages, conditions: &[Bm25Question]) -> Result<(AscendingRows, bool)> {
    let MatchPlan { terms, must_recheck } = MatchPlan::of(pages, conditions)?;
    Ok((AscendingRows::new(terms), must_recheck))
}

/// Nothing keeps vacuum from removing a row between its return and its use.
///
/// # Safety
///
/// `scan` is a scan of ours.
unsafe fn expect_mvcc(scan: pg_sys::IndexScanDesc) -> Result<()> {
    use pg_sys::SnapshotType::{SNAPSHOT_HISTORIC_MVCC, SNAPSHOT_MVCC};
    // SAFETY: by this function's contract. A bitmap's scan has no snapshot of its own.
    let kind = unsafe { (*scan).xs_snapshot.as_ref().map(|snapshot| snapshot.snapshot_type) };
    if kind.is_none_or(|kind| kind == SNAPSHOT_MVCC || kind == SNAPSHOT_HISTORIC_MVCC) {
        return Ok(());
    }
    let message = "rag_bm25 indexes can be scanned with an MVCC snapshot only";
    Err(Error::new(ErrorKind::Unsupported, message))
}

/// What a WHERE asks; `None` where it asks for NULL, which nothing matches.
///
/// # Safety
///
/// `scan` is a scan of ours.
unsafe fn conditions(scan: pg_sys::IndexScanDesc) -> Result<Option<Vec<Bm25Question>>> {
    // SAFETY: by this function's contract; keyData has as many keys as are counted, and the only
    // operator of the class that is not for ordering takes a tsquery.
    unsafe {
        let count = (*scan).numberOfKeys as usize;
        let keys: &[pg_sys::ScanKeyData] = match count {
            0 => &[],
            _ => std::slice::from_raw_parts((*scan).keyData, count),
        };
        if keys.iter().any(|key| key.sk_flags & pg_sys::SK_ISNULL as i32 != 0) {
            return Ok(None);
        }
        keys.iter().map(|key| query::question(key.sk_argument)).collect::<Result<_>>().map(Some)
    }
}

/// What the ORDER BY asks; `None` where it asks for NULL.
///
/// # Safety
///
/// `scan` is a scan of ours with an order.
unsafe fn order(scan: pg_sys::IndexScanDesc) -> Result<Option<Bm25Query>> {
    // SAFETY: by this function's contract; the operators for ordering take queries of the two types.
    unsafe {
        let key = &*(*scan).orderByData;
        match key.sk_flags & pg_sys::SK_ISNULL as i32 {
            0 => Bm25Query::new(key.sk_argument).map(Some),
            _ => Ok(None),
        }
    }
}

/// What a scan and those before it in the same plan have cost, as EXPLAIN says it.
///
/// # Safety
///
/// `scan` is a scan of ours.
#[cfg(feature = "pg18")]
pub unsafe fn figures(scan: pg_sys::IndexScanDesc) -> [(&'static std::ffi::CStr, u64); 4] {
    // SAFETY: by this function's contract.
    let effort = unsafe { (*(*scan).opaque.cast::<Bm25Scan>()).effort_so_far() };
    [
        (c"Blocks Decoded", effort.decoded),
        (c"Blocks Skipped", effort.skipped),
        (c"Texts Scored", effort.scored),
        (c"Pending Texts Read", effort.pending),
    ]
}

/// Gives back what the scan used.
#[pg_guard]
pub unsafe extern "C-unwind" fn amendscan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: PostgreSQL passes a scan of ours; what is left is dropped with its memory context.
    unsafe { (*(*scan).opaque.cast::<Bm25Scan>()).end() };
}
