//! Several searches for communities, joined by what they agree on: the core groups of Ovelgönne and Geyer-Schulz (2013),
//! "An ensemble learning strategy for graph clustering".
//!
//! ```text
//! search once more from single nodes │ what that and the best so far keep together │ search among these groups,
//!                                    │          becomes one node each              │ then among all nodes from there
//! ```
//!
//! Where most edges lead elsewhere, there are very many divisions that no single move betters, and which of them a search
//! ends at is chance. What two searches agree on hardly is, and groups of nodes move where no single one of them gains.

use std::collections::HashMap;

use super::leiden::{Division, LeidenSearch, LeidenSettings, connected};
use super::network::WeightedNetwork;
use super::watch::InterruptWatch;

/// Nodes and edges that all searches of a network may have together, as far as there is more than one.
const MOST_SEARCHED: usize = 500_000;

/// Most searches. The more there are, the less one more of them finds.
const MOST_SEARCHES: usize = 6;

/// What has to be gained of the modularity. What is less may be an error of rounding, by which one of several like
/// divisions would take the place of another.
const LEAST_GAIN: f64 = 1e-9;

/// How many searches a network is worth: 500,000 divided by its nodes and edges, rounded down, from 1 to 6. Beyond 250,000
/// of them there is one search. A smaller network, with all that is joined, takes about as long as a few searches of one
/// of that size.
#[must_use]
pub fn searches_for(network: &WeightedNetwork) -> usize {
    let size = network.len() + network.edges();
    (MOST_SEARCHED / size.max(1)).clamp(1, MOST_SEARCHES)
}

/// The community of each node, numbered from 0 in the order of their first nodes: the best of so many searches from single
/// nodes, and of what comes of joining each with the best before it. Each community is connected. The same network, number
/// of searches and seed come to the same communities. `interrupt` is called from time to time and may unwind.
///
/// It takes memory for a few numbers for each node, and beside the network for that of what two searches agree on.
#[must_use]
pub fn ensemble(
    network: &WeightedNetwork,
    searches: usize,
    settings: LeidenSettings,
    interrupt: &mut dyn FnMut(),
) -> Vec<u32> {
    let mut search = LeidenSearch::new(settings, interrupt);
    let mut best = search.run(network, &alone(network.len()));
    for _ in 1..searches {
        let other = search.run(network, &alone(network.len()));
        // Communities are numbered by their first nodes, so these are the same ones, and there is nothing to join.
        if other.community == best.community {
            continue;
        }
        let both = joined(&mut search, network, &best, &other);
        for next in [other, both] {
            if next.quality > best.quality + LEAST_GAIN {
                best = next;
            }
        }
    }
    best.community
}

/// The groups of nodes that two divisions both keep together, as far as they are connected, numbered from 0 in the order
/// of their first nodes. `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn core_groups(
    network: &WeightedNetwork,
    one: &[u32],
    other: &[u32],
    interrupt: &mut dyn FnMut(),
) -> Vec<u32> {
    let watch = &mut InterruptWatch::new(interrupt);
    let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
    let mut kept = Vec::with_capacity(network.len());
    for pair in one.iter().copied().zip(other.iter().copied()) {
        watch.step();
        let next = numbers.len() as u32;
        kept.push(*numbers.entry(pair).or_insert(next));
    }
    connected(network, &kept, interrupt)
}

/// What comes of two divisions: their core groups find communities as if they were nodes, and nodes go on from these.
fn joined(
    search: &mut LeidenSearch<'_>,
    network: &WeightedNetwork,
    one: &Division,
    other: &Division,
) -> Division {
    let core = core_groups(network, &one.community, &other.community, search.interrupt);
    let groups = core.iter().max().map_or(0, |last| *last as usize + 1);
    let above = {
        let coarse = network.aggregated(&core, groups, search.interrupt);
        search.run(&coarse, &alone(groups)).community
    };
    let start: Vec<u32> = core.iter().map(|it| above[*it as usize]).collect();
    search.run(network, &start)
}

/// A community for each of so many nodes.
fn alone(nodes: usize) -> Vec<u32> {
    (0..nodes as u32).collect()
}
