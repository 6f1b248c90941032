//! # bm25: which texts hold these words, the best first?
//!
//! ```text
//! (row, lexemes) → inverted index on pages           (query, index) → rows, best first
//! ```
//!
//! rag_bm25: documents are appended to a pending list, from which segments are made that never
//! change; segments of similar size are merged. A search skips what cannot be among the best
//! (block-max MaxScore). README.md in this folder has the page format, the locks and the
//! reasons. Pages are reached through the traits of [`pages`](crate::pages) and nothing here
//! knows PostgreSQL, so all of it runs in memory as well.
//!
//! | call | lock that the caller holds |
//! |---|---|
//! | [`create`], [`IndexBuilder::finish`] | no other session sees the index |
//! | [`insert`] | none |
//! | [`flush`], [`vacuum`], [`tidy`] | the **structure lock**: one at a time |
//! | [`statistics`], [`Bm25Search`], [`matching()`], [`rows()`], [`AscendingRows`], [`check`], [`figures`] | none |

mod document;
mod score;

mod bits;
mod number_set;
mod page;
mod postings;
mod space;

mod dictionary;
mod segment;
mod writer;

mod list;
mod memory;
mod merge;

mod build;
mod flush;
mod meanwhile;
mod pending;
mod vacuum;

mod ascending;
mod best;
mod cursor;
mod matching;
mod rows;
mod search;
mod snapshot;
mod union;

mod check;

#[cfg(test)]
mod tests;

pub use ascending::AscendingRows;
pub use best::Bm25Hit;
pub use build::IndexBuilder;
pub use check::{IndexFigures, IndexProblem, SegmentFigures, check, figures};
pub use cursor::SearchEffort;
pub use document::{IndexedDocument, LONGEST_LEXEME};
pub use flush::{Merging, flush};
pub use matching::matching;
pub use pending::{Inserted, insert};
pub use rows::{ROWS_AT_ONCE, RowSink, rows};
pub use score::{Bm25Settings, Statistics, Term, score};
pub use search::Bm25Search;
pub use snapshot::statistics;
pub use vacuum::{Bm25VacuumReport, tidy, vacuum};

use crate::error::Result;
use crate::pages::{Page, StoreMut};

/// Block 0 of an empty index, for code that writes pages without a [`StoreMut`], as of an INIT
/// fork.
#[must_use]
pub fn first_page() -> Box<Page> {
    let mut page = space::blank();
    page::Bm25Meta::new().write(&mut page);
    page
}

/// Writes an empty index into a store without pages.
pub fn create<S: StoreMut>(store: &S) -> Result<()> {
    store.append(|_, page| page::Bm25Meta::new().write(page)).map(drop)
}
