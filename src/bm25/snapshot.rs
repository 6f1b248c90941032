//! # snapshot: what is in the index now?
//!
//! ```text
//! (index, query) → pending documents with its terms, lists of the segments, statistics
//! ```
//!
//! The first page says which segments and pending pages there are; segments never change, and
//! pending pages only grow, so what one look at the first page has shown is the index as it was
//! then, and perhaps a few documents more. A page that has got another owner meanwhile says so
//! by its number, and then all begins anew.

use super::dictionary::{FoundTerm, TermIterator, find};
use super::page::{Bm25Meta, ReadResult, Stop, corrupt, read_meta};
use super::pending::{PendingDocument, each_document};
use super::score::{Statistics, Term};
use super::segment::SegmentReader;
use super::union::{Union, unite};
use crate::error::Result;
use crate::pages::{RowId, Store};

/// The postings of a term of a query in a segment.
#[derive(Debug)]
pub enum Listed {
    /// Postings in the segment, where the dictionary says.
    Found(FoundTerm),
    /// Postings united in memory, for a prefix.
    United(Union),
}

impl Listed {
    fn documents(&self) -> u32 {
        match self {
            Listed::Found(found) => found.documents,
            Listed::United(union) => union.documents,
        }
    }
}

/// A segment, and what it has of the query.
#[derive(Debug)]
pub struct SnapshotPart {
    /// The segment that is read.
    pub segment: SegmentReader,
    /// The postings of each term of the query.
    pub lists: Vec<Option<Listed>>,
}

/// A pending document that has some terms of the query.
#[derive(Debug)]
pub struct Match {
    /// The row of the table.
    pub row: RowId,
    /// The document's length, in word positions.
    pub length: u32,
    /// The frequency of each term of the query.
    pub frequencies: Vec<u32>,
}

/// What an index has of a query.
#[derive(Debug)]
pub struct Snapshot {
    /// Segments, largest first.
    pub parts: Vec<SnapshotPart>,
    /// Pending documents that have some terms of the query.
    pub matches: Vec<Match>,
    /// How many pending documents were read for that.
    pub pending: u64,
    /// What scores depend on.
    pub statistics: Statistics,
}

/// Reads until no page has got another owner meanwhile.
pub fn settled<S: Store, T>(
    store: &S,
    mut read: impl FnMut(&Bm25Meta, u32) -> ReadResult<T>,
) -> Result<T> {
    let mut meta = read_meta(store)?;
    loop {
        store.interrupted()?;
        // After the first page was read: all that it names is below.
        let blocks = store.blocks()?;
        match read(&meta, blocks) {
            Ok(found) => return Ok(found),
            Err(Stop::Failed(error)) => return Err(error),
            Err(Stop::Moved(block)) => meta = changed(store, meta.changes, block)?,
        }
    }
}

/// The first page now that this block has another use than it had after so many changes. If there were no others since,
/// the block is corrupted.
pub fn changed<S: Store>(store: &S, changes: u64, block: u32) -> Result<Bm25Meta> {
    let now = read_meta(store)?;
    if now.changes == changes {
        return Err(corrupt(block, "the page belongs to something else"));
    }
    Ok(now)
}

impl Snapshot {
    /// Reads what an index has of a query.
    pub fn take<S: Store>(
        store: &S,
        meta: &Bm25Meta,
        blocks: u32,
        query: &[Term],
    ) -> ReadResult<Snapshot> {
        let mut statistics =
            Statistics { frequencies: vec![0; query.len()], ..Statistics::default() };
        let mut matches = Vec::new();
        for chain in [&meta.sealed, &meta.pending] {
            let mut seeker = Seeker::new(query);
            each_document(store, chain, blocks, &mut |document| {
                statistics.documents += 1;
                statistics.total_length += u64::from(document.length);
                matches.extend(seeker.seek(document)?);
                Some(())
            })?;
        }
        for found in &matches {
            for (sum, frequency) in statistics.frequencies.iter_mut().zip(&found.frequencies) {
                *sum += u64::from(*frequency > 0);
            }
        }
        let pending = statistics.documents;
        let mut parts = Vec::new();
        for entry in meta.segments() {
            store.interrupted()?;
            let segment = SegmentReader::open(store, entry, blocks)?;
            statistics.documents += u64::from(segment.header.documents);
            statistics.total_length =
                statistics.total_length.saturating_add(segment.header.total_length);
            let lists = query.iter().map(|term| list(store, &segment, term));
            let lists = lists.collect::<ReadResult<Vec<Option<Listed>>>>()?;
            for (sum, listed) in statistics.frequencies.iter_mut().zip(&lists) {
                *sum += listed.as_ref().map_or(0, |listed| u64::from(listed.documents()));
            }
            parts.push(SnapshotPart { segment, lists });
        }
        parts.sort_by_key(|part| std::cmp::Reverse(part.segment.header.documents));
        Ok(Snapshot { parts, matches, pending, statistics })
    }
}

fn list<S: Store>(store: &S, segment: &SegmentReader, term: &Term) -> ReadResult<Option<Listed>> {
    let founds = founds(store, segment, term)?;
    match &founds[..] {
        [] => Ok(None),
        [only] => Ok(Some(Listed::Found(*only))),
        _ => Ok(Some(Listed::United(unite(store, segment, term, &founds)?))),
    }
}

/// The lists of the lexemes that a term means, which are several only of a prefix.
pub fn founds<S: Store>(
    store: &S,
    segment: &SegmentReader,
    term: &Term,
) -> ReadResult<Vec<FoundTerm>> {
    if !term.prefix {
        return Ok(find(store, segment, &term.bytes)?.into_iter().collect());
    }
    let mut founds = Vec::new();
    let mut terms = TermIterator::from(store, segment, &term.bytes)?;
    while let Some((key, found)) = terms.next(store, segment)? {
        if term.matches(key) {
            founds.push(found);
        } else if key > &term.bytes[..] {
            break;
        }
    }
    Ok(founds)
}

/// Looks for the terms of a query in pending documents.
pub struct Seeker<'a> {
    query: &'a [Term],
    /// The terms that are no prefixes, ascending, and which they are.
    exact: Vec<(&'a [u8], usize)>,
    prefixes: Vec<(&'a [u8], usize)>,
    term: Vec<u8>,
}

impl<'a> Seeker<'a> {
    /// Looks for these terms.
    pub fn new(query: &'a [Term]) -> Seeker<'a> {
        let numbered = query.iter().enumerate().map(|(index, term)| (&term.bytes[..], index));
        let (prefixes, mut exact): (Vec<_>, Vec<_>) =
            numbered.partition(|(_, index)| query[*index].prefix);
        exact.sort_unstable();
        Seeker { query, exact, prefixes, term: Vec::new() }
    }

    /// `None` if the document makes no sense; `Some(None)` if it has none of the terms.
    pub fn seek(&mut self, document: &PendingDocument<'_>) -> Option<Option<Match>> {
        let mut frequencies: Vec<u32> = Vec::new();
        let mut left = &self.exact[..];
        let (query, prefixes) = (self.query.len(), &self.prefixes);
        document.each_term(&mut self.term, |lexeme, frequency| {
            let mut note = |index: usize| {
                frequencies.resize(query, 0);
                let sum = &mut frequencies[index];
                *sum = sum.saturating_add(frequency);
            };
            while let Some(((term, index), rest)) = left.split_first()
                && *term <= lexeme
            {
                if *term == lexeme {
                    note(*index);
                }
                left = rest;
            }
            let meant = prefixes.iter().filter(|(prefix, _)| lexeme.starts_with(prefix));
            meant.for_each(|(_, index)| note(*index));
        })?;
        let (row, length) = (document.row, document.length);
        Some((!frequencies.is_empty()).then_some(Match { row, length, frequencies }))
    }
}

/// The statistics that the scores of this query depend on, over all documents of the index.
pub fn statistics<S: Store>(store: &S, query: &[Term]) -> Result<Statistics> {
    settled(store, |meta, blocks| {
        Snapshot::take(store, meta, blocks, query).map(|snapshot| snapshot.statistics)
    })
}
