//! # page: which byte means what?
//!
//! The page format; README.md has it as a table. Nothing here believes a page: what does not fit
//! is a typed error or `None`.

use crate::error::{Error, ErrorKind, Result};
use crate::pages::{HEADER_BYTES, PAGE_SIZE, Page, Store, StoreMut, TRAILER_BYTES};

/// Where the content of a page begins, after PostgreSQL's header and the number of its owner.
const START: usize = HEADER_BYTES + 8;
const TRAILER: usize = PAGE_SIZE - TRAILER_BYTES;
/// Bytes of a page for content.
pub const BODY: usize = TRAILER - START;

const MAGIC: u32 = 0x7261_626d;
const VERSION: u16 = 1;
/// Where the list of segments begins in the first page.
const ENTRIES: usize = 128;
const ENTRY_BYTES: usize = 40;
/// Segments that the first page has room for, those included whose pages are not free yet.
pub const MOST_ENTRIES: usize = (BODY - ENTRIES) / ENTRY_BYTES;

/// Says that a page is not what it should be.
#[must_use]
pub fn corrupt(block: u32, what: &str) -> Error {
    Error::new(
        ErrorKind::IndexCorrupted,
        format!("rag_bm25 index is corrupted at block {block}: {what}"),
    )
    .hint("REINDEX the index.")
}

/// Why nothing was read.
#[derive(Debug)]
pub enum Stop {
    /// The page has another use by now.
    Moved(u32),
    /// Reading has failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

impl From<Stop> for Error {
    /// The error for a caller that knows that no page can have moved.
    fn from(stop: Stop) -> Error {
        match stop {
            Stop::Moved(block) => corrupt(block, "the page belongs to something else"),
            Stop::Failed(error) => error,
        }
    }
}

/// What comes of reading pages that may have got another owner meanwhile.
pub type ReadResult<T> = Result<T, Stop>;

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bm25PageKind {
    /// Block 0.
    First = 0x21,
    /// Documents of the pending list.
    Pending = 0x22,
    /// A part of one of a segment's streams.
    Data = 0x23,
    /// Where the pages of a large segment are.
    Map = 0x24,
    /// Where a segment begins.
    Root = 0x25,
    /// Nothing: a lost page that was found again.
    Free = 0x26,
}

/// Says what a page is, which chain it belongs to, and which page follows in the chain.
pub fn stamp(page: &mut Page, kind: Bm25PageKind, number: u64, next: u32) {
    page[HEADER_BYTES..START].copy_from_slice(&number.to_ne_bytes());
    page[TRAILER..].fill(0);
    page[TRAILER] = kind as u8;
    set_next(page, next);
}

/// The next page in its chain, 0 at the end.
#[must_use]
pub fn next(page: &Page) -> u32 {
    get_u32(page, TRAILER + 4)
}

/// Changes the next page.
pub fn set_next(page: &mut Page, next: u32) {
    put_u32(page, TRAILER + 4, next);
}

/// The number of the chain that a page belongs to.
#[must_use]
pub fn number(page: &Page) -> u64 {
    get_u64(page, HEADER_BYTES)
}

/// Whether a page is of this kind.
#[must_use]
pub fn is(page: &Page, kind: Bm25PageKind) -> bool {
    page[TRAILER] == kind as u8
}

/// Whether the page has never been written yet.
#[must_use]
pub fn is_blank(page: &Page) -> bool {
    page[TRAILER] == 0 && number(page) == 0
}

/// The content of a page of this kind that belongs to `owner`.
pub fn content(page: &Page, block: u32, kind: Bm25PageKind, owner: u64) -> ReadResult<&[u8]> {
    let is_it = is(page, kind) && number(page) == owner;
    if is_it { Ok(&page[START..TRAILER]) } else { Err(Stop::Moved(block)) }
}

/// The content of a page, to be changed.
pub fn content_mut(page: &mut Page) -> &mut [u8] {
    &mut page[START..TRAILER]
}

/// Pages that are linked with each other, from the head on, and have one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The number; 0 if there is no such chain.
    pub number: u64,
    /// The first page of the chain.
    pub head: u32,
    /// The last page of the chain.
    pub tail: u32,
    /// How many pages there are.
    pub pages: u32,
}

/// A segment, or pages that are not used any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The pages. The head of a segment's is its root.
    pub chain: Chain,
    /// How many documents it has.
    pub documents: u32,
    /// The sum of their lengths.
    pub total_length: u64,
    /// Whether its pages are waiting to be put among the free ones.
    pub is_retired: bool,
}

/// What block 0 says of the index.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bm25Meta {
    /// How often a page may have changed its owner: grows whenever something is retired.
    pub changes: u64,
    /// The number of the next chain.
    pub next_number: u64,
    /// The pending list, to whose head documents are appended.
    pub pending: Chain,
    /// The pending list of which a segment is being made.
    pub sealed: Chain,
    /// Free pages, the oldest first. They keep the numbers they had.
    pub free: Chain,
    /// Segments, and pages that were given up.
    pub entries: Vec<DirectoryEntry>,
}

impl Bm25Meta {
    /// The first block of an empty index.
    #[must_use]
    pub fn new() -> Bm25Meta {
        Bm25Meta { next_number: 1, ..Bm25Meta::default() }
    }

    /// Reads the description of the index from block 0.
    pub fn read(page: &Page) -> Result<Bm25Meta> {
        let bytes = &page[START..TRAILER];
        if get_u32(bytes, 0) != MAGIC || !is(page, Bm25PageKind::First) {
            return Err(corrupt(0, "this is not the first page of a rag_bm25 index"));
        }
        let version = get_u16(bytes, 4);
        if version != VERSION {
            let message = format!("page format {version} of rag_bm25, expected {VERSION}");
            return Err(Error::new(ErrorKind::IndexCorrupted, message).hint("REINDEX the index."));
        }
        let count = usize::from(get_u16(bytes, 6));
        if count > MOST_ENTRIES {
            return Err(corrupt(0, "too many segments"));
        }
        let entries = bytes[ENTRIES..].chunks_exact(ENTRY_BYTES).take(count);
        let meta = Bm25Meta {
            changes: get_u64(bytes, 8),
            next_number: get_u64(bytes, 16),
            pending: get_chain(bytes, 24),
            sealed: get_chain(bytes, 48),
            free: get_chain(bytes, 72),
            entries: entries.map(get_entry).collect(),
        };
        let chains = [meta.pending, meta.sealed, meta.free];
        let mut chains = chains.into_iter().chain(meta.entries.iter().map(|entry| entry.chain));
        // To PostgreSQL the last number means a new page.
        if chains.any(|chain| chain.head == u32::MAX || chain.tail == u32::MAX) {
            return Err(corrupt(0, "a page that can't exist"));
        }
        Ok(meta)
    }

    /// Writes block 0. There are no more than [`MOST_ENTRIES`] entries.
    pub fn write(&self, page: &mut Page) {
        stamp(page, Bm25PageKind::First, 0, 0);
        let bytes = content_mut(page);
        put_u32(bytes, 0, MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_ne_bytes());
        bytes[6..8].copy_from_slice(&(self.entries.len() as u16).to_ne_bytes());
        put_u64(bytes, 8, self.changes);
        put_u64(bytes, 16, self.next_number);
        put_chain(bytes, 24, &self.pending);
        put_chain(bytes, 48, &self.sealed);
        put_chain(bytes, 72, &self.free);
        let places = bytes[ENTRIES..].chunks_exact_mut(ENTRY_BYTES);
        for (place, entry) in places.zip(&self.entries) {
            put_entry(place, entry);
        }
    }

    /// The segments that have not been given up.
    pub fn segments(&self) -> impl Iterator<Item = &DirectoryEntry> {
        self.entries.iter().filter(|entry| !entry.is_retired)
    }

    /// Whether pages with this number are in use.
    #[must_use]
    pub fn is_in_use(&self, number: u64) -> bool {
        number != 0
            && (number == self.pending.number
                || number == self.sealed.number
                || self.segments().any(|entry| entry.chain.number == number))
    }
}

/// Reads block 0 of a store.
pub fn read_meta<S: Store>(store: &S) -> Result<Bm25Meta> {
    store.read(0, Bm25Meta::read)?
}

/// Changes block 0, if `change` says so.
pub fn change_meta<S: StoreMut>(
    store: &S,
    change: impl FnOnce(&mut Bm25Meta) -> Result<bool>,
) -> Result<bool> {
    store.write(0, |page| {
        let mut meta = Bm25Meta::read(page)?;
        let is_changed = change(&mut meta)?;
        if is_changed {
            meta.write(page);
        }
        Ok(is_changed)
    })
}

/// A number that no chain has had before.
pub fn new_number<S: StoreMut>(store: &S) -> Result<u64> {
    let mut number = 0;
    change_meta(store, |meta| {
        number = meta.next_number;
        meta.next_number += 1;
        Ok(true)
    })?;
    Ok(number)
}

fn get_chain(bytes: &[u8], at: usize) -> Chain {
    Chain {
        number: get_u64(bytes, at),
        head: get_u32(bytes, at + 8),
        tail: get_u32(bytes, at + 12),
        pages: get_u32(bytes, at + 16),
    }
}

fn put_chain(bytes: &mut [u8], at: usize, chain: &Chain) {
    put_u64(bytes, at, chain.number);
    put_u32(bytes, at + 8, chain.head);
    put_u32(bytes, at + 12, chain.tail);
    put_u32(bytes, at + 16, chain.pages);
}

fn get_entry(bytes: &[u8]) -> DirectoryEntry {
    DirectoryEntry {
        chain: get_chain(bytes, 0),
        documents: get_u32(bytes, 20),
        total_length: get_u64(bytes, 24),
        is_retired: get_u32(bytes, 32) != 0,
    }
}

fn put_entry(bytes: &mut [u8], entry: &DirectoryEntry) {
    put_chain(bytes, 0, &entry.chain);
    put_u32(bytes, 20, entry.documents);
    put_u64(bytes, 24, entry.total_length);
    put_u32(bytes, 32, u32::from(entry.is_retired));
    put_u32(bytes, 36, 0);
}

/// Two bytes in the machine's order.
pub fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

/// Four bytes in the machine's order.
pub fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Eight bytes in the machine's order.
pub fn get_u64(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_ne_bytes(eight)
}

/// Writes a number into four bytes.
pub fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}

/// Writes a number into eight bytes.
pub fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_ne_bytes());
}
