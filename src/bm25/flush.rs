//! # flush: when does a segment come into being, and when do several become one?
//!
//! ```text
//! pending documents → a segment          eight segments of similar size → one
//! ```
//!
//! A segment of `n` documents is in tier `log8(n)`. Eight in a tier are merged, which gives one of
//! a higher tier: so each document is written once for each tier, and `n` inserts cost
//! `O(n log n)`. That is the logarithmic method of Bentley and Saxe ("Decomposable searching
//! problems", 1980), which LSM trees and Lucene use too.

use super::meanwhile::{FlushedMeanwhile, VacuumShare};
use super::memory::PendingSegment;
use super::merge::{MergeInput, merge};
use super::page::{BODY, Bm25Meta, DirectoryEntry, MOST_ENTRIES, new_number, read_meta};
use super::pending::{PendingDocument, close, each_document, seal};
use super::segment::{IN_MAP, IN_ROOT, SegmentReader};
use super::space::{publish, release};
use super::writer::SegmentWriter;
use crate::error::Result;
use crate::pages::StoreMut;

/// Segments of a tier that become one.
const TIER: usize = 8;
/// Pages that a session merges which only wanted to insert.
const QUICK_PAGES: u64 = 1024;
/// The number of segments from which on they are merged whatever it costs.
const TOO_MANY: usize = 64;
/// Bytes of pending documents that become a segment though more follow. What is inserted while a vacuum sleeps, or
/// searches for lost pages, might not fit into memory at once.
const AT_ONCE: usize = 16 << 20;
/// Segments that come of one list, at most: block 0 must have room for them.
const MOST_OF_A_LIST: usize = 64;
/// Entries that stay free after a flush: for a segment that is put in the place of others, and for what is inserted
/// between the look for room and the flush.
const SPARE_ENTRIES: usize = 4;
/// Pages of what is merged: a quarter of what a segment has room for.
pub const MOST_PAGES: u64 = (IN_ROOT * IN_MAP / 4) as u64;
/// Documents of what is merged.
pub const MOST_DOCUMENTS: u64 = 1 << 31;

/// How much a flush may merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merging {
    /// What takes a moment: merges of up to 8 MB, and larger ones only if there are so many
    /// segments that searches suffer. For sessions that insert.
    Quick,
    /// All that is due. For VACUUM.
    All,
}

/// Makes a segment of the pending documents, and merges segments of similar size. Under the
/// structure lock. An error, or a crash, leaves an index that is whole.
pub fn flush<S: StoreMut>(store: &S, merging: Merging) -> Result<()> {
    flush_pending(store)?;
    match merging {
        Merging::Quick => merge_quick(store, &[]),
        Merging::All => merge_all(store),
    }
}

/// Whether block 0 has room for what a flush makes of the sealed list and the pending one.
pub(super) fn has_room_to_flush(meta: &Bm25Meta) -> bool {
    let needed = entries_of(meta.sealed.pages) + entries_of(meta.pending.pages) + SPARE_ENTRIES;
    meta.entries.len() + needed <= MOST_ENTRIES
}

/// Entries that a list of so many pages takes, at most: its segments, and the list itself until its pages are free.
fn entries_of(pages: u32) -> usize {
    // All segments but the last have at least `AT_ONCE` bytes of documents, which don't fill the pages.
    (pages as usize * BODY).div_ceil(AT_ONCE).min(MOST_OF_A_LIST) + 1
}

/// Makes a segment of the pending documents.
pub(super) fn flush_pending<S: StoreMut>(store: &S) -> Result<()> {
    release(store)?;
    // What an interrupted flush has sealed comes first.
    flush_sealed(store, AT_ONCE)?;
    seal(store)?;
    flush_sealed(store, AT_ONCE)
}

/// Makes a segment of the sealed list, or several of a list of more than so many bytes.
pub(super) fn flush_sealed<S: StoreMut>(store: &S, at_once: usize) -> Result<()> {
    let sealed = read_meta(store)?.sealed;
    if sealed.pages == 0 {
        return Ok(());
    }
    close(store, &sealed)?;
    let most_bytes = at_once.max(sealed.pages as usize * BODY / MOST_OF_A_LIST);
    let mut parts = ListParts::new(store);
    let mut failed = None;
    let read = each_document(store, &sealed, store.blocks()?, &mut |document| {
        parts.add(document)?;
        if parts.bytes < most_bytes {
            return Some(());
        }
        parts.write().map_err(|error| failed = Some(error)).ok()
    });
    if let Some(error) = failed {
        return Err(error);
    }
    read?;
    parts.write()?;
    publish(store, &[], true, parts.written)
}

/// The segments that are made of a list.
struct ListParts<'a, S> {
    store: &'a S,
    memory: PendingSegment,
    /// Bytes that the documents in memory have in the list.
    bytes: usize,
    written: Vec<DirectoryEntry>,
    // Memory that is used again.
    term: Vec<u8>,
}

impl<'a, S: StoreMut> ListParts<'a, S> {
    fn new(store: &'a S) -> Self {
        let (memory, written, term) = (PendingSegment::default(), Vec::new(), Vec::new());
        ListParts { store, memory, bytes: 0, written, term }
    }

    /// Takes a document into memory. `None` if it makes no sense.
    fn add(&mut self, document: &PendingDocument<'_>) -> Option<()> {
        self.bytes += document.bytes();
        let memory = &mut self.memory;
        memory.begin(document.row, document.length);
        document.each_term(&mut self.term, |term, frequency| memory.add_term(term, frequency))
    }

    /// Writes a segment of the documents in memory, if there are any.
    fn write(&mut self) -> Result<()> {
        self.bytes = 0;
        let memory = std::mem::take(&mut self.memory);
        if memory.documents() > 0 {
            let number = new_number(self.store)?;
            self.written.push(memory.write(SegmentWriter::new(self.store, number))?);
        }
        Ok(())
    }
}

/// Merges tiers that are full, as far as that takes a moment, without the segments that are `busy`. Under the
/// structure lock.
pub(super) fn merge_quick<S: StoreMut>(store: &S, busy: &[u64]) -> Result<()> {
    loop {
        store.interrupted()?;
        let due = due(&read_meta(store)?, Merging::Quick, busy);
        if due.is_empty() {
            return Ok(());
        }
        replace(store, &open_all(store, &due)?)?;
    }
}

/// Merges all tiers that are full, which can take long, so the pending list is flushed meanwhile. What comes of that
/// is left to the next merge: where sessions insert fast, there might be no end. Under the structure lock.
pub(super) fn merge_all<S: StoreMut>(store: &S) -> Result<()> {
    let share = VacuumShare::default();
    let mut ours = numbers_of(read_meta(store)?.segments());
    loop {
        store.interrupted()?;
        let meta = read_meta(store)?;
        let mut others = numbers_of(meta.segments());
        others.retain(|number| !ours.contains(number));
        let due = due(&meta, Merging::All, &others);
        if due.is_empty() {
            return Ok(());
        }
        let busy = numbers_of(&due);
        let meanwhile = FlushedMeanwhile { store, busy: &busy, share: &share };
        ours.push(replace(&meanwhile, &open_all(store, &due)?)?);
    }
}

/// The numbers of these segments.
pub(super) fn numbers_of<'a>(segments: impl IntoIterator<Item = &'a DirectoryEntry>) -> Vec<u64> {
    segments.into_iter().map(|entry| entry.chain.number).collect()
}

fn open_all<S: StoreMut>(store: &S, entries: &[DirectoryEntry]) -> Result<Vec<MergeInput>> {
    entries.iter().map(|entry| open(store, entry)).collect()
}

/// A segment as an input of a merge. Under the structure lock.
pub(super) fn open<S: StoreMut>(store: &S, entry: &DirectoryEntry) -> Result<MergeInput> {
    Ok(MergeInput { segment: SegmentReader::open(store, entry, store.blocks()?)?, dead: None })
}

/// Puts one segment in the place of some. Gives its number.
pub(super) fn replace<S: StoreMut>(store: &S, inputs: &[MergeInput]) -> Result<u64> {
    let number = new_number(store)?;
    let new = merge(store, inputs, store, number)?;
    let gone: Vec<u64> = inputs.iter().map(|input| input.segment.chain.number).collect();
    publish(store, &gone, false, new)?;
    Ok(number)
}

fn tier(entry: &DirectoryEntry) -> u32 {
    entry.documents.max(1).ilog2() / TIER.ilog2()
}

/// The segments of the lowest tier that is full, without those that are `busy`.
fn due(meta: &Bm25Meta, merging: Merging, busy: &[u64]) -> Vec<DirectoryEntry> {
    let idle = meta.segments().filter(|entry| !busy.contains(&entry.chain.number));
    let mut segments: Vec<DirectoryEntry> = idle.copied().collect();
    segments.sort_by_key(|entry| entry.documents);
    let is_crowded = segments.len() >= TOO_MANY;
    let is_possible = |group: &&[DirectoryEntry]| {
        let pages: u64 = group.iter().map(|entry| u64::from(entry.chain.pages)).sum();
        let documents: u64 = group.iter().map(|entry| u64::from(entry.documents)).sum();
        let is_quick = pages <= QUICK_PAGES || is_crowded || merging == Merging::All;
        is_quick && pages <= MOST_PAGES && documents <= MOST_DOCUMENTS
    };
    let mut tiers = segments.chunk_by(|a, b| tier(a) == tier(b));
    let full = tiers.find(|group| group.len() >= TIER && is_possible(group));
    // If no tier is full, there are many tiers, or merges that aren't quick have been left.
    let smallest = || segments.chunks(TIER).next().filter(|group| is_crowded && is_possible(group));
    full.or_else(smallest).map(<[DirectoryEntry]>::to_vec).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bm25::page::Chain;
    use crate::bm25::pending::DUE;

    fn check(documents: &[u32], merging: Merging, expected: &[u32]) {
        let segment = |documents: &u32| DirectoryEntry {
            chain: Chain { number: 1, head: 1, tail: 1, pages: 1 + documents / 10 },
            documents: *documents,
            ..DirectoryEntry::default()
        };
        let entries = documents.iter().map(segment).collect();
        let due = due(&Bm25Meta { entries, ..Bm25Meta::new() }, merging, &[]);
        let due: Vec<u32> = due.iter().map(|entry| entry.documents).collect();
        assert_eq!(due, expected, "{documents:?}");
    }

    #[test]
    fn full_tiers_are_merged_lowest_first() {
        check(&[], Merging::All, &[]);
        check(&[1; 7], Merging::All, &[]);
        check(&[1; 8], Merging::Quick, &[1; 8]);
        check(
            &[64, 64, 64, 64, 64, 64, 64, 511, 512, 9],
            Merging::All,
            &[64, 64, 64, 64, 64, 64, 64, 511],
        );
        check(&[512, 512, 512, 512, 512, 512, 512, 63, 512], Merging::All, &[512; 8]);
    }

    #[test]
    fn large_merges_are_left_to_vacuum() {
        check(&[30_000; 8], Merging::Quick, &[]);
        check(&[30_000; 8], Merging::All, &[30_000; 8]);
        check(&[30_000; 64], Merging::Quick, &[30_000; 64]);
        check(&[1 << 29; 8], Merging::All, &[]);
    }

    #[test]
    fn a_list_takes_as_many_entries_as_its_bytes_need() {
        // A segment and the list; two and the list; no more than the limit.
        assert_eq!(entries_of(DUE), 2);
        let pages = |bytes: usize| (bytes / BODY) as u32;
        assert_eq!([entries_of(pages(AT_ONCE)), entries_of(pages(AT_ONCE) + 1)], [2, 3]);
        let longest = [entries_of(pages(100 * AT_ONCE)), entries_of(u32::MAX)];
        assert_eq!(longest, [MOST_OF_A_LIST + 1; 2]);
        // Where sessions have left many segments, a list of the usual length still has room.
        let with = |count: usize, pages: u32| {
            let entries = vec![DirectoryEntry::default(); count];
            let pending = Chain { pages, ..Chain::default() };
            has_room_to_flush(&Bm25Meta { entries, pending, ..Bm25Meta::new() })
        };
        let most = MOST_ENTRIES - (entries_of(0) + entries_of(DUE) + SPARE_ENTRIES);
        assert!(most > TOO_MANY && with(most, DUE));
        assert!(!with(most + 1, DUE) && !with(most, u32::MAX));
    }
}
