//! What the kernels compute, as plainly as it can be said.

/// The dot product of signed bytes.
#[must_use]
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// The sum of the codes whose bits are set. Without a branch, for the compiler to vectorise.
#[must_use]
pub fn sum_where(codes: &[i8], bits: &[u8]) -> i32 {
    let eights = codes.chunks_exact(8).zip(bits);
    let sum = |(eight, bits): (&[i8], &u8)| -> i32 {
        let chosen = |(place, code): (usize, &i8)| -> i32 {
            i32::from(*code) * i32::from(bits >> place & 1)
        };
        eight.iter().enumerate().map(chosen).sum()
    };
    eights.map(sum).sum()
}

/// The dot product of floats.
#[must_use]
pub fn dot_f32(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

/// The squared Euclidean distance of floats.
#[must_use]
pub fn squared_distance_f32(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum()
}

/// The sum of the absolute differences, also called taxicab distance. The compiler
/// vectorises this loop, so there is no other.
#[must_use]
pub fn taxicab_f32(a: impl Iterator<Item = f32>, b: impl Iterator<Item = f32>) -> f64 {
    f64::from(a.zip(b).map(|(a, b)| (a - b).abs()).sum::<f32>())
}

/// The number of bits that differ.
#[must_use]
pub fn hamming(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// One minus the share of bits set in both among those set in either.
#[must_use]
pub fn jaccard(a: &[u8], b: &[u8]) -> f64 {
    let both: u32 = a.iter().zip(b).map(|(a, b)| (a & b).count_ones()).sum();
    let either: u32 = a.iter().zip(b).map(|(a, b)| (a | b).count_ones()).sum();
    1.0 - f64::from(both) / f64::from(either)
}
