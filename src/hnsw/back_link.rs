//! # back link: who links to a node that has just been linked?
//!
//! ```text
//! a node and its neighbours → lists of neighbours in which it stands
//! ```
//!
//! A neighbour with room links back. One without chooses the best of its neighbours and the new one
//! (algorithm 1 of the HNSW paper). Nobody is left without a link by that: not the new node, and not
//! one that the new node has taken the place of.
//!
//! Where lists are short, every member of one may be there by its last link. So a node that gives way
//! to the new one gets a link from it, if it has room; if not, the list stays as it is. A new node that
//! none of its neighbours can take is taken by one of theirs, or one beyond.

use std::collections::{HashSet, VecDeque};

use super::graph::{Graph, PageGraph};
use super::node_links::{ATTEMPTS, read_links, replace_links};
use super::page::NodeState;
use super::select::{LinkCandidate, select};
use super::space::Payload;
use crate::error::Result;
use crate::pages::{Store, StoreMut};

/// The most nodes beyond its neighbours that are asked to link to a node.
const MOST_ASKED: usize = 256;

/// A node that wants links from others.
#[derive(Clone, Copy)]
struct Newcomer<'a> {
    node: u32,
    payload: &'a [u8],
    layer: u8,
    /// Whether it gets a link even where nearer nodes should have it.
    insists: bool,
}

/// Makes `neighbours` link to `node`, whose vector is `payload`; and some node in any case, if not
/// one of them.
pub fn link_from_all<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    neighbours: &[u32],
    node: u32,
    payload: &[u8],
    layer: u8,
) -> Result<()> {
    let mut newcomer = Newcomer { node, payload, layer, insists: false };
    let mut is_linked = false;
    for neighbour in neighbours {
        is_linked |= link_back(graph, *neighbour, newcomer)?;
    }
    newcomer.insists = true;
    for neighbour in neighbours {
        if is_linked {
            break;
        }
        is_linked = link_back(graph, *neighbour, newcomer)?;
    }
    if is_linked { Ok(()) } else { link_from_beyond(graph, neighbours, newcomer) }
}

/// Makes `to` link to `node`, whose vector is `payload`, if it has room or the node is better than one of
/// its neighbours. Whether it links to it in the end.
pub fn offer<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    to: u32,
    node: u32,
    payload: &[u8],
    layer: u8,
) -> Result<bool> {
    link_back(graph, to, Newcomer { node, payload, layer, insists: false })
}

/// Makes one of the neighbours of `nodes` link to a newcomer, or one of their neighbours, and so on.
fn link_from_beyond<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    nodes: &[u32],
    newcomer: Newcomer<'_>,
) -> Result<()> {
    let mut asked: HashSet<u32> = nodes.iter().copied().chain([newcomer.node]).collect();
    let mut next: VecDeque<u32> = nodes.iter().copied().collect();
    let mut links = Vec::new();
    while let Some(node) = next.pop_front() {
        links.clear();
        graph.neighbours(node, newcomer.layer, &mut links)?;
        for link in &links {
            if asked.len() > nodes.len() + MOST_ASKED {
                return Ok(());
            }
            if asked.insert(*link) {
                if link_back(graph, *link, newcomer)? {
                    return Ok(());
                }
                next.push_back(*link);
            }
        }
    }
    Ok(())
}

/// Makes `to` link to a newcomer; if there is no room, its neighbours are chosen anew.
/// Whether it links to it in the end.
fn link_back<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    to: u32,
    newcomer: Newcomer<'_>,
) -> Result<bool> {
    let Newcomer { node, layer, .. } = newcomer;
    for _ in 0..ATTEMPTS {
        graph.interrupted()?;
        let Some(old) = read_links(graph, to, layer)? else { return Ok(false) };
        if old.contains(&node) {
            return Ok(true);
        }
        let mut new = old.clone();
        if new.len() < graph.shape.degree.most(layer) {
            new.push(node);
        } else {
            new = choose_anew(graph, to, &old, newcomer)?;
        }
        let has_it = new.contains(&node);
        if !has_it || replace_links(graph, to, layer, &old, &new)? {
            return Ok(has_it);
        }
    }
    Ok(false)
}

/// The best of `links` and the newcomer, for a node that has no room for all; `links` as they are,
/// where one of them would lose its last link.
fn choose_anew<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    to: u32,
    links: &[u32],
    newcomer: Newcomer<'_>,
) -> Result<Vec<u32>> {
    let Newcomer { node: new, layer, .. } = newcomer;
    let Some((center, _)) = graph.payload(to, layer)? else { return Ok(links.to_vec()) };
    let candidates = candidates(graph, links, newcomer)?;
    let (mut chosen, dropped) = best(graph, center.bytes(), &candidates, layer);
    for node in dropped {
        let must_stay = match node == new {
            true => newcomer.insists,
            false => chosen.contains(&new) && !is_linked_by_another(graph, node, to, layer)?,
        };
        let stays = must_stay && spare(graph, &mut chosen, node, new, to, layer)?;
        let is_kept = !must_stay || stays || node != new && take_over(graph, new, node, layer)?;
        if !is_kept {
            return Ok(links.to_vec());
        }
    }
    Ok(chosen)
}

/// The living of `links`, and the newcomer, with their vectors.
fn candidates<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    links: &[u32],
    newcomer: Newcomer<'_>,
) -> Result<Vec<(u32, Payload)>> {
    let mut candidates = vec![(newcomer.node, Payload::copy_of(newcomer.payload))];
    for link in links {
        if let Some((payload, NodeState::Live)) = graph.payload(*link, newcomer.layer)? {
            candidates.push((*link, payload));
        }
    }
    Ok(candidates)
}

/// Which of `candidates` a node at `center` should link to, and the others.
fn best<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    center: &[u8],
    candidates: &[(u32, Payload)],
    layer: u8,
) -> (Vec<u32>, Vec<u32>) {
    let space = &graph.shape.space;
    let mut candidates: Vec<LinkCandidate<'_>> = candidates
        .iter()
        .map(|(node, payload)| LinkCandidate {
            node: *node,
            distance: space.distance(center, payload.bytes()),
            payload: payload.bytes(),
        })
        .collect();
    candidates.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance));
    let chosen = select(space, center, &candidates, graph.shape.degree.most(layer));
    let nodes = candidates.iter().map(|it| it.node);
    let dropped = nodes.filter(|node| !chosen.contains(node)).collect();
    (chosen, dropped)
}

/// Whether a neighbour of `node` other than `than` links to it.
fn is_linked_by_another<S: Store>(
    graph: &PageGraph<'_, S>,
    node: u32,
    than: u32,
    layer: u8,
) -> Result<bool> {
    let mut neighbours = Vec::new();
    graph.neighbours(node, layer, &mut neighbours)?;
    for neighbour in neighbours.into_iter().filter(|neighbour| *neighbour != than) {
        let is_linked =
            graph.with_links(neighbour, layer, |links| links.iter().any(|it| it == node));
        if is_linked? == Some(true) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Keeps `orphan`, to which nothing else links, in place of one that can do without; whether there is one.
fn spare<S: Store>(
    graph: &PageGraph<'_, S>,
    chosen: &mut [u32],
    orphan: u32,
    new: u32,
    to: u32,
    layer: u8,
) -> Result<bool> {
    for place in (0..chosen.len()).rev() {
        if chosen[place] != new && is_linked_by_another(graph, chosen[place], to, layer)? {
            chosen[place] = orphan;
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes `from` link to `orphan`, if it has room.
fn take_over<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    from: u32,
    orphan: u32,
    layer: u8,
) -> Result<bool> {
    let Some(old) = read_links(graph, from, layer)? else { return Ok(false) };
    if old.contains(&orphan) {
        return Ok(true);
    }
    if old.len() >= graph.shape.degree.most(layer) {
        return Ok(false);
    }
    let new: Vec<u32> = old.iter().copied().chain([orphan]).collect();
    replace_links(graph, from, layer, &old, &new)
}
