//! # meanwhile: who flushes while a vacuum writes large segments?
//!
//! ```text
//! a look whether to stop → pending documents that have become too many are a segment
//! ```
//!
//! While a vacuum holds the structure lock, no session can flush, and each search reads the whole pending
//! list. So the vacuum flushes it, wherever it looks whether to stop. It holds no page there, and what it
//! is reading does not change: a flush adds segments, and merges only such as are not busy. Pages that the
//! vacuum has written and not yet published are in no chain, and only `sweep` takes these for lost.
//!
//! Sessions may insert as fast as the vacuum flushes, which would then come no further. So for each page that
//! a flush has changed the vacuum looks once before the next flush: at least half of the work is its own. If
//! more is inserted than that, the list grows, and the vacuum ends.

use std::cell::Cell;

use super::flush::{flush_pending, has_room_to_flush, merge_quick};
use super::page::read_meta;
use super::pending::DUE;
use crate::error::Result;
use crate::pages::{Page, Store, StoreMut};

/// How a vacuum shares its time with the flushes meanwhile.
#[derive(Debug, Default)]
pub struct VacuumShare {
    /// Whether a flush is under way.
    is_flushing: Cell<bool>,
    /// Looks of the vacuum before the next flush.
    owed: Cell<u32>,
}

impl VacuumShare {
    /// Counts a change that is about to be made.
    fn count_change(&self) {
        if self.is_flushing.get() {
            self.owed.set(self.owed.get().saturating_add(1));
        }
    }

    /// Counts a look. Whether a flush may begin.
    fn may_flush(&self) -> bool {
        if self.is_flushing.get() {
            return false;
        }
        let owed = self.owed.get();
        self.owed.set(owed.saturating_sub(1));
        owed == 0
    }
}

/// The pages of an index whose pending list is flushed meanwhile.
pub struct FlushedMeanwhile<'a, S> {
    /// The pages.
    pub store: &'a S,
    /// The numbers of segments that no other may take the place of meanwhile.
    pub busy: &'a [u64],
    /// One for all that a vacuum does in a row.
    pub share: &'a VacuumShare,
}

impl<S: StoreMut> FlushedMeanwhile<'_, S> {
    /// Makes a segment of the pending documents, and merges small ones, where a session that inserts would.
    fn flush_if_due(&self) -> Result<()> {
        if read_meta(self.store)?.pending.pages < DUE {
            return Ok(());
        }
        self.share.is_flushing.set(true);
        let outcome = self.flush();
        self.share.is_flushing.set(false);
        outcome
    }

    fn flush(&self) -> Result<()> {
        if !has_room_to_flush(&read_meta(self.store)?) {
            merge_quick(self, self.busy)?;
            if !has_room_to_flush(&read_meta(self.store)?) {
                return Ok(());
            }
        }
        flush_pending(self)?;
        merge_quick(self, self.busy)
    }
}

impl<S: StoreMut> Store for FlushedMeanwhile<'_, S> {
    fn blocks(&self) -> Result<u32> {
        self.store.blocks()
    }

    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.store.read(block, look)
    }

    fn read_in_passing<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.store.read_in_passing(block, look)
    }

    fn interrupted(&self) -> Result<()> {
        self.store.interrupted()?;
        match self.share.may_flush() {
            true => self.flush_if_due(),
            false => Ok(()),
        }
    }
}

impl<S: StoreMut> StoreMut for FlushedMeanwhile<'_, S> {
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool> {
        self.share.count_change();
        self.store.write(block, change)
    }

    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool> {
        self.share.count_change();
        self.store.write_two(first, second, change)
    }

    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
        self.share.count_change();
        self.store.append(fill)
    }
}
