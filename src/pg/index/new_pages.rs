//! The pages of an index that is being built, and of a file beside it.

use std::cell::Cell;

use pgrx::prelude::*;

use super::pages::{Pages, extend};
use crate::error::{Error, ErrorKind, Result};
use crate::pages::{HEADER_BYTES, PAGE_SIZE, Page, Store, StoreMut, expect_ascending};

/// PostgreSQL's InvalidSubTransactionId.
const NO_SUBTRANSACTION: u32 = 0;

/// Pages of an index that no other session sees yet. Changes are not logged one by one, but all
/// pages in the end.
pub struct NewPages {
    relation: pg_sys::Relation,
    pages: Pages,
}

impl NewPages {
    /// # Safety
    ///
    /// `relation` is an open index that no other session sees yet, and whose main fork is empty.
    pub unsafe fn new(relation: pg_sys::Relation) -> NewPages {
        // SAFETY: by this function's contract.
        unsafe { NewPages { relation, pages: Pages::new(relation) } }
    }

    /// Logs what was written, if the index is one whose changes are logged.
    pub fn log(&self) {
        // SAFETY: by the contract of `new`.
        unsafe { PageWriter::new(self.relation, pg_sys::ForkNumber::MAIN_FORKNUM) }.log();
    }
}

impl Store for NewPages {
    fn blocks(&self) -> Result<u32> {
        self.pages.blocks()
    }

    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.pages.read(block, look)
    }

    fn interrupted(&self) -> Result<()> {
        self.pages.interrupted()
    }
}

/// A change that fails leaves a page half changed: then the build has failed, and with it goes the
/// page.
impl StoreMut for NewPages {
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool> {
        self.pages.write_unlogged(block, change)
    }

    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool> {
        expect_ascending(first, second)?;
        self.write(first, |one| self.write(second, |two| change(one, two)))
    }

    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
        self.pages.append_unlogged(fill)
    }
}

/// Pages in a temporary file, which goes with the transaction if not before.
pub struct TemporaryPages {
    file: *mut pg_sys::BufFile,
    blocks: Cell<u32>,
}

impl TemporaryPages {
    /// An empty temporary file.
    pub fn new() -> TemporaryPages {
        // SAFETY: called in a transaction.
        TemporaryPages { file: unsafe { pg_sys::BufFileCreateTemp(false) }, blocks: Cell::new(0) }
    }

    fn go_to(&self, block: u32) -> Result<()> {
        // SAFETY: the file is open.
        match unsafe { pg_sys::BufFileSeekBlock(self.file, block.into()) } {
            0 => Ok(()),
            _ => Err(unreadable(block)),
        }
    }

    fn put(&self, block: u32, page: &mut Page) -> Result<()> {
        self.go_to(block)?;
        // SAFETY: the page is as long as it says. It is only read, whatever the type says.
        unsafe { pg_sys::BufFileWrite(self.file, page.as_mut_ptr().cast(), PAGE_SIZE) };
        Ok(())
    }

    fn get(&self, block: u32) -> Result<Box<Page>> {
        if block >= self.blocks.get() {
            return Err(unreadable(block));
        }
        self.go_to(block)?;
        let mut page = Box::new([0; PAGE_SIZE]);
        // SAFETY: as above.
        let bytes = unsafe { pg_sys::BufFileRead(self.file, page.as_mut_ptr().cast(), PAGE_SIZE) };
        if bytes == PAGE_SIZE { Ok(page) } else { Err(unreadable(block)) }
    }
}

fn unreadable(block: u32) -> Error {
    Error::new(
        ErrorKind::OutOfResources,
        format!("block {block} of a temporary file can't be read"),
    )
}

impl Drop for TemporaryPages {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: it is open. After an error it goes with the transaction's resources.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}

impl Store for TemporaryPages {
    fn blocks(&self) -> Result<u32> {
        Ok(self.blocks.get())
    }

    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        Ok(look(&*self.get(block)?))
    }

    fn interrupted(&self) -> Result<()> {
        check_for_interrupts!();
        Ok(())
    }
}

impl StoreMut for TemporaryPages {
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool> {
        let mut page = self.get(block)?;
        let is_changed = change(&mut page)?;
        if is_changed {
            self.put(block, &mut page)?;
        }
        Ok(is_changed)
    }

    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool> {
        expect_ascending(first, second)?;
        let (mut one, mut two) = (self.get(first)?, self.get(second)?);
        let is_changed = change(&mut one, &mut two)?;
        if is_changed {
            self.put(first, &mut one)?;
            self.put(second, &mut two)?;
        }
        Ok(is_changed)
    }

    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
        let block = self.blocks.get();
        let mut page = Box::new([0; PAGE_SIZE]);
        fill(block, &mut page);
        self.put(block, &mut page)?;
        self.blocks.set(block + 1);
        Ok(block)
    }
}

/// Writes the pages of a new index, from block 0 on, without logging them.
pub struct PageWriter {
    relation: pg_sys::Relation,
    fork: pg_sys::ForkNumber::Type,
}

impl PageWriter {
    /// # Safety
    ///
    /// `relation` is an open index that no other session sees yet, and whose fork is empty.
    pub unsafe fn new(relation: pg_sys::Relation, fork: pg_sys::ForkNumber::Type) -> PageWriter {
        PageWriter { relation, fork }
    }

    /// Adds a page at the end.
    pub fn push(&self, page: &Page) -> Result<()> {
        let pinned = extend(self.relation, self.fork);
        let outcome = pinned.change_unlogged(|new| {
            new[HEADER_BYTES..].copy_from_slice(&page[HEADER_BYTES..]);
            Ok(true)
        });
        pinned.unlock();
        outcome.map(drop)
    }

    /// Logs all pages, if the index is one whose changes are logged. The INIT fork always is.
    pub fn log(&self) {
        let is_init = self.fork == pg_sys::ForkNumber::INIT_FORKNUM;
        // SAFETY: the relation is open, and no other process changes its pages meanwhile.
        unsafe {
            if is_init || needs_log(self.relation) {
                let blocks = pg_sys::RelationGetNumberOfBlocksInFork(self.relation, self.fork);
                pg_sys::log_newpage_range(self.relation, self.fork, 0, blocks, true);
            }
        }
    }
}

/// PostgreSQL's RelationNeedsWAL.
///
/// # Safety
///
/// `relation` is open.
unsafe fn needs_log(relation: pg_sys::Relation) -> bool {
    // SAFETY: by this function's contract.
    unsafe {
        let is_permanent =
            (*(*relation).rd_rel).relpersistence == pg_sys::RELPERSISTENCE_PERMANENT as i8;
        let is_new = (*relation).rd_createSubid != NO_SUBTRANSACTION || {
            #[cfg(feature = "pg15")]
            let first = (*relation).rd_firstRelfilenodeSubid;
            #[cfg(not(feature = "pg15"))]
            let first = (*relation).rd_firstRelfilelocatorSubid;
            first != NO_SUBTRANSACTION
        };
        let is_logical_enough = pg_sys::wal_level >= pg_sys::WalLevel::WAL_LEVEL_REPLICA as i32;
        is_permanent && (is_logical_enough || !is_new)
    }
}
