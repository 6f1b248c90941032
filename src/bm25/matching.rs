//! # matching: which rows have one of these words, whatever they score?
//!
//! ```text
//! (terms, index) → rows, in no order, in pieces
//! ```
//!
//! For a WHERE without an order. Each list is read once, from one end to the other, and neither statistics nor lengths
//! are: a search for the best would go through all lists again for each million of hits. What is held is a bit for each
//! document of one segment at most.

use super::cursor::SearchEffort;
use super::number_set::NumberSet;
use super::page::ReadResult;
use super::postings::BLOCK;
use super::rows::{RowPieces, RowSink};
use super::score::Term;
use super::segment::{RowReader, SegmentReader};
use super::snapshot::{Seeker, founds, settled};
use super::union::each_posting;
use crate::error::Result;
use crate::pages::Store;
use crate::spare;

/// Rows between two looks whether the caller should stop.
const PATIENCE: u32 = 1 << 16;
/// Documents are noted in a set if there are more postings than one for so many documents; fewer are sorted.
const SPARSE: u64 = 64;

/// Gives all rows that have one of `terms` at least, in no order. Gives what it took to find them.
pub fn matching<S: Store>(
    store: &S,
    terms: &[Term],
    sink: &mut dyn RowSink,
) -> Result<SearchEffort> {
    settled(store, |meta, blocks| {
        let (mut rows, mut effort) = (RowPieces::new(&mut *sink), SearchEffort::default());
        let mut seeker = Seeker::new(terms);
        rows.add_pending(store, (meta, blocks), |document| {
            effort.pending += 1;
            seeker.seek(document).map(|found| found.is_some())
        })?;
        for entry in meta.segments() {
            store.interrupted()?;
            let segment = SegmentReader::open(store, entry, blocks)?;
            let found = DocumentSet::with_any(store, &segment, terms, &mut effort)?;
            of_segment(store, &segment, &found, &mut rows)?;
        }
        rows.hand_over()?;
        Ok(effort)
    })
}

/// Adds the rows of these documents.
fn of_segment<S: Store>(
    store: &S,
    segment: &SegmentReader,
    found: &DocumentSet,
    rows: &mut RowPieces<'_>,
) -> ReadResult<()> {
    let mut reader = RowReader::default();
    let (mut next, mut steps) = (0, 0);
    while let Some(document) = found.first_from(next) {
        if steps % PATIENCE == 0 {
            store.interrupted()?;
        }
        rows.add(reader.get(store, segment, document)?)?;
        next = document + 1;
        steps += 1;
    }
    Ok(())
}

/// Documents of a segment.
#[derive(Debug)]
pub(super) enum DocumentSet {
    /// All of them, which are so many.
    All(u32),
    /// A few, ascending.
    Few(Vec<u32>),
    /// Many.
    Many(NumberSet),
}

impl DocumentSet {
    /// Those that have one of `terms` at least. Counts what it takes to find them.
    pub(super) fn with_any<S: Store>(
        store: &S,
        segment: &SegmentReader,
        terms: &[Term],
        effort: &mut SearchEffort,
    ) -> ReadResult<DocumentSet> {
        let mut lists = Vec::new();
        for term in terms {
            lists.extend(founds(store, segment, term)?);
        }
        let blocks = lists.iter().map(|list| list.documents.div_ceil(BLOCK as u32));
        effort.decoded += blocks.map(u64::from).sum::<u64>();
        let documents = segment.header.documents;
        let total: u64 = lists.iter().map(|list| u64::from(list.documents)).sum();
        if total <= u64::from(documents) / SPARSE {
            let mut found = Vec::new();
            each_posting(store, segment, &lists, |document, _| found.push(document))?;
            found.sort_unstable();
            found.dedup();
            return Ok(DocumentSet::Few(found));
        }
        spare::check(documents as usize / 8)?;
        let mut found = NumberSet::below(documents);
        each_posting(store, segment, &lists, |document, _| {
            found.insert(document);
        })?;
        Ok(DocumentSet::Many(found))
    }

    /// The first of them that is not before this one.
    pub(super) fn first_from(&self, document: u32) -> Option<u32> {
        match self {
            DocumentSet::All(count) => (document < *count).then_some(document),
            DocumentSet::Few(found) => {
                found.get(found.partition_point(|it| *it < document)).copied()
            }
            DocumentSet::Many(found) => found.first_from(document),
        }
    }
}
