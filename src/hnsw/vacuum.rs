//! # vacuum: how do nodes leave the graph?
//!
//! ```text
//! rows that are gone → their nodes marked, links around them mended, their slots freed
//! ```
//!
//! 1. **Mark.** Nodes whose rows are gone become `Dead`: walks still pass through them, but
//!    nothing returns them or links to them anew.
//! 2. **Wait** for the inserts that began before, which may not have seen the marks.
//! 3. **Move the entry**, if it is dead.
//! 4. **Mend.** A list with dead links keeps its living ones; the places of the dead go to
//!    the neighbours of the dead (FreshDiskANN, arXiv 2105.09613, algorithm 4, restricted to
//!    what is lost), or to those of dead neighbours of theirs. No search is needed, unless lists
//!    are so short that they lead to too little.
//! 5. **Adopt.** Living nodes to which no way leads any more, alone or as a cluster whose links to
//!    the rest were all to the dead, get a link from the nearest to which one does.
//! 6. **Free** the slots, and list their pages as having room.
//!
//! A crash in between leaves dead nodes, which the next vacuum finds as it begins. Where no node is dead, only ways
//! are given, and only if a node has come since that was done ([`last_walk`]).

mod last_walk;
mod reachability;

use std::collections::{HashSet, VecDeque};

use self::last_walk::{NextRoom, remember};
use self::reachability::nearest;
use super::back_link::offer;
use super::graph::{Graph, PageGraph};
use super::insert::any_live_node;
use super::layout::BlockRole;
use super::node_links::{ATTEMPTS, read_links, replace_links};
use super::node_set::NodeSet;
use super::page::{
    self, EntryPoint, HnswPageKind, IndexShape, NONE, NodePlace, NodeState, RowId, SlotMut,
    SlotView,
};
use super::search_layer::SearchMemory;
use super::select::{LinkCandidate, select};
use super::slots::{add_to_list, read_meta};
use super::space::Payload;
use crate::error::Result;
use crate::pages::{Page, StoreMut};

/// So many times the places of a list are wanted as candidates for those of the dead.
const WANTED: usize = 2;
/// With a smaller `m`, lists are short.
const SHORT: u16 = 8;

/// What a vacuum did and saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HnswVacuumReport {
    /// Rows that were removed.
    pub removed: u64,
    /// Rows that are left.
    pub left: u64,
}

/// What the caller knows and does.
pub trait Guide {
    /// Whether this row is gone.
    fn is_gone(&mut self, row: RowId) -> bool;

    /// Calls `look` when no insert is under way any more that began before; others wait until it returns.
    fn without_inserts<T>(&mut self, look: impl FnOnce() -> Result<T>) -> Result<T>;

    /// Called for each page, where no page is locked: may sleep, count, or fail.
    fn pause(&mut self) -> Result<()>;

    /// Whether all links may be followed where no node is dead, which takes long in a large index.
    fn may_adopt(&self) -> bool;
}

/// A vacuum under way.
struct Vacuum<'a, S, G> {
    graph: PageGraph<'a, S>,
    guide: &'a mut G,
    /// Dead nodes, of all layers.
    dead: NodeSet,
    report: HnswVacuumReport,
    /// What searches for neighbours use, one after the other.
    memory: SearchMemory,
}

impl<'a, S, G> Vacuum<'a, S, G> {
    fn new(graph: PageGraph<'a, S>, guide: &'a mut G, dead: NodeSet) -> Self {
        let report = HnswVacuumReport::default();
        Vacuum { graph, guide, dead, report, memory: SearchMemory::default() }
    }
}

/// Removes the rows that are gone.
pub fn vacuum<S: StoreMut, G: Guide>(store: &S, guide: &mut G) -> Result<HnswVacuumReport> {
    let shape = read_meta(store)?.shape;
    let dead = NodeSet::below(shape.nodes_below(store.blocks()?))?;
    let graph = PageGraph::new(store, &shape);
    let mut vacuum = Vacuum::new(graph, guide, dead);
    if vacuum.mark()? {
        remember(store, None)?;
        vacuum.mark_upper()?;
        vacuum.guide.without_inserts(|| Ok(()))?;
        vacuum.move_entry()?;
        vacuum.mend()?;
        vacuum.adopt()?;
        vacuum.free()?;
    } else if vacuum.guide.may_adopt() {
        vacuum.adopt_if_due()?;
    }
    Ok(vacuum.report)
}

/// Has a way lead to each row, where inserts that were cut short may have left none. No row is gone.
pub fn repair<S: StoreMut, G: Guide>(store: &S, guide: &mut G) -> Result<()> {
    let shape = read_meta(store)?.shape;
    Vacuum::new(PageGraph::new(store, &shape), guide, NodeSet::default()).adopt_if_due()
}

/// A node as a vacuum sees it in its page.
#[derive(Clone, Copy)]
struct VacuumedNode {
    /// Its number; what lies in loose slots has none, of which pages have more than numbers.
    node: u32,
    slot: u32,
    kind: HnswPageKind,
    state: NodeState,
    row: RowId,
    ground: u32,
    below: u32,
    layer: u8,
}

impl<S: StoreMut, G: Guide> Vacuum<'_, S, G> {
    /// Has a way lead to each node, if one has come since all had ways. No node is dead.
    fn adopt_if_due(&mut self) -> Result<()> {
        let (store, shape) = (self.graph.store, self.graph.shape);
        let now = NextRoom::now(store, shape)?;
        if now.is_some() && now == NextRoom::remembered(store)? {
            return Ok(());
        }
        // What an insert has done that began before is looked at. One that begins later is known by its node.
        let room = self.guide.without_inserts(|| NextRoom::now(store, shape))?;
        match self.adopt()? {
            true => remember(store, room),
            false => Ok(()),
        }
    }

    /// What the slots of a page hold, but for free ones.
    fn look(&mut self, block: u32) -> Result<Vec<VacuumedNode>> {
        self.guide.pause()?;
        let shape = self.graph.shape;
        if shape.layout.role(block) != BlockRole::Data {
            return Ok(Vec::new());
        }
        self.graph.store.read_in_passing(block, |page| {
            let Some(kind) = page::kind(page) else { return Vec::new() };
            let slots = (0..shape.slots(kind)).filter_map(|slot| {
                let seen = SlotView::of(shape, page, kind, slot)?;
                let upper = kind == HnswPageKind::Upper;
                let (ground, below) =
                    if upper { (seen.ground(), seen.below()) } else { (NONE, NONE) };
                let node = match kind {
                    HnswPageKind::Loose => NONE,
                    _ => shape.node(NodePlace { block, slot }),
                };
                let (state, row, layer) = (seen.state(), seen.row(), seen.layer());
                (state != NodeState::Free).then_some(VacuumedNode {
                    node,
                    slot,
                    kind,
                    state,
                    row,
                    ground,
                    below,
                    layer,
                })
            });
            slots.collect()
        })
    }

    /// Marks the nodes whose rows are gone. Whether there are any.
    fn mark(&mut self) -> Result<bool> {
        let mut any = false;
        for block in 1..self.graph.store.blocks()? {
            let seen = self.look(block)?;
            let (kept, gone): (Vec<VacuumedNode>, Vec<VacuumedNode>) = seen
                .into_iter()
                .filter(|seen| seen.kind != HnswPageKind::Upper)
                .partition(|seen| seen.state != NodeState::Dead && !self.guide.is_gone(seen.row));
            self.report.left += kept.len() as u64;
            if gone.is_empty() {
                continue;
            }
            self.report.removed +=
                gone.iter().filter(|seen| seen.state != NodeState::Dead).count() as u64;
            any |= self.mark_page(block, &gone)?;
        }
        Ok(any)
    }

    /// Marks or frees slots of one page. Whether dead nodes are among them.
    fn mark_page(&mut self, block: u32, gone: &[VacuumedNode]) -> Result<bool> {
        let shape = self.graph.shape;
        self.graph.store.write(block, |page| {
            let mut any = false;
            for seen in gone.iter().filter(|seen| seen.state != NodeState::Dead) {
                let slot = SlotMut::of(shape, page, seen.kind, seen.slot);
                let Some(mut slot) = slot else { continue };
                if slot.look().row() == seen.row && slot.look().state() == seen.state {
                    if seen.kind == HnswPageKind::Loose {
                        slot.free()
                    } else {
                        slot.set_state(NodeState::Dead)
                    }
                    any = true;
                }
            }
            Ok(any)
        })?;
        if gone.first().is_some_and(|seen| seen.kind == HnswPageKind::Loose) {
            add_to_list(self.graph.store, HnswPageKind::Loose, block)?;
            return Ok(false);
        }
        for seen in gone {
            self.dead.insert(seen.node);
        }
        Ok(true)
    }

    /// Marks the nodes above those that are dead.
    fn mark_upper(&mut self) -> Result<()> {
        for block in 1..self.graph.store.blocks()? {
            let seen = self.look(block)?;
            let above = seen.into_iter().filter(|seen| seen.kind == HnswPageKind::Upper);
            let gone: Vec<VacuumedNode> = above
                .filter(|seen| seen.state == NodeState::Dead || self.dead.contains(seen.ground))
                .collect();
            if !gone.is_empty() {
                self.mark_page(block, &gone)?;
            }
        }
        Ok(())
    }

    fn move_entry(&mut self) -> Result<()> {
        let Some(entry) = read_meta(self.graph.store)?.entry else { return Ok(()) };
        if !self.dead.contains(entry.node) {
            return Ok(());
        }
        let highest = self.highest_living()?;
        self.graph
            .store
            .write(0, |first| {
                let mut meta = page::HnswMeta::read(first)?;
                // An insert may have raised it meanwhile.
                let is_dead = meta.entry.is_some_and(|now| self.dead.contains(now.node));
                if is_dead {
                    meta.entry = highest;
                    meta.write(first);
                }
                Ok(is_dead)
            })
            .map(drop)
    }

    fn highest_living(&mut self) -> Result<Option<EntryPoint>> {
        let mut highest: Option<EntryPoint> = None;
        for block in 1..self.graph.store.blocks()? {
            for seen in self.look(block)? {
                let is_higher = highest.is_none_or(|entry| entry.layer < seen.layer);
                if seen.kind == HnswPageKind::Upper && seen.state == NodeState::Live && is_higher {
                    highest = Some(EntryPoint { node: seen.node, layer: seen.layer });
                }
            }
        }
        match highest {
            Some(entry) => Ok(Some(entry)),
            None => Ok(any_live_node(&self.graph)?.map(|node| EntryPoint { node, layer: 0 })),
        }
    }

    fn mend(&mut self) -> Result<()> {
        for block in 1..self.graph.store.blocks()? {
            for seen in self.look(block)? {
                if seen.state == NodeState::Live && seen.kind != HnswPageKind::Loose {
                    self.mend_node(seen)?;
                }
            }
        }
        Ok(())
    }

    fn mend_node(&mut self, seen: VacuumedNode) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let Some(old) = read_links(&self.graph, seen.node, seen.layer)? else { return Ok(()) };
            if !old.iter().any(|link| self.dead.contains(*link)) {
                return Ok(());
            }
            let new = self.mended(seen, &old)?;
            if replace_links(&self.graph, seen.node, seen.layer, &old, &new)? {
                let gained = new.iter().copied().filter(|link| !old.contains(link));
                return self.link_back_from(gained, seen);
            }
        }
        Ok(())
    }

    /// Whether a node has so few neighbours that what is left of them leads to too little. Then they are chosen
    /// as an insert chooses them.
    fn has_short_lists(&self) -> bool {
        self.graph.shape.degree.m < SHORT
    }

    /// Makes nodes link to one that has begun to link to them, where they have room or it is better.
    fn link_back_from(&self, nodes: impl Iterator<Item = u32>, to: VacuumedNode) -> Result<()> {
        let payload = match self.has_short_lists() {
            true => self.graph.payload(to.node, to.layer)?,
            false => None,
        };
        for node in nodes {
            match &payload {
                Some((payload, _)) => {
                    offer(&self.graph, node, to.node, payload.bytes(), to.layer)?;
                }
                None => self.link_if_room(node, to)?,
            }
        }
        Ok(())
    }

    /// Makes `from` link to a node, if it has room.
    fn link_if_room(&self, from: u32, to: VacuumedNode) -> Result<()> {
        let Some(old) = read_links(&self.graph, from, to.layer)? else { return Ok(()) };
        let has_room = old.len() < self.graph.shape.degree.most(to.layer);
        if !has_room || old.contains(&to.node) {
            return Ok(());
        }
        let mut new = old.clone();
        new.push(to.node);
        // A process that has changed the list meanwhile has linked it well enough.
        replace_links(&self.graph, from, to.layer, &old, &new).map(drop)
    }

    /// The living links of a node, and in place of the dead the best of their neighbours.
    fn mended(&mut self, seen: VacuumedNode, old: &[u32]) -> Result<Vec<u32>> {
        let (gone, mut kept): (Vec<u32>, Vec<u32>) =
            old.iter().partition(|link| self.dead.contains(**link));
        let Some((center, _)) = self.graph.payload(seen.node, seen.layer)? else { return Ok(kept) };
        let mut beyond = self.beyond(&gone, seen.layer)?;
        let mut most = gone.len();
        if self.has_short_lists() {
            let found = nearest(&self.graph, center.bytes(), seen.layer, &mut self.memory)?;
            beyond.extend(found.iter().map(|found| found.node).chain(kept.drain(..)));
            most = self.graph.shape.degree.most(seen.layer);
        }
        beyond.sort_unstable();
        beyond.dedup();
        beyond.retain(|node| *node != seen.node && !kept.contains(node));
        let mut candidates: Vec<(f32, u32, Payload)> = Vec::new();
        for node in beyond {
            if let Some((payload, NodeState::Live)) = self.graph.payload(node, seen.layer)? {
                let distance = self.graph.shape.space.distance(center.bytes(), payload.bytes());
                candidates.push((distance, node, payload));
            }
        }
        candidates.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let candidates: Vec<LinkCandidate<'_>> = candidates
            .iter()
            .map(|(distance, node, payload)| LinkCandidate {
                node: *node,
                distance: *distance,
                payload: payload.bytes(),
            })
            .collect();
        kept.extend(select(&self.graph.space, center.bytes(), &candidates, most));
        Ok(kept)
    }

    /// The living nodes to which the dead nodes `gone` lead, directly or, where these are few, by others
    /// that are dead.
    fn beyond(&self, gone: &[u32], layer: u8) -> Result<Vec<u32>> {
        let wanted = WANTED * self.graph.shape.degree.most(layer);
        let mut known: HashSet<u32> = gone.iter().copied().collect();
        let mut living = Vec::new();
        let mut next: VecDeque<u32> = gone.iter().copied().collect();
        let mut directly = gone.len();
        let mut links = Vec::new();
        while let Some(node) = next.pop_front()
            && (directly > 0 || living.len() < wanted)
        {
            directly = directly.saturating_sub(1);
            links.clear();
            self.graph.neighbours(node, layer, &mut links)?;
            for link in links.iter().filter(|link| known.insert(**link)) {
                match self.dead.contains(*link) {
                    true => next.push_back(*link),
                    false => living.push(*link),
                }
            }
        }
        Ok(living)
    }

    /// Frees slots of one page, those on the ground together with their links.
    fn free_on(&self, block: u32, gone: &[VacuumedNode]) -> Result<()> {
        let shape = self.graph.shape;
        let list = |seen: &VacuumedNode| match seen.kind {
            HnswPageKind::Ground => shape.layout.links(shape.place(seen.node)),
            _ => None,
        };
        let list_block = |seen: &VacuumedNode| list(seen).map(|list| list.block);
        for gone in gone.chunk_by(|a, b| list_block(a) == list_block(b)) {
            match list_block(&gone[0]) {
                None => self.graph.store.write(block, |page| Ok(free_all(shape, page, gone)))?,
                Some(first) => self.graph.store.write_two(first, block, |lists, page| {
                    for list in gone.iter().filter_map(list) {
                        page::put_links(shape, lists, list.slot, &[]);
                    }
                    Ok(free_all(shape, page, gone))
                })?,
            };
        }
        Ok(())
    }

    fn free(&mut self) -> Result<()> {
        for block in 1..self.graph.store.blocks()? {
            let seen = self.look(block)?;
            let gone: Vec<VacuumedNode> = seen
                .into_iter()
                .filter(|seen| seen.state == NodeState::Dead && self.dead.contains(seen.node))
                .collect();
            let Some(first) = gone.first() else { continue };
            let kind = first.kind;
            self.free_on(block, &gone)?;
            add_to_list(self.graph.store, kind, block)?;
        }
        Ok(())
    }
}

fn free_all(shape: &IndexShape, page: &mut Page, gone: &[VacuumedNode]) -> bool {
    for seen in gone {
        if let Some(mut slot) = SlotMut::of(shape, page, seen.kind, seen.slot) {
            slot.free();
        }
    }
    true
}
