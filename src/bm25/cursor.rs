//! # cursor: what is the next document of a list, and what can it score at most?
//!
//! A cursor goes forward only. [`PostingCursor::approach`] reads no more than the entries of blocks;
//! [`PostingCursor::seek`] decodes the block in which the document would be.

use super::bits::SLACK;
use super::dictionary::TermLocation;
use super::page::ReadResult;
use super::postings::{BLOCK, BlockEntry, DecodedBlock, Frontier, LARGEST_ENTRY, Pair};
use super::score::Scorer;
use super::segment::{Lengths, SegmentReader, StreamKind, StreamReader};
use super::snapshot::Listed;
use crate::pages::Store;

/// Frequencies of which each has a bound of its own in a block that is decoded.
const LOW: usize = 7;

/// How much a search has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchEffort {
    /// Searches for a number of best hits, each larger than the one before.
    pub stages: u64,
    /// Blocks of up to 128 postings that were decoded.
    pub decoded: u64,
    /// Blocks that were passed over.
    pub skipped: u64,
    /// Documents of segments that were scored.
    pub scored: u64,
    /// Pending documents that were read, each of which is looked through, once in each stage.
    pub pending: u64,
}

impl SearchEffort {
    /// This and what was done beside it.
    #[must_use]
    pub fn plus(self, more: SearchEffort) -> SearchEffort {
        SearchEffort {
            stages: self.stages + more.stages,
            decoded: self.decoded + more.decoded,
            skipped: self.skipped + more.skipped,
            scored: self.scored + more.scored,
            pending: self.pending + more.pending,
        }
    }
}

/// Where the blocks are.
#[derive(Debug)]
enum Blocks<'a> {
    /// In the lists of the segment, the current one from this position on.
    Stored(u64),
    /// In memory, the current one from this place on.
    United(&'a [u8], usize),
    /// There is one posting, decoded already.
    Single,
}

/// The postings of one term of the query in one segment.
#[derive(Debug)]
pub struct PostingCursor<'a> {
    /// Which term of the query.
    pub term: usize,
    /// The most that a document of the current block can score by this term.
    pub bound: f64,
    /// The most that a document of the current block with a frequency of 1, 2 and so on can score
    /// by this term, once the block is decoded.
    bounds: [f64; LOW],
    blocks: Blocks<'a>,
    entries: StreamReader,
    /// Postings in the blocks after the current one.
    left: u32,
    /// The current block; before the first, one without bytes.
    entry: BlockEntry,
    /// The last document before it.
    before: u32,
    count: usize,
    block: DecodedBlock,
    is_decoded: bool,
    at: usize,
    is_at_end: bool,
    bytes: Vec<u8>,
}

impl<'a> PostingCursor<'a> {
    /// Stands at the first block.
    pub fn new<S: Store>(
        store: &S,
        segment: &SegmentReader,
        term: usize,
        listed: &'a Listed,
        scorer: &Scorer,
        effort: &mut SearchEffort,
    ) -> ReadResult<PostingCursor<'a>> {
        let none = StreamReader::of(Vec::new());
        let (blocks, entries, left) = match listed {
            Listed::United(union) => {
                let entries = StreamReader::of(union.entries.clone());
                (Blocks::United(&union.blocks, 0), entries, union.documents)
            }
            Listed::Found(found) => match found.place {
                TermLocation::Single { .. } => (Blocks::Single, none, 0),
                TermLocation::List { position, blocks, entries } => {
                    let start = position.saturating_add(blocks);
                    let entries = StreamReader::new(StreamKind::Lists, start, entries);
                    (Blocks::Stored(position), entries, found.documents)
                }
            },
        };
        let mut cursor = PostingCursor {
            term,
            bound: 0.0,
            bounds: [f64::INFINITY; LOW],
            blocks,
            entries,
            left,
            entry: BlockEntry { last: u32::MAX, ..BlockEntry::default() },
            before: u32::MAX,
            count: 0,
            block: DecodedBlock::default(),
            is_decoded: true,
            at: 0,
            is_at_end: false,
            bytes: Vec::new(),
        };
        match listed {
            Listed::Found(super::dictionary::FoundTerm {
                place: TermLocation::Single { document, frequency },
                ..
            }) => {
                let length = Lengths::default().get(store, segment, *document)?;
                let pair = Pair { frequency: *frequency, length };
                cursor.entry =
                    BlockEntry { last: *document, bytes: 0, frontier: Frontier::of(pair) };
                cursor.block = DecodedBlock::of(*document, *frequency);
                cursor.count = 1;
                cursor.bound = scorer.part(term, *frequency, length);
                cursor.bound_frequencies(scorer);
            }
            _ => cursor.next_block(store, segment, scorer, effort)?,
        }
        Ok(cursor)
    }

    /// Whether no document is left.
    pub fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    /// The last document of the current block.
    pub fn last(&self) -> u32 {
        self.entry.last
    }

    /// What is known of the current block.
    pub fn frontier(&self) -> &Frontier {
        &self.entry.frontier
    }

    /// Goes to the next block, without decoding it.
    pub fn next_block<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        scorer: &Scorer,
        effort: &mut SearchEffort,
    ) -> ReadResult<()> {
        effort.skipped += u64::from(!self.is_decoded);
        (self.is_decoded, self.at) = (true, 0);
        match &mut self.blocks {
            Blocks::Stored(position) => *position += self.entry.bytes as u64,
            Blocks::United(_, start) => *start += self.entry.bytes,
            Blocks::Single => {}
        }
        if self.left == 0 {
            (self.is_at_end, self.bound, self.count) = (true, 0.0, 0);
            return Ok(());
        }
        self.before = self.entry.last;
        let mut ahead = super::bits::Bytes(self.entries.ahead(store, segment, LARGEST_ENTRY)?);
        let bytes = ahead.0.len();
        let entry = BlockEntry::get(&mut ahead, self.before)
            .filter(|entry| entry.last < segment.header.documents)
            .ok_or_else(|| segment.broken("the entry of a block makes no sense"))?;
        let used = bytes - ahead.0.len();
        self.entries.skip(used);
        self.count = (self.left as usize).min(BLOCK);
        self.left -= self.count as u32;
        self.is_decoded = false;
        let pairs = entry.frontier.pairs().iter();
        self.bound = pairs
            .map(|pair| scorer.part(self.term, pair.frequency.max(1), pair.length))
            .fold(0.0, f64::max);
        self.entry = entry;
        Ok(())
    }

    /// Goes to the block in which `document` would be, without decoding it.
    #[inline]
    pub fn approach<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        document: u32,
        scorer: &Scorer,
        effort: &mut SearchEffort,
    ) -> ReadResult<()> {
        while !self.is_at_end && self.entry.last < document {
            self.next_block(store, segment, scorer, effort)?;
        }
        Ok(())
    }

    /// The first document of the current block that is not before `document`, which is not
    /// after the block.
    #[inline]
    pub fn seek<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        document: u32,
        scorer: &Scorer,
        effort: &mut SearchEffort,
    ) -> ReadResult<u32> {
        if !self.is_decoded {
            self.decode(store, segment)?;
            self.bound_frequencies(scorer);
            effort.decoded += 1;
        }
        let documents = self.block.documents();
        // Mostly it is the next one or near.
        for _ in 0..4 {
            match documents.get(self.at) {
                Some(found) if *found < document => self.at += 1,
                Some(found) => return Ok(*found),
                None => return Ok(u32::MAX),
            }
        }
        self.at += documents[self.at..].partition_point(|found| *found < document);
        Ok(documents.get(self.at).copied().unwrap_or(u32::MAX))
    }

    /// The frequency in the document that was sought and found.
    #[inline]
    pub fn frequency(&self) -> u32 {
        self.block.frequencies().get(self.at).copied().unwrap_or(1)
    }

    /// The most that the document that was sought and found can score by this term, as far as
    /// can be said without its length.
    #[inline]
    pub fn bound_here(&self) -> f64 {
        let place = self.frequency() as usize - 1;
        self.bounds.get(place).copied().unwrap_or(self.bound)
    }

    /// A document is surpassed by a pair of the frontier, so its length is not below that of the
    /// first pair whose frequency is not below its own.
    fn bound_frequencies(&mut self, scorer: &Scorer) {
        let pairs = self.entry.frontier.pairs();
        for (frequency, bound) in (1..).zip(&mut self.bounds) {
            let pair = pairs.iter().find(|pair| pair.frequency >= frequency);
            *bound = pair.map_or(0.0, |pair| scorer.part(self.term, frequency, pair.length));
        }
    }

    /// Decodes the current block.
    fn decode<S: Store>(&mut self, store: &S, segment: &SegmentReader) -> ReadResult<()> {
        let broken = || segment.broken("a block of postings makes no sense");
        let bytes: &[u8] = match &self.blocks {
            Blocks::Single => return Ok(()),
            Blocks::United(blocks, start) => blocks.get(*start..).unwrap_or_default(),
            Blocks::Stored(position) => {
                self.bytes.clear();
                let size = self.entry.bytes;
                segment.read(store, StreamKind::Lists, *position, size, &mut self.bytes)?;
                self.bytes.extend([0; SLACK]);
                &self.bytes
            }
        };
        let [first, second, ..] = bytes else { return Err(broken().into()) };
        let size = DecodedBlock::size(*first, *second, self.count);
        let decoded = self.block.decode(bytes, self.count, self.before);
        let last = self.block.documents().last().copied();
        if decoded.is_none() || last != Some(self.entry.last) || size != self.entry.bytes {
            return Err(broken().into());
        }
        self.is_decoded = true;
        Ok(())
    }

    /// The postings of the current block, decoded.
    pub fn postings<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
    ) -> ReadResult<impl Iterator<Item = (u32, u32)> + '_> {
        if !self.is_decoded {
            self.decode(store, segment)?;
        }
        let (documents, frequencies) = (self.block.documents(), self.block.frequencies());
        Ok(documents.iter().copied().zip(frequencies.iter().copied()))
    }
}
