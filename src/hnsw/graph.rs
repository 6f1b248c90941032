//! # graph: which nodes are next to this one, and how far are they?
//!
//! A walk needs no more than this trait. Two graphs have it: the one on pages
//! ([`PageGraph`]), and the one that a build makes in memory (`build`).

use std::cell::RefCell;

use super::node_set::NodeSet;
use super::page::{HnswPageKind, IndexShape, NodePlace, NodeState, RowId, SlotView, StoredLinks};
use super::space::{Fit, Payload, Space};
use crate::error::Result;
use crate::pages::{Page, Store, Tour};

/// A node that a walk came across.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbor {
    /// The number of the node.
    pub node: u32,
    /// The row of its vector.
    pub row: RowId,
    /// Whether its row is there, as far as the index knows.
    pub is_live: bool,
    /// Its distance, for comparing.
    pub distance: f32,
    /// How well its payload fits its vector.
    pub fit: Fit,
}

/// Nodes, links and distances.
pub trait Graph {
    /// Adds the neighbours of a node in a layer; none if the node is not there any more.
    fn neighbours(&self, node: u32, layer: u8, into: &mut Vec<u32>) -> Result<()>;

    /// Adds the neighbours of several nodes.
    fn neighbours_of_each(&self, nodes: &[u32], layer: u8, into: &mut Vec<u32>) -> Result<()> {
        nodes.iter().try_for_each(|node| self.neighbours(*node, layer, into))
    }

    /// Says how far each of `nodes` is from `probe`. Nodes that are not there any more are
    /// passed over.
    fn look(
        &self,
        probe: &[u8],
        nodes: &[u32],
        layer: u8,
        seen: &mut dyn FnMut(Neighbor),
    ) -> Result<()>;

    /// Says that the neighbours of a node will be asked for soon.
    fn approach(&self, node: u32, layer: u8);

    /// The node one layer below `layer` that stands for the same vector as `node`, which is on
    /// `layer`; `None` if the node is not there.
    fn below(&self, node: u32, layer: u8) -> Result<Option<u32>>;

    /// Fails if the caller should stop.
    fn interrupted(&self) -> Result<()>;
}

/// Nodes whose memory is asked for before the distance of the present one is computed.
pub(super) const AHEAD: usize = 6;

/// The graph on pages.
///
/// A link is a hint: it may lead to a slot that has been freed, or has got another node
/// since it was read. The first is passed over, the second is a node like any other, at the
/// distance it has. So no reader needs protection from vacuum, on a standby neither.
pub struct PageGraph<'a, S> {
    /// The pages that the graph lies on.
    pub store: &'a S,
    /// The shape of the index.
    pub shape: &'a IndexShape,
    /// By what distances are measured.
    pub space: Space,
}

/// The kind of the pages on which nodes of a layer lie.
#[must_use]
pub fn kind_of(layer: u8) -> HnswPageKind {
    if layer == 0 { HnswPageKind::Ground } else { HnswPageKind::Upper }
}

impl<'a, S: Store> PageGraph<'a, S> {
    /// The graph of an index, by the metric of the index.
    pub fn new(store: &'a S, shape: &'a IndexShape) -> PageGraph<'a, S> {
        PageGraph { store, shape, space: shape.space }
    }

    /// The graph by the distances of another space of payloads of the same form.
    #[must_use]
    pub fn measured_by(&self, space: Space) -> PageGraph<'a, S> {
        PageGraph { space, ..*self }
    }

    /// Looks at the node in its slot; `None` if it is not there, or in another layer.
    pub fn with_node<T>(
        &self,
        node: u32,
        layer: u8,
        look: impl FnOnce(SlotView<'_>) -> T,
    ) -> Result<Option<T>> {
        let block = self.shape.place(node).block;
        self.store.read(block, |page| self.node_on(page, node, layer).map(look))
    }

    /// Looks at the links of a node; `None` if it can have none. A node that is not there any more has none.
    pub fn with_links<T>(
        &self,
        node: u32,
        layer: u8,
        look: impl FnOnce(StoredLinks<'_>) -> T,
    ) -> Result<Option<T>> {
        if layer > 0 {
            return self.with_node(node, layer, |slot| look(slot.links()));
        }
        let Some(list) = self.list(node) else { return Ok(None) };
        let on = |page: &Page| StoredLinks::at(self.shape, page, list.slot).map(look);
        self.store.read(list.block, on)
    }

    /// Where a node on the ground has its links; `None` if no node has this number.
    fn list(&self, node: u32) -> Option<NodePlace> {
        self.shape.layout.links(self.shape.place(node))
    }

    fn node_on<'b>(&'b self, page: &'b Page, node: u32, layer: u8) -> Option<SlotView<'b>> {
        let slot = self.shape.place(node).slot;
        if layer == 0 {
            return SlotView::of_ground_node(self.shape, page, slot);
        }
        let slot = SlotView::of(self.shape, page, HnswPageKind::Upper, slot)?;
        (slot.is_node() && slot.layer() == layer).then_some(slot)
    }

    /// A copy of a node's vector, and whether its row is there.
    pub fn payload(&self, node: u32, layer: u8) -> Result<Option<(Payload, NodeState)>> {
        self.with_node(node, layer, |slot| (Payload::copy_of(slot.payload()), slot.state()))
    }

    /// Asks for a list of links.
    fn prefetch_list(&self, list: NodePlace) {
        let bytes = self.shape.list(list.slot);
        self.store.prefetch(list.block, bytes.start, bytes.len());
    }

    /// Asks for what tells the distance of a node.
    fn prefetch(&self, node: u32, layer: u8) {
        let place = self.shape.place(node);
        let kind = kind_of(layer);
        // A stale link may name a slot beyond the last.
        if place.slot < self.shape.slots(kind) {
            let bytes = IndexShape::header(kind) + self.shape.payload;
            self.store.prefetch(place.block, self.shape.offset(kind, place.slot), bytes);
        }
    }
}

impl<S: Store> Graph for PageGraph<'_, S> {
    fn neighbours(&self, node: u32, layer: u8, into: &mut Vec<u32>) -> Result<()> {
        self.with_links(node, layer, |links| links.add_to(into)).map(drop)
    }

    fn neighbours_of_each(&self, nodes: &[u32], layer: u8, into: &mut Vec<u32>) -> Result<()> {
        if layer > 0 {
            return nodes.iter().try_for_each(|node| self.neighbours(*node, layer, into));
        }
        let mut lists: Vec<NodePlace> = nodes.iter().filter_map(|node| self.list(*node)).collect();
        // Those on one page stand together.
        lists.sort_unstable_by_key(|list| (list.block, list.slot));
        let mut tour = LinkTour { graph: self, lists: &lists, into };
        (0..AHEAD).for_each(|place| tour.prefetch(place));
        self.store.read_each(&mut tour)
    }

    fn look(
        &self,
        probe: &[u8],
        nodes: &[u32],
        layer: u8,
        seen: &mut dyn FnMut(Neighbor),
    ) -> Result<()> {
        let space = &self.space;
        let look = |node, slot: SlotView<'_>| {
            let payload = slot.payload();
            let distance = space.distance(probe, payload);
            let is_live = slot.state() == NodeState::Live;
            seen(Neighbor { node, row: slot.row(), is_live, distance, fit: space.fit(payload) });
        };
        nodes.iter().take(AHEAD).for_each(|node| self.prefetch(*node, layer));
        self.store.read_each(&mut NodeTour { graph: self, nodes, layer, look })
    }

    fn approach(&self, node: u32, layer: u8) {
        // Above the ground the links lie with the vector, which has just been read.
        if let (0, Some(list)) = (layer, self.list(node)) {
            self.prefetch_list(list);
        }
    }

    fn below(&self, node: u32, layer: u8) -> Result<Option<u32>> {
        self.with_node(node, layer, |slot| slot.below())
    }

    fn interrupted(&self) -> Result<()> {
        self.store.interrupted()
    }
}

/// Nodes to be looked at, one after the other.
struct NodeTour<'a, 'g, S, F> {
    graph: &'a PageGraph<'g, S>,
    nodes: &'a [u32],
    layer: u8,
    look: F,
}

impl<S: Store, F: FnMut(u32, SlotView<'_>)> Tour for NodeTour<'_, '_, S, F> {
    fn places(&self) -> usize {
        self.nodes.len()
    }

    fn block(&self, place: usize) -> u32 {
        self.graph.shape.place(self.nodes[place]).block
    }

    fn approach(&self, place: usize) {
        if let Some(later) = self.nodes.get(place + AHEAD) {
            self.graph.prefetch(*later, self.layer);
        }
    }

    fn look(&mut self, place: usize, page: &Page) {
        let node = self.nodes[place];
        if let Some(slot) = self.graph.node_on(page, node, self.layer) {
            (self.look)(node, slot);
        }
    }
}

/// Lists of links to be read, one after the other.
struct LinkTour<'a, 'g, S> {
    graph: &'a PageGraph<'g, S>,
    lists: &'a [NodePlace],
    into: &'a mut Vec<u32>,
}

impl<S: Store> LinkTour<'_, '_, S> {
    fn prefetch(&self, place: usize) {
        if let Some(list) = self.lists.get(place) {
            self.graph.prefetch_list(*list);
        }
    }
}

impl<S: Store> Tour for LinkTour<'_, '_, S> {
    fn places(&self) -> usize {
        self.lists.len()
    }

    fn block(&self, place: usize) -> u32 {
        self.lists[place].block
    }

    fn approach(&self, place: usize) {
        self.prefetch(place + AHEAD);
    }

    fn look(&mut self, place: usize, page: &Page) {
        if let Some(links) = StoredLinks::at(self.graph.shape, page, self.lists[place].slot) {
            links.add_to(self.into);
        }
    }
}

/// Neighbours that count which a walk should get from a node, in multiples of its most neighbours. Those at two
/// steps are farther, so that with fewer a walk finds less, and with more it computes distances in vain.
const NEIGHBOURS_WANTED: f64 = 1.5;

/// A graph of which only some nodes count. Others are passed by: their neighbours stand in for them
/// (ACORN, arXiv 2403.04871, section 5), and their vectors are not read. No more are passed by than it
/// takes to have [`NEIGHBOURS_WANTED`]: hardly any where most nodes count.
pub struct Filtered<'a, G> {
    graph: &'a G,
    matches: &'a NodeSet,
    /// Neighbours that count which a walk should get from a node.
    wanted: f64,
    /// Neighbours that count of a node on average.
    expected: f64,
    /// Nodes that don't count and whose neighbours have been given.
    passed: RefCell<NodeSet>,
}

impl<'a, G: Graph> Filtered<'a, G> {
    /// The nodes of `matches`, which are a `share` of all, as they lie in `graph`. A node has up to `degree` neighbours.
    pub fn new(
        graph: &'a G,
        matches: &'a NodeSet,
        share: f64,
        degree: usize,
    ) -> Result<Filtered<'a, G>> {
        let passed = RefCell::new(NodeSet::below(matches.room())?);
        let expected = (share * degree as f64).max(f64::MIN_POSITIVE);
        let wanted = NEIGHBOURS_WANTED * degree as f64;
        Ok(Filtered { graph, matches, wanted, expected, passed })
    }

    /// Those neighbours that are to be passed by.
    fn passed_by(&self, neighbours: &[u32]) -> Vec<u32> {
        let matching = count(neighbours, self.matches) as f64;
        // Where nodes that count are rarer than elsewhere, more have to be passed by.
        let expected = self.expected.min(matching).max(f64::MIN_POSITIVE);
        let mut passed = self.passed.borrow_mut();
        let others = neighbours.iter().copied();
        let others = others.filter(|node| !self.matches.contains(*node) && passed.insert(*node));
        others.take(((self.wanted - matching) / expected).ceil() as usize).collect()
    }
}

fn count(nodes: &[u32], matches: &NodeSet) -> usize {
    nodes.iter().filter(|node| matches.contains(**node)).count()
}

/// The share of nodes that count among those around `starts`, at one and two steps.
pub fn share_around<G: Graph>(graph: &G, starts: &[u32], matches: &NodeSet) -> Result<f64> {
    let mut near = Vec::new();
    graph.neighbours_of_each(starts, 0, &mut near)?;
    near.sort_unstable();
    near.dedup();
    let mut around = Vec::new();
    graph.neighbours_of_each(&near, 0, &mut around)?;
    Ok(count(&around, matches) as f64 / around.len().max(1) as f64)
}

impl<G: Graph> Graph for Filtered<'_, G> {
    fn neighbours(&self, node: u32, layer: u8, into: &mut Vec<u32>) -> Result<()> {
        let from = into.len();
        self.graph.neighbours(node, layer, into)?;
        let others = self.passed_by(&into[from..]);
        self.graph.neighbours_of_each(&others, layer, into)?;
        let mut kept = from;
        for at in from..into.len() {
            if self.matches.contains(into[at]) {
                into[kept] = into[at];
                kept += 1;
            }
        }
        into.truncate(kept);
        Ok(())
    }

    fn look(
        &self,
        probe: &[u8],
        nodes: &[u32],
        layer: u8,
        seen: &mut dyn FnMut(Neighbor),
    ) -> Result<()> {
        self.graph.look(probe, nodes, layer, &mut |found| {
            let is_live = found.is_live && self.matches.contains(found.node);
            seen(Neighbor { is_live, ..found });
        })
    }

    fn approach(&self, node: u32, layer: u8) {
        self.graph.approach(node, layer);
    }

    fn below(&self, node: u32, layer: u8) -> Result<Option<u32>> {
        self.graph.below(node, layer)
    }

    fn interrupted(&self) -> Result<()> {
        self.graph.interrupted()
    }
}
