//! # build: how does a graph come about in memory?
//!
//! ```text
//! vectors, as they come → a graph of dense numbers → pages
//! ```
//!
//! INSERT, algorithm 1 of the HNSW paper, by any number of threads at once. The builder has
//! no threads of its own: one caller [`GraphBuilder::add`]s vectors, others call
//! [`GraphBuilder::link_next`] until it says that nothing is left.
//!
//! A list has room for a quarter more neighbours than it will have in the end. A thread that finds
//! it full chooses the best anew, and leaves that room for those to come (the slack of DiskANN,
//! Subramanya and others, NeurIPS 2019). Lists that are still too long once all is linked are cut
//! then.
//!
//! Vectors and links lie in chunks that are made once and never moved, in memory that the caller
//! gives ([`ChunkMemory`]). Links are atomic numbers: a thread that reads a list while it is being
//! changed may see a mixture of the old and the new one, which is a list of good links all the
//! same. A thread that changes a list holds its lock, one of [`LOCKS`]; no thread holds two.

mod in_memory;

use std::ops::Deref;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use self::in_memory::InMemory;
use super::graph::Neighbor;
use super::insert::InsertItem;
use super::page::{EntryPoint, IndexShape, RowId};
use super::proximity::{Proximity, euclidean};
use super::residuals::ResidualCodes;
use super::search_layer::{DESCENT, SearchMemory};
use super::select::{LinkCandidate, select, select_first};
use crate::error::{Error, ErrorKind, Result};
use crate::spare;

/// Vectors of a chunk.
const CHUNK: usize = 1024;
/// Chunks of a block of chunks, and the most of these: room for all numbers that a node can have.
const BLOCK: usize = 1024;
const BLOCKS: usize = (1 << 32) / (CHUNK * BLOCK);
/// Locks that the nodes share.
const LOCKS: usize = 8192;
/// The most layers above the ground: 16^16 nodes would have as many.
const MOST_LAYERS: u8 = 16;
/// Nodes whose lists are cut at once.
const CUT: u32 = 256;
/// Bytes a node that threads take to remember where they have been, and that its place on pages takes.
const BYTES_TO_REMEMBER: usize = 16;
const BYTES_TO_ORDER: usize = 64;
/// "No link" in memory, where node 0 is a node.
const NO_LINK: u32 = u32::MAX;

/// Memory for chunks, which may be anywhere that does not move.
pub trait ChunkMemory {
    /// Numbers that are written once.
    type Numbers: Deref<Target = [u32]> + Send + Sync;
    /// Numbers that change while threads read them.
    type Links: Deref<Target = [AtomicU32]> + Send + Sync;

    /// Keeps numbers that will not change.
    fn numbers(&mut self, numbers: Vec<u32>) -> Result<Self::Numbers>;

    /// As many numbers as asked for, of whatever value.
    fn links(&mut self, count: usize) -> Result<Self::Links>;
}

/// Vectors, rows and links of some nodes.
struct NodeChunk<M: ChunkMemory> {
    payloads: M::Numbers,
    /// Residual codes, if the index has them.
    residuals: M::Numbers,
    rows: Vec<RowId>,
    /// Flags and values of the filter columns.
    values: Vec<u8>,
    layers: Vec<u8>,
    /// Links of the ground layer; for the layers above, see `upper`.
    links: M::Links,
    /// The lists of each node above the ground, lowest first.
    upper: Vec<Option<Box<[AtomicU32]>>>,
}

/// Chunks, as they come.
type ChunkBlock<M> = Box<[OnceLock<NodeChunk<M>>]>;

/// Neighbours that a list has room for while the graph grows.
fn room(shape: &IndexShape, layer: u8) -> usize {
    let most = shape.degree.most(layer);
    most + most / 4
}

/// A graph that grows.
pub struct GraphBuilder<M: ChunkMemory> {
    pub(super) shape: IndexShape,
    blocks: Vec<OnceLock<ChunkBlock<M>>>,
    locks: Vec<Mutex<()>>,
    /// Nodes that are there to be linked.
    ready: AtomicU32,
    /// The next to be linked.
    next: AtomicU32,
    /// How many nodes are linked.
    linked: AtomicU32,
    /// The next whose lists are to be cut.
    next_cut: AtomicU32,
    is_complete: AtomicU8,
    entry: Mutex<Option<EntryPoint>>,
    filling: Mutex<Filling>,
}

/// The chunk that is not full yet.
#[derive(Default)]
struct Filling {
    payloads: Vec<u32>,
    residuals: Vec<u32>,
    rows: Vec<RowId>,
    values: Vec<u8>,
    layers: Vec<u8>,
}

/// What [`GraphBuilder::link_next`] found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkProgress {
    /// A node was linked, or the lists of some were cut.
    Linked,
    /// There is nothing to do at the moment.
    Waiting,
    /// Everything that was added is linked, its lists are cut or being cut, and nothing will be
    /// added.
    Complete,
}

/// Bytes that a node takes on average while a graph is built.
#[must_use]
pub fn bytes_of_a_node(shape: &IndexShape) -> usize {
    let upper = 4 * room(shape, 1) + 16;
    shape.payload_bytes()
        + shape.residual_bytes()
        + 4 * room(shape, 0)
        + size_of::<RowId>()
        + shape.filters.bytes()
        + size_of::<Option<Box<[AtomicU32]>>>()
        + 1
        + upper.div_ceil(usize::from(shape.degree.m) - 1)
}

impl<M: ChunkMemory> GraphBuilder<M> {
    /// A graph without nodes.
    #[must_use]
    pub fn new(shape: IndexShape) -> GraphBuilder<M> {
        GraphBuilder {
            shape,
            blocks: std::iter::repeat_with(OnceLock::new).take(BLOCKS).collect(),
            locks: std::iter::repeat_with(Mutex::default).take(LOCKS).collect(),
            ready: AtomicU32::new(0),
            next: AtomicU32::new(0),
            linked: AtomicU32::new(0),
            next_cut: AtomicU32::new(0),
            is_complete: AtomicU8::new(0),
            entry: Mutex::new(None),
            filling: Mutex::default(),
        }
    }

    /// Adds a vector, whose node is to reach up to `layer`. One thread at a time.
    pub fn add(&self, item: &InsertItem, layer: u8, memory: &mut M) -> Result<()> {
        let mut filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if filling.rows.is_empty() {
            // This chunk, and what the threads that link remember of each node.
            let nodes = self.added() as usize + CHUNK;
            spare::check(CHUNK * bytes_of_a_node(&self.shape) + BYTES_TO_REMEMBER * nodes)?;
        }
        filling.payloads.extend_from_slice(bytemuck::cast_slice(item.payload.bytes()));
        if let Some(residuals) = &item.residuals {
            filling.residuals.extend(residuals.words());
        }
        filling.rows.push(item.row);
        filling.values.extend_from_slice(item.values.bytes());
        filling.layers.push(layer.min(MOST_LAYERS));
        if filling.rows.len() == CHUNK { self.publish(&mut filling, memory) } else { Ok(()) }
    }

    /// Says that no vector will be added any more.
    pub fn complete(&self, memory: &mut M) -> Result<()> {
        // Memory for putting the nodes into the order of the pages.
        spare::check(BYTES_TO_ORDER * self.added() as usize)?;
        let mut filling = self.filling.lock().unwrap_or_else(PoisonError::into_inner);
        if !filling.rows.is_empty() {
            self.publish(&mut filling, memory)?;
        }
        self.is_complete.store(1, Ordering::Release);
        Ok(())
    }

    fn publish(&self, filling: &mut Filling, memory: &mut M) -> Result<()> {
        let Filling { payloads, residuals, rows, values, layers } = std::mem::take(filling);
        let upper = layers.iter().map(|layers| {
            let links = usize::from(*layers) * room(&self.shape, 1);
            let no_links = std::iter::repeat_with(|| AtomicU32::new(NO_LINK)).take(links);
            (links > 0).then(|| no_links.collect())
        });
        let added = rows.len() as u32;
        let links = memory.links(rows.len() * room(&self.shape, 0))?;
        links.iter().for_each(|link| link.store(NO_LINK, Ordering::Relaxed));
        let (payloads, residuals) = (memory.numbers(payloads)?, memory.numbers(residuals)?);
        let upper = upper.collect();
        let made = NodeChunk { upper, payloads, residuals, rows, values, layers, links };
        let chunk = self.ready.load(Ordering::Relaxed) as usize / CHUNK;
        let block = self.blocks.get(chunk / BLOCK).ok_or_else(|| broken("too many vectors"))?;
        let block =
            block.get_or_init(|| std::iter::repeat_with(OnceLock::new).take(BLOCK).collect());
        let _ = block[chunk % BLOCK].set(made);
        self.ready.fetch_add(added, Ordering::Release);
        Ok(())
    }

    /// Links the next node, if there is one.
    pub fn link_next(&self, memory: &mut SearchMemory) -> Result<LinkProgress> {
        let is_complete = self.is_complete.load(Ordering::Acquire) == 1;
        let ready = self.ready.load(Ordering::Acquire);
        let claimed = self.next.fetch_update(Ordering::AcqRel, Ordering::Relaxed, |next| {
            (next < ready).then_some(next + 1)
        });
        match claimed {
            Ok(node) => {
                self.link(node, memory)?;
                self.linked.fetch_add(1, Ordering::AcqRel);
                Ok(LinkProgress::Linked)
            }
            // A list is cut once no thread links to its node any more.
            Err(_) if is_complete && self.linked() == ready => Ok(self.cut_some(ready)),
            Err(_) => Ok(LinkProgress::Waiting),
        }
    }

    fn cut_some(&self, nodes: u32) -> LinkProgress {
        let first = self.next_cut.fetch_add(CUT, Ordering::AcqRel);
        if first >= nodes {
            return LinkProgress::Complete;
        }
        for node in first..nodes.min(first + CUT) {
            for layer in 0..=self.layer(node) {
                let links = self.list(node, layer);
                let most = self.shape.degree.most(layer);
                if links.len() > most {
                    self.set_list(node, layer, &self.best(node, &links, most));
                }
            }
        }
        LinkProgress::Linked
    }

    /// The best of some neighbours of a node.
    fn best(&self, node: u32, links: &[u32], most: usize) -> Vec<u32> {
        let payload = self.payload(node);
        let candidate = |link: &u32| {
            let other = self.payload(*link);
            let distance = self.shape.space.distance(payload, other);
            LinkCandidate { node: *link, distance, payload: other }
        };
        let mut candidates: Vec<LinkCandidate<'_>> = links.iter().map(candidate).collect();
        candidates.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance));
        select(&self.shape.space, payload, &candidates, most)
    }

    /// How many nodes are linked.
    pub fn linked(&self) -> u32 {
        self.linked.load(Ordering::Acquire)
    }

    /// Nodes that were added, but for those of a chunk that is not full.
    pub fn added(&self) -> u32 {
        self.ready.load(Ordering::Acquire)
    }

    fn link(&self, node: u32, memory: &mut SearchMemory) -> Result<()> {
        let layer = self.layer(node);
        let Some(entry) = self.first_or_entry(node, layer) else { return Ok(()) };
        let SearchMemory { walk, visited } = memory;
        let probe = self.payload(node);
        let graph = InMemory { builder: self, space: self.shape.space };
        let lowest = layer.min(entry.layer);
        let proximity = euclidean(&self.shape.space).map(|space| Proximity {
            graph: &graph,
            euclidean: InMemory { builder: self, space },
            nodes: self.added() as usize,
            most: usize::from(self.shape.degree.m),
            probe,
            length: self.shape.space.fit(probe).norm,
        });
        // The layers share their numbers here, so each wants a set of its own.
        let mut starts = vec![entry.node];
        for above in (lowest + 1..=entry.layer).rev() {
            visited.begin(self.added() as usize)?;
            walk.begin(&graph, probe, &starts, above, DESCENT, visited)?;
            starts = walk.below(&graph, above)?;
        }
        let mut found = Vec::with_capacity(usize::from(lowest) + 1);
        for layer in (0..=lowest).rev() {
            visited.begin(self.added() as usize)?;
            let ef = usize::from(self.shape.degree.ef_construction);
            walk.begin(&graph, probe, &starts, layer, ef, visited)?;
            starts = walk.below(&graph, layer)?;
            let mut nearest = walk.nearest();
            if let Some(proximity) = &proximity {
                proximity.add(layer, &mut nearest, walk, visited)?;
            }
            found.push((layer, nearest));
        }
        // From the ground up: a walk that comes down through this node must find its links there.
        for (layer, nearest) in found.iter().rev() {
            self.connect(node, *layer, nearest);
        }
        if layer > entry.layer {
            self.raise_entry(EntryPoint { node, layer });
        }
        Ok(())
    }

    /// The entry; or the node itself becomes it, if there is none.
    fn first_or_entry(&self, node: u32, layer: u8) -> Option<EntryPoint> {
        let mut entry = self.entry.lock().unwrap_or_else(PoisonError::into_inner);
        if entry.is_none() {
            *entry = Some(EntryPoint { node, layer });
            return None;
        }
        *entry
    }

    pub(super) fn raise_entry(&self, candidate: EntryPoint) {
        let mut entry = self.entry.lock().unwrap_or_else(PoisonError::into_inner);
        if entry.is_none_or(|entry| entry.layer < candidate.layer) {
            *entry = Some(candidate);
        }
    }

    fn connect(&self, node: u32, layer: u8, nearest: &[Neighbor]) {
        let candidates: Vec<LinkCandidate<'_>> = nearest
            .iter()
            .filter(|found| found.node != node)
            .map(|found| LinkCandidate {
                node: found.node,
                distance: found.distance,
                payload: self.payload(found.node),
            })
            .collect();
        let IndexShape { space, degree, .. } = &self.shape;
        let neighbours = select_first(space, self.payload(node), &candidates, degree, layer);
        {
            // Others may have linked back to this node already.
            let _lock = self.lock(node);
            let mut links = self.list(node, layer);
            links.extend(
                neighbours.iter().filter(|it| !links.contains(it)).copied().collect::<Vec<_>>(),
            );
            links.truncate(room(&self.shape, layer));
            self.set_list(node, layer, &links);
        }
        neighbours.iter().for_each(|neighbour| self.link_back(*neighbour, node, layer));
    }

    /// Adds `node` to the neighbours of `to`; if there is no room, the best are chosen anew.
    fn link_back(&self, to: u32, node: u32, layer: u8) {
        let _lock = self.lock(to);
        let mut links = self.list(to, layer);
        if links.contains(&node) {
            return;
        }
        links.push(node);
        if links.len() > room(&self.shape, layer) {
            links = self.best(to, &links, self.shape.degree.most(layer));
        }
        self.set_list(to, layer, &links);
    }

    fn lock(&self, node: u32) -> MutexGuard<'_, ()> {
        self.locks[node as usize % LOCKS].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn chunk(&self, node: u32) -> (&NodeChunk<M>, usize) {
        let chunk = node as usize / CHUNK;
        let chunk = self.blocks[chunk / BLOCK].get().and_then(|block| block[chunk % BLOCK].get());
        (chunk.expect("a node is linked to published ones only"), node as usize % CHUNK)
    }

    /// The vector of a node.
    #[must_use]
    pub fn payload(&self, node: u32) -> &[u8] {
        let (chunk, index) = self.chunk(node);
        let words = self.shape.payload_bytes() / 4;
        bytemuck::cast_slice(&chunk.payloads[index * words..(index + 1) * words])
    }

    /// The residual codes of a node's vector; `None` in an index without them.
    #[must_use]
    pub fn residuals(&self, node: u32) -> Option<ResidualCodes> {
        let (chunk, index) = self.chunk(node);
        let words = self.shape.residual_bytes() / 4;
        let of_node = chunk.residuals.get(index * words..(index + 1) * words)?;
        (words > 0).then(|| ResidualCodes::from_bytes(bytemuck::cast_slice(of_node)))
    }

    /// The row of a node.
    #[must_use]
    pub fn row(&self, node: u32) -> RowId {
        let (chunk, index) = self.chunk(node);
        chunk.rows[index]
    }

    /// Flags and values of the filter columns of a node.
    #[must_use]
    pub fn values(&self, node: u32) -> &[u8] {
        let (chunk, index) = self.chunk(node);
        let bytes = self.shape.filters.bytes();
        &chunk.values[index * bytes..(index + 1) * bytes]
    }

    /// The highest layer of a node.
    #[must_use]
    pub fn layer(&self, node: u32) -> u8 {
        let (chunk, index) = self.chunk(node);
        chunk.layers[index]
    }

    fn links(&self, node: u32, layer: u8) -> &[AtomicU32] {
        let (chunk, index) = self.chunk(node);
        let room = room(&self.shape, layer);
        match layer {
            0 => &chunk.links[index * room..(index + 1) * room],
            _ => {
                let first = (usize::from(layer) - 1) * room;
                chunk.upper[index]
                    .as_deref()
                    .and_then(|all| all.get(first..first + room))
                    .unwrap_or_default()
            }
        }
    }

    /// The neighbours of a node in a layer.
    #[must_use]
    pub fn list(&self, node: u32, layer: u8) -> Vec<u32> {
        let links = self.links(node, layer).iter().map(|link| link.load(Ordering::Relaxed));
        links.take_while(|link| *link != NO_LINK).collect()
    }

    pub(super) fn set_list(&self, node: u32, layer: u8, links: &[u32]) {
        let values = links.iter().copied().chain(std::iter::repeat(NO_LINK));
        for (link, value) in self.links(node, layer).iter().zip(values) {
            link.store(value, Ordering::Relaxed);
        }
    }

    /// The entry, of a graph that has nodes.
    pub fn entry(&self) -> Option<EntryPoint> {
        *self.entry.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The layer that a node reaches up to: `floor(-ln(u) / ln(m))` for a `u` from 0 to 1, so
/// that one in m reaches each next layer (section 4.1 of the paper).
#[must_use]
pub fn layer_by_chance(chance: f64, m: u16) -> u8 {
    let layers = -chance.max(f64::MIN_POSITIVE).ln() / f64::from(m).ln();
    (layers as u8).min(MOST_LAYERS)
}

/// Says that something is wrong with the builder itself.
#[must_use]
pub fn broken(what: &str) -> Error {
    Error::new(ErrorKind::Internal, format!("building a rag_hnsw index: {what}"))
}

const _: () = assert!(CHUNK.is_power_of_two());

#[cfg(test)]
pub mod heap {
    //! Memory of the process.

    use super::{AtomicU32, ChunkMemory, Result};

    /// Memory of the process, as much as there is.
    pub struct Heap;

    impl ChunkMemory for Heap {
        type Numbers = Vec<u32>;
        type Links = Vec<AtomicU32>;

        fn numbers(&mut self, numbers: Vec<u32>) -> Result<Vec<u32>> {
            Ok(numbers)
        }

        fn links(&mut self, count: usize) -> Result<Vec<AtomicU32>> {
            Ok(std::iter::repeat_with(AtomicU32::default).take(count).collect())
        }
    }
}
