//! What is the right answer? An exact search over all rows, by as many threads as there are
//! cores, kept in a file.
//!
//! Of each query only the similarity of the tenth nearest row is kept. Whoever is at least as
//! near is right: rows at the same distance are equally good, whichever of them is returned.

use std::collections::HashSet;
use std::thread;

use crate::Result;
use crate::data::{Dataset, cache};
use crate::vectors::VectorFile;

/// How many rows a query asks for.
pub const NEAREST: usize = 10;

/// Similarities that differ by less are the same; sums of products round differently.
const TOLERANCE: f32 = 1e-6;

/// Rows that are compared with each query before the next ones are: as many as fit into a
/// processor's cache.
const BLOCK: usize = 64;

/// The rows that a query should find the nearest of.
pub struct Wanted {
    /// Tells it from others, in a file's name.
    pub label: String,
    pub keeps: Box<dyn Fn(usize) -> bool + Sync>,
}

/// The right answers.
pub struct Truth {
    /// For each query, the similarity of the last row that is right.
    thresholds: Vec<f32>,
    /// How many rows are right: ten, unless fewer are wanted at all.
    expected: usize,
}

impl Wanted {
    /// The first `count` rows.
    pub fn first(count: usize) -> Wanted {
        Wanted { label: format!("first-{count}"), keeps: Box::new(move |id| id < count) }
    }

    /// Those of them for which `keeps` holds.
    pub fn but(self, label: &str, keeps: impl Fn(usize) -> bool + Sync + 'static) -> Wanted {
        let wide = self.keeps;
        let label = format!("{}-{label}", self.label);
        Wanted { label, keeps: Box::new(move |id| wide(id) && keeps(id)) }
    }
}

impl Truth {
    /// Searches, or reads what a run before this one found.
    pub fn of(data: &Dataset, wanted: &Wanted) -> Result<Truth> {
        let expected = NEAREST.min((0..data.len()).filter(|id| (wanted.keeps)(*id)).count());
        let queries = data.queries().len();
        let name = format!("{:016x}-{}-{queries}.truth", data.fingerprint, wanted.label);
        let file = VectorFile::new(cache()?.join(name));
        if file.len()? == 0 {
            println!("  exact search of {queries} queries ({})", wanted.label);
            file.append(&[search(data, wanted)])?;
        }
        Ok(Truth { thresholds: file.read(1)?.1, expected })
    }

    /// The share of right rows that was found.
    pub fn recall(&self, data: &Dataset, found: &[Vec<i32>]) -> f64 {
        let queries = data.queries().zip(&self.thresholds).zip(found);
        let right = queries.map(|((query, threshold), found)| {
            let distinct: HashSet<&i32> = found.iter().collect();
            let near = |id: &&&i32| dot(query, data.row(***id as usize)) + TOLERANCE >= *threshold;
            distinct.iter().filter(near).count().min(self.expected)
        });
        let all = found.len() * self.expected;
        right.sum::<usize>() as f64 / all.max(1) as f64
    }
}

/// The similarity of the last right row, for each query.
fn search(data: &Dataset, wanted: &Wanted) -> Vec<f32> {
    let ids: Vec<usize> = (0..data.len()).filter(|id| (wanted.keeps)(*id)).collect();
    let queries: Vec<&[f32]> = data.queries().collect();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = queries.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = queries
            .chunks(share)
            .map(|queries| scope.spawn(|| search_part(data, &ids, queries)))
            .collect();
        parts.into_iter().flat_map(|part| part.join().expect("a search")).collect()
    })
}

fn search_part(data: &Dataset, ids: &[usize], queries: &[&[f32]]) -> Vec<f32> {
    let mut best = vec![Vec::with_capacity(NEAREST + 1); queries.len()];
    for block in ids.chunks(BLOCK) {
        for (query, best) in queries.iter().zip(&mut best) {
            block.iter().for_each(|id| offer(best, dot(query, data.row(*id))));
        }
    }
    best.into_iter().map(|best| best.last().copied().unwrap_or(f32::NEG_INFINITY)).collect()
}

/// Puts a similarity among the best, greatest first, if it is one of them.
fn offer(best: &mut Vec<f32>, similarity: f32) {
    if best.len() == NEAREST && similarity <= best[NEAREST - 1] {
        return;
    }
    let place = best.partition_point(|other| *other >= similarity);
    best.insert(place, similarity);
    best.truncate(NEAREST);
}

/// The product of two vectors, in sixteen sums so that the compiler finds instructions that
/// work on several numbers.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, b) = (a.chunks_exact(16), b.chunks_exact(16));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    let mut sums = [0.0; 16];
    for (a, b) in a.zip(b) {
        for lane in 0..16 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}
