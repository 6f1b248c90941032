//! # shape: how large is a slot, and which number has the node in it?
//!
//! ```text
//! (columns, options) → sizes of slots, numbers of nodes
//! ```

use std::ops::Range;

use super::layout::{PageCapacity, PageLayout};
use super::residuals;
use super::space::Space;
use crate::error::{Error, ErrorKind, Result};
use crate::pages::{HEADER_BYTES, PAGE_SIZE, ROOM, TRAILER_BYTES};

/// "No node" and "no page": block 0 holds neither.
pub const NONE: u32 = 0;

/// Bytes of a node's header in the ground layer: row, state, the mark of a node.
const GROUND_HEADER: usize = 8;
/// Bytes of a node's header above it: row, state, layer, node below, ground node.
const UPPER_HEADER: usize = 16;
/// Bytes of the widest filter value, and where on its page a column of values may begin.
const WIDEST: usize = 16;
/// Bytes of an entry for a row without a place in the graph: row, state, unused.
const LOOSE_BYTES: usize = 8;
/// Where the lists of a page with links begin: a list of 32 links is two lines of the processor's cache.
const LISTS_START: usize = 64;

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum HnswPageKind {
    /// Nodes of layer 0: every vector.
    Ground = 0,
    /// Nodes of the layers above.
    Upper = 1,
    /// Rows without a vector, or with one that has no direction.
    Loose = 2,
    /// Values of the filter columns of the pages that follow.
    Column = 3,
    /// Links of the nodes of layer 0 on the pages that follow.
    Links = 4,
    /// Residual codes of the nodes of layer 0 on the pages that follow.
    Residuals = 5,
}

impl HnswPageKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [HnswPageKind; 6] = [
        HnswPageKind::Ground,
        HnswPageKind::Upper,
        HnswPageKind::Loose,
        HnswPageKind::Column,
        HnswPageKind::Links,
        HnswPageKind::Residuals,
    ];
    /// The kinds whose pages hold slots.
    pub const WITH_SLOTS: [HnswPageKind; 3] =
        [HnswPageKind::Ground, HnswPageKind::Upper, HnswPageKind::Loose];
}

/// What a slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NodeState {
    /// Nothing: it can be filled.
    Free = 0,
    /// A node whose row is there, as far as the index knows.
    Live = 1,
    /// A node whose row is gone; walks still pass through it.
    Dead = 2,
    /// A row whose vector is NULL.
    Null = 3,
    /// A row whose vector has no distance to anything.
    Undirected = 4,
}

impl NodeState {
    pub(super) fn from_number(number: u8) -> Option<NodeState> {
        use NodeState::{Dead, Free, Live, Null, Undirected};
        [Free, Live, Dead, Null, Undirected].into_iter().find(|it| *it as u8 == number)
    }
}

/// How many neighbours a node has at most (the paper's M), and how many candidates are
/// looked at to find them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Degree {
    /// Above the ground layer; on it twice as many.
    pub m: u16,
    /// The paper's efConstruction.
    pub ef_construction: u16,
}

impl Degree {
    /// The most neighbours in a layer.
    #[must_use]
    pub fn most(&self, layer: u8) -> usize {
        if layer == 0 { 2 * usize::from(self.m) } else { usize::from(self.m) }
    }
}

/// What the indexed column holds, as users see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum VectorColumn {
    /// Single-precision vectors.
    Vector = 1,
    /// Half-precision vectors.
    HalfVector = 2,
    /// Strings of bits.
    Bit = 3,
}

impl VectorColumn {
    /// The column with this number.
    pub fn from_number(number: u8) -> Option<VectorColumn> {
        [VectorColumn::Vector, VectorColumn::HalfVector, VectorColumn::Bit]
            .into_iter()
            .find(|it| *it as u8 == number)
    }
}

/// The most filter columns of an index.
pub const MOST_FILTERS: usize = 7;

/// The columns beside the vector: how many bytes a value of each takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filters([u8; MOST_FILTERS]);

impl Filters {
    /// Columns of these widths: 1, 2, 4, 8 or 16 bytes.
    pub fn new(widths: &[u8]) -> Result<Filters> {
        if widths.len() > MOST_FILTERS {
            let message = format!(
                "a rag_hnsw index can have {MOST_FILTERS} columns beside the vector, not {}",
                widths.len()
            );
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let mut filters = Filters::default();
        filters.0[..widths.len()].copy_from_slice(widths);
        Ok(filters)
    }

    /// The width of each, in order.
    pub fn widths(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|width| usize::from(*width)).take_while(|width| *width > 0)
    }

    /// Bytes of a row's flags and values.
    #[must_use]
    pub fn bytes(&self) -> usize {
        1 + self.widths().sum::<usize>()
    }

    /// Rows whose flags and values fit on a page; `None` without columns.
    fn most_on_a_page(&self) -> Option<u32> {
        let room = (ROOM - MOST_FILTERS * WIDEST) / self.bytes();
        (*self != Filters::default()).then_some(room as u32)
    }
}

/// The shape of an index: what follows from its columns and options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexShape {
    /// The type, length and distance of the vectors.
    pub space: Space,
    /// How many links the graph has.
    pub degree: Degree,
    /// The columns beside the vector, by which a scan filters.
    pub filters: Filters,
    pub(super) payload: usize,
    /// Which page holds what.
    pub layout: PageLayout,
    slot_bits: u32,
}

/// Where a walk begins: a node of the highest layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// The number of the node.
    pub node: u32,
    /// The node's layer.
    pub layer: u8,
}

/// A place in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodePlace {
    /// The number of the page.
    pub block: u32,
    /// The slot in it.
    pub slot: u32,
}

/// Most dimensions, or bits, of a vector.
pub const MOST_DIMENSIONS: u32 = 64_000;

impl IndexShape {
    /// Fails if a vector has more than [`MOST_DIMENSIONS`], or a page does not have room for one node.
    pub fn new(space: Space, degree: Degree, filters: Filters) -> Result<IndexShape> {
        if space.dimensions > MOST_DIMENSIONS {
            let message = format!(
                "a rag_hnsw index can have {MOST_DIMENSIONS} dimensions or bits, not {}",
                space.dimensions
            );
            return Err(Error::new(ErrorKind::Unsupported, message));
        }
        let payload = space.payload_bytes();
        let ground = GROUND_HEADER + payload;
        let upper = UPPER_HEADER + payload + list_bytes(degree, 1);
        if ground.max(upper) > ROOM {
            return Err(too_large(&space, &degree));
        }
        let layout = PageLayout::new(PageCapacity {
            slots: (ROOM / ground) as u32,
            lists: ((PAGE_SIZE - TRAILER_BYTES - LISTS_START) / list_bytes(degree, 0)) as u32,
            values: filters.most_on_a_page(),
            residuals: None,
        });
        let most = layout.slots().max((ROOM / upper) as u32);
        let slot_bits = most.next_power_of_two().trailing_zeros();
        Ok(IndexShape { space, degree, filters, payload, layout, slot_bits })
    }

    /// The shape of an index with residual codes beside the vectors, where these can have them.
    #[must_use]
    pub fn with_residuals(self) -> IndexShape {
        if !residuals::can_have(&self.space) {
            return self;
        }
        let layout = PageLayout::new(PageCapacity {
            slots: self.layout.slots(),
            lists: self.layout.lists(),
            values: self.filters.most_on_a_page(),
            residuals: Some((ROOM / residuals::entry_bytes(&self.space)) as u32),
        });
        IndexShape { layout, ..self }
    }

    /// The shape of the graph from which an index of this shape is made. It is in memory, so what
    /// has room on a page does not matter.
    #[must_use]
    pub fn for_build(&self) -> IndexShape {
        let space = self.space.for_build();
        IndexShape { space, payload: space.payload_bytes(), ..*self }
    }

    /// Whether there are residual codes beside the vectors.
    #[must_use]
    pub fn has_residuals(&self) -> bool {
        self.layout.has_residuals()
    }

    /// Whether there are columns beside the vector.
    #[must_use]
    pub fn has_filters(&self) -> bool {
        self.filters != Filters::default()
    }

    /// Where on a column page the values of a filter column begin: the flags come first.
    #[must_use]
    pub fn column_offset(&self, column: usize) -> usize {
        let before = self.filters.widths().take(column);
        let entries = self.layout.entries();
        let start = HEADER_BYTES + entries.next_multiple_of(WIDEST);
        before.fold(start, |at, width| at + (width * entries).next_multiple_of(WIDEST))
    }

    /// Bytes of a payload.
    #[must_use]
    pub fn payload_bytes(&self) -> usize {
        self.payload
    }

    /// Bytes of a vector's residual codes; 0 in an index without them.
    #[must_use]
    pub fn residual_bytes(&self) -> usize {
        if self.has_residuals() { residuals::entry_bytes(&self.space) } else { 0 }
    }

    /// Bytes of a slot.
    #[must_use]
    pub fn slot_bytes(&self, kind: HnswPageKind) -> usize {
        match kind {
            HnswPageKind::Ground => GROUND_HEADER + self.payload,
            HnswPageKind::Upper => UPPER_HEADER + self.payload + list_bytes(self.degree, 1),
            HnswPageKind::Loose => LOOSE_BYTES,
            HnswPageKind::Column | HnswPageKind::Links | HnswPageKind::Residuals => ROOM,
        }
    }

    /// Slots of a page.
    #[must_use]
    pub fn slots(&self, kind: HnswPageKind) -> u32 {
        match kind {
            HnswPageKind::Column | HnswPageKind::Links | HnswPageKind::Residuals => 0,
            HnswPageKind::Ground => self.layout.slots(),
            _ => (ROOM / self.slot_bytes(kind)) as u32,
        }
    }

    /// The number of a node: 32 bits, of which the lowest say the slot.
    #[must_use]
    pub fn node(&self, place: NodePlace) -> u32 {
        place.block << self.slot_bits | place.slot
    }

    /// Where a node lies on pages.
    #[must_use]
    pub fn place(&self, node: u32) -> NodePlace {
        NodePlace { block: node >> self.slot_bits, slot: node & ((1 << self.slot_bits) - 1) }
    }

    /// The first number that no page below `blocks` gives to a node.
    #[must_use]
    pub fn nodes_below(&self, blocks: u32) -> usize {
        (blocks as usize) << self.slot_bits
    }

    /// About how many nodes on the ground there are among so many blocks, at most.
    #[must_use]
    pub fn most_nodes(&self, blocks: u32) -> usize {
        self.layout.data_pages(blocks) as usize * self.layout.slots() as usize
    }

    /// Fails for a page whose nodes would have no numbers.
    pub fn check_numbers(&self, block: u32) -> Result<()> {
        let most = u32::MAX >> self.slot_bits;
        if block <= most {
            return Ok(());
        }
        let message =
            format!("a rag_hnsw index of such vectors can have no more than {most} pages");
        Err(Error::new(ErrorKind::OutOfResources, message)
            .hint("Use several indexes, on partitions of the table."))
    }

    /// Where in its page a slot begins.
    #[must_use]
    pub fn offset(&self, kind: HnswPageKind, slot: u32) -> usize {
        HEADER_BYTES + slot as usize * self.slot_bytes(kind)
    }

    /// Where on a page with links a list lies, in bytes.
    #[must_use]
    pub fn list(&self, list: u32) -> Range<usize> {
        let bytes = list_bytes(self.degree, 0);
        let start = LISTS_START + list as usize * bytes;
        start..start + bytes
    }

    pub(super) fn header(kind: HnswPageKind) -> usize {
        if kind == HnswPageKind::Upper { UPPER_HEADER } else { GROUND_HEADER }
    }
}

/// Bytes of a list of links.
fn list_bytes(degree: Degree, layer: u8) -> usize {
    size_of::<u32>() * degree.most(layer)
}

fn too_large(space: &Space, degree: &Degree) -> Error {
    let Space { dimensions, storage, .. } = space;
    let message = format!(
        "a page has no room for a vector of {dimensions} dimensions with storage '{}' and m = {}",
        storage.name(),
        degree.m
    );
    Error::new(ErrorKind::Unsupported, message)
        .hint("Choose a smaller storage ('sq8' takes 8,000 dimensions), or a smaller m.")
}
