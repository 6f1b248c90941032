//! # vacuum: how do rows leave the index?
//!
//! ```text
//! rows that are dead → segments without them
//! ```
//!
//! A segment with dead rows is written anew without them. There is no cheaper way that leaves the
//! statistics exact: which terms a row had is said nowhere but in their lists.

use super::flush::{Merging, flush_pending, has_room_to_flush, merge_due, open, replace};
use super::number_set::NumberSet;
use super::page::read_meta;
use super::segment::{ROW_BYTES, SegmentReader, row_of};
use super::space::{release, sweep};
use crate::error::Result;
use crate::pages::{InPassing, RowId, Store, StoreMut};

/// Rows between two looks whether the caller should stop.
const PATIENCE: u32 = 4096;

/// What a vacuum did and saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bm25VacuumReport {
    /// Rows that were removed.
    pub removed: u64,
    /// Rows that are left.
    pub left: u64,
    /// Pages that were lost since a crash, and that can be used again.
    pub recovered: u32,
}

/// Removes the rows that are dead, flushes, merges all that is due, and finds lost pages again.
/// Under the structure lock. With `|_| false` it is what VACUUM's cleanup needs.
pub fn vacuum<S: StoreMut>(
    store: &S,
    is_dead: &mut dyn FnMut(RowId) -> bool,
) -> Result<Bm25VacuumReport> {
    let mut report = Bm25VacuumReport::default();
    release(store)?;
    clean(store, &[], is_dead, &mut report)?;
    // Where block 0 is full a flush fails, and it is this that makes room.
    if !has_room_to_flush(&read_meta(store)?) {
        merge_due(store, Merging::All)?;
    }
    let cleaned: Vec<u64> = read_meta(store)?.segments().map(|it| it.chain.number).collect();
    flush_pending(store)?;
    clean(store, &cleaned, is_dead, &mut report)?;
    merge_due(store, Merging::All)?;
    report.recovered = sweep(store)?;
    Ok(report)
}

/// Writes the segments anew that have dead rows, but for those with the numbers `cleaned`.
fn clean<S: StoreMut>(
    store: &S,
    cleaned: &[u64],
    is_dead: &mut dyn FnMut(RowId) -> bool,
    report: &mut Bm25VacuumReport,
) -> Result<()> {
    let segments: Vec<_> = read_meta(store)?.segments().copied().collect();
    for entry in segments.iter().filter(|it| !cleaned.contains(&it.chain.number)) {
        let mut input = open(store, entry)?;
        let (dead, count) = dead_documents(store, &input.segment, is_dead)?;
        report.removed += u64::from(count);
        report.left += u64::from(entry.documents - count);
        if count > 0 {
            input.dead = Some(dead);
            replace(store, &[input])?;
        }
    }
    Ok(())
}

/// The documents of a segment whose rows are dead, and how many they are.
fn dead_documents<S: StoreMut>(
    store: &S,
    segment: &SegmentReader,
    is_dead: &mut dyn FnMut(RowId) -> bool,
) -> Result<(NumberSet, u32)> {
    let documents = segment.header.documents;
    // No row is wanted again where none is dead.
    let store = &InPassing(store);
    let (mut rows, mut dead, mut count) = (segment.rows(), NumberSet::below(documents), 0);
    for document in 0..documents {
        if document % PATIENCE == 0 {
            store.interrupted()?;
        }
        let row = row_of(rows.take(store, segment, ROW_BYTES)?);
        if is_dead(row) {
            dead.insert(document);
            count += 1;
        }
    }
    Ok((dead, count))
}
