//! Changes that come to nothing in their middle.

use std::cell::Cell;

use super::*;
use crate::error::{Error, Result};
use crate::pages::{Page, StoreMut};

/// A store that fails after some changes, as a crash or a cancel would.
struct Failing<'a> {
    store: &'a RamStore,
    left: Cell<u32>,
}

impl Failing<'_> {
    fn count(&self) -> Result<()> {
        match self.left.get() {
            0 => Err(Error::new(ErrorKind::NotInState, "stopped")),
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }
}

impl Store for Failing<'_> {
    fn blocks(&self) -> Result<u32> {
        self.store.blocks()
    }

    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.store.read(block, look)
    }

    fn interrupted(&self) -> Result<()> {
        Ok(())
    }
}

impl StoreMut for Failing<'_> {
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool> {
        self.count()?;
        self.store.write(block, change)
    }

    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool> {
        self.count()?;
        self.store.write_two(first, second, change)
    }

    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
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
                let lengthy = Twin(BTreeMap::from([(row(5000), long(5000))]));
                let inserted = insert(&failing, &lengthy.document(row(5000)));
                inserted.map(|outcome| assert_eq!(outcome, Inserted::Done))
            }
        };
        let is_inserted = rows(&store).unwrap().contains(&row(5000));
        assert_eq!(is_inserted, left % 3 == 2 && outcome.is_ok(), "{left}");
        if is_inserted {
            twin.0.insert(row(5000), long(5000));
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
