//! The best modularity there is, by trying all; and what Louvain, the plain algorithm, comes to.

use std::collections::BTreeMap;

use crate::graph::communities::leiden::{modularity, renumbered};
use crate::graph::communities::network::WeightedNetwork;

/// The greatest modularity of all ways to divide a few nodes.
pub fn best_of_all(network: &WeightedNetwork) -> f64 {
    let mut best = f64::MIN;
    let mut community = vec![0; network.len()];
    divide(network, 0, &mut community, &mut best);
    best
}

fn divide(network: &WeightedNetwork, node: usize, community: &mut Vec<u32>, best: &mut f64) {
    if node == network.len() {
        *best = best.max(modularity(network, community, 1.0, &mut || {}));
        return;
    }
    let used = community[..node].iter().max().map_or(0, |it| it + 1);
    for own in 0..=used {
        community[node] = own;
        divide(network, node + 1, community, best);
    }
}

/// What Louvain comes to: each node in turn goes to the community near it by which all of the modularity gains most,
/// then communities become nodes.
pub fn louvain(network: &WeightedNetwork) -> Vec<u32> {
    let mut community: Vec<u32> = (0..network.len() as u32).collect();
    while moved(network, &mut community) {}
    let (community, count) = renumbered(&community);
    if count == network.len() {
        return community;
    }
    let above = louvain(&network.aggregated(&community, count, &mut || {}));
    community.iter().map(|it| above[*it as usize]).collect()
}

/// Whether a node has gained by a move.
fn moved(network: &WeightedNetwork, community: &mut [u32]) -> bool {
    let mut has_moved = false;
    let mut strengths = vec![0.0; network.len()];
    for node in 0..network.len() {
        strengths[community[node] as usize] += network.strength(node);
    }
    for node in 0..network.len() {
        let (own, strength) = (community[node], network.strength(node));
        strengths[own as usize] -= strength;
        let mut near: BTreeMap<u32, f64> = BTreeMap::from([(own, 0.0)]);
        for (other, weight) in network.links(node) {
            *near.entry(community[*other as usize]).or_default() += weight;
        }
        let gain = |it: u32| near[&it] - strength * strengths[it as usize] / network.total();
        let best = near.keys().copied().max_by(|a, b| gain(*a).total_cmp(&gain(*b)));
        if let Some(best) = best.filter(|best| gain(*best) > gain(own) + 1e-9) {
            community[node] = best;
            has_moved = true;
        }
        strengths[community[node] as usize] += strength;
    }
    has_moved
}
