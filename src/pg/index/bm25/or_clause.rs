//! Does a scan in order give all rows that a WHERE keeps?
//!
//! Rows that have none of the words of the ORDER BY come last where the scan knows the conditions that keep them. What
//! `tsv @@ 'a' OR tsv @@ 'b'` keeps it does not know: PostgreSQL tells an index of no such condition, and has the executor
//! look at the rows that come.

use pgrx::PgList;
use pgrx::prelude::*;

use super::MATCH;
use super::cost::{KnownValue, known_value};
use super::query;
use crate::bm25::Term;

/// The rows that a condition keeps.
#[derive(Clone, Copy, Default)]
struct MatchedRows {
    /// Whether words of theirs are a reason to keep them.
    for_words: bool,
    /// Whether each of them has one of the words of the ORDER BY, as far as that is known.
    have_words: bool,
}

/// Whether a scan in the order of `terms` that is told of no condition may leave out rows that a `@@` within another
/// condition keeps.
///
/// # Safety
///
/// As for [`amcostestimate`](super::cost::amcostestimate), with the index of the path.
pub unsafe fn misses_rows(
    root: *mut pg_sys::PlannerInfo,
    index: *mut pg_sys::IndexOptInfo,
    terms: &[Term],
) -> bool {
    let order = WordOrder { root, index, terms };
    let mut kept = Vec::new();
    // SAFETY: by this function's contract; both lists are of RestrictInfo.
    unsafe {
        for clauses in [(*(*index).rel).baserestrictinfo, (*(*index).rel).joininfo] {
            let clauses = PgList::<pg_sys::RestrictInfo>::from_pg(clauses);
            kept.extend(clauses.iter_ptr().map(|clause| order.kept_by((*clause).clause.cast())));
        }
    }
    kept.iter().any(|it| it.for_words) && !kept.iter().any(|it| it.have_words)
}

/// The order of a scan.
struct WordOrder<'a> {
    root: *mut pg_sys::PlannerInfo,
    index: *mut pg_sys::IndexOptInfo,
    terms: &'a [Term],
}

impl WordOrder<'_> {
    /// # Safety
    ///
    /// `condition` is an expression of the planner's.
    unsafe fn kept_by(&self, condition: *mut pg_sys::Node) -> MatchedRows {
        use pg_sys::NodeTag::{T_BoolExpr, T_OpExpr, T_ScalarArrayOpExpr};
        // SAFETY: by this function's contract; the tag says of which type the node is.
        unsafe {
            match (*condition).type_ {
                T_BoolExpr => self.kept_by_all(&*condition.cast::<pg_sys::BoolExpr>()),
                T_OpExpr => {
                    let operator = &*condition.cast::<pg_sys::OpExpr>();
                    let query = self.query(operator.opno, operator.args);
                    query.map_or_else(MatchedRows::default, |query| self.kept_by_match(query))
                }
                T_ScalarArrayOpExpr => {
                    let operator = &*condition.cast::<pg_sys::ScalarArrayOpExpr>();
                    let is_any =
                        operator.useOr && self.query(operator.opno, operator.args).is_some();
                    MatchedRows { for_words: is_any, have_words: false }
                }
                _ => MatchedRows::default(),
            }
        }
    }

    /// # Safety
    ///
    /// As for [`WordOrder::kept_by`].
    unsafe fn kept_by_all(&self, expression: &pg_sys::BoolExpr) -> MatchedRows {
        // SAFETY: by this function's contract; the arguments are conditions.
        let parts: Vec<MatchedRows> = unsafe {
            let parts = PgList::<pg_sys::Node>::from_pg(expression.args);
            parts.iter_ptr().map(|part| self.kept_by(part)).collect()
        };
        let for_words = parts.iter().any(|it| it.for_words);
        let have_words = match expression.boolop {
            pg_sys::BoolExprType::AND_EXPR => parts.iter().any(|it| it.have_words),
            pg_sys::BoolExprType::OR_EXPR => parts.iter().all(|it| it.have_words),
            _ => return MatchedRows::default(),
        };
        MatchedRows { for_words, have_words }
    }

    /// # Safety
    ///
    /// `query` is an expression of the planner's, of the type tsquery.
    unsafe fn kept_by_match(&self, query: *mut pg_sys::Node) -> MatchedRows {
        // SAFETY: by this function's contract.
        let have_words = unsafe {
            match known_value(self.root, query) {
                KnownValue::Now(datum) => {
                    query::question(datum).is_ok_and(|question| question.implies_any(self.terms))
                }
                // It keeps none.
                KnownValue::Null => true,
                KnownValue::Later => false,
            }
        };
        MatchedRows { for_words: true, have_words }
    }

    /// What the column of the index is matched with; `None` where an operator does something else.
    ///
    /// # Safety
    ///
    /// `arguments` are those of an operator.
    unsafe fn query(
        &self,
        operator: pg_sys::Oid,
        arguments: *mut pg_sys::List,
    ) -> Option<*mut pg_sys::Node> {
        // SAFETY: by this function's contract; an index has a family for its column.
        unsafe {
            let arguments = PgList::<pg_sys::Node>::from_pg(arguments);
            let [left, right] = [arguments.get_ptr(0)?, arguments.get_ptr(1)?];
            let is_column = |node| pg_sys::match_index_to_operand(node, 0, self.index);
            let (query, operator) = match is_column(left) {
                true => (right, operator),
                false if is_column(right) => (left, pg_sys::get_commutator(operator)),
                false => return None,
            };
            let family = *(*self.index).opfamily;
            let strategy = pg_sys::get_op_opfamily_strategy(operator, family);
            (strategy == i32::from(MATCH)).then_some(query)
        }
    }
}
