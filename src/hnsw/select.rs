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
//! Under the inner product some are chosen in this way by the Euclidean distance (`proximity`).

use super::proximity::{EUCLIDEAN_EXTRA, EUCLIDEAN_SHARE, euclidean, is_one_length};
use super::shape::Degree;
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
    let euclidean_places = euclidean_places(space, center, candidates, most);
    select_both(space, center, candidates, (most - euclidean_places, euclidean_places))
}

/// Chooses the neighbours of a new node: `m`. On the ground a list has room for twice as many, so
/// there those by the Euclidean distance come on top of them.
#[must_use]
pub fn select_first(
    space: &Space,
    center: &[u8],
    candidates: &[LinkCandidate<'_>],
    degree: &Degree,
    layer: u8,
) -> Vec<u32> {
    let m = usize::from(degree.m);
    match layer {
        0 => select_both(space, center, candidates, (m, m.div_ceil(EUCLIDEAN_EXTRA))),
        _ => select(space, center, candidates, m),
    }
}

/// How many of `most` neighbours should be chosen by the Euclidean distance: a share that falls with the
/// square of the part of the candidates that is longer than the node.
fn euclidean_places(
    space: &Space,
    center: &[u8],
    candidates: &[LinkCandidate<'_>],
    most: usize,
) -> usize {
    let length = space.fit(center).norm;
    let lengths = candidates.iter().map(|it| space.fit(it.payload).norm);
    if euclidean(space).is_none() || is_one_length(lengths.chain([length])) {
        return 0;
    }
    let longer = candidates.iter().filter(|it| space.fit(it.payload).norm > length).count();
    let longer = longer as f64 / candidates.len() as f64;
    (most.div_ceil(EUCLIDEAN_SHARE) as f64 * longer * longer).round() as usize
}

/// Chooses so many by the metric of `space`, and then so many by the Euclidean distance; all by the
/// metric, where that comes to the same.
fn select_both(
    space: &Space,
    center: &[u8],
    candidates: &[LinkCandidate<'_>],
    (by_metric, by_euclidean): (usize, usize),
) -> Vec<u32> {
    let lengths = || [center].into_iter().chain(candidates.iter().map(|it| it.payload));
    let euclidean = match euclidean(space) {
        Some(euclidean) if !is_one_length(lengths().map(|it| space.fit(it).norm)) => euclidean,
        _ => return select_diverse(space, candidates, by_metric),
    };
    let mut chosen = select_diverse(space, candidates, by_metric);
    let others = candidates.iter().filter(|candidate| !chosen.contains(&candidate.node));
    let mut others: Vec<LinkCandidate<'_>> = others
        .map(|it| LinkCandidate { distance: euclidean.distance(center, it.payload), ..*it })
        .collect();
    others.sort_by(|a, b| a.distance.total_cmp(&b.distance));
    chosen.extend(select_diverse(&euclidean, &others, by_euclidean));
    chosen
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
