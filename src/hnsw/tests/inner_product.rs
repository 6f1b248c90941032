//! Inner products of vectors of unequal length: what is found, and whether all can be found.

use super::*;

/// Vectors whose lengths differ.
#[derive(Clone, Copy, Debug)]
enum Lengths {
    /// Elements from 0 to 1.
    Uniform,
    /// Normal elements, scaled by `exp` of a normal number.
    LogNormal,
    /// Lengths of about 0.04, 4 and 400.
    ThreeScales,
}

fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.next()).sum::<f64>() - 6.0
}

fn vector(lengths: Lengths, number: usize, dimensions: usize, random: &mut Random) -> Vec<f32> {
    let scale = match lengths {
        Lengths::Uniform => return (0..dimensions).map(|_| random.next() as f32).collect(),
        Lengths::LogNormal => (0.5 * normal(random)).exp(),
        Lengths::ThreeScales => [0.01, 1.0, 100.0][number % 3],
    };
    (0..dimensions).map(|_| (scale * normal(random)) as f32).collect()
}

/// The share of the 20 largest products that scans find, and of the nodes that links lead to.
fn measured(store: &RamStore, vectors: &[Vec<f32>], queries: &[Vec<f32>], ef: usize) -> (f64, f64) {
    let shape = read_meta(store).unwrap().shape;
    let mut hits = 0;
    for query in queries {
        let mut best: Vec<(f64, usize)> = (0..vectors.len())
            .map(|it| (exact(DistanceMetric::InnerProduct, query, &vectors[it]), it))
            .collect();
        best.sort_by(|a, b| a.0.total_cmp(&b.0));
        let best: HashSet<usize> = best.iter().take(20).map(|it| it.1).collect();
        let options = ScanOptions { ef_search: ef, is_iterative: false, ..OPTIONS };
        let probe = shape.space.probe(Elements::Numbers(query)).unwrap().unwrap();
        let found = scan(store, probe, options).take(20);
        hits += found.filter(|(_, row)| best.contains(&number(*row))).count();
    }
    let reached = reachable(store) as f64 / vectors.len() as f64;
    (hits as f64 / (20 * queries.len()) as f64, reached)
}

#[test]
fn unequal_lengths_are_found_and_reached() {
    for (lengths, dimensions, least) in [
        (Lengths::Uniform, 3, 0.97),
        (Lengths::Uniform, 16, 0.95),
        (Lengths::LogNormal, 32, 0.9),
        (Lengths::ThreeScales, 16, 0.95),
    ] {
        let count: usize = 3000;
        let mut random = Random(17);
        let vectors: Vec<Vec<f32>> =
            (0..count).map(|it| vector(lengths, it, dimensions, &mut random)).collect();
        let queries: Vec<Vec<f32>> =
            (0..50).map(|it| vector(lengths, it, dimensions, &mut random)).collect();
        let degree = Degree { m: 16, ef_construction: 64 };
        let (metric, dimensions) = (DistanceMetric::InnerProduct, dimensions as u32);
        let space = Space { metric, storage: Storage::Float32, dimensions };
        let shape = IndexShape::new(space, degree, Filters::default()).unwrap();
        for (way, store) in
            [("built", built(shape, &vectors)), ("inserted", inserted(shape, &vectors))]
        {
            let (recall, reached) = measured(&store, &vectors, &queries, 40);
            assert!(recall >= least, "{lengths:?} {dimensions}, {way}: {recall}");
            assert!(reached >= 0.999, "{lengths:?} {dimensions}, {way}: {reached} are reached");
        }
    }
}
