//! # How long does one distance take?
//!
//! ```text
//! cargo bench --bench kernel
//! ```
//!
//! Our kernel for codes of eight bits beside simsimd's and the plain loop, for vectors that lie
//! in the processor's cache and for vectors that lie anywhere in a gigabyte of memory.

use std::hint::black_box;
use std::time::Instant;

use pg_rag::vector::{self, plain};

/// Bytes of what lies in cache, and of what does not.
const SIZES: [(&str, usize); 2] = [("in cache", 1 << 18), ("in memory", 1 << 30)];
/// Distances of one measurement.
const DISTANCES: usize = 400_000;
const ROUNDS: usize = 5;

/// A kernel: two vectors, and the sum of the second.
type Kernel = fn(&[i8], &[i8], i32) -> i32;

const KERNELS: [(&str, Kernel); 3] = [
    ("ours", vector::dot_codes),
    ("simsimd", |a, b, _| vector::dot_i8(a, b)),
    ("plain", |a, b, _| plain::dot_i8(a, b)),
];

fn main() {
    let codes = codes(SIZES[1].1);
    println!("nanoseconds a distance, median of {ROUNDS}");
    println!(
        "{:>10} {:>10} {:>8} {:>8} {:>8} {:>9}",
        "dimensions", "", "ours", "simsimd", "plain", "ratio"
    );
    for dimensions in [128, 384, 768, 1536] {
        for (name, bytes) in SIZES {
            let times = KERNELS.map(|(_, kernel)| median(&codes[..bytes], dimensions, kernel));
            let [ours, simsimd, plain] = times;
            println!(
                "{dimensions:>10} {name:>10} {ours:>8.1} {simsimd:>8.1} {plain:>8.1} {:>8.2}×",
                simsimd / ours
            );
        }
    }
}

/// Bytes without a pattern.
fn codes(bytes: usize) -> Vec<i8> {
    let mut state = 88_172_645_463_325_252u64;
    (0..bytes / 8)
        .flat_map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.to_ne_bytes().map(|byte| (byte as i8).max(-127))
        })
        .collect()
}

fn median(codes: &[i8], dimensions: usize, kernel: Kernel) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| measure(codes, dimensions, kernel)).collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

fn measure(codes: &[i8], dimensions: usize, kernel: Kernel) -> f64 {
    let probe = codes[..dimensions].to_vec();
    let vectors = codes.len() / dimensions;
    let mut total = 0i64;
    let started = Instant::now();
    for number in 0..DISTANCES {
        // A large odd step goes through the vectors in no order that a processor foresees.
        let at = number.wrapping_mul(2_654_435_761) % vectors * dimensions;
        total += i64::from(kernel(&probe, &codes[at..at + dimensions], number as i32));
    }
    black_box(total);
    started.elapsed().as_nanos() as f64 / DISTANCES as f64
}
