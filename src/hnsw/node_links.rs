//! # node links: what does a node link to, and how is that changed beside others?
//!
//! ```text
//! node → its links as they are now          (links as they were read, new ones) → replaced, or not
//! ```
//!
//! Links are read without a lock that would outlast the look. So what is decided by them is compared again
//! under the lock of the page, and nothing is changed that has changed meanwhile. Only living nodes are linked
//! anew: before a vacuum frees a slot it waits for the inserts that may have seen its node alive, so no other node has
//! come into the slot between the two looks.

use super::graph::{PageGraph, kind_of};
use super::page::{NodeState, SlotMut, SlotView, StoredLinks, put_links};
use crate::error::Result;
use crate::pages::{Page, Store, StoreMut};

/// How often a list is tried again that others keep changing.
pub const ATTEMPTS: usize = 20;

/// Reads the links of a node; `None` if it is not there any more, or its row is gone.
pub fn read_links<S: Store>(
    graph: &PageGraph<'_, S>,
    node: u32,
    layer: u8,
) -> Result<Option<Vec<u32>>> {
    let is_live = |slot: SlotView<'_>| slot.state() == NodeState::Live;
    if layer > 0 {
        let links = |slot: SlotView<'_>| is_live(slot).then(|| slot.links().iter().collect());
        return Ok(graph.with_node(node, layer, links)?.flatten());
    }
    match graph.with_node(node, layer, is_live)? {
        Some(true) => graph.with_links(node, layer, |links| links.iter().collect()),
        _ => Ok(None),
    }
}

/// Replaces the links of a node, if they are still `old`. Links that stay keep their places, so that little of the
/// page changes, and little goes to the log.
pub fn replace_links<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    node: u32,
    layer: u8,
    old: &[u32],
    new: &[u32],
) -> Result<bool> {
    let shape = graph.shape;
    let place = shape.place(node);
    let new = &in_place(old, new);
    let is_old = |links: StoredLinks<'_>| links.iter().eq(old.iter().copied());
    if layer > 0 {
        return graph.store.write(place.block, |page| {
            let Some(mut slot) = SlotMut::of(shape, page, kind_of(layer), place.slot) else {
                return Ok(false);
            };
            let is_there = |slot: SlotView<'_>| {
                slot.is_node() && slot.layer() == layer && is_old(slot.links())
            };
            if !is_there(slot.look()) {
                return Ok(false);
            }
            slot.set_links(new);
            Ok(true)
        });
    }
    let Some(list) = shape.layout.links(place) else { return Ok(false) };
    graph.store.write(list.block, |page: &mut Page| {
        let is_there = StoredLinks::at(shape, page, list.slot).is_some_and(is_old);
        Ok(is_there && put_links(shape, page, list.slot, new))
    })
}

/// The links of `new`, those that are in `old` too where they were, as far as gaps can be filled.
fn in_place(old: &[u32], new: &[u32]) -> Vec<u32> {
    let mut added = new.iter().filter(|link| !old.contains(link));
    let mut links = Vec::with_capacity(new.len());
    for link in old {
        // A damaged list may have a link twice.
        let stays = new.contains(link) && !links.contains(link);
        links.extend(stays.then_some(link).or_else(|| added.next()));
    }
    links.extend(added);
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::subsequence;

    proptest! {
        #[test]
        fn links_that_stay_keep_their_places(
            old in subsequence((1..40).collect::<Vec<u32>>(), 0..32).prop_shuffle(),
            new in subsequence((1..40).collect::<Vec<u32>>(), 0..32).prop_shuffle(),
        ) {
            prop_assert_eq!(in_place(&[&old[..], &old[..]].concat(), &new).len(), new.len());
            let links = in_place(&old, &new);
            let sorted = |links: &[u32]| {
                let mut links = links.to_vec();
                links.sort_unstable();
                links
            };
            prop_assert_eq!(sorted(&links), sorted(&new));
            let added = new.iter().filter(|link| !old.contains(link)).count();
            if new.len() >= old.len() {
                let changed = old.iter().zip(&links).filter(|(old, new)| old != new).count();
                prop_assert!(changed <= added);
            }
        }
    }
}
