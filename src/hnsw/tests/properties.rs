//! Properties for any vectors and any pages: bounds hold, damage harms nobody.

use super::*;
use crate::hnsw::bounds::ValueBounds;
use crate::hnsw::residuals;

fn any_metric() -> impl Strategy<Value = (DistanceMetric, Storage)> {
    let metric = prop::sample::select(vec![
        DistanceMetric::L2,
        DistanceMetric::InnerProduct,
        DistanceMetric::Cosine,
        DistanceMetric::L1,
    ]);
    let storage = prop::sample::select(vec![Storage::Float32, Storage::Float16, Storage::Sq8]);
    (metric, storage)
}

/// pgvector computes in single precision.
fn as_operator(metric: DistanceMetric, a: &[f32], b: &[f32]) -> f64 {
    let sum = |f: &dyn Fn(f32, f32) -> f32| a.iter().zip(b).map(|(a, b)| f(*a, *b)).sum::<f32>();
    let dot = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f32>();
    match metric {
        DistanceMetric::L2 => f64::from(sum(&|a, b| (a - b) * (a - b))).sqrt(),
        DistanceMetric::L1 => f64::from(sum(&|a, b| (a - b).abs())),
        DistanceMetric::InnerProduct => -f64::from(dot(a, b)),
        _ => {
            let norms = (f64::from(dot(a, a)) * f64::from(dot(b, b))).sqrt();
            1.0 - (f64::from(dot(a, b)) / norms).clamp(-1.0, 1.0)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn the_operators_value_is_between_the_bounds(
        (metric, storage) in any_metric(),
        pairs in prop::collection::vec((-1000f32..1000.0, -1.0f32..1.0), 1..200),
        scale in prop::sample::select(vec![1e-37f32, 1e-21, 1e-12, 1e-3, 1.0, 1e6, 1e18, 1e35]),
        offset in prop::sample::select(vec![0f32, 5.0, -1e4]),
        is_near in any::<bool>(),
    ) {
        let a: Vec<f32> = pairs.iter().map(|(a, _)| (a + offset) * scale).collect();
        let b: Vec<f32> = pairs.iter()
            .map(|(a, b)| if is_near { (a + offset) * scale * (1.0 + b * 1e-6) } else { (b + offset) * scale })
            .collect();
        let space = Space { metric, storage, dimensions: a.len() as u32 };
        let encode = |vector: &[f32]| space.encode(Elements::Numbers(vector)).unwrap();
        if let (Some(x), Some(y)) = (encode(&a), encode(&b)) {
            let distance = space.distance(x.bytes(), y.bytes());
            let fits = [&x, &y].map(|it| space.fit(it.bytes()));
            let lower = space.lower_bound(fits[0], fits[1], distance);
            let mut all = vec![ValueBounds { lower, upper: f64::INFINITY }];
            if residuals::can_have(&space) {
                let probe = ResidualProbe::of(&space, Elements::Numbers(&a), &x).unwrap();
                let codes = ResidualCodes::of(&space, Elements::Numbers(&b), &y).unwrap();
                all.push(probe.bounds(y.bytes(), codes.bytes()));
            }
            for value in [exact(metric, &a, &b), as_operator(metric, &a, &b)] {
                let is_between = |it: &ValueBounds| it.lower <= value && value <= it.upper;
                prop_assert!(value.is_nan() || all.iter().all(is_between), "{:?}: {}", all, value);
            }
        }
    }

}

/// Reads a scan to its end, with the bounds of each row.
fn read_all(
    store: &RamStore,
    query: ScanQuery,
    options: ScanOptions,
    closer: Option<ResidualProbe>,
) -> Result<()> {
    let mut scan = Scan::begin(store, query, options, Visited::default())?;
    closer.into_iter().for_each(|probe| scan.look_closer(probe));
    let mut rows = 0;
    while let Some(found) = scan.next(store)? {
        scan.bounds(store, &found)?;
        rows += 1;
        assert!(rows < 100_000);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Pages of random bytes are errors, or nodes of nonsense; never a panic or an endless loop.
    #[test]
    fn corrupt_pages_harm_nobody(
        damage in prop::collection::vec((0usize..40, 0usize..PAGE_SIZE, any::<u8>()), 1..400),
        noise in prop::option::of((1usize..40, any::<u64>())),
        has_residuals in any::<bool>(),
    ) {
        let shape = filtered(shape(DistanceMetric::L2, Storage::Sq8, 8));
        let shape = if has_residuals { shape.with_residuals() } else { shape };
        let store = inserted(shape, &vectors(100, 8));
        let blocks = store.blocks().unwrap() as usize;
        let spoil = |block: usize, change: &dyn Fn(&mut Page)| {
            store.write((block % blocks) as u32, |page| { change(page); Ok(true) }).unwrap();
        };
        damage.iter().for_each(|(block, at, byte)| spoil(*block, &|page| page[*at] = *byte));
        if let Some((block, seed)) = noise {
            spoil(block, &|page| {
                let mut random = Random(seed | 1);
                page.iter_mut().for_each(|byte| *byte = (random.next() * 256.0) as u8);
            });
        }
        let new = item(&shape, 7, &[0.5; 8]);
        let condition = ColumnCondition { column: 1, ranges: vec![(1, 2)], takes_null: true };
        let closer = ResidualProbe::of(&shape.space, Elements::Numbers(&[0.5; 8]), &new.payload);
        let probe = Probe::Vector(new.payload.clone());
        let walked = ScanQuery { probe: probe.clone(), conditions: Vec::new() };
        let anything = ScanQuery { probe, conditions: vec![condition] };
        let outcomes = [
            read_all(&store, anything.clone(), OPTIONS, closer.clone()),
            read_all(&store, walked, ScanOptions { is_iterative: false, ..OPTIONS }, closer),
            insert(&store, &new, 1, &mut SearchMemory::default()),
            check(&store).map(drop),
            vacuum(&store, &mut Gone(|row: RowId| row.block.is_multiple_of(2))).map(drop),
        ];
        for error in outcomes.into_iter().filter_map(Result::err) {
            prop_assert_eq!(error.kind(), ErrorKind::IndexCorrupted, "{}", error);
        }
    }
}
