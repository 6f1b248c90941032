//! # build: how is an index made of many documents?
//!
//! ```text
//! documents → segments in a scratch store → one segment in the index
//! ```

use super::document::IndexedDocument;
use super::flush::{MOST_DOCUMENTS, MOST_PAGES};
use super::memory::PendingSegment;
use super::merge::{MergeInput, merge};
use super::page::{DirectoryEntry, new_number};
use super::segment::SegmentReader;
use super::space::publish;
use super::writer::SegmentWriter;
use crate::error::Result;
use crate::pages::StoreMut;
use crate::spare;

/// Documents between two looks whether there is memory for more.
const DOCUMENTS_A_LOOK: u64 = 256;

/// Makes an index of many documents in bounded memory. What does not fit goes into a scratch
/// store as a segment; at the end all are merged into the index, which then has one segment
/// (more only beyond 8 GB) and no free pages.
pub struct IndexBuilder<'a, T> {
    scratch: &'a T,
    memory: PendingSegment,
    most_bytes: usize,
    segments: Vec<DirectoryEntry>,
    documents: u64,
}

impl<'a, T: StoreMut> IndexBuilder<'a, T> {
    /// `scratch` is an empty store of its own, say a temporary file; nothing else uses it, only
    /// `append`, `read`, `blocks` and `interrupted` are called of it. `memory` is in bytes.
    pub fn new(scratch: &'a T, memory: usize) -> IndexBuilder<'a, T> {
        IndexBuilder {
            scratch,
            memory: PendingSegment::default(),
            most_bytes: memory,
            segments: Vec::new(),
            documents: 0,
        }
    }

    /// Adds a document to the index.
    pub fn add(&mut self, document: &IndexedDocument<'_>) -> Result<()> {
        if self.documents.is_multiple_of(DOCUMENTS_A_LOOK) {
            // A table of terms that grows is there twice for a moment; what is written is put in order.
            spare::check(self.memory.bytes())?;
        }
        self.memory.add(document);
        self.documents += 1;
        if self.memory.bytes() >= self.most_bytes {
            self.spill()?;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let memory = std::mem::take(&mut self.memory);
        let number = self.segments.len() as u64 + 1;
        self.segments.push(memory.write(SegmentWriter::at_end(self.scratch, number))?);
        Ok(())
    }

    /// Writes the index, which [`create`](super::create) has made and which is empty. Gives how
    /// many documents it has.
    pub fn finish<S: StoreMut>(mut self, store: &S) -> Result<u64> {
        if self.segments.is_empty() {
            if self.documents > 0 {
                let entry = self.memory.write(SegmentWriter::new(store, new_number(store)?))?;
                publish(store, &[], false, Some(entry))?;
            }
            return Ok(self.documents);
        }
        if self.memory.documents() > 0 {
            self.spill()?;
        }
        let mut left = &self.segments[..];
        while !left.is_empty() {
            let (group, rest) = left.split_at(mergeable(left));
            let inputs = group.iter().map(|entry| self.open(entry));
            let inputs = inputs.collect::<Result<Vec<MergeInput>>>()?;
            let new = merge(self.scratch, &inputs, store, new_number(store)?)?;
            publish(store, &[], false, new)?;
            left = rest;
        }
        Ok(self.documents)
    }

    fn open(&self, entry: &DirectoryEntry) -> Result<MergeInput> {
        let blocks = self.scratch.blocks()?;
        Ok(MergeInput { segment: SegmentReader::open(self.scratch, entry, blocks)?, dead: None })
    }
}

/// How many of the first segments fit into one.
fn mergeable(segments: &[DirectoryEntry]) -> usize {
    let (mut pages, mut documents) = (0, 0);
    let fits = |entry: &&DirectoryEntry| {
        pages += u64::from(entry.chain.pages);
        documents += u64::from(entry.documents);
        pages <= MOST_PAGES && documents <= MOST_DOCUMENTS
    };
    segments.iter().take_while(fits).count().max(1)
}
