//! The operator `<@>` outside of an index scan: the score of one text.

use pgrx::PgMemoryContexts;
use pgrx::prelude::*;

use super::query::{Bm25Query, Bm25Weights};
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
    // SAFETY: the function is STRICT, and declared with a tsvector and one of the two types of queries.
    unsafe { distance(fcinfo) }.or_report()
}

/// What does not change from row to row, kept for the statement.
struct OperatorState {
    /// The query's bytes, by which it is known again.
    query: Vec<u8>,
    /// The role that asked: an expression may outlive a change of the role, and others may see
    /// less.
    role: pg_sys::Oid,
    /// The settings of the session then.
    session: Bm25Settings,
    /// The settings that count: those, or what came with the query.
    settings: Bm25Settings,
    /// `None` where nothing is asked.
    question: Option<(Vec<Term>, Statistics)>,
}

/// # Safety
///
/// `fcinfo` is a call with a tsvector and a query of one of the two types, none of which is NULL.
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
/// `fcinfo` is a call, and `query` is of one of the two types and not NULL.
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
            && (before.session, before.role) == (now, current_role())
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
    /// `query` is of one of the two types and not NULL.
    unsafe fn new(
        bytes: &[u8],
        query: pg_sys::Datum,
        session: Bm25Settings,
    ) -> Result<OperatorState> {
        // SAFETY: by this function's contract.
        let Bm25Query { weights, question } = unsafe { Bm25Query::new(query)? };
        let terms = question.map(|question| question.terms());
        let (settings, question) = match weights {
            Bm25Weights::Given(settings, statistics) => (settings, terms.zip(Some(statistics))),
            Bm25Weights::OfIndex(index) => {
                let index = open(index)?;
                let known = |terms: Vec<Term>| -> Result<(Vec<Term>, Statistics)> {
                    let statistics = statistics::of_index(&index, &terms)?;
                    Ok((terms, statistics))
                };
                (session, terms.map(known).transpose()?)
            }
        };
        let (query, role) = (bytes.to_vec(), current_role());
        Ok(OperatorState { query, role, session, settings, question })
    }
}
