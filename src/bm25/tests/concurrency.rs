//! Searches, inserts and vacuums at the same time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use super::*;
use crate::bm25::flush::{flush_pending, has_room_to_flush};
use crate::bm25::meanwhile::{FlushedMeanwhile, VacuumShare};
use crate::bm25::pending::DUE;

/// Calls `disturb` before each reading whose number is a multiple of `at`, and tells it how many there were.
fn at_readings(at: u32, disturb: impl Fn(u32)) -> impl Fn() {
    let reads = Cell::new(0_u32);
    move || {
        reads.set(reads.get() + 1);
        if reads.get().is_multiple_of(at) {
            disturb(reads.get() / at);
        }
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
                let row = RowId { block: 1000 + turn, line: number + 1 };
                let words = [(&b"w1"[..], 1), (&b"w2"[..], 2)];
                put(&store, &IndexedDocument::new(row, 9, words).unwrap());
            }
            let row = RowId { block: 1000 + turn, line: 21 };
            let lengthy = Twin(BTreeMap::from([(row, long(2500))]));
            put(&store, &lengthy.document(row));
            match turn % 3 {
                0 => flush(&store, Merging::All).unwrap(),
                1 => drop(vacuum(&store, &mut |row| row.block == 999 + turn).unwrap()),
                _ => {}
            }
        };
        let before_read = at_readings(at, disturb);
        let disturbed = WatchedStore::new(&store).before_read(&before_read);
        let query = [term("w1", 1.0), term("w4", 1.0), term("w11*", 1.0)];
        let mut search = Bm25Search::new(query.to_vec(), Bm25Settings::default(), 5).unwrap();
        let hits: Vec<Bm25Hit> = std::iter::from_fn(|| search.next(&disturbed).unwrap()).collect();
        let expected = twin.hits(&query, Bm25Settings::default());
        let mut old: Vec<RowId> =
            hits.iter().map(|hit| hit.row).filter(|row| row.block < 1000).collect();
        assert!(hits.is_sorted_by(|a, b| a.order(b) == std::cmp::Ordering::Less), "{at}");
        assert_eq!(old.len(), expected.len(), "{at}");
        old.sort_unstable();
        let mut rows: Vec<RowId> = expected.iter().map(|hit| hit.row).collect();
        rows.sort_unstable();
        assert_eq!(old, rows, "{at}");
        assert_eq!(check(&store).unwrap().0, []);
    }
}

/// Whether the row is one of those that [`use_pages_again`] removes.
fn is_removed(row: &RowId) -> bool {
    row.line == 3
}

/// Has each segment written anew, and what was free used, and used again, by rows from block 1000 on.
fn use_pages_again(store: &RamStore) {
    vacuum(store, &mut |row| is_removed(&row)).unwrap();
    for block in 1000..1060 {
        let row = RowId { block, line: 1 };
        put(store, &Twin(BTreeMap::from([(row, long(2500))])).document(row));
        flush(store, Merging::All).unwrap();
    }
}

/// A match meets pages that have got another use after some of its looks. It begins anew, and has given each row once in
/// the end.
#[test]
fn a_match_begins_anew_where_it_is_disturbed() {
    for at in [2, 4, 8, 16] {
        let (store, twin) = sample();
        let disturb = |turn: u32| {
            if turn == 1 {
                use_pages_again(&store);
            }
        };
        let before_read = at_readings(at, disturb);
        let disturbed = WatchedStore::new(&store).before_read(&before_read);
        let query = [term("w1", 1.0), term("w11*", 1.0)];
        let mut found = Pieces::default();
        matching(&disturbed, &query, &mut found).unwrap();
        assert_eq!(found.beginnings, 2, "{at}");
        let is_old = |row: &RowId| row.block < 1000 && !is_removed(row);
        let mut old: Vec<RowId> = found.rows.into_iter().filter(is_old).collect();
        old.sort_unstable();
        let has_any = |row: &RowId| query.iter().any(|it| it.frequency(&twin.document(*row)) > 0);
        let expected = twin.0.keys().copied().filter(|row| is_old(row) && has_any(row));
        assert_eq!(old, expected.collect::<Vec<RowId>>(), "{at}");
    }
}

/// Stands for the bitmap of a scan, which keeps the rows it has when a match begins anew. Once it has some, pages get
/// another use.
struct KeepingSink<'a> {
    store: &'a RamStore,
    beginnings: u32,
    rows: BTreeSet<RowId>,
}

impl RowSink for KeepingSink<'_> {
    fn begin(&mut self) {
        self.beginnings += 1;
    }

    fn take(&mut self, rows: &[RowId]) -> Result<()> {
        let is_first = self.rows.is_empty();
        self.rows.extend(rows);
        if is_first {
            use_pages_again(self.store);
        }
        Ok(())
    }
}

#[test]
fn rows_that_were_given_before_a_match_began_anew_match_too() {
    // Two thirds have the word, which is more than are handed over at once.
    let (store, twin) = one_segment(4000, |number| long(1 + number % 3));
    let query = term("w1", 1.0);
    let mut kept = KeepingSink { store: &store, beginnings: 0, rows: BTreeSet::new() };
    matching(&store, std::slice::from_ref(&query), &mut kept).unwrap();
    assert_eq!(kept.beginnings, 2);
    // The second time they were not there any more.
    assert!(kept.rows.iter().any(is_removed));
    let is_old = |row: &RowId| row.block < 1000 && !is_removed(row);
    let old: Vec<RowId> = kept.rows.into_iter().filter(is_old).collect();
    let matches = |row: &RowId| query.frequency(&twin.document(*row)) > 0;
    let expected = twin.0.keys().copied().filter(|row| is_old(row) && matches(row));
    assert_eq!(old, expected.collect::<Vec<RowId>>());
}

/// A session has read the list's head before others added a page, and sleeps until the list is a
/// segment.
#[test]
fn nobody_appends_to_a_list_that_has_been_read() {
    let (store, mut twin) = (empty(), Twin::default());
    twin.0.insert(row(1), (1, BTreeMap::from([(b"short".to_vec(), 1)])));
    // Two that do not go together into one page.
    for number in 2..4 {
        twin.0.insert(row(number), long(1500));
    }
    put(&store, &twin.document(row(1)));
    let remembered = read_meta(&store).unwrap().pending;
    put(&store, &twin.document(row(2)));
    put(&store, &twin.document(row(3)));
    assert_eq!(read_meta(&store).unwrap().pending.pages, 2);
    flush(&store, Merging::Quick).unwrap();
    assert!(!pending::append(&store, &remembered, &[0; 8]).unwrap());
    compare(&store, &twin, &[term("short", 1.0), term("w7", 1.0)], Bm25Settings::default());
}

/// Another session makes a segment of the list, and vacuums, after some of the pages have been
/// written.
#[test]
fn a_long_document_meets_a_vacuum() {
    for left in 1..12 {
        let (store, mut twin) = (empty(), Twin::default());
        twin.0.insert(row(1), long(3));
        put(&store, &twin.document(row(1)));
        twin.0.insert(row(2), long(5000));
        let disturb = |turn: u32| {
            if turn == 1 {
                vacuum(&store, &mut |_| false).unwrap();
            }
        };
        let before_read = at_readings(left, disturb);
        let disturbed = WatchedStore::new(&store).before_read(&before_read);
        assert_eq!(insert(&disturbed, &twin.document(row(2))).unwrap(), Inserted::Done);
        compare(&store, &twin, &[term("w2", 1.0)], Bm25Settings::default());
        vacuum(&store, &mut |_| false).unwrap();
        assert_eq!(figures(&store).unwrap().lost_pages, 0, "{left}");
        compare(&store, &twin, &[term("w2", 1.0)], Bm25Settings::default());
    }
}

/// Words of which a page of the pending list is full, so that each document takes one.
fn wide(number: u32) -> Words {
    let long = ["x", "y", "z"].map(|letter| format!("{number:04}{}", letter.repeat(2000)));
    let words = long.into_iter().chain(["all".to_owned()]);
    (4, words.map(|word| (word.into_bytes(), 1)).collect())
}

/// One segment with so many documents, numbered from 0, of these words.
fn one_segment(documents: u32, words: impl Fn(u32) -> Words) -> (RamStore, Twin) {
    let (store, scratch, mut twin) = (empty(), RamStore::default(), Twin::default());
    let mut builder = IndexBuilder::new(&scratch, usize::MAX);
    for number in 0..documents {
        twin.0.insert(row(number), words(number));
        builder.add(&twin.document(row(number))).unwrap();
    }
    builder.finish(&store).unwrap();
    (store, twin)
}

/// Sessions that insert while a vacuum is at work. They don't flush, since the vacuum has the lock.
struct InsertingSessions<'a> {
    store: &'a RamStore,
    /// They insert before each change whose number is a multiple of this. Not at each, or no list could be sealed.
    every: u32,
    /// So many documents at once, each of which takes a page.
    count: u32,
    /// So many in all.
    most: u32,
    changes: Cell<u32>,
    added: Cell<u32>,
    /// Pages of the pending list, at most.
    longest: Cell<u32>,
}

impl<'a> InsertingSessions<'a> {
    fn new(store: &'a RamStore, every: u32, count: u32, most: u32) -> Self {
        let (changes, added, longest) = (Cell::new(0), Cell::new(0), Cell::new(0));
        InsertingSessions { store, every, count, most, changes, added, longest }
    }

    fn before_change(&self) -> Result<()> {
        self.changes.set(self.changes.get() + 1);
        let is_time = self.changes.get().is_multiple_of(self.every);
        let count = if is_time { self.count.min(self.most - self.added.get()) } else { 0 };
        for _ in 0..count {
            let row = RowId { block: 5000 + self.added.get(), line: 1 };
            let one = Twin(BTreeMap::from([(row, wide(9999))]));
            insert(self.store, &one.document(row))?;
            self.added.set(self.added.get() + 1);
        }
        let pages = read_meta(self.store)?.pending.pages;
        self.longest.set(self.longest.get().max(pages));
        Ok(())
    }

    /// Has a vacuum remove rows meanwhile, and holds the index against its twin then. Gives how many were removed.
    fn meet_a_vacuum(&self, mut twin: Twin, is_dead: fn(&RowId) -> bool) -> u64 {
        let before_change = |_: PageChange| self.before_change();
        let watched = WatchedStore::new(self.store).before_change(&before_change);
        let report = vacuum(&watched, &mut |row| is_dead(&row)).unwrap();
        twin.0.retain(|row, _| !is_dead(row));
        let rows = (0..self.added.get()).map(|number| RowId { block: 5000 + number, line: 1 });
        twin.0.extend(rows.map(|row| (row, wide(9999))));
        let query = [term("all", 1.0), term("001*", 1.0)];
        compare(self.store, &twin, &query, Bm25Settings::default());
        assert_eq!(figures(self.store).unwrap().lost_pages, 0);
        report.removed
    }
}

/// While a vacuum writes a large segment anew, inserts fill four times as many pages as become a segment.
#[test]
fn the_pending_list_stays_short_during_a_vacuum() {
    let (store, twin) = one_segment(600, wide);
    let sessions = InsertingSessions::new(&store, 3, 1, 4 * DUE);
    assert_eq!(sessions.meet_a_vacuum(twin, |row| row.line == 3), 12);
    assert_eq!(sessions.added.get(), 4 * DUE);
    assert!(sessions.longest.get() < 2 * DUE, "{} pages", sessions.longest.get());
}

/// Block 0 has less room where many segments wait for the vacuum, and still enough.
#[test]
fn the_pending_list_stays_short_where_there_are_many_segments() {
    let (store, mut twin) = (empty(), Twin::default());
    for number in 0..300 {
        let words = ["all".to_owned(), format!("{number:03}")].map(|word| (word.into_bytes(), 1));
        twin.0.insert(row(number), (2, BTreeMap::from(words)));
        insert(&store, &twin.document(row(number))).unwrap();
        if number % 2 == 1 {
            flush_pending(&store).unwrap();
        }
    }
    assert_eq!(figures(&store).unwrap().segments.len(), 150);
    // Each segment has a dead row.
    let sessions = InsertingSessions::new(&store, 6, 1, 3 * DUE);
    assert_eq!(sessions.meet_a_vacuum(twin, |row| row.line % 2 == 0), 150);
    assert_eq!(sessions.added.get(), 3 * DUE);
    assert!(sessions.longest.get() < 2 * DUE, "{} pages", sessions.longest.get());
}

/// As many pages come as are written, also by flushes, and more than a flush clears come during it.
#[test]
fn a_vacuum_ends_before_the_inserts_do() {
    let (store, twin) = one_segment(400, wide);
    let sessions = InsertingSessions::new(&store, 2, 2, 4000);
    assert_eq!(sessions.meet_a_vacuum(twin, |row| row.line == 3), 8);
    let added = sessions.added.get();
    assert!((200..4000).contains(&added), "{added} were added");
}

/// A flush comes again only when the vacuum has looked as often as the one before has changed pages.
#[test]
fn a_flush_waits_for_the_vacuum() {
    let store = empty();
    let share = VacuumShare::default();
    let meanwhile = FlushedMeanwhile { store: &store, busy: &[], share: &share };
    let fill = |block: u32| {
        for line in 1..=DUE as u16 {
            let row = RowId { block, line };
            let one = Twin(BTreeMap::from([(row, wide(0))]));
            insert(&store, &one.document(row)).unwrap();
        }
    };
    let pages = || read_meta(&store).unwrap().pending.pages;
    fill(1);
    assert_eq!(pages(), DUE);
    meanwhile.interrupted().unwrap();
    assert_eq!(pages(), 0);
    fill(2);
    let mut looks = 0;
    while pages() > 0 && looks < 8 * DUE {
        meanwhile.interrupted().unwrap();
        looks += 1;
    }
    assert!((DUE..8 * DUE).contains(&looks), "{looks} looks");
}

/// Where block 0 has no room for another segment, small ones are merged first, if the vacuum reads none of them.
#[test]
fn a_flush_meanwhile_makes_room_in_block_0() {
    let (store, mut twin) = (empty(), Twin::default());
    let mut put = |words: Words| {
        let row = row(twin.0.len() as u32);
        twin.0.insert(row, words);
        insert(&store, &twin.document(row)).unwrap();
    };
    let has_room = || {
        let mut meta = read_meta(&store).unwrap();
        meta.pending.pages = DUE;
        has_room_to_flush(&meta)
    };
    while has_room() {
        put(long(3));
        flush_pending(&store).unwrap();
    }
    (0..DUE).for_each(|_| put(wide(0)));
    let before = read_meta(&store).unwrap();
    let numbers: Vec<u64> = before.segments().map(|entry| entry.chain.number).collect();
    let share = VacuumShare::default();
    let meanwhile = |busy| FlushedMeanwhile { store: &store, busy, share: &share };
    meanwhile(&numbers[..]).interrupted().unwrap();
    assert_eq!(read_meta(&store).unwrap(), before);
    meanwhile(&numbers[..4]).interrupted().unwrap();
    let after = read_meta(&store).unwrap();
    assert_eq!((after.pending.pages, after.sealed.pages), (0, 0));
    assert!(has_room_to_flush(&after), "{} entries", after.entries.len());
    assert!(numbers[..4].iter().all(|number| after.is_in_use(*number)));
    compare(&store, &twin, &[term("w1", 1.0), term("all", 1.0)], Bm25Settings::default());
}

/// Segments come into being during a merge, and more of them than are merged.
#[test]
fn a_merge_ends_whatever_is_flushed_meanwhile() {
    let (store, mut twin) = (empty(), Twin::default());
    for number in 0..16 {
        twin.0.insert(row(number), long(3));
        insert(&store, &twin.document(row(number))).unwrap();
        flush_pending(&store).unwrap();
    }
    let (twin, changes) = (RefCell::new(twin), Cell::new(0u32));
    let before_change = |_: PageChange| -> Result<()> {
        changes.set(changes.get() + 1);
        let mut twin = twin.borrow_mut();
        // Not at each change, or no free page could be taken.
        let is_time = changes.get().is_multiple_of(2) && twin.0.len() < 150;
        let count = if is_time { 3 } else { 0 };
        for _ in 0..count {
            let new = row(twin.0.len() as u32);
            twin.0.insert(new, long(3));
            insert(&store, &twin.document(new))?;
            flush_pending(&store)?;
        }
        Ok(())
    };
    let watched = WatchedStore::new(&store).before_change(&before_change);
    flush(&watched, Merging::All).unwrap();
    let twin = twin.into_inner();
    // Without a limit, the next merge would have been due.
    assert!((24..100).contains(&twin.0.len()), "{} documents", twin.0.len());
    compare(&store, &twin, &[term("w1", 1.0)], Bm25Settings::default());
}

/// Inserts of several threads, with flushes and searches among them.
#[test]
fn threads_lose_nothing() {
    let (store, structure) = (empty(), std::sync::Mutex::new(()));
    let add = |thread: u32| {
        for number in 0..3000 {
            let row = RowId { block: number, line: thread as u16 + 1 };
            // Some have pages of their own.
            let (length, mut words) = long(if number % 100 == 99 { 3000 } else { 1 });
            words.insert(b"all".to_vec(), 1 + number % 3);
            let twin = Twin(BTreeMap::from([(row, (length, words))]));
            match insert(&store, &twin.document(row)).unwrap() {
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
                let count = all_hits(&store, &[term("all", 1.0)], Bm25Settings::default(), 0).len();
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
    assert_eq!(all_hits(&store, &query, Bm25Settings::default(), 0).len(), 12_000);
}
