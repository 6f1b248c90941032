//! Communities that are updated again and again, as a pipeline's are while its rows change.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::kept::applied;
use super::networks::{lfr_edges, network};
use crate::graph::communities::hierarchy::{HierarchySettings, NodeCommunity, hierarchy};
use crate::graph::communities::leiden::{LeidenSettings, connected, modularity};
use crate::graph::communities::membership::{Membership, known};
use crate::graph::communities::network::WeightedNetwork;
use crate::random::Random;

/// Entities that there are at some time, and those that chunks never name all at once.
const ENTITIES: usize = 400;
const ABSENT: usize = 20;

/// Updates, and after how many of them communities are compared with fresh ones.
const ROUNDS: usize = 50;
const COMPARED: usize = 5;

/// Times that an edge is drawn until there is one that is not there yet.
const DRAWS: usize = 20;

/// All levels, and no community too small to be one, so that each node is in one.
const DIVIDED: HierarchySettings = HierarchySettings {
    leiden: LeidenSettings { resolution: 1.0, seed: 0 },
    min_size: 1,
    max_size: 40,
};

/// A graph of entities that changes: edges go, others come, and so do entities.
struct ChangingGraph {
    random: Random,
    /// The ends of the edges, by the numbers of entities; those of entities that are absent are there, and not seen.
    edges: Vec<(u32, u32)>,
    /// Edges that come in the place of those that go.
    coming: Vec<(u32, u32)>,
    absent: BTreeSet<usize>,
}

impl ChangingGraph {
    /// One of the benchmark, with this share of edges that lead elsewhere, into which these edges come.
    fn new(mixing: f64, coming: Vec<(u32, u32)>) -> ChangingGraph {
        let (edges, _) = lfr_edges(ENTITIES, mixing, 1);
        ChangingGraph { random: Random::new(2), edges, coming, absent: (0..ABSENT).collect() }
    }

    /// Puts so many edges in the place of others, and so many entities.
    fn change(&mut self, edges: usize, entities: usize) {
        let mut known: HashSet<(u32, u32)> = self.edges.iter().copied().collect();
        for _ in 0..edges {
            let gone = self.edges.swap_remove(self.random.below(self.edges.len()));
            known.remove(&gone);
            let drawn = || self.coming[self.random.below(self.coming.len())];
            let new = std::iter::repeat_with(drawn).take(DRAWS).find(|it| known.insert(*it));
            self.edges.extend(new);
        }
        for _ in 0..entities {
            self.absent.pop_first();
            while self.absent.len() < ABSENT {
                self.absent.insert(self.random.below(ENTITIES));
            }
        }
    }

    /// The names of the entities that are there, in order, and the network of these.
    fn seen(&self) -> (Vec<String>, WeightedNetwork) {
        let present: Vec<usize> = (0..ENTITIES).filter(|it| !self.absent.contains(it)).collect();
        let place = |entity: u32| present.binary_search(&(entity as usize)).ok();
        let edges = self.edges.iter().filter_map(|(a, b)| Some((place(*a)?, place(*b)?)));
        let edges: Vec<(u32, u32)> = edges.map(|(a, b)| (a as u32, b as u32)).collect();
        let names = present.iter().map(|it| format!("entity {it:03}")).collect();
        (names, network(present.len(), &edges))
    }
}

/// The members of each community, by its level and number.
fn members(rows: &[Membership]) -> BTreeMap<(i32, i64), BTreeSet<&str>> {
    let mut members: BTreeMap<(i32, i64), BTreeSet<&str>> = BTreeMap::new();
    for it in rows {
        members.entry((it.level, it.community)).or_default().insert(&it.norm);
    }
    members
}

/// The modularity of the communities of level 0, of which each is connected.
fn quality(network: &WeightedNetwork, found: &[NodeCommunity]) -> f64 {
    let mut own = vec![u32::MAX; network.len()];
    for (number, it) in (0..).zip(found.iter().filter(|it| it.level == 0)) {
        it.nodes.iter().for_each(|node| own[*node as usize] = number);
    }
    assert!(!own.contains(&u32::MAX), "each node is in a community");
    let pieces = connected(network, &own, &mut || {});
    assert_eq!(pieces.iter().max(), own.iter().max(), "communities are connected");
    modularity(network, &own, 1.0, &mut || {})
}

/// How many communities have the members that they had. They have their numbers, and no other has a number that was there.
fn kept(before: &[Membership], after: &[Membership]) -> usize {
    let (old, new) = (members(before), members(after));
    let last = before.iter().map(|it| it.community).max().unwrap_or_default();
    let mut count = 0;
    for (place @ (level, number), own) in &new {
        let mut same = old.iter().filter(|((of, _), it)| of == level && *it == own);
        match same.next() {
            Some((before, _)) => {
                assert_eq!(before, place, "{own:?}");
                count += 1;
            }
            None => assert!(*number > last, "{number} of {own:?}"),
        }
    }
    count
}

/// Changes a graph again and again, each time updates the communities that it had, and compares them with fresh ones. Says
/// which share of them had the members that they had before the update.
fn update(mut graph: ChangingGraph, edges: usize, entities: usize) -> f64 {
    let mut rows: Vec<Membership> = Vec::new();
    let (mut same, mut all) = (0, 0);
    for round in 0..=ROUNDS {
        let (names, network) = graph.seen();
        let known = known(&rows, &names, &mut || {});
        let found = hierarchy(&network, &known, DIVIDED, &mut || {});
        let after = applied(&rows, &found, &names);
        if round > 0 {
            same += kept(&rows, &after);
            all += members(&after).len();
        }
        rows = after;
        let reached = quality(&network, &found);
        if round % COMPARED == 0 {
            let fresh = quality(&network, &hierarchy(&network, &[], DIVIDED, &mut || {}));
            println!("{round}: {reached:.4} beside {fresh:.4}");
            assert!(reached >= 0.99 * fresh, "{round}: {reached} of {fresh}");
        }
        graph.change(edges, entities);
    }
    same as f64 / all as f64
}

#[test]
fn communities_are_about_as_good_as_fresh_ones_after_random_changes() {
    let mut random = Random::new(3);
    let mut end = || random.below(ENTITIES) as u32;
    let chance: Vec<(u32, u32)> = std::iter::repeat_with(|| (end(), end())).take(20_000).collect();
    let chance = || chance.iter().copied().filter(|(a, b)| a < b).collect();
    let [few, _] = [0.1, 0.5].map(|mixing| {
        let share = update(ChangingGraph::new(mixing, chance()), 10, 1);
        println!("of a mixing of {mixing}, {share:.2} stay as they were");
        share
    });
    // Nearly all of the edges lie within communities, and what has changed touches few of these.
    assert!(few > 0.5, "{few}");
}

#[test]
fn communities_follow_a_graph_that_becomes_another_one() {
    for (mixing, later) in [(0.3, 0.1), (0.5, 0.3)] {
        let (coming, _) = lfr_edges(ENTITIES, later, 4);
        update(ChangingGraph::new(mixing, coming), 80, 2);
    }
}
