//! # rows: which rows are in the index at all?
//!
//! ```text
//! index → rows, in pieces
//! ```
//!
//! For a condition that no term decides, such as "without this word". Rows in no order go to a [`RowSink`] as they are
//! found, so that there need be no list of all of them.

use super::page::{Bm25Meta, ReadResult};
use super::pending::{PendingDocument, each_document};
use super::segment::{ROW_BYTES, SegmentReader, row_of};
use super::snapshot::settled;
use crate::error::Result;
use crate::pages::{RowId, Store};
use crate::spare;

/// Rows that are handed over together, at most.
pub const ROWS_AT_ONCE: usize = 1024;
/// Rows between two looks whether the caller should stop.
const PATIENCE: u32 = 4096;

/// Takes the rows that are found.
pub trait RowSink {
    /// Called before the first rows, and again where the index has changed under the search, which then begins anew. All
    /// rows are given once after the last call.
    fn begin(&mut self);

    /// Takes some rows, in no order, [`ROWS_AT_ONCE`] at most. Called where no page is locked.
    fn take(&mut self, rows: &[RowId]) -> Result<()>;
}

/// All rows at once.
impl RowSink for Vec<RowId> {
    fn begin(&mut self) {
        self.clear();
    }

    fn take(&mut self, rows: &[RowId]) -> Result<()> {
        let bytes = (self.len() + rows.len()) * size_of::<RowId>();
        self.try_reserve(rows.len()).map_err(|_| spare::refused(bytes))?;
        self.extend_from_slice(rows);
        Ok(())
    }
}

/// Rows on their way to a sink.
pub(super) struct RowPieces<'a> {
    sink: &'a mut dyn RowSink,
    waiting: Vec<RowId>,
}

impl<'a> RowPieces<'a> {
    pub(super) fn new(sink: &'a mut dyn RowSink) -> RowPieces<'a> {
        sink.begin();
        RowPieces { sink, waiting: Vec::with_capacity(ROWS_AT_ONCE) }
    }

    pub(super) fn add(&mut self, row: RowId) -> Result<()> {
        self.waiting.push(row);
        if self.waiting.len() == ROWS_AT_ONCE { self.hand_over() } else { Ok(()) }
    }

    /// Adds the rows of pending documents that are `wanted`, which is `None` where a document makes no sense.
    pub(super) fn add_pending<S: Store>(
        &mut self,
        store: &S,
        (meta, blocks): (&Bm25Meta, u32),
        mut wanted: impl FnMut(&PendingDocument<'_>) -> Option<bool>,
    ) -> ReadResult<()> {
        for chain in [&meta.sealed, &meta.pending] {
            let mut failed = None;
            let outcome = each_document(store, chain, blocks, &mut |document| {
                let added = if wanted(document)? { self.add(document.row) } else { Ok(()) };
                // Ends the tour, as a document does that makes no sense.
                added.map_err(|error| failed = Some(error)).ok()
            });
            if let Some(error) = failed {
                return Err(error.into());
            }
            outcome?;
        }
        Ok(())
    }

    /// Hands over what waits.
    pub(super) fn hand_over(&mut self) -> Result<()> {
        let outcome = self.sink.take(&self.waiting);
        self.waiting.clear();
        outcome
    }
}

/// Gives all rows of the index, in no order.
pub fn rows<S: Store>(store: &S, sink: &mut dyn RowSink) -> Result<()> {
    settled(store, |meta, blocks| {
        let mut found = RowPieces::new(&mut *sink);
        found.add_pending(store, (meta, blocks), |_| Some(true))?;
        for entry in meta.segments() {
            of_segment(store, &SegmentReader::open(store, entry, blocks)?, &mut found)?;
        }
        found.hand_over()?;
        Ok(())
    })
}

fn of_segment<S: Store>(
    store: &S,
    segment: &SegmentReader,
    found: &mut RowPieces<'_>,
) -> ReadResult<()> {
    let mut run = segment.rows();
    for document in 0..segment.header.documents {
        if document % PATIENCE == 0 {
            store.interrupted()?;
        }
        found.add(row_of(run.take(store, segment, ROW_BYTES)?))?;
    }
    Ok(())
}
