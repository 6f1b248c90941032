//! # ways: can a walk still come to every node?
//!
//! Where many nodes of a region are gone, what is left of it can lose all links from the rest: a
//! node alone, or a cluster whose members link to each other only. Links are followed from the
//! entry, layer by layer; what they do not lead to is linked to what is nearest of the rest.

use super::super::back_link::link_from_all;
use super::super::graph::{Graph, Neighbor, PageGraph};
use super::super::insert::raise_entry;
use super::super::node_links::{read_links, replace_links};
use super::super::node_set::NodeSet;
use super::super::page::{EntryPoint, HnswPageKind, NodeState};
use super::super::proximity::euclidean;
use super::super::search_layer::{SearchMemory, descend};
use super::super::slots::read_meta;
use super::{Guide, Vacuum, VacuumedNode};
use crate::error::Result;
use crate::pages::{Store, StoreMut};

/// How often all ways are looked at while some had to be made.
const ROUNDS: usize = 4;

/// Which nodes can be reached, and from where.
struct Reachability {
    entry: Option<u32>,
    /// A walk can come here.
    reached: NodeSet,
    /// A link leads here.
    linked: NodeSet,
    /// Nodes that got new links.
    relinked: usize,
}

impl<S: StoreMut, G: Guide> Vacuum<'_, S, G> {
    /// Has a way lead to each living node: from the entry, or in a layer below others from a node
    /// that is in both. Each but the entry gets a link from its own layer, too. Whether all have both in the end.
    pub(super) fn adopt(&mut self) -> Result<bool> {
        // A full list that takes a link gives another one up.
        for _ in 0..ROUNDS {
            if self.adopt_once()? == 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How many nodes got new links.
    fn adopt_once(&mut self) -> Result<usize> {
        let uppers = self.living_uppers()?;
        self.raise_entry_to_highest(&uppers)?;
        let entry = read_meta(self.graph.store)?.entry.map(|entry| entry.node);
        let nodes = self.graph.shape.nodes_below(self.graph.store.blocks()?);
        let mut ways = Reachability {
            entry,
            reached: NodeSet::below(nodes)?,
            linked: NodeSet::below(nodes)?,
            relinked: 0,
        };
        let highest = uppers.iter().map(|seen| seen.layer).max().unwrap_or(0);
        for layer in (1..=highest).rev() {
            self.enter(layer, &uppers, &mut ways)?;
            let of_layer = uppers.iter().filter(|seen| seen.layer == layer);
            let of_layer: Vec<u32> = of_layer.map(|seen| seen.node).collect();
            self.give_ways(&of_layer, layer, &mut ways)?;
            self.give_links(&of_layer, layer, &mut ways)?;
        }
        self.enter(0, &uppers, &mut ways)?;
        let blocks = 1..self.graph.store.blocks()?;
        for block in blocks.clone() {
            let nodes = self.living_in(block, HnswPageKind::Ground)?;
            self.give_ways(&nodes, 0, &mut ways)?;
        }
        for block in blocks {
            let nodes = self.living_in(block, HnswPageKind::Ground)?;
            self.give_links(&nodes, 0, &mut ways)?;
        }
        Ok(ways.relinked)
    }

    fn living_uppers(&mut self) -> Result<Vec<VacuumedNode>> {
        let mut uppers = Vec::new();
        for block in 1..self.graph.store.blocks()? {
            let seen = self.look(block)?.into_iter();
            uppers.extend(
                seen.filter(|it| it.kind == HnswPageKind::Upper && it.state == NodeState::Live),
            );
        }
        Ok(uppers)
    }

    fn living_in(&mut self, block: u32, kind: HnswPageKind) -> Result<Vec<u32>> {
        let seen = self.look(block)?.into_iter();
        let living = seen.filter(|it| it.kind == kind && it.state == NodeState::Live);
        Ok(living.map(|it| it.node).collect())
    }

    /// An insert may have made a higher node while the entry was being moved.
    fn raise_entry_to_highest(&mut self, uppers: &[VacuumedNode]) -> Result<()> {
        let mut highest =
            uppers.iter().max_by_key(|seen| seen.layer).map(|seen| (seen.node, seen.layer));
        let mut blocks = 1..self.graph.store.blocks()?;
        while highest.is_none()
            && let Some(block) = blocks.next()
        {
            highest = self.living_in(block, HnswPageKind::Ground)?.first().map(|node| (*node, 0));
        }
        match highest {
            Some((node, layer)) => {
                raise_entry(self.graph.store, EntryPoint { node, layer }).map(drop)
            }
            None => Ok(()),
        }
    }

    /// Goes from the entry, and from the nodes of the layer above, as far as links lead.
    fn enter(&mut self, layer: u8, uppers: &[VacuumedNode], ways: &mut Reachability) -> Result<()> {
        let above = uppers.iter().filter(|seen| u16::from(seen.layer) == u16::from(layer) + 1);
        for start in above.map(|seen| seen.below).chain(ways.entry) {
            self.spread(start, layer, ways)?;
        }
        Ok(())
    }

    /// Has a link lead to each of `nodes` that has not been reached, and goes on from there.
    fn give_ways(&mut self, nodes: &[u32], layer: u8, ways: &mut Reachability) -> Result<()> {
        for node in nodes {
            if !ways.reached.contains(*node) {
                ways.relinked += usize::from(self.relink(*node, layer)?);
                self.spread(*node, layer, ways)?;
            }
        }
        Ok(())
    }

    /// Has a link lead to each of `nodes` to which none does, once all have been reached.
    fn give_links(&mut self, nodes: &[u32], layer: u8, ways: &mut Reachability) -> Result<()> {
        for node in nodes {
            if !ways.linked.contains(*node) && ways.entry != Some(*node) {
                ways.relinked += usize::from(self.relink(*node, layer)?);
            }
        }
        Ok(())
    }

    /// Notes what links lead to from `start` on. A node is noted before its turn comes: so each waits once at most,
    /// and not once for each link to it.
    fn spread(&mut self, start: u32, layer: u8, ways: &mut Reachability) -> Result<()> {
        let (mut next, mut links) = (Vec::new(), Vec::new());
        if !self.dead.contains(start) && ways.reached.insert(start) {
            next.push(start);
        }
        while let Some(node) = next.pop() {
            self.guide.pause()?;
            links.clear();
            self.graph.neighbours(node, layer, &mut links)?;
            for link in &links {
                ways.linked.insert(*link);
                if !self.dead.contains(*link) && ways.reached.insert(*link) {
                    next.push(*link);
                }
            }
        }
        Ok(())
    }

    /// Finds neighbours for a node as an insert does, and links both ways; whether there are any.
    fn relink(&mut self, node: u32, layer: u8) -> Result<bool> {
        self.guide.pause()?;
        let Some((payload, _)) = self.graph.payload(node, layer)? else { return Ok(false) };
        let Some(old) = read_links(&self.graph, node, layer)? else { return Ok(false) };
        // By the inner product the nearest would be the same few long vectors for all.
        let by = euclidean(&self.graph.space).unwrap_or(self.graph.space);
        let graph = self.graph.measured_by(by);
        let nearest = nearest(&graph, payload.bytes(), layer, &mut self.memory)?;
        let found = nearest.iter().map(|found| found.node).filter(|other| *other != node);
        let found: Vec<u32> = found.take(usize::from(self.graph.shape.degree.m)).collect();
        let mut links = old.clone();
        for other in &found {
            if !links.contains(other) && links.len() < self.graph.shape.degree.most(layer) {
                links.push(*other);
            }
        }
        replace_links(&self.graph, node, layer, &old, &links)?;
        link_from_all(&self.graph, &found, node, payload.bytes(), layer)?;
        Ok(!found.is_empty())
    }
}

/// The nodes of a layer nearest to `probe`.
pub(super) fn nearest<S: Store>(
    graph: &PageGraph<'_, S>,
    probe: &[u8],
    layer: u8,
    SearchMemory { walk, visited }: &mut SearchMemory,
) -> Result<Vec<Neighbor>> {
    let meta = read_meta(graph.store)?;
    let Some(entry) = meta.entry.filter(|entry| entry.layer >= layer) else {
        return Ok(Vec::new());
    };
    visited.begin(meta.shape.nodes_below(graph.store.blocks()?))?;
    let starts = descend(graph, probe, entry, layer, walk, visited)?;
    let ef = usize::from(meta.shape.degree.ef_construction);
    walk.begin(graph, probe, &starts, layer, ef, visited)?;
    Ok(walk.nearest())
}
