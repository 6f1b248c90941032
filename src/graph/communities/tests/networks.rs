//! Networks for tests.

use std::collections::HashSet;

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

/// A community for each of so many nodes.
pub fn alone(nodes: usize) -> Vec<u32> {
    (0..nodes as u32).collect()
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

/// A network of the benchmark of Lancichinetti, Fortunato and Radicchi, as [`lfr_edges`] makes it, and the community of
/// each node.
pub fn planted(nodes: usize, mixing: f64, seed: u64) -> (WeightedNetwork, Vec<u32>) {
    let (edges, community) = lfr_edges(nodes, mixing, seed);
    (network(nodes, &edges), community)
}

/// Times that ends of edges are drawn again that do not fit together.
const MOST_DRAWS: usize = 100;

/// The edges of a network of the benchmark of Lancichinetti, Fortunato and Radicchi (2008), each once, and the community
/// of each node. Sizes of communities and degrees of nodes follow power laws, and the share `mixing` of each node's edges
/// leads to other communities. The few ends of edges that fit nowhere are left out.
pub fn lfr_edges(nodes: usize, mixing: f64, seed: u64) -> (Vec<(u32, u32)>, Vec<u32>) {
    let mut random = Random::new(seed);
    let sizes = lfr_sizes(&mut random, nodes);
    let degrees: Vec<usize> = (0..nodes).map(|_| power_law(&mut random, 8.0, 40.0, 2.5)).collect();
    let inward = |degree: usize| ((1.0 - mixing) * degree as f64).round() as usize;
    let wanted: Vec<usize> = degrees.iter().map(|degree| inward(*degree)).collect();
    let community = lfr_places(&mut random, &sizes, &wanted);
    let (mut within, mut between) = (vec![Vec::new(); sizes.len()], Vec::new());
    for (node, own) in (0..).zip(&community) {
        let (own, at) = (*own as usize, node as usize);
        let inside = wanted[at].min(sizes[own] - 1);
        within[own].extend(std::iter::repeat_n(node, inside));
        between.extend(std::iter::repeat_n(node, degrees[at] - inside));
    }
    let mut edges = Vec::new();
    for ends in within {
        edges.extend(drawn(&mut random, ends, &|_, _| true));
    }
    let is_apart = |a: u32, b: u32| community[a as usize] != community[b as usize];
    edges.extend(drawn(&mut random, between, &is_apart));
    (edges, community)
}

/// Sizes of communities of so many nodes in all, of 20 to 100 each, but for the last one, which may be smaller.
fn lfr_sizes(random: &mut Random, nodes: usize) -> Vec<usize> {
    let (mut sizes, mut left) = (Vec::new(), nodes);
    while left > 0 {
        let size = power_law(random, 20.0, 100.0, 1.5).min(left);
        sizes.push(size);
        left -= size;
    }
    sizes
}

/// A community for each node, at random among those that are larger than the number of neighbours it is to have there, as
/// long as these have a place left.
fn lfr_places(random: &mut Random, sizes: &[usize], wanted: &[usize]) -> Vec<u32> {
    let mut by_wish = random.shuffled(wanted.len());
    by_wish.sort_by_key(|node| std::cmp::Reverse(wanted[*node]));
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    by_size.sort_by_key(|own| sizes[*own]);
    let (mut places, mut community) = (Vec::new(), vec![0; wanted.len()]);
    for node in by_wish {
        while by_size.last().is_some_and(|own| sizes[*own] > wanted[node] || places.is_empty()) {
            let own = by_size.pop().expect("there is a last one");
            places.extend(std::iter::repeat_n(own as u32, sizes[own]));
        }
        community[node] = places.swap_remove(random.below(places.len()));
    }
    community
}

/// Edges between ends that are drawn at random: each once, none from a node to itself, and only such as fit.
fn drawn(
    random: &mut Random,
    mut ends: Vec<u32>,
    fits: &dyn Fn(u32, u32) -> bool,
) -> Vec<(u32, u32)> {
    let (mut edges, mut known) = (Vec::new(), HashSet::new());
    for draw in 1..=MOST_DRAWS {
        random.shuffle(&mut ends);
        let mut left = Vec::new();
        for pair in ends.chunks(2) {
            match *pair {
                [a, b] if a != b && fits(a, b) && known.insert((a.min(b), a.max(b))) => {
                    edges.push((a.min(b), a.max(b)));
                }
                _ => left.extend(pair),
            }
        }
        if left.len() < 2 || draw == MOST_DRAWS {
            break;
        }
        // As many edges are drawn again, or the last ends would hardly ever fit.
        for _ in 0..left.len().min(edges.len()) {
            let edge: (u32, u32) = edges.swap_remove(random.below(edges.len()));
            known.remove(&edge);
            left.extend([edge.0, edge.1]);
        }
        ends = left;
    }
    edges
}

/// A number between bounds whose probability falls with this power of it.
fn power_law(random: &mut Random, least: f64, most: f64, power: f64) -> usize {
    let drawn = random.below(1 << 30) as f64 / f64::from(1 << 30);
    let (low, high) = (least.powf(1.0 - power), most.powf(1.0 - power));
    (low + drawn * (high - low)).powf(1.0 / (1.0 - power)) as usize
}
