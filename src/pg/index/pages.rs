//! The pages of an index: PostgreSQL's buffers, its locks and its log.
//!
//! What costs most in a walk is to find the buffer of a page. So each session remembers, for
//! each index it has used, in which buffer it last saw each page ([`BufferHints`]); whether the page
//! is still there is checked as it is pinned, so a stale hint costs a look-up and no more.

use std::cell::Cell;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use pgrx::prelude::*;

use super::buffer_hints::{BufferHints, count_hit, locator, prefetch_buffer};
use crate::error::{Error, ErrorKind, Result};
use crate::pages::{PAGE_SIZE, Page, Store, StoreMut, TRAILER_BYTES, Tour, expect_ascending};

const MAIN: pg_sys::ForkNumber::Type = pg_sys::ForkNumber::MAIN_FORKNUM;
const _: () = assert!(PAGE_SIZE == pg_sys::BLCKSZ as usize);

/// The pages of one index.
pub struct Pages {
    relation: pg_sys::Relation,
    hints: BufferHints,
    /// How many pages there were when that was asked last.
    known: Cell<u32>,
    /// The ring of buffers for pages that are read in passing; NULL where these are read as all others.
    ring: pg_sys::BufferAccessStrategy,
}

impl Pages {
    /// The pages of an index that stays open and locked meanwhile.
    ///
    /// # Safety
    ///
    /// `relation` is an open index.
    pub unsafe fn new(relation: pg_sys::Relation) -> Pages {
        // SAFETY: by this function's contract.
        let hints = unsafe { BufferHints::of(relation) };
        Pages { relation, hints, known: Cell::new(0), ring: std::ptr::null_mut() }
    }

    /// The pages of the index that VACUUM is to clean. What it reads in passing goes through the buffers that it has been
    /// given, and does not take the place of what sessions use.
    ///
    /// # Safety
    ///
    /// `info` is what PostgreSQL passes to ambulkdelete, and outlives what is returned.
    pub unsafe fn for_vacuum(info: *const pg_sys::IndexVacuumInfo) -> Pages {
        // SAFETY: by this function's contract.
        unsafe { Pages { ring: (*info).strategy, ..Pages::new((*info).index) } }
    }

    /// Whether there is such a page. That is a question to the system only where the page was added after the last
    /// such question, or a damaged page leads to it: an index in use does not shrink.
    fn has(&self, block: u32) -> bool {
        if block >= self.known.get() {
            // SAFETY: the relation is open.
            self.known.set(unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.relation, MAIN) });
        }
        block < self.known.get()
    }

    /// Fails where a damaged page leads to a block beyond the end, and where the end of the file is lost. PostgreSQL
    /// takes the highest number of a block for the wish that a page be added.
    fn check_has(&self, block: u32) -> Result<()> {
        if self.has(block) {
            return Ok(());
        }
        // SAFETY: the relation is open; its description has a name.
        let name = unsafe { CStr::from_ptr((*(*self.relation).rd_rel).relname.data.as_ptr()) };
        let name = name.to_string_lossy();
        let message = format!("index \"{name}\" is corrupted: it has no block {block}");
        Err(Error::new(ErrorKind::IndexCorrupted, message).hint("REINDEX the index."))
    }

    /// # Safety
    ///
    /// To be called in [`guarded`].
    unsafe fn look_at<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        // SAFETY: as in `pin`; the buffer is pinned, and under the lock the page does not change.
        unsafe {
            let file = locator(self.relation);
            let is_there = |hint: &i32| unguarded::ReadRecentBuffer(file, MAIN, block, *hint);
            let buffer = match self.hints.to_try(block).filter(is_there) {
                Some(buffer) => {
                    count_hit(self.relation);
                    buffer
                }
                None => {
                    self.check_has(block)?;
                    let buffer = unguarded::ReadBuffer(self.relation, block);
                    self.hints.remember(block, buffer);
                    buffer
                }
            };
            Ok(look_into(buffer, look))
        }
    }

    /// As [`look_at`](Self::look_at), without hints: a page that is found by one counts as used, and stays.
    ///
    /// # Safety
    ///
    /// To be called in [`guarded`].
    unsafe fn look_in_passing<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        self.check_has(block)?;
        let mode = pg_sys::ReadBufferMode::RBM_NORMAL;
        // SAFETY: the relation is open, and has the block; the ring lives as long as VACUUM.
        unsafe {
            let buffer = unguarded::ReadBufferExtended(self.relation, MAIN, block, mode, self.ring);
            Ok(look_into(buffer, look))
        }
    }

    fn pin(&self, block: u32) -> Result<Pinned> {
        // SAFETY: the relation is open; a hint is a buffer that once existed, and whether it
        // holds this page is what ReadRecentBuffer checks.
        unsafe {
            let file = locator(self.relation);
            let is_there = |hint: &i32| pg_sys::ReadRecentBuffer(file, MAIN, block, *hint);
            if let Some(buffer) = self.hints.to_try(block).filter(is_there) {
                count_hit(self.relation);
                return Ok(Pinned(buffer));
            }
            self.check_has(block)?;
            let buffer = pg_sys::ReadBuffer(self.relation, block);
            self.hints.remember(block, buffer);
            Ok(Pinned(buffer))
        }
    }

    /// Changes pages that are locked exclusively, in one record of the log.
    fn change<const N: usize>(
        &self,
        buffers: [pg_sys::Buffer; N],
        change: impl FnOnce([&mut Page; N]) -> Result<bool>,
    ) -> Result<bool> {
        // SAFETY: the buffers are pinned and locked, and differ; GenericXLogRegisterBuffer
        // gives a private copy of each page, which lives until Finish or Abort.
        unsafe {
            let record = pg_sys::GenericXLogStart(self.relation);
            let pages = buffers.map(|buffer| {
                let is_new = is_new(&*pg_sys::BufferGetPage(buffer).cast::<Page>());
                let flags = if is_new { pg_sys::GENERIC_XLOG_FULL_IMAGE as i32 } else { 0 };
                let page = pg_sys::GenericXLogRegisterBuffer(record, buffer, flags);
                let page = &mut *page.cast::<Page>();
                if is_new {
                    prepare(page);
                }
                page
            });
            let outcome = change(pages);
            match outcome {
                Ok(true) => drop(pg_sys::GenericXLogFinish(record)),
                _ => pg_sys::GenericXLogAbort(record),
            }
            outcome
        }
    }

    /// Changes a page of an index that no other session sees yet, without logging it. A change that
    /// fails may be half done.
    pub fn write_unlogged(
        &self,
        block: u32,
        change: impl FnOnce(&mut Page) -> Result<bool>,
    ) -> Result<bool> {
        let pinned = self.pin(block)?;
        pinned.lock();
        let outcome = pinned.change_unlogged(change);
        pinned.unlock();
        outcome
    }

    /// Adds a page as [`StoreMut::append`] does, without logging it.
    pub fn append_unlogged(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
        let pinned = extend(self.relation, MAIN);
        // SAFETY: the buffer is pinned.
        let block = unsafe { pg_sys::BufferGetBlockNumber(pinned.0) };
        let outcome = pinned.change_unlogged(|page| {
            fill(block, page);
            Ok(true)
        });
        pinned.unlock();
        self.hints.remember(block, pinned.0);
        outcome.map(|_| block)
    }
}

impl Store for Pages {
    fn blocks(&self) -> Result<u32> {
        // SAFETY: the relation is open.
        Ok(unsafe { pg_sys::RelationGetNumberOfBlocksInFork(self.relation, MAIN) })
    }

    fn read<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        // SAFETY: what is called here owns nothing that a jump would leave behind.
        unsafe { guarded(|| self.look_at(block, look)) }
    }

    fn read_in_passing<T>(&self, block: u32, look: impl FnOnce(&Page) -> T) -> Result<T> {
        // SAFETY: as above.
        unsafe { guarded(|| self.look_in_passing(block, look)) }
    }

    fn read_each(&self, tour: &mut impl Tour) -> Result<()> {
        // SAFETY: as above.
        unsafe {
            guarded(|| {
                let mut place = 0;
                while place < tour.places() {
                    let block = tour.block(place);
                    tour.approach(place);
                    self.look_at(block, |page| {
                        tour.look(place, page);
                        place += 1;
                        // What lies on the same page is had for less.
                        while place < tour.places() && tour.block(place) == block {
                            tour.approach(place);
                            tour.look(place, page);
                            place += 1;
                        }
                    })?;
                }
                Ok(())
            })
        }
    }

    fn prefetch(&self, block: u32, offset: usize, bytes: usize) {
        if let Some(hint) = self.hints.get(block) {
            prefetch_buffer(hint, offset, bytes);
        } else if self.has(block) {
            // SAFETY: the relation is open and has this block.
            unsafe { pg_sys::PrefetchBuffer(self.relation, MAIN, block) };
        }
    }

    fn interrupted(&self) -> Result<()> {
        check_for_interrupts!();
        Ok(())
    }
}

impl StoreMut for Pages {
    fn write(&self, block: u32, change: impl FnOnce(&mut Page) -> Result<bool>) -> Result<bool> {
        let pinned = self.pin(block)?;
        pinned.lock();
        let outcome = self.change([pinned.0], |[page]| change(page));
        pinned.unlock();
        outcome
    }

    fn write_two(
        &self,
        first: u32,
        second: u32,
        change: impl FnOnce(&mut Page, &mut Page) -> Result<bool>,
    ) -> Result<bool> {
        expect_ascending(first, second)?;
        let (one, two) = (self.pin(first)?, self.pin(second)?);
        one.lock();
        two.lock();
        let outcome = self.change([one.0, two.0], |[first, second]| change(first, second));
        two.unlock();
        one.unlock();
        outcome
    }

    fn append(&self, fill: impl FnOnce(u32, &mut Page)) -> Result<u32> {
        let pinned = extend(self.relation, MAIN);
        // SAFETY: the buffer is pinned.
        let block = unsafe { pg_sys::BufferGetBlockNumber(pinned.0) };
        let outcome = self.change([pinned.0], |[page]| {
            fill(block, page);
            Ok(true)
        });
        pinned.unlock();
        self.hints.remember(block, pinned.0);
        outcome.map(|_| block)
    }

    fn together<T>(&self, changes: impl FnOnce() -> Result<T>) -> Result<T> {
        let _held = HeldInterrupts::new();
        changes()
    }
}

/// Cancels and terminations wait until this is dropped, as with `HOLD_INTERRUPTS`.
struct HeldInterrupts {
    before: u32,
}

impl HeldInterrupts {
    fn new() -> HeldInterrupts {
        // SAFETY: a backend's own counter, read and written by its only thread.
        unsafe {
            let before = pg_sys::InterruptHoldoffCount;
            pg_sys::InterruptHoldoffCount = before + 1;
            HeldInterrupts { before }
        }
    }
}

impl Drop for HeldInterrupts {
    fn drop(&mut self) {
        // SAFETY: as above. An error of PostgreSQL's has set the counter to zero.
        unsafe { pg_sys::InterruptHoldoffCount = pg_sys::InterruptHoldoffCount.min(self.before) };
    }
}

/// PostgreSQL's functions as they are. pgrx makes each call of one a point that an error jumps
/// to, which takes longer than what these do.
mod unguarded {
    use super::pg_sys;
    use crate::pg::index::buffer_hints::Locator;

    unsafe extern "C-unwind" {
        pub fn ReadRecentBuffer(
            locator: Locator,
            fork: pg_sys::ForkNumber::Type,
            block: u32,
            recent: pg_sys::Buffer,
        ) -> bool;
        pub fn ReadBuffer(relation: pg_sys::Relation, block: u32) -> pg_sys::Buffer;
        pub fn ReadBufferExtended(
            relation: pg_sys::Relation,
            fork: pg_sys::ForkNumber::Type,
            block: u32,
            mode: pg_sys::ReadBufferMode::Type,
            strategy: pg_sys::BufferAccessStrategy,
        ) -> pg_sys::Buffer;
        pub fn LockBuffer(buffer: pg_sys::Buffer, mode: i32);
        pub fn ReleaseBuffer(buffer: pg_sys::Buffer);
    }
}

/// Looks at the page in a buffer, and gives the buffer back.
///
/// # Safety
///
/// The buffer is pinned. To be called in [`guarded`].
#[inline]
unsafe fn look_into<T>(buffer: pg_sys::Buffer, look: impl FnOnce(&Page) -> T) -> T {
    // SAFETY: by this function's contract; under the lock the page does not change.
    unsafe {
        unguarded::LockBuffer(buffer, pg_sys::BUFFER_LOCK_SHARE as i32);
        let found = look(&*pg_sys::BufferGetPage(buffer).cast::<Page>());
        unguarded::LockBuffer(buffer, pg_sys::BUFFER_LOCK_UNLOCK as i32);
        unguarded::ReleaseBuffer(buffer);
        found
    }
}

/// Runs what calls functions of PostgreSQL that pgrx does not guard, as those of [`unguarded`]: one
/// point for all of them that errors jump to, and from which they unwind.
///
/// # Safety
///
/// Where `act` calls such a function, no frame up to here owns anything that is to be dropped.
pub unsafe fn guarded<T>(act: impl FnOnce() -> T) -> T {
    // A panic may not pass the point, because PostgreSQL would go on jumping there.
    let act = || catch_unwind(AssertUnwindSafe(act));
    // SAFETY: by this function's contract.
    let outcome = unsafe { pg_sys::submodules::ffi::pg_guard_ffi_boundary(act) };
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}

/// A buffer that is pinned. Errors of PostgreSQL unwind through it; then the end of the
/// transaction releases pin and lock.
pub(super) struct Pinned(pg_sys::Buffer);

impl Pinned {
    fn lock(&self) {
        // SAFETY: the buffer is pinned.
        unsafe { pg_sys::LockBuffer(self.0, pg_sys::BUFFER_LOCK_EXCLUSIVE as i32) };
    }

    /// Gives the lock back, and keeps the pin.
    pub(super) fn unlock(&self) {
        // SAFETY: the buffer is pinned and locked.
        unsafe { pg_sys::LockBuffer(self.0, pg_sys::BUFFER_LOCK_UNLOCK as i32) };
    }

    /// Changes the page, which is locked, in its place.
    pub(super) fn change_unlogged(
        &self,
        change: impl FnOnce(&mut Page) -> Result<bool>,
    ) -> Result<bool> {
        // SAFETY: the buffer is pinned and locked exclusively.
        unsafe {
            let page = &mut *pg_sys::BufferGetPage(self.0).cast::<Page>();
            if is_new(page) {
                prepare(page);
            }
            let outcome = change(page);
            pg_sys::MarkBufferDirty(self.0);
            outcome
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the buffer is pinned, and not locked any more.
            unsafe { pg_sys::ReleaseBuffer(self.0) };
        }
    }
}

/// A new page at the end of a fork, locked exclusively.
pub(super) fn extend(relation: pg_sys::Relation, fork: pg_sys::ForkNumber::Type) -> Pinned {
    const NEW: u32 = u32::MAX;
    // SAFETY: the relation is open; the lock on extension is held around P_NEW.
    unsafe {
        pg_sys::LockRelationForExtension(relation, pg_sys::ExclusiveLock as i32);
        let buffer = pg_sys::ReadBufferExtended(
            relation,
            fork,
            NEW,
            pg_sys::ReadBufferMode::RBM_NORMAL,
            std::ptr::null_mut(),
        );
        let pinned = Pinned(buffer);
        pinned.lock();
        pg_sys::UnlockRelationForExtension(relation, pg_sys::ExclusiveLock as i32);
        pinned
    }
}

/// PostgreSQL's PageIsNew: a page that was added and has nothing on it yet.
fn is_new(page: &Page) -> bool {
    let header = page.as_ptr().cast::<pg_sys::PageHeaderData>();
    // SAFETY: the page is as long as a header and more, and buffers are aligned.
    unsafe { (*header).pd_upper == 0 }
}

/// Makes a page one of PostgreSQL's, all of which is in use: what lies between pd_lower and
/// pd_upper is not logged.
fn prepare(page: &mut Page) {
    let size = pg_sys::BLCKSZ as usize;
    // SAFETY: the page is as long as it says, and its header is initialised by PageInit.
    unsafe {
        let page = page.as_mut_ptr().cast();
        pg_sys::PageInit(page, size, TRAILER_BYTES);
        let header = page.cast::<pg_sys::PageHeaderData>();
        (*header).pd_lower = (*header).pd_upper;
    }
}
