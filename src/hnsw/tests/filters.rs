//! Filters on columns of the index: what a walk finds, and what it costs.

use super::*;

const EF: usize = 10;

/// A query, and an index of vectors numbered from the nearest to the farthest of it.
fn by_distance(count: usize) -> (Vec<f32>, IndexShape, RamStore) {
    let shape = filtered(shape(DistanceMetric::L2, Storage::Sq8, 12));
    let mut vectors = vectors(count, 12);
    let query = Random(8).vector(12);
    let distance = |vector: &[f32]| exact(DistanceMetric::L2, &query, vector);
    vectors.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
    let store = built(shape, &vectors);
    (query, shape, store)
}

/// The first rows of a scan, by their bounds, and the distances that it has computed.
fn first_rows(
    store: &RamStore,
    (shape, query): (&IndexShape, &[f32]),
    conditions: &[ColumnCondition],
    count: usize,
) -> (Vec<usize>, u64) {
    let probe = Probe::Vector(encode(shape, query));
    let query = ScanQuery { probe, conditions: conditions.to_vec() };
    let options = ScanOptions { ef_search: EF, ..OPTIONS };
    let mut scan = Scan::begin(store, query, options, Visited::default()).unwrap();
    let found = (0..count).map_while(|_| scan.next(store).unwrap());
    let found = found.map(|(_, row)| number(row)).collect();
    (found, scan.effort().distances)
}

fn numbers(from: usize, to: usize) -> ColumnCondition {
    let ranges = vec![(from as i128, to as i128 - 1)];
    ColumnCondition { column: 0, ranges, takes_null: false }
}

#[test]
fn of_rows_that_are_all_far_the_nearest_are_found() {
    const ROWS: usize = 6000;
    let (query, shape, store) = by_distance(ROWS);
    for kept in [900, 2000, 3000] {
        let first = ROWS - kept;
        let (found, distances) = first_rows(&store, (&shape, &query), &[numbers(first, ROWS)], 60);
        // By their bounds, rows at about the same distance may change places.
        let nearest = first..first + 10;
        assert!(nearest.clone().all(|number| found.contains(&number)), "{nearest:?}: {found:?}");
        let all = kept as u64;
        assert!((all..=all + 100).contains(&distances), "{distances} of {all}");
    }
}

#[test]
fn a_filter_that_keeps_half_of_the_rows_costs_little() {
    let (query, shape, store) = by_distance(20_000);
    let (all, without) = first_rows(&store, (&shape, &query), &[], 10);
    assert!(all.iter().all(|number| *number < 30), "{all:?}");
    // The remainder by three has nothing to do with the distance, but that two thirds of the rows stay.
    let two_of_three = ColumnCondition { column: 1, ranges: vec![(1, 2)], takes_null: true };
    let (found, with) = first_rows(&store, (&shape, &query), &[two_of_three], 10);
    let is_kept = |number: &usize| number.is_multiple_of(7) || !number.is_multiple_of(3);
    assert!(found.iter().all(is_kept) && found.iter().all(|number| *number < 45), "{found:?}");
    assert!(with <= 2 * without, "{with} distances, {without} without a filter");
}
