//! # scan: which row is next?
//!
//! ```text
//! (graph, probe) → rows by their bounds, one after the other, until there are none
//! ```
//!
//! A scan goes through stages, as far as its caller asks for more:
//!
//! 1. **Walk** with ef = ef_search, and give the nearer half of what it found.
//! 2. **Widen** the walk by half, and give what is new in its nearer half; again and again. The
//!    farther half waits, because a wider walk may still find what belongs between. What comes
//!    later than it should has a bound below one given before; whether its value is below as
//!    well, and it is too late, `exact_order` finds out.
//! 3. **Sweep**: read the whole ground layer, page after page, and give what has not been
//!    given, in exact order of the bounds. Reading in order is so much cheaper than following
//!    links that this is worth while as soon as a walk would meet a good part of the nodes.
//! 4. The rows whose vectors have no distance, and then those whose vectors are NULL.
//!
//! So a filter that the executor applies afterwards never comes away with fewer rows than
//! there are, and in small tables all answers are exact.
//!
//! With conditions on the filter columns, the scan first finds out which nodes meet them. Where
//! they are few, their distances are all there is to compute, and the answer is exact;
//! otherwise the walk passes by the other nodes.

use std::collections::HashSet;

use super::bounds::ValueBounds;
use super::columns::{self, ColumnCondition};
use super::graph::{Filtered, Graph, Neighbor, PageGraph, share_around};
use super::insert::{any_live_node, expect_probe};
use super::layout::BlockRole;
use super::nearest::{NearCandidate, Nearest, compare, sort};
use super::node_set::NodeSet;
use super::page::{HnswMeta, HnswPageKind, NONE, NodeState, RowId, SlotView};
use super::residuals::{self, ResidualProbe};
use super::scan_options::ScanOptions;
pub use super::scan_query::{Nearness, Probe, ScanEffort, ScanQuery, ScannedRow};
use super::search_layer::{LayerSearch, descend};
use super::slots::read_meta;
use super::space::Payload;
use super::visited::Visited;
use super::walk_or_sweep::{KeptRows, WalkOrSweep};
use crate::error::Result;
use crate::pages::{HEADER_BYTES, PAGE_SIZE, Store};

/// Rows that are put in order at once at first, where a sweep has found many.
const FIRST_SORTED: usize = 64;
/// Nodes that are looked at between two looks at interrupts.
const LOOKED_AT: usize = 256;
/// The fewest rows that a sweep sorts at once.
const LEAST_SORTED: usize = 1000;

enum ScanStage {
    Begin,
    Walking,
    Sweeping {
        after: Option<NearCandidate>,
    },
    /// Gives what a sweep found; `are_all` if there is nothing beyond.
    Sorting {
        most: usize,
        are_all: bool,
    },
    Loose {
        block: u32,
        state: NodeState,
    },
    End,
}

/// A scan under way.
pub struct Scan {
    meta: HnswMeta,
    probe: Probe,
    conditions: Vec<ColumnCondition>,
    /// The nodes that meet the conditions; `None` without any.
    matches: Option<NodeSet>,
    options: ScanOptions,
    stage: ScanStage,
    walk: LayerSearch,
    visited: Visited,
    ef: usize,
    /// What is to be given next, the last first.
    ready: Vec<ScannedRow>,
    /// Rows that the walk gave.
    given: HashSet<RowId>,
    highest_given: f64,
    /// What a sweep found and is not in order yet.
    swept: Vec<NearCandidate>,
    /// Distances that sweeps have computed.
    distances: u64,
    /// What tells more of a row than its bound, in an index with residual codes.
    closer: Option<ResidualProbe>,
    /// What the caller has kept of them.
    kept: KeptRows,
}

impl Scan {
    /// A scan that has done nothing yet. `visited` is memory to be used.
    pub fn begin<S: Store>(
        store: &S,
        query: ScanQuery,
        options: ScanOptions,
        visited: Visited,
    ) -> Result<Scan> {
        let meta = read_meta(store)?;
        let ScanQuery { probe, conditions } = query;
        if let Probe::Vector(payload) = &probe {
            expect_probe(&meta.shape, payload)?;
        }
        Ok(Scan {
            meta,
            probe,
            conditions,
            matches: None,
            options,
            stage: ScanStage::Begin,
            walk: if options.is_iterative {
                LayerSearch::that_can_widen()
            } else {
                LayerSearch::default()
            },
            visited,
            ef: options.ef_search,
            ready: Vec::new(),
            given: HashSet::new(),
            highest_given: f64::NEG_INFINITY,
            swept: Vec::new(),
            distances: 0,
            closer: None,
            kept: KeptRows::expected(options.share_kept),
        })
    }

    /// The memory of the set of visited nodes, for another scan.
    #[must_use]
    pub fn into_visited(self) -> Visited {
        self.visited
    }

    /// Whether the nearness of rows is an estimate, after which they can't be ordered.
    #[must_use]
    pub fn is_estimate(&self) -> bool {
        self.meta.shape.space.is_estimate()
    }

    /// Says whether the caller keeps a row that it got, which tells how far the scan will have to go.
    pub fn count_row(&mut self, is_kept: bool) {
        self.kept.count(is_kept);
    }

    /// What the scan has cost so far.
    #[must_use]
    pub fn effort(&self) -> ScanEffort {
        let (nodes, distances) = self.walk.effort();
        ScanEffort { nodes, distances: distances + self.distances }
    }

    /// Has [`Scan::bounds`] tell more, in an index with residual codes.
    pub fn look_closer(&mut self, probe: ResidualProbe) {
        self.closer = self.meta.shape.has_residuals().then_some(probe);
    }

    /// What the operator's value for a row is between; `None` where no more is known than the row's bound, also since its
    /// node is gone.
    pub fn bounds<S: Store>(&self, store: &S, found: &ScannedRow) -> Result<Option<ValueBounds>> {
        let (Some(probe), shape) = (&self.closer, &self.meta.shape) else { return Ok(None) };
        if found.node == NONE {
            return Ok(None);
        }
        let entry = residuals::entry_of(store, shape, shape.place(found.node), found.row)?;
        let Some(entry) = entry else { return Ok(None) };
        let bounds = PageGraph::new(store, shape).with_node(found.node, 0, |slot| {
            (slot.row() == found.row).then(|| probe.bounds(slot.payload(), entry.bytes()))
        })?;
        Ok(bounds.flatten().filter(|it| it.lower.is_finite() && it.upper.is_finite()))
    }

    /// The next row in order, with its distance; `None` after the last.
    pub fn next<S: Store>(&mut self, store: &S) -> Result<Option<ScannedRow>> {
        loop {
            if let Some(next) = self.ready.pop() {
                return Ok(Some(next));
            }
            match self.stage {
                ScanStage::Begin => self.first_walk(store)?,
                ScanStage::Walking => self.wider_walk(store)?,
                ScanStage::Sweeping { after } => self.sweep(store, after)?,
                ScanStage::Sorting { most, are_all } => self.sort_swept(most, are_all),
                ScanStage::Loose { block, state } => self.read_loose(store, block, state)?,
                ScanStage::End => return Ok(None),
            }
        }
    }

    /// All rows that the next stage gives, nearest first; none at the end.
    pub fn batch<S: Store>(&mut self, store: &S) -> Result<Vec<ScannedRow>> {
        let Some(first) = self.next(store)? else { return Ok(Vec::new()) };
        let mut batch = vec![first];
        batch.extend(std::mem::take(&mut self.ready).into_iter().rev());
        Ok(batch)
    }

    fn first_walk<S: Store>(&mut self, store: &S) -> Result<()> {
        let shape = self.meta.shape;
        if !self.conditions.is_empty() {
            self.matches = Some(columns::matches(store, &shape, &self.conditions)?);
        }
        // Unless it comes to a walk.
        self.stage = ScanStage::Sweeping { after: None };
        let Probe::Vector(probe) = self.probe.clone() else { return Ok(()) };
        let graph = PageGraph::new(store, &shape);
        let choice = self.walk_or_sweep(store)?;
        if choice.is_sweep_cheaper(self.ef) {
            return Ok(());
        }
        self.visited.begin(shape.nodes_below(store.blocks()?))?;
        let mut starts = Vec::new();
        if let Some(entry) = self.meta.entry {
            let (walk, visited) = (&mut self.walk, &mut self.visited);
            starts = descend(&graph, probe.bytes(), entry, 0, walk, visited)?;
        }
        if starts.is_empty() {
            starts.extend(any_live_node(&graph)?);
        }
        if let Some(matches) = &self.matches
            && choice.is_walk_in_vain(self.ef, || share_around(&graph, &starts, matches))?
        {
            return Ok(());
        }
        self.walk_from(&graph, &probe, &starts, choice.share())?;
        if self.walk.met() == 0 && !starts.is_empty() {
            // Since the scan has begun, VACUUM has freed the slots that the walk was to begin in.
            starts = any_live_node(&graph)?.into_iter().collect();
            self.walk_from(&graph, &probe, &starts, choice.share())?;
        }
        let found = self.walk.nearest();
        self.give(found, self.part_to_give());
        self.stage = if self.options.is_iterative { ScanStage::Walking } else { ScanStage::End };
        Ok(())
    }

    /// Walks on the ground from `starts`, where a `share` of the nodes meet the conditions.
    fn walk_from<S: Store>(
        &mut self,
        graph: &PageGraph<'_, S>,
        probe: &Payload,
        starts: &[u32],
        share: f64,
    ) -> Result<()> {
        let (walk, visited) = (&mut self.walk, &mut self.visited);
        match &self.matches {
            None => walk.begin(graph, probe.bytes(), starts, 0, self.ef, visited),
            Some(matches) => {
                let degree = graph.shape.degree.most(0);
                let graph = Filtered::new(graph, matches, share, degree)?;
                walk.begin(&graph, probe.bytes(), starts, 0, self.ef, visited)
            }
        }
    }

    fn wider_walk<S: Store>(&mut self, store: &S) -> Result<()> {
        self.ef += self.ef.div_ceil(2);
        let choice = self.walk_or_sweep(store)?;
        if self.walk.is_exhausted()
            || self.walk.met() > self.options.max_scan_tuples
            || self.walk.bytes() > self.options.memory
            || choice.is_sweep_cheaper_from_here(self.ef, self.walk.met(), &self.kept)
        {
            self.stage = ScanStage::Sweeping { after: None };
            return Ok(());
        }
        let Probe::Vector(probe) = self.probe.clone() else { return Ok(()) };
        let shape = self.meta.shape;
        let graph = PageGraph::new(store, &shape);
        let (walk, visited) = (&mut self.walk, &mut self.visited);
        match &self.matches {
            None => walk.widen(&graph, probe.bytes(), 0, self.ef, visited)?,
            Some(matches) => {
                let degree = shape.degree.most(0);
                let graph = Filtered::new(&graph, matches, choice.share(), degree)?;
                walk.widen(&graph, probe.bytes(), 0, self.ef, visited)?;
            }
        }
        let found = self.walk.nearest();
        self.give(found, self.part_to_give());
        Ok(())
    }

    /// How many of the nearest ef are given. Where they are measured again, the more the better.
    fn part_to_give(&self) -> usize {
        let is_final = !self.options.is_iterative || self.is_estimate();
        if is_final { self.ef } else { self.ef.div_ceil(2) }
    }

    /// What tells whether to walk.
    fn walk_or_sweep<S: Store>(&self, store: &S) -> Result<WalkOrSweep> {
        let matches = self.matches.as_ref().map(NodeSet::len);
        WalkOrSweep::new(store, &self.meta.shape, matches, self.options.is_iterative)
    }

    /// Makes those of the `most` nearest ready that were not given.
    fn give(&mut self, nearest: Vec<Neighbor>, most: usize) {
        let Probe::Vector(probe) = &self.probe else { return };
        let (space, of_probe) = (&self.meta.shape.space, self.meta.shape.space.fit(probe.bytes()));
        let bound = |it: &Neighbor| space.lower_bound(of_probe, it.fit, it.distance);
        let mut rows: Vec<(NearCandidate, u32)> = nearest
            .into_iter()
            .take(most)
            .filter(|found| !self.given.contains(&found.row))
            .map(|found| ((bound(&found), found.row), found.node))
            .collect();
        rows.sort_unstable_by(|(a, _), (b, _)| compare(a, b));
        if let Some(((bound, _), _)) = rows.last() {
            self.highest_given = bound.max(self.highest_given);
        }
        if self.options.is_iterative {
            self.given.extend(rows.iter().map(|((_, row), _)| *row));
        }
        let scanned =
            |((bound, row), node)| ScannedRow { nearness: Nearness::Bound(bound), row, node };
        self.ready = rows.into_iter().rev().map(scanned).collect();
    }

    /// Reads the ground layer, and makes ready what comes after `after`, as much as memory
    /// allows at once.
    fn sweep<S: Store>(&mut self, store: &S, after: Option<NearCandidate>) -> Result<()> {
        let most = (self.options.memory / (2 * size_of::<NearCandidate>())).max(LEAST_SORTED);
        let mut kept = Nearest::after(after, most);
        match &self.matches {
            None => {
                let layout = self.meta.shape.layout;
                let is_data = |block: &u32| layout.role(*block) == BlockRole::Data;
                let mut blocks = (1..store.blocks()?).filter(is_data).peekable();
                while let Some(block) = blocks.next() {
                    store.interrupted()?;
                    if let Some(next) = blocks.peek() {
                        store.prefetch(*next, HEADER_BYTES, PAGE_SIZE - HEADER_BYTES);
                    }
                    store.read(block, |page| self.measure(page, &mut kept))?;
                }
            }
            Some(matches) => self.measure_matches(store, matches, &mut kept)?,
        }
        self.distances += kept.offers();
        let (rows, are_all) = kept.rows();
        self.swept = rows;
        let most = match self.is_estimate() {
            true => self.ef.max(FIRST_SORTED),
            false => FIRST_SORTED,
        };
        self.stage = ScanStage::Sorting { most, are_all };
        Ok(())
    }

    /// Makes the nearest of what a sweep found ready, `most` of them.
    fn sort_swept(&mut self, most: usize, are_all: bool) {
        let rest = self.swept.len().saturating_sub(most);
        if rest > 0 {
            self.swept.select_nth_unstable_by(rest, |a, b| compare(b, a));
        }
        let mut rows = self.swept.split_off(rest);
        sort(&mut rows);
        self.stage = match rows.last() {
            _ if rest > 0 => ScanStage::Sorting { most: 4 * most, are_all },
            Some(last) if !are_all => ScanStage::Sweeping { after: Some(*last) },
            _ => ScanStage::Loose { block: 1, state: NodeState::Undirected },
        };
        let nearness = |bound| match self.probe {
            Probe::Vector(_) => Nearness::Bound(bound),
            Probe::Anything(nearness) => nearness,
        };
        let scanned = |(bound, row)| ScannedRow { nearness: nearness(bound), row, node: NONE };
        self.ready = rows.into_iter().rev().map(scanned).collect();
    }

    fn measure(&self, page: &crate::pages::Page, kept: &mut Nearest) {
        let shape = &self.meta.shape;
        for slot in 0..shape.slots(HnswPageKind::Ground) {
            let Some(slot) = SlotView::of(shape, page, HnswPageKind::Ground, slot) else { return };
            if slot.state() != NodeState::Live {
                continue;
            }
            let bound = match &self.probe {
                Probe::Vector(probe) => {
                    let (space, probe, payload) = (&shape.space, probe.bytes(), slot.payload());
                    let distance = space.distance(probe, payload);
                    space.lower_bound(space.fit(probe), space.fit(payload), distance)
                }
                Probe::Anything(_) => 0.0,
            };
            if !self.was_given(bound, slot.row()) {
                kept.offer((bound, slot.row()));
            }
        }
    }

    /// Whether the walk has given this row, whose bound is known.
    fn was_given(&self, bound: f64, row: RowId) -> bool {
        bound <= self.highest_given && self.given.contains(&row)
    }

    /// As a look at every page, but at those nodes only that meet the conditions.
    fn measure_matches<S: Store>(
        &self,
        store: &S,
        matches: &NodeSet,
        kept: &mut Nearest,
    ) -> Result<()> {
        let shape = self.meta.shape;
        let graph = PageGraph::new(store, &shape);
        let (mut left, mut nodes) = (matches.iter(), Vec::with_capacity(LOOKED_AT));
        loop {
            nodes.clear();
            nodes.extend(left.by_ref().take(LOOKED_AT));
            if nodes.is_empty() {
                return Ok(());
            }
            store.interrupted()?;
            let mut offer = |row: RowId, is_live: bool, bound: f64| {
                if is_live && !self.was_given(bound, row) {
                    kept.offer((bound, row));
                }
            };
            match &self.probe {
                Probe::Vector(probe) => graph.look(probe.bytes(), &nodes, 0, &mut |found| {
                    let (space, of_probe) = (&shape.space, shape.space.fit(probe.bytes()));
                    let bound = space.lower_bound(of_probe, found.fit, found.distance);
                    offer(found.row, found.is_live, bound);
                })?,
                Probe::Anything(_) => {
                    for node in &nodes {
                        let seen = graph.with_node(*node, 0, |slot| (slot.row(), slot.state()))?;
                        seen.into_iter()
                            .for_each(|(row, state)| offer(row, state == NodeState::Live, 0.0));
                    }
                }
            }
        }
    }

    /// Makes the rows of one page ready that are in `state`.
    fn read_loose<S: Store>(&mut self, store: &S, block: u32, state: NodeState) -> Result<()> {
        if block >= store.blocks()? {
            self.stage = match state {
                NodeState::Undirected => ScanStage::Loose { block: 1, state: NodeState::Null },
                _ => ScanStage::End,
            };
            return Ok(());
        }
        let shape = self.meta.shape;
        if shape.layout.role(block) != BlockRole::Data {
            self.stage = ScanStage::Loose { block: block + 1, state };
            return Ok(());
        }
        store.interrupted()?;
        let nearness = if state == NodeState::Null { Nearness::Null } else { Nearness::Undirected };
        // Where no row is nearer than another, these aren't farther either.
        let nearness = match self.probe {
            Probe::Anything(Nearness::Null) => Nearness::Null,
            _ => nearness,
        };
        self.ready = store.read(block, |page| {
            let slots = (0..shape.slots(HnswPageKind::Loose)).rev();
            slots
                .filter_map(|slot| SlotView::of(&shape, page, HnswPageKind::Loose, slot))
                .filter(|slot| slot.state() == state)
                .map(|slot| ScannedRow { nearness, row: slot.row(), node: NONE })
                .collect()
        })?;
        self.stage = ScanStage::Loose { block: block + 1, state };
        Ok(())
    }
}
