//! Changes that come to nothing in their middle.

use std::cell::Cell;

use super::*;
use crate::error::{Error, Result};

/// Fails after so many changes, as a crash or a cancel would.
fn after_changes(count: u32) -> impl Fn(PageChange) -> Result<()> {
    let left = Cell::new(count);
    move |_| match left.get() {
        0 => Err(Error::new(ErrorKind::NotInState, "stopped")),
        some => {
            left.set(some - 1);
            Ok(())
        }
    }
}

/// Whatever change a flush, an insert, a vacuum or its cleanup ends after: no document is lost, and
/// vacuum finds all pages again.
#[test]
fn a_crash_loses_nothing() {
    for left in (0..60).chain((60..400).step_by(13)) {
        let (store, mut twin) = sample();
        let before_change = after_changes(left);
        let failing = WatchedStore::new(&store).before_change(&before_change);
        let outcome = match left % 4 {
            0 => flush(&failing, Merging::All),
            1 => vacuum(&failing, &mut |row| row.line == 5).map(drop),
            2 => {
                let lengthy = Twin(BTreeMap::from([(row(5000), long(5000))]));
                let inserted = insert(&failing, &lengthy.document(row(5000)));
                inserted.map(|outcome| assert_eq!(outcome, Inserted::Done))
            }
            _ => tidy(&failing).map(drop),
        };
        let mut all: Vec<RowId> = Vec::new();
        rows(&store, &mut all).unwrap();
        let is_inserted = all.contains(&row(5000));
        assert_eq!(is_inserted, left % 4 == 2 && outcome.is_ok(), "{left}");
        if is_inserted {
            twin.0.insert(row(5000), long(5000));
        }
        assert!(left < 50 || outcome.is_ok() || left % 4 == 1, "{left}");
        // Documents are there, but for those that vacuum was removing.
        let hits = all_hits(&store, &[term("w1", 1.0)], Bm25Settings::default(), 0);
        let living = hits.iter().filter(|hit| hit.row.line != 5).count();
        let expected = twin.hits(&[term("w1", 1.0)], Bm25Settings::default());
        assert_eq!(living, expected.iter().filter(|hit| hit.row.line != 5).count(), "{left}");
        vacuum(&store, &mut |row| row.line == 5).unwrap();
        twin.0.retain(|row, _| row.line != 5);
        assert_eq!(figures(&store).unwrap().lost_pages, 0, "{left}");
        compare(&store, &twin, &[term("w1", 1.0), term("w2", 1.0)], Bm25Settings::default());
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
