//! # check: is everything where it should be?
//!
//! ```text
//! pages → problems, figures
//! ```

use super::cursor::PostingCursor;
use super::cursor::SearchEffort;
use super::dictionary::TermIterator;
use super::number_set::NumberSet;
use super::page::{Bm25Meta, DirectoryEntry, MOST_ENTRIES, ReadResult, read_meta};
use super::pending::each_document;
use super::score::{Bm25Settings, Scorer, Statistics};
use super::segment::{ROW_BYTES, SegmentReader, read_lengths, row_of};
use super::snapshot::{Listed, settled};
use super::space::{accounted, mark_chain};
use crate::error::{Error, ErrorKind, Result};
use crate::pages::Store;

/// Terms between two looks whether the caller should stop.
const PATIENCE: u64 = 1024;

/// What an index is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexFigures {
    /// Documents, pending ones included.
    pub documents: u64,
    /// The sum of their lengths.
    pub total_length: u64,
    /// Segments, largest first.
    pub segments: Vec<SegmentFigures>,
    /// Documents in the pending list.
    pub pending_documents: u64,
    /// Pages of the pending list.
    pub pending_pages: u32,
    /// Pages that can be used again.
    pub free_pages: u32,
    /// Pages that were lost in a crash; the next VACUUM finds them.
    pub lost_pages: u32,
    /// Pages of the index, used or free.
    pub pages: u32,
}

/// What a segment is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SegmentFigures {
    /// Documents of the segment.
    pub documents: u64,
    /// Distinct terms.
    pub terms: u64,
    /// Pairs of a term and a document that has it.
    pub postings: u64,
    /// Pages of the segment.
    pub pages: u32,
}

/// Something that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexProblem {
    /// What it is, in a word or two.
    pub problem: &'static str,
    /// The page, as far as one is concerned.
    pub block: u32,
    /// What exactly, as a sentence.
    pub detail: String,
}

struct IndexCheck<'a, S> {
    store: &'a S,
    blocks: u32,
    problems: Vec<IndexProblem>,
    figures: IndexFigures,
}

/// Reads what the first page says: how large the parts of the index are. Cheap.
pub fn figures<S: Store>(store: &S) -> Result<IndexFigures> {
    settled(store, |meta, blocks| {
        let mut check = IndexCheck::new(store, blocks);
        check.count(meta);
        for entry in meta.segments() {
            let segment = SegmentReader::open(store, entry, blocks)?;
            check.add_segment(entry, &segment);
        }
        check.read_pending(meta)?;
        Ok(check.figures)
    })
}

/// Reads everything and says what is wrong with it. Problems are found in an index that does not
/// change meanwhile; otherwise what is half done may look like one.
pub fn check<S: Store>(store: &S) -> Result<(Vec<IndexProblem>, IndexFigures)> {
    let meta = read_meta(store)?;
    let mut check = IndexCheck::new(store, store.blocks()?);
    check.count(&meta);
    check.look_at_chains(&meta)?;
    for entry in meta.segments() {
        let block = entry.chain.head;
        let outcome = check.read_segment(entry);
        check.note("segment", block, outcome)?;
    }
    let outcome = check.read_pending(&meta);
    check.note("pending list", meta.pending.head, outcome.map_err(Error::from))?;
    check.figures.segments.sort_by_key(|segment| std::cmp::Reverse(segment.documents));
    Ok((check.problems, check.figures))
}

impl<'a, S: Store> IndexCheck<'a, S> {
    fn new(store: &'a S, blocks: u32) -> IndexCheck<'a, S> {
        IndexCheck { store, blocks, problems: Vec::new(), figures: IndexFigures::default() }
    }

    fn complain(&mut self, problem: &'static str, block: u32, detail: String) {
        self.problems.push(IndexProblem { problem, block, detail });
    }

    /// Makes a problem of an error that says that a page is not what it should be.
    fn note(&mut self, problem: &'static str, block: u32, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(error) if error.kind() == ErrorKind::IndexCorrupted => {
                self.complain(problem, block, error.message().to_owned());
                Ok(())
            }
            other => other,
        }
    }

    fn count(&mut self, meta: &Bm25Meta) {
        let figures = &mut self.figures;
        figures.pages = self.blocks;
        figures.free_pages = meta.free.pages;
        figures.pending_pages = meta.pending.pages.saturating_add(meta.sealed.pages);
        let lost = u64::from(self.blocks).saturating_sub(accounted(meta));
        figures.lost_pages = lost.min(u64::from(u32::MAX)) as u32;
    }

    fn look_at_chains(&mut self, meta: &Bm25Meta) -> Result<()> {
        if meta.entries.len() * 2 > MOST_ENTRIES {
            let detail = format!("There are {} segments; VACUUM merges them.", meta.entries.len());
            self.complain("many segments", 0, detail);
        }
        if accounted(meta) > u64::from(self.blocks) {
            let detail = format!("There are {} pages, and more in use.", self.blocks);
            self.complain("pages", 0, detail);
        }
        let mut set = NumberSet::below(self.blocks);
        let owned = [("pending list", meta.pending), ("sealed list", meta.sealed)];
        let entries = meta.entries.iter().map(|entry| ("segment", entry.chain));
        for (what, chain) in owned.into_iter().chain(entries) {
            let is_its = |page: &_| super::page::number(page) == chain.number;
            let outcome = mark_chain(self.store, chain, is_its, &mut set);
            self.note(what, chain.head, outcome)?;
        }
        let is_free = |page: &_| !meta.is_in_use(super::page::number(page));
        let outcome = mark_chain(self.store, meta.free, is_free, &mut set);
        self.note("free pages", meta.free.head, outcome)
    }

    fn add_segment(&mut self, entry: &DirectoryEntry, segment: &SegmentReader) {
        let header = &segment.header;
        self.figures.documents += u64::from(header.documents);
        self.figures.total_length = self.figures.total_length.saturating_add(header.total_length);
        self.figures.segments.push(SegmentFigures {
            documents: u64::from(header.documents),
            terms: header.terms,
            postings: header.postings,
            pages: entry.chain.pages,
        });
    }

    fn read_pending(&mut self, meta: &Bm25Meta) -> ReadResult<()> {
        let (mut term, figures) = (Vec::new(), &mut self.figures);
        for chain in [&meta.sealed, &meta.pending] {
            each_document(self.store, chain, self.blocks, &mut |document| {
                figures.documents += 1;
                figures.pending_documents += 1;
                figures.total_length += u64::from(document.length);
                document.each_term(&mut term, |_, _| ())
            })?;
        }
        Ok(())
    }

    fn read_segment(&mut self, entry: &DirectoryEntry) -> Result<()> {
        let segment = SegmentReader::open(self.store, entry, self.blocks)?;
        self.add_segment(entry, &segment);
        let block = entry.chain.head;
        let mut rows = segment.rows();
        let mut before = None;
        for _ in 0..segment.header.documents {
            let row = row_of(rows.take(self.store, &segment, ROW_BYTES)?);
            if before.is_some_and(|before| before > row) {
                self.complain("rows", block, "The rows of a segment do not ascend.".to_owned());
                break;
            }
            before = Some(row);
        }
        let lengths = read_lengths(self.store, &segment)?;
        let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        if total != segment.header.total_length || total != entry.total_length {
            let said = segment.header.total_length;
            let detail = format!("The lengths of a segment sum up to {total}, not to {said}.");
            self.complain("lengths", block, detail);
        }
        self.read_terms(&segment, &lengths)
    }

    fn read_terms(&mut self, segment: &SegmentReader, lengths: &[u32]) -> Result<()> {
        let statistics = Statistics { frequencies: vec![1], ..Statistics::default() };
        let query = [super::Term { bytes: Vec::new(), prefix: false, weight: 1.0 }];
        let scorer = Scorer::new(&statistics, Bm25Settings::default(), &query);
        let mut terms = TermIterator::from(self.store, segment, &[])?;
        let (mut count, mut postings) = (0, 0);
        while let Some((_, found)) = terms.next(self.store, segment)? {
            if count % PATIENCE == 0 {
                self.store.interrupted()?;
            }
            let listed = Listed::Found(found);
            let mut effort = SearchEffort::default();
            let (store, effort) = (self.store, &mut effort);
            let mut cursor = PostingCursor::new(store, segment, 0, &listed, &scorer, effort)?;
            while !cursor.is_at_end() {
                let frontier = *cursor.frontier();
                for (document, frequency) in cursor.postings(store, segment)? {
                    let length = lengths.get(document as usize).copied().unwrap_or_default();
                    let is_bounded = frontier
                        .pairs()
                        .iter()
                        .any(|pair| pair.frequency >= frequency && pair.length <= length);
                    if !is_bounded {
                        return Err(unbounded(segment));
                    }
                }
                cursor.next_block(store, segment, &scorer, effort)?;
            }
            count += 1;
            postings += u64::from(found.documents);
        }
        if (count, postings) != (segment.header.terms, segment.header.postings) {
            let detail = format!("A segment has {count} terms with {postings} postings.");
            self.complain("terms", segment.chain.head, detail);
        }
        Ok(())
    }
}

fn unbounded(segment: &SegmentReader) -> Error {
    segment.broken("a document can score more than its block is said to")
}
