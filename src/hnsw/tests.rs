//! The whole index in memory: built, inserted into, searched, vacuumed, checked.

mod changes;
mod filters;
mod inner_product;
mod order;
mod properties;
mod short_lists;

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use self::VacuumGuide::{Gone, Hurried};
use super::build::heap::Heap;
use super::build::{GraphBuilder, LinkProgress, layer_by_chance};
use super::check::check;
use super::columns::{ColumnCondition, ColumnValues};
use super::graph::PageGraph;
use super::insert::{InsertItem, insert, insert_loose};
use super::node_links::{read_links, replace_links};
use super::page::{
    self, Degree, Filters, HnswMeta, HnswPageKind, IndexShape, NodePlace, NodeState, RowId,
    SlotView, VectorColumn,
};
use super::residuals::{ResidualCodes, ResidualProbe};
use super::scan::{Nearness, Probe, Scan, ScanQuery};
use super::scan_options::ScanOptions;
use super::search_layer::SearchMemory;
use super::slots::read_meta;
use super::space::{DistanceMetric, Elements, Payload, Space, Storage};
use super::vacuum::{Guide, repair, vacuum};
use super::visited::Visited;
use super::write_out::write_out;
use crate::error::{ErrorKind, Result};
use crate::pages::PAGE_SIZE;
use crate::pages::ram::RamStore;
use crate::pages::{Page, Store, StoreMut};

/// Numbers without any pattern that matters, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A vector near one of some centres, as embeddings are.
    fn vector(&mut self, dimensions: u32) -> Vec<f32> {
        let centre = (self.next() * 12.0).floor();
        (0..dimensions)
            .map(|at| {
                let place = (f64::from(at) * 0.7 + centre * 1.9).sin();
                (place + 0.6 * (self.next() + self.next() + self.next() - 1.5)) as f32
            })
            .collect()
    }
}

const OPTIONS: ScanOptions = ScanOptions {
    ef_search: 60,
    is_iterative: true,
    max_scan_tuples: 20_000,
    memory: 1 << 22,
    share_kept: 1.0,
};

fn shape(metric: DistanceMetric, storage: Storage, dimensions: u32) -> IndexShape {
    let degree = Degree { m: 8, ef_construction: 48 };
    IndexShape::new(Space { metric, storage, dimensions }, degree, Filters::default()).unwrap()
}

/// What an index with or without filter columns holds of a numbered vector: the number, and
/// the remainder by three, NULL where the number is divisible by seven.
fn item(shape: &IndexShape, number: usize, vector: &[f32]) -> InsertItem {
    let remainder = (!number.is_multiple_of(7)).then_some(number as i128 % 3);
    let values = [Some(number as i128), remainder];
    let probe = shape.space.probe(Elements::Numbers(vector)).unwrap();
    let payload = encode(shape, vector);
    let residuals = ResidualCodes::of(&shape.space, Elements::Numbers(vector), &payload);
    InsertItem {
        row: row(number),
        payload,
        probe,
        residuals: residuals.filter(|_| shape.has_residuals()),
        values: ColumnValues::new(shape, &values[..shape.filters.widths().count()]),
    }
}

fn row(number: usize) -> RowId {
    RowId { block: number as u32 / 100, line: (number % 100) as u16 + 1 }
}

fn encode(shape: &IndexShape, vector: &[f32]) -> Payload {
    shape.space.encode(Elements::Numbers(vector)).unwrap().unwrap()
}

/// What the operator says, in double precision.
fn exact(metric: DistanceMetric, a: &[f32], b: &[f32]) -> f64 {
    let pairs = || a.iter().zip(b).map(|(a, b)| (f64::from(*a), f64::from(*b)));
    let dot = |x: &[f32], y: &[f32]| -> f64 {
        x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    };
    match metric {
        DistanceMetric::L2 => pairs().map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt(),
        DistanceMetric::L1 => pairs().map(|(a, b)| (a - b).abs()).sum(),
        DistanceMetric::InnerProduct => -dot(a, b),
        _ => 1.0 - dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(),
    }
}

/// An index made by a build, over vectors whose rows are numbered.
fn built(shape: IndexShape, vectors: &[Vec<f32>]) -> RamStore {
    let build_shape = shape.for_build();
    let builder = GraphBuilder::new(build_shape);
    let mut random = Random(77);
    for (number, vector) in vectors.iter().enumerate() {
        let layer = layer_by_chance(random.next(), shape.degree.m);
        builder.add(&item(&build_shape, number, vector), layer, &mut Heap).unwrap();
    }
    builder.complete(&mut Heap).unwrap();
    let link = || {
        let mut memory = SearchMemory::default();
        while builder.link_next(&mut memory).unwrap() != LinkProgress::Complete {}
    };
    std::thread::scope(|scope| {
        scope.spawn(link);
        scope.spawn(link);
    });
    builder.adopt(&mut || ());
    let store = RamStore::default();
    write_out(VectorColumn::Vector, shape, &builder, &[], &mut || (), &mut |page| {
        store.append(|_, new| *new = *page).map(drop)
    })
    .unwrap();
    store
}

/// An index made by inserts.
fn inserted(shape: IndexShape, vectors: &[Vec<f32>]) -> RamStore {
    let store = RamStore::default();
    store.append(|_, page| HnswMeta::new(VectorColumn::Vector, shape).write(page)).unwrap();
    add(&store, &shape, vectors, 0);
    store
}

fn add(store: &RamStore, shape: &IndexShape, vectors: &[Vec<f32>], first: usize) {
    let mut memory = SearchMemory::default();
    let mut random = Random(5);
    for (number, vector) in vectors.iter().enumerate() {
        let layer = layer_by_chance(random.next(), shape.degree.m);
        insert(store, &item(shape, first + number, vector), layer, &mut memory).unwrap();
    }
}

fn scan(
    store: &RamStore,
    probe: Payload,
    options: ScanOptions,
) -> impl Iterator<Item = (Nearness, RowId)> {
    filtered_scan(store, probe, &[], options)
}

fn filtered_scan(
    store: &RamStore,
    probe: Payload,
    conditions: &[ColumnCondition],
    options: ScanOptions,
) -> impl Iterator<Item = (Nearness, RowId)> {
    let query = ScanQuery { probe: Probe::Vector(probe), conditions: conditions.to_vec() };
    let mut scan = Scan::begin(store, query, options, Visited::default()).unwrap();
    std::iter::from_fn(move || scan.next(store).unwrap()).map(|it| (it.nearness, it.row))
}

/// The part of the true `k` nearest that the index finds, as the executor would sort them.
fn recall(
    store: &RamStore,
    shape: &IndexShape,
    vectors: &[Vec<f32>],
    gone: &dyn Fn(usize) -> bool,
) -> f64 {
    let mut random = Random(99);
    let (mut hits, k, queries) = (0usize, 10, 40);
    for _ in 0..queries {
        let query = random.vector(shape.space.dimensions);
        let mut all: Vec<(f64, RowId)> = (0..vectors.len())
            .filter(|number| !gone(*number))
            .map(|number| (exact(shape.space.metric, &query, &vectors[number]), row(number)))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best: HashSet<RowId> = all.iter().take(k).map(|(_, row)| *row).collect();
        let options = ScanOptions { ef_search: 100, is_iterative: false, ..OPTIONS };
        let probe = shape.space.probe(Elements::Numbers(&query)).unwrap().unwrap();
        let mut found: Vec<(f64, RowId)> = scan(store, probe, options)
            .map(|(_, found)| (all.iter().find(|(_, row)| *row == found).unwrap().0, found))
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        hits += found.iter().take(k).filter(|(_, row)| best.contains(row)).count();
    }
    hits as f64 / (k * queries) as f64
}

fn vectors(number: usize, dimensions: u32) -> Vec<Vec<f32>> {
    let mut random = Random(3);
    (0..number).map(|_| random.vector(dimensions)).collect()
}

fn assert_sound(store: &RamStore) {
    assert_eq!(check(store).unwrap().0, []);
}

/// How many nodes of the ground layer a walk can come to.
fn reachable(store: &RamStore) -> usize {
    let meta = read_meta(store).unwrap();
    let graph = PageGraph::new(store, &meta.shape);
    let mut next: Vec<(u32, u8)> = meta.entry.map(|it| (it.node, it.layer)).into_iter().collect();
    let mut seen: HashSet<(u32, u8)> = next.iter().copied().collect();
    while let Some((node, layer)) = next.pop() {
        let links = read_links(&graph, node, layer).unwrap().unwrap_or_default();
        let below = (layer > 0).then(|| {
            let NodePlace { block, slot } = meta.shape.place(node);
            let below = store.read(block, |page| {
                SlotView::of(&meta.shape, page, HnswPageKind::Upper, slot).unwrap().below()
            });
            (below.unwrap(), layer - 1)
        });
        let ways = links.into_iter().map(|link| (link, layer)).chain(below);
        next.extend(ways.filter(|way| seen.insert(*way)));
    }
    seen.iter().filter(|(_, layer)| *layer == 0).count()
}

/// Which rows are gone, for a vacuum that may give ways, and for one whose time is short.
enum VacuumGuide<F> {
    Gone(F),
    Hurried(F),
}

impl<F: FnMut(RowId) -> bool> Guide for VacuumGuide<F> {
    fn is_gone(&mut self, row: RowId) -> bool {
        let (Gone(is_gone) | Hurried(is_gone)) = self;
        is_gone(row)
    }

    fn without_inserts<T>(&mut self, look: impl FnOnce() -> Result<T>) -> Result<T> {
        look()
    }

    fn pause(&mut self) -> Result<()> {
        Ok(())
    }

    fn may_adopt(&self) -> bool {
        matches!(self, Gone(_))
    }
}

fn number(row: RowId) -> usize {
    row.block as usize * 100 + usize::from(row.line) - 1
}

#[test]
fn both_ways_of_making_find_nearly_all() {
    for (metric, storage) in [
        (DistanceMetric::Cosine, Storage::Sq8),
        (DistanceMetric::L2, Storage::Sq8),
        (DistanceMetric::InnerProduct, Storage::Float16),
        (DistanceMetric::L2, Storage::Float32),
        (DistanceMetric::L1, Storage::Float32),
    ] {
        let shape = shape(metric, storage, 24);
        let vectors = vectors(1500, 24);
        for store in [built(shape, &vectors), inserted(shape, &vectors)] {
            assert_sound(&store);
            let recall = recall(&store, &shape, &vectors, &|_| false);
            assert!(recall >= 0.99, "{metric:?} {storage:?}: {recall}");
        }
    }
}

#[test]
fn signs_lead_to_the_neighbourhood() {
    for metric in [DistanceMetric::Cosine, DistanceMetric::L2, DistanceMetric::InnerProduct] {
        let shape = shape(metric, Storage::Binary, 192);
        let vectors = vectors(1500, 192);
        for store in [built(shape, &vectors), inserted(shape, &vectors)] {
            assert_sound(&store);
            let recall = recall(&store, &shape, &vectors, &|_| false);
            assert!(recall >= 0.85, "{metric:?}: {recall}");
            vacuum(&store, &mut Gone(|row| number(row).is_multiple_of(3))).unwrap();
            assert_sound(&store);
        }
    }
}

#[test]
fn a_scan_gives_every_row_once_and_bounds_in_order() {
    let shape = shape(DistanceMetric::L2, Storage::Sq8, 12);
    let vectors = vectors(3000, 12);
    let store = built(shape, &vectors);
    insert_loose(&store, row(5000), NodeState::Null).unwrap();
    insert_loose(&store, row(5001), NodeState::Undirected).unwrap();
    let query = Random(8).vector(12);
    // Little memory: the sweep needs several rounds.
    for memory in [1 << 22, 1 << 10] {
        let options = ScanOptions { ef_search: 10, memory, ..OPTIONS };
        let found: Vec<(Nearness, RowId)> = scan(&store, encode(&shape, &query), options).collect();
        assert_eq!(found.len(), 3002);
        assert_eq!(found.iter().map(|it| it.1).collect::<HashSet<RowId>>().len(), 3002);
        assert_eq!(found[3000..], [(Nearness::Undirected, row(5001)), (Nearness::Null, row(5000))]);
        let mut late = 0;
        let mut highest = 0f64;
        for (nearness, row) in &found[..3000] {
            let Nearness::Bound(bound) = nearness else { panic!("{nearness:?}") };
            assert!(*bound <= exact(DistanceMetric::L2, &query, &vectors[number(*row)]));
            late += usize::from(*bound < highest);
            highest = highest.max(*bound);
        }
        assert!(late < 30, "{late} rows came later than they should");
    }
}

/// `shape` with two filter columns beside the vector, of 8 bytes and of 1.
fn filtered(shape: IndexShape) -> IndexShape {
    IndexShape::new(shape.space, shape.degree, Filters::new(&[8, 1]).unwrap()).unwrap()
}

#[test]
fn filters_give_the_rows_they_keep_and_no_others() {
    let shape = filtered(shape(DistanceMetric::L2, Storage::Sq8, 12));
    let vectors = vectors(6000, 12);
    let store = built(shape, &vectors[..4000]);
    add(&store, &shape, &vectors[4000..], 4000);
    assert_sound(&store);
    vacuum(&store, &mut Gone(|row| number(row).is_multiple_of(11))).unwrap();
    assert_sound(&store);
    let query = vectors[12].clone();
    let condition = |column, ranges: &[(i128, i128)], takes_null| {
        vec![ColumnCondition { column, ranges: ranges.to_vec(), takes_null }]
    };
    for (conditions, least) in [
        (condition(0, &[(40, 49)], false), 1.0),
        (condition(0, &[(0, 299), (5000, 5999)], false), 0.98),
        (condition(1, &[(1, 1)], false), 0.98),
        (condition(1, &[], true), 0.98),
        (condition(1, &[(-5, 5)], true), 0.98),
        (condition(0, &[], false), 1.0),
    ] {
        let meets = |number: usize| {
            let ColumnCondition { column, ranges, takes_null } = &conditions[0];
            let lies_in =
                |value: i128| ranges.iter().any(|(from, to)| (*from..=*to).contains(&value));
            match column {
                0 => lies_in(number as i128),
                _ if number.is_multiple_of(7) => *takes_null,
                _ => lies_in(number as i128 % 3),
            }
        };
        let mut wanted: Vec<(f64, usize)> = (0..6000)
            .filter(|number| meets(*number) && !number.is_multiple_of(11))
            .map(|number| (exact(DistanceMetric::L2, &query, &vectors[number]), number))
            .collect();
        wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let options = ScanOptions { ef_search: 20, ..OPTIONS };
        let found: Vec<usize> = filtered_scan(&store, encode(&shape, &query), &conditions, options)
            .map(|(_, row)| number(row))
            .collect();
        let as_set = |numbers: &[usize]| numbers.iter().copied().collect::<HashSet<usize>>();
        let all: Vec<usize> = wanted.iter().map(|(_, number)| *number).collect();
        assert_eq!(found.len(), all.len(), "{conditions:?}");
        assert_eq!(as_set(&found), as_set(&all), "{conditions:?}");
        let first = all.len().min(10);
        let hits = as_set(&found[..all.len().min(30)]).intersection(&as_set(&all[..first])).count();
        assert!(hits as f64 >= least * first as f64, "{conditions:?}: {hits} of {first}");
    }
}
