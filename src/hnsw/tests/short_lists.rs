//! Graphs of few links a node, in which each link may be the last to its node.

use super::*;

fn narrow(space: Space, m: u16) -> IndexShape {
    let degree = Degree { m, ef_construction: (2 * m).max(4) };
    IndexShape::new(space, degree, Filters::default()).unwrap()
}

#[test]
fn nobody_is_left_without_a_link() {
    let space = Space { metric: DistanceMetric::L2, storage: Storage::Float32, dimensions: 8 };
    let vectors = vectors(2000, 8);
    for m in 2..8 {
        let shape = narrow(space, m);
        for (way, store) in
            [("built", built(shape, &vectors)), ("inserted", inserted(shape, &vectors))]
        {
            let (problems, _) = check(&store).unwrap();
            assert_eq!(problems, [], "m = {m}, {way}");
            vacuum(&store, &mut Gone(|row| number(row) % 4 != 1)).unwrap();
            let (problems, figures) = check(&store).unwrap();
            assert_eq!((problems, figures.live), (Vec::new(), 500), "m = {m}, {way}, vacuumed");
            add(&store, &shape, &vectors[..500], 4000);
            let (problems, figures) = check(&store).unwrap();
            assert_eq!((problems, figures.live), (Vec::new(), 1000), "m = {m}, {way}, added to");
        }
    }
}

/// The string of bits of a number's lowest 52.
fn bits(number: u64) -> [u8; 7] {
    let bytes = (number << 12).to_be_bytes();
    std::array::from_fn(|at| bytes[at])
}

fn bit_item(shape: &IndexShape, number: usize, value: u64) -> InsertItem {
    let payload = shape.space.encode(Elements::Bits(&bits(value))).unwrap().unwrap();
    let values = ColumnValues::new(shape, &[]);
    InsertItem { row: row(number), payload, probe: None, residuals: None, values }
}

/// The share of the 20 nearest of the living that scans find.
fn bit_recall(store: &RamStore, space: &Space, values: &[u64], is_alive: fn(usize) -> bool) -> f64 {
    let mut random = Random(31);
    let options = ScanOptions { ef_search: 100, is_iterative: false, ..OPTIONS };
    let mut hits = 0;
    for _ in 0..100 {
        let query = (random.next() * (1u64 << 52) as f64) as u64;
        let distance = |number: usize| (values[number] ^ query).count_ones();
        let mut all: Vec<u32> =
            (0..values.len()).filter(|number| is_alive(*number)).map(distance).collect();
        all.sort_unstable();
        let probe = space.encode(Elements::Bits(&bits(query))).unwrap().unwrap();
        let found = scan(store, probe, options).take(20);
        hits += found.filter(|(_, row)| distance(number(*row)) <= all[19]).count();
    }
    hits as f64 / 2000.0
}

/// pgvector's test of bit strings (022_hnsw_bit_vacuum_recall) wants as much.
#[test]
fn the_rest_is_found_after_most_were_deleted() {
    let space = Space { metric: DistanceMetric::Hamming, storage: Storage::Bits, dimensions: 52 };
    let shape = narrow(space, 4);
    let mut random = Random(13);
    let values: Vec<u64> =
        (0..10_000).map(|_| (random.next() * (1u64 << 52) as f64) as u64).collect();
    let store = RamStore::default();
    store.append(|_, page| HnswMeta::new(VectorColumn::Bit, shape).write(page)).unwrap();
    let mut memory = SearchMemory::default();
    for (number, value) in values.iter().enumerate() {
        let layer = layer_by_chance(random.next(), shape.degree.m);
        insert(&store, &bit_item(&shape, number, *value), layer, &mut memory).unwrap();
    }
    let is_alive = |number: usize| number % 10_000 >= 7_500;
    vacuum(&store, &mut Gone(|row| !is_alive(number(row)))).unwrap();
    let recall = bit_recall(&store, &space, &values, is_alive);
    assert!(recall >= 0.8, "{recall}");
    assert_sound(&store);
}
