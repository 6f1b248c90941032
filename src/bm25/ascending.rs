//! # ascending: which rows match, one after the other?
//!
//! ```text
//! (terms, index) → rows, ascending, none twice
//! ```
//!
//! For a scan that gives one row after the other while others insert, merge and vacuum. Rows are read in pieces, from
//! all segments at once, in the order of the table. If a page has got another use since the last piece, the index is
//! looked at anew, and what is left are the rows after the last one read. Another order could not be gone on with: a
//! merge makes one segment of some that have been read and others that have not.
//!
//! What is held is a bit for each document of the segments at most, the rows of pending documents, and a piece.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::cursor::SearchEffort;
use super::matching::DocumentSet;
use super::page::{Bm25Meta, ReadResult, Stop};
use super::rows::{ROWS_AT_ONCE, RowPieces};
use super::score::Term;
use super::segment::{RowReader, SegmentReader};
use super::snapshot::{Seeker, changed, settled};
use crate::error::Result;
use crate::pages::{RowId, Store};

/// Rows that match, asked for one by one. All that are in the index before the first is asked for, and stay, are given
/// once.
#[derive(Debug)]
pub struct AscendingRows {
    terms: Option<Vec<Term>>,
    /// What is read from, if anything has been read and there is more.
    reader: Option<PieceReader>,
    /// Rows to be given, the last first.
    piece: Vec<RowId>,
    /// The last row read.
    last: Option<RowId>,
    is_complete: bool,
    effort: SearchEffort,
}

impl AscendingRows {
    /// Begins: rows that have one of `terms` at least, or all where there is no condition. Nothing is read before the
    /// first [`AscendingRows::next`].
    #[must_use]
    pub fn new(terms: Option<Vec<Term>>) -> AscendingRows {
        let (reader, piece, last, effort) = (None, Vec::new(), None, SearchEffort::default());
        AscendingRows { terms, reader, piece, last, is_complete: false, effort }
    }

    /// The next row; `None` after the last. Always called with the same index.
    pub fn next<S: Store>(&mut self, store: &S) -> Result<Option<RowId>> {
        while self.piece.is_empty() && !self.is_complete {
            self.read_piece(store)?;
        }
        Ok(self.piece.pop())
    }

    /// What it took so far.
    #[must_use]
    pub fn effort(&self) -> SearchEffort {
        self.effort
    }

    fn read_piece<S: Store>(&mut self, store: &S) -> Result<()> {
        let (reader, mut piece) = match self.go_on(store)? {
            Some(read) => read,
            None => self.begin(store)?,
        };
        self.last = piece.last().copied().or(self.last);
        piece.reverse();
        self.piece = piece;
        self.is_complete = reader.heads.is_empty();
        self.reader = (!self.is_complete).then_some(reader);
        Ok(())
    }

    /// Reads on; `None` where nothing has been read yet, or a page has got another use since.
    fn go_on<S: Store>(&mut self, store: &S) -> Result<Option<(PieceReader, Vec<RowId>)>> {
        let Some(mut reader) = self.reader.take() else { return Ok(None) };
        match reader.piece(store, self.last) {
            Ok(piece) => Ok(Some((reader, piece))),
            Err(Stop::Failed(error)) => Err(error),
            Err(Stop::Moved(block)) => changed(store, reader.changes, block).map(|_| None),
        }
    }

    /// Reads the index as it is now, from the last row on.
    fn begin<S: Store>(&mut self, store: &S) -> Result<(PieceReader, Vec<RowId>)> {
        let (terms, last) = (self.terms.as_deref(), self.last);
        let (reader, piece, effort) = settled(store, |meta, blocks| {
            let mut effort = SearchEffort::default();
            let mut reader = PieceReader::open(store, (meta, blocks), (terms, last), &mut effort)?;
            let piece = reader.piece(store, last)?;
            Ok((reader, piece, effort))
        })?;
        self.effort = self.effort.plus(effort);
        Ok((reader, piece))
    }
}

/// The rows of an index, as it was at one moment, that come after some row.
#[derive(Debug)]
struct PieceReader {
    /// What the first page counted at that moment.
    changes: u64,
    segments: Vec<SegmentRows>,
    /// Rows of pending documents, the last first.
    pending: Vec<RowId>,
    /// The next row of each segment, with its place; the pending list comes after the last one.
    heads: BinaryHeap<Reverse<(RowId, usize)>>,
}

impl PieceReader {
    fn open<S: Store>(
        store: &S,
        (meta, blocks): (&Bm25Meta, u32),
        (terms, last): (Option<&[Term]>, Option<RowId>),
        effort: &mut SearchEffort,
    ) -> ReadResult<PieceReader> {
        let mut pending = pending_rows(store, (meta, blocks), terms, effort)?;
        pending.retain(|row| Some(*row) > last);
        pending.sort_unstable_by_key(|row| Reverse(*row));
        let (mut segments, mut heads) = (Vec::new(), BinaryHeap::new());
        for entry in meta.segments() {
            store.interrupted()?;
            let segment = SegmentReader::open(store, entry, blocks)?;
            let found = match terms {
                Some(terms) => DocumentSet::with_any(store, &segment, terms, effort)?,
                None => DocumentSet::All(segment.header.documents),
            };
            let mut rows = SegmentRows::after(store, segment, found, last)?;
            if let Some(row) = rows.next(store)? {
                heads.push(Reverse((row, segments.len())));
                segments.push(rows);
            }
        }
        heads.extend(pending.pop().map(|row| Reverse((row, segments.len()))));
        Ok(PieceReader { changes: meta.changes, segments, pending, heads })
    }

    /// The next rows, of those after `last`. There may be more until there are no heads.
    fn piece<S: Store>(&mut self, store: &S, last: Option<RowId>) -> ReadResult<Vec<RowId>> {
        store.interrupted()?;
        let PieceReader { segments, pending, heads, .. } = self;
        let mut piece: Vec<RowId> = Vec::with_capacity(ROWS_AT_ONCE);
        for _ in 0..ROWS_AT_ONCE {
            let Some(mut head) = heads.peek_mut() else { break };
            let Reverse((row, place)) = *head;
            // None twice, whatever pages say.
            if Some(row) > piece.last().copied().or(last) {
                piece.push(row);
            }
            let next = match segments.get_mut(place) {
                Some(rows) => rows.next(store)?,
                None => pending.pop(),
            };
            match next {
                Some(next) => *head = Reverse((next, place)),
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(piece)
    }
}

/// Rows of pending documents that have one of the terms, or of all.
fn pending_rows<S: Store>(
    store: &S,
    (meta, blocks): (&Bm25Meta, u32),
    terms: Option<&[Term]>,
    effort: &mut SearchEffort,
) -> ReadResult<Vec<RowId>> {
    let mut rows: Vec<RowId> = Vec::new();
    let mut seeker = terms.map(Seeker::new);
    let mut pieces = RowPieces::new(&mut rows);
    pieces.add_pending(store, (meta, blocks), |document| {
        let Some(seeker) = &mut seeker else { return Some(true) };
        effort.pending += 1;
        seeker.seek(document).map(|found| found.is_some())
    })?;
    pieces.hand_over()?;
    Ok(rows)
}

/// Rows of some documents of a segment.
#[derive(Debug)]
struct SegmentRows {
    segment: SegmentReader,
    found: DocumentSet,
    /// The first document that has not been looked at.
    next: u32,
    reader: RowReader,
    /// The row before.
    before: Option<RowId>,
}

impl SegmentRows {
    /// Those after `last`. Documents are numbered in the order of their rows.
    fn after<S: Store>(
        store: &S,
        segment: SegmentReader,
        found: DocumentSet,
        last: Option<RowId>,
    ) -> ReadResult<SegmentRows> {
        let mut reader = RowReader::default();
        let (mut next, mut end) = (0, if last.is_some() { segment.header.documents } else { 0 });
        while next < end {
            let middle = next + (end - next) / 2;
            if Some(reader.get(store, &segment, middle)?) > last {
                end = middle;
            } else {
                next = middle + 1;
            }
        }
        Ok(SegmentRows { segment, found, next, reader, before: None })
    }

    fn next<S: Store>(&mut self, store: &S) -> ReadResult<Option<RowId>> {
        let Some(document) = self.found.first_from(self.next) else { return Ok(None) };
        let row = self.reader.get(store, &self.segment, document)?;
        if Some(row) < self.before {
            return Err(self.segment.broken("the rows of a segment do not ascend").into());
        }
        (self.next, self.before) = (document + 1, Some(row));
        Ok(Some(row))
    }
}
