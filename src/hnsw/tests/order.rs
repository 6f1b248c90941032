//! Rows in the order of the operator's values.

use super::*;
use crate::hnsw::exact_order::{ExactOrder, TableRows};

/// Rows whose values are those of vectors, and how many were asked for them.
struct Values<'a> {
    metric: DistanceMetric,
    query: &'a [f32],
    vectors: &'a [Vec<f32>],
    is_visible: fn(RowId) -> bool,
    asked: usize,
}

impl Values<'_> {
    fn of(&self, row: RowId) -> f64 {
        exact(self.metric, self.query, &self.vectors[number(row)])
    }
}

impl TableRows for Values<'_> {
    fn is_wanted(&mut self, row: RowId) -> Result<bool> {
        Ok((self.is_visible)(row))
    }

    fn value(&mut self, row: RowId) -> Result<Option<Nearness>> {
        self.asked += 1;
        Ok((self.is_visible)(row).then(|| Nearness::Bound(self.of(row))))
    }
}

const ALL: usize = usize::MAX;

/// What a scan gives at first, in strict order or not, with the operator's values, and how many of these it took.
fn ordered(
    store: &RamStore,
    shape: &IndexShape,
    vectors: &[Vec<f32>],
    query: &[f32],
    is_strict: bool,
    most: usize,
) -> (Vec<(f64, RowId)>, usize) {
    let probe = probe(shape, query);
    let scan_query = ScanQuery { probe: Probe::Vector(probe), conditions: Vec::new() };
    let options = ScanOptions { ef_search: 10, ..OPTIONS };
    let mut scan = Scan::begin(store, scan_query, options, Visited::default()).unwrap();
    let mut order = ExactOrder::new(is_strict);
    let metric = shape.space.metric;
    let mut values = Values { metric, query, vectors, is_visible: |_| true, asked: 0 };
    let mut rows = Vec::new();
    while rows.len() < most
        && let Some(found) = order.next(store, &mut scan, &mut values).unwrap()
    {
        let Nearness::Bound(given) = found.nearness else { panic!("{found:?}") };
        let value = values.of(found.row);
        let is_bound = !shape.space.is_estimate() && given <= value;
        assert!(is_bound || given == value, "{given} {value}");
        rows.push((value, found.row));
    }
    (rows, values.asked)
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
        (DistanceMetric::InnerProduct, Storage::Sq8),
        (DistanceMetric::Cosine, Storage::Float16),
        (DistanceMetric::L1, Storage::Sq8),
        (DistanceMetric::Cosine, Storage::Binary),
    ] {
        let shape = shape(metric, storage, 12);
        let store = built(shape, &vectors);
        let mut random = Random(41);
        for _ in 0..10 {
            let query = random.vector(12);
            let (strict, _) = ordered(&store, &shape, &vectors, &query, true, ALL);
            assert!(is_ascending(&strict), "{metric:?} {storage:?}");
            let (relaxed, _) = ordered(&store, &shape, &vectors, &query, false, ALL);
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
    let probe = probe(&shape, &vectors[7]);
    let query = ScanQuery { probe: Probe::Vector(probe), conditions: Vec::new() };
    let mut scan = Scan::begin(&store, query, OPTIONS, Visited::default()).unwrap();
    let mut order = ExactOrder::new(true);
    let mut values = Values {
        metric: DistanceMetric::L2,
        query: &vectors[7],
        vectors: &vectors,
        is_visible: |row| row.line.is_multiple_of(2),
        asked: 0,
    };
    let mut count = 0;
    while let Some(found) = order.next(&store, &mut scan, &mut values).unwrap() {
        assert_eq!(found.row.line % 2, 0);
        count += 1;
    }
    assert_eq!(count, 150);
}

#[test]
fn few_rows_are_read_for_their_order() {
    let vectors = vectors(3000, 96);
    let mut random = Random(43);
    let queries: Vec<Vec<f32>> = (0..10).map(|_| random.vector(96)).collect();
    // For the ten nearest of each query: rows asked for their values, and rows that a walk's bounds do not rule out.
    let asked = |storage| {
        let shape = shape(DistanceMetric::Cosine, storage, 96);
        let store = built(shape, &vectors);
        let (mut asked, mut open) = (0, 0);
        for query in &queries {
            let (rows, of_query) = ordered(&store, &shape, &vectors, query, true, 10);
            asked += of_query;
            let options = ScanOptions { ef_search: 10, ..OPTIONS };
            let found = scan(&store, probe(&shape, query), options).take(100);
            let is_open =
                |nearness| matches!(nearness, Nearness::Bound(bound) if bound < rows[9].0);
            open += found.filter(|(nearness, _)| is_open(*nearness)).count();
        }
        (asked, open)
    };
    let ((sq8, open), (float32, _)) = (asked(Storage::Sq8), asked(Storage::Float32));
    assert!(sq8 < open * 4 / 5, "{sq8} of {open}");
    assert!(float32 < 20, "{float32}");
}
