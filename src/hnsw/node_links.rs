//! # node links: what does a node link to, and how is that changed beside others?
//!
//! ```text
//! node → its links as they are now          (links as they were read, new ones) → replaced, or not
//! ```
//!
//! Links are read without a lock that would outlast the look. So what is decided by them is compared again
//! under the lock of the page, and nothing is changed that has changed meanwhile. A slot that has got another
//! node meanwhile has other links; and if it had the same, nothing would be wrong with the new ones but
//! that better ones could be found: a link is a hint.

use super::graph::{PageGraph, kind_of};
use super::page::{SlotMut, SlotView, StoredLinks, put_links};
use crate::error::Result;
use crate::pages::{Page, Store, StoreMut};

/// How often a list is tried again that others keep changing.
pub const ATTEMPTS: usize = 20;

/// Reads the links of a node; `None` if it is not there any more.
pub fn read_links<S: Store>(
    graph: &PageGraph<'_, S>,
    node: u32,
    layer: u8,
) -> Result<Option<Vec<u32>>> {
    if layer == 0 && graph.with_node(node, layer, |_| ())?.is_none() {
        return Ok(None);
    }
    graph.with_links(node, layer, |links| links.iter().collect())
}

/// Replaces the links of a node, if they are still `old`.
pub fn replace_links<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    node: u32,
    layer: u8,
    old: &[u32],
    new: &[u32],
) -> Result<bool> {
    let shape = graph.shape;
    let place = shape.place(node);
    let is_old = |links: StoredLinks<'_>| links.iter().eq(old.iter().copied());
    if layer > 0 {
        return graph.store.write(place.block, |page| {
            let Some(mut slot) = SlotMut::of(shape, page, kind_of(layer), place.slot) else {
                return Ok(false);
            };
            let is_there = |slot: SlotView<'_>| slot.is_node() && is_old(slot.links());
            if !is_there(slot.look()) {
                return Ok(false);
            }
            slot.set_links(new);
            Ok(true)
        });
    }
    let Some(list) = shape.layout.links(place) else { return Ok(false) };
    graph.store.write(list.block, |page: &mut Page| {
        let is_there = StoredLinks::on(shape, page, list.slot).is_some_and(is_old);
        Ok(is_there && put_links(shape, page, list.slot, new))
    })
}
