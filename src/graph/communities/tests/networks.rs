//! Networks for tests.

use crate::graph::communities::NodeEdge;
use crate::graph::communities::leiden::LeidenSettings;
use crate::graph::communities::network::WeightedNetwork;
use crate::random::Random;

/// The usual resolution, with a seed.
pub fn settings(seed: u64) -> LeidenSettings {
    LeidenSettings { resolution: 1.0, seed }
}

/// A network of edges that weigh 1.
pub fn network(nodes: usize, edges: &[(u32, u32)]) -> WeightedNetwork {
    let edges = edges.iter().map(|(from, to)| NodeEdge::new(*from, *to, 1.0));
    WeightedNetwork::new(nodes, edges.collect(), &mut || {})
}

/// Cliques of five nodes in a ring, each tied by one edge to the next.
pub fn ring_of_cliques(cliques: u32) -> WeightedNetwork {
    let mut edges = Vec::new();
    for clique in 0..cliques {
        for from in 0..5 {
            edges.extend((from + 1..5).map(|to| (5 * clique + from, 5 * clique + to)));
        }
        edges.push((5 * clique, 5 * ((clique + 1) % cliques) + 1));
    }
    network(5 * cliques as usize, &edges)
}

/// A network as the benchmark of Lancichinetti, Fortunato and Radicchi makes them: communities of sizes, and nodes of
/// degrees, that follow power laws, where about the share `mixing` of each node's edges leads to other communities. And
/// the community of each node.
pub fn planted(nodes: usize, mixing: f64, seed: u64) -> (WeightedNetwork, Vec<u32>) {
    let mut random = Random::new(seed);
    let mut community: Vec<u32> = Vec::with_capacity(nodes);
    let mut count = 0;
    while community.len() < nodes {
        let size = power_law(&mut random, 20.0, 100.0, 1.5).min(nodes - community.len());
        community.extend(std::iter::repeat_n(count, size));
        count += 1;
    }
    let (mut within, mut between) = (vec![Vec::new(); count as usize], Vec::new());
    for (node, own) in (0..).zip(&community) {
        let degree = power_law(&mut random, 8.0, 40.0, 2.5);
        for _ in 0..degree {
            let is_outward = (random.below(1 << 20) as f64) < mixing * f64::from(1 << 20);
            if is_outward { between.push(node) } else { within[*own as usize].push(node) }
        }
    }
    let mut edges = Vec::new();
    for ends in within.iter_mut().chain([&mut between]) {
        random.shuffle(ends);
        edges.extend(ends.chunks_exact(2).filter(|it| it[0] != it[1]).map(|it| (it[0], it[1])));
    }
    (network(nodes, &edges), community)
}

/// A number between bounds whose probability falls with this power of it.
fn power_law(random: &mut Random, least: f64, most: f64, power: f64) -> usize {
    let drawn = random.below(1 << 30) as f64 / f64::from(1 << 30);
    let (low, high) = (least.powf(1.0 - power), most.powf(1.0 - power));
    (low + drawn * (high - low)).powf(1.0 / (1.0 - power)) as usize
}
