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
    let found = found.map(|it| number(it.row)).collect();
    (found, scan.effort().distances)
}

#[test]
fn where_matches_are_rare_around_the_query_all_are_looked_at() {
    const ROWS: usize = 6000;
    let (query, shape, store) = by_distance(ROWS);
    for far in [900, 2000, 3000] {
        // The farthest rows, and here and there a near one, from which a walk would go on.
        let near = (0..1000).step_by(40);
        let ranges = near.map(|number| (number, number));
        let ranges = ranges.chain([((ROWS - far) as i128, ROWS as i128)]).collect();
        let condition = ColumnCondition { column: 0, ranges, takes_null: false };
        let (mut found, distances) = first_rows(&store, (&shape, &query), &[condition], EF / 2);
        found.sort_unstable();
        assert_eq!(found, [0, 40, 80, 120, 160]);
        let all = far as u64 + 25;
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
