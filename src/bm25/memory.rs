//! # memory: an inverted index of a few documents
//!
//! ```text
//! documents, in any order → a segment
//! ```

use std::collections::HashMap;

use super::bits::{Bytes, put_number};
use super::document::IndexedDocument;
use super::page::DirectoryEntry;
use super::writer::SegmentWriter;
use crate::error::Result;
use crate::pages::{RowId, StoreMut};

/// Bytes that a term takes besides its own and its postings'.
const TERM_BYTES: usize = 112;
/// Terms between two looks whether the caller should stop.
const PATIENCE: usize = 1024;

/// The postings of a term: gaps between documents and frequencies, in few bytes.
#[derive(Debug, Default)]
struct MemoryPostings {
    bytes: Vec<u8>,
    /// One more than the last document.
    next: u32,
}

/// Documents that are in no segment yet.
#[derive(Debug, Default)]
pub struct PendingSegment {
    documents: Vec<(RowId, u32)>,
    terms: HashMap<Box<[u8]>, MemoryPostings>,
    bytes: usize,
}

impl PendingSegment {
    /// Adds a document to those in memory.
    pub fn add(&mut self, document: &IndexedDocument<'_>) {
        self.begin(document.row(), document.length());
        for (term, frequency) in document.terms() {
            self.add_term(term, *frequency);
        }
    }

    /// Begins a document, whose terms follow.
    pub fn begin(&mut self, row: RowId, length: u32) {
        self.documents.push((row, length));
        self.bytes += size_of::<(RowId, u32)>();
    }

    /// Adds a term of the document.
    pub fn add_term(&mut self, term: &[u8], frequency: u32) {
        let document = self.documents.len() as u32 - 1;
        let list = match self.terms.get_mut(term) {
            Some(list) => list,
            None => {
                self.bytes += term.len() + TERM_BYTES;
                self.terms.entry(term.into()).or_default()
            }
        };
        let before = list.bytes.capacity();
        put_number(&mut list.bytes, u64::from(document - list.next));
        put_number(&mut list.bytes, u64::from(frequency));
        list.next = document + 1;
        self.bytes += list.bytes.capacity() - before;
    }

    /// How many documents there are.
    pub fn documents(&self) -> usize {
        self.documents.len()
    }

    /// How many bytes all takes, about.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Writes all as a segment, documents in the order of their rows.
    pub fn write<S: StoreMut>(&self, mut writer: SegmentWriter<'_, S>) -> Result<DirectoryEntry> {
        let mut order: Vec<u32> = (0..self.documents.len() as u32).collect();
        let is_sorted = self.documents.is_sorted_by_key(|(row, _)| *row);
        if !is_sorted {
            order.sort_by_key(|document| self.documents[*document as usize].0);
        }
        let mut new_numbers = vec![0; order.len()];
        for (new, document) in (0..).zip(&order) {
            new_numbers[*document as usize] = new;
            let (row, length) = self.documents[*document as usize];
            writer.add_document(row, length)?;
        }
        writer.end_documents()?;
        let mut terms: Vec<(&Box<[u8]>, &MemoryPostings)> = self.terms.iter().collect();
        terms.sort_unstable_by_key(|(term, _)| *term);
        let mut postings = Vec::new();
        for (place, (term, list)) in terms.into_iter().enumerate() {
            if place % PATIENCE == 0 {
                writer.interrupted()?;
            }
            decode(&list.bytes, &new_numbers, &mut postings);
            if !is_sorted {
                postings.sort_unstable();
            }
            writer.begin_term();
            for (document, frequency) in &postings {
                writer.add_posting(*document, *frequency)?;
            }
            writer.end_term(term)?;
        }
        writer.finish()
    }
}

fn decode(bytes: &[u8], new_numbers: &[u32], postings: &mut Vec<(u32, u32)>) {
    postings.clear();
    let (mut left, mut next) = (Bytes(bytes), 0);
    while let (Some(gap), Some(frequency)) = (left.short(), left.short()) {
        postings.push((new_numbers[(next + gap) as usize], frequency));
        next += gap + 1;
    }
}
