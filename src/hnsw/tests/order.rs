//! Rows in the order of the operator's values.

use std::cell::Cell;

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
    first_ordered(store, shape, vectors, query, is_strict, usize::MAX).0
}

/// As [`ordered`], as many as asked for; and how many rows were measured for that.
fn first_ordered(
    store: &RamStore,
    shape: &IndexShape,
    vectors: &[Vec<f32>],
    query: &[f32],
    is_strict: bool,
    most: usize,
) -> (Vec<(f64, RowId)>, usize) {
    let probe = shape.space.probe(Elements::Numbers(query)).unwrap().unwrap();
    let closer = ResidualProbe::of(&shape.space, Elements::Numbers(query), &probe)
        .filter(|_| shape.has_residuals());
    let scan_query = ScanQuery { probe: Probe::Vector(probe), conditions: Vec::new() };
    let options = ScanOptions { ef_search: 10, ..OPTIONS };
    let mut scan = Scan::begin(store, scan_query, options, Visited::default()).unwrap();
    closer.into_iter().for_each(|probe| scan.look_closer(probe));
    let mut order = ExactOrder::new(is_strict);
    let value = |row: RowId| {
        let number = row.block as usize * 100 + usize::from(row.line) - 1;
        exact(shape.space.metric, query, &vectors[number])
    };
    let (mut rows, measured) = (Vec::new(), Cell::new(0));
    let measure = |row| {
        measured.set(measured.get() + 1);
        Ok(Some(Nearness::Bound(value(row))))
    };
    while rows.len() < most
        && let Some((nearness, row)) = order.next(store, &mut scan, measure).unwrap()
    {
        let Nearness::Bound(given) = nearness else { panic!("{nearness:?}") };
        assert!(given == value(row) || shape.has_residuals() && given < value(row));
        rows.push((value(row), row));
    }
    (rows, measured.get())
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

/// An index with residual codes gives what one without does, and looks at few of the vectors. Its build and its inserts
/// keep the same codes, and VACUUM, whose slots others take, does no harm.
#[test]
fn residual_codes_tell_the_order_of_most_rows() {
    let vectors = vectors(3000, 48);
    for metric in [DistanceMetric::L2, DistanceMetric::InnerProduct, DistanceMetric::Cosine] {
        let plain = shape(metric, Storage::Sq8, 48);
        let shape = filtered(plain).with_residuals();
        let (few, more) = vectors.split_at(2000);
        let store = built(shape, few);
        for (number, vector) in (2000..).zip(more) {
            insert(&store, &item(&shape, number, vector), 0, &mut SearchMemory::default()).unwrap();
        }
        vacuum(&store, &mut Gone(|row: RowId| row.block.is_multiple_of(2))).unwrap();
        let back = (0..3000).filter(|number| row(*number).block.is_multiple_of(2));
        for number in back.collect::<Vec<_>>().into_iter().rev() {
            let item = item(&shape, number, &vectors[number]);
            insert(&store, &item, 0, &mut SearchMemory::default()).unwrap();
        }
        assert_eq!(check(&store).unwrap().0, []);
        let unlike = inserted(plain, &vectors);
        let (mut random, mut measured, mut right) = (Random(5), [0, 0], [0, 0]);
        for _ in 0..40 {
            let query = random.vector(48);
            let mut truth: Vec<(f64, RowId)> = (0..3000)
                .map(|number| (exact(metric, &query, &vectors[number]), row(number)))
                .collect();
            truth.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (at, (store, shape)) in
                [(&store, &shape), (&unlike, &plain)].into_iter().enumerate()
            {
                let (found, count) = first_ordered(store, shape, &vectors, &query, true, 10);
                assert!(is_ascending(&found), "{metric:?}: {found:?}");
                right[at] += found.iter().filter(|it| truth[..10].contains(it)).count();
                measured[at] += count;
            }
        }
        assert!(right.iter().all(|it| *it > 320), "{metric:?}: {right:?} of 400");
        assert!(3 * measured[0] < measured[1], "{metric:?}: {measured:?} rows were measured");
    }
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
