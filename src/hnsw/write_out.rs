//! # write out: how does a graph get from memory to pages?
//!
//! ```text
//! a linked graph → block 0, groups of links and nodes on the ground, pages of the layers above, loose rows
//! ```
//!
//! Nodes that are linked stand together ([`neighbourhoods`]), so that a walk finds several of the
//! nodes it looks at on one page. Every node's number on pages follows from its place in the
//! order, so each page is made once, complete.

use std::collections::{HashMap, VecDeque};

use super::build::{ChunkMemory, GraphBuilder};
use super::columns;
use super::layout::{BlockRole, PagesApart};
use super::node_set::NodeSet;
use super::page::{
    self, EntryPoint, HnswMeta, HnswPageKind, IndexShape, NewNode, NodePlace, NodeState, RowId,
    SlotMut, VectorColumn,
};
use super::pause::{Pause, TURN};
use super::residuals;
use crate::error::Result;
use crate::pages::PAGE_SIZE;
use crate::pages::Page;

/// Takes the pages of an index, one after the other, from block 0 on.
pub type Sink<'a> = &'a mut dyn FnMut(&Page) -> Result<()>;

/// The order of nodes on pages.
struct NodeOrder<'a, M: ChunkMemory> {
    shape: IndexShape,
    builder: &'a GraphBuilder<M>,
    /// Nodes of the ground layer.
    ground: Vec<u32>,
    /// Where a node stands in the order of the pages.
    ranks: Vec<u32>,
    /// Nodes above, with their layers; the layers of a node stand together, lowest first.
    upper: Vec<(u32, u8)>,
    /// Where a node's first stands among them.
    upper_ranks: HashMap<u32, u32>,
}

impl<'a, M: ChunkMemory> NodeOrder<'a, M> {
    /// The order of a graph's nodes, and of so many rows that have no place in it.
    fn new(
        mut shape: IndexShape,
        builder: &'a GraphBuilder<M>,
        loose: usize,
        pause: Pause<'_>,
    ) -> Result<Self> {
        let ground = neighbourhoods(builder, shape.slots(HnswPageKind::Ground) as usize, pause)?;
        let mut ranks = vec![0; ground.len()];
        (0..).zip(&ground).for_each(|(rank, node)| ranks[*node as usize] = rank);
        let mut upper = Vec::new();
        let mut upper_ranks = HashMap::new();
        for node in ground.iter().filter(|node| builder.layer(**node) > 0) {
            upper_ranks.insert(*node, upper.len() as u32);
            upper.extend((1..=builder.layer(*node)).map(|layer| (*node, layer)));
        }
        let pages = |kind, slots| pages(&shape, kind, slots);
        let grouped = pages(HnswPageKind::Ground, ground.len());
        let first = grouped.checked_sub(1).map_or(1, |last| shape.layout.data_block(last) + 1);
        let count = pages(HnswPageKind::Upper, upper.len()) + pages(HnswPageKind::Loose, loose);
        let layout = shape.layout.with_apart(PagesApart { first, count });
        shape.layout = layout.ok_or_else(|| page::corrupt(0, "the index is too large"))?;
        shape.check_numbers(first + count - 1)?;
        Ok(NodeOrder { shape, builder, ground, ranks, upper, upper_ranks })
    }

    /// The page that is the `rank`th of a kind.
    fn block(&self, kind: HnswPageKind, rank: u32) -> u32 {
        let first = self.shape.layout.apart().first;
        match kind {
            HnswPageKind::Ground => self.shape.layout.data_block(rank),
            HnswPageKind::Loose => {
                first + pages(&self.shape, HnswPageKind::Upper, self.upper.len()) + rank
            }
            _ => first + rank,
        }
    }

    /// The number that a node has on pages.
    fn number(&self, node: u32, layer: u8) -> u32 {
        let (kind, rank) = match layer {
            0 => (HnswPageKind::Ground, self.ranks[node as usize]),
            _ => (HnswPageKind::Upper, self.upper_ranks[&node] + u32::from(layer) - 1),
        };
        let slots = self.shape.slots(kind);
        let block = self.block(kind, rank / slots);
        self.shape.node(NodePlace { block, slot: rank % slots })
    }

    /// The links of a node by the numbers on pages.
    fn links(&self, node: u32, layer: u8) -> Vec<u32> {
        self.builder.list(node, layer).iter().map(|link| self.number(*link, layer)).collect()
    }

    fn fill(&self, page: &mut Page, slot: u32, node: u32, layer: u8) -> Result<()> {
        // Those of nodes on the ground are written apart.
        let neighbours = if layer > 0 { self.links(node, layer) } else { Vec::new() };
        let (below, ground) = match layer {
            0 => (page::NONE, page::NONE),
            _ => (self.number(node, layer - 1), self.number(node, 0)),
        };
        let payload = self.shape.space.from_build(self.builder.payload(node))?;
        let new = NewNode {
            row: self.builder.row(node),
            layer,
            below,
            ground,
            payload: payload.bytes(),
            neighbours: &neighbours,
        };
        let kind = if layer == 0 { HnswPageKind::Ground } else { HnswPageKind::Upper };
        if let Some(mut slot) = SlotMut::of(&self.shape, page, kind, slot) {
            slot.fill(&new);
        }
        Ok(())
    }
}

/// Pages of a kind that so many slots take.
fn pages(shape: &IndexShape, kind: HnswPageKind, slots: usize) -> u32 {
    (slots as u32).div_ceil(shape.slots(kind))
}

/// All nodes, each page's worth of them near each other in the graph: a page is filled by going
/// from a node to its neighbours, to theirs, and so on; the next begins where this one ended.
fn neighbourhoods<M: ChunkMemory>(
    builder: &GraphBuilder<M>,
    slots: usize,
    pause: Pause<'_>,
) -> Result<Vec<u32>> {
    let nodes = builder.added();
    let mut order = Vec::with_capacity(nodes as usize);
    let mut placed = NodeSet::below(nodes as usize)?;
    let mut borders = VecDeque::new();
    let mut of_page = VecDeque::new();
    for first in 0..nodes {
        borders.push_back(first);
        while let Some(seed) = borders.pop_front() {
            if placed.contains(seed) {
                continue;
            }
            let end = order.len() + slots - order.len() % slots;
            of_page.push_back(seed);
            while order.len() < end {
                let Some(node) = of_page.pop_front() else { break };
                if placed.insert(node) {
                    order.push(node);
                    if order.len().is_multiple_of(TURN) {
                        pause();
                    }
                    let links = builder.list(node, 0).into_iter();
                    of_page.extend(links.filter(|link| !placed.contains(*link)));
                }
            }
            borders.append(&mut of_page);
        }
    }
    Ok(order)
}

/// Writes the graph, and the rows that have no place in it. The builder's space may be another
/// than that of `shape`: [`Space::for_build`](super::space::Space::for_build).
pub fn write_out<M: ChunkMemory>(
    column: VectorColumn,
    shape: IndexShape,
    builder: &GraphBuilder<M>,
    loose: &[(RowId, NodeState)],
    pause: Pause<'_>,
    sink: Sink<'_>,
) -> Result<()> {
    let order = NodeOrder::new(shape, builder, loose.len(), pause)?;
    let shape = order.shape;
    let ground: Vec<(u32, u8)> = order.ground.iter().map(|node| (*node, 0)).collect();
    let counts = [ground.len(), order.upper.len(), loose.len()];
    let mut meta = HnswMeta::new(column, shape);
    meta.entry = builder.entry().map(|entry| EntryPoint {
        node: order.number(entry.node, entry.layer),
        layer: entry.layer,
    });
    meta.with_room = pages_with_room(&order, counts);
    let mut page: Page = [0; PAGE_SIZE];
    meta.write(&mut page);
    sink(&page)?;
    let mut block = 1;
    let mut data_sink = |page: &Page| {
        loop {
            match shape.layout.role(block) {
                BlockRole::Column => sink(&column_page(&order, block))?,
                BlockRole::Links => sink(&link_page(&order, block))?,
                BlockRole::Residuals => sink(&residual_page(&order, block))?,
                BlockRole::Data => break,
            }
            block += 1;
        }
        block += 1;
        sink(page)
    };
    write_nodes(&order, HnswPageKind::Ground, &ground, &mut data_sink)?;
    write_nodes(&order, HnswPageKind::Upper, &order.upper, &mut data_sink)?;
    write_loose(&shape, loose, &mut data_sink)
}

/// The filter values of the pages that will follow `block`.
fn column_page<M: ChunkMemory>(order: &NodeOrder<'_, M>, block: u32) -> Page {
    let shape = &order.shape;
    let mut page = [0; PAGE_SIZE];
    page::initialise(&mut page, HnswPageKind::Column);
    let before = shape.layout.column_blocks(block).count();
    let entries = shape.layout.entries();
    let nodes = order.ground.iter().skip(before * entries).take(entries);
    for (entry, node) in nodes.enumerate() {
        columns::put(shape, &mut page, entry, order.builder.values(*node));
    }
    page
}

/// The links of nodes on the pages that will follow `block`.
fn link_page<M: ChunkMemory>(order: &NodeOrder<'_, M>, block: u32) -> Page {
    page_of_nodes_beyond(order, block, HnswPageKind::Links, |page, list, node| {
        page::put_links(&order.shape, page, list, &order.links(node, 0));
    })
}

/// The residual codes of nodes on the pages that will follow `block`.
fn residual_page<M: ChunkMemory>(order: &NodeOrder<'_, M>, block: u32) -> Page {
    page_of_nodes_beyond(order, block, HnswPageKind::Residuals, |page, place, node| {
        if let Some(entry) = order.builder.residuals(node) {
            residuals::put(&order.shape, page, place, &entry.of_row(order.builder.row(node)));
        }
    })
}

/// A page into which `put` puts what it has, at a place of each, of nodes on the pages that will follow `block`.
fn page_of_nodes_beyond<M: ChunkMemory>(
    order: &NodeOrder<'_, M>,
    block: u32,
    kind: HnswPageKind,
    put: impl Fn(&mut Page, u32, u32),
) -> Page {
    let mut page = [0; PAGE_SIZE];
    page::initialise(&mut page, kind);
    let of_page = order.shape.layout.nodes_beyond(block);
    let nodes = order.ground.iter().skip(of_page.start).take(of_page.len());
    for (place, node) in (0..).zip(nodes) {
        put(&mut page, place, *node);
    }
    page
}

/// The last page of each kind, where it is not full.
fn pages_with_room<M: ChunkMemory>(order: &NodeOrder<'_, M>, counts: [usize; 3]) -> [u32; 3] {
    std::array::from_fn(|index| {
        let kind = HnswPageKind::WITH_SLOTS[index];
        let is_full = (counts[index] as u32).is_multiple_of(order.shape.slots(kind));
        match pages(&order.shape, kind, counts[index]).checked_sub(1) {
            Some(last) if !is_full => order.block(kind, last),
            _ => page::NONE,
        }
    })
}

fn write_nodes<M: ChunkMemory>(
    order: &NodeOrder<'_, M>,
    kind: HnswPageKind,
    nodes: &[(u32, u8)],
    sink: Sink<'_>,
) -> Result<()> {
    let slots = order.shape.slots(kind) as usize;
    for of_page in nodes.chunks(slots) {
        let mut page = empty_page(kind, of_page.len() < slots);
        for (slot, (node, layer)) in (0..).zip(of_page) {
            order.fill(&mut page, slot, *node, *layer)?;
        }
        sink(&page)?;
    }
    Ok(())
}

fn write_loose(shape: &IndexShape, loose: &[(RowId, NodeState)], sink: Sink<'_>) -> Result<()> {
    let slots = shape.slots(HnswPageKind::Loose) as usize;
    for of_page in loose.chunks(slots) {
        let mut page = empty_page(HnswPageKind::Loose, of_page.len() < slots);
        for (slot, (row, state)) in (0..).zip(of_page) {
            if let Some(mut slot) = SlotMut::of(shape, &mut page, HnswPageKind::Loose, slot) {
                slot.fill_loose(*row, *state);
            }
        }
        sink(&page)?;
    }
    Ok(())
}

fn empty_page(kind: HnswPageKind, has_room: bool) -> Page {
    let mut page = [0; PAGE_SIZE];
    page::initialise(&mut page, kind);
    if has_room {
        page::list(&mut page, page::NONE);
    }
    page
}
