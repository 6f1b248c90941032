//! Rows in the order of the operator's values.

use super::*;
use crate::hnsw::exact_order::ExactOrder;

/// What a scan gives, in strict order or not, with the operator's values.
fn ordered(
    store: &RamStore,
    shape: &IndexShape,
    vectors: &[Vec<f32>],
    query: &[f32],
    is_strict: bool,
) -> Vec<(f64, RowId)> {
    let probe = shape.space.probe(Elements::Numbers(query)).unwrap().unwrap();
    let scan_query = ScanQuery { probe: Probe::Vector(probe), conditions: Vec::new() };
    let options = ScanOptions { ef_search: 10, ..OPTIONS };
    let mut scan = Scan::begin(store, scan_query, options, Visited::default()).unwrap();
    let mut order = ExactOrder::new(is_strict);
    let value = |row: RowId| {
        let number = row.block as usize * 100 + usize::from(row.line) - 1;
        exact(shape.space.metric, query, &vectors[number])
    };
    let mut rows = Vec::new();
    let measure = |row| Ok(Some(Nearness::Bound(value(row))));
    while let Some((nearness, row)) = order.next(store, &mut scan, measure).unwrap() {
        let Nearness::Bound(given) = nearness else { panic!("{nearness:?}") };
        assert_eq!(given, value(row));
        rows.push((given, row));
    }
    rows
}

fn is_ascending(rows: &[(f64, RowId)]) -> bool {
    rows.is_sorted_by(|a, b| a.0 <= b.0)
}

#[test]
fn strict_order_is_the_operators_and_relaxed_order_leaves_nothing_out() {
    let vectors = vectors(4000, 12);
    let mut late = 0;
    for (metric, storage) in [
        (DistanceMetric::L2, Storage::Float32),
        (DistanceMetric::L2, Storage::Sq8),
        (DistanceMetric::Cosine, Storage::Sq8),
        (DistanceMetric::Cosine, Storage::Binary),
    ] {
        let shape = shape(metric, storage, 12);
        let store = built(shape, &vectors);
        let mut random = Random(41);
        for _ in 0..10 {
            let query = random.vector(12);
            let strict = ordered(&store, &shape, &vectors, &query, true);
            assert!(is_ascending(&strict), "{metric:?} {storage:?}");
            let relaxed = ordered(&store, &shape, &vectors, &query, false);
            let all: HashSet<RowId> = relaxed.iter().map(|(_, row)| *row).collect();
            assert_eq!((relaxed.len(), all.len()), (4000, 4000), "{metric:?} {storage:?}");
            assert!(strict.iter().all(|(_, row)| all.contains(row)));
            // What is left out was late, and nothing else.
            let mut highest = f64::NEG_INFINITY;
            let in_time = relaxed.iter().filter(|(value, _)| {
                let is_in_time = *value >= highest;
                highest = highest.max(*value);
                is_in_time
            });
            assert_eq!(strict, in_time.copied().collect::<Vec<_>>(), "{metric:?} {storage:?}");
            late += relaxed.len() - strict.len();
        }
    }
    assert!(late > 0, "no row was late, so that nothing was tried");
}

#[test]
fn rows_that_are_not_visible_are_left_out() {
    let vectors = vectors(300, 4);
    let shape = shape(DistanceMetric::L2, Storage::Sq8, 4);
    let store = built(shape, &vectors);
    let probe = shape.space.probe(Elements::Numbers(&vectors[7])).unwrap().unwrap();
    let query = ScanQuery { probe: Probe::Vector(probe), conditions: Vec::new() };
    let mut scan = Scan::begin(&store, query, OPTIONS, Visited::default()).unwrap();
    let mut order = ExactOrder::new(true);
    let measure = |found: RowId| Ok(found.line.is_multiple_of(2).then_some(Nearness::Bound(0.0)));
    let mut count = 0;
    while let Some((_, found)) = order.next(&store, &mut scan, measure).unwrap() {
        assert_eq!(found.line % 2, 0);
        count += 1;
    }
    assert_eq!(count, 150);
}
