//! # select: which of these nodes should be neighbours?
//!
//! ```text
//! candidates, nearest first → at most `most` of them
//! ```
//!
//! SELECT-NEIGHBORS-HEURISTIC, algorithm 4 of the HNSW paper, with keepPrunedConnections and
//! without extendCandidates. A candidate is taken if it is nearer to the node than to every
//! candidate taken before, so that links go in all directions; what room is left goes to the
//! nearest of the others. Equal vectors are nearer to each other than to anything else, so
//! of those one is taken before the rest fill up.
//!
//! Under the inner product a share is chosen in this way by the Euclidean distance (`proximity`).

use super::proximity::{EUCLIDEAN_SHARE, euclidean, is_one_length};
use super::space::Space;

/// A node that could become a neighbour.
#[derive(Clone, Copy, Debug)]
pub struct LinkCandidate<'a> {
    /// The number of the node.
    pub node: u32,
    /// Its distance to the node that gets neighbours.
    pub distance: f32,
    /// The node's vector, as it is stored.
    pub payload: &'a [u8],
}

/// Chooses among `candidates`, which are sorted by their distance to `center`. The result is in the
/// order of choice: what is dropped later should be dropped from its end.
#[must_use]
pub fn select(
    space: &Space,
    center: &[u8],
    candidates: &[LinkCandidate<'_>],
    most: usize,
) -> Vec<u32> {
    let lengths = || [center].into_iter().chain(candidates.iter().map(|it| it.payload));
    match euclidean(space) {
        Some(euclidean) if !is_one_length(lengths().map(|it| space.fit(it).norm)) => {
            let mut chosen =
                select_diverse(space, candidates, most - most.div_ceil(EUCLIDEAN_SHARE));
            let others = candidates.iter().filter(|candidate| !chosen.contains(&candidate.node));
            let mut others: Vec<LinkCandidate<'_>> = others
                .map(|it| LinkCandidate { distance: euclidean.distance(center, it.payload), ..*it })
                .collect();
            others.sort_by(|a, b| a.distance.total_cmp(&b.distance));
            chosen.extend(select_diverse(&euclidean, &others, most - chosen.len()));
            chosen
        }
        _ => select_diverse(space, candidates, most),
    }
}

/// Algorithm 4 itself.
fn select_diverse(space: &Space, candidates: &[LinkCandidate<'_>], most: usize) -> Vec<u32> {
    if candidates.len() <= most {
        return candidates.iter().map(|candidate| candidate.node).collect();
    }
    let mut taken: Vec<&LinkCandidate<'_>> = Vec::with_capacity(most);
    let mut others: Vec<u32> = Vec::new();
    for candidate in candidates {
        if taken.len() == most {
            break;
        }
        let is_closest = taken
            .iter()
            .all(|other| candidate.distance < space.distance(candidate.payload, other.payload));
        if is_closest {
            taken.push(candidate);
        } else {
            others.push(candidate.node);
        }
    }
    let mut chosen: Vec<u32> = taken.into_iter().map(|candidate| candidate.node).collect();
    chosen.extend(others.into_iter().take(most - chosen.len()));
    chosen
}
