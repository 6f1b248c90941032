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
    HnswMeta::of(&store.read(0, page::meta_bytes)?)
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
        let block = store.read(0, |first| page::with_room(first, kind))??;
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

/// Adds pages up to one with slots, and fills one of these; `None` if none has been left free. The page is listed before it
/// is filled: nothing that comes in between loses its other slots.
fn occupy_new<S: StoreMut>(
    store: &S,
    shape: &IndexShape,
    new: &NewSlot<'_>,
) -> Result<Option<u32>> {
    let kind = new.kind();
    let block = loop {
        // Before a page is added that is of no use.
        shape.check_numbers(store.blocks()?)?;
        let block = store.append(|block, page| {
            page::initialise(
                page,
                match shape.layout.role(block) {
                    BlockRole::Column => HnswPageKind::Column,
                    BlockRole::Links => HnswPageKind::Links,
                    BlockRole::Residuals => HnswPageKind::Residuals,
                    BlockRole::Data => kind,
                },
            );
        })?;
        // Others may have added some meanwhile.
        shape.check_numbers(block)?;
        if shape.layout.role(block) == BlockRole::Data {
            break block;
        }
    };
    if shape.slots(kind) > 1 {
        add_to_list(store, kind, block)?;
    }
    fill(store, shape, NodePlace { block, slot: 0 }, new)
}

/// Puts a page into the list of those with room.
pub fn add_to_list<S: StoreMut>(store: &S, kind: HnswPageKind, block: u32) -> Result<()> {
    store
        .write_two(0, block, |first, page| {
            if page::is_listed(page) {
                return Ok(false);
            }
            page::list(page, page::with_room(first, kind)?);
            page::set_with_room(first, kind, block);
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
            let is_kind = page::kind(page) == Some(kind);
            if page::with_room(first, kind)? != block
                || is_kind && free_slots(shape, page, kind).next().is_some()
            {
                return Ok(false);
            }
            // A page of another kind has no business here: the list ends before it.
            let next = if is_kind { page::unlist(page) } else { NONE };
            page::set_with_room(first, kind, next);
            Ok(true)
        })
        .map(drop)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::error::{Error, ErrorKind};
    use crate::hnsw::shape::{Degree, Filters, VectorColumn};
    use crate::hnsw::space::{DistanceMetric, Space, Storage};
    use crate::pages::ram::RamStore;
    use crate::pages::watched::{PageChange, WatchedStore};

    fn shape() -> IndexShape {
        let space = Space { metric: DistanceMetric::L2, storage: Storage::Float32, dimensions: 8 };
        let degree = Degree { m: 16, ef_construction: 64 };
        IndexShape::new(space, degree, Filters::default()).unwrap()
    }

    #[test]
    fn a_new_page_keeps_its_slots_if_the_first_is_not_filled() {
        let shape = shape();
        let payload = vec![0; shape.payload_bytes()];
        let row = RowId { block: 0, line: 1 };
        let node = |layer| {
            let (below, ground, payload, neighbours) = (NONE, NONE, &*payload, &[][..]);
            NewSlot::Node(NewNode { row, layer, below, ground, payload, neighbours })
        };
        for new in [NewSlot::Loose(row, NodeState::Null), node(0), node(1)] {
            let store = RamStore::default();
            store.append(|_, page| HnswMeta::new(VectorColumn::Vector, shape).write(page)).unwrap();
            // One page is changed beside those that are added, and no other.
            let left = Cell::new(1u32);
            let before_change = |how: PageChange| -> Result<()> {
                let spent = u32::from(how == PageChange::Write);
                let less = left.get().checked_sub(spent);
                left.set(less.ok_or_else(|| Error::new(ErrorKind::OutOfResources, "no room"))?);
                Ok(())
            };
            let failing = WatchedStore::new(&store).before_change(&before_change);
            let error = occupy(&failing, &shape, &new).unwrap_err();
            assert_eq!(error.message(), "no room");
            let pages = store.blocks().unwrap();
            for _ in 0..shape.slots(new.kind()) {
                occupy(&store, &shape, &new).unwrap();
            }
            assert_eq!(store.blocks().unwrap(), pages, "{:?}", new.kind());
            occupy(&store, &shape, &new).unwrap();
            assert!(store.blocks().unwrap() > pages, "{:?}", new.kind());
        }
    }

    #[test]
    fn an_index_without_numbers_for_more_nodes_does_not_grow() {
        let (shape, store) = (shape(), RamStore::default());
        let meta = HnswMeta::new(VectorColumn::Vector, shape);
        store.append(|_, page| meta.write(page)).unwrap();
        let new = NewSlot::Loose(RowId { block: 0, line: 1 }, NodeState::Null);
        // As many pages as a file can have.
        let full = WatchedStore::new(&store).saying(u32::MAX - 1);
        let error = occupy(&full, &shape, &new).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfResources, "{error}");
        assert_eq!(store.blocks().unwrap(), 1);
        assert_eq!(occupy(&store, &shape, &new).map(drop), Ok(()));
    }
}
