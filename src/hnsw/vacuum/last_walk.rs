//! # last walk: has a node come since all ways were looked at?
//!
//! ```text
//! (where the next node comes to, where it came to then) → whether nothing can have lost its way
//! ```
//!
//! A node loses its way to inserts that are cut short or cross each other, and to a vacuum. To look at all ways,
//! a vacuum reads the whole index; where no node has come since it last did, it need not.
//!
//! An insert writes nothing for that. Its node comes to the first page with free slots, or to a page that it
//! adds. So afterwards there are more pages, or that page has fewer free slots or is not the first any more:
//! one that is full leaves the list, and comes back only if a vacuum frees a slot. Block 0 remembers how it was
//! while no insert was under way, just before the ways were looked at. A vacuum that frees slots forgets it
//! first.

use super::super::page::{self, HnswPageKind, IndexShape, NONE, free_slots, get_u32, put_u32};
use crate::error::Result;
use crate::pages::{Page, Store, StoreMut};

/// Where block 0 remembers it: behind all else that it says.
const PLACE: usize = size_of::<page::MetaBytes>();

/// Where the next node comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextRoom {
    /// Pages of the index; 0 where nothing is remembered.
    blocks: u32,
    /// The first page with free slots of the ground, [`NONE`] if there is none.
    first: u32,
    /// Its free slots.
    free: u32,
}

impl NextRoom {
    /// As it is now; `None` where that can't be relied on.
    pub fn now<S: Store>(store: &S, shape: &IndexShape) -> Result<Option<NextRoom>> {
        let (blocks, kind) = (store.blocks()?, HnswPageKind::Ground);
        let first = store.read(0, |page| page::with_room(page, kind))??;
        // A page that was added and never written may be gone after a crash, and its number be given again.
        let last = blocks.saturating_sub(1);
        let is_written = store.read(last, |page| page::kind(page).is_some())?;
        if first >= blocks || !is_written {
            return Ok(None);
        }
        let free = match first {
            NONE => 0,
            _ => store.read(first, |page| free_slots(shape, page, kind).count() as u32)?,
        };
        Ok(Some(NextRoom { blocks, first, free }))
    }

    /// As it was before all ways were looked at; `None` if they never were, or slots may have been freed since.
    pub fn remembered<S: Store>(store: &S) -> Result<Option<NextRoom>> {
        let room = store.read(0, NextRoom::get)?;
        Ok((room != NextRoom::default()).then_some(room))
    }

    fn get(first: &Page) -> NextRoom {
        let [blocks, first, free] = [0, 4, 8].map(|offset| get_u32(first, PLACE + offset));
        NextRoom { blocks, first, free }
    }
}

/// Has block 0 remember this, or nothing.
pub fn remember<S: StoreMut>(store: &S, room: Option<NextRoom>) -> Result<()> {
    let room = room.unwrap_or_default();
    store
        .write(0, |first| {
            // Fails where this is no block 0 of ours.
            page::with_room(first, HnswPageKind::Ground)?;
            let is_new = NextRoom::get(first) != room;
            for (place, number) in [room.blocks, room.first, room.free].into_iter().enumerate() {
                put_u32(first, PLACE + 4 * place, number);
            }
            Ok(is_new)
        })
        .map(drop)
}
