//! Vectors as embeddings are: many numbers, but few ways to differ.
//!
//! ```text
//! choose a cluster → a point near its centre, in 32 to 48 dimensions, of which the first
//! vary most → a random linear map into all dimensions → a little noise → length one
//! ```
//!
//! Uniform or Gaussian vectors of hundreds of dimensions would have no near neighbours at
//! all, and no index finds what is not there. Queries are drawn as rows are. Each vector has
//! a seed of its own, so that the number of threads changes nothing.

use std::f64::consts::TAU;
use std::thread;

use crate::data::{Dataset, scramble};
use crate::settings::Settings;

const SEED: u64 = 0x7261_675f_686e_7377;
const CLUSTERS: usize = 256;

/// How far points lie from their centre; centres have 1.
const SPREAD: f32 = 0.7;

/// Noise in each dimension; what the map gives has about 1.
const NOISE: f32 = 0.05;

/// Rows unless some other number is asked for.
const ROWS: usize = 100_000;

/// Where the seeds of queries begin: far above those of rows.
const QUERIES: usize = 1 << 40;

/// Generates what `settings` ask for.
pub fn generate(settings: &Settings) -> Dataset {
    let (rows, dimension) = (settings.rows.unwrap_or(ROWS), settings.dimension);
    let name = format!("clustered-{rows}x{dimension}");
    println!("generating {name}");
    let world = World::new(dimension);
    let queries = world.vectors(QUERIES, settings.queries);
    Dataset::new(name, dimension, world.vectors(0, rows), queries)
}

/// What all vectors have in common.
struct World {
    dimension: usize,
    latent: usize,
    /// A point of `latent` numbers each.
    centres: Vec<f32>,
    /// `latent` numbers for each dimension.
    map: Vec<f32>,
}

impl World {
    fn new(dimension: usize) -> World {
        let latent = if dimension < 512 { 32 } else { 48 }.min(dimension);
        let mut random = Random::of(u64::MAX);
        let centres = (0..CLUSTERS * latent).map(|at| random.normal() * weight(at % latent));
        let centres = centres.collect();
        let scale = (latent as f32).sqrt().recip();
        let map = (0..dimension * latent).map(|_| random.normal() * scale).collect();
        World { dimension, latent, centres, map }
    }

    /// `count` vectors, one after the other, beginning with that of number `first`.
    fn vectors(&self, first: usize, count: usize) -> Vec<f32> {
        let mut vectors = vec![0.0; count * self.dimension];
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let share = count.div_ceil(threads).max(1);
        thread::scope(|scope| {
            for (part, slice) in vectors.chunks_mut(share * self.dimension).enumerate() {
                scope.spawn(move || {
                    let numbers = first + part * share..;
                    let slots = slice.chunks_exact_mut(self.dimension);
                    numbers.zip(slots).for_each(|(number, slot)| self.vector(number, slot));
                });
            }
        });
        vectors
    }

    fn vector(&self, number: usize, slot: &mut [f32]) {
        let mut random = Random::of(number as u64);
        let cluster = random.next() as usize % CLUSTERS;
        let centre = &self.centres[cluster * self.latent..][..self.latent];
        let near = |(at, centre): (usize, &f32)| centre + random.normal() * SPREAD * weight(at);
        let point: Vec<f32> = centre.iter().enumerate().map(near).collect();
        for (value, map) in slot.iter_mut().zip(self.map.chunks_exact(self.latent)) {
            let mapped: f32 = point.iter().zip(map).map(|(a, b)| a * b).sum();
            *value = mapped + random.normal() * NOISE;
        }
    }
}

/// How much a latent dimension varies.
fn weight(at: usize) -> f32 {
    (1.0 + at as f32 * 0.1).sqrt().recip()
}

/// A generator of random numbers.
pub struct Random {
    state: u64,
    spare: Option<f32>,
}

impl Random {
    /// The generator of this seed.
    pub fn of(number: u64) -> Random {
        Random { state: scramble(SEED ^ scramble(number)), spare: None }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(1);
        scramble(self.state)
    }

    /// A number above 0 and up to 1.
    pub fn fraction(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// A normally distributed number: Box and Muller's method, which gives two at a time.
    pub fn normal(&mut self) -> f32 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let radius = (-2.0 * self.fraction().ln()).sqrt();
        let (sine, cosine) = (TAU * self.fraction()).sin_cos();
        self.spare = Some((radius * sine) as f32);
        (radius * cosine) as f32
    }
}
