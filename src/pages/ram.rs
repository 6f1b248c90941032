//! # ram: pages in memory, for tests and benchmarks.

use super::{PAGE_SIZE, Page, Store, StoreMut, expect_ascending};
use crate::error::{Error, ErrorKind, Result};
use std::sync::{PoisonError, RwLock};

/// A growing row of pages, each with a lock of its own.
#[derive(Default)]
pub struct RamStore {
    pages: RwLock<Vec<RwLock<Box<Page>>>>,
}

impl RamStore {
    fn with<T>(&self, block: u32, act: impl FnOnce(&RwLock<Box<Page>>) -> T) -> Result<T> {
        let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
        page_of(&pages, block).map(act)
    }
}

fn page_of(pages: &[RwLock<Box<Page>>], block: u32) -> Result<&RwLock<Box<Page>>> {
    pages
        .get(block as usize)
        .ok_or_else(|| Error::new(ErrorKind::IndexCorrupted, format!("there is no block {block}")))
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
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool> {
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
        expect_ascending(first, second)?;
        // Once for both: a thread that waits to append would come between two.
        let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
        let (one, two) = (page_of(&pages, first)?, page_of(&pages, second)?);
        let mut one = one.write().unwrap_or_else(PoisonError::into_inner);
        let mut two = two.write().unwrap_or_else(PoisonError::into_inner);
        let (mut copy_one, mut copy_two) = (one.clone(), two.clone());
        let changed = change(&mut copy_one, &mut copy_two)?;
        if changed {
            (*one, *two) = (copy_one, copy_two);
        }
        Ok(changed)
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
