//! Searches, inserts and vacuums at the same time.

use std::cell::Cell;

use super::*;

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
        let disturbed =
            Watched { store: &store, before_read: &before_read, before_change: &|| Ok(()) };
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
        let disturbed =
            Watched { store: &store, before_read: &before_read, before_change: &|| Ok(()) };
        assert_eq!(insert(&disturbed, &twin.document(row(2))).unwrap(), Inserted::Done);
        compare(&store, &twin, &[term("w2", 1.0)], Bm25Settings::default());
        vacuum(&store, &mut |_| false).unwrap();
        assert_eq!(figures(&store).unwrap().lost_pages, 0, "{left}");
        compare(&store, &twin, &[term("w2", 1.0)], Bm25Settings::default());
    }
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
