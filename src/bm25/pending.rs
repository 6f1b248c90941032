//! # pending: where are the documents that are in no segment yet?
//!
//! ```text
//! a document → appended to a page            pending pages → documents
//! ```
//!
//! A chain of pages, the newest at its head. A document is appended to the head under the lock of
//! that page alone; a new head is linked in one change with the first page. A document that does not
//! fit a page has some to itself, which are linked all at once in the same way. When a segment is
//! to be made, the head is sealed in one change with the first page, and inserts begin a new chain.

use super::bits::{Bytes, put_number};
use super::document::{IndexedDocument, LONGEST_LEXEME};
use super::page::{
    self, BODY, Bm25Meta, Bm25PageKind, Chain, ReadResult, Stop, change_meta, content, content_mut,
    corrupt, get_u16, read_meta, stamp,
};
use super::segment::{ROW_BYTES, put_row, row_of};
use super::space::{blank, place_if, reuse};
use crate::error::{Error, Result};
use crate::pages::{Page, RowId, Store, StoreMut};

/// Pages from which on a segment should be made: a search reads all of them.
pub const DUE: u32 = 32;
/// Bytes before the documents of a page: the end of the documents, whether it is sealed, and whether
/// its document goes on in the next page.
const START: usize = 4;
const SEALED: usize = 2;
const GOES_ON: usize = 3;
/// Bytes of the size before a document, which one that has pages to itself is without.
const SIZE: usize = 2;
/// Bytes of the longest document. Those of the longest tsvector are fewer, so more than this is damage.
const LONGEST: usize = 16 << 20;
/// Attempts to find room before we say that the pages make no sense.
const ATTEMPTS: usize = 10_000;

/// What became of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// The document is in the index.
    Done,
    /// The document is in the index, and the list should be [`flush`](super::flush())ed: by the
    /// caller, if the structure lock is to be had without waiting. It will be said again at one of
    /// the next inserts.
    FlushDue,
}

impl Inserted {
    /// Into a list that has so many pages now.
    fn into_list_of(pages: u32) -> Inserted {
        if pages >= DUE { Inserted::FlushDue } else { Inserted::Done }
    }
}

/// Appends a document to the pending list.
pub fn insert<S: StoreMut>(store: &S, document: &IndexedDocument<'_>) -> Result<Inserted> {
    let bytes = encode(document);
    if bytes.len() > BODY - START {
        return insert_long(store, &bytes[SIZE..]);
    }
    for _ in 0..ATTEMPTS {
        store.interrupted()?;
        let meta = read_meta(store)?;
        if meta.pending.head != 0 && append(store, &meta.pending, &bytes)? {
            return Ok(Inserted::Done);
        }
        if let Some(pages) = add_page(store, &meta, &bytes)? {
            return Ok(Inserted::into_list_of(pages));
        }
    }
    Err(corrupt(0, "no page takes a new document"))
}

/// Puts a document on pages of its own, and links them to the list all at once. Until then they are
/// in no chain, but have the number of the list, so that vacuum does not take them for lost.
fn insert_long<S: StoreMut>(store: &S, bytes: &[u8]) -> Result<Inserted> {
    if bytes.len() > LONGEST {
        let message = format!(
            "a document of {} bytes is too long for a rag_bm25 index, which takes {LONGEST}",
            bytes.len()
        );
        return Err(Error::invalid(message));
    }
    for _ in 0..ATTEMPTS {
        store.interrupted()?;
        let Some(parts) = write_parts(store, list_number(store)?, bytes)? else { continue };
        if let Some(pages) = link(store, parts)? {
            return Ok(Inserted::into_list_of(pages));
        }
    }
    Err(corrupt(0, "no list takes a new document"))
}

/// Writes pages for a list with this number; `None` if it is sealed meanwhile.
fn write_parts<S: StoreMut>(store: &S, number: u64, bytes: &[u8]) -> Result<Option<Chain>> {
    let mut parts = Chain { number, ..Chain::default() };
    // Each page names the one after it, so the last part comes first.
    for part in bytes.chunks(BODY - START).rev() {
        let page = page_of_part(number, part, parts.pages > 0, parts.head);
        let is_open = |meta: &Bm25Meta| meta.pending.number == number;
        let Some(block) = place_if(store, &page, is_open)? else { return Ok(None) };
        parts.head = block;
        if parts.pages == 0 {
            parts.tail = block;
        }
        parts.pages += 1;
    }
    Ok(Some(parts))
}

/// The number of the list, which may have no page yet.
fn list_number<S: StoreMut>(store: &S) -> Result<u64> {
    let mut number = read_meta(store)?.pending.number;
    if number == 0 {
        change_meta(store, |meta| {
            number = number_list(meta);
            Ok(true)
        })?;
    }
    Ok(number)
}

/// Gives the list a number, if it has none yet.
fn number_list(meta: &mut Bm25Meta) -> u64 {
    if meta.pending.number == 0 {
        meta.pending.number = meta.next_number;
        meta.next_number += 1;
    }
    meta.pending.number
}

/// A page to which nothing is appended.
fn page_of_part(number: u64, part: &[u8], goes_on: bool, next: u32) -> Box<Page> {
    let mut page = blank();
    let content = content_mut(&mut page);
    put(content, START, part);
    content[SEALED] = 1;
    content[GOES_ON] = u8::from(goes_on);
    stamp(&mut page, Bm25PageKind::Pending, number, next);
    page
}

/// Makes pages the first of the list. Gives how many it has now, `None` if it is sealed meanwhile.
fn link<S: StoreMut>(store: &S, new: Chain) -> Result<Option<u32>> {
    let mut pages = 0;
    let is_linked = store.write_two(0, new.tail, |first, page| {
        let mut meta = Bm25Meta::read(first)?;
        let pending = &mut meta.pending;
        if pending.number != new.number {
            return Ok(false);
        }
        content(page, new.tail, Bm25PageKind::Pending, new.number)?;
        page::set_next(page, pending.head);
        if pending.pages == 0 {
            pending.tail = new.tail;
        }
        pending.head = new.head;
        pending.pages = pending.pages.saturating_add(new.pages);
        pages = pending.pages;
        meta.write(first);
        Ok(true)
    })?;
    Ok(is_linked.then_some(pages))
}

/// Appends to the head of the list, if it still is that and has room.
pub(super) fn append<S: StoreMut>(store: &S, pending: &Chain, bytes: &[u8]) -> Result<bool> {
    store.write(pending.head, |page| {
        let is_head = page::is(page, Bm25PageKind::Pending) && page::number(page) == pending.number;
        let content = content_mut(page);
        let (end, is_sealed) = (usize::from(get_u16(content, 0)), content[SEALED] != 0);
        if !is_head || is_sealed || end + bytes.len() > BODY {
            return Ok(false);
        }
        put(content, end, bytes);
        Ok(true)
    })
}

fn put(content: &mut [u8], end: usize, bytes: &[u8]) {
    content[end..end + bytes.len()].copy_from_slice(bytes);
    content[..2].copy_from_slice(&((end + bytes.len()) as u16).to_ne_bytes());
}

/// Makes a page with one document the head of the list. Gives how many pages it has now, `None` if
/// another session was faster.
fn add_page<S: StoreMut>(store: &S, seen: &Bm25Meta, bytes: &[u8]) -> Result<Option<u32>> {
    let mut pages = 0;
    let is_done = if seen.free.pages > 0 {
        reuse(store, seen.free.head, |meta, page| {
            // Another session has added a page with room meanwhile.
            if meta.pending != seen.pending {
                return Ok(false);
            }
            pages = begin(meta, page, seen.free.head, bytes);
            Ok(true)
        })?
    } else {
        // The page is in no chain between these two steps, and vacuum may take it for lost.
        let block = store.append(|_, _| ())?;
        store.write_two(0, block, |first, page| {
            let mut meta = Bm25Meta::read(first)?;
            if !page::is_blank(page) {
                return Ok(false);
            }
            pages = begin(&mut meta, page, block, bytes);
            meta.write(first);
            Ok(true)
        })?
    };
    Ok(is_done.then_some(pages))
}

fn begin(meta: &mut Bm25Meta, page: &mut Page, block: u32, bytes: &[u8]) -> u32 {
    let number = number_list(meta);
    if meta.pending.pages == 0 {
        meta.pending = Chain { number, head: 0, tail: block, pages: 0 };
    }
    let content = content_mut(page);
    content.fill(0);
    put(content, START, bytes);
    stamp(page, Bm25PageKind::Pending, number, meta.pending.head);
    meta.pending.head = block;
    meta.pending.pages += 1;
    meta.pending.pages
}

/// Seals the pending list, if there is one and no other is sealed. Under the structure lock.
pub fn seal<S: StoreMut>(store: &S) -> Result<()> {
    for _ in 0..ATTEMPTS {
        store.interrupted()?;
        let meta = read_meta(store)?;
        let pending = meta.pending;
        if pending.pages == 0 || meta.sealed.pages > 0 {
            return Ok(());
        }
        if pending.head == 0 || pending.head >= store.blocks()? {
            return Err(corrupt(0, "a pending page that does not exist"));
        }
        let is_sealed = store.write_two(0, pending.head, |first, page| {
            let mut meta = Bm25Meta::read(first)?;
            if meta.pending != pending {
                return Ok(false);
            }
            content(page, pending.head, Bm25PageKind::Pending, pending.number)?;
            content_mut(page)[SEALED] = 1;
            meta.sealed = std::mem::take(&mut meta.pending);
            meta.write(first);
            Ok(true)
        })?;
        if is_sealed {
            return Ok(());
        }
    }
    Err(corrupt(0, "the pending list can't be sealed"))
}

/// A document of the pending list.
#[derive(Debug)]
pub struct PendingDocument<'a> {
    /// The row of the table.
    pub row: RowId,
    /// The document's length, in word positions.
    pub length: u32,
    count: u32,
    terms: Bytes<'a>,
}

impl PendingDocument<'_> {
    /// Bytes that its row and its terms have in the list.
    pub fn bytes(&self) -> usize {
        ROW_BYTES + self.terms.0.len()
    }

    /// Gives each term, ascending, with its frequency. `None` if they make no sense.
    pub fn each_term(&self, term: &mut Vec<u8>, mut take: impl FnMut(&[u8], u32)) -> Option<()> {
        term.clear();
        let mut left = self.terms;
        for place in 0..self.count {
            let (shared, added) = (left.short()? as usize, left.short()? as usize);
            let added = left.take(added)?;
            let ascends = place == 0 || term.get(shared..).is_some_and(|rest| rest < added);
            if shared > term.len() || !ascends || shared + added.len() > LONGEST_LEXEME {
                return None;
            }
            term.truncate(shared);
            term.extend_from_slice(added);
            take(term, left.short().filter(|frequency| *frequency > 0)?);
        }
        left.0.is_empty().then_some(())
    }
}

fn encode(document: &IndexedDocument<'_>) -> Vec<u8> {
    let mut bytes = vec![0; SIZE];
    put_row(&mut bytes, document.row());
    put_number(&mut bytes, u64::from(document.length()));
    put_number(&mut bytes, document.terms().len() as u64);
    let mut before: &[u8] = &[];
    for (term, frequency) in document.terms() {
        let shared = before.iter().zip(*term).take_while(|(a, b)| a == b).count();
        put_number(&mut bytes, shared as u64);
        put_number(&mut bytes, (term.len() - shared) as u64);
        bytes.extend_from_slice(&term[shared..]);
        put_number(&mut bytes, u64::from(*frequency));
        before = term;
    }
    let size = bytes.len() - SIZE;
    // A longer one goes without.
    bytes[..SIZE].copy_from_slice(&(size.min(usize::from(u16::MAX)) as u16).to_le_bytes());
    bytes
}

fn decode(bytes: &[u8]) -> Option<PendingDocument<'_>> {
    let mut left = Bytes(bytes);
    let row = row_of(left.take(ROW_BYTES)?);
    let (length, count) = (left.short()?, left.short()?);
    Some(PendingDocument { row, length, count, terms: left })
}

/// Closes each page of a sealed list, so that no session appends to one that it remembers as the
/// head: what comes after the list has been read would be lost. Under the structure lock.
pub fn close<S: StoreMut>(store: &S, sealed: &Chain) -> Result<()> {
    let (mut block, blocks) = (sealed.head, store.blocks()?);
    for _ in 0..sealed.pages {
        store.interrupted()?;
        if block == 0 || block >= blocks {
            return Err(corrupt(block, "a pending page that does not exist"));
        }
        let mut next = 0;
        store.write(block, |page| {
            content(page, block, Bm25PageKind::Pending, sealed.number)?;
            next = page::next(page);
            let is_open = content_mut(page)[SEALED] == 0;
            content_mut(page)[SEALED] = 1;
            Ok(is_open)
        })?;
        block = next;
    }
    Ok(())
}

/// Gives each document of a list, in an index of so many pages.
pub fn each_document<S: Store>(
    store: &S,
    chain: &Chain,
    blocks: u32,
    take: &mut dyn FnMut(&PendingDocument<'_>) -> Option<()>,
) -> ReadResult<()> {
    if chain.pages > blocks {
        return Err(corrupt(chain.head, "more pending pages than there are pages").into());
    }
    let (mut block, mut copy, mut goes_on) = (chain.head, Vec::with_capacity(BODY), false);
    for _ in 0..chain.pages {
        store.interrupted()?;
        if block == 0 || block >= blocks {
            return Err(corrupt(block, "a pending page that does not exist").into());
        }
        let is_part = goes_on;
        if !is_part {
            copy.clear();
        }
        let next = store.read(block, |page| {
            let content = content(page, block, Bm25PageKind::Pending, chain.number)?;
            goes_on = content[GOES_ON] != 0;
            let end = usize::from(get_u16(content, 0));
            copy.extend_from_slice(content.get(START..end).unwrap_or_default());
            Ok::<u32, Stop>(page::next(page))
        })??;
        let taken = match (is_part, goes_on) {
            (_, true) => (copy.len() <= LONGEST).then_some(()),
            (true, false) => decode(&copy).and_then(|document| take(&document)),
            (false, false) => each_of_page(&copy, take),
        };
        taken.ok_or_else(|| corrupt(block, "a pending document makes no sense"))?;
        block = next;
    }
    match goes_on {
        true => Err(corrupt(chain.tail, "a pending document has no end").into()),
        false => Ok(()),
    }
}

fn each_of_page(
    bytes: &[u8],
    take: &mut dyn FnMut(&PendingDocument<'_>) -> Option<()>,
) -> Option<()> {
    let mut left = Bytes(bytes);
    while !left.0.is_empty() {
        let size = usize::from(left.two()?);
        take(&decode(left.take(size)?)?)?;
    }
    Some(())
}
