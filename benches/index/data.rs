//! The vectors: what is stored, and what is asked.

use std::path::PathBuf;

use crate::settings::{Settings, Source};
use crate::{Result, clustered, sentences};

/// Vectors of length one, so that their product is the cosine.
pub struct Dataset {
    /// For the report.
    pub name: String,
    /// Differs where the vectors do; part of file names.
    pub fingerprint: u64,
    pub dimension: usize,
    pub rows: Vec<f32>,
    pub queries: Vec<f32>,
    /// How many thousandths of the rows are less like the mean of the queries than this row is.
    pub likeness: Vec<i32>,
}

impl Dataset {
    /// The data set that was asked for; `None`, with a word, where its texts are missing.
    pub fn load(settings: &Settings) -> Result<Option<Dataset>> {
        match settings.data {
            Source::Sentences => sentences::load(settings),
            Source::Clustered => Ok(Some(clustered::generate(settings))),
        }
    }

    pub fn new(name: String, dimension: usize, rows: Vec<f32>, queries: Vec<f32>) -> Dataset {
        let likeness = Vec::new();
        let mut data = Dataset { name, fingerprint: 0, dimension, rows, queries, likeness };
        data.rows.chunks_exact_mut(dimension).for_each(normalise);
        data.queries.chunks_exact_mut(dimension).for_each(normalise);
        data.likeness = likenesses(&data);
        // Some numbers of many vectors are enough: they are random or have one source.
        let sample = data.rows.iter().step_by(997).chain(data.queries.iter().step_by(97));
        data.fingerprint = sample.fold(data.rows.len() as u64, |print, value| {
            scramble(print ^ u64::from(value.to_bits()))
        });
        data
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len() / self.dimension
    }

    pub fn row(&self, id: usize) -> &[f32] {
        &self.rows[id * self.dimension..][..self.dimension]
    }

    pub fn queries(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.queries.chunks_exact(self.dimension)
    }
}

/// The bucket of a row, which has nothing to do with its vector: each of a thousand holds a thousandth
/// of the rows.
pub fn bucket(id: usize) -> i32 {
    (scramble(id as u64) % 1000) as i32
}

/// For each row, how many thousandths of the rows are less like the mean of the queries.
fn likenesses(data: &Dataset) -> Vec<i32> {
    let mut mean = vec![0.0; data.dimension];
    for query in data.queries() {
        mean.iter_mut().zip(query).for_each(|(sum, value)| *sum += value);
    }
    let product = |row: usize| -> f32 { data.row(row).iter().zip(&mean).map(|(a, b)| a * b).sum() };
    let products: Vec<f32> = (0..data.len()).map(product).collect();
    let mut order: Vec<usize> = (0..data.len()).collect();
    order.sort_unstable_by(|a, b| products[*a].total_cmp(&products[*b]).then(a.cmp(b)));
    let mut likeness = vec![0; data.len()];
    for (rank, row) in order.into_iter().enumerate() {
        likeness[row] = (rank * 1000 / data.len()) as i32;
    }
    likeness
}

/// Mixes the bits of a number: the finaliser of SplitMix64.
pub fn scramble(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The folder of what takes long to make.
pub fn cache() -> Result<PathBuf> {
    let own = || std::env::home_dir().map(|home| home.join(".cache/pg_rag"));
    let root = std::env::var_os("PG_RAG_CACHE").map(PathBuf::from).or_else(own);
    let folder = root.ok_or("no home folder; set PG_RAG_CACHE")?.join("bench");
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|value| *value /= length);
    }
}
