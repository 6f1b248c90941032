//! # page: which byte means what?
//!
//! The page format; README.md has it as a table. Everything is in the machine's byte order.
//! Nothing here believes a page: what does not fit is a typed error or `None`.

use super::layout::PagesApart;
use super::residuals::can_have as can_have_residuals;
use super::space::{DistanceMetric, Space, Storage};
use crate::error::{Error, ErrorKind, Result};
pub use crate::pages::RowId;
use crate::pages::{HEADER_BYTES, PAGE_SIZE, Page, TRAILER_BYTES};

pub use super::shape::{
    Degree, EntryPoint, Filters, HnswPageKind, IndexShape, NONE, NodePlace, NodeState, VectorColumn,
};
use super::shape::{MOST_DIMENSIONS, MOST_FILTERS};

/// The trailer: kind, whether the page is in the list of pages with room, the next of it.
const TRAILER: usize = PAGE_SIZE - TRAILER_BYTES;
const MAGIC: u32 = 0x7261_6768;
const VERSION: u16 = 3;
/// Where block 0 names the first pages with room, and where what it says ends.
const WITH_ROOM: usize = HEADER_BYTES + 24;
const META_END: usize = HEADER_BYTES + 52;
/// Bits of a residual code.
const RESIDUAL_BITS: u8 = 4;
/// In the slot of a node on the ground, so that a look at the slot tells that it is one.
const GROUND_NODE: u8 = 0x67;

/// Says that a page is not what it should be.
#[must_use]
pub fn corrupt(block: u32, what: &str) -> Error {
    Error::new(
        ErrorKind::IndexCorrupted,
        format!("rag_hnsw index is corrupted at block {block}: {what}"),
    )
    .hint("REINDEX the index.")
}

/// What block 0 says of the index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HnswMeta {
    /// What the column holds.
    pub column: VectorColumn,
    /// What the index holds.
    pub shape: IndexShape,
    /// Where walks begin; `None` in an index without nodes.
    pub entry: Option<EntryPoint>,
    /// The first page with room, by kind.
    pub with_room: [u32; 3],
}

impl HnswMeta {
    /// The first block of an empty index.
    #[must_use]
    pub fn new(column: VectorColumn, shape: IndexShape) -> HnswMeta {
        HnswMeta { column, shape, entry: None, with_room: [NONE; 3] }
    }

    /// Reads the description of the index from block 0. The layout is computed anew, so where no more is wanted than where
    /// there is room, [`with_room`] is asked.
    pub fn read(page: &Page) -> Result<HnswMeta> {
        HnswMeta::of(&meta_bytes(page))
    }

    /// Reads the description of the index from what [`meta_bytes`] has copied.
    pub fn of(page: &MetaBytes) -> Result<HnswMeta> {
        let at = |offset: usize| HEADER_BYTES + offset;
        expect_first(page)?;
        let metric =
            DistanceMetric::from_number(page[at(6)]).ok_or_else(|| corrupt(0, "unknown metric"))?;
        let storage =
            Storage::from_number(page[at(7)]).ok_or_else(|| corrupt(0, "unknown storage"))?;
        let degree = Degree { m: get_u16(page, at(12)), ef_construction: get_u16(page, at(14)) };
        let dimensions = get_u32(page, at(8));
        if !(1..=MOST_DIMENSIONS).contains(&dimensions) || !(2..=100).contains(&degree.m) {
            return Err(corrupt(0, "dimensions or m out of range"));
        }
        let space = Space { metric, storage, dimensions };
        let has_no_signs = storage == Storage::Binary && metric == DistanceMetric::L1;
        if (storage == Storage::Bits) != metric.is_of_bits() || has_no_signs {
            return Err(corrupt(0, "metric and storage do not fit"));
        }
        let node = get_u32(page, at(16));
        let entry = (node != NONE).then(|| EntryPoint { node, layer: page[at(20)] });
        let with_room = std::array::from_fn(|kind| get_u32(page, WITH_ROOM + 4 * kind));
        let widths = page[at(36)..at(36 + MOST_FILTERS)].split(|width| *width == 0).next();
        let widths = widths.unwrap_or_default();
        if widths.iter().any(|width| ![1, 2, 4, 8, 16].contains(width)) {
            return Err(corrupt(0, "filter values of an unknown width"));
        }
        let no_shape = |_| corrupt(0, "no index can have this shape");
        let filters = Filters::new(widths).map_err(no_shape)?;
        let column = VectorColumn::from_number(page[at(21)])
            .ok_or_else(|| corrupt(0, "unknown type of column"))?;
        let mut shape = IndexShape::new(space, degree, filters).map_err(no_shape)?;
        match page[at(43)] {
            0 => {}
            RESIDUAL_BITS if can_have_residuals(&space) => shape = shape.with_residuals(),
            _ => return Err(corrupt(0, "residual codes that no index has")),
        }
        let apart = PagesApart { first: get_u32(page, at(44)), count: get_u32(page, at(48)) };
        shape.layout =
            shape.layout.with_apart(apart).ok_or_else(|| corrupt(0, "pages in no place"))?;
        Ok(HnswMeta { column, shape, entry, with_room })
    }

    /// Writes the description of the index to block 0.
    pub fn write(&self, page: &mut Page) {
        let at = |offset: usize| HEADER_BYTES + offset;
        put_u32(page, at(0), MAGIC);
        put_u16(page, at(4), VERSION);
        page[at(6)] = self.shape.space.metric as u8;
        page[at(7)] = self.shape.space.storage as u8;
        put_u32(page, at(8), self.shape.space.dimensions);
        put_u16(page, at(12), self.shape.degree.m);
        put_u16(page, at(14), self.shape.degree.ef_construction);
        put_u32(page, at(16), self.entry.map_or(NONE, |entry| entry.node));
        page[at(20)] = self.entry.map_or(0, |entry| entry.layer);
        page[at(21)] = self.column as u8;
        for (kind, block) in self.with_room.iter().enumerate() {
            put_u32(page, WITH_ROOM + 4 * kind, *block);
        }
        let widths = self.shape.filters.widths().enumerate();
        widths.for_each(|(column, width)| page[at(36 + column)] = width as u8);
        page[at(43)] = if self.shape.has_residuals() { RESIDUAL_BITS } else { 0 };
        let PagesApart { first, count } = self.shape.layout.apart();
        put_u32(page, at(44), first);
        put_u32(page, at(48), count);
    }
}

/// The beginning of block 0, with all that it says.
pub type MetaBytes = [u8; META_END];

/// A copy of what block 0 says, to be understood without a lock on it.
#[must_use]
pub fn meta_bytes(first: &Page) -> MetaBytes {
    let mut bytes = [0; META_END];
    bytes.copy_from_slice(&first[..META_END]);
    bytes
}

/// Fails if this is not the beginning of block 0 of an index in the present format.
fn expect_first(page: &[u8]) -> Result<()> {
    if get_u32(page, HEADER_BYTES) != MAGIC {
        return Err(corrupt(0, "this is not the first page of a rag_hnsw index"));
    }
    match get_u16(page, HEADER_BYTES + 4) {
        VERSION => Ok(()),
        version => {
            let message = format!("page format {version} of rag_hnsw, expected {VERSION}");
            Err(Error::new(ErrorKind::IndexCorrupted, message).hint("REINDEX the index."))
        }
    }
}

/// The first page of a kind with slots that has room, as block 0 says.
pub fn with_room(first: &Page, kind: HnswPageKind) -> Result<u32> {
    expect_first(first)?;
    Ok(get_u32(first, WITH_ROOM + 4 * kind as usize))
}

/// Has block 0 say that this page of a kind with slots is the first that has room.
pub fn set_with_room(first: &mut Page, kind: HnswPageKind, block: u32) {
    put_u32(first, WITH_ROOM + 4 * kind as usize, block);
}

/// Makes a page of zeros an empty page of `kind`.
pub fn initialise(page: &mut Page, kind: HnswPageKind) {
    page[TRAILER] = kind as u8 + 1;
}

/// Makes a page that is of no kind an empty page of `kind`: the process that added it may not have come to it yet, or
/// never will.
pub fn initialise_if_new(page: &mut Page, expected: HnswPageKind) {
    if kind(page).is_none() {
        initialise(page, expected);
    }
}

/// What a page holds; `None` if that can't be said, as of block 0.
#[must_use]
pub fn kind(page: &Page) -> Option<HnswPageKind> {
    HnswPageKind::ALL.into_iter().find(|kind| *kind as u8 + 1 == page[TRAILER])
}

/// Whether the page is in the list of pages with room.
#[must_use]
pub fn is_listed(page: &Page) -> bool {
    page[TRAILER + 1] != 0
}

/// Puts a page into the list, before `next`.
pub fn list(page: &mut Page, next: u32) {
    page[TRAILER + 1] = 1;
    put_u32(page, TRAILER + 4, next);
}

/// The page after this one in the list.
#[must_use]
pub fn next_listed(page: &Page) -> u32 {
    get_u32(page, TRAILER + 4)
}

/// Takes a page out of the list; gives the next one.
pub fn unlist(page: &mut Page) -> u32 {
    page[TRAILER + 1] = 0;
    let next = next_listed(page);
    put_u32(page, TRAILER + 4, NONE);
    next
}

/// A slot to be looked at.
#[derive(Clone, Copy)]
pub struct SlotView<'a> {
    shape: &'a IndexShape,
    kind: HnswPageKind,
    bytes: &'a [u8],
}

impl<'a> SlotView<'a> {
    /// The slot of a page of `kind`; `None` if the page is of another kind or too short.
    pub fn of(
        shape: &'a IndexShape,
        page: &'a Page,
        expected: HnswPageKind,
        slot: u32,
    ) -> Option<SlotView<'a>> {
        if kind(page) != Some(expected) || slot >= shape.slots(expected) {
            return None;
        }
        Some(SlotView::at(shape, page, expected, slot))
    }

    /// The slot of a node on the ground; `None` if there is no such node. Nothing else of the page is looked at: its
    /// kind stands at its end, in memory that would have to be waited for.
    #[must_use]
    pub fn of_ground_node(
        shape: &'a IndexShape,
        page: &'a Page,
        slot: u32,
    ) -> Option<SlotView<'a>> {
        let view = (slot < shape.layout.slots())
            .then(|| SlotView::at(shape, page, HnswPageKind::Ground, slot))?;
        (view.is_marked() && view.is_node()).then_some(view)
    }

    fn at(shape: &'a IndexShape, page: &'a Page, kind: HnswPageKind, slot: u32) -> SlotView<'a> {
        let start = shape.offset(kind, slot);
        SlotView { shape, kind, bytes: &page[start..start + shape.slot_bytes(kind)] }
    }

    /// What it holds; a number that means nothing in such a page is `Free`.
    #[must_use]
    pub fn state(&self) -> NodeState {
        let state = NodeState::from_number(self.bytes[6]).unwrap_or(NodeState::Free);
        let is_loose = matches!(state, NodeState::Null | NodeState::Undirected);
        if is_loose == (self.kind == HnswPageKind::Loose) { state } else { NodeState::Free }
    }

    /// Whether the slot holds a node.
    #[must_use]
    pub fn is_node(&self) -> bool {
        matches!(self.state(), NodeState::Live | NodeState::Dead)
    }

    /// Whether the slot itself says that it is one for a node on the ground.
    #[must_use]
    pub fn is_marked(&self) -> bool {
        self.bytes[7] == GROUND_NODE
    }

    /// The row of the table.
    #[must_use]
    pub fn row(&self) -> RowId {
        RowId { block: get_u32(self.bytes, 0), line: get_u16(self.bytes, 4) }
    }

    /// The layer of a node above the ground.
    #[must_use]
    pub fn layer(&self) -> u8 {
        if self.kind == HnswPageKind::Upper { self.bytes[7] } else { 0 }
    }

    /// The node one layer below that stands for the same vector; only of a node above the ground.
    #[must_use]
    pub fn below(&self) -> u32 {
        get_u32(self.bytes, 8)
    }

    /// The node on the ground that stands for the same vector; only of a node above the ground.
    #[must_use]
    pub fn ground(&self) -> u32 {
        get_u32(self.bytes, 12)
    }

    /// The vector's bytes, as they are stored.
    #[must_use]
    pub fn payload(&self) -> &'a [u8] {
        let start = IndexShape::header(self.kind);
        &self.bytes[start..start + self.shape.payload]
    }

    /// The node's links; only of a node above the ground. Those of others lie on pages of their own.
    #[must_use]
    pub fn links(&self) -> StoredLinks<'a> {
        StoredLinks(&self.bytes[IndexShape::header(self.kind) + self.shape.payload..])
    }
}

/// The links of a node as they lie on a page: numbers of nodes, ended by [`NONE`] or the end.
#[derive(Clone, Copy)]
pub struct StoredLinks<'a>(&'a [u8]);

impl<'a> StoredLinks<'a> {
    /// A list of a page with links; `None` if the page is of another kind, or has no such list.
    #[must_use]
    pub fn on(shape: &IndexShape, page: &'a Page, list: u32) -> Option<StoredLinks<'a>> {
        StoredLinks::at(shape, page, list).filter(|_| kind(page) == Some(HnswPageKind::Links))
    }

    /// A list of a page that is one with links by its place; `None` if there is no such list. A page of zeros has
    /// empty ones. The page's kind is not looked at, as with [`SlotView::of_ground_node`].
    #[must_use]
    pub fn at(shape: &IndexShape, page: &'a Page, list: u32) -> Option<StoredLinks<'a>> {
        (list < shape.layout.lists()).then(|| StoredLinks(&page[shape.list(list)]))
    }

    /// Adds the links to a list.
    pub fn add_to(self, into: &mut Vec<u32>) {
        match bytemuck::try_cast_slice::<u8, u32>(self.0) {
            Ok(numbers) => {
                let end = numbers.iter().position(|node| *node == NONE).unwrap_or(numbers.len());
                into.extend_from_slice(&numbers[..end]);
            }
            // Only PostgreSQL's pages are aligned.
            Err(_) => into.extend(self.iter()),
        }
    }

    /// The numbers of the nodes that the links lead to.
    pub fn iter(self) -> impl Iterator<Item = u32> + use<'a> {
        self.0.chunks_exact(4).map(|bytes| get_u32(bytes, 0)).take_while(|node| *node != NONE)
    }
}

/// Writes a list of a page with links; more than there is room for are left out. A page of zeros becomes such
/// a page: the process that added it may not have come to it yet, or never will. Whether the page is one.
pub fn put_links(shape: &IndexShape, page: &mut Page, list: u32, links: &[u32]) -> bool {
    if kind(page).is_none() && page[HEADER_BYTES..].iter().all(|byte| *byte == 0) {
        initialise(page, HnswPageKind::Links);
    }
    let is_there = kind(page) == Some(HnswPageKind::Links) && list < shape.layout.lists();
    if is_there {
        write_links(&mut page[shape.list(list)], links);
    }
    is_there
}

fn write_links(bytes: &mut [u8], links: &[u32]) {
    let numbers = links.iter().copied().chain(std::iter::repeat(NONE));
    for (bytes, number) in bytes.chunks_exact_mut(4).zip(numbers) {
        put_u32(bytes, 0, number);
    }
}

/// What is to be written into a slot.
#[derive(Clone, Copy, Debug)]
pub struct NewNode<'a> {
    /// The row of the table.
    pub row: RowId,
    /// The node's layer, 0 for the ground.
    pub layer: u8,
    /// The node of this vector one layer below; unused on the ground layer.
    pub below: u32,
    /// The node of this vector on the ground layer; unused on the ground layer itself.
    pub ground: u32,
    /// The vector's bytes, as they are stored.
    pub payload: &'a [u8],
    /// The neighbours, nearest first. Those of a node on the ground are not written into its slot.
    pub neighbours: &'a [u32],
}

/// A slot to be changed.
pub struct SlotMut<'a> {
    shape: &'a IndexShape,
    kind: HnswPageKind,
    bytes: &'a mut [u8],
}

impl<'a> SlotMut<'a> {
    /// The slot of a page of `kind`; `None` if the page is of another kind or too short.
    pub fn of(
        shape: &'a IndexShape,
        page: &'a mut Page,
        expected: HnswPageKind,
        slot: u32,
    ) -> Option<SlotMut<'a>> {
        SlotView::of(shape, page, expected, slot)?;
        let start = shape.offset(expected, slot);
        let bytes = &mut page[start..start + shape.slot_bytes(expected)];
        Some(SlotMut { shape, kind: expected, bytes })
    }

    /// The slot, to be read.
    #[must_use]
    pub fn look(&self) -> SlotView<'_> {
        SlotView { shape: self.shape, kind: self.kind, bytes: self.bytes }
    }

    /// Puts a node into the slot.
    pub fn fill(&mut self, node: &NewNode<'_>) {
        self.bytes.fill(0);
        self.set_row(node.row);
        self.bytes[6] = NodeState::Live as u8;
        if self.kind == HnswPageKind::Ground {
            self.bytes[7] = GROUND_NODE;
        }
        if self.kind == HnswPageKind::Upper {
            self.bytes[7] = node.layer;
            put_u32(self.bytes, 8, node.below);
            put_u32(self.bytes, 12, node.ground);
        }
        let start = IndexShape::header(self.kind);
        self.bytes[start..start + self.shape.payload].copy_from_slice(node.payload);
        if self.kind == HnswPageKind::Upper {
            self.set_links(node.neighbours);
        }
    }

    /// Puts a row without a place in the graph here.
    pub fn fill_loose(&mut self, row: RowId, state: NodeState) {
        self.bytes.fill(0);
        self.set_row(row);
        self.bytes[6] = state as u8;
    }

    fn set_row(&mut self, row: RowId) {
        put_u32(self.bytes, 0, row.block);
        put_u16(self.bytes, 4, row.line);
    }

    /// Changes what the slot holds.
    pub fn set_state(&mut self, state: NodeState) {
        self.bytes[6] = state as u8;
    }

    /// Empties the slot.
    pub fn free(&mut self) {
        self.bytes.fill(0);
    }

    /// Changes the links of a node above the ground; more than there is room for are left out.
    pub fn set_links(&mut self, links: &[u32]) {
        let start = IndexShape::header(self.kind) + self.shape.payload;
        write_links(&mut self.bytes[start..], links);
    }
}

/// The free slots of a page of `kind`.
pub fn free_slots<'a>(
    shape: &'a IndexShape,
    page: &'a Page,
    kind: HnswPageKind,
) -> impl Iterator<Item = u32> + 'a {
    (0..shape.slots(kind)).filter(move |slot| {
        SlotView::of(shape, page, kind, *slot).is_some_and(|slot| slot.state() == NodeState::Free)
    })
}

fn get_u16(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes([bytes[at], bytes[at + 1]])
}

pub(super) fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_ne_bytes());
}

pub(super) fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
}
