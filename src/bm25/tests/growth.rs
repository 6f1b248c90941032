//! Inserts and vacuums, one after the other.

use std::cell::Cell;

use super::*;
use crate::bm25::flush::{flush_pending, flush_sealed, has_room_to_flush};
use crate::bm25::pending::seal;
use crate::error::Error;

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
    compare(&store, &twin, &query, Bm25Settings::default());
    vacuum(&store, &mut |it| it == row(3)).unwrap();
    twin.0.remove(&row(3));
    compare(&store, &twin, &query, Bm25Settings::default());
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
    compare(&store, &twin, &[term("w3", 1.0), term("w700", 1.0)], Bm25Settings::default());
    // However many match, they are handed over in pieces.
    let (mut with_word, mut all) = (Pieces::default(), Pieces::default());
    matching(&store, &[term("w0", 1.0)], &mut with_word).unwrap();
    rows(&store, &mut all).unwrap();
    assert!(with_word.rows.len() > 10_000 && all.rows.len() == 20_000, "{}", with_word.rows.len());
    assert_eq!((with_word.longest, all.longest), (ROWS_AT_ONCE, ROWS_AT_ONCE));
}

/// A document that takes 40 pages is appended, and what comes after it too.
#[test]
fn a_document_of_many_pages_is_pending() {
    let (store, mut twin) = (empty(), Twin::default());
    for (number, count) in [(1, 3000), (2, 3), (3, 80_000), (4, 3)] {
        twin.0.insert(row(number), long(count));
        let outcome = insert(&store, &twin.document(row(number))).unwrap();
        assert_eq!(outcome == Inserted::FlushDue, number >= 3, "{number}");
        compare(&store, &twin, &[term("w2", 1.0), term("w7*", 1.0)], Bm25Settings::default());
    }
    let seen = figures(&store).unwrap();
    assert!(seen.pending_pages > 40 && seen.pending_documents == 4, "{seen:?}");
    flush(&store, Merging::All).unwrap();
    let after = figures(&store).unwrap();
    assert_eq!((after.pending_pages, after.lost_pages), (0, 0));
    assert_eq!(after.free_pages, seen.pending_pages);
    compare(&store, &twin, &[term("w2", 1.0), term("w7*", 1.0)], Bm25Settings::default());
    // The pages are used again.
    twin.0.insert(row(5), long(20_000));
    put(&store, &twin.document(row(5)));
    assert!(figures(&store).unwrap().free_pages < after.free_pages);
    compare(&store, &twin, &[term("w19999", 1.0)], Bm25Settings::default());
}

/// While a vacuum is at work no session flushes, and the list may become longer than memory is.
#[test]
fn a_long_list_becomes_several_segments() {
    let (store, mut twin, mut random) = (empty(), Twin::default(), Random(11));
    for number in 0..3000 {
        // One in the middle that is longer than a segment is to be.
        let words = if number == 1500 { long(20_000) } else { random.words(500, 40) };
        twin.0.insert(row(number), words);
        insert(&store, &twin.document(row(number))).unwrap();
    }
    let query = [term("w3", 1.0), term("w77", 1.0), term("w1*", 1.0)];
    compare(&store, &twin, &query, Bm25Settings::default());
    seal(&store).unwrap();
    flush_sealed(&store, 1).unwrap();
    let seen = figures(&store).unwrap();
    assert!((10..=65).contains(&seen.segments.len()), "{seen:?}");
    assert_eq!((seen.pending_pages, seen.lost_pages), (0, 0));
    compare(&store, &twin, &query, Bm25Settings::default());
    flush(&store, Merging::All).unwrap();
    assert!(figures(&store).unwrap().segments.len() < seen.segments.len());
    compare(&store, &twin, &query, Bm25Settings::default());
}

/// A segment that can't be written leaves the list as it is, and the next flush begins with it.
#[test]
fn a_list_whose_second_segment_fails_stays_whole() {
    let (store, mut twin, mut random) = (empty(), Twin::default(), Random(12));
    for number in 0..2000 {
        twin.0.insert(row(number), random.words(500, 40));
        insert(&store, &twin.document(row(number))).unwrap();
    }
    seal(&store).unwrap();
    let sealed = read_meta(&store).unwrap().sealed;
    // Each page of the list is closed first; the first segments are written, and a later one is not.
    let left = Cell::new(sealed.pages + 60);
    let fails = |_: PageChange| match left.get().checked_sub(1) {
        Some(less) => {
            left.set(less);
            Ok(())
        }
        None => Err(Error::new(ErrorKind::OutOfResources, "no room")),
    };
    let watched = WatchedStore::new(&store).before_change(&fails);
    let error = flush_sealed(&watched, 1).unwrap_err();
    assert_eq!(error.message(), "no room");
    assert_eq!(read_meta(&store).unwrap().sealed, sealed);
    assert!(figures(&store).unwrap().lost_pages > 0);
    let query = [term("w3", 1.0), term("w77", 1.0)];
    compare(&store, &twin, &query, Bm25Settings::default());
    vacuum(&store, &mut |_| false).unwrap();
    assert_eq!(figures(&store).unwrap().lost_pages, 0);
    compare(&store, &twin, &query, Bm25Settings::default());
}

/// An index whose block 0 has no room for the segment of the last document, which waits.
fn full() -> (RamStore, Twin) {
    let (store, mut twin, mut random) = (empty(), Twin::default(), Random(13));
    let error = loop {
        let new = row(twin.0.len() as u32);
        twin.0.insert(new, random.words(50, 5));
        insert(&store, &twin.document(new)).unwrap();
        assert!(twin.0.len() < 1000, "there is always room");
        if let Err(error) = flush_pending(&store) {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::OutOfResources);
    assert!(figures(&store).unwrap().segments.len() > 100);
    (store, twin)
}

#[test]
fn a_vacuum_makes_room_where_block_0_has_none() {
    let (store, mut twin) = full();
    // The last one is of the document that waits, and one has no document left.
    let last = row(twin.0.len() as u32 - 1);
    let report = vacuum(&store, &mut |it| it == row(3) || it == last).unwrap();
    twin.0.retain(|it, _| *it != row(3) && *it != last);
    assert_eq!((report.removed, report.left), (2, twin.0.len() as u64));
    assert!(figures(&store).unwrap().segments.len() < 24);
    compare(&store, &twin, &[term("w3", 1.0), term("w1*", 1.0)], Bm25Settings::default());
}

/// As VACUUM's cleanup does where no row is dead.
#[test]
fn tidying_makes_room_where_block_0_has_none() {
    let (store, twin) = full();
    assert!(!has_room_to_flush(&read_meta(&store).unwrap()));
    let report = tidy(&store).unwrap();
    assert_eq!((report.removed, report.left), (0, twin.0.len() as u64));
    let after = read_meta(&store).unwrap();
    assert_eq!((after.pending.pages, after.sealed.pages), (0, 0));
    assert!(has_room_to_flush(&after), "{} entries", after.entries.len());
    assert_eq!(figures(&store).unwrap().lost_pages, 0);
    compare(&store, &twin, &[term("w3", 1.0), term("w1*", 1.0)], Bm25Settings::default());
}

/// The statistics after deletions are those of an index that never had the rows.
#[test]
fn vacuum_leaves_exact_statistics() {
    let (store, mut twin) = sample();
    let is_dead = |row: RowId| row.block % 3 == 1 || row.line % 7 == 2;
    vacuum(&store, &mut |row| is_dead(row)).unwrap();
    twin.0.retain(|row, _| !is_dead(*row));
    let fresh = empty();
    twin.0.keys().for_each(|row| put(&fresh, &twin.document(*row)));
    for word in 0..200 {
        let query = [term(&format!("w{word}"), 1.0), term(&format!("w{}*", word % 10), 1.0)];
        assert_eq!(statistics(&store, &query).unwrap(), statistics(&fresh, &query).unwrap());
    }
    compare(&store, &twin, &[term("w1", 1.0), term("w5", 1.0)], Bm25Settings::default());
    // And when all are gone, nothing is left but pages.
    vacuum(&store, &mut |_| true).unwrap();
    compare(&store, &Twin::default(), &[term("w1", 1.0)], Bm25Settings::default());
    assert_eq!(figures(&store).unwrap().segments, []);
}
