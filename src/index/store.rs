//! # store: where do the pages lie?
//!
//! The algorithms reach pages through these two traits, so that they run over PostgreSQL's
//! buffers, and in tests over memory.

use super::page::PAGE_SIZE;
use crate::error::Result;

/// The bytes of one page.
pub type Page = [u8; PAGE_SIZE];

/// Pages to be read.
pub trait Store {
    /// How many pages there are, or were a moment ago.
    fn blocks(&self) -> Result<u32>;

    /// Looks at a page, which nobody changes meanwhile. A block beyond the end is an error.
    ///
    /// `look` may not read another page: there is never more than one page locked by a reader.
    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T>;

    /// Looks at one page after the other, as [`Store::read`] does. That is a call of its own
    /// because a store may have to make preparations, which need be made only once.
    fn read_each(&self, tour: &mut impl Tour) -> Result<()> {
        for place in 0..tour.places() {
            tour.approach(place);
            self.read(tour.block(place), |page| tour.look(place, page))?;
        }
        Ok(())
    }

    /// Says that the bytes of this page from `offset` on will be read soon. Only a hint.
    fn prefetch(&self, _block: u32, _offset: usize, _bytes: usize) {}

    /// Fails if the caller should stop. Called where no page is locked.
    fn interrupted(&self) -> Result<()>;
}

/// Pages to be looked at one after the other, in numbered places.
pub trait Tour {
    /// How many places there are.
    fn places(&self) -> usize;

    /// The page of a place.
    fn block(&self, place: usize) -> u32;

    /// Called before a place is looked at.
    fn approach(&self, place: usize);

    /// Looks at the page of a place. As in [`Store::read`], it may not read another one.
    fn look(&mut self, place: usize, page: &Page);
}

/// Pages to be changed. What one call changes survives a crash whole, or not at all.
pub trait StoreMut: Store {
    /// Changes one page, which nobody else sees meanwhile. If `change` says `false` or fails,
    /// nothing is changed. Gives what it said.
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool>;

    /// Changes two pages, locked in this order: `first` is block 0, or less than `second`.
    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool>;

    /// Adds a page of zeros, has it filled by one who is told its number, and gives the number.
    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32>;
}

#[cfg(test)]
pub mod ram {
    //! Pages in memory.

    use super::{Page, Store, StoreMut};
    use crate::error::{Error, ErrorKind, Result};
    use crate::index::page::PAGE_SIZE;
    use std::sync::{PoisonError, RwLock};

    /// A growing row of pages, each with a lock of its own.
    #[derive(Default)]
    pub struct RamStore {
        pages: RwLock<Vec<RwLock<Box<Page>>>>,
    }

    impl RamStore {
        fn with<T>(&self, block: u32, act: impl FnOnce(&RwLock<Box<Page>>) -> T) -> Result<T> {
            let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
            let page = pages.get(block as usize).ok_or_else(|| {
                Error::new(ErrorKind::IndexCorrupted, format!("there is no block {block}"))
            })?;
            Ok(act(page))
        }
    }

    impl Store for RamStore {
        fn blocks(&self) -> Result<u32> {
            Ok(self.pages.read().unwrap_or_else(PoisonError::into_inner).len() as u32)
        }

        fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
            self.with(block, |page| look(&page.read().unwrap_or_else(PoisonError::into_inner)))
        }

        fn interrupted(&self) -> Result<()> {
            Ok(())
        }
    }

    impl StoreMut for RamStore {
        fn write(
            &self,
            block: u32,
            change: impl FnOnce(&mut Page) -> Result<bool>,
        ) -> Result<bool> {
            self.with(block, |page| {
                let mut page = page.write().unwrap_or_else(PoisonError::into_inner);
                let mut copy = page.clone();
                let changed = change(&mut copy)?;
                if changed {
                    *page = copy;
                }
                Ok(changed)
            })?
        }

        fn write_two(
            &self,
            first: u32,
            second: u32,
            change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
        ) -> Result<bool> {
            assert!(first < second, "pages are locked in ascending order");
            self.with(first, |one| {
                self.with(second, |two| {
                    let mut one = one.write().unwrap_or_else(PoisonError::into_inner);
                    let mut two = two.write().unwrap_or_else(PoisonError::into_inner);
                    let (mut copy_one, mut copy_two) = (one.clone(), two.clone());
                    let changed = change(&mut copy_one, &mut copy_two)?;
                    if changed {
                        (*one, *two) = (copy_one, copy_two);
                    }
                    Ok(changed)
                })
            })??
        }

        fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
            let mut page = Box::new([0; PAGE_SIZE]);
            let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
            let block = pages.len() as u32;
            fill(block, &mut page);
            pages.push(RwLock::new(page));
            Ok(block)
        }
    }
}
