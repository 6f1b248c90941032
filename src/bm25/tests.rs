//! The whole index in memory against a naive twin: built, inserted into, flushed, merged,
//! vacuumed, searched, checked, damaged.

mod concurrency;
mod crash;
mod growth;
mod pieces;
mod properties;
mod ranking;

use std::collections::BTreeMap;

use super::page::{Bm25Meta, change_meta, read_meta};
use super::*;
use crate::error::ErrorKind;
use crate::pages::ram::RamStore;
use crate::pages::watched::{PageChange, WatchedStore};
use crate::pages::{PAGE_SIZE, RowId, Store};

/// A document of the twin: its length and its words.
type Words = (u32, BTreeMap<Vec<u8>, u32>);

/// The documents of an index by their rows, to be searched without one.
#[derive(Clone, Debug, Default)]
struct Twin(BTreeMap<RowId, Words>);

impl Twin {
    fn document(&self, row: RowId) -> IndexedDocument<'_> {
        let (length, terms) = &self.0[&row];
        let terms = terms.iter().map(|(term, frequency)| (&term[..], *frequency));
        IndexedDocument::new(row, *length, terms).unwrap()
    }

    fn statistics(&self, query: &[Term]) -> Statistics {
        let has = |term: &Term, row: &RowId| term.frequency(&self.document(*row)) > 0;
        let count = |term: &Term| self.0.keys().filter(|row| has(term, row)).count() as u64;
        Statistics {
            documents: self.0.len() as u64,
            total_length: self.0.values().map(|(length, _)| u64::from(*length)).sum(),
            frequencies: query.iter().map(count).collect(),
        }
    }

    fn hits(&self, query: &[Term], settings: Bm25Settings) -> Vec<Bm25Hit> {
        let statistics = self.statistics(query);
        let rows = self.0.keys().map(|row| (*row, self.document(*row)));
        let found = rows.filter(|(_, it)| query.iter().any(|term| term.frequency(it) > 0));
        let mut hits: Vec<Bm25Hit> = found
            .map(|(row, it)| Bm25Hit { row, score: score(&statistics, settings, query, &it) })
            .collect();
        hits.sort_by(Bm25Hit::order);
        hits
    }
}

fn row(number: u32) -> RowId {
    RowId { block: number / 50, line: (number % 50) as u16 + 1 }
}

fn term(word: &str, weight: f64) -> Term {
    let (word, prefix) = match word.strip_suffix('*') {
        Some(word) => (word, true),
        None => (word, false),
    };
    Term { bytes: word.as_bytes().to_vec(), prefix, weight }
}

fn empty() -> RamStore {
    let store = RamStore::default();
    create(&store).unwrap();
    store
}

/// Inserts as an access method does.
fn put(store: &RamStore, document: &IndexedDocument<'_>) {
    match insert(store, document).unwrap() {
        Inserted::Done => {}
        Inserted::FlushDue => flush(store, Merging::Quick).unwrap(),
    }
}

/// Words that take more than a page of the pending list, from about two thousand on.
fn long(count: u32) -> Words {
    (count, (0..count).map(|number| (format!("w{number}").into_bytes(), 1)).collect())
}

fn all_hits(
    store: &RamStore,
    query: &[Term],
    settings: Bm25Settings,
    expected: usize,
) -> Vec<Bm25Hit> {
    let mut search = Bm25Search::new(query.to_vec(), settings, expected).unwrap();
    std::iter::from_fn(|| search.next(store).unwrap()).collect()
}

/// Holds an index against its twin: statistics, hits, their order and scores, and the pages.
fn compare(store: &RamStore, twin: &Twin, query: &[Term], settings: Bm25Settings) {
    assert_eq!(statistics(store, query).unwrap(), twin.statistics(query), "{query:?}");
    for expected in [0, 1, 7] {
        let hits = all_hits(store, query, settings, expected);
        assert_eq!(hits, twin.hits(query, settings), "{query:?} {settings:?} {expected}");
    }
    let mut found: Vec<RowId> = Vec::new();
    matching(store, query, &mut found).unwrap();
    found.sort_unstable();
    let has_any = |row: &RowId| query.iter().any(|it| it.frequency(&twin.document(*row)) > 0);
    let expected: Vec<RowId> = twin.0.keys().copied().filter(has_any).collect();
    assert_eq!(found, expected, "{query:?}");
    let (problems, seen) = check(store).unwrap();
    assert_eq!(problems, [], "{seen:?}");
    assert_eq!(seen.documents, twin.0.len() as u64);
    assert_eq!(figures(store).unwrap().documents, seen.documents);
    let mut all: Vec<RowId> = Vec::new();
    rows(store, &mut all).unwrap();
    all.sort_unstable();
    assert_eq!(all, twin.0.keys().copied().collect::<Vec<RowId>>());
    // One after the other they come in order.
    assert_eq!(one_by_one(store, Some(query.to_vec())).unwrap(), expected, "{query:?}");
    assert_eq!(one_by_one(store, None).unwrap(), all);
}

/// All rows that have one of the terms, or all without terms, as a scan gives one after the other.
fn one_by_one(store: &impl Store, terms: Option<Vec<Term>>) -> Result<Vec<RowId>> {
    let (mut rows, mut found) = (AscendingRows::new(terms), Vec::new());
    while let Some(row) = rows.next(store)? {
        found.push(row);
    }
    Ok(found)
}

/// Rows in pieces, as a bitmap takes them.
#[derive(Debug, Default)]
struct Pieces {
    beginnings: u32,
    longest: usize,
    rows: Vec<RowId>,
}

impl RowSink for Pieces {
    fn begin(&mut self) {
        self.beginnings += 1;
        self.rows.clear();
    }

    fn take(&mut self, rows: &[RowId]) -> Result<()> {
        self.longest = self.longest.max(rows.len());
        self.rows.extend_from_slice(rows);
        Ok(())
    }
}

/// Numbers without any pattern that matters, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % u64::from(most)) as u32
    }

    /// Low numbers are common, high ones rare.
    fn skewed(&mut self, most: u32) -> u32 {
        let share = f64::from(self.below(1 << 20) + 1) / f64::from((1 << 20) + 1);
        (f64::from(most).powf(share) - 1.0) as u32
    }

    fn words(&mut self, vocabulary: u32, most: u32) -> Words {
        let length = 1 + self.below(most);
        let mut terms = BTreeMap::new();
        for _ in 0..length {
            let word = format!("w{}", self.skewed(vocabulary));
            *terms.entry(word.into_bytes()).or_default() += 1;
        }
        (length, terms)
    }
}

/// An index with everything in it: segments of three tiers, pending documents, free pages.
fn sample() -> (RamStore, Twin) {
    let (store, mut twin, mut random) = (empty(), Twin::default(), Random(4711));
    for number in 0..900 {
        twin.0.insert(row(number), random.words(200, 30));
        put(&store, &twin.document(row(number)));
        if number % 70 == 69 && number < 800 {
            flush(&store, Merging::All).unwrap();
        }
    }
    let seen = figures(&store).unwrap();
    assert!(seen.segments.len() > 1 && seen.free_pages > 0 && seen.pending_pages > 1, "{seen:?}");
    twin.0.insert(row(900), long(5000));
    put(&store, &twin.document(row(900)));
    assert!(figures(&store).unwrap().pending_pages > seen.pending_pages + 2);
    (store, twin)
}
