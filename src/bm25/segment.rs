//! # segment: where in a segment is what?
//!
//! A segment has two streams of bytes, each on pages of its own: the lists (rows, blocks of
//! postings with their entries, lengths) and the dictionary. Its root says where they begin, and
//! on which pages each stretch of a stream is; if these are too many for the root, it says on
//! which pages that is said.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::page::{
    BODY, Bm25PageKind, Chain, DirectoryEntry, ReadResult, content, corrupt, get_u32, get_u64,
    put_u32, put_u64,
};
use crate::error::Result;
use crate::pages::{RowId, Store};

/// Where the numbers of pages begin in a root.
const MAP: usize = 96;
/// Numbers of pages that a root has room for.
pub const IN_ROOT: usize = (BODY - MAP) / 4;
/// Numbers of pages on a page of them.
pub const IN_MAP: usize = BODY / 4;
/// Bytes of a row.
pub const ROW_BYTES: usize = 6;
/// Lengths that are fetched together.
const LENGTHS: u32 = 1024;
/// Rows that are fetched together.
const ROWS: u32 = 64;
/// Bytes that are fetched together of what is read from one end to the other.
const RUN: usize = 4096;

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamKind {
    /// Rows, postings and lengths of documents.
    Lists,
    /// Terms, and where their postings are.
    Dictionary,
}

/// What a root says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentRoot {
    /// How many documents there are.
    pub documents: u32,
    /// Bytes of a length: 1, 2 or 4.
    pub width: u32,
    /// The sum of the lengths.
    pub total_length: u64,
    /// How many terms there are.
    pub terms: u64,
    /// How many postings there are.
    pub postings: u64,
    /// Where the lengths begin.
    pub lengths: u64,
    /// Where the root of the dictionary is.
    pub dictionary: u64,
    /// Bytes of that root.
    pub dictionary_bytes: u32,
    /// How many levels are below it.
    pub levels: u32,
    /// Pages of the lists.
    pub list_pages: u32,
    /// Pages of the dictionary.
    pub dictionary_pages: u32,
}

impl SegmentRoot {
    /// Reads the header from the bytes of a root.
    fn get(bytes: &[u8]) -> SegmentRoot {
        SegmentRoot {
            documents: get_u32(bytes, 0),
            width: get_u32(bytes, 4),
            total_length: get_u64(bytes, 8),
            terms: get_u64(bytes, 16),
            postings: get_u64(bytes, 24),
            lengths: get_u64(bytes, 32),
            dictionary: get_u64(bytes, 40),
            dictionary_bytes: get_u32(bytes, 48),
            levels: get_u32(bytes, 52),
            list_pages: get_u32(bytes, 56),
            dictionary_pages: get_u32(bytes, 60),
        }
    }

    /// Writes the header, and numbers of pages.
    pub fn put(&self, bytes: &mut [u8], map: &[u32]) {
        put_u32(bytes, 0, self.documents);
        put_u32(bytes, 4, self.width);
        put_u64(bytes, 8, self.total_length);
        put_u64(bytes, 16, self.terms);
        put_u64(bytes, 24, self.postings);
        put_u64(bytes, 32, self.lengths);
        put_u64(bytes, 40, self.dictionary);
        put_u32(bytes, 48, self.dictionary_bytes);
        put_u32(bytes, 52, self.levels);
        put_u32(bytes, 56, self.list_pages);
        put_u32(bytes, 60, self.dictionary_pages);
        for (place, block) in map.iter().enumerate() {
            put_u32(bytes, MAP + 4 * place, *block);
        }
    }

    fn pages(&self) -> usize {
        self.list_pages as usize + self.dictionary_pages as usize
    }

    /// Whether the numbers fit each other.
    fn is_sound(&self) -> bool {
        let list_bytes = u64::from(self.list_pages) * BODY as u64;
        let dictionary_bytes = u64::from(self.dictionary_pages) * BODY as u64;
        let lengths = u64::from(self.documents) * u64::from(self.width);
        let rows = u64::from(self.documents) * ROW_BYTES as u64;
        [1, 2, 4].contains(&self.width)
            && self.documents < u32::MAX
            && self.levels < 40
            && rows <= self.lengths
            && self.lengths.checked_add(lengths).is_some_and(|end| end <= list_bytes)
            && self.dictionary <= dictionary_bytes
            && self.pages() <= IN_ROOT * IN_MAP
    }
}

/// A segment to be read.
#[derive(Debug)]
pub struct SegmentReader {
    /// The pages of the segment.
    pub chain: Chain,
    /// What its root says.
    pub header: SegmentRoot,
    /// How many pages the index has at least.
    blocks: u32,
    map: Vec<u32>,
    /// Where `map` leads, if it leads to more of its kind.
    maps: RefCell<HashMap<usize, Rc<[u32]>>>,
}

impl SegmentReader {
    /// Reads the root, in an index of so many pages.
    pub fn open<S: Store>(
        store: &S,
        entry: &DirectoryEntry,
        blocks: u32,
    ) -> ReadResult<SegmentReader> {
        let chain = entry.chain;
        if chain.head >= blocks {
            return Err(corrupt(0, "a segment beyond the end").into());
        }
        let (header, map) = look(store, chain.head, Bm25PageKind::Root, chain.number, |bytes| {
            let header = SegmentRoot::get(bytes);
            let pages = header.pages();
            let numbers = if pages <= IN_ROOT { pages } else { pages.div_ceil(IN_MAP) };
            (header, numbers_of(&bytes[MAP..], numbers))
        })?;
        if !header.is_sound() || header.documents != entry.documents {
            return Err(corrupt(chain.head, "the root of a segment contradicts itself").into());
        }
        Ok(SegmentReader { chain, header, blocks, map, maps: RefCell::default() })
    }

    /// The page of a stretch of a stream.
    fn block<S: Store>(&self, store: &S, stream: StreamKind, place: usize) -> ReadResult<u32> {
        let (start, pages) = match stream {
            StreamKind::Lists => (0, self.header.list_pages),
            StreamKind::Dictionary => {
                (self.header.list_pages as usize, self.header.dictionary_pages)
            }
        };
        if place >= pages as usize {
            return Err(self.broken("a place beyond the end of a segment").into());
        }
        let place = start + place;
        let block = if self.header.pages() <= IN_ROOT {
            self.map.get(place).copied()
        } else {
            self.mapped(store, place / IN_MAP)?.get(place % IN_MAP).copied()
        };
        self.existing(block)
    }

    fn existing(&self, block: Option<u32>) -> ReadResult<u32> {
        let block = block.filter(|block| *block < self.blocks);
        Ok(block.ok_or_else(|| self.broken("a place beyond the end of a segment"))?)
    }

    fn mapped<S: Store>(&self, store: &S, which: usize) -> ReadResult<Rc<[u32]>> {
        if let Some(known) = self.maps.borrow().get(&which) {
            return Ok(Rc::clone(known));
        }
        let block = self.existing(self.map.get(which).copied())?;
        let read = |bytes: &[u8]| Rc::from(numbers_of(bytes, IN_MAP));
        let numbers: Rc<[u32]> = look(store, block, Bm25PageKind::Map, self.chain.number, read)?;
        self.maps.borrow_mut().insert(which, Rc::clone(&numbers));
        Ok(numbers)
    }

    /// Appends bytes of a stream.
    pub fn read<S: Store>(
        &self,
        store: &S,
        stream: StreamKind,
        position: u64,
        bytes: usize,
        into: &mut Vec<u8>,
    ) -> ReadResult<()> {
        let (mut place, mut left) = (position, bytes);
        while left > 0 {
            let offset = (place % BODY as u64) as usize;
            let part = left.min(BODY - offset);
            let block = self.block(store, stream, (place / BODY as u64) as usize)?;
            look(store, block, Bm25PageKind::Data, self.chain.number, |content| {
                into.extend_from_slice(&content[offset..offset + part]);
            })?;
            place += part as u64;
            left -= part;
        }
        Ok(())
    }

    /// The rows, from the first document on.
    pub fn rows(&self) -> StreamReader {
        StreamReader::new(StreamKind::Lists, 0, u64::from(self.header.documents) * ROW_BYTES as u64)
    }

    /// The lengths, from the first document on.
    pub fn all_lengths(&self) -> StreamReader {
        let bytes = u64::from(self.header.documents) * u64::from(self.header.width);
        StreamReader::new(StreamKind::Lists, self.header.lengths, bytes)
    }

    /// Says that something in the segment is not what it should be.
    pub fn broken(&self, what: &str) -> crate::error::Error {
        corrupt(self.chain.head, what)
    }
}

fn numbers_of(bytes: &[u8], count: usize) -> Vec<u32> {
    let numbers = bytes.chunks_exact(4).take(count);
    numbers.map(|four| get_u32(four, 0)).collect()
}

/// A row in six bytes.
pub fn row_of(bytes: &[u8]) -> RowId {
    let line = u16::from_le_bytes([bytes[4], bytes[5]]);
    RowId { block: u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), line }
}

/// Appends a row in six bytes.
pub fn put_row(bytes: &mut Vec<u8>, row: RowId) {
    bytes.extend(row.block.to_le_bytes());
    bytes.extend(row.line.to_le_bytes());
}

/// A length in `bytes`, of which there are 1, 2 or 4.
pub fn length_of(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |length, byte| length << 8 | u32::from(*byte))
}

/// Looks at the content of a page of a segment.
fn look<S: Store, T>(
    store: &S,
    block: u32,
    kind: Bm25PageKind,
    number: u64,
    look: impl FnOnce(&[u8]) -> T,
) -> ReadResult<T> {
    store.read(block, |page| content(page, block, kind, number).map(look))?
}

/// Bytes of a stream that are read from one end to the other.
#[derive(Clone, Debug)]
pub struct StreamReader {
    stream: StreamKind,
    /// What of the stream is not in the buffer yet.
    position: u64,
    end: u64,
    buffer: Vec<u8>,
    /// What of the buffer is used up.
    used: usize,
}

impl StreamReader {
    /// Bytes of a stream from a position on.
    pub fn new(stream: StreamKind, position: u64, bytes: u64) -> StreamReader {
        StreamReader {
            stream,
            position,
            end: position.saturating_add(bytes),
            buffer: Vec::new(),
            used: 0,
        }
    }

    /// Bytes that are in memory.
    pub fn of(bytes: Vec<u8>) -> StreamReader {
        StreamReader { stream: StreamKind::Lists, position: 0, end: 0, buffer: bytes, used: 0 }
    }

    /// The next bytes, at least so many if there are so many left.
    #[inline]
    pub fn ahead<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        bytes: usize,
    ) -> ReadResult<&[u8]> {
        if self.buffer.len() - self.used < bytes && self.position < self.end {
            self.fetch(store, segment, bytes)?;
        }
        Ok(&self.buffer[self.used..])
    }

    fn fetch<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        bytes: usize,
    ) -> ReadResult<()> {
        self.buffer.drain(..self.used);
        self.used = 0;
        let wanted = RUN.max(bytes) as u64;
        let part = wanted.min(self.end - self.position);
        segment.read(store, self.stream, self.position, part as usize, &mut self.buffer)?;
        self.position += part;
        Ok(())
    }

    /// Passes over bytes of those in memory.
    #[inline]
    pub fn skip(&mut self, bytes: usize) {
        self.used = (self.used + bytes).min(self.buffer.len());
    }

    /// The next `bytes`, all of them.
    pub fn take<'a, S: Store>(
        &'a mut self,
        store: &S,
        segment: &SegmentReader,
        bytes: usize,
    ) -> ReadResult<&'a [u8]> {
        self.ahead(store, segment, bytes)?;
        let start = self.used;
        self.skip(bytes);
        let taken = &self.buffer[start..self.used];
        if taken.len() < bytes {
            return Err(segment.broken("a part of a segment is too short").into());
        }
        Ok(taken)
    }
}

/// Values of documents that are asked for in ascending order, more or less, so that neighbours
/// are fetched together.
#[derive(Debug, Default)]
struct ColumnReader {
    first: u32,
    count: u32,
    bytes: Vec<u8>,
}

impl ColumnReader {
    /// The bytes of a document's value, each of which has `width`, the first at `start`.
    #[inline]
    fn get<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        document: u32,
        (start, width, together): (u64, u32, u32),
    ) -> ReadResult<&[u8]> {
        if document.wrapping_sub(self.first) >= self.count {
            let documents = segment.header.documents;
            if document >= documents {
                return Err(segment.broken("a document that does not exist").into());
            }
            self.count = 0;
            self.bytes.clear();
            let first = document - document % together;
            let count = together.min(documents - first);
            let position = start + u64::from(first) * u64::from(width);
            let bytes = (count * width) as usize;
            segment.read(store, StreamKind::Lists, position, bytes, &mut self.bytes)?;
            (self.first, self.count) = (first, count);
        }
        let at = (document - self.first) as usize * width as usize;
        Ok(&self.bytes[at..at + width as usize])
    }
}

/// The lengths of documents.
#[derive(Debug, Default)]
pub struct Lengths(ColumnReader);

impl Lengths {
    /// The length of a document.
    #[inline]
    pub fn get<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        document: u32,
    ) -> ReadResult<u32> {
        let (start, width) = (segment.header.lengths, segment.header.width);
        self.0.get(store, segment, document, (start, width, LENGTHS)).map(length_of)
    }
}

/// The rows of documents.
#[derive(Debug, Default)]
pub struct RowReader(ColumnReader);

impl RowReader {
    /// The row of a document.
    pub fn get<S: Store>(
        &mut self,
        store: &S,
        segment: &SegmentReader,
        document: u32,
    ) -> ReadResult<RowId> {
        self.0.get(store, segment, document, (0, ROW_BYTES as u32, ROWS)).map(row_of)
    }
}

/// All lengths of a segment, in memory.
pub fn read_lengths<S: Store>(store: &S, segment: &SegmentReader) -> Result<Vec<u32>> {
    let mut run = segment.all_lengths();
    let width = segment.header.width as usize;
    let mut lengths = Vec::new();
    for _ in 0..segment.header.documents {
        lengths.push(length_of(run.take(store, segment, width)?));
    }
    Ok(lengths)
}
