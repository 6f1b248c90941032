//! # sq8: which codes stand for the elements of a vector?
//!
//! ```text
//! elements → codes of eight bits          (codes, codes) → dot product
//! ```
//!
//! Locally-adaptive vector quantisation (LVQ; Aguerrebere and others, VLDB 2023, section 3), without the mean: each
//! vector has a range of its own, which codes from -127 to 127 divide evenly: `element ≈ offset + scale * code`. It
//! needs no training, so an index on an empty table is as good as any.
//!
//! A probe, which is never stored, has eight more bits an element (the second level of LVQ, section 3.2). Walks don't
//! read them; they nearly halve what is not known of a row's distance, on which it depends how many rows are read from
//! the table for their order (`exact_order`).
//!
//! | bytes, with `n` elements padded to a multiple of 4 | |
//! |---|---|
//! | 0 to 7 | residual and norm |
//! | 8 to 19 | scale, offset, sum of the codes |
//! | `n` | codes |
//! | 12, in a probe | residual and norm with the second level, sum of its codes |
//! | `n`, in a probe | its codes |

use super::space::number;
use crate::vector;

/// Bytes before the codes: residual, norm, scale, offset, sum of the codes.
const CODES_HEADER: usize = 20;
/// Bytes before the codes of the second level: residual, norm, sum of the codes.
const FINE_HEADER: usize = 12;
/// Steps of the second level in one of the first.
const STEPS: f64 = 256.0;

/// Codes of `dimensions` elements, with padding.
fn padded(dimensions: usize) -> usize {
    dimensions.next_multiple_of(4)
}

/// Bytes of a vector.
#[must_use]
pub fn payload_bytes(dimensions: usize) -> usize {
    CODES_HEADER + padded(dimensions)
}

/// Bytes of a probe.
#[must_use]
pub fn probe_bytes(dimensions: usize) -> usize {
    payload_bytes(dimensions) + FINE_HEADER + padded(dimensions)
}

/// Writes the codes, and what they are multiplied by.
pub fn encode_codes(numbers: &[f32], bytes: &mut [u8]) {
    let low = numbers.iter().copied().fold(f32::INFINITY, f32::min);
    let high = numbers.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let (low, high) = (f64::from(low), f64::from(high));
    let scale = ((high - low) / 254.0) as f32;
    let offset = ((high + low) / 2.0) as f32;
    let mut sum = 0i32;
    for (to, x) in bytes[CODES_HEADER..].iter_mut().zip(numbers) {
        let steps =
            if scale > 0.0 { (f64::from(*x) - f64::from(offset)) / f64::from(scale) } else { 0.0 };
        let code = steps.round().clamp(-127.0, 127.0) as i8;
        sum += i32::from(code);
        *to = code as u8;
    }
    bytes[8..12].copy_from_slice(&scale.to_ne_bytes());
    bytes[12..16].copy_from_slice(&offset.to_ne_bytes());
    bytes[16..20].copy_from_slice(&sum.to_ne_bytes());
}

/// Writes the second level of a probe, behind the first: each step of that divided again, and the middle of what is
/// left.
pub fn encode_fine(numbers: &[f32], bytes: &mut [u8]) {
    let (first, fine) = bytes.split_at_mut(payload_bytes(numbers.len()));
    let (scale, offset) = (f64::from(number(first, 8)), f64::from(number(first, 12)));
    let (mut lost, mut square, mut sum) = (0f64, 0f64, 0i32);
    let codes = codes(first, numbers.len());
    for ((to, x), code) in fine[FINE_HEADER..].iter_mut().zip(numbers).zip(codes) {
        let coarse = offset + scale * f64::from(*code);
        let rest = f64::from(*x) - coarse;
        let place = if scale > 0.0 { (rest / scale * STEPS).floor() } else { 0.0 };
        let fine = place.clamp(-127.0, 127.0) as i8;
        let stands_for = coarse + scale * (f64::from(fine) + 0.5) / STEPS;
        lost += (f64::from(*x) - stands_for).powi(2);
        square += stands_for.powi(2);
        sum += i32::from(fine);
        *to = fine as u8;
    }
    fine[..4].copy_from_slice(&rounded_up(lost.sqrt()).to_ne_bytes());
    fine[4..8].copy_from_slice(&(square.sqrt() as f32).to_ne_bytes());
    fine[8..12].copy_from_slice(&sum.to_ne_bytes());
}

fn rounded_up(x: f64) -> f32 {
    (x * (1.0 + 4.0 * f64::from(f32::EPSILON))) as f32
}

/// The residual and the norm of a probe with its second level.
#[must_use]
pub fn fine_residual_and_norm(probe: &[u8], dimensions: usize) -> (f32, f32) {
    let at = payload_bytes(dimensions);
    (number(probe, at), number(probe, at + 4))
}

/// `Σ (oa + sa ca) (ob + sb cb)`, from the dot product of the codes.
#[must_use]
pub fn dot(a: &[u8], b: &[u8], dimensions: usize) -> f64 {
    let (a, b) = (Codes::of(a, dimensions), Codes::of(b, dimensions));
    let dot = f64::from(vector::dot_codes(a.codes, b.codes, b.sum));
    scaled_dot(&a, f64::from(a.sum), &b, dot)
}

/// As [`dot`], with the second level of the probe: its codes are `a + (f + 1/2) / 256`.
#[must_use]
pub fn fine_dot(probe: &[u8], payload: &[u8], dimensions: usize) -> f64 {
    let (a, b) = (Codes::of(probe, dimensions), Codes::of(payload, dimensions));
    let at = payload_bytes(dimensions);
    let fine: &[i8] = bytemuck::cast_slice(&probe[at + FINE_HEADER..][..padded(dimensions)]);
    let dot = |codes: &[i8]| f64::from(vector::dot_codes(codes, b.codes, b.sum));
    let sum =
        f64::from(a.sum) + (f64::from(integer(probe, at + 8)) + dimensions as f64 / 2.0) / STEPS;
    let dot = dot(a.codes) + (dot(fine) + f64::from(b.sum) / 2.0) / STEPS;
    scaled_dot(&a, sum, &b, dot)
}

/// `Σ (oa + sa A) (ob + sb cb)` from the sum of `A` and that of its products with the codes.
fn scaled_dot(a: &Codes<'_>, sum: f64, b: &Codes<'_>, dot: f64) -> f64 {
    b.dimensions as f64 * a.offset * b.offset
        + a.offset * b.scale * f64::from(b.sum)
        + b.offset * a.scale * sum
        + a.scale * b.scale * dot
}

struct Codes<'a> {
    dimensions: usize,
    scale: f64,
    offset: f64,
    sum: i32,
    codes: &'a [i8],
}

impl Codes<'_> {
    fn of(bytes: &[u8], dimensions: usize) -> Codes<'_> {
        Codes {
            dimensions,
            scale: f64::from(number(bytes, 8)),
            offset: f64::from(number(bytes, 12)),
            sum: integer(bytes, 16),
            codes: codes(bytes, dimensions),
        }
    }
}

/// The elements that the codes stand for.
pub fn elements(bytes: &[u8], dimensions: usize) -> impl Iterator<Item = f32> {
    let (scale, offset) = (f64::from(number(bytes, 8)), f64::from(number(bytes, 12)));
    let codes = codes(bytes, dimensions).iter().take(dimensions);
    codes.map(move |code| (offset + scale * f64::from(*code)) as f32)
}

fn codes(bytes: &[u8], dimensions: usize) -> &[i8] {
    bytemuck::cast_slice(&bytes[CODES_HEADER..][..padded(dimensions)])
}

fn integer(bytes: &[u8], at: usize) -> i32 {
    i32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(numbers: &[f32]) -> Vec<u8> {
        let mut words = vec![0u32; probe_bytes(numbers.len()).div_ceil(4)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        encode_codes(numbers, bytes);
        encode_fine(numbers, bytes);
        bytes.to_vec()
    }

    /// The element that the codes of both levels stand for.
    fn element(probe: &[u8], dimensions: usize, at: usize) -> f64 {
        let (scale, offset) = (f64::from(number(probe, 8)), f64::from(number(probe, 12)));
        let fine = probe[payload_bytes(dimensions) + FINE_HEADER + at] as i8;
        let code = f64::from(codes(probe, dimensions)[at]);
        offset + scale * (code + (f64::from(fine) + 0.5) / STEPS)
    }

    proptest! {
        #[test]
        fn a_fine_dot_product_is_that_of_what_the_codes_stand_for(
            pairs in prop::collection::vec((-1000f32..1000.0, -1.0f32..1.0), 1..200),
        ) {
            let (x, y): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            let (n, probe, stored) = (x.len(), encoded(&x), encoded(&y));
            let coarse: Vec<f64> = elements(&stored, n).map(f64::from).collect();
            let plain: f64 = (0..n).map(|at| element(&probe, n, at) * coarse[at]).sum();
            let found = fine_dot(&probe, &stored, n);
            prop_assert!((found - plain).abs() <= 1e-4 * (1.0 + plain.abs()), "{found} {plain}");
        }

        #[test]
        fn the_second_level_is_as_near_as_it_says(
            numbers in prop::collection::vec(-1000f32..1000.0, 1..200),
        ) {
            let n = numbers.len();
            let range = numbers.iter().copied().fold(f32::MIN, f32::max)
                - numbers.iter().copied().fold(f32::MAX, f32::min);
            let step = f64::from(range) / 254.0 / STEPS;
            let probe = encoded(&numbers);
            let off = |at: usize| element(&probe, n, at) - f64::from(numbers[at]);
            let lost = (0..n).map(|at| off(at).powi(2)).sum::<f64>().sqrt();
            let (residual, norm) = fine_residual_and_norm(&probe, n);
            prop_assert!(lost <= f64::from(residual) && f64::from(residual) <= lost * 1.001 + 1e-30);
            let square = (0..n).map(|at| element(&probe, n, at).powi(2)).sum::<f64>();
            prop_assert!((f64::from(norm) - square.sqrt()).abs() <= 1e-6 * square.sqrt());
            // Half a step, or more at the ends of the range of a code.
            prop_assert!((0..n).all(|at| off(at).abs() <= 1.6 * step + 1e-4));
        }
    }
}
