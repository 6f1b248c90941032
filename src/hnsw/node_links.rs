//! # node links: what does a node link to, and how is that changed beside others?
//!
//! ```text
//! node → its links as they are now          (links as they were read, new ones) → replaced, or not
//! ```
//!
//! Links are read without a lock that would outlast the look. So what is decided by them is compared again
//! under the lock of the page, and nothing is changed that has changed meanwhile.

use super::graph::{PageGraph, kind_of};
use super::page::{RowId, SlotMut};
use crate::error::Result;
use crate::pages::{Store, StoreMut};

/// How often a list is tried again that others keep changing.
pub const ATTEMPTS: usize = 20;

/// A node's links as they were read, with the row that tells whether it is still the same.
pub struct NodeLinks {
    /// The row of the node.
    pub row: RowId,
    /// The numbers of its neighbours.
    pub links: Vec<u32>,
}

/// Reads the links of a node.
pub fn read_links<S: Store>(
    graph: &PageGraph<'_, S>,
    node: u32,
    layer: u8,
) -> Result<Option<NodeLinks>> {
    graph.with_node(node, layer, |slot| NodeLinks {
        row: slot.row(),
        links: slot.neighbours().collect(),
    })
}

/// Replaces the links of a node, if they are still `old`.
pub fn replace_links<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    node: u32,
    layer: u8,
    old: &NodeLinks,
    new: &[u32],
) -> Result<bool> {
    let place = graph.shape.place(node);
    graph.store.write(place.block, |page| {
        let Some(mut slot) = SlotMut::of(graph.shape, page, kind_of(layer), place.slot) else {
            return Ok(false);
        };
        let now = slot.look();
        if !now.is_node() || now.row() != old.row || !now.neighbours().eq(old.links.iter().copied())
        {
            return Ok(false);
        }
        slot.set_neighbours(new);
        Ok(true)
    })
}
