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
mod query;
mod question;
mod scan;
mod statistics;
mod vacuum;
pub mod value;

use pgrx::pg_sys;

#[cfg(feature = "pg18")]
pub use scan::{amgettuple, figures};

use super::opened_index::OpenedIndex;
use crate::bm25::Bm25Settings;
use crate::error::{Error, ErrorKind, Result};
use crate::pg::server::guc;

/// The strategy number of `tsvector @@ tsquery`; `tsvector <@> rag_bm25_query` is 2.
const MATCH: u16 = 1;

/// Opens the index that a query names. One that REINDEX CONCURRENTLY has just replaced serves the
/// sessions that began before.
fn open(index: pg_sys::Oid) -> Result<OpenedIndex> {
    let index = OpenedIndex::new(index, c"rag_bm25")?;
    if index.is_ready() {
        return Ok(index);
    }
    let message = format!("index \"{}\" is not built", index.name());
    Err(Error::new(ErrorKind::NotInState, message)
        .hint("Its build has failed or is not done. REINDEX INDEX makes it anew."))
}

fn settings() -> Bm25Settings {
    Bm25Settings { k1: guc::bm25_k1(), b: guc::bm25_b() }
}
