//! # vacuum: how do rows leave the index?
//!
//! ```text
//! rows that are dead → segments without them
//! ```
//!
//! A segment with dead rows is written anew without them. There is no cheaper way that leaves the
//! statistics exact: which terms a row had is said nowhere but in their lists.
//!
//! The pending documents become segments before. Those that come later are of rows that live, since a row
//! that is dead to a vacuum has its place in the table to itself until the vacuum ends. So what is flushed
//! [meanwhile](super::meanwhile) need not be looked at.

use super::flush::{flush_pending, has_room_to_flush, merge_all, numbers_of, open, replace};
use super::meanwhile::{FlushedMeanwhile, VacuumShare};
use super::number_set::NumberSet;
use super::page::{DirectoryEntry, read_meta};
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
    /// Rows that are left in the segments.
    pub left: u64,
    /// Pages that were lost since a crash, and that can be used again.
    pub recovered: u32,
}

/// Removes the rows that are dead, flushes, merges all that is due, and finds lost pages again.
/// Under the structure lock. `is_dead` is asked for each row that is in the index as it begins.
pub fn vacuum<S: StoreMut>(
    store: &S,
    is_dead: &mut dyn FnMut(RowId) -> bool,
) -> Result<Bm25VacuumReport> {
    release(store)?;
    let (mut cleaned, mut removed) = (Vec::new(), 0);
    // Where block 0 is full a flush fails, and it is this that makes room.
    if !has_room_to_flush(&read_meta(store)?) {
        removed += clean(store, &mut cleaned, is_dead)?;
    }
    flush_with_room(store)?;
    removed += clean(store, &mut cleaned, is_dead)?;
    finish(store, removed)
}

/// Flushes, merges all that is due, and finds lost pages again, where no row is dead: what VACUUM's
/// cleanup needs. Under the structure lock. It reads no segment that it does not merge.
pub fn tidy<S: StoreMut>(store: &S) -> Result<Bm25VacuumReport> {
    release(store)?;
    flush_with_room(store)?;
    finish(store, 0)
}

/// Makes segments of the pending documents; before, room in block 0 if there is too little.
fn flush_with_room<S: StoreMut>(store: &S) -> Result<()> {
    if !has_room_to_flush(&read_meta(store)?) {
        merge_all(store)?;
    }
    flush_pending(store)
}

fn finish<S: StoreMut>(store: &S, removed: u64) -> Result<Bm25VacuumReport> {
    merge_all(store)?;
    let recovered = sweep(store)?;
    let left = read_meta(store)?.segments().map(|entry| u64::from(entry.documents)).sum();
    Ok(Bm25VacuumReport { removed, left, recovered })
}

/// Writes the segments anew that have dead rows, but for those with the numbers `cleaned`, to which it adds
/// those that have none now. Gives how many rows were removed.
fn clean<S: StoreMut>(
    store: &S,
    cleaned: &mut Vec<u64>,
    is_dead: &mut dyn FnMut(RowId) -> bool,
) -> Result<u64> {
    let meta = read_meta(store)?;
    let left = meta.segments().filter(|entry| !cleaned.contains(&entry.chain.number));
    let left: Vec<DirectoryEntry> = left.copied().collect();
    let numbers = numbers_of(&left);
    let (share, mut removed) = (VacuumShare::default(), 0);
    for (place, entry) in left.iter().enumerate() {
        // Those whose turn is still to come stay as they are.
        let store = &FlushedMeanwhile { store, busy: &numbers[place..], share: &share };
        let mut input = open(store, entry)?;
        let (dead, count) = dead_documents(store, &input.segment, is_dead)?;
        removed += u64::from(count);
        cleaned.push(match count {
            0 => entry.chain.number,
            _ => {
                input.dead = Some(dead);
                replace(store, &[input])?
            }
        });
    }
    Ok(removed)
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
