//! # proximity: what keeps a graph of the inner product in one piece?
//!
//! ```text
//! (nearest by the inner product) → + nearest by the Euclidean distance
//! ```
//!
//! By the inner product the nearest of most vectors are the same few long ones. A graph whose links
//! follow it alone (ip-NSW, Morozov and Babenko, NeurIPS 2018) leads to the long vectors at once
//! and to the short ones not at all: of uniform or clustered data a third to three quarters of the
//! nodes have no link from any other. A graph by the Euclidean distance alone leads everywhere,
//! and finds the largest products only by a wide search where directions are many.
//!
//! So up to one in [`EUCLIDEAN_SHARE`] of a node's neighbours is chosen by the Euclidean distance, and the others
//! by the product. Searches measure by the product, and have links of both kinds to follow. A walk
//! goes over long nodes, to which many others link by the product anyway: the longer a node is among those that
//! it could link to, the more it is left to the product. Among vectors of one length both orders are the
//! same, and nothing is done twice.

use super::graph::{Graph, Neighbor};
use super::search_layer::{DESCENT, LayerSearch};
use super::space::{DistanceMetric, Space};
use super::visited::Visited;
use crate::error::Result;

/// Where a full list is chosen anew, one place in so many is for the nearest by the Euclidean distance, if the
/// node is the shortest of all. Uniform, normal and log-normal vectors of 3 to 64 dimensions were tried with shares
/// from 1/8 to 1/2, the same for all or by several measures of length: a larger one finds less where
/// directions are many, a smaller one leaves nodes unreachable.
pub const EUCLIDEAN_SHARE: usize = 4;

/// A new node gets one neighbour by the Euclidean distance for so many by the product, beside these.
pub const EUCLIDEAN_EXTRA: usize = 6;

/// Lengths whose ratio is below are one length: sq8 and float16 change them as much.
const ONE_LENGTH: f32 = 1.01;

/// The Euclidean distance over the same payloads, where the metric is the inner product.
#[must_use]
pub fn euclidean(space: &Space) -> Option<Space> {
    let is_product = space.metric == DistanceMetric::InnerProduct;
    is_product.then_some(Space { metric: DistanceMetric::L2, ..*space })
}

/// Whether vectors of these lengths are in one order by the inner product and the Euclidean distance.
#[must_use]
pub fn is_one_length(lengths: impl Iterator<Item = f32>) -> bool {
    let (shortest, longest) = lengths
        .fold((f32::INFINITY, 0f32), |(least, most), length| (least.min(length), most.max(length)));
    longest <= shortest * ONE_LENGTH
}

/// A graph, and the same one by the Euclidean distance, in which the neighbours of one new node are
/// looked for.
pub struct Proximity<'a, G> {
    /// The graph by its own metric.
    pub graph: &'a G,
    /// The graph by the Euclidean distance.
    pub euclidean: G,
    /// Node numbers are below.
    pub nodes: usize,
    /// How many nodes are wanted.
    pub most: usize,
    /// The new node's vector.
    pub probe: &'a [u8],
    /// Its length.
    pub length: f32,
}

impl<G: Graph> Proximity<'_, G> {
    /// Adds the nodes of `layer` that are nearest by the Euclidean distance to `nearest`, those by the
    /// inner product, where they are not the same.
    pub fn add(
        &self,
        layer: u8,
        nearest: &mut Vec<Neighbor>,
        walk: &mut LayerSearch,
        visited: &mut Visited,
    ) -> Result<()> {
        if is_one_length(nearest.iter().map(|found| found.fit.norm).chain([self.length])) {
            return Ok(());
        }
        let starts: Vec<u32> = nearest.iter().take(DESCENT).map(|found| found.node).collect();
        visited.begin(self.nodes)?;
        walk.begin(&self.euclidean, self.probe, &starts, layer, self.most, visited)?;
        let is_new = |node: &u32| nearest.iter().all(|found| found.node != *node);
        let others: Vec<u32> = walk.nearest().iter().map(|it| it.node).filter(is_new).collect();
        self.graph.look(self.probe, &others, layer, &mut |found| nearest.push(found))?;
        nearest.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        Ok(())
    }
}
