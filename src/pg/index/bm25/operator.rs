//! The operator `<@>` outside of an index scan: the score of one text.

use pgrx::PgMemoryContexts;
use pgrx::prelude::*;

use super::query::Bm25Query;
use super::{open, settings, statistics, value};
use crate::bm25::{Bm25Settings, Statistics, Term, score};
use crate::error::Result;
use crate::pages::RowId;
use crate::pg::index::hnsw::Detoasted;
use crate::pg::server::error::OrReport;
use crate::pg::server::role::current_role;

/// Minus the score of a text; NULL where nothing is asked.
#[pg_extern(sql = false)]
fn rag_bm25_distance(fcinfo: pg_sys::FunctionCallInfo) -> Option<f64> {
    // SAFETY: the function is STRICT, and declared with a tsvector and a rag_bm25_query.
    unsafe { distance(fcinfo) }.or_report()
}

/// What does not change from row to row, kept for the statement.
struct OperatorState {
    /// The query's bytes, by which it is known again.
    query: Vec<u8>,
    /// The role that asked: an expression may outlive a change of the role, and others may see
    /// less.
    role: pg_sys::Oid,
    settings: Bm25Settings,
    /// `None` where nothing is asked.
    question: Option<(Vec<Term>, Statistics)>,
}

/// # Safety
///
/// `fcinfo` is a call with a tsvector and a rag_bm25_query, none of which is NULL.
unsafe fn distance(fcinfo: pg_sys::FunctionCallInfo) -> Result<Option<f64>> {
    // SAFETY: by this function's contract.
    unsafe {
        let arguments = (*fcinfo).args.as_slice(2);
        let asked = asked(fcinfo, arguments[1].value)?;
        let Some((terms, statistics)) = &asked.question else { return Ok(None) };
        value::with_document(arguments[0].value, RowId::default(), |document| {
            let score = score(statistics, asked.settings, terms, document);
            // Not minus zero, which would be shown.
            Ok(Some(0.0 - score))
        })
    }
}

/// What the rows before have left, if they were asked the same; else what the index says now.
///
/// # Safety
///
/// `fcinfo` is a call, and `query` is a rag_bm25_query that is not NULL.
unsafe fn asked<'a>(
    fcinfo: pg_sys::FunctionCallInfo,
    query: pg_sys::Datum,
) -> Result<&'a OperatorState> {
    // SAFETY: by this function's contract. What is kept lives as long as the expression's state,
    // longer than the call.
    unsafe {
        let info = (*fcinfo).flinfo;
        let before = (*info).fn_extra.cast::<OperatorState>();
        let value = Detoasted::new(query);
        let now = settings();
        if let Some(before) = before.as_ref()
            && before.query == value.bytes()
            && (before.settings, before.role) == (now, current_role())
        {
            return Ok(before);
        }
        let asked = OperatorState::new(value.bytes(), query, now)?;
        if before.is_null() {
            let kept = PgMemoryContexts::For((*info).fn_mcxt).leak_and_drop_on_delete(asked);
            (*info).fn_extra = kept.cast();
            return Ok(&*kept);
        }
        *before = asked;
        Ok(&*before)
    }
}

impl OperatorState {
    /// # Safety
    ///
    /// `query` is a rag_bm25_query that is not NULL.
    unsafe fn new(
        bytes: &[u8],
        query: pg_sys::Datum,
        settings: Bm25Settings,
    ) -> Result<OperatorState> {
        // SAFETY: by this function's contract.
        let query = unsafe { Bm25Query::new(query)? };
        let index = open(query.index)?;
        let question = match query.question {
            None => None,
            Some(question) => {
                let terms = question.terms();
                let statistics = statistics::of_index(&index, &terms)?;
                Some((terms, statistics))
            }
        };
        Ok(OperatorState { query: bytes.to_vec(), role: current_role(), settings, question })
    }
}
