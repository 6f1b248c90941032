//! The callback amcostestimate: what does it cost to get the best rows, or all that match?

use pgrx::prelude::*;

use super::frequencies::Frequencies;
use super::or_clause;
use super::query::{self, Bm25Query};
use super::question::Bm25Question;
use crate::bm25::Term;
use crate::pg::index::access_method;
use crate::pg::index::pages::Pages;
use crate::pg::server::row_security::hides_statistics;

/// Bytes of a posting in the index, about.
const POSTING_BYTES: f64 = 2.5;
/// The share of an operator's cost that a posting costs, of which many are decoded at once.
const POSTING_SHARE: f64 = 0.2;
/// The share of the postings that a search for the best few looks at.
const BEST_SHARE: f64 = 0.3;
/// Pages that are read to find a word in the index.
const WORD_PAGES: f64 = 2.0;
/// The share of a page's cost that it costs on average: much of an index is in memory.
const PAGE_SHARE: f64 = 0.3;
/// The share of the rows that is expected to have the words of a query that is not known yet.
const UNKNOWN_SHARE: f64 = 0.05;
/// The share of the rows that a scan in order is expected to read while its query is not known:
/// mostly the beginning. It is what PostgreSQL itself expects of `@@`.
const UNKNOWN_SHARE_IN_ORDER: f64 = 0.005;

/// What costs more than any other path, also one that is disabled. The planner takes differences of
/// costs, so it is not infinite.
const IMPOSSIBLE: f64 = 1e100;

/// Estimates the start (the search for the best few) and the whole (every row that is found).
///
/// The planner takes the part of the way between them that its LIMIT needs, and adds what it costs
/// to fetch the rows: as many as the selectivity says.
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
        *correlation = 0.0;
        *selectivity = 1.0;
        *pages = 0.0;
        let index = &*(*path).indexinfo;
        let Some(estimate) = with_pages(index, |pages| estimate(root, path, pages)) else {
            // Such a path can't be run, or not well, or tells too much.
            *startup = IMPOSSIBLE;
            *total = IMPOSSIBLE;
            #[cfg(feature = "pg18")]
            {
                // With enable_seqscan off a sequential scan counts as one disabled node there,
                // whatever it costs.
                (*path).path.disabled_nodes = 2;
            }
            return;
        };
        let share = (estimate.rows / index.tuples.max(1.0)).clamp(0.0, 1.0);
        *selectivity = share * access_method::share_indexed(index);
        let cost = Cost::of(index);
        *pages = Cost::pages(&estimate);
        *startup = cost.first(&estimate);
        *total = *startup + cost.rest(&estimate);
    }
}

/// What a scan will find, in numbers that may have a fraction.
struct Bm25Estimate {
    /// Words that are looked up.
    words: f64,
    /// Rows that have one, counted for each word.
    postings: f64,
    /// Rows that are given.
    rows: f64,
    is_ordered: bool,
}

impl Bm25Estimate {
    /// The estimate for terms that are in so many rows each.
    fn new(frequencies: &[f64], tuples: f64, is_ordered: bool) -> Bm25Estimate {
        let tuples = tuples.max(1.0);
        let missed = |frequency: &f64| 1.0 - (frequency / tuples).min(1.0);
        let share = 1.0 - frequencies.iter().map(missed).product::<f64>();
        Bm25Estimate {
            words: frequencies.len() as f64,
            postings: frequencies.iter().sum(),
            rows: tuples * share,
            is_ordered,
        }
    }

    /// The estimate where `others` come after these rows.
    fn and(&self, others: &Bm25Estimate, tuples: f64) -> Bm25Estimate {
        Bm25Estimate {
            words: self.words + others.words,
            postings: self.postings + others.postings,
            rows: (self.rows + others.rows).min(tuples.max(1.0)),
            is_ordered: self.is_ordered,
        }
    }

    /// The estimate where the query is not known.
    fn unknown(tuples: f64, is_ordered: bool) -> Bm25Estimate {
        let share = if is_ordered { UNKNOWN_SHARE_IN_ORDER } else { UNKNOWN_SHARE };
        Bm25Estimate::new(&[tuples * share], tuples, is_ordered)
    }

    /// The estimate for all rows, each of which is looked at.
    fn all(tuples: f64) -> Bm25Estimate {
        Bm25Estimate::new(&[tuples], tuples, false)
    }
}

/// Acts on the index's pages; `None` where it has none, because it was only imagined.
///
/// # Safety
///
/// `index` describes an index of ours in the planner's terms; its table is locked.
unsafe fn with_pages<T>(
    index: &pg_sys::IndexOptInfo,
    act: impl FnOnce(&Pages) -> Option<T>,
) -> Option<T> {
    if index.hypothetical {
        return None;
    }
    // SAFETY: by this function's contract.
    unsafe {
        let relation = pg_sys::index_open(index.indexoid, pg_sys::NoLock as i32);
        let result = act(&Pages::new(relation));
        pg_sys::index_close(relation, pg_sys::NoLock as i32);
        result
    }
}

/// `None` where the index can't answer.
///
/// # Safety
///
/// As for [`amcostestimate`].
unsafe fn estimate(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    pages: &Pages,
) -> Option<Bm25Estimate> {
    // SAFETY: by this function's contract.
    unsafe {
        let tuples = (*(*path).indexinfo).tuples;
        let orders = pgrx::PgList::<pg_sys::Node>::from_pg((*path).indexorderbys);
        match orders.len() {
            0 => matching(root, path, pages),
            // The rows that a policy removes from the best are counted by EXPLAIN, too.
            1 if is_secret((*path).indexinfo) => None,
            1 => {
                let question = match known(root, orders.get_ptr(0)?) {
                    KnownValue::Later => None,
                    KnownValue::Null => Some(Bm25Question::default()),
                    KnownValue::Now(datum) => {
                        Some(Bm25Query::new(datum).ok()?.question.unwrap_or_default())
                    }
                };
                let terms = question.as_ref().map(Bm25Question::terms).unwrap_or_default();
                let has_conditions = !(*path).indexclauses.is_null();
                if !has_conditions && or_clause::misses_rows(root, (*path).indexinfo, &terms) {
                    return None;
                }
                let Some(question) = question else {
                    return Some(Bm25Estimate::unknown(tuples, true));
                };
                let known = Frequencies::of(pages, std::slice::from_ref(&question)).ok()?;
                let found: Vec<f64> = terms.iter().map(|term| known.get(term)).collect();
                let scored = Bm25Estimate::new(&found, tuples, true);
                match gives_unscored(root, path, &terms) {
                    true => Some(scored.and(&matching(root, path, pages)?, tuples)),
                    false => Some(scored),
                }
            }
            _ => None,
        }
    }
}

/// Whether nothing is to tell the caller how frequent words are.
///
/// # Safety
///
/// `index` describes an index in the planner's terms.
unsafe fn is_secret(index: *const pg_sys::IndexOptInfo) -> bool {
    // SAFETY: by this function's contract.
    hides_statistics(unsafe { (*index).indexoid }).unwrap_or(true)
}

/// Whether a scan in order gives rows that have none of `terms`, since they match its conditions, as far
/// as these are known.
///
/// # Safety
///
/// As for [`amcostestimate`].
unsafe fn gives_unscored(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    terms: &[Term],
) -> bool {
    // SAFETY: by this function's contract; an index's conditions are operators of its class.
    unsafe {
        let clauses = pg_sys::get_quals_from_indexclauses((*path).indexclauses);
        let clauses = pgrx::PgList::<pg_sys::RestrictInfo>::from_pg(clauses);
        let gives_others =
            |clause: *mut pg_sys::RestrictInfo| match known(root, (*clause).clause.cast()) {
                KnownValue::Now(datum) => {
                    query::question(datum).is_ok_and(|question| !question.implies_any(terms))
                }
                KnownValue::Later | KnownValue::Null => false,
            };
        !clauses.is_empty() && clauses.iter_ptr().all(gives_others)
    }
}

/// Without an order: the cheapest of the conditions decides.
///
/// # Safety
///
/// As for [`amcostestimate`].
unsafe fn matching(
    root: *mut pg_sys::PlannerInfo,
    path: *mut pg_sys::IndexPath,
    pages: &Pages,
) -> Option<Bm25Estimate> {
    // SAFETY: by this function's contract; an index's conditions are operators of its class.
    unsafe {
        let tuples = (*(*path).indexinfo).tuples;
        let clauses = pg_sys::get_quals_from_indexclauses((*path).indexclauses);
        let clauses = pgrx::PgList::<pg_sys::RestrictInfo>::from_pg(clauses);
        let estimates =
            clauses.iter_ptr().map(|clause| match known(root, (*clause).clause.cast()) {
                KnownValue::Later => Some(Bm25Estimate::unknown(tuples, false)),
                KnownValue::Null => Some(Bm25Estimate::new(&[], tuples, false)),
                KnownValue::Now(_) if is_secret((*path).indexinfo) => {
                    Some(Bm25Estimate::unknown(tuples, false))
                }
                KnownValue::Now(datum) => {
                    let question = query::question(datum).ok()?;
                    of_question(&question, pages, tuples)
                }
            });
        let estimates = estimates.collect::<Option<Vec<_>>>()?;
        estimates.into_iter().min_by(|a, b| a.rows.total_cmp(&b.rows))
    }
}

fn of_question(question: &Bm25Question, pages: &Pages, tuples: f64) -> Option<Bm25Estimate> {
    let known = Frequencies::of(pages, std::slice::from_ref(question)).ok()?;
    Some(match question.cover(|term| known.get(term)) {
        Some(cover) => {
            let found: Vec<f64> = cover.terms.iter().map(|term| known.get(term)).collect();
            Bm25Estimate::new(&found, tuples, false)
        }
        None => Bm25Estimate::all(tuples),
    })
}

/// What is known of a value as the plan is made.
pub enum KnownValue {
    /// The value is this one.
    Now(pg_sys::Datum),
    /// The value is NULL.
    Null,
    /// The value comes from another table, or as a parameter.
    Later,
}

/// The right side of an operator.
///
/// # Safety
///
/// `operator` is an expression of the planner's.
unsafe fn known(root: *mut pg_sys::PlannerInfo, operator: *mut pg_sys::Node) -> KnownValue {
    // SAFETY: by this function's contract; an OpExpr of ours has two arguments.
    unsafe {
        if (*operator).type_ != pg_sys::NodeTag::T_OpExpr {
            return KnownValue::Later;
        }
        let arguments =
            pgrx::PgList::<pg_sys::Node>::from_pg((*operator.cast::<pg_sys::OpExpr>()).args);
        arguments.get_ptr(1).map_or(KnownValue::Later, |right| known_value(root, right))
    }
}

/// The value of an expression.
///
/// # Safety
///
/// `expression` is of the planner's.
pub unsafe fn known_value(
    root: *mut pg_sys::PlannerInfo,
    expression: *mut pg_sys::Node,
) -> KnownValue {
    // SAFETY: by this function's contract; the tag says of which type the node is.
    unsafe {
        let value = pg_sys::estimate_expression_value(root, expression);
        match (*value).type_ {
            pg_sys::NodeTag::T_Const => match &*value.cast::<pg_sys::Const>() {
                constant if constant.constisnull => KnownValue::Null,
                constant => KnownValue::Now(constant.constvalue),
            },
            _ => KnownValue::Later,
        }
    }
}

/// What the planner's steps cost, in its units.
struct Cost {
    /// A page of the index.
    page: f64,
    /// The comparison of a value.
    operator: f64,
    /// A row that comes from an index.
    row: f64,
}

impl Cost {
    fn of(index: &pg_sys::IndexOptInfo) -> Cost {
        let (mut random_page, mut next_page) = (0.0, 0.0);
        // SAFETY: a look-up by OID, and plain settings.
        unsafe {
            pg_sys::get_tablespace_page_costs(
                index.reltablespace,
                &mut random_page,
                &mut next_page,
            );
            Cost {
                page: random_page * PAGE_SHARE,
                operator: pg_sys::cpu_operator_cost,
                row: pg_sys::cpu_index_tuple_cost,
            }
        }
    }

    /// Pages that are read for all rows.
    fn pages(estimate: &Bm25Estimate) -> f64 {
        let postings = estimate.postings * POSTING_BYTES / f64::from(pg_sys::BLCKSZ);
        estimate.words * WORD_PAGES + postings.ceil()
    }

    /// Going through the postings once.
    fn pass(&self, estimate: &Bm25Estimate) -> f64 {
        Self::pages(estimate) * self.page + estimate.postings * self.operator * POSTING_SHARE
    }

    /// The cost until the first row comes.
    fn first(&self, estimate: &Bm25Estimate) -> f64 {
        if estimate.is_ordered { BEST_SHARE * self.pass(estimate) } else { 0.0 }
    }

    /// The cost from the first row to the last.
    fn rest(&self, estimate: &Bm25Estimate) -> f64 {
        let compares = estimate.rows * estimate.rows.max(2.0).log2();
        self.pass(estimate) + estimate.rows * self.row + compares * self.operator * POSTING_SHARE
    }
}
