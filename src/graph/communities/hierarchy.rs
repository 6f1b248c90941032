//! Communities, and communities within those that are large.

use std::collections::{HashMap, VecDeque};

use super::ensemble::{ensemble, searches_for, updated};
use super::leiden::LeidenSettings;
use super::network::WeightedNetwork;

/// Most levels; what is then still larger than it should be stays.
const MOST_LEVELS: u32 = 16;

/// How communities are found and divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HierarchySettings {
    /// How they are looked for.
    pub leiden: LeidenSettings,
    /// Fewest nodes of a community; one with fewer is none.
    pub min_size: usize,
    /// Nodes beyond which a community is divided again.
    pub max_size: usize,
}

/// A community of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCommunity {
    /// 0: of the whole network; 1: a part of such a community, and so on.
    pub level: u32,
    /// Of which one it is a part, by its place in the list.
    pub parent: Option<usize>,
    /// The numbers of its nodes, in order.
    pub nodes: Vec<u32>,
}

/// Communities by level, those before a part that it is of: each connected, with `min_size` nodes or more. One with more than
/// `max_size` nodes is divided again by what lies within it alone, as long as that has more than one part.
///
/// `known` is, by level, the community that each node was in before, if there was one: one search begins there. So what
/// has not changed stays as it is, unless searches from single nodes come to more than 1 % more of the modularity, as
/// [`updated`] says. Where less than half of the nodes were in one, there are only these. They are as many as
/// [`searches_for`] says of the whole network, of its parts as well, so that all parts of a level take no longer than the
/// whole. `interrupt` is called from time to time and may unwind.
#[must_use]
pub fn hierarchy(
    network: &WeightedNetwork,
    known: &[Vec<Option<i64>>],
    settings: HierarchySettings,
    interrupt: &mut dyn FnMut(),
) -> Vec<NodeCommunity> {
    let mut place = vec![u32::MAX; network.len()];
    let all: Vec<u32> = (0..network.len() as u32).collect();
    let searches = searches_for(network);
    let mut found = Vec::new();
    let mut waiting = VecDeque::from([(None, 0, all)]);
    while let Some((parent, level, nodes)) = waiting.pop_front() {
        interrupt();
        let known = known.get(level as usize).filter(|known| are_mostly_known(&nodes, known));
        let start = known.map(|known| start(&nodes, known));
        let community = match parent {
            None => searched(network, start.as_deref(), searches, settings.leiden, interrupt),
            Some(_) => {
                let part = network.induced(&nodes, &mut place, interrupt);
                searched(&part, start.as_deref(), searches, settings.leiden, interrupt)
            }
        };
        let groups = grouped(&nodes, &community);
        if parent.is_some() && groups.len() < 2 {
            continue;
        }
        for nodes in groups.into_iter().filter(|nodes| nodes.len() >= settings.min_size.max(1)) {
            if nodes.len() > settings.max_size && level + 1 < MOST_LEVELS {
                waiting.push_back((Some(found.len()), level + 1, nodes.clone()));
            }
            found.push(NodeCommunity { level, parent, nodes });
        }
    }
    found
}

/// The community of each node: the best of so many searches, or what one comes to from `start` where that is about as good.
fn searched(
    network: &WeightedNetwork,
    start: Option<&[u32]>,
    searches: usize,
    settings: LeidenSettings,
    interrupt: &mut dyn FnMut(),
) -> Vec<u32> {
    match start {
        Some(start) => updated(network, start, searches, settings, interrupt),
        None => ensemble(network, searches, settings, interrupt),
    }
}

/// Whether half of the nodes or more were in a community.
fn are_mostly_known(nodes: &[u32], known: &[Option<i64>]) -> bool {
    let is_known = |node: &&u32| known.get(**node as usize).copied().flatten().is_some();
    2 * nodes.iter().filter(is_known).count() >= nodes.len()
}

/// The communities that nodes were in, numbered from 0; one that was in none is in one of its own.
fn start(nodes: &[u32], known: &[Option<i64>]) -> Vec<u32> {
    let (mut numbers, mut count) = (HashMap::new(), 0);
    let mut start = Vec::with_capacity(nodes.len());
    for node in nodes {
        let community = known.get(*node as usize).copied().flatten();
        let number = community.map_or(count, |it| *numbers.entry(it).or_insert(count));
        count += u32::from(number == count);
        start.push(number);
    }
    start
}

/// The nodes of each community, in the order of the communities' numbers.
fn grouped(nodes: &[u32], community: &[u32]) -> Vec<Vec<u32>> {
    let count = community.iter().max().map_or(0, |it| *it as usize + 1);
    let mut groups = vec![Vec::new(); count];
    nodes.iter().zip(community).for_each(|(node, own)| groups[*own as usize].push(*node));
    groups
}
