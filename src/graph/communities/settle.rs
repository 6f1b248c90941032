//! Nodes go to the community near them by which the modularity gains most, until none gains.

use std::collections::VecDeque;

use super::network::WeightedNetwork;
use crate::random::Random;

/// Least gain of a move, as a share of the node's strength. What is less may be an error of rounding, by which two nodes
/// could change places for ever.
const LEAST_GAIN: f64 = 1e-10;

/// Visits of each node, on average. Far fewer are needed; it is a promise about time.
const MOST_VISITS: usize = 100;

/// Visits between two looks at interrupts.
const VISITS: usize = 4096;

/// Weights of the edges from a node to groups of others.
pub struct NeighbourWeights {
    weights: Vec<f64>,
    groups: Vec<u32>,
}

impl NeighbourWeights {
    /// Room for groups with numbers below `groups`.
    #[must_use]
    pub fn new(groups: usize) -> NeighbourWeights {
        NeighbourWeights { weights: vec![0.0; groups], groups: Vec::new() }
    }

    /// Adds up the weights by groups, and forgets those before.
    pub fn gather(&mut self, near: impl Iterator<Item = (u32, f64)>) {
        self.groups.drain(..).for_each(|it| self.weights[it as usize] = 0.0);
        for (group, weight) in near {
            let sum = &mut self.weights[group as usize];
            if *sum == 0.0 {
                self.groups.push(group);
            }
            *sum += weight;
        }
    }

    /// The groups to which there is an edge, in the order of the edges.
    #[must_use]
    pub fn groups(&self) -> &[u32] {
        &self.groups
    }

    /// The weight of the edges to a group.
    #[must_use]
    pub fn of(&self, group: u32) -> f64 {
        self.weights[group as usize]
    }
}

/// Nodes that look for their communities.
pub struct Settling<'a> {
    network: &'a WeightedNetwork,
    resolution: f64,
    community: Vec<u32>,
    strengths: Vec<f64>,
    /// How many nodes each community has, and those that have none.
    sizes: Vec<u32>,
    empty: Vec<u32>,
    weights: NeighbourWeights,
}

impl<'a> Settling<'a> {
    /// Nodes with these communities, whose numbers are below that of the nodes.
    #[must_use]
    pub fn new(network: &'a WeightedNetwork, community: Vec<u32>, resolution: f64) -> Settling<'a> {
        let nodes = network.len();
        let (mut strengths, mut sizes) = (vec![0.0; nodes], vec![0; nodes]);
        for (node, own) in community.iter().enumerate() {
            strengths[*own as usize] += network.strength(node);
            sizes[*own as usize] += 1;
        }
        let empty = (0..nodes as u32).filter(|it| sizes[*it as usize] == 0).collect();
        let weights = NeighbourWeights::new(nodes);
        Settling { network, resolution, community, strengths, sizes, empty, weights }
    }

    /// The communities to which the nodes come. One that moves has its neighbours look again. `interrupt` is called from
    /// time to time and may unwind.
    #[must_use]
    pub fn settle(mut self, random: &mut Random, interrupt: &mut dyn FnMut()) -> Vec<u32> {
        let nodes = self.network.len();
        let mut waiting: VecDeque<usize> = random.shuffled(nodes).into();
        let mut is_waiting = vec![true; nodes];
        let mut visits = 0;
        while let Some(node) = waiting.pop_front()
            && visits < MOST_VISITS * nodes
        {
            visits += 1;
            if visits % VISITS == 0 {
                interrupt();
            }
            is_waiting[node] = false;
            if !self.moves(node) {
                continue;
            }
            for (other, _) in self.network.links(node) {
                let other = *other as usize;
                if self.community[other] != self.community[node] && !is_waiting[other] {
                    is_waiting[other] = true;
                    waiting.push_back(other);
                }
            }
        }
        self.community
    }

    /// Puts a node where it gains most; whether that is elsewhere.
    fn moves(&mut self, node: usize) -> bool {
        let before = self.community[node];
        self.take_out(node);
        let best = self.best(node, before);
        self.put(node, best);
        best != before
    }

    fn take_out(&mut self, node: usize) {
        let own = self.community[node] as usize;
        self.strengths[own] -= self.network.strength(node);
        self.sizes[own] -= 1;
        if self.sizes[own] == 0 {
            self.strengths[own] = 0.0;
            self.empty.push(own as u32);
        }
    }

    fn put(&mut self, node: usize, community: u32) {
        if self.sizes[community as usize] == 0 {
            // One without members is the last of them: the node has just left it, or it was taken from there.
            self.empty.pop();
        }
        self.community[node] = community;
        self.sizes[community as usize] += 1;
        self.strengths[community as usize] += self.network.strength(node);
    }

    /// The best community of a node that is in none; where none is better than being alone, an empty one.
    fn best(&mut self, node: usize, before: u32) -> u32 {
        let Settling { network, community, strengths, weights, .. } = self;
        let links = network.links(node).iter();
        weights.gather(links.map(|(other, weight)| (community[*other as usize], *weight)));
        let strength = network.strength(node);
        let share = self.resolution * strength / network.total();
        let gain = |it: u32| weights.of(it) - share * strengths[it as usize];
        let least = LEAST_GAIN * strength;
        let (mut best, mut most) = (before, gain(before));
        for it in weights.groups() {
            if gain(*it) > most + least {
                (best, most) = (*it, gain(*it));
            }
        }
        match self.empty.last() {
            Some(alone) if most < -least => *alone,
            _ => best,
        }
    }
}
