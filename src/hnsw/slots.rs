//! # slots: where is there room for one more node?
//!
//! Pages with a free slot are in a list of their kind, which begins in block 0. A page that turns out to be
//! full leaves it, and one in which a vacuum has freed a slot comes back.

use super::graph::kind_of;
use super::layout::BlockRole;
use super::page::{
    self, HnswMeta, HnswPageKind, IndexShape, NONE, NewNode, NodePlace, NodeState, RowId, SlotMut,
    free_slots, put_links,
};
use crate::error::Result;
use crate::pages::{Page, Store, StoreMut};

/// Reads the description of the index in block 0.
pub fn read_meta<S: Store>(store: &S) -> Result<HnswMeta> {
    store.read(0, HnswMeta::read)?
}

/// What a free slot is wanted for.
pub enum NewSlot<'a> {
    /// A node of the graph.
    Node(NewNode<'a>),
    /// A row that has no place in the graph.
    Loose(RowId, NodeState),
}

impl NewSlot<'_> {
    fn kind(&self) -> HnswPageKind {
        match self {
            NewSlot::Node(node) => kind_of(node.layer),
            NewSlot::Loose(..) => HnswPageKind::Loose,
        }
    }

    fn fill(&self, slot: &mut SlotMut<'_>) {
        match self {
            NewSlot::Node(node) => slot.fill(node),
            NewSlot::Loose(row, state) => slot.fill_loose(*row, *state),
        }
    }
}

/// Finds a free slot, fills it, and gives the number of its node.
pub fn occupy<S: StoreMut>(store: &S, shape: &IndexShape, new: &NewSlot<'_>) -> Result<u32> {
    let kind = new.kind();
    loop {
        store.interrupted()?;
        let block = read_meta(store)?.with_room[kind as usize];
        if block == NONE {
            if let Some(node) = occupy_new(store, shape, new)? {
                return Ok(node);
            }
            continue;
        }
        let slot = store.read(block, |page| free_slots(shape, page, kind).next())?;
        match slot {
            None => drop_from_list(store, shape, kind, block)?,
            Some(slot) => {
                // `None`: others have taken all the room meanwhile.
                if let Some(node) = fill(store, shape, NodePlace { block, slot }, new)? {
                    return Ok(node);
                }
            }
        }
    }
}

/// Fills a free slot of a page, and the links of a node on the ground with it: that of `place`, or another
/// whose links lie on the same page. Gives the number of its node.
fn fill<S: StoreMut>(
    store: &S,
    shape: &IndexShape,
    place: NodePlace,
    new: &NewSlot<'_>,
) -> Result<Option<u32>> {
    let kind = new.kind();
    let mut taken = None;
    let mut fill_slot = |page: &mut Page, slot: Option<u32>| {
        taken = slot;
        match slot.and_then(|slot| SlotMut::of(shape, page, kind, slot)) {
            Some(mut slot) => {
                new.fill(&mut slot);
                true
            }
            None => false,
        }
    };
    match new {
        NewSlot::Node(NewNode { layer: 0, neighbours, .. }) => {
            let list = |slot| shape.layout.links(NodePlace { slot, ..place });
            let Some(first) = list(place.slot) else {
                return Err(page::corrupt(place.block, "a page of nodes where none should be"));
            };
            store.write_two(first.block, place.block, |lists, page| {
                let mut free = free_slots(shape, page, kind)
                    .filter_map(|slot| Some((slot, list(slot)?)))
                    .filter(|(_, list)| list.block == first.block);
                let found = free.next();
                drop(free);
                let Some((slot, list)) = found else { return Ok(false) };
                if !put_links(shape, lists, list.slot, neighbours) {
                    return Err(page::corrupt(first.block, "it should hold links, and does not"));
                }
                Ok(fill_slot(page, Some(slot)))
            })?
        }
        _ => store.write(place.block, |page| {
            let slot = free_slots(shape, page, kind).next();
            Ok(fill_slot(page, slot))
        })?,
    };
    Ok(taken.map(|slot| shape.node(NodePlace { slot, ..place })))
}

/// Adds pages up to one with slots, and fills its first; `None` if that has not been left free.
fn occupy_new<S: StoreMut>(
    store: &S,
    shape: &IndexShape,
    new: &NewSlot<'_>,
) -> Result<Option<u32>> {
    let kind = new.kind();
    let block = loop {
        let block = store.append(|block, page| {
            page::initialise(
                page,
                match shape.layout.role(block) {
                    BlockRole::Column => HnswPageKind::Column,
                    BlockRole::Links => HnswPageKind::Links,
                    BlockRole::Data => kind,
                },
            );
        })?;
        if block > shape.most_blocks() {
            return Err(page::corrupt(block, "the index is too large for its node numbers"));
        }
        if shape.layout.role(block) == BlockRole::Data {
            break block;
        }
    };
    let node = fill(store, shape, NodePlace { block, slot: 0 }, new)?;
    if shape.slots(kind) > 1 {
        add_to_list(store, kind, block)?;
    }
    Ok(node)
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
                || is_kind && free_slots(shape, page, kind).next().is_some()
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
