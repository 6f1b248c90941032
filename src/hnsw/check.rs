//! # check: is everything where it should be?
//!
//! ```text
//! pages → problems                     pages → figures
//! ```

use std::collections::HashMap;

use super::columns;
use super::layout::BlockRole;
use super::node_set::NodeSet;
use super::page::{
    self, HnswPageKind, IndexShape, NONE, NodePlace, NodeState, SlotView, StoredLinks,
};
use super::slots::read_meta;
use crate::error::Result;
use crate::pages::{Page, Store};
use crate::spare;

/// Bytes that are remembered of a node, beside the numbers of its neighbours.
const BYTES_A_NODE: usize = 128;
/// Nodes between two looks whether the caller should stop.
const PATIENCE: usize = 4096;

/// Something that should not be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphProblem {
    /// What it is, in a word or two.
    pub problem: &'static str,
    /// The number of the page.
    pub block: u32,
    /// The number of the slot in the page.
    pub slot: u32,
    /// What exactly is wrong.
    pub detail: String,
}

/// What an index is made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GraphFigures {
    /// Pages of each kind.
    pub pages: [u64; 6],
    /// Slots without anything, by kind.
    pub free: [u64; 3],
    /// Nodes of the ground layer whose rows are there.
    pub live: u64,
    /// Nodes of the ground layer whose rows are gone.
    pub dead: u64,
    /// Rows without a place in the graph.
    pub loose: u64,
    /// Nodes in each layer, lowest first.
    pub layers: Vec<u64>,
    /// Nodes of the ground layer by the number of their neighbours.
    pub degrees: Vec<u64>,
}

/// What a check remembers of a node.
struct CheckedNode {
    state: NodeState,
    layer: u8,
    incoming: u32,
}

struct GraphCheck<'a> {
    shape: &'a IndexShape,
    /// Slots that have filter values.
    filtered: NodeSet,
    /// Links that the nodes of the pages to come have.
    lists: HashMap<NodePlace, Vec<u32>>,
    known: HashMap<u32, CheckedNode>,
    links: Vec<(u32, Vec<u32>)>,
    problems: Vec<GraphProblem>,
    figures: GraphFigures,
}

/// Looks at every page. `problems` are found in an index that does not change meanwhile; otherwise
/// what is half done may look like one.
pub fn check<S: Store>(store: &S) -> Result<(Vec<GraphProblem>, GraphFigures)> {
    let meta = read_meta(store)?;
    let mut check = GraphCheck {
        shape: &meta.shape,
        filtered: NodeSet::default(),
        lists: HashMap::new(),
        known: HashMap::new(),
        links: Vec::new(),
        problems: Vec::new(),
        figures: GraphFigures::default(),
    };
    let blocks = store.blocks()?;
    let bytes = BYTES_A_NODE + size_of::<u32>() * meta.shape.degree.most(0);
    spare::check(bytes * meta.shape.most_nodes(blocks))?;
    for block in 1..blocks {
        store.interrupted()?;
        store.read(block, |page| check.read_page(block, page))?;
    }
    check.look_for_lists_of_no_node();
    check.follow_links(store)?;
    check.look_for_orphans(meta.entry.map(|entry| entry.node));
    if let Some(entry) = meta.entry {
        check.look_at_entry(entry.node, entry.layer);
    } else if check.figures.live > 0 {
        check.complain(NONE, "no entry", "there are nodes, but no walk can begin".to_owned());
    }
    check.follow_lists(store, meta.with_room, blocks)?;
    Ok((check.problems, check.figures))
}

impl GraphCheck<'_> {
    fn complain(&mut self, node: u32, problem: &'static str, detail: String) {
        let NodePlace { block, slot } = self.shape.place(node);
        self.problems.push(GraphProblem { problem, block, slot, detail });
    }

    fn read_page(&mut self, block: u32, page: &Page) {
        let Some(kind) = page::kind(page) else {
            // A crash can leave a page behind that was added and not yet written.
            if page.iter().any(|byte| *byte != 0) {
                let node = self.shape.node(NodePlace { block, slot: 0 });
                self.complain(node, "unknown page", "the page is of no known kind".to_owned());
            }
            return;
        };
        self.figures.pages[kind as usize] += 1;
        let role = match kind {
            HnswPageKind::Column => BlockRole::Column,
            HnswPageKind::Links => BlockRole::Links,
            HnswPageKind::Residuals => BlockRole::Residuals,
            _ => BlockRole::Data,
        };
        if role != self.shape.layout.role(block) {
            let node = self.shape.node(NodePlace { block, slot: 0 });
            self.complain(
                node,
                "unknown page",
                "a page of this kind in the wrong place".to_owned(),
            );
            return;
        }
        match role {
            BlockRole::Column => self.read_values(block, page),
            BlockRole::Links => self.read_lists(block, page),
            // A node without residual codes is measured by its vector.
            BlockRole::Residuals | BlockRole::Data => {}
        }
        for slot in 0..self.shape.slots(kind) {
            if let Some(seen) = SlotView::of(self.shape, page, kind, slot) {
                self.read_slot(self.shape.node(NodePlace { block, slot }), kind, seen);
            }
        }
    }

    fn read_values(&mut self, block: u32, page: &Page) {
        let slots = self.shape.slots(HnswPageKind::Ground) as usize;
        let blocks: Vec<u32> = self.shape.layout.covered_blocks(block).collect();
        for entry in columns::present(self.shape, page) {
            let place = NodePlace { block: blocks[entry / slots], slot: (entry % slots) as u32 };
            self.filtered.insert(self.shape.node(place));
        }
    }

    fn read_lists(&mut self, block: u32, page: &Page) {
        for slot in 0..self.shape.layout.lists() {
            let links = StoredLinks::on(self.shape, page, slot);
            let links: Vec<u32> = links.into_iter().flat_map(|links| links.iter()).collect();
            if !links.is_empty() {
                self.lists.insert(NodePlace { block, slot }, links);
            }
        }
    }

    /// The links of a node.
    fn links_of(&mut self, node: u32, kind: HnswPageKind, slot: SlotView<'_>) -> Vec<u32> {
        match kind {
            HnswPageKind::Upper => slot.links().iter().collect(),
            _ => {
                let list = self.shape.layout.links(self.shape.place(node));
                list.and_then(|list| self.lists.remove(&list)).unwrap_or_default()
            }
        }
    }

    fn read_slot(&mut self, node: u32, kind: HnswPageKind, slot: SlotView<'_>) {
        match slot.state() {
            NodeState::Free => {
                self.figures.free[kind as usize] += 1;
                if kind == HnswPageKind::Ground && !self.links_of(node, kind, slot).is_empty() {
                    self.complain(node, "links of no node", "the slot is free".to_owned());
                }
            }
            NodeState::Null | NodeState::Undirected => self.figures.loose += 1,
            state @ (NodeState::Live | NodeState::Dead) => {
                let neighbours = self.links_of(node, kind, slot);
                self.count(kind, state, slot.layer(), neighbours.len());
                let has_values = kind == HnswPageKind::Upper || self.filtered.contains(node);
                if self.shape.has_filters() && !has_values && state == NodeState::Live {
                    self.complain(node, "no values", "of the filter columns".to_owned());
                }
                if slot.row().line == 0 {
                    self.complain(node, "no row", "the node belongs to no row".to_owned());
                }
                if kind == HnswPageKind::Ground && !slot.is_marked() {
                    self.complain(node, "no mark", "walks pass the node over".to_owned());
                }
                if kind == HnswPageKind::Upper {
                    // The node below is checked as if it were a link.
                    self.links.push((node, vec![slot.below()]));
                }
                self.known.insert(node, CheckedNode { state, layer: slot.layer(), incoming: 0 });
                self.links.push((node, neighbours));
            }
        }
    }

    fn count(&mut self, kind: HnswPageKind, state: NodeState, layer: u8, degree: usize) {
        let at = |all: &mut Vec<u64>, index: usize| {
            all.resize(all.len().max(index + 1), 0);
            all[index] += 1;
        };
        at(&mut self.figures.layers, usize::from(layer));
        if kind == HnswPageKind::Ground {
            at(&mut self.figures.degrees, degree);
            match state {
                NodeState::Live => self.figures.live += 1,
                _ => self.figures.dead += 1,
            }
        }
    }

    /// To be called when all nodes have taken theirs.
    fn look_for_lists_of_no_node(&mut self) {
        let mut left: Vec<NodePlace> = self.lists.drain().map(|(place, _)| place).collect();
        left.sort_unstable_by_key(|place| (place.block, place.slot));
        for NodePlace { block, slot } in left {
            let detail = "a page with links has a list of no slot".to_owned();
            self.problems.push(GraphProblem { problem: "links of no node", block, slot, detail });
        }
    }

    fn follow_links<S: Store>(&mut self, store: &S) -> Result<()> {
        for (place, (node, mut links)) in std::mem::take(&mut self.links).into_iter().enumerate() {
            if place.is_multiple_of(PATIENCE) {
                store.interrupted()?;
            }
            let (layer, state) =
                self.known.get(&node).map_or((0, NodeState::Free), |it| (it.layer, it.state));
            let is_below = links.len() == 1
                && self
                    .known
                    .get(&links[0])
                    .is_some_and(|other| layer.checked_sub(1) == Some(other.layer));
            for link in &links {
                let what = match self.known.get_mut(link) {
                    None => Some("dangling link"),
                    Some(other) if other.layer != layer && !is_below => {
                        Some("link to another layer")
                    }
                    Some(other) => {
                        // Walks pass through dead nodes; vacuum sees to what they lead to.
                        other.incoming += u32::from(!is_below);
                        (*link == node).then_some("link to itself")
                    }
                };
                if let Some(what) = what.filter(|_| state == NodeState::Live) {
                    self.complain(node, what, format!("to node {link} in layer {layer}"));
                }
            }
            links.sort_unstable();
            if links.windows(2).any(|pair| pair[0] == pair[1]) {
                self.complain(node, "duplicate link", format!("in layer {layer}"));
            }
        }
        Ok(())
    }

    fn look_for_orphans(&mut self, entry: Option<u32>) {
        let mut orphans: Vec<(u32, u8)> = self
            .known
            .iter()
            .filter(|(node, it)| {
                it.incoming == 0 && it.state == NodeState::Live && Some(**node) != entry
            })
            .map(|(node, it)| (*node, it.layer))
            .collect();
        orphans.sort_unstable();
        for (node, layer) in orphans {
            // A layer's only node has no neighbours.
            if self.figures.layers.get(usize::from(layer)).is_some_and(|nodes| *nodes > 1) {
                self.complain(node, "unreachable", format!("no link leads to it in layer {layer}"));
            }
        }
    }

    fn look_at_entry(&mut self, node: u32, layer: u8) {
        // A vacuum moves the entry before it frees the dead nodes above.
        let live = self.known.values().filter(|known| known.state == NodeState::Live);
        let highest = live.map(|known| known.layer).max().unwrap_or(0);
        match self.known.get(&node) {
            None => self.complain(node, "no entry", "the entry is not there".to_owned()),
            Some(known) if known.layer != layer => {
                self.complain(node, "wrong entry", format!("it is not in layer {layer}"));
            }
            Some(_) if layer < highest => {
                self.complain(node, "wrong entry", format!("there are nodes in layer {highest}"));
            }
            Some(_) => {}
        }
    }

    fn follow_lists<S: Store>(&mut self, store: &S, first: [u32; 3], blocks: u32) -> Result<()> {
        for kind in HnswPageKind::WITH_SLOTS {
            let mut block = first[kind as usize];
            let mut steps = 0;
            while block != NONE {
                steps += 1;
                let node = self.shape.node(NodePlace { block, slot: 0 });
                if block >= blocks || steps > blocks {
                    self.complain(node, "broken list", "of pages with room".to_owned());
                    break;
                }
                let (found, is_listed, next) = store.read(block, |page| {
                    (page::kind(page), page::is_listed(page), page::next_listed(page))
                })?;
                if found != Some(kind) || !is_listed {
                    self.complain(node, "broken list", "a page with room is not one".to_owned());
                    break;
                }
                block = next;
            }
        }
        Ok(())
    }
}
