//! Communities of high modularity: the algorithm of Traag, Waltman and van Eck (2019), "From Louvain to Leiden:
//! guaranteeing well-connected communities".
//!
//! ```text
//! move nodes to the best community near them │ divide each community again, carefully │ make nodes of the parts
//!        until none gains by it              │   only what hangs together is merged   │ and begin anew with them
//! ```
//!
//! The middle step is what Louvain lacks: nodes of the next graph are parts that hang together, so a community can
//! come apart again and none is left in two pieces. All is done anew from what it has come to until that gains nothing.

use super::network::WeightedNetwork;
use super::settle::{NeighbourWeights, Settling};
use super::watch::InterruptWatch;
use crate::random::Random;

/// Times that all is done anew.
const MOST_PASSES: usize = 10;

/// What a pass has to gain of the modularity to be followed by another.
const LEAST_GAIN: f64 = 1e-9;

/// How likely a part is that gains less than the best: by e less for each hundredth of a node's strength.
const RANDOMNESS: f64 = 0.01;

/// Steps between two looks at interrupts.
const STEPS: usize = 4096;

/// How communities are looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeidenSettings {
    /// The resolution: above 1 there are more and smaller communities, below 1 fewer and larger ones.
    pub resolution: f64,
    /// What the random numbers begin with. The same graph, start and seed come to the same communities.
    pub seed: u64,
}

/// A network divided into communities.
#[derive(Clone, Debug, PartialEq)]
pub struct Division {
    /// The community of each node, numbered from 0 in the order of their first nodes.
    pub community: Vec<u32>,
    /// Its [`modularity`].
    pub quality: f64,
}

/// The community of each node, numbered from 0 in the order of their first nodes. Each community is connected. One search
/// looks for them from `start`, the community of each node with numbers below that of the nodes. `interrupt` is called
/// from time to time and may unwind.
#[must_use]
pub fn leiden(
    network: &WeightedNetwork,
    start: &[u32],
    settings: LeidenSettings,
    interrupt: &mut dyn FnMut(),
) -> Vec<u32> {
    LeidenSearch::new(settings, interrupt).run(network, start).community
}

/// How much more of the weight lies within communities than if edges were drawn at random with the same strengths,
/// as a share of all: at most 1, and 0 without edges. `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn modularity(
    network: &WeightedNetwork,
    community: &[u32],
    resolution: f64,
    interrupt: &mut dyn FnMut(),
) -> f64 {
    let watch = &mut InterruptWatch::new(interrupt);
    let total = network.total();
    if total <= 0.0 {
        return 0.0;
    }
    let (mut within, mut strengths) = (0.0, vec![0.0; network.len()]);
    for node in 0..network.len() {
        let own = community[node];
        strengths[own as usize] += network.strength(node);
        let links = network.links(node).iter().inspect(|_| watch.step());
        let near = links.filter(|(it, _)| community[*it as usize] == own);
        within += near.map(|(_, weight)| weight).sum::<f64>() + 2.0 * network.own_weight(node);
    }
    let expected: f64 = strengths.iter().map(|it| (it / total) * (it / total)).sum();
    within / total - resolution * expected
}

/// The pieces of each community that are connected, numbered in the order of their first nodes. `interrupt` is called
/// from time to time and may unwind.
#[must_use]
pub fn connected(
    network: &WeightedNetwork,
    community: &[u32],
    interrupt: &mut dyn FnMut(),
) -> Vec<u32> {
    let watch = &mut InterruptWatch::new(interrupt);
    let mut piece = vec![u32::MAX; network.len()];
    let (mut count, mut reached) = (0, Vec::new());
    for first in 0..network.len() {
        if piece[first] != u32::MAX {
            continue;
        }
        piece[first] = count;
        reached.push(first);
        while let Some(node) = reached.pop() {
            for (other, _) in network.links(node) {
                watch.step();
                let other = *other as usize;
                if piece[other] == u32::MAX && community[other] == community[first] {
                    piece[other] = count;
                    reached.push(other);
                }
            }
        }
        count += 1;
    }
    piece
}

/// Groups with numbers from 0 in the order of their first members, and how many there are.
#[must_use]
pub fn renumbered(group: &[u32]) -> (Vec<u32>, usize) {
    let most = group.iter().max().map_or(0, |it| *it as usize + 1);
    let (mut number, mut count) = (vec![u32::MAX; most], 0);
    let mut numbered = |it: &u32| {
        let known = &mut number[*it as usize];
        if *known == u32::MAX {
            *known = count;
            count += 1;
        }
        *known
    };
    let numbers = group.iter().map(&mut numbered).collect();
    (numbers, count as usize)
}

/// Searches with the numbers of one seed, of which each goes on where the one before it has stopped drawing.
pub struct LeidenSearch<'a> {
    settings: LeidenSettings,
    random: Random,
    /// Called from time to time; may unwind.
    pub interrupt: &'a mut dyn FnMut(),
}

impl<'a> LeidenSearch<'a> {
    /// Searches of which none has begun.
    pub fn new(settings: LeidenSettings, interrupt: &'a mut dyn FnMut()) -> LeidenSearch<'a> {
        LeidenSearch { settings, random: Random::new(settings.seed), interrupt }
    }

    /// What a search comes to from `start`, the community of each node with numbers below that of the nodes. Each
    /// community is connected, and all are no worse than the connected pieces of those of `start`.
    #[must_use]
    pub fn run(&mut self, network: &WeightedNetwork, start: &[u32]) -> Division {
        let mut best = self.division(network, start);
        for _ in 0..MOST_PASSES {
            let next = self.pass(network, best.community.clone());
            let next = self.division(network, &next);
            let is_over = next.quality <= best.quality + LEAST_GAIN;
            if next.quality > best.quality {
                best = next;
            }
            if is_over {
                break;
            }
        }
        best
    }

    /// The connected pieces of communities.
    fn division(&mut self, network: &WeightedNetwork, community: &[u32]) -> Division {
        let community = connected(network, community, self.interrupt);
        let resolution = self.settings.resolution;
        let quality = modularity(network, &community, resolution, self.interrupt);
        Division { community, quality }
    }

    /// What nodes come to from these communities, level by level.
    fn pass(&mut self, network: &WeightedNetwork, community: Vec<u32>) -> Vec<u32> {
        // Which node of the graph at hand each node has become part of.
        let mut part: Vec<u32> = (0..network.len() as u32).collect();
        let (mut community, mut smaller) = (community, None::<WeightedNetwork>);
        loop {
            let current = smaller.as_ref().unwrap_or(network);
            (self.interrupt)();
            let settling = Settling::new(current, community, self.settings.resolution);
            let settled = settling.settle(&mut self.random, self.interrupt);
            let (coarse, communities) = renumbered(&settled);
            let (mut fine, mut parts) = renumbered(&self.refined(current, &coarse, communities));
            if parts == current.len() {
                // No two nodes are merged with care, so whole communities are, as far as they are connected.
                (fine, parts) = renumbered(&connected(current, &coarse, self.interrupt));
            }
            if communities == current.len() || parts == current.len() {
                return part.into_iter().map(|it| coarse[it as usize]).collect();
            }
            community = vec![0; parts];
            fine.iter().zip(&coarse).for_each(|(fine, coarse)| community[*fine as usize] = *coarse);
            part.iter_mut().for_each(|it| *it = fine[*it as usize]);
            smaller = Some(current.aggregated(&fine, parts, self.interrupt));
        }
    }

    /// The parts of communities: nodes that are tied well enough to the rest of their community are merged with a part
    /// of it that is, too. One that gains more is more likely.
    fn refined(
        &mut self,
        network: &WeightedNetwork,
        coarse: &[u32],
        communities: usize,
    ) -> Vec<u32> {
        let resolution = self.settings.resolution;
        let mut parts = Parts::new(network, coarse, communities, resolution, self.interrupt);
        let mut weights = NeighbourWeights::new(network.len());
        for (step, node) in self.random.shuffled(network.len()).into_iter().enumerate() {
            if step % STEPS == 0 {
                (self.interrupt)();
            }
            if !parts.may_move(node) {
                continue;
            }
            let near = network.links(node).iter();
            let near = near.filter(|(it, _)| coarse[*it as usize] == coarse[node]);
            weights.gather(near.map(|(it, weight)| (parts.part[*it as usize], *weight)));
            let gains = parts.gains(node, &weights);
            if let Some(chosen) = self.chosen(&gains, network.strength(node)) {
                parts.merge(node, chosen, weights.of(chosen));
            }
        }
        parts.part
    }

    /// One of the parts by what is gained, if there is one.
    fn chosen(&mut self, gains: &[(u32, f64)], strength: f64) -> Option<u32> {
        let best = gains.iter().map(|(_, gain)| *gain).fold(f64::MIN, f64::max);
        let likely = |gain: f64| ((gain - best) / (strength * RANDOMNESS)).exp();
        let all: f64 = gains.iter().map(|(_, gain)| likely(*gain)).sum();
        let mut left = all * (self.random.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        let found = gains.iter().find(|(_, gain)| {
            left -= likely(*gain);
            left < 0.0
        });
        found.or(gains.last()).map(|(part, _)| *part)
    }
}

/// The parts into which communities are divided; at first each node is one, and has its number.
struct Parts<'a> {
    network: &'a WeightedNetwork,
    coarse: &'a [u32],
    resolution: f64,
    /// The strengths of the communities.
    all: Vec<f64>,
    part: Vec<u32>,
    /// Of each part, its strength, and the weight of its edges to the rest of its community.
    strength: Vec<f64>,
    outward: Vec<f64>,
    is_alone: Vec<bool>,
}

impl<'a> Parts<'a> {
    fn new(
        network: &'a WeightedNetwork,
        coarse: &'a [u32],
        communities: usize,
        resolution: f64,
        interrupt: &mut dyn FnMut(),
    ) -> Parts<'a> {
        let watch = &mut InterruptWatch::new(interrupt);
        let nodes = network.len();
        let mut all = vec![0.0; communities];
        (0..nodes).for_each(|node| all[coarse[node] as usize] += network.strength(node));
        let outward = |node: usize| {
            let links = network.links(node).iter().inspect(|_| watch.step());
            let near = links.filter(|(it, _)| coarse[*it as usize] == coarse[node]);
            near.map(|(_, weight)| weight).sum()
        };
        Parts {
            network,
            coarse,
            resolution,
            all,
            part: (0..nodes as u32).collect(),
            strength: (0..nodes).map(|node| network.strength(node)).collect(),
            outward: (0..nodes).map(outward).collect(),
            is_alone: vec![true; nodes],
        }
    }

    /// Whether a node is still a part by itself, and tied well to the rest of its community.
    fn may_move(&self, node: usize) -> bool {
        self.is_alone[node] && self.is_well_tied(node, self.coarse[node])
    }

    fn is_well_tied(&self, part: usize, community: u32) -> bool {
        let (own, all) = (self.strength[part], self.all[community as usize]);
        // In this order, so that no weight is too large for it.
        let expected = self.resolution * (own / self.network.total()) * (all - own);
        self.outward[part] > 0.0 && self.outward[part] >= expected * (1.0 - 1e-12)
    }

    /// What a node gains by each of the parts near it that it may be merged with.
    fn gains(&self, node: usize, weights: &NeighbourWeights) -> Vec<(u32, f64)> {
        let share = self.resolution * self.network.strength(node) / self.network.total();
        let near = weights.groups().iter().copied();
        let tied = near.filter(|it| self.is_well_tied(*it as usize, self.coarse[node]));
        let gains = tied.map(|it| (it, weights.of(it) - share * self.strength[it as usize]));
        gains.filter(|(_, gain)| *gain >= 0.0).collect()
    }

    /// Makes a node part of `chosen`, to which its edges have this weight.
    fn merge(&mut self, node: usize, chosen: u32, weight: f64) {
        let into = chosen as usize;
        self.part[node] = chosen;
        self.strength[into] += self.network.strength(node);
        self.outward[into] += self.outward[node] - 2.0 * weight;
        (self.is_alone[node], self.is_alone[into]) = (false, false);
    }
}
