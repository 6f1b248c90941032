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

use super::leiden::{Division, LeidenSearch, LeidenSettings, connected, leiden, modularity};
use super::network::WeightedNetwork;
use super::watch::InterruptWatch;

/// Nodes and edges that all searches of a network may have together, as far as there is more than one.
const MOST_SEARCHED: usize = 500_000;

/// Most searches. The more there are, the less one more of them finds.
const MOST_SEARCHES: usize = 6;

/// What has to be gained of the modularity. What is less may be an error of rounding, by which one of several like
/// divisions would take the place of another.
const LEAST_GAIN: f64 = 1e-9;

/// Share of its own modularity by which a search from single nodes has to be better than one that goes on from what is known
/// for its communities to take the place of those that are known.
const WORTH_ANOTHER_START: f64 = 0.01;

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
    best_of(network, searches, settings, interrupt).community
}

/// The community of each node, numbered from 0 in the order of their first nodes: what one search comes to from `start`,
/// the community of each node with numbers below that of the nodes, so that what has not changed stays as it is. Where
/// [`ensemble`] comes to more than 1 % more of the modularity, it is what that comes to: no modularity is more than that
/// below what a network has that nobody has searched before, however many changes came before this one. Each community is
/// connected. `interrupt` is called from time to time and may unwind.
///
/// Whether another start is needed is not guessed. By how much the modularity falls says nothing, for it falls as well where
/// edges have become like chance, and nothing better is to be found. A single search does not say it either: where most
/// edges lead elsewhere it is often worse than both.
#[must_use]
pub fn updated(
    network: &WeightedNetwork,
    start: &[u32],
    searches: usize,
    settings: LeidenSettings,
    interrupt: &mut dyn FnMut(),
) -> Vec<u32> {
    let kept = leiden(network, start, settings, interrupt);
    let quality = modularity(network, &kept, settings.resolution, interrupt);
    let new = best_of(network, searches, settings, interrupt);
    match new.quality - quality > WORTH_ANOTHER_START * new.quality.abs() + LEAST_GAIN {
        true => new.community,
        false => kept,
    }
}

/// The best of so many searches from single nodes, and of what comes of joining each with the best before it.
fn best_of(
    network: &WeightedNetwork,
    searches: usize,
    settings: LeidenSettings,
    interrupt: &mut dyn FnMut(),
) -> Division {
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
    best
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
