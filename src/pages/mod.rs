//! # pages: where does an index lie?
//!
//! ```text
//! (block, what to look at) → what was seen          (blocks, change) → changed whole, or not at all
//! ```
//!
//! The index access methods, [`index`](crate::hnsw) and [`lexical`](crate::bm25), reach pages
//! through two traits, so that they run over PostgreSQL's buffers, and in tests over memory
//! ([`ram`]). What lies on a page is their own affair.

pub mod ram;
#[cfg(test)]
pub mod watched;

use crate::error::{Error, ErrorKind, Result};

/// Bytes of a page.
pub const PAGE_SIZE: usize = 8192;
/// PostgreSQL's own header, which comes first.
pub const HEADER_BYTES: usize = 24;
/// The trailer, PostgreSQL's special space.
pub const TRAILER_BYTES: usize = 8;
/// Bytes between header and trailer.
pub const ROOM: usize = PAGE_SIZE - HEADER_BYTES - TRAILER_BYTES;

/// The bytes of one page.
pub type Page = [u8; PAGE_SIZE];

/// Pages to be read.
pub trait Store {
    /// How many pages there are, or were a moment ago.
    fn blocks(&self) -> Result<u32>;

    /// Looks at a page, which does not change meanwhile. A block beyond the end is an error.
    ///
    /// `look` may not read another page: there is never more than one page locked by a reader.
    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T>;

    /// Looks at a page as [`Store::read`] does, in a pass over many pages, none of which is soon wanted again: a store need
    /// not keep it in the place of others.
    fn read_in_passing<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.read(block, look)
    }

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

/// A store whose pages are all read in passing.
pub struct InPassing<'a, S>(pub &'a S);

impl<S: Store> Store for InPassing<'_, S> {
    fn blocks(&self) -> Result<u32> {
        self.0.blocks()
    }

    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.0.read_in_passing(block, look)
    }

    fn interrupted(&self) -> Result<()> {
        self.0.interrupted()
    }
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
    /// Changes one page, which no other process sees meanwhile. If `change` says `false` or fails,
    /// nothing is changed. Gives what it said.
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool>;

    /// Changes two pages, locked in this order. An error if `second` is not beyond `first`, see
    /// [`expect_ascending`].
    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool>;

    /// Adds a page of zeros, has it filled by `fill`, which gets its number, and gives the number.
    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32>;

    /// Does several changes that belong together, which take a moment: meanwhile
    /// [`Store::interrupted`] does not fail. A crash still can come between them.
    fn together<T>(&self, changes: impl FnOnce() -> Result<T>) -> Result<T> {
        changes()
    }
}

/// Fails where two pages would be locked in another order than that of all processes, which could wait for
/// each other for ever; or one page twice, by a process that would wait for itself: a damaged page could ask for
/// either.
pub fn expect_ascending(first: u32, second: u32) -> Result<()> {
    if first < second {
        return Ok(());
    }
    let message = format!("an index is corrupted: its block {first} leads to block {second}");
    Err(Error::new(ErrorKind::IndexCorrupted, message).hint("REINDEX the index."))
}

/// A row of the table: block and line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId {
    /// The number of the block.
    pub block: u32,
    /// The line pointer in it, from 1.
    pub line: u16,
}
