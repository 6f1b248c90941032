//! The whole index in memory against a naive twin: built, inserted into, flushed, merged,
//! vacuumed, searched, checked, damaged.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;

use super::page::{Meta, change_meta, read_meta};
use super::*;
use crate::error::ErrorKind;
use crate::pages::ram::RamStore;
use crate::pages::{PAGE_SIZE, Row, Store};

/// A document of the twin: its length and its words.
type Words = (u32, BTreeMap<Vec<u8>, u32>);

/// The same as an index, without one.
#[derive(Clone, Debug, Default)]
struct Twin(BTreeMap<Row, Words>);

impl Twin {
    fn document(&self, row: Row) -> Document<'_> {
        let (length, terms) = &self.0[&row];
        let terms = terms.iter().map(|(term, frequency)| (&term[..], *frequency));
        Document::new(row, *length, terms).unwrap()
    }

    fn statistics(&self, query: &[Term]) -> Statistics {
        let has = |term: &Term, row: &Row| term.frequency(&self.document(*row)) > 0;
        let count = |term: &Term| self.0.keys().filter(|row| has(term, row)).count() as u64;
        Statistics {
            documents: self.0.len() as u64,
            total_length: self.0.values().map(|(length, _)| u64::from(*length)).sum(),
            frequencies: query.iter().map(count).collect(),
        }
    }

    fn hits(&self, query: &[Term], settings: Settings) -> Vec<Hit> {
        let statistics = self.statistics(query);
        let rows = self.0.keys().map(|row| (*row, self.document(*row)));
        let found = rows.filter(|(_, it)| query.iter().any(|term| term.frequency(it) > 0));
        let mut hits: Vec<Hit> = found
            .map(|(row, it)| Hit { row, score: score(&statistics, settings, query, &it) })
            .collect();
        hits.sort_by(Hit::order);
        hits
    }
}

fn row(number: u32) -> Row {
    Row { block: number / 50, line: (number % 50) as u16 + 1 }
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
fn put(store: &RamStore, document: &Document<'_>) {
    match insert(store, document).unwrap() {
        Inserted::Done => {}
        Inserted::FlushDue => flush(store, Merging::Quick).unwrap(),
        Inserted::TooLong => insert_long(store, document).unwrap(),
    }
}

fn all_hits(store: &RamStore, query: &[Term], settings: Settings, expected: usize) -> Vec<Hit> {
    let mut search = Search::new(query.to_vec(), settings, expected).unwrap();
    std::iter::from_fn(|| search.next(store).unwrap()).collect()
}

/// Holds an index against its twin: statistics, hits, their order and scores, and the pages.
fn compare(store: &RamStore, twin: &Twin, query: &[Term], settings: Settings) {
    assert_eq!(statistics(store, query).unwrap(), twin.statistics(query), "{query:?}");
    for expected in [0, 1, 7] {
        let hits = all_hits(store, query, settings, expected);
        assert_eq!(hits, twin.hits(query, settings), "{query:?} {settings:?} {expected}");
    }
    let (problems, seen) = check(store).unwrap();
    assert_eq!(problems, [], "{seen:?}");
    assert_eq!(seen.documents, twin.0.len() as u64);
    assert_eq!(figures(store).unwrap().documents, seen.documents);
    let mut rows = rows(store).unwrap();
    rows.sort_unstable();
    assert_eq!(rows, twin.0.keys().copied().collect::<Vec<Row>>());
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

#[derive(Clone, Debug)]
enum Step {
    Insert(u8, u64),
    Flush(bool),
    Vacuum(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1u8..90, 1u64..u64::MAX).prop_map(|(count, seed)| Step::Insert(count, seed)),
        2 => any::<bool>().prop_map(Step::Flush),
        1 => (0u8..8).prop_map(Step::Vacuum),
    ];
    prop::collection::vec(step, 1..14)
}

fn query() -> impl Strategy<Value = Vec<Term>> {
    let word = prop_oneof![
        5 => (0u32..40).prop_map(|number| format!("w{number}")),
        1 => (0u32..12).prop_map(|number| format!("w{number}*")),
        1 => Just("nowhere".to_owned()),
    ];
    let weight = prop_oneof![3 => Just(1.0), 1 => 0.0..3.0f64];
    prop::collection::vec((word, weight).prop_map(|(word, weight)| term(&word, weight)), 0..6)
}

/// A place on a page, more often one where much depends on it.
fn place() -> impl Strategy<Value = usize> {
    prop_oneof![24usize..260, 0..PAGE_SIZE, PAGE_SIZE - 8..PAGE_SIZE]
}

fn settings() -> impl Strategy<Value = Settings> {
    prop_oneof![
        Just(Settings::default()),
        (0.0..3.0f64, 0.0..=1.0f64).prop_map(|(k1, b)| Settings { k1, b }),
        Just(Settings { k1: 0.0, b: 1.0 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn an_index_is_its_twin(steps in steps(), query in query(), settings in settings()) {
        let (store, mut twin) = (empty(), Twin::default());
        let mut number = 0;
        for step in steps {
            match step {
                Step::Insert(count, seed) => {
                    let mut random = Random(seed);
                    for _ in 0..count {
                        // Rows come in no order, as free room of a table is used again.
                        number += 1;
                        let row = row(number ^ 37);
                        twin.0.insert(row, random.words(60, 30));
                        put(&store, &twin.document(row));
                    }
                }
                Step::Flush(all) => {
                    flush(&store, if all { Merging::All } else { Merging::Quick }).unwrap();
                }
                Step::Vacuum(rest) => {
                    let is_dead = |row: Row| u32::from(row.line) % 8 == u32::from(rest);
                    let before = twin.0.len();
                    twin.0.retain(|row, _| !is_dead(*row));
                    let report = vacuum(&store, &mut |row| is_dead(row)).unwrap();
                    prop_assert_eq!(report.removed as usize, before - twin.0.len());
                    prop_assert_eq!(report.left as usize, twin.0.len());
                    prop_assert_eq!(report.recovered, 0);
                }
            }
        }
        compare(&store, &twin, &query, settings);
    }

    #[test]
    fn a_build_is_its_twin(
        seed in 1u64..u64::MAX,
        count in 0u32..900,
        memory in prop_oneof![Just(1usize), Just(20_000), Just(usize::MAX)],
        query in query(),
    ) {
        let count = if memory == 1 { count / 20 } else { count };
        let (mut random, mut twin) = (Random(seed), Twin::default());
        let (store, scratch) = (empty(), RamStore::default());
        let mut builder = Builder::new(&scratch, memory);
        for number in 0..count {
            let row = row(number ^ 5);
            twin.0.insert(row, random.words(300, 30));
            builder.add(&twin.document(row)).unwrap();
        }
        prop_assert_eq!(builder.finish(&store).unwrap(), u64::from(count));
        compare(&store, &twin, &query, Settings::default());
        let seen = figures(&store).unwrap();
        prop_assert_eq!(seen.segments.len(), usize::from(count > 0));
        prop_assert_eq!((seen.free_pages, seen.lost_pages), (0, 0));
    }

    #[test]
    fn damage_is_an_error_and_no_more(
        damage in prop::collection::vec((0usize..60, place(), any::<u8>()), 1..60),
        query in query(),
    ) {
        let (store, _) = sample();
        let blocks = store.blocks().unwrap();
        for (block, at, byte) in damage {
            let block = (block as u32) % blocks;
            store.write(block, |page| { page[at] = byte; Ok(true) }).unwrap();
        }
        let mut search = Search::new(query.clone(), Settings::default(), 3).unwrap();
        let mut given = 0;
        while given < 10_000 && matches!(search.next(&store), Ok(Some(_))) {
            given += 1;
        }
        prop_assert!(given < 10_000);
        let document = Document::new(row(9999), 3, [(&b"w1"[..], 3)]).unwrap();
        let outcomes = [
            statistics(&store, &query).map(drop),
            check(&store).map(drop),
            insert(&store, &document).map(drop),
            flush(&store, Merging::All),
            insert_long(&store, &document),
            vacuum(&store, &mut |row| row.line == 3).map(drop),
            rows(&store).map(drop),
            figures(&store).map(drop),
        ];
        for error in outcomes.into_iter().filter_map(Result::err) {
            let kinds = [ErrorKind::IndexCorrupted, ErrorKind::OutOfResources];
            prop_assert!(kinds.contains(&error.kind()), "{error:?}");
        }
    }

    #[test]
    fn pages_of_chance_are_an_error(
        pages in prop::collection::vec(prop::collection::vec(any::<u8>(), PAGE_SIZE), 1..5),
    ) {
        let store = empty();
        for bytes in &pages {
            store.append(|_, page| page.copy_from_slice(bytes)).unwrap();
        }
        // They are lost pages, and are found.
        let report = vacuum(&store, &mut |_| false).unwrap();
        prop_assert_eq!(report.recovered as usize, pages.len());
        let query = [term("w1", 1.0)];
        // A first page that names them as segments and lists.
        store.write(0, |page| {
            let mut meta = Meta::read(page)?;
            let chain = super::page::Chain { number: 1, head: 1, tail: 1, pages: 3 };
            (meta.sealed, meta.pending) = (chain, chain);
            meta.write(page);
            Ok(true)
        }).unwrap();
        let error = statistics(&store, &query).unwrap_err();
        prop_assert_eq!(error.kind(), ErrorKind::IndexCorrupted);
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
    (store, twin)
}

#[test]
fn scores_are_those_of_the_formula() {
    let mut twin = Twin::default();
    let words = |pairs: &[(&str, u32)]| {
        pairs.iter().map(|(word, tf)| (word.as_bytes().to_vec(), *tf)).collect()
    };
    twin.0.insert(row(1), (4, words(&[("cat", 2), ("dog", 2)])));
    twin.0.insert(row(2), (8, words(&[("cat", 1), ("cats", 3)])));
    twin.0.insert(row(3), (3, words(&[("dog", 3)])));
    let store = empty();
    twin.0.keys().for_each(|row| put(&store, &twin.document(*row)));
    let settings = Settings { k1: 1.2, b: 0.75 };
    let hits = all_hits(&store, &[term("cat", 1.0)], settings, 0);
    let idf = (1.0f64 + (3.0 - 2.0 + 0.5) / (2.0 + 0.5)).ln();
    let expected = |tf: f64, length: f64| idf * tf / (tf + 1.2 * (0.25 + 0.75 * length / 5.0));
    assert_eq!([hits[0].row, hits[1].row], [row(1), row(2)]);
    assert!((hits[0].score - expected(2.0, 4.0)).abs() < 1e-12, "{hits:?}");
    assert!((hits[1].score - expected(1.0, 8.0)).abs() < 1e-12, "{hits:?}");
    // A prefix is one term: row 2 has it four times.
    let hits = all_hits(&store, &[term("cat*", 2.0)], settings, 0);
    assert_eq!(hits[0].row, row(2));
    assert!((hits[0].score - 2.0 * expected(4.0, 8.0)).abs() < 1e-12, "{hits:?}");
}

#[test]
fn settings_and_weights_are_checked() {
    let refused = |settings: Settings, weight: f64| {
        let error = Search::new(vec![term("a", weight)], settings, 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    };
    refused(Settings { k1: -1.0, b: 0.5 }, 1.0);
    refused(Settings { k1: f64::NAN, b: 0.5 }, 1.0);
    refused(Settings { k1: 1.0, b: 1.5 }, 1.0);
    refused(Settings::default(), -0.5);
    refused(Settings::default(), f64::INFINITY);
    let long = vec![b'x'; LONGEST_LEXEME + 1];
    assert!(Document::new(row(1), 1, [(&long[..], 1)]).is_err());
}

#[test]
fn documents_of_any_length_are_taken() {
    let (store, mut twin) = (empty(), Twin::default());
    for number in 0..40 {
        let words = (0..3000).map(|word| (format!("term{word}x{number}").into_bytes(), 2));
        let words = words.chain([(b"all".to_vec(), 1 + number), (vec![b'y'; 2048], 1)]);
        twin.0.insert(row(number), (6000 + number, words.collect()));
        put(&store, &twin.document(row(number)));
    }
    // Nothing at all is a document too.
    twin.0.insert(row(99), (0, BTreeMap::new()));
    put(&store, &twin.document(row(99)));
    let long = String::from_utf8(vec![b'y'; 2048]).unwrap();
    let query = [term("all", 1.0), term("term7x3", 1.0), term(&long, 1.0), term("term29*", 1.0)];
    compare(&store, &twin, &query, Settings::default());
    vacuum(&store, &mut |it| it == row(3)).unwrap();
    twin.0.remove(&row(3));
    compare(&store, &twin, &query, Settings::default());
}

#[test]
fn many_inserts_leave_few_segments_and_pages() {
    let (store, mut twin, mut random) = (empty(), Twin::default(), Random(99));
    for number in 0..20_000 {
        twin.0.insert(row(number), random.words(3000, 40));
        put(&store, &twin.document(row(number)));
    }
    flush(&store, Merging::All).unwrap();
    let seen = figures(&store).unwrap();
    assert!(seen.segments.len() <= 24, "{seen:?}");
    assert_eq!(seen.lost_pages, 0);
    // What is merged needs room twice for a while, and the room is used again.
    let used: u32 = seen.segments.iter().map(|segment| segment.pages).sum();
    assert!(seen.pages < 4 * used, "{seen:?}");
    compare(&store, &twin, &[term("w3", 1.0), term("w700", 1.0)], Settings::default());
}

/// Whoever read the list's head before others added a page, and sleeps until the list is a segment.
#[test]
fn nobody_appends_to_a_list_that_has_been_read() {
    let (store, mut twin) = (empty(), Twin::default());
    twin.0.insert(row(1), (1, BTreeMap::from([(b"short".to_vec(), 1)])));
    for number in 2..4 {
        let words = (0..1200).map(|word| (format!("word{word}").into_bytes(), 1));
        twin.0.insert(row(number), (1200, words.collect()));
    }
    put(&store, &twin.document(row(1)));
    let remembered = read_meta(&store).unwrap().pending;
    put(&store, &twin.document(row(2)));
    put(&store, &twin.document(row(3)));
    assert_eq!(read_meta(&store).unwrap().pending.pages, 2);
    flush(&store, Merging::Quick).unwrap();
    assert!(!pending::append(&store, &remembered, &[0; 8]).unwrap());
    compare(&store, &twin, &[term("short", 1.0), term("word7", 1.0)], Settings::default());
}

/// The statistics after deletions are those of an index that never had the rows.
#[test]
fn vacuum_leaves_exact_statistics() {
    let (store, mut twin) = sample();
    let is_dead = |row: Row| row.block % 3 == 1 || row.line % 7 == 2;
    vacuum(&store, &mut |row| is_dead(row)).unwrap();
    twin.0.retain(|row, _| !is_dead(*row));
    let fresh = empty();
    twin.0.keys().for_each(|row| put(&fresh, &twin.document(*row)));
    for word in 0..200 {
        let query = [term(&format!("w{word}"), 1.0), term(&format!("w{}*", word % 10), 1.0)];
        assert_eq!(statistics(&store, &query).unwrap(), statistics(&fresh, &query).unwrap());
    }
    compare(&store, &twin, &[term("w1", 1.0), term("w5", 1.0)], Settings::default());
    // And when all are gone, nothing is left but pages.
    vacuum(&store, &mut |_| true).unwrap();
    compare(&store, &Twin::default(), &[term("w1", 1.0)], Settings::default());
    assert_eq!(figures(&store).unwrap().segments, []);
}

/// The first ten of common words are found without decoding most blocks, in texts of which some
/// speak of a thing and their neighbours do too.
#[test]
fn most_blocks_are_skipped() {
    let (store, scratch, mut random) = (empty(), RamStore::default(), Random(7));
    let mut builder = Builder::new(&scratch, usize::MAX);
    for number in 0..100_000 {
        let (mut length, mut terms) = random.words(5000, 60);
        if number / 100 % 40 == 7 {
            for word in [&b"w1"[..], b"w2", b"w3"] {
                let often = random.below(9);
                *terms.entry(word.to_vec()).or_default() += 1 + often;
                length += 1 + often;
            }
        }
        let terms = terms.iter().map(|(term, frequency)| (&term[..], *frequency));
        builder.add(&Document::new(row(number), 30 + length, terms).unwrap()).unwrap();
    }
    builder.finish(&store).unwrap();
    for words in [&["w1"][..], &["w1", "w2"], &["w1", "w2", "w3"], &["w1", "w300"]] {
        let query: Vec<Term> = words.iter().map(|word| term(word, 1.0)).collect();
        let mut search = Search::new(query.clone(), Settings::default(), 10).unwrap();
        let hits: Vec<Hit> = (0..10).map(|_| search.next(&store).unwrap().unwrap()).collect();
        let effort = search.effort();
        let blocks = effort.decoded + effort.skipped;
        assert!(effort.decoded * 4 < blocks, "{words:?}: {effort:?}");
        assert!(blocks > 400 && effort.scored < 10_000, "{words:?}: {effort:?}");
        let all = all_hits(&store, &query, Settings::default(), 1 << 20);
        assert_eq!(hits[..], all[..10]);
    }
}

/// A store in which something else happens before some reading of a page.
struct Disturbed<'a> {
    store: &'a RamStore,
    reads: Cell<u32>,
    at: u32,
    disturb: &'a dyn Fn(u32),
}

impl Store for Disturbed<'_> {
    fn blocks(&self) -> crate::error::Result<u32> {
        self.store.blocks()
    }

    fn read<T>(
        &self,
        block: u32,
        look: impl FnOnce(&crate::pages::Page) -> T,
    ) -> crate::error::Result<T> {
        self.reads.set(self.reads.get() + 1);
        if self.reads.get().is_multiple_of(self.at) {
            (self.disturb)(self.reads.get() / self.at);
        }
        self.store.read(block, look)
    }

    fn interrupted(&self) -> crate::error::Result<()> {
        Ok(())
    }
}

/// Rows that are there before a search and stay are found, once and in order, whatever inserts,
/// flushes, merges and vacuums do between any two of its looks at pages.
#[test]
fn a_search_is_not_disturbed() {
    for at in [1, 2, 3, 5, 9, 20, 60, 200, 700] {
        let (store, twin) = sample();
        let disturb = |turn: u32| {
            if turn > 60 {
                return;
            }
            for number in 0..20 {
                let row = Row { block: 1000 + turn, line: number + 1 };
                let words = [(&b"w1"[..], 1), (&b"w2"[..], 2)];
                put(&store, &Document::new(row, 9, words).unwrap());
            }
            match turn % 3 {
                0 => flush(&store, Merging::All).unwrap(),
                1 => drop(vacuum(&store, &mut |row| row.block == 999 + turn).unwrap()),
                _ => {}
            }
        };
        let disturbed = Disturbed { store: &store, reads: Cell::new(0), at, disturb: &disturb };
        let query = [term("w1", 1.0), term("w4", 1.0), term("w11*", 1.0)];
        let mut search = Search::new(query.to_vec(), Settings::default(), 5).unwrap();
        let hits: Vec<Hit> = std::iter::from_fn(|| search.next(&disturbed).unwrap()).collect();
        let expected = twin.hits(&query, Settings::default());
        let mut old: Vec<Row> =
            hits.iter().map(|hit| hit.row).filter(|row| row.block < 1000).collect();
        assert!(hits.is_sorted_by(|a, b| a.order(b) == std::cmp::Ordering::Less), "{at}");
        assert_eq!(old.len(), expected.len(), "{at}");
        old.sort_unstable();
        let mut rows: Vec<Row> = expected.iter().map(|hit| hit.row).collect();
        rows.sort_unstable();
        assert_eq!(old, rows, "{at}");
        assert_eq!(check(&store).unwrap().0, []);
    }
}

/// Inserts of several threads, with flushes and searches among them.
#[test]
fn threads_lose_nothing() {
    let (store, structure) = (empty(), std::sync::Mutex::new(()));
    let add = |thread: u32| {
        for number in 0..3000 {
            let row = Row { block: number, line: thread as u16 + 1 };
            let word = format!("w{}", number % 50);
            let words = [(word.as_bytes(), 1 + number % 3), (b"all", 1)];
            match insert(&store, &Document::new(row, 5, words).unwrap()).unwrap() {
                Inserted::FlushDue => {
                    if let Ok(_lock) = structure.try_lock() {
                        flush(&store, Merging::Quick).unwrap();
                    }
                }
                outcome => assert_eq!(outcome, Inserted::Done),
            }
        }
    };
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || add(thread));
        }
        scope.spawn(|| {
            let mut before = 0;
            while before < 12_000 {
                let count = all_hits(&store, &[term("all", 1.0)], Settings::default(), 0).len();
                assert!(count >= before, "{count} after {before}");
                before = count;
                let _lock = structure.lock().unwrap();
                vacuum(&store, &mut |_| false).unwrap();
            }
        });
    });
    let (problems, seen) = check(&store).unwrap();
    assert_eq!((problems, seen.documents), (Vec::new(), 12_000));
    let query = [term("all", 1.0)];
    assert_eq!(statistics(&store, &query).unwrap().frequencies, [12_000]);
    assert_eq!(all_hits(&store, &query, Settings::default(), 0).len(), 12_000);
}

/// A store that fails after some changes, as a crash or a cancel would.
struct Failing<'a> {
    store: &'a RamStore,
    left: Cell<u32>,
}

impl Failing<'_> {
    fn count(&self) -> crate::error::Result<()> {
        match self.left.get() {
            0 => Err(crate::error::Error::new(ErrorKind::NotInState, "stopped")),
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }
}

impl Store for Failing<'_> {
    fn blocks(&self) -> crate::error::Result<u32> {
        self.store.blocks()
    }

    fn read<T>(
        &self,
        block: u32,
        look: impl FnOnce(&crate::pages::Page) -> T,
    ) -> crate::error::Result<T> {
        self.store.read(block, look)
    }

    fn interrupted(&self) -> crate::error::Result<()> {
        Ok(())
    }
}

impl StoreMut for Failing<'_> {
    fn write(
        &self,
        block: u32,
        change: impl FnOnce(&mut crate::pages::Page) -> crate::error::Result<bool>,
    ) -> crate::error::Result<bool> {
        self.count()?;
        self.store.write(block, change)
    }

    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(
            &mut crate::pages::Page,
            &mut crate::pages::Page,
        ) -> crate::error::Result<bool>,
    ) -> crate::error::Result<bool> {
        self.count()?;
        self.store.write_two(first, second, change)
    }

    fn append(&self, fill: impl FnOnce(u32, &mut crate::pages::Page)) -> crate::error::Result<u32> {
        self.count()?;
        self.store.append(fill)
    }
}

/// Whatever change a flush, an insert or a vacuum ends after: no document is lost, and vacuum
/// finds all pages again.
#[test]
fn a_crash_loses_nothing() {
    for left in (0..60).chain((60..400).step_by(13)) {
        let (store, mut twin) = sample();
        let failing = Failing { store: &store, left: Cell::new(left) };
        let outcome = match left % 3 {
            0 => flush(&failing, Merging::All),
            1 => vacuum(&failing, &mut |row| row.line == 5).map(drop),
            _ => {
                let document = Document::new(row(5000), 1, [(&b"new"[..], 1)]).unwrap();
                insert_long(&failing, &document)
            }
        };
        if left % 3 == 2 && statistics(&store, &[term("new", 1.0)]).unwrap().documents == 901 {
            twin.0.insert(row(5000), (1, BTreeMap::from([(b"new".to_vec(), 1)])));
        }
        assert!(left < 50 || outcome.is_ok() || left % 3 == 1, "{left}");
        // Documents are there, but for those that vacuum was removing.
        let hits = all_hits(&store, &[term("w1", 1.0)], Settings::default(), 0);
        let living = hits.iter().filter(|hit| hit.row.line != 5).count();
        let expected = twin.hits(&[term("w1", 1.0)], Settings::default());
        assert_eq!(living, expected.iter().filter(|hit| hit.row.line != 5).count(), "{left}");
        vacuum(&store, &mut |row| row.line == 5).unwrap();
        twin.0.retain(|row, _| row.line != 5);
        assert_eq!(figures(&store).unwrap().lost_pages, 0, "{left}");
        compare(&store, &twin, &[term("w1", 1.0), term("w2", 1.0)], Settings::default());
    }
}

#[test]
fn a_page_in_two_places_is_found() {
    let (store, _) = sample();
    let head = read_meta(&store).unwrap().entries[0].chain.head;
    change_meta(&store, |meta| {
        meta.free.head = head;
        Ok(true)
    })
    .unwrap();
    let (problems, _) = check(&store).unwrap();
    assert!(problems.iter().any(|it| it.problem == "free pages"), "{problems:?}");
    // It is not written over.
    assert_eq!(flush(&store, Merging::All).unwrap_err().kind(), ErrorKind::IndexCorrupted);
}
