//! # insert: how does one more vector get into the graph on pages?
//!
//! INSERT, algorithm 1 of the HNSW paper. Pages are locked one at a time, but for the list of pages
//! with room (block 0, then the page) and for a new node on the ground (the page with its links, then its own). What is read without a lock is compared again under it
//! before a list is replaced, so that no change of another process is lost.
//!
//! The order of writing is: the node on the ground with its own links, its filter values and residual codes, the links
//! back; the same for its nodes above; and last the entry. A crash in between leaves a node that
//! few links lead to; its row was not committed.

use super::back_link::link_from_all;
use super::columns::{ColumnValues, set_values};
use super::graph::{Graph, Neighbor, PageGraph};
use super::layout::BlockRole;
use super::node_links::{ATTEMPTS, read_links, replace_links};
use super::page::{
    self, EntryPoint, HnswMeta, HnswPageKind, IndexShape, NONE, NewNode, NodePlace, NodeState,
    RowId, SlotView,
};
use super::proximity::{Proximity, euclidean};
use super::residuals::{ResidualCodes, set_residuals};
use super::search_layer::{LayerSearch, SearchMemory, descend};
use super::select::{LinkCandidate, select_first};
use super::slots::{NewSlot, occupy, read_meta};
use super::space::Payload;
use super::visited::Visited;
use crate::error::Result;
use crate::pages::{Store, StoreMut};

/// Remembers a row that has no place in the graph.
pub fn insert_loose<S: StoreMut>(store: &S, row: RowId, state: NodeState) -> Result<()> {
    let shape = read_meta(store)?.shape;
    occupy(store, &shape, &NewSlot::Loose(row, state)).map(drop)
}

/// Fails if a payload was not made for vectors of this shape.
pub fn expect_size(shape: &IndexShape, payload: &Payload) -> Result<()> {
    if payload.bytes().len() == shape.payload_bytes() {
        return Ok(());
    }
    Err(page::corrupt(0, "the dimensions have changed"))
}

/// Fails if a probe was not made for vectors of this shape.
pub fn expect_probe(shape: &IndexShape, probe: &Payload) -> Result<()> {
    if probe.bytes().len() == shape.space.probe_bytes().next_multiple_of(4) {
        return Ok(());
    }
    Err(page::corrupt(0, "the dimensions have changed"))
}

/// What an index holds of a row whose vector has a place in the graph.
#[derive(Clone, Debug)]
pub struct InsertItem {
    /// The row of the table.
    pub row: RowId,
    /// The vector, as it is stored.
    pub payload: Payload,
    /// The vector as a probe, where that is another form.
    pub probe: Option<Payload>,
    /// What the payload has lost of the vector; `None` in an index without residual codes.
    pub residuals: Option<ResidualCodes>,
    /// The values of the filter columns.
    pub values: ColumnValues,
}

/// Inserts a vector that reaches up to `layer`.
pub fn insert<S: StoreMut>(
    store: &S,
    item: &InsertItem,
    layer: u8,
    memory: &mut SearchMemory,
) -> Result<()> {
    let meta = read_meta(store)?;
    expect_size(&meta.shape, &item.payload)?;
    let graph = PageGraph::new(store, &meta.shape);
    let probe = item.probe.as_ref().unwrap_or(&item.payload).bytes();
    let layers = neighbours_by_layer(&graph, &meta, probe, layer, memory)?;
    // A cancel in between would leave a node that few links lead to, or none.
    store.together(|| {
        let AddedNodes { nodes, before } = add_nodes(&graph, &meta, item, layer, &layers)?;
        match before {
            // Of several inserts into an empty layer at the same time, one is the first.
            Some(first) if meta.entry != before && !nodes.contains(&first.node) => {
                let from = meta.entry.map_or(0, |entry| entry.layer + 1);
                let meta = HnswMeta { entry: Some(first), ..meta };
                link_late(&graph, &meta, item, (&nodes, from), memory)
            }
            _ => Ok(()),
        }
    })
}

/// The nodes of a vector in the graph.
struct AddedNodes {
    /// By layer, lowest first.
    nodes: Vec<u32>,
    /// Where walks began, if the nodes were to be the new beginning.
    before: Option<EntryPoint>,
}

/// Links nodes that were written into layers that seemed to be empty, those from layer `from` on.
fn link_late<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    meta: &HnswMeta,
    item: &InsertItem,
    (nodes, from): (&[u32], u8),
    memory: &mut SearchMemory,
) -> Result<()> {
    let probe = item.probe.as_ref().unwrap_or(&item.payload).bytes();
    let highest = nodes.len().saturating_sub(1) as u8;
    let layers = neighbours_by_layer(graph, meta, probe, highest, memory)?;
    let late = (0..).zip(nodes.iter().zip(layers)).filter(|(layer, _)| *layer >= from);
    for (layer, (node, neighbours)) in late {
        let others: Vec<u32> = neighbours.into_iter().filter(|it| it != node).collect();
        for _ in 0..ATTEMPTS {
            let Some(old) = read_links(graph, *node, layer)? else { break };
            let new = others.iter().filter(|it| !old.contains(it));
            let mut links: Vec<u32> = old.iter().chain(new).copied().collect();
            links.truncate(graph.shape.degree.most(layer));
            if replace_links(graph, *node, layer, &old, &links)? {
                break;
            }
        }
        link_from_all(graph, &others, *node, item.payload.bytes(), layer)?;
    }
    Ok(())
}

/// Writes the nodes of a vector, up to the one in `layer`, and the links to them.
fn add_nodes<S: StoreMut>(
    graph: &PageGraph<'_, S>,
    meta: &HnswMeta,
    item: &InsertItem,
    layer: u8,
    layers: &[Vec<u32>],
) -> Result<AddedNodes> {
    let (store, InsertItem { row, payload, values, .. }) = (graph.store, item);
    let mut below = NONE;
    let mut ground = NONE;
    let mut nodes = Vec::with_capacity(usize::from(layer) + 1);
    for at in 0..=layer {
        let neighbours = layers.get(usize::from(at)).map_or(&[][..], Vec::as_slice);
        let row = *row;
        let node = NewNode { row, layer: at, below, ground, payload: payload.bytes(), neighbours };
        below = occupy(store, &meta.shape, &NewSlot::Node(node))?;
        if at == 0 {
            ground = below;
            set_values(store, &meta.shape, ground, values)?;
            if let Some(residuals) = &item.residuals {
                set_residuals(store, &meta.shape, ground, &residuals.clone().of_row(row))?;
            }
        }
        link_from_all(graph, neighbours, below, payload.bytes(), at)?;
        nodes.push(below);
    }
    let before = match meta.entry.is_none_or(|entry| entry.layer < layer) {
        true => raise_entry(store, EntryPoint { node: below, layer })?,
        false => None,
    };
    Ok(AddedNodes { nodes, before })
}

/// The neighbours of a new vector in each layer that the graph has, lowest first.
fn neighbours_by_layer<S: Store>(
    graph: &PageGraph<'_, S>,
    meta: &HnswMeta,
    probe: &[u8],
    layer: u8,
    memory: &mut SearchMemory,
) -> Result<Vec<Vec<u32>>> {
    let SearchMemory { walk, visited } = memory;
    let nodes = meta.shape.nodes_below(graph.store.blocks()?);
    visited.begin(nodes)?;
    let (mut starts, highest) = starts(graph, meta, probe, layer, walk, visited)?;
    if starts.is_empty() {
        return Ok(Vec::new());
    }
    let ef = usize::from(meta.shape.degree.ef_construction);
    let mut layers = vec![Vec::new(); usize::from(highest) + 1];
    let proximity = euclidean(&graph.space).map(|space| Proximity {
        graph,
        euclidean: graph.measured_by(space),
        nodes,
        most: usize::from(meta.shape.degree.m),
        probe,
        length: meta.shape.space.fit(probe).norm,
    });
    for at in (0..=highest).rev() {
        walk.begin(graph, probe, &starts, at, ef, visited)?;
        if at == 0 && walk.met() == 0 {
            // Since the insert has begun, VACUUM has freed the slots that the walk was to begin in.
            starts = any_live_node(graph)?.into_iter().collect();
            walk.begin(graph, probe, &starts, 0, ef, visited)?;
        }
        let mut nearest = walk.nearest();
        if at > 0 {
            starts = walk.below(graph, at)?;
        }
        if let Some(proximity) = &proximity {
            proximity.add(at, &mut nearest, walk, visited)?;
        }
        layers[usize::from(at)] = choose(graph, probe, &nearest, at)?;
    }
    Ok(layers)
}

/// Where the walks for a vector that reaches up to `layer` begin: in that layer, or in the
/// highest there is, which is given too. Finds another node where the entry has just gone.
fn starts<S: Store>(
    graph: &PageGraph<'_, S>,
    meta: &HnswMeta,
    probe: &[u8],
    layer: u8,
    walk: &mut LayerSearch,
    visited: &mut Visited,
) -> Result<(Vec<u32>, u8)> {
    let Some(entry) = meta.entry else { return Ok((Vec::new(), 0)) };
    let to = layer.min(entry.layer);
    let starts = descend(graph, probe, entry, to, walk, visited)?;
    if starts.is_empty() {
        return Ok((any_live_node(graph)?.into_iter().collect(), 0));
    }
    Ok((starts, to))
}

/// Some node of the ground layer, if there is any.
pub fn any_live_node<S: Store>(graph: &PageGraph<'_, S>) -> Result<Option<u32>> {
    let is_data = |block: &u32| graph.shape.layout.role(*block) == BlockRole::Data;
    for block in (1..graph.store.blocks()?).filter(is_data) {
        graph.interrupted()?;
        let found = graph.store.read(block, |page| {
            (0..graph.shape.slots(HnswPageKind::Ground)).find(|slot| {
                SlotView::of(graph.shape, page, HnswPageKind::Ground, *slot)
                    .is_some_and(|slot| slot.state() == NodeState::Live)
            })
        })?;
        if let Some(slot) = found {
            return Ok(Some(graph.shape.node(NodePlace { block, slot })));
        }
    }
    Ok(None)
}

/// Neighbours for a new node, among the nearest that a walk found.
fn choose<S: Store>(
    graph: &PageGraph<'_, S>,
    probe: &[u8],
    nearest: &[Neighbor],
    layer: u8,
) -> Result<Vec<u32>> {
    let mut payloads = Vec::with_capacity(nearest.len());
    for found in nearest {
        if let Some((payload, NodeState::Live)) = graph.payload(found.node, layer)? {
            payloads.push((found, payload));
        }
    }
    let candidates: Vec<LinkCandidate<'_>> = payloads
        .iter()
        .map(|(found, payload)| LinkCandidate {
            node: found.node,
            distance: found.distance,
            payload: payload.bytes(),
        })
        .collect();
    Ok(select_first(&graph.space, probe, &candidates, &graph.shape.degree, layer))
}

/// Makes walks begin at `candidate`, if it is higher than where they begin now; where that was.
pub fn raise_entry<S: StoreMut>(store: &S, candidate: EntryPoint) -> Result<Option<EntryPoint>> {
    let mut before = None;
    store.write(0, |page| {
        let mut meta = HnswMeta::read(page)?;
        before = meta.entry;
        if meta.entry.is_some_and(|entry| entry.layer >= candidate.layer) {
            return Ok(false);
        }
        meta.entry = Some(candidate);
        meta.write(page);
        Ok(true)
    })?;
    Ok(before)
}
