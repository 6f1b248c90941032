//! # writer: how does a segment come onto pages?
//!
//! ```text
//! rows and lengths, then terms with postings, both ascending → pages → the entry of a segment
//! ```
//!
//! Pages are written once, each with the number of the page written before it, so that the root,
//! which comes last, is the head of a chain of all. Until the entry is put into the first page, no
//! reader knows of them.

use super::dictionary::{self, FoundTerm, TermLocation};
use super::page::{BODY, Bm25PageKind, Chain, DirectoryEntry, content_mut, stamp};
use super::postings::Encoder;
use super::segment::{IN_MAP, IN_ROOT, SegmentRoot, put_row};
use super::space::{blank, place};
use crate::error::{Error, ErrorKind, Result};
use crate::pages::{Page, RowId, StoreMut};

/// A stream that is being written.
struct StreamWriter {
    page: Box<Page>,
    used: usize,
    /// The pages that are full.
    map: Vec<u32>,
}

impl StreamWriter {
    fn new() -> StreamWriter {
        StreamWriter { page: blank(), used: 0, map: Vec::new() }
    }

    fn position(&self) -> u64 {
        (self.map.len() * BODY + self.used) as u64
    }
}

/// The pages of a segment, linked as they are written.
struct PageChain<'a, S> {
    store: &'a S,
    chain: Chain,
    /// Whether free pages are used, or pages are added.
    reuses: bool,
}

impl<S: StoreMut> PageChain<'_, S> {
    /// Writes a page and empties it.
    fn put(&mut self, page: &mut Page, kind: Bm25PageKind) -> Result<u32> {
        stamp(page, kind, self.chain.number, self.chain.head);
        let block = match self.reuses {
            true => place(self.store, page)?,
            false => self.store.append(|_, new| *new = *page)?,
        };
        content_mut(page).fill(0);
        if self.chain.pages == 0 {
            self.chain.tail = block;
        }
        self.chain.head = block;
        self.chain.pages += 1;
        Ok(block)
    }

    fn append(&mut self, stream: &mut StreamWriter, bytes: &[u8]) -> Result<()> {
        let mut left = bytes;
        while !left.is_empty() {
            let part = left.len().min(BODY - stream.used);
            content_mut(&mut stream.page)[stream.used..stream.used + part]
                .copy_from_slice(&left[..part]);
            stream.used += part;
            left = &left[part..];
            if stream.used == BODY {
                self.close(stream)?;
            }
        }
        Ok(())
    }

    fn close(&mut self, stream: &mut StreamWriter) -> Result<()> {
        if stream.used > 0 {
            stream.map.push(self.put(&mut stream.page, Bm25PageKind::Data)?);
            stream.used = 0;
        }
        Ok(())
    }
}

/// Writes a segment to pages.
pub struct SegmentWriter<'a, S> {
    pages: PageChain<'a, S>,
    lists: StreamWriter,
    dictionary: StreamWriter,
    terms: dictionary::DictionaryWriter,
    encoder: Encoder,
    /// The lengths of all documents, in word positions.
    lengths: Vec<u32>,
    header: SegmentRoot,
    /// Where the list of the term begins, and what of it is not written yet.
    start: u64,
    buffer: Vec<u8>,
}

impl<'a, S: StoreMut> SegmentWriter<'a, S> {
    /// A segment of an index, with a number that no chain has had before.
    pub fn new(store: &'a S, number: u64) -> SegmentWriter<'a, S> {
        SegmentWriter::on(store, number, true)
    }

    /// A segment in a store that has nothing but segments.
    pub fn at_end(store: &'a S, number: u64) -> SegmentWriter<'a, S> {
        SegmentWriter::on(store, number, false)
    }

    fn on(store: &'a S, number: u64, reuses: bool) -> SegmentWriter<'a, S> {
        SegmentWriter {
            pages: PageChain { store, chain: Chain { number, ..Chain::default() }, reuses },
            lists: StreamWriter::new(),
            dictionary: StreamWriter::new(),
            terms: dictionary::DictionaryWriter::default(),
            encoder: Encoder::default(),
            lengths: Vec::new(),
            header: SegmentRoot::default(),
            start: 0,
            buffer: Vec::new(),
        }
    }

    /// Adds a document whose row is not before the one before. Its number is the number of
    /// documents before it.
    pub fn add_document(&mut self, row: RowId, length: u32) -> Result<()> {
        if self.lengths.len() >= u32::MAX as usize - 1 {
            return Err(Error::new(ErrorKind::OutOfResources, "a segment has too many documents"));
        }
        self.lengths.push(length);
        put_row(&mut self.buffer, row);
        if self.buffer.len() >= BODY {
            self.write_buffer()?;
        }
        Ok(())
    }

    /// Ends the documents; terms come next.
    pub fn end_documents(&mut self) -> Result<()> {
        self.write_buffer()?;
        let longest = self.lengths.iter().copied().max().unwrap_or_default();
        let width = match longest {
            0..0x100 => 1,
            0x100..0x1_0000 => 2,
            _ => 4,
        };
        let header = &mut self.header;
        header.documents = self.lengths.len() as u32;
        header.total_length = self.lengths.iter().map(|length| u64::from(*length)).sum();
        header.width = width;
        header.lengths = self.lists.position();
        for chunk in self.lengths.chunks(BODY) {
            for length in chunk {
                self.buffer.extend_from_slice(&length.to_le_bytes()[..width as usize]);
            }
            self.pages.append(&mut self.lists, &self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }

    /// Fails if the caller should stop.
    pub fn interrupted(&self) -> Result<()> {
        self.pages.store.interrupted()
    }

    /// Begins the list of the next term.
    pub fn begin_term(&mut self) {
        self.encoder.begin();
        self.start = self.lists.position();
    }

    /// Adds a document to the list; they ascend.
    #[inline]
    pub fn add_posting(&mut self, document: u32, frequency: u32) -> Result<()> {
        if self.encoder.is_full() {
            self.write_block()?;
        }
        let length = self.lengths.get(document as usize).copied().unwrap_or_default();
        self.encoder.push(document, frequency.max(1), length);
        Ok(())
    }

    /// Ends the list, and puts the term into the dictionary if it has any postings.
    pub fn end_term(&mut self, term: &[u8]) -> Result<()> {
        let count = self.encoder.count();
        let place = match self.encoder.single() {
            _ if count == 0 => return Ok(()),
            Some((document, frequency)) => TermLocation::Single { document, frequency },
            None => {
                self.write_block()?;
                let blocks = self.lists.position() - self.start;
                let entries = self.encoder.entries();
                self.pages.append(&mut self.lists, entries)?;
                TermLocation::List { position: self.start, blocks, entries: entries.len() as u64 }
            }
        };
        self.header.postings += count;
        let found = FoundTerm { documents: count as u32, place };
        let (pages, dictionary) = (&mut self.pages, &mut self.dictionary);
        self.terms.add(term, &found, self.start, &mut |bytes| put(pages, dictionary, bytes))
    }

    fn write_block(&mut self) -> Result<()> {
        self.encoder.take_block(&mut self.buffer);
        self.write_buffer()
    }

    fn write_buffer(&mut self) -> Result<()> {
        self.pages.append(&mut self.lists, &self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes what is left, and the root. The segment is complete and not yet part of the index.
    pub fn finish(mut self) -> Result<DirectoryEntry> {
        let (pages, dictionary) = (&mut self.pages, &mut self.dictionary);
        self.header.terms = self.terms.terms();
        let (root, bytes, levels) =
            self.terms.finish(&mut |bytes| put(pages, dictionary, bytes))?;
        self.header.dictionary = root;
        self.header.dictionary_bytes = bytes as u32;
        self.header.levels = levels as u32;
        pages.close(&mut self.lists)?;
        pages.close(dictionary)?;
        self.header.list_pages = self.lists.map.len() as u32;
        self.header.dictionary_pages = self.dictionary.map.len() as u32;
        let mut map = self.lists.map;
        map.append(&mut self.dictionary.map);
        let mut page = blank();
        if map.len() > IN_ROOT {
            map = write_map(&mut self.pages, &mut page, &map)?;
        }
        self.header.put(content_mut(&mut page), &map);
        self.pages.put(&mut page, Bm25PageKind::Root)?;
        Ok(DirectoryEntry {
            chain: self.pages.chain,
            documents: self.header.documents,
            total_length: self.header.total_length,
            is_retired: false,
        })
    }
}

fn put<S: StoreMut>(
    pages: &mut PageChain<'_, S>,
    stream: &mut StreamWriter,
    bytes: &[u8],
) -> Result<u64> {
    let position = stream.position();
    pages.append(stream, bytes)?;
    Ok(position)
}

/// Writes the numbers of pages to pages of their own, and gives the numbers of these.
fn write_map<S: StoreMut>(
    pages: &mut PageChain<'_, S>,
    page: &mut Page,
    map: &[u32],
) -> Result<Vec<u32>> {
    if map.len() > IN_ROOT * IN_MAP {
        let message = "a segment of a rag_bm25 index has no room for so many pages";
        return Err(Error::new(ErrorKind::OutOfResources, message)
            .hint("Use several indexes, on partitions of the table."));
    }
    let mut maps = Vec::new();
    for part in map.chunks(IN_MAP) {
        let bytes = content_mut(page);
        for (place, block) in part.iter().enumerate() {
            super::page::put_u32(bytes, 4 * place, *block);
        }
        maps.push(pages.put(page, Bm25PageKind::Map)?);
    }
    Ok(maps)
}
