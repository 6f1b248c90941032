//! In which buffer has this session last seen a page of an index?
//!
//! A page that is pinned by such a hint is found without the table of buffers, and PostgreSQL does
//! not notice the use: the clock that looks for buffers to be given away would take the busiest
//! pages for unused ones. So now and then a page is looked up in the ordinary way, less often while no page has
//! been seen to move.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use pgrx::prelude::*;

use crate::pages::PAGE_SIZE;
use crate::vector::prefetch::prefetch;

/// Indexes whose hints a session keeps.
const MOST_INDEXES: usize = 64;
/// One in so many looks at pages is an ordinary one: where buffers are given away, and where none has been for
/// [`CALM`] looks.
const ORDINARY: u32 = 16;
const ORDINARY_IN_CALM: u32 = 128;
const CALM: u32 = 20_000;

/// Where a session has seen the pages of an index.
#[derive(Default)]
struct SeenPages {
    /// By block; 0 where nothing is known.
    buffers: RefCell<Vec<pg_sys::Buffer>>,
    /// Looks at pages since one was found in another buffer than before.
    calm: Cell<u32>,
}

/// The hints of an index.
pub struct BufferHints(Rc<SeenPages>);

impl BufferHints {
    /// The hints of a relation, by the file it is in: REINDEX and TRUNCATE change that.
    ///
    /// # Safety
    ///
    /// `relation` is open.
    pub unsafe fn of(relation: pg_sys::Relation) -> BufferHints {
        thread_local! {
            static KNOWN: RefCell<HashMap<(u32, u32, u32), Rc<SeenPages>>> = RefCell::default();
        }
        // SAFETY: by this function's contract.
        let (locator, persistence) =
            unsafe { (locator(relation), (*(*relation).rd_rel).relpersistence) };
        // A permanent relation may have a file of the same number, in buffers that this one has not.
        if persistence as u8 == pg_sys::RELPERSISTENCE_TEMP {
            return BufferHints(Rc::default());
        }
        #[cfg(feature = "pg15")]
        let file = (locator.spcNode.to_u32(), locator.dbNode.to_u32(), locator.relNode.to_u32());
        #[cfg(not(feature = "pg15"))]
        let file = (locator.spcOid.to_u32(), locator.dbOid.to_u32(), locator.relNumber.to_u32());
        let seen = KNOWN.with_borrow_mut(|all| {
            if all.len() >= MOST_INDEXES && !all.contains_key(&file) {
                all.clear();
            }
            Rc::clone(all.entry(file).or_default())
        });
        BufferHints(seen)
    }

    /// The buffer in which a page was seen last.
    pub fn get(&self, block: u32) -> Option<pg_sys::Buffer> {
        self.0.buffers.borrow().get(block as usize).copied().filter(|buffer| *buffer > 0)
    }

    /// The buffer to try before an ordinary lookup of a page. `None` where none is known, and where the
    /// look is to be an ordinary one.
    pub fn to_try(&self, block: u32) -> Option<pg_sys::Buffer> {
        let looks = self.0.calm.get().wrapping_add(1);
        self.0.calm.set(looks);
        let ordinary = if looks > CALM { ORDINARY_IN_CALM } else { ORDINARY };
        if looks.is_multiple_of(ordinary) { None } else { self.get(block) }
    }

    /// Local buffers, which temporary tables have, are cheap to find.
    pub fn remember(&self, block: u32, buffer: pg_sys::Buffer) {
        if buffer > 0 {
            let mut buffers = self.0.buffers.borrow_mut();
            let block = block as usize;
            if block >= buffers.len() {
                buffers.resize((block + 1).next_multiple_of(256), 0);
            }
            if buffers[block] != buffer {
                buffers[block] = buffer;
                self.0.calm.set(0);
            }
        }
    }
}

#[cfg(feature = "pg15")]
pub type Locator = pg_sys::RelFileNode;
#[cfg(not(feature = "pg15"))]
pub type Locator = pg_sys::RelFileLocator;

/// The file of a relation.
///
/// # Safety
///
/// `relation` is open.
pub unsafe fn locator(relation: pg_sys::Relation) -> Locator {
    // SAFETY: by this function's contract.
    unsafe {
        #[cfg(feature = "pg15")]
        return (*relation).rd_node;
        #[cfg(not(feature = "pg15"))]
        return (*relation).rd_locator;
    }
}

/// Counts a page that was found by a hint in the statistics of its relation, as PostgreSQL counts one that it finds in
/// its table of buffers. VACUUM's pauses do not count it: lists of neighbours are looked at again and again while they are
/// mended, which moves nothing to or from a disk. What VACUUM reads in passing is counted there.
///
/// # Safety
///
/// `relation` is open.
#[inline]
pub unsafe fn count_hit(relation: pg_sys::Relation) {
    // SAFETY: by this function's contract; the statistics of an open relation are there as long as it is, or NULL.
    let Some(statistics) = (unsafe { (*relation).pgstat_info.as_mut() }) else { return };
    #[cfg(feature = "pg15")]
    {
        statistics.t_counts.t_blocks_fetched += 1;
        statistics.t_counts.t_blocks_hit += 1;
    }
    #[cfg(not(feature = "pg15"))]
    {
        statistics.counts.blocks_fetched += 1;
        statistics.counts.blocks_hit += 1;
    }
}

/// Has the processor fetch what a walk will read of a page: the buffer's descriptor, and
/// `bytes` from `offset` on.
pub fn prefetch_buffer(buffer: pg_sys::Buffer, offset: usize, bytes: usize) {
    let index = buffer as usize - 1;
    // SAFETY: the addresses lie within the buffer pool, because hints are numbers of its
    // buffers, from 1.
    let (descriptor, start) = unsafe {
        let descriptor = pg_sys::BufferDescriptors.add(index).cast::<u8>();
        (descriptor, pg_sys::BufferBlocks.add(index * PAGE_SIZE + offset).cast::<u8>())
    };
    prefetch(descriptor, 1);
    prefetch(start, bytes.min(PAGE_SIZE - offset));
}
