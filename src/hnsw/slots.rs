//! # slots: where is there room for one more node?
//!
//! Pages with a free slot are in a list of their kind, which begins in block 0. A page that turns out to be
//! full leaves it, and one in which a vacuum has freed a slot comes back.

use super::page::{self, HnswMeta, HnswPageKind, IndexShape, NONE, NodePlace, SlotMut, free_slot};
use crate::error::Result;
use crate::pages::{Page, Store, StoreMut};

/// Reads the description of the index in block 0.
pub fn read_meta<S: Store>(store: &S) -> Result<HnswMeta> {
    store.read(0, HnswMeta::read)?
}

/// Finds a free slot of `kind`, has it filled, and gives the number of its node.
pub fn occupy<S: StoreMut>(
    store: &S,
    shape: &IndexShape,
    kind: HnswPageKind,
    fill: &dyn Fn(&mut SlotMut<'_>),
) -> Result<u32> {
    loop {
        store.interrupted()?;
        let block = read_meta(store)?.with_room[kind as usize];
        if block == NONE {
            return occupy_new(store, shape, kind, fill);
        }
        let mut taken = None;
        store.write(block, |page| {
            taken = free_slot(shape, page, kind);
            fill_slot(shape, page, kind, taken, fill)
        })?;
        if let Some(slot) = taken {
            return Ok(shape.node(NodePlace { block, slot }));
        }
        drop_from_list(store, shape, kind, block)?;
    }
}

fn fill_slot(
    shape: &IndexShape,
    page: &mut Page,
    kind: HnswPageKind,
    slot: Option<u32>,
    fill: &dyn Fn(&mut SlotMut<'_>),
) -> Result<bool> {
    match slot.and_then(|slot| SlotMut::of(shape, page, kind, slot)) {
        Some(mut slot) => {
            fill(&mut slot);
            Ok(true)
        }
        None => Ok(false),
    }
}

fn occupy_new<S: StoreMut>(
    store: &S,
    shape: &IndexShape,
    kind: HnswPageKind,
    fill: &dyn Fn(&mut SlotMut<'_>),
) -> Result<u32> {
    let block = loop {
        let block = store.append(|block, page| match shape.is_column(block) {
            true => page::initialise(page, HnswPageKind::Column),
            false => {
                page::initialise(page, kind);
                if let Some(mut slot) = SlotMut::of(shape, page, kind, 0) {
                    fill(&mut slot);
                }
            }
        })?;
        if block > shape.most_blocks() {
            return Err(page::corrupt(block, "the index is too large for its node numbers"));
        }
        if !shape.is_column(block) {
            break block;
        }
    };
    if shape.slots(kind) > 1 {
        add_to_list(store, kind, block)?;
    }
    Ok(shape.node(NodePlace { block, slot: 0 }))
}

/// Puts a page into the list of those with room.
pub fn add_to_list<S: StoreMut>(store: &S, kind: HnswPageKind, block: u32) -> Result<()> {
    store
        .write_two(0, block, |first, page| {
            if page::is_listed(page) {
                return Ok(false);
            }
            let mut meta = HnswMeta::read(first)?;
            page::list(page, meta.with_room[kind as usize]);
            meta.with_room[kind as usize] = block;
            meta.write(first);
            Ok(true)
        })
        .map(drop)
}

/// Takes a full page out of the list, if it is still its first and still full.
fn drop_from_list<S: StoreMut>(
    store: &S,
    shape: &IndexShape,
    kind: HnswPageKind,
    block: u32,
) -> Result<()> {
    store
        .write_two(0, block, |first, page| {
            let mut meta = HnswMeta::read(first)?;
            let is_kind = page::kind(page) == Some(kind);
            if meta.with_room[kind as usize] != block
                || is_kind && free_slot(shape, page, kind).is_some()
            {
                return Ok(false);
            }
            // A page of another kind has no business here: the list ends before it.
            meta.with_room[kind as usize] = if is_kind { page::unlist(page) } else { NONE };
            meta.write(first);
            Ok(true)
        })
        .map(drop)
}
