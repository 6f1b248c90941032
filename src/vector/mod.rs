//! # vector: how far apart are two vectors?
//!
//! ```text
//! (elements, elements) → dot product, squared Euclidean distance, sum of differences, bits that differ
//! ```
//!
//! The kernels are simsimd's, which chooses among AVX2, AVX-512, NEON and SVE at run time; for
//! codes there is one of our own ([`vnni`]). Beside each stands a plain loop, [`plain`], that
//! says what it computes; a property test holds the two together. Both sides of a call have the same length.

pub mod plain;
pub mod prefetch;
pub mod vnni;

use half::f16;
use half::slice::HalfFloatSliceExt;
use simsimd::{BinarySimilarity, SpatialSimilarity};

/// Most numbers of a vector of pgvector's.
pub const MAX_DIMENSION: u16 = 16_000;

/// The dot product of signed bytes, exact. At most 2^16 elements.
#[must_use]
pub fn dot_i8(a: &[i8], b: &[i8]) -> i32 {
    debug_assert!(a.len() == b.len() && a.len() <= 1 << 16);
    i8::dot(a, b).unwrap_or_default() as i32
}

/// The dot product of signed bytes, of which the sum of the second side is known.
#[must_use]
pub fn dot_codes(a: &[i8], b: &[i8], sum: i32) -> i32 {
    debug_assert!(a.len() == b.len() && a.len() <= 1 << 16);
    vnni::dot_i8(a, b, sum).unwrap_or_else(|| dot_i8(a, b))
}

/// The sum of those codes whose bits are set, the first lowest in the first byte. There are as
/// many bits as codes, a multiple of 64.
#[must_use]
pub fn sum_where(codes: &[i8], bits: &[u8]) -> i32 {
    debug_assert!(codes.len() == 8 * bits.len() && codes.len().is_multiple_of(64));
    vnni::sum_where(codes, bits).unwrap_or_else(|| plain::sum_where(codes, bits))
}

/// The dot product of floats.
#[must_use]
pub fn dot_f32(a: &[f32], b: &[f32]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    f32::dot(a, b).unwrap_or_default()
}

/// The cosine of the angle between two vectors; 0 where one of them has no direction.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let lengths = (dot_f32(a, a) * dot_f32(b, b)).sqrt();
    let cosine = dot_f32(a, b) / lengths;
    // Rounding may leave the range, and what is no number is no likeness.
    if lengths > 0.0 && cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 }
}

/// Whether a vector has a direction: one of zeros, such as that of a text of unknown tokens, has none.
#[must_use]
pub fn has_direction(vector: &[f32]) -> bool {
    vector.iter().any(|number| *number != 0.0)
}

/// The squared Euclidean distance of floats.
#[must_use]
pub fn squared_distance_f32(a: &[f32], b: &[f32]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    f32::l2sq(a, b).unwrap_or_default()
}

/// The dot product of half-precision floats, whose sums are in single precision. (simsimd's
/// own kernel adds in half precision on some processors, which loses what a bound needs.)
#[must_use]
pub fn dot_f16(a: &[f16], b: &[f16]) -> f64 {
    in_single_precision(a, b, dot_f32)
}

/// The squared Euclidean distance of half-precision floats, with sums in single precision.
#[must_use]
pub fn squared_distance_f16(a: &[f16], b: &[f16]) -> f64 {
    in_single_precision(a, b, squared_distance_f32)
}

/// Elements that are widened at once.
const WIDENED: usize = 128;

fn in_single_precision(a: &[f16], b: &[f16], of: fn(&[f32], &[f32]) -> f64) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let (mut wide_a, mut wide_b) = ([0f32; WIDENED], [0f32; WIDENED]);
    let parts = a.chunks(WIDENED).zip(b.chunks(WIDENED));
    parts
        .map(|(a, b)| {
            let (wide_a, wide_b) = (&mut wide_a[..a.len()], &mut wide_b[..b.len()]);
            a.convert_to_f32_slice(wide_a);
            b.convert_to_f32_slice(wide_b);
            of(wide_a, wide_b)
        })
        .sum()
}

/// The number of bits that differ.
#[must_use]
pub fn hamming(a: &[u8], b: &[u8]) -> u32 {
    debug_assert_eq!(a.len(), b.len());
    u8::hamming(a, b).unwrap_or_default() as u32
}

/// One minus the share of bits set in both among those set in either; 0 of two empty sets
/// is for the caller to define.
#[must_use]
pub fn jaccard(a: &[u8], b: &[u8]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    u8::jaccard(a, b).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zeros_have_no_direction() {
        assert!(has_direction(&[0.0, -1e-30]));
        assert!(!has_direction(&[0.0, -0.0]) && !has_direction(&[]));
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]), 0.0);
    }

    fn close(a: f64, b: f64, scale: f64) -> bool {
        (a - b).abs() <= 1e-4 * scale.max(1e-6)
    }

    fn pairs<T: Clone + std::fmt::Debug>(
        element: impl Strategy<Value = T>,
    ) -> impl Strategy<Value = (Vec<T>, Vec<T>)> {
        prop::collection::vec(element, 0..600).prop_map(|all| {
            let half = all.len() / 2;
            (all[..half].to_vec(), all[half..half * 2].to_vec())
        })
    }

    #[test]
    fn a_cosine_tells_directions_and_no_lengths() {
        assert_eq!(cosine(&[1.0, 0.0], &[3.0, 0.0]), 1.0);
        assert_eq!(cosine(&[1.0, 2.0], &[-2.0, -4.0]), -1.0);
        assert_eq!(cosine(&[1.0, 0.0], &[0.0, 3.0]), 0.0);
        assert_eq!(cosine(&[0.0, 0.0], &[1.0, 0.0]), 0.0);
        assert_eq!(cosine(&[f32::NAN, 0.0], &[1.0, 0.0]), 0.0);
        assert_eq!(cosine(&[], &[]), 0.0);
    }

    proptest! {
        #[test]
        fn bytes_are_exact((a, b) in pairs(-127i8..=127)) {
            let sum = b.iter().map(|code| i32::from(*code)).sum();
            prop_assert_eq!(dot_i8(&a, &b), plain::dot_i8(&a, &b));
            prop_assert_eq!(dot_codes(&a, &b, sum), plain::dot_i8(&a, &b));
        }

        #[test]
        fn chosen_codes_are_summed(
            codes in prop::collection::vec(-127i8..=127, 640),
            bits in prop::collection::vec(any::<u8>(), 0..10),
        ) {
            let bits: Vec<u8> = bits.into_iter().cycle().take(80).collect();
            let (codes, bits) = (&codes[..8 * bits.len()], &bits);
            let one_by_one: i32 = (0..codes.len())
                .filter(|place| bits[place / 8] >> (place % 8) & 1 == 1)
                .map(|place| i32::from(codes[place]))
                .sum();
            prop_assert_eq!(plain::sum_where(codes, bits), one_by_one);
            prop_assert_eq!(sum_where(codes, bits), one_by_one);
        }

        #[test]
        fn floats_agree((a, b) in pairs(-10f32..10.0)) {
            let scale = plain::dot_f32(&a, &a).max(plain::dot_f32(&b, &b));
            prop_assert!(close(dot_f32(&a, &b), plain::dot_f32(&a, &b), scale));
            let (fast, slow) = (squared_distance_f32(&a, &b), plain::squared_distance_f32(&a, &b));
            prop_assert!(close(fast, slow, scale));
        }

        #[test]
        fn halves_agree((a, b) in pairs(-10f32..10.0)) {
            let halves = |all: &[f32]| all.iter().copied().map(f16::from_f32).collect::<Vec<f16>>();
            let floats = |all: &[f16]| all.iter().map(|x| x.to_f32()).collect::<Vec<f32>>();
            let (a, b) = (halves(&a), halves(&b));
            let (x, y) = (floats(&a), floats(&b));
            let scale = plain::dot_f32(&x, &x).max(plain::dot_f32(&y, &y));
            prop_assert!(close(dot_f16(&a, &b), plain::dot_f32(&x, &y), scale));
            prop_assert!(close(squared_distance_f16(&a, &b), plain::squared_distance_f32(&x, &y), scale));
        }

        #[test]
        fn bits_agree((a, b) in pairs(any::<u8>())) {
            prop_assert_eq!(hamming(&a, &b), plain::hamming(&a, &b));
            let union = a.iter().zip(&b).any(|(a, b)| a | b != 0);
            if union {
                prop_assert!(close(jaccard(&a, &b), plain::jaccard(&a, &b), 1.0));
            }
        }
    }
}
