//! # walk: which nodes are near this vector?
//!
//! ```text
//! (graph, probe, ef) → the nearest nodes that a walk along the links comes across
//! ```
//!
//! SEARCH-LAYER, algorithm 2 of the HNSW paper (Malkov and Yashunin, arXiv 1603.09320), with
//! two changes:
//!
//! 1. Nodes whose rows are gone, or do not count for another reason, still guide the walk.
//! 2. A walk can be widened. What it met and passed over is kept, so that a wider walk goes
//!    on where the narrower one stopped, and never computes a distance twice.
//!
//! ```text
//! while the nearest node not expanded is nearer than the ef-th nearest found:
//!     expand it: for each neighbour not met yet, compute its distance;
//!         is it among the ef nearest so far? keep it, to be expanded and to be returned
//!         else? pass it over
//! ```

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::{Graph, Neighbor};
use super::page::EntryPoint;
use super::visited::Visited;
use crate::error::Result;

/// A distance and an index into what was found, in one number that sorts by the distance.
type QueueKey = u64;

fn key(distance: f32, index: usize) -> QueueKey {
    // Products of very large elements can overflow to what is no number, whose sign depends on the processor.
    let bits = if distance.is_nan() { f32::INFINITY.to_bits() } else { distance.to_bits() };
    // Floats sort like integers, if negative ones are turned around.
    let ordered = if bits >> 31 == 1 { !bits } else { bits | 1 << 31 };
    u64::from(ordered) << 32 | index as u64
}

fn index(key: QueueKey) -> usize {
    (key & 0xFFFF_FFFF) as usize
}

fn distance_part(key: QueueKey) -> u64 {
    key >> 32
}

/// What searches of a thread use one after the other, so that it is allocated once.
#[derive(Debug, Default)]
pub struct SearchMemory {
    /// The walk.
    pub walk: LayerSearch,
    /// The nodes that it has met.
    pub visited: Visited,
}

/// A walk in one layer.
#[derive(Debug, Default)]
pub struct LayerSearch {
    /// All nodes met, in the order of meeting.
    found: Vec<Neighbor>,
    /// Nodes to be expanded, nearest first.
    frontier: BinaryHeap<Reverse<QueueKey>>,
    /// The ef nearest that count, farthest first.
    nearest: BinaryHeap<QueueKey>,
    /// Nodes that were not near enough to be expanded.
    passed_over: Vec<QueueKey>,
    /// Nodes that count and were among the ef nearest once.
    displaced: Vec<QueueKey>,
    /// Whether what is passed over is kept for a wider walk.
    can_widen: bool,
    ef: usize,
    /// Nodes whose neighbours were looked at, and distances computed, since the walk was made.
    expanded: u64,
    distances: u64,
    // Memory that is used again.
    links: Vec<u32>,
}

impl LayerSearch {
    /// A walk that keeps what a wider one needs.
    #[must_use]
    pub fn that_can_widen() -> LayerSearch {
        LayerSearch { can_widen: true, ..LayerSearch::default() }
    }

    /// Forgets everything but the memory.
    fn clear(&mut self) {
        self.found.clear();
        self.frontier.clear();
        self.nearest.clear();
        self.passed_over.clear();
        self.displaced.clear();
    }

    /// Walks from `starts` until the `ef` nearest are found that the links lead to.
    pub fn begin<G: Graph>(
        &mut self,
        graph: &G,
        probe: &[u8],
        starts: &[u32],
        layer: u8,
        ef: usize,
        visited: &mut Visited,
    ) -> Result<()> {
        self.clear();
        self.ef = ef;
        self.links.clear();
        self.links.extend(starts.iter().filter(|node| visited.insert(**node)));
        self.meet_links(graph, probe, layer)?;
        self.go_on(graph, probe, layer, visited)
    }

    /// Goes on until the `ef` nearest are found, which are more than before.
    pub fn widen<G: Graph>(
        &mut self,
        graph: &G,
        probe: &[u8],
        layer: u8,
        ef: usize,
        visited: &mut Visited,
    ) -> Result<()> {
        debug_assert!(self.can_widen && ef >= self.ef);
        self.ef = ef;
        let passed_over = std::mem::take(&mut self.passed_over);
        let counted = passed_over.iter().filter(|key| self.found[index(**key)].is_live);
        let mut candidates: Vec<QueueKey> =
            counted.copied().chain(self.displaced.drain(..)).collect();
        self.frontier.extend(passed_over.into_iter().map(Reverse));
        let more = ef.saturating_sub(self.nearest.len());
        if more < candidates.len() {
            candidates.select_nth_unstable(more);
            self.displaced.extend(candidates.drain(more..));
        }
        self.nearest.extend(candidates);
        self.go_on(graph, probe, layer, visited)
    }

    fn go_on<G: Graph>(
        &mut self,
        graph: &G,
        probe: &[u8],
        layer: u8,
        visited: &mut Visited,
    ) -> Result<()> {
        while let Some(Reverse(next)) = self.frontier.peek().copied() {
            if self.is_full() && self.nearest.peek().is_some_and(|far| next > *far) {
                break;
            }
            self.frontier.pop();
            self.expanded += 1;
            graph.interrupted()?;
            self.links.clear();
            graph.neighbours(self.found[index(next)].node, layer, &mut self.links)?;
            self.links.retain(|node| visited.insert(*node));
            // Those on one page stand together.
            self.links.sort_unstable();
            if let Some(Reverse(after)) = self.frontier.peek() {
                graph.approach(self.found[index(*after)].node, layer);
            }
            self.meet_links(graph, probe, layer)?;
        }
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.nearest.len() >= self.ef
    }

    fn meet_links<G: Graph>(&mut self, graph: &G, probe: &[u8], layer: u8) -> Result<()> {
        let links = std::mem::take(&mut self.links);
        let result = graph.look(probe, &links, layer, &mut |found| self.meet(found));
        self.links = links;
        result
    }

    fn meet(&mut self, found: Neighbor) {
        self.distances += 1;
        let key = key(found.distance, self.found.len());
        let is_near = !self.is_full()
            || self.nearest.peek().is_none_or(|far| distance_part(key) < distance_part(*far));
        if is_near {
            self.found.push(found);
            self.frontier.push(Reverse(key));
            if found.is_live {
                self.nearest.push(key);
                if self.nearest.len() > self.ef {
                    let far = self.nearest.pop();
                    self.displaced.extend(far.filter(|_| self.can_widen));
                }
            }
        } else if self.can_widen {
            self.found.push(found);
            self.passed_over.push(key);
        }
    }

    /// The nearest nodes that count, nearest first; at most `ef`.
    #[must_use]
    pub fn nearest(&self) -> Vec<Neighbor> {
        let mut keys: Vec<QueueKey> = self.nearest.iter().copied().collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| self.found[index(key)]).collect()
    }

    /// The nearest node, whether it counts or not.
    #[must_use]
    pub fn nearest_of_all(&self) -> Option<Neighbor> {
        self.found.iter().copied().min_by(|a, b| a.distance.total_cmp(&b.distance))
    }

    /// The nearest nodes' own nodes one layer below `layer`: of those that count, or of the
    /// nearest of all if none does.
    pub fn below<G: Graph>(&self, graph: &G, layer: u8) -> Result<Vec<u32>> {
        let mut nearest = self.nearest();
        if nearest.is_empty() {
            nearest.extend(self.nearest_of_all());
        }
        let mut below = Vec::with_capacity(nearest.len());
        for found in nearest.iter().take(DESCENT) {
            below.extend(graph.below(found.node, layer)?);
        }
        Ok(below)
    }

    /// How many nodes' neighbours were looked at, and how many distances were computed, in this
    /// walk and those before it.
    #[must_use]
    pub fn effort(&self) -> (u64, u64) {
        (self.expanded, self.distances)
    }

    /// How many nodes were met. Without [`LayerSearch::that_can_widen`], those passed over don't count.
    #[must_use]
    pub fn met(&self) -> usize {
        self.found.len()
    }

    /// Whether the links lead nowhere else: every node that can be reached was met and expanded.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.frontier.is_empty() && self.passed_over.is_empty()
    }

    /// Bytes of memory that the walk takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Neighbor>() * self.found.capacity()
            + size_of::<QueueKey>()
                * (self.frontier.capacity()
                    + self.nearest.capacity()
                    + self.passed_over.capacity()
                    + self.displaced.capacity())
    }
}

/// Nodes that are followed down through the upper layers. The paper follows one; among
/// vectors that lie in clusters that one ends in the wrong cluster now and then, and the layers
/// are so sparse that a few more cost little.
pub const DESCENT: usize = 4;

/// Goes down from `entry` to layer `to`, in each layer to the nodes nearest to `probe`.
///
/// Gives nodes of layer `to`; none if the way is broken: the entry or the nodes below have
/// gone. This is the first loop of algorithms 1 and 5 of the paper, with [`DESCENT`] for ef.
pub fn descend<G: Graph>(
    graph: &G,
    probe: &[u8],
    entry: EntryPoint,
    to: u8,
    walk: &mut LayerSearch,
    visited: &mut Visited,
) -> Result<Vec<u32>> {
    let mut starts = vec![entry.node];
    for layer in (to + 1..=entry.layer).rev() {
        walk.begin(graph, probe, &starts, layer, DESCENT, visited)?;
        starts = walk.below(graph, layer)?;
    }
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_sort_like_distances(a in any::<f32>(), b in any::<f32>()) {
            prop_assume!(!a.is_nan() && !b.is_nan() && a != b);
            prop_assert_eq!(key(a, 7) < key(b, 3), a < b);
            prop_assert_eq!(index(key(a, 7)), 7);
        }
    }

    #[test]
    fn what_is_no_number_is_farthest() {
        for distance in [f32::NAN, -f32::NAN] {
            assert!(key(distance, 3) > key(f32::MAX, 7));
        }
    }
}
