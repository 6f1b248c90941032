//! # watched: pages with something done before each look and each change, for tests.
//!
//! What is done can be another process's work, or fail as a cancel or a full disk would.

use super::ram::RamStore;
use super::{Page, Store, StoreMut};
use crate::error::Result;

/// How pages are to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageChange {
    /// One page or two that are there already.
    Write,
    /// A page is added.
    Append,
}

/// Pages in memory that are watched.
pub struct WatchedStore<'a> {
    store: &'a RamStore,
    before_read: Option<&'a dyn Fn()>,
    before_change: Option<&'a dyn Fn(PageChange) -> Result<()>>,
    blocks: Option<u32>,
}

impl<'a> WatchedStore<'a> {
    /// The pages of `store`, of which nobody is told anything yet.
    pub fn new(store: &'a RamStore) -> WatchedStore<'a> {
        WatchedStore { store, before_read: None, before_change: None, blocks: None }
    }

    /// Has something done before each look at a page.
    #[must_use]
    pub fn before_read(self, act: &'a dyn Fn()) -> WatchedStore<'a> {
        WatchedStore { before_read: Some(act), ..self }
    }

    /// Has something done before each change. Where it fails, nothing is changed.
    #[must_use]
    pub fn before_change(self, act: &'a dyn Fn(PageChange) -> Result<()>) -> WatchedStore<'a> {
        WatchedStore { before_change: Some(act), ..self }
    }

    /// Says that there are so many pages.
    #[must_use]
    pub fn saying(self, blocks: u32) -> WatchedStore<'a> {
        WatchedStore { blocks: Some(blocks), ..self }
    }

    fn change(&self, how: PageChange) -> Result<()> {
        self.before_change.map_or(Ok(()), |act| act(how))
    }
}

impl Store for WatchedStore<'_> {
    fn blocks(&self) -> Result<u32> {
        self.blocks.map_or_else(|| self.store.blocks(), Ok)
    }

    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        if let Some(act) = self.before_read {
            act();
        }
        self.store.read(block, look)
    }

    fn interrupted(&self) -> Result<()> {
        self.store.interrupted()
    }
}

impl StoreMut for WatchedStore<'_> {
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool> {
        self.change(PageChange::Write)?;
        self.store.write(block, change)
    }

    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool> {
        self.change(PageChange::Write)?;
        self.store.write_two(first, second, change)
    }

    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
        self.change(PageChange::Append)?;
        self.store.append(fill)
    }
}
