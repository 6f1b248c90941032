//! rag_bm25, the index access method of texts: a file a callback.
//!
//! The index is `src/bm25`, its pages are those of [`super::pages`]; here are the duties of an
//! access method, the operator `<@>`, and what a tsvector and a tsquery hold.

mod build;
mod cost;
mod frequencies;
mod handler;
mod insert;
mod inspect;
mod lock;
mod operator;
mod or_clause;
mod query;
mod question;
mod scan;
mod statistics;
mod vacuum;
pub mod value;

use pgrx::pg_sys;

pub use scan::amgettuple;
#[cfg(feature = "pg18")]
pub use scan::figures;

use super::opened_index::OpenedIndex;
use crate::bm25::{Bm25Settings, Statistics};
use crate::error::Result;
use crate::pg::server::guc;

/// The strategy number of `tsvector @@ tsquery`; `tsvector <@> rag_bm25_query` is 2, and that of a
/// rag.bm25_weighted_query 3.
const MATCH: u16 = 1;

/// Opens the index that a query names.
fn open(index: pg_sys::Oid) -> Result<OpenedIndex> {
    OpenedIndex::for_statistics(index, c"rag_bm25")
}

/// The parameters of BM25 that hold in this session.
pub fn settings() -> Bm25Settings {
    Bm25Settings { k1: guc::bm25_k1(), b: guc::bm25_b() }
}

/// What an index knows of a tsquery's words: the number of texts, the sum of their lengths, and of each word in how
/// many texts it is. Without an index, or for a caller that does not see all rows, each word is as rare as the others.
///
/// # Safety
///
/// `words` is a tsquery that is not NULL.
pub unsafe fn word_figures(index: Option<pg_sys::Oid>, words: pg_sys::Datum) -> Result<Vec<f64>> {
    // SAFETY: by this function's contract.
    let terms = unsafe { query::question(words)? }.terms();
    let found = match index {
        Some(index) => statistics::of_index(&open(index)?, &terms)?,
        None => Statistics::unknown(&terms),
    };
    let frequencies = found.frequencies.iter().map(|rows| *rows as f64);
    let figures = [found.documents as f64, found.total_length as f64];
    Ok(figures.into_iter().chain(frequencies).collect())
}
