//! What several searches come to, and where there is only one.

use proptest::prelude::*;

use super::networks::{alone, lfr_edges, network, planted, settings};
use crate::graph::communities::ensemble::{core_groups, ensemble, searches_for};
use crate::graph::communities::hierarchy::{HierarchySettings, NodeCommunity, hierarchy};
use crate::graph::communities::leiden::{leiden, modularity};
use crate::graph::communities::network::WeightedNetwork;

/// A graph of the benchmark, by its seed, in which so many edges lead elsewhere that searches differ.
const MIXED: (f64, u64) = (0.6, 19);

fn several(network: &WeightedNetwork, searches: usize, seed: u64) -> Vec<u32> {
    ensemble(network, searches, settings(seed), &mut || {})
}

fn once(network: &WeightedNetwork, seed: u64) -> Vec<u32> {
    leiden(network, &alone(network.len()), settings(seed), &mut || {})
}

fn quality(network: &WeightedNetwork, community: &[u32]) -> f64 {
    modularity(network, community, 1.0, &mut || {})
}

fn divided(
    network: &WeightedNetwork,
    known: &[Vec<Option<i64>>],
    max_size: usize,
) -> Vec<NodeCommunity> {
    let settings = HierarchySettings { leiden: settings(1), min_size: 1, max_size };
    hierarchy(network, known, settings, &mut || {})
}

/// The community at a level of each of the first nodes, of which all are in one, numbered from 0.
fn at_level(all: &[NodeCommunity], level: u32, nodes: usize) -> Vec<u32> {
    let mut own = vec![u32::MAX; nodes];
    for (number, it) in (0..).zip(all.iter().filter(|it| it.level == level)) {
        it.nodes.iter().for_each(|node| own[*node as usize] = number);
    }
    own
}

#[test]
fn several_searches_find_more_than_one_where_most_edges_lead_elsewhere() {
    let (network, _) = planted(1000, MIXED.0, MIXED.1);
    let one = quality(&network, &several(&network, 1, 1));
    let all = quality(&network, &several(&network, 6, 1));
    assert!(all > 1.02 * one, "{all} beside {one}");
}

#[test]
fn the_first_of_several_searches_is_that_of_the_seed() {
    let (network, _) = planted(1000, MIXED.0, MIXED.1);
    assert_eq!(several(&network, 1, 4), once(&network, 4));
    assert_ne!(several(&network, 1, 4), several(&network, 1, 5));
}

#[test]
fn the_larger_a_network_is_the_fewer_searches_it_is_worth() {
    let check = |nodes: u32, expected| {
        let ring: Vec<(u32, u32)> = (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
        let ring = network(nodes as usize, &ring);
        assert_eq!(ring.edges(), nodes as usize);
        assert_eq!(searches_for(&ring), expected, "{nodes}");
    };
    check(3, 6);
    check(41_666, 6);
    check(41_667, 5);
    check(125_000, 2);
    check(125_001, 1);
    check(300_000, 1);
    assert_eq!(searches_for(&network(0, &[])), 6);
    // An edge counts once, however often it is given, and one from a node to itself not at all.
    assert_eq!(network(3, &[(0, 1), (1, 0), (1, 1), (1, 2)]).edges(), 2);
}

#[test]
fn groups_are_what_both_divisions_keep_together_and_connected() {
    let check = |edges: &[(u32, u32)], one: &[u32], other: &[u32], expected: &[u32]| {
        let network = network(one.len(), edges);
        assert_eq!(core_groups(&network, one, other, &mut || {}), expected, "{one:?}, {other:?}");
    };
    let path = [(0, 1), (1, 2), (2, 3), (3, 4)];
    check(&[], &[], &[], &[]);
    check(&path, &[0, 0, 0, 1, 1], &[0, 0, 0, 1, 1], &[0, 0, 0, 1, 1]);
    check(&path, &[0, 0, 0, 1, 1], &[0, 0, 1, 1, 1], &[0, 0, 1, 2, 2]);
    check(&path, &[0, 0, 0, 0, 0], &[0, 1, 2, 3, 4], &[0, 1, 2, 3, 4]);
    // The first and the third are together in both, and hang together only by the second.
    check(&path, &[0, 0, 0, 0, 0], &[0, 1, 0, 1, 1], &[0, 1, 2, 3, 3]);
    let mut looks = 0;
    let own = vec![0; 20_000];
    let _ = core_groups(&network(20_000, &[]), &own, &own, &mut || looks += 1);
    assert_eq!(looks, 1);
}

#[test]
fn a_large_network_is_searched_once_and_so_are_its_parts() {
    let (edges, _) = lfr_edges(1000, MIXED.0, MIXED.1);
    let part = network(1000, &edges);
    let (one, all) = (once(&part, 1), several(&part, 6, 1));
    assert_ne!(one, all);
    assert_eq!(at_level(&divided(&part, &[], 1000), 0, 1000), all);
    // Beside so heavy a clique all the rest is one community, which is divided again.
    let clique = (1000..1710).flat_map(|from| (from + 1..1710).map(move |to| (from, to)));
    let whole: Vec<(u32, u32)> = edges.into_iter().chain(clique).collect();
    let whole = network(1710, &whole);
    assert_eq!(searches_for(&whole), 1);
    let found = divided(&whole, &[], 900);
    assert_eq!(found.iter().filter(|it| it.level == 0).count(), 2);
    assert_eq!(at_level(&found, 1, 1000), one);
}

/// What is found at level 0 where the communities of each node are known.
fn from_known(network: &WeightedNetwork, known: &[u32]) -> Vec<u32> {
    let known: Vec<Option<i64>> = known.iter().map(|own| Some(i64::from(*own))).collect();
    at_level(&divided(network, &[known], 1000), 0, network.len())
}

#[test]
fn one_search_goes_on_from_what_is_known_and_about_as_good() {
    let (network, _) = planted(1000, MIXED.0, MIXED.1);
    let (before, fresh) = (several(&network, 6, 2), several(&network, 6, 1));
    let near = quality(&network, &before) / quality(&network, &fresh);
    assert!(near > 0.99, "{near}");
    let own = from_known(&network, &before);
    assert_eq!(own, leiden(&network, &before, settings(1), &mut || {}));
    assert_ne!(own, fresh);
}

#[test]
fn searches_begin_anew_where_what_is_known_leads_to_much_less() {
    let (network, _) = planted(1000, MIXED.0, MIXED.1);
    let (before, fresh) = (once(&network, 1), several(&network, 6, 1));
    let gone_on = leiden(&network, &before, settings(1), &mut || {});
    assert!(quality(&network, &gone_on) < 0.99 * quality(&network, &fresh));
    assert_eq!(from_known(&network, &before), fresh);
}

proptest! {
    #[test]
    fn one_more_search_makes_nothing_worse(
        edges in proptest::collection::vec((0..40_u32, 0..40_u32), 0..200),
        seed in 0..9_u64,
    ) {
        let network = network(40, &edges);
        let reached = |searches| quality(&network, &several(&network, searches, seed));
        let all: Vec<f64> = (1..=6).map(reached).collect();
        prop_assert!(all.is_sorted(), "{all:?}");
    }
}
