//! # rows: which rows are in the index at all?
//!
//! For a condition that no term decides, such as "without this word".

use super::page::ReadResult;
use super::pending::each_document;
use super::segment::{ROW_BYTES, SegmentReader, row_of};
use super::snapshot::settled;
use crate::error::Result;
use crate::pages::{RowId, Store};
use crate::spare;

/// Rows between two looks whether the caller should stop.
const PATIENCE: u32 = 4096;

/// All rows of the index, in no order, none twice.
pub fn rows<S: Store>(store: &S) -> Result<Vec<RowId>> {
    settled(store, |meta, blocks| {
        let mut rows = Vec::new();
        for chain in [&meta.sealed, &meta.pending] {
            let mut is_refused = false;
            let outcome = each_document(store, chain, blocks, &mut |document| {
                is_refused = rows.try_reserve(1).is_err();
                // Ends the tour, as a document does that makes no sense.
                (!is_refused).then(|| rows.push(document.row))
            });
            if is_refused {
                return Err(spare::refused(rows.len() * size_of::<RowId>()).into());
            }
            outcome?;
        }
        for entry in meta.segments() {
            of_segment(store, &SegmentReader::open(store, entry, blocks)?, &mut rows)?;
        }
        Ok(rows)
    })
}

fn of_segment<S: Store>(
    store: &S,
    segment: &SegmentReader,
    rows: &mut Vec<RowId>,
) -> ReadResult<()> {
    let documents = segment.header.documents as usize;
    let refused = |_| spare::refused(documents * size_of::<RowId>());
    rows.try_reserve(documents).map_err(refused)?;
    let mut run = segment.rows();
    for document in 0..segment.header.documents {
        if document % PATIENCE == 0 {
            store.interrupted()?;
        }
        rows.push(row_of(run.take(store, segment, ROW_BYTES)?));
    }
    Ok(())
}
