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
}

/// The bucket that a tenth of the rows is in.
pub const TENTH: i32 = 0;

/// The bucket that a hundredth of the rows is in.
pub const HUNDREDTH: i32 = 1;

impl Dataset {
    /// The data set that was asked for; `None`, with a word, where its texts are missing.
    pub fn load(settings: &Settings) -> Result<Option<Dataset>> {
        match settings.data {
            Source::Sentences => sentences::load(settings),
            Source::Clustered => Ok(Some(clustered::generate(settings))),
        }
    }

    pub fn new(name: String, dimension: usize, rows: Vec<f32>, queries: Vec<f32>) -> Dataset {
        let mut data = Dataset { name, fingerprint: 0, dimension, rows, queries };
        data.rows.chunks_exact_mut(dimension).for_each(normalise);
        data.queries.chunks_exact_mut(dimension).for_each(normalise);
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

/// The bucket of a row, which has nothing to do with its vector. One holds a tenth of the
/// rows and one a hundredth, so that the same equality is a wide filter and a narrow one.
pub fn bucket(id: usize) -> i32 {
    match scramble(id as u64) % 100 {
        0..10 => TENTH,
        10 => HUNDREDTH,
        other => other as i32,
    }
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
