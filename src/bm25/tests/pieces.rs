//! Rows that are asked for one by one, while the index changes.

use std::cell::Cell;

use super::*;

/// Documents of which a scan reads several pieces. Neighbouring rows are in different segments, and some are pending.
fn mixed() -> (RamStore, Twin) {
    let (store, mut twin, mut random) = (empty(), Twin::default(), Random(815));
    for number in 0..6000 {
        let row = row(number * 7 % 6000);
        twin.0.insert(row, random.words(60, 8));
        put(&store, &twin.document(row));
        if number % 900 == 899 {
            flush(&store, Merging::All).unwrap();
        }
    }
    let seen = figures(&store).unwrap();
    assert!(seen.segments.len() > 1 && seen.pending_documents > 0, "{seen:?}");
    (store, twin)
}

/// Vacuums remove this line of each page, one after the other.
fn is_removed(row: &RowId, turns: u32) -> bool {
    row.block < 1000 && (1..=turns).any(|turn| u32::from(row.line) == 2 + turn)
}

/// Has rows removed, pages used again, and rows added between those that were there and after them.
fn change(store: &RamStore, turn: u32) {
    vacuum(store, &mut |row| is_removed(&row, turn)).unwrap();
    for number in 0..30 {
        let row = RowId { block: 1000 + 30 * turn + number, line: 1 };
        put(store, &Twin(BTreeMap::from([(row, long(2500))])).document(row));
        flush(store, Merging::All).unwrap();
    }
    for block in 0..120 {
        let row = RowId { block, line: 60 + turn as u16 };
        put(store, &Twin(BTreeMap::from([(row, long(3))])).document(row));
    }
}

/// Asserts that rows ascend, and that those are among them, once each, that were there and stay.
fn assert_whole(found: &[RowId], twin: &Twin, terms: Option<&[Term]>, turns: u32) {
    assert!(found.is_sorted_by(|a, b| a < b), "rows out of order, or twice");
    let is_old = |row: &RowId| row.block < 1000 && row.line < 60 && !is_removed(row, turns);
    let has_any = |row: &RowId| {
        terms.is_none_or(|all| all.iter().any(|it| it.frequency(&twin.document(*row)) > 0))
    };
    let old: Vec<RowId> = found.iter().copied().filter(is_old).collect();
    let expected = twin.0.keys().copied().filter(|row| is_old(row) && has_any(row));
    assert_eq!(old, expected.collect::<Vec<RowId>>());
}

/// What is asked for in these tests: words, which most documents have, and all documents.
fn questions() -> [Option<Vec<Term>>; 2] {
    [Some(vec![term("w0", 1.0), term("w1*", 1.0)]), None]
}

#[test]
fn rows_come_once_whatever_happens_between_two_pieces() {
    for terms in questions() {
        let (store, twin) = mixed();
        let (mut rows, mut found) = (AscendingRows::new(terms.clone()), Vec::new());
        let (mut turns, mut began) = (0, SearchEffort::default());
        while let Some(row) = rows.next(&store).unwrap() {
            if found.is_empty() {
                began = rows.effort();
            }
            found.push(row);
            // In the middle of a piece.
            if found.len() % ROWS_AT_ONCE == 300 && turns < 4 {
                turns += 1;
                change(&store, turns);
            }
        }
        assert_eq!(turns, 4);
        assert_whole(&found, &twin, terms.as_deref(), turns);
        // Pages of the segments that were there at first have got another use.
        assert!(terms.is_none() || rows.effort().decoded > began.decoded, "it went on");
        assert_eq!(check(&store).unwrap().0, []);
    }
}

#[test]
fn rows_come_once_whatever_happens_within_a_piece() {
    for terms in questions() {
        for at in [2, 15, 90] {
            let (store, twin) = mixed();
            let (reads, turns) = (Cell::new(0_u32), Cell::new(0_u32));
            let before_read = || {
                reads.set(reads.get() + 1);
                if reads.get().is_multiple_of(at) && turns.get() < 2 {
                    turns.set(turns.get() + 1);
                    change(&store, turns.get());
                }
            };
            let watched = WatchedStore::new(&store).before_read(&before_read);
            let found = one_by_one(&watched, terms.clone()).unwrap();
            assert!(turns.get() > 0, "{at}");
            assert_whole(&found, &twin, terms.as_deref(), turns.get());
        }
    }
}

/// Where nothing changes, each list is read once, however many pieces there are.
#[test]
fn the_next_piece_is_read_where_the_last_one_ended() {
    let (store, twin) = mixed();
    let query = [term("w0", 1.0), term("w1*", 1.0)];
    let mut rows = AscendingRows::new(Some(query.to_vec()));
    let mut count = 0;
    while rows.next(&store).unwrap().is_some() {
        count += 1;
    }
    assert!(count > 3 * ROWS_AT_ONCE && count < twin.0.len(), "{count} rows");
    assert_eq!(rows.next(&store).unwrap(), None);
    assert_eq!(rows.effort(), matching(&store, &query, &mut Vec::<RowId>::new()).unwrap());
}

#[test]
fn nothing_is_an_end() {
    let store = empty();
    assert_eq!(one_by_one(&store, None).unwrap(), []);
    assert_eq!(one_by_one(&store, Some(Vec::new())).unwrap(), []);
    let (store, _) = mixed();
    assert_eq!(one_by_one(&store, Some(vec![term("absent", 1.0)])).unwrap(), []);
    assert_eq!(one_by_one(&store, Some(Vec::new())).unwrap(), []);
}
