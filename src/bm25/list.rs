//! # list: the postings of a term, from the first to the last
//!
//! For merging, for prefixes, for conditions without an order and for checks, which need all of
//! them. A search reads with a [`Cursor`](super::cursor::PostingCursor).

use super::bits::SLACK;
use super::dictionary::{FoundTerm, TermLocation};
use super::page::ReadResult;
use super::postings::{BLOCK, DecodedBlock, LARGEST_BLOCK};
use super::segment::{SegmentReader, StreamKind, StreamReader};
use crate::pages::Store;

/// A list that is read from one end to the other.
#[derive(Debug)]
pub struct ListReader {
    run: StreamReader,
    /// Postings that are in no block read so far.
    left: u32,
    block: DecodedBlock,
    at: usize,
    /// The last document of the block before.
    before: u32,
    single: Option<(u32, u32)>,
    copy: Vec<u8>,
}

impl ListReader {
    /// The list of a term.
    pub fn new(found: &FoundTerm) -> ListReader {
        let (run, single) = match found.place {
            TermLocation::Single { document, frequency } => {
                (StreamReader::of(Vec::new()), Some((document, frequency)))
            }
            TermLocation::List { position, blocks, .. } => {
                (StreamReader::new(StreamKind::Lists, position, blocks), None)
            }
        };
        let left = if single.is_some() { 0 } else { found.documents };
        let (block, copy) = (DecodedBlock::default(), Vec::new());
        ListReader { run, left, block, at: 0, before: u32::MAX, single, copy }
    }

    /// The next posting: document and frequency. Documents ascend, and exist.
    #[inline]
    pub fn next<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
    ) -> ReadResult<Option<(u32, u32)>> {
        if self.at < self.block.documents().len() {
            let posting = (self.block.documents()[self.at], self.block.frequencies()[self.at]);
            self.at += 1;
            return Ok(Some(posting));
        }
        self.next_block(store, segment)
    }

    fn next_block<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
    ) -> ReadResult<Option<(u32, u32)>> {
        let documents = segment.header.documents;
        let broken = || segment.broken("a list of postings makes no sense");
        if let Some((document, frequency)) = self.single.take() {
            let posting = (document < documents).then_some((document, frequency));
            return Ok(Some(posting.ok_or_else(broken)?));
        }
        if self.left == 0 {
            return Ok(None);
        }
        let count = (self.left as usize).min(BLOCK);
        let ahead = self.run.ahead(store, segment, LARGEST_BLOCK)?;
        let [first, second, ..] = ahead else { return Err(broken().into()) };
        let size = DecodedBlock::size(*first, *second, count);
        self.copy.clear();
        self.copy.extend_from_slice(&ahead[..size.min(ahead.len())]);
        self.copy.extend([0; SLACK]);
        let decoded = self.block.decode(&self.copy, count, self.before);
        self.run.skip(size);
        self.left -= count as u32;
        let last = self.block.documents().last().copied().filter(|last| *last < documents);
        self.before = decoded.and(last).ok_or_else(broken)?;
        self.at = 1;
        Ok(Some((self.block.documents()[0], self.block.frequencies()[0])))
    }
}
