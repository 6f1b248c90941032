//! # merge: one segment of several
//!
//! ```text
//! (segments, dead documents) → a segment of what is left of them
//! ```
//!
//! Documents are numbered anew in the order of their rows, so within each of the segments the
//! order stays, and lists are merged without being held in memory. What is held are the new
//! numbers and the lengths: eight bytes a document.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::dictionary::{FoundTerm, TermIterator};
use super::list::ListReader;
use super::number_set::NumberSet;
use super::page::DirectoryEntry;
use super::segment::{ROW_BYTES, SegmentReader, length_of, row_of};
use super::writer::SegmentWriter;
use crate::error::Result;
use crate::pages::{RowId, Store, StoreMut};
use crate::spare;

/// The new number of a document that is not there any more.
const GONE: u32 = u32::MAX;
/// Steps between two looks whether the caller should stop.
const PATIENCE: usize = 4096;
/// Bytes of a document's new number and of its length, in lists that are twice as long as they need be.
const BYTES_A_DOCUMENT: usize = 16;

/// A segment that goes into a merge.
pub struct MergeInput {
    /// The segment that is read.
    pub segment: SegmentReader,
    /// Documents to be left out.
    pub dead: Option<NumberSet>,
}

/// Writes a segment, into the same store or another. The inputs must not change meanwhile. Gives
/// `None` if no document is left.
pub fn merge<R: Store, W: StoreMut>(
    from: &R,
    inputs: &[MergeInput],
    to: &W,
    number: u64,
) -> Result<Option<DirectoryEntry>> {
    let any_is_left = inputs.iter().any(|input| {
        let is_dead = |document| input.dead.as_ref().is_some_and(|dead| dead.contains(document));
        (0..input.segment.header.documents).any(|document| !is_dead(document))
    });
    if !any_is_left {
        return Ok(None);
    }
    let documents: usize = inputs.iter().map(|it| it.segment.header.documents as usize).sum();
    spare::check(BYTES_A_DOCUMENT * documents)?;
    let mut writer = SegmentWriter::new(to, number);
    let new_numbers = merge_documents(from, inputs, &mut writer)?;
    writer.end_documents()?;
    merge_terms(from, inputs, &new_numbers, &mut writer)?;
    writer.finish().map(Some)
}

/// The next row of an input, its document and its length.
type NextRow = Reverse<(RowId, usize, u32, u32)>;

/// Writes the documents. Gives the new numbers of those of each input.
fn merge_documents<R: Store, W: StoreMut>(
    from: &R,
    inputs: &[MergeInput],
    writer: &mut SegmentWriter<'_, W>,
) -> Result<Vec<Vec<u32>>> {
    let mut runs: Vec<_> =
        inputs.iter().map(|it| (it.segment.rows(), it.segment.all_lengths())).collect();
    let mut next = |input: usize, document: u32| -> Result<Option<NextRow>> {
        let segment = &inputs[input].segment;
        if document >= segment.header.documents {
            return Ok(None);
        }
        let (rows, lengths) = &mut runs[input];
        let row = row_of(rows.take(from, segment, ROW_BYTES)?);
        let length = length_of(lengths.take(from, segment, segment.header.width as usize)?);
        Ok(Some(Reverse((row, input, document, length))))
    };
    let mut new_numbers: Vec<Vec<u32>> = inputs.iter().map(|_| Vec::new()).collect();
    let mut heap = BinaryHeap::new();
    for input in 0..inputs.len() {
        heap.extend(next(input, 0)?);
    }
    let (mut count, mut steps) = (0u32, 0);
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((row, input, document, length)) = *top;
        let is_dead = inputs[input].dead.as_ref().is_some_and(|dead| dead.contains(document));
        new_numbers[input].push(if is_dead { GONE } else { count });
        if !is_dead {
            writer.add_document(row, length)?;
            count += 1;
        }
        match next(input, document + 1)? {
            Some(later) => *top = later,
            None => drop(PeekMut::pop(top)),
        }
        steps += 1;
        if steps % PATIENCE == 0 {
            from.interrupted()?;
        }
    }
    Ok(new_numbers)
}

/// Writes the terms that are left, with their lists.
fn merge_terms<R: Store, W: StoreMut>(
    from: &R,
    inputs: &[MergeInput],
    new_numbers: &[Vec<u32>],
    writer: &mut SegmentWriter<'_, W>,
) -> Result<()> {
    let mut terms = Vec::new();
    for input in inputs {
        terms.push(TermIterator::from(from, &input.segment, &[])?);
    }
    let mut heap: BinaryHeap<Reverse<(Vec<u8>, usize)>> = BinaryHeap::new();
    let mut founds: Vec<Option<FoundTerm>> = vec![None; inputs.len()];
    let mut advance = |input: usize, founds: &mut Vec<Option<FoundTerm>>, key: &mut Vec<u8>| {
        let next = terms[input].next(from, &inputs[input].segment)?;
        founds[input] = next.map(|(_, found)| found);
        key.clear();
        key.extend_from_slice(next.map(|(term, _)| term).unwrap_or_default());
        Ok::<bool, crate::error::Error>(founds[input].is_some())
    };
    for input in 0..inputs.len() {
        let mut key = Vec::new();
        if advance(input, &mut founds, &mut key)? {
            heap.push(Reverse((key, input)));
        }
    }
    let (mut term, mut lists, mut steps) = (Vec::new(), Vec::new(), 0);
    while let Some(Reverse((first, _))) = heap.peek() {
        term.clone_from(first);
        lists.clear();
        while let Some(mut top) = heap.peek_mut() {
            let Reverse((key, input)) = &mut *top;
            if *key != term {
                break;
            }
            if let Some(found) = &founds[*input] {
                lists.push((*input, ListReader::new(found)));
            }
            if !advance(*input, &mut founds, key)? {
                PeekMut::pop(top);
            }
        }
        writer.begin_term();
        merge_lists(from, inputs, new_numbers, &mut lists, writer)?;
        writer.end_term(&term)?;
        steps += 1;
        if steps % PATIENCE == 0 {
            from.interrupted()?;
        }
    }
    Ok(())
}

fn merge_lists<R: Store, W: StoreMut>(
    from: &R,
    inputs: &[MergeInput],
    new_numbers: &[Vec<u32>],
    lists: &mut [(usize, ListReader)],
    writer: &mut SegmentWriter<'_, W>,
) -> Result<()> {
    // The next living document of a list, by its new number, and its frequency.
    let next = |(input, list): &mut (usize, ListReader)| -> Result<Option<(u32, u32)>> {
        while let Some((document, frequency)) = list.next(from, &inputs[*input].segment)? {
            let new = new_numbers[*input].get(document as usize).copied().unwrap_or(GONE);
            if new != GONE {
                return Ok(Some((new, frequency)));
            }
        }
        Ok(None)
    };
    if let [only] = lists {
        while let Some((document, frequency)) = next(only)? {
            writer.add_posting(document, frequency)?;
        }
        return Ok(());
    }
    let mut heap = BinaryHeap::with_capacity(lists.len());
    for (place, list) in lists.iter_mut().enumerate() {
        if let Some((document, frequency)) = next(list)? {
            heap.push(Reverse((document, place, frequency)));
        }
    }
    while let Some(mut top) = heap.peek_mut() {
        let Reverse((document, place, frequency)) = *top;
        writer.add_posting(document, frequency)?;
        match next(&mut lists[place])? {
            Some((later, frequency)) => *top = Reverse((later, place, frequency)),
            None => drop(PeekMut::pop(top)),
        }
    }
    Ok(())
}
